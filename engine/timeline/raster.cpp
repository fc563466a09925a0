#include "timeline/raster.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "picture/canvas.hpp"
#include "timeline/drawing.hpp"

namespace wgrun {
namespace {

using timeline::Drawing;
using timeline::Tone;

// The palette: what is no span, then the kinds of spans.
constexpr std::array<Tone, 3> tones{timeline::paper_tone, timeline::text_tone, timeline::line_tone};
enum ToneIndex : std::uint8_t { paper_index, text_index, line_index, first_kind };

std::vector<std::uint32_t> palette_of(bool dark) {
    std::vector<std::uint32_t> out;
    const auto add = [&](const Tone& tone) { out.push_back(dark ? tone.dark : tone.light); };
    for (const Tone& tone : tones) add(tone);
    for (int kind = 0; kind < timeline::kind_count; ++kind)
        add(timeline::style_of(static_cast<Timeline::Kind>(kind)).tone);
    return out;
}

int pixel(double place) { return static_cast<int>(std::lround(place)); }

}  // namespace

Image to_image(const Timeline& shown, int width, bool dark, int scale) {
    const Drawing drawing = timeline::draw(std::span(&shown, 1), 0, 0, width);
    Canvas canvas(drawing.width, drawing.height, paper_index);
    for (const Drawing::Line& of : drawing.lines)
        canvas.fill(pixel(of.x), pixel(of.top), 1, pixel(of.bottom) - pixel(of.top), line_index);
    for (const Drawing::Box& box : drawing.boxes) {
        const int x = pixel(box.x), y = pixel(box.y);
        canvas.fill(x, y, std::max(1, pixel(box.x + box.width) - x),
                    std::max(1, pixel(box.y + box.height) - y),
                    static_cast<std::uint8_t>(first_kind + static_cast<int>(box.kind)));
    }
    for (const auto& [label, bold] : drawing.texts) canvas.text(label, text_index, bold);
    return canvas.take(palette_of(dark), scale);
}

}  // namespace wgrun
