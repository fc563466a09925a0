#include "picture/raster.hpp"

#include <cstdlib>

#include "picture/canvas.hpp"
#include "picture/geometry.hpp"
#include "picture/palette.hpp"

namespace wgrun {
namespace {

using geometry::Label;

// The palette of every image: the inks, the colours of cells, and those of heat.
constexpr auto inks = static_cast<std::uint8_t>(ink_palette.size());
constexpr auto colour_count = static_cast<std::uint8_t>(palette.size());

std::uint8_t ink(Ink which) { return static_cast<std::uint8_t>(which); }

std::uint8_t fill_of(bool heat, int colour) {
    if (colour < 0) return ink(Ink::paper);
    return static_cast<std::uint8_t>(inks + (heat ? colour_count : 0) + colour % 8);
}

std::vector<std::uint32_t> palette_of(bool dark) {
    std::vector<std::uint32_t> out;
    const auto add = [&](const auto& shades) {
        for (const auto& shade : shades) out.push_back(dark ? shade.dark : shade.light);
    };
    add(ink_palette);
    add(palette);
    add(heat_palette);
    return out;
}

void draw_labels(Canvas& canvas, const std::vector<Label>& labels, Ink colour, bool bold = false) {
    for (const Label& label : labels) canvas.text(label, ink(colour), bold);
}

void draw_cells(Canvas& canvas, const geometry::GridPlan& p) {
    const Grid& grid = *p.grid;
    for (int row = 0; row < grid.rows; ++row)
        for (int column = 0; column < grid.columns; ++column) {
            const Grid::Cell& cell = grid.at(row, column);
            const int x = p.column_x[static_cast<std::size_t>(column)];
            const int y = p.row_y[static_cast<std::size_t>(row)];
            canvas.fill(x, y, p.cell_width, p.cell_height, fill_of(grid.heat, cell.colour));
            canvas.outline(x, y, p.cell_width, p.cell_height, 1, ink(Ink::edge));
            for (const Label& word : geometry::word_labels(p, row, column)) canvas.text(word, ink(Ink::text));
        }
}

void draw_frames(Canvas& canvas, const geometry::GridPlan& p) {
    for (const bool heavy : {false, true})
        for (const Grid::Frame& frame : p.grid->frames) {
            if (frame.heavy != heavy) continue;
            const geometry::Area box = geometry::area_of(p, frame);
            canvas.outline(box.x, box.y, box.width, box.height, heavy ? 3 : 1,
                           ink(heavy ? Ink::heavy_frame : Ink::frame));
        }
    draw_labels(canvas, p.frame_labels, Ink::faint);
}

// A triangle of `head` pixels whose point is at (x, y), to the right or down.
void draw_head(Canvas& canvas, int x, int y, bool right, std::uint8_t colour) {
    constexpr int head = 7;
    for (int i = 0; i < head; ++i) {
        const int half = (i + 1) / 2;
        if (right)
            canvas.fill(x - i, y - half - 1, 1, 2 * half + 2, colour);
        else
            canvas.fill(x - half - 1, y - i, 2 * half + 2, 1, colour);
    }
}

void draw_arrows(Canvas& canvas, const geometry::GridPlan& p) {
    constexpr int head = 6;
    const std::uint8_t colour = ink(Ink::arrow);
    for (const geometry::Bracket& a : p.arrows) {
        if (a.vertical) {
            canvas.stroke(a.from_x, a.from_y, a.lane, a.from_y, colour);
            canvas.stroke(a.lane, a.from_y, a.lane, a.to_y, colour);
            canvas.stroke(a.lane, a.to_y, a.to_x - head, a.to_y, colour);
        } else {
            canvas.stroke(a.from_x, a.from_y, a.from_x, a.lane, colour);
            canvas.stroke(a.from_x, a.lane, a.to_x, a.lane, colour);
            canvas.stroke(a.to_x, a.lane, a.to_x, a.to_y - head, colour);
        }
        draw_head(canvas, a.to_x, a.to_y, a.vertical, colour);
        canvas.fill(a.from_x - 3, a.from_y - 2, 6, 4, colour);  // a dot
        canvas.fill(a.from_x - 2, a.from_y - 3, 4, 6, colour);
        canvas.text(a.label, ink(Ink::arrow_text), true);
    }
}

}  // namespace

Extent extent_of(const Picture& picture) {
    const geometry::Plan plan = geometry::plan(picture);
    return {plan.width, plan.height};
}

Image to_image(const Picture& picture, bool dark, int scale) {
    const geometry::Plan plan = geometry::plan(picture);
    Canvas canvas(plan.width, plan.height, ink(Ink::paper));
    for (const geometry::GridPlan& p : plan.grids) {
        draw_labels(canvas, p.titles, Ink::text, true);
        draw_labels(canvas, p.axes, Ink::text);
        draw_labels(canvas, p.column_names, Ink::faint);
        draw_labels(canvas, p.row_names, Ink::faint);
        draw_cells(canvas, p);
        draw_frames(canvas, p);
        draw_arrows(canvas, p);
    }
    draw_labels(canvas, plan.legend_titles, Ink::text);
    for (const geometry::Swatch& s : plan.legend) {
        canvas.fill(s.x, s.y, geometry::swatch, geometry::swatch, fill_of(s.heat, s.colour));
        canvas.outline(s.x, s.y, geometry::swatch, geometry::swatch, 1, ink(Ink::edge));
        canvas.text(s.label, ink(Ink::text));
    }
    return canvas.take(palette_of(dark), scale);
}

}  // namespace wgrun
