// A timeline as an SVG document, for light and dark pages.
#include <fmt/format.h>

#include "diag/escape.hpp"
#include "timeline/drawing.hpp"
#include "wgrun/timeline.hpp"

namespace wgrun {
namespace {

using geometry::Anchor;
using timeline::Tone;

constexpr int page_width = 1100;

std::string style(bool dark) {
    const auto of = [&](const Tone& tone) { return fmt::format("#{:06x}", dark ? tone.dark : tone.light); };
    std::string out = fmt::format("text{{fill:{}}}.g{{stroke:{}}}.bg{{fill:{}}}", of(timeline::text_tone),
                                  of(timeline::line_tone), of(timeline::paper_tone));
    for (int kind = 0; kind < timeline::kind_count; ++kind)
        out += fmt::format(".k{}{{fill:{}}}", kind,
                           of(timeline::style_of(static_cast<Timeline::Kind>(kind)).tone));
    return out;
}

}  // namespace

std::string to_svg(std::span<const Timeline> timelines, double from, double to) {
    const timeline::Drawing drawing = timeline::draw(timelines, from, to, page_width);
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
        "<style>text{{font:12px sans-serif}}{2}@media(prefers-color-scheme:dark){{{3}}}</style>\n"
        "<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n",
        drawing.width, drawing.height, style(false), style(true));
    for (const auto& line : drawing.lines)
        out +=
            fmt::format("<path class=\"g\" d=\"M{:.1f} {:.0f}V{:.0f}\"/>\n", line.x, line.top, line.bottom);
    for (const auto& [label, bold] : drawing.texts)
        out += fmt::format("<text x=\"{}\" y=\"{}\"{}{}>{}</text>\n", label.x, label.y,
                           label.anchor == Anchor::middle ? " text-anchor=\"middle\"" : "",
                           bold ? " style=\"font-weight:bold\"" : "", escape::xml(label.text));
    for (const auto& box : drawing.boxes)
        out += fmt::format(
            "<rect class=\"k{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\">{}</rect>\n",
            static_cast<int>(box.kind), box.x, box.y, box.width, box.height,
            box.tip.empty() ? "" : fmt::format("<title>{}</title>", escape::xml(box.tip)));
    return out + "</svg>\n";
}

std::string to_svg(const Timeline& timeline, double from, double to) {
    return to_svg(std::span(&timeline, 1), from, to);
}

std::string to_html(std::span<const Timeline> timelines, double from, double to) {
    const std::string title = timelines.empty() ? std::string() : escape::xml(timelines.front().kernel);
    return fmt::format(
               "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{}: timeline</title>\n"
               "<style>:root{{color-scheme:light "
               "dark}}body{{margin:0}}svg{{max-width:100%;height:auto}}</style>"
               "\n",
               title) +
           to_svg(timelines, from, to) + "</html>\n";
}

}  // namespace wgrun
