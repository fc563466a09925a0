// Pictures as SVG.
#include <fmt/format.h>

#include "diag/escape.hpp"
#include "file/replacement.hpp"
#include "picture/geometry.hpp"
#include "picture/palette.hpp"

namespace wgrun {
namespace {

using geometry::Anchor;
using geometry::Label;

std::string class_of(bool heat, int colour) {
    return colour < 0 ? "w" : fmt::format("{}{}", heat ? 'h' : 'c', colour % 8);
}

void add_label(std::string& out, std::string_view kind, const Label& label) {
    out += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>", kind, label.x, label.y,
                       escape::xml(label.text));
}

void add_cells(std::string& out, const geometry::GridPlan& p) {
    const Grid& grid = *p.grid;
    for (int row = 0; row < grid.rows; ++row)
        for (int column = 0; column < grid.columns; ++column) {
            const Grid::Cell& cell = grid.at(row, column);
            const int x = p.column_x[static_cast<std::size_t>(column)];
            const int y = p.row_y[static_cast<std::size_t>(row)];
            const std::string links = cell.links.empty() ? "" : fmt::format(" data-k=\"{}\"", cell.links);
            out += fmt::format(
                "<g{}><title>{}</title><rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                links, escape::xml(cell.tip), class_of(grid.heat, cell.colour), x, y, p.cell_width,
                p.cell_height);
            for (const Label& word : geometry::word_labels(p, row, column))
                out +=
                    fmt::format("<text x=\"{}\" y=\"{}\">{}</text>", word.x, word.y, escape::xml(word.text));
            out += "</g>\n";
        }
}

void add_frames(std::string& out, const geometry::GridPlan& p) {
    for (const bool heavy : {false, true})
        for (const Grid::Frame& frame : p.grid->frames) {
            if (frame.heavy != heavy) continue;
            const geometry::Area box = geometry::area_of(p, frame);
            out += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                               heavy ? "F" : "f", box.x, box.y, box.width, box.height);
        }
    for (const Label& label : p.frame_labels) add_label(out, "l", label);
}

void add_arrows(std::string& out, const geometry::GridPlan& p) {
    constexpr int head = 6;
    for (const geometry::Bracket& a : p.arrows) {
        if (a.vertical) {
            out += fmt::format("<path class=\"a\" d=\"M{} {}H{}V{}H{}\"/>", a.from_x, a.from_y, a.lane,
                               a.to_y, a.to_x - head);
            out += fmt::format("<path class=\"ah\" d=\"M{} {}l-{} -4v8z\"/>", a.to_x, a.to_y, head + 1);
        } else {
            out += fmt::format("<path class=\"a\" d=\"M{} {}V{}H{}V{}\"/>", a.from_x, a.from_y, a.lane,
                               a.to_x, a.to_y - head);
            out += fmt::format("<path class=\"ah\" d=\"M{} {}l-4 -{}h8z\"/>", a.to_x, a.to_y, head + 1);
        }
        out += fmt::format("<circle class=\"ah\" cx=\"{}\" cy=\"{}\" r=\"2.5\"/>", a.from_x, a.from_y);
        add_label(out, a.label.anchor == Anchor::end ? "ar" : "al", a.label);
        out += "\n";
    }
}

void add_grid(std::string& out, const geometry::GridPlan& p) {
    out += "<g class=\"grid\">\n";
    for (const Label& label : p.titles) add_label(out, "t", label);
    for (const Label& label : p.axes) add_label(out, label.anchor == Anchor::end ? "x r" : "x", label);
    for (const Label& label : p.column_names) add_label(out, "n", label);
    out += "\n";
    for (const Label& label : p.row_names) add_label(out, "r", label);
    out += "\n<g class=\"cells\">\n";
    add_cells(out, p);
    out += "</g>\n";
    add_frames(out, p);
    add_arrows(out, p);
    out += "</g>\n";
}

std::string colour_rules(bool dark) {
    std::string out;
    for (std::size_t i = 0; i < palette.size(); ++i)
        out += fmt::format(".c{0}{{fill:#{1:06x}}}.h{0}{{fill:#{2:06x}}}", i,
                           dark ? palette[i].dark : palette[i].light,
                           dark ? heat_palette[i].dark : heat_palette[i].light);
    return out;
}

// As short as CSS has it.
std::string css(Ink which, bool dark) {
    const auto& [light_colour, dark_colour] = ink_palette[static_cast<std::size_t>(which)];
    std::string out = fmt::format("#{:06x}", dark ? dark_colour : light_colour);
    if (out[1] == out[2] && out[3] == out[4] && out[5] == out[6]) out = {out[0], out[1], out[3], out[5]};
    return out;
}

std::string style_sheet() {
    const auto light = [](Ink which) { return css(which, false); };
    const auto dark = [](Ink which) { return css(which, true); };
    return fmt::format(
               "text{{font:11px monospace;text-anchor:middle;fill:{0}}}rect{{stroke:{1};stroke-width:.5}}"
               ".b{{fill:{2};stroke:none}}.w{{fill:{2}}}.n,.r{{fill:{3}}}.r,.ar{{text-anchor:end}}"
               ".t,.l,.k,.al{{text-anchor:start}}.t{{font-weight:bold}}.l{{fill:{3}}}.x{{fill:{0};font-style:"
               "italic}}"
               ".f{{fill:none;stroke:{4};stroke-width:1.2}}.F{{fill:none;stroke:{5};stroke-width:3}}"
               ".a{{fill:none;stroke:{6};stroke-width:1.6}}.ah{{fill:{6}}}"
               ".al,.ar{{fill:{7};font-weight:bold}}",
               light(Ink::text), light(Ink::edge), light(Ink::paper), light(Ink::faint), light(Ink::frame),
               light(Ink::heavy_frame), light(Ink::arrow), light(Ink::arrow_text)) +
           colour_rules(false) +
           fmt::format(
               "@media(prefers-color-scheme:dark){{text{{fill:{0}}}rect{{stroke:{1}}}.b,.w{{fill:{2}}}"
               ".n,.r,.l{{fill:{3}}}.x{{fill:{0}}}.f{{stroke:{4}}}.F{{stroke:{5}}}.a{{stroke:{6}}}.ah{{fill:{"
               "6}}}"
               ".al,.ar{{fill:{7}}}",
               dark(Ink::text), dark(Ink::edge), dark(Ink::paper), dark(Ink::faint), dark(Ink::frame),
               dark(Ink::heavy_frame), dark(Ink::arrow), dark(Ink::arrow_text)) +
           colour_rules(true) + "}";
}

}  // namespace

std::string to_svg(const Picture& picture) {
    const geometry::Plan plan = geometry::plan(picture);
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n"
        "<style>{2}</style>\n<rect class=\"b\" width=\"100%\" height=\"100%\"/>\n",
        plan.width, plan.height, style_sheet());
    for (const geometry::GridPlan& p : plan.grids) add_grid(out, p);
    for (const Label& label : plan.legend_titles) add_label(out, "k", label);
    for (const geometry::Swatch& s : plan.legend) {
        out += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                           class_of(s.heat, s.colour), s.x, s.y, geometry::swatch, geometry::swatch);
        add_label(out, "k", s.label);
        out += "\n";
    }
    return out + "</svg>\n";
}

void save_svg(const Picture& picture, const std::string& path) { file::replace(path, to_svg(picture)); }

}  // namespace wgrun
