#include "picture/canvas.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "picture/font.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun {

Canvas::Canvas(int width, int height, std::uint8_t paper) {
    image_.width = width;
    image_.height = height;
    image_.pixels.assign(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), paper);
}

void Canvas::fill(int x, int y, int width, int height, std::uint8_t colour) {
    const int right = std::min(x + width, image_.width);
    const int bottom = std::min(y + height, image_.height);
    const int left = std::max(x, 0);
    if (left >= right) return;
    for (int row = std::max(y, 0); row < bottom; ++row)
        std::fill_n(image_.pixels.begin() + static_cast<std::ptrdiff_t>(row) * image_.width + left,
                    right - left, colour);
}

void Canvas::outline(int x, int y, int width, int height, int thick, std::uint8_t colour) {
    const int out = thick / 2;
    fill(x - out, y - out, width + thick, thick, colour);
    fill(x - out, y + height - out, width + thick, thick, colour);
    fill(x - out, y - out, thick, height + thick, colour);
    fill(x + width - out, y - out, thick, height + thick, colour);
}

void Canvas::stroke(int from_x, int from_y, int to_x, int to_y, std::uint8_t colour) {
    fill(std::min(from_x, to_x) - 1, std::min(from_y, to_y) - 1, std::abs(to_x - from_x) + 2,
         std::abs(to_y - from_y) + 2, colour);
}

void Canvas::text(const geometry::Label& label, std::uint8_t colour, bool bold) {
    int x = label.left();
    for (const char c : label.text) {
        if (c >= ' ' && c <= '~') {
            const Glyph& glyph = (bold ? bold_font : font)[static_cast<std::size_t>(c - ' ')];
            for (std::size_t row = 0; row < glyph.size(); ++row)
                for (int column = 0; column < glyph_width; ++column)
                    if ((glyph[row] >> (glyph_width - 1 - column) & 1) != 0)
                        fill(x + column, label.y - glyph_ascent + static_cast<int>(row), 1, 1, colour);
        }
        x += geometry::advance;
    }
}

Image Canvas::take(std::vector<std::uint32_t> palette, int scale) {
    if (scale < 1 || scale > 8) throw ArgumentError("picture: a scale is 1 to 8");
    Image out;
    out.width = image_.width * scale;
    out.height = image_.height * scale;
    out.palette = std::move(palette);
    out.pixels.reserve(image_.pixels.size() * static_cast<std::size_t>(scale * scale));
    for (int y = 0; y < out.height; ++y) {
        const auto row = image_.pixels.begin() + static_cast<std::ptrdiff_t>(y / scale) * image_.width;
        for (int x = 0; x < image_.width; ++x)
            out.pixels.insert(out.pixels.end(), static_cast<std::size_t>(scale), row[x]);
    }
    return out;
}

}  // namespace wgrun
