#include "picture/geometry.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace wgrun::geometry {
namespace {

constexpr int gap = 7;            // between atoms
constexpr int strip = line + 5;   // the same with the label of the atom below
constexpr int lane_depth = 12;    // from the long stroke of an arrow to the cells, or to the next lane's text
constexpr int lead = 5;           // where an arrow from above meets its cell, right of the cell's left edge
constexpr int between = 32;       // grids side by side
constexpr int below = 20;         // grids one below the other
constexpr int least_title = 300;  // titles are not wrapped below this width

int width_of(std::string_view text) { return advance * static_cast<int>(text.size()); }

int widest(const std::vector<std::string>& names) {
    int width = advance;
    for (const std::string& name : names) width = std::max(width, width_of(name));
    return width;
}

bool is_vertical(const Grid::Arrow& arrow) { return arrow.from_column == arrow.to_column; }

int span_of(const Grid::Arrow& arrow) {
    return std::abs(arrow.to_row - arrow.from_row) + std::abs(arrow.to_column - arrow.from_column);
}

// Short ones next to the cells.
std::vector<const Grid::Arrow*> arrows_of(const Grid& grid, bool vertical) {
    std::vector<const Grid::Arrow*> out;
    for (const Grid::Arrow& arrow : grid.arrows)
        if (is_vertical(arrow) == vertical) out.push_back(&arrow);
    std::ranges::stable_sort(out, {}, [](const Grid::Arrow* arrow) { return span_of(*arrow); });
    return out;
}

/// The space that a grid needs; the grids of a row or column share the largest.
struct Needs {
    int left = 0;    // row names and vertical arrows
    int names = 0;   // column names and horizontal arrows
    int width = 0;   // of a cell
    int height = 0;  // likewise
    int row_gap = gap;
    std::vector<bool> column_gaps;
    std::vector<bool> row_gaps;
    int lanes_x = 0;  // of the left part: the arrows alone
    int lanes_y = 0;
};

Needs needs_of(const Grid& grid) {
    Needs n;
    int letters = widest(grid.column_names);
    int lines = 1;
    for (const Grid::Cell& c : grid.cells) {
        const std::vector<std::string_view> words = words_of(c.text);
        lines = std::max(lines, static_cast<int>(words.size()));
        for (const std::string_view word : words) letters = std::max(letters, width_of(word));
    }
    n.height = line * lines + 6;
    n.width = std::max(n.height + 6, letters + 8);
    for (const Grid::Frame& frame : grid.frames)
        if (!frame.label.empty()) {
            n.row_gap = strip;
            n.width = std::max(n.width, (width_of(frame.label) + lead + 8) / frame.columns + 1);
        }
    for (const Grid::Arrow* arrow : arrows_of(grid, true))
        n.lanes_x += lane_depth + width_of(arrow->label) + 8;
    n.lanes_y = static_cast<int>(arrows_of(grid, false).size()) * (lane_depth + line + 3);
    n.left = std::max(widest(grid.row_names), width_of(grid.row_axis)) + 8 + n.lanes_x;
    n.names = line + 5 + n.lanes_y + (grid.column_axis.empty() ? 0 : line);
    n.column_gaps = gaps(grid, false);
    n.row_gaps = gaps(grid, true);
    return n;
}

// Lists of the same length are merged; a grid of other extents keeps its own.
void join(std::vector<bool>& list, const std::vector<bool>& other) {
    if (list.size() != other.size()) return;
    for (std::size_t i = 0; i < list.size(); ++i)
        if (other[i]) list[i] = true;
}

std::vector<std::string> broken(const std::string& text, int width) {
    std::vector<std::string> out;
    for (const std::string_view word : words_of(text)) {
        if (out.empty() || width_of(out.back()) + width_of(word) + advance > std::max(width, least_title))
            out.emplace_back(word);
        else
            out.back().append(" ").append(word);
    }
    return out;
}

int extent(const std::vector<bool>& gaps, int cell, int gap_size) {
    int out = 0;
    for (const bool apart : gaps) out += cell + (apart ? gap_size : 0);
    return out;
}

std::vector<int> edges(const std::vector<bool>& gaps, int start, int cell, int gap_size) {
    std::vector<int> out;
    for (const bool apart : gaps) {
        if (apart) start += gap_size;
        out.push_back(start);
        start += cell;
    }
    return out;
}

void place_names(GridPlan& p, const Needs& n, int left, int names_y) {
    const Grid& grid = *p.grid;
    for (int row = 0; row < grid.rows; ++row)
        p.row_names.push_back({left - n.lanes_x - 5,
                               p.row_y[static_cast<std::size_t>(row)] + p.cell_height / 2 + 4, Anchor::end,
                               grid.row_names[static_cast<std::size_t>(row)]});
    for (int column = 0; column < grid.columns; ++column)
        p.column_names.push_back({p.column_x[static_cast<std::size_t>(column)] + p.cell_width / 2, names_y,
                                  Anchor::middle, grid.column_names[static_cast<std::size_t>(column)]});
    if (!grid.row_axis.empty()) p.axes.push_back({left - n.lanes_x - 5, names_y, Anchor::end, grid.row_axis});
    if (!grid.column_axis.empty()) {
        const int wide = std::max(p.column_x.back() + p.cell_width - left, width_of(grid.column_axis));
        p.axes.push_back({left + wide / 2, names_y - line, Anchor::middle, grid.column_axis});
    }
    for (const Grid::Frame& frame : grid.frames)
        if (!frame.label.empty())
            p.frame_labels.push_back({p.column_x[static_cast<std::size_t>(frame.column)] + lead + 5,
                                      p.row_y[static_cast<std::size_t>(frame.row)] - 5, Anchor::start,
                                      frame.label});
}

void place_arrows(GridPlan& p, int left, int top) {
    int lane = left;
    for (const Grid::Arrow* arrow : arrows_of(*p.grid, true)) {
        const auto y = [&](int row) { return p.row_y[static_cast<std::size_t>(row)] + p.cell_height / 2; };
        lane -= lane_depth;
        const int from = y(arrow->from_row);
        const int to = y(arrow->to_row);
        const int edge = p.column_x.front();
        p.arrows.push_back(
            {true, edge, from, edge, to, lane, {lane - 4, (from + to) / 2 + 4, Anchor::end, arrow->label}});
        lane -= width_of(arrow->label) + 8;
    }
    lane = top;
    for (const Grid::Arrow* arrow : arrows_of(*p.grid, false)) {
        const auto x = [&](int column) { return p.column_x[static_cast<std::size_t>(column)] + lead; };
        lane -= lane_depth;
        const int from = x(arrow->from_column);
        const int edge = p.row_y.front();
        p.arrows.push_back({false,
                            from,
                            edge,
                            x(arrow->to_column),
                            edge,
                            lane,
                            {from, lane - 4, Anchor::start, arrow->label}});
        lane -= line + 3;
    }
}

void place_legends(Plan& out, const Picture& picture) {
    const std::vector<Grid::Legend> legends = legends_of(picture);
    int y = out.height + 6;
    for (const Grid::Legend& legend : legends) {
        int x = margin;
        for (const std::string& text : broken(legend.title, out.width - 2 * margin)) {
            if (x > margin) y += line;
            x = margin + width_of(text) + 10;
            out.width = std::max(out.width, x + margin);
            out.legend_titles.push_back({margin, y + ascent, Anchor::start, text});
        }
        for (const Grid::Legend::Key& key : legend.keys) {
            const int wide = swatch + 5 + width_of(key.text) + 12;
            if (x + wide > std::max(out.width, least_title + 2 * margin)) {
                x = margin;
                y += line + 5;
            }
            out.legend.push_back(
                {x, y, key.colour, legend.heat, {x + swatch + 5, y + ascent, Anchor::start, key.text}});
            x += wide;
            out.width = std::max(out.width, x);
        }
        y += line + 7;
    }
    if (!legends.empty()) out.height = y;
}

}  // namespace

std::vector<Label> word_labels(const GridPlan& p, int row, int column) {
    const std::vector<std::string_view> words = words_of(p.grid->at(row, column).text);
    const int x = p.column_x[static_cast<std::size_t>(column)] + p.cell_width / 2;
    int y = p.row_y[static_cast<std::size_t>(row)] +
            (p.cell_height - line * static_cast<int>(words.size())) / 2 + 10;
    std::vector<Label> out;
    for (const std::string_view word : words) {
        out.push_back({x, y, Anchor::middle, std::string(word)});
        y += line;
    }
    return out;
}

Area area_of(const GridPlan& p, const Grid::Frame& frame) {
    const int x = p.column_x[static_cast<std::size_t>(frame.column)];
    const int y = p.row_y[static_cast<std::size_t>(frame.row)];
    const int right = p.column_x[static_cast<std::size_t>(frame.column + frame.columns - 1)] + p.cell_width;
    const int bottom = p.row_y[static_cast<std::size_t>(frame.row + frame.rows - 1)] + p.cell_height;
    return {x, y, right - x, bottom - y};
}

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        words.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

std::vector<bool> gaps(const Grid& grid, bool rows) {
    std::vector<bool> out(static_cast<std::size_t>(rows ? grid.rows : grid.columns));
    for (const Grid::Frame& frame : grid.frames) {
        const int first = rows ? frame.row : frame.column;
        // The first row has one if it contains labels.
        if (frame.heavy && (first > 0 || (rows && !frame.label.empty())))
            out[static_cast<std::size_t>(first)] = true;
    }
    return out;
}

std::vector<Grid::Legend> legends_of(const Picture& picture) {
    std::vector<Grid::Legend> out;
    for (const Grid& grid : picture)
        if (!grid.legend.title.empty() && std::ranges::find(out, grid.legend) == out.end())
            out.push_back(grid.legend);
    for (Grid::Legend& legend : out) {
        std::set<int> seen;
        for (const Grid& grid : picture)
            if (grid.legend.title == legend.title)
                for (const Grid::Cell& cell : grid.cells) seen.insert(cell.colour);
        std::erase_if(legend.keys, [&](const Grid::Legend::Key& key) { return !seen.contains(key.colour); });
    }
    return out;
}

std::vector<Place> places(const Picture& picture) {
    std::vector<Place> out;
    for (const Grid& grid : picture) {
        const int next = out.empty() ? 0 : out.back().column + 1;
        out.push_back({grid.place_row, grid.place_column < 0 ? next : grid.place_column});
    }
    return out;
}

Plan plan(const Picture& picture) {
    const std::vector<Place> where = places(picture);
    std::vector<Needs> needs;
    for (const Grid& grid : picture) needs.push_back(needs_of(grid));
    // Cells have to be aligned only where grids are arranged in rows and columns.
    const bool in_line = std::ranges::any_of(where, [](const Place& place) { return place.row > 0; });
    for (std::size_t i = 0; i < picture.size(); ++i)
        for (std::size_t j = 0; j < picture.size(); ++j) {
            if (where[i].row == where[j].row) {
                needs[i].names = std::max(needs[i].names, needs[j].names);
                needs[i].height = std::max(needs[i].height, needs[j].height);
                if (!in_line) continue;
                needs[i].row_gap = std::max(needs[i].row_gap, needs[j].row_gap);
                join(needs[i].row_gaps, needs[j].row_gaps);
            }
            if (where[i].column == where[j].column) {
                needs[i].left = std::max(needs[i].left, needs[j].left);
                needs[i].width = std::max(needs[i].width, needs[j].width);
                join(needs[i].column_gaps, needs[j].column_gaps);
            }
        }
    Plan out;
    // Extents of the rows and columns of grids.
    std::map<int, int> wide, title_high, high;
    std::vector<std::vector<std::string>> titles;
    for (std::size_t i = 0; i < picture.size(); ++i) {
        const Needs& n = needs[i];
        int width = n.left + extent(n.column_gaps, n.width, gap);
        titles.push_back(broken(picture[i].title, width));
        for (const std::string& text : titles.back()) width = std::max(width, width_of(text));
        width = std::max(width, n.left + width_of(picture[i].column_axis));
        for (const Grid::Arrow& arrow : picture[i].arrows)
            if (!is_vertical(arrow)) width = std::max(width, n.left + lead + width_of(arrow.label));
        int& column = wide[where[i].column];
        column = std::max(column, width);
        int& title = title_high[where[i].row];
        title = std::max(title, line * static_cast<int>(titles.back().size()));
        int& row = high[where[i].row];
        row = std::max(row, n.names + extent(n.row_gaps, n.height, n.row_gap));
    }
    std::map<int, int> x, y;
    int at = margin;
    for (const auto& [column, width] : wide) {
        x[column] = at;
        at += width + between;
    }
    out.width = at - between + margin;
    at = margin;
    for (const auto& [row, height] : high) {
        y[row] = at;
        at += title_high[row] + height + below;
    }
    out.height = at - below + margin;
    for (std::size_t i = 0; i < picture.size(); ++i) {
        const Needs& n = needs[i];
        GridPlan p;
        p.grid = &picture[i];
        p.cell_width = n.width;
        p.cell_height = n.height;
        int text_y = y[where[i].row] + ascent;
        for (const std::string& text : titles[i]) {
            p.titles.push_back({x[where[i].column], text_y, Anchor::start, text});
            text_y += line;
        }
        const int left = x[where[i].column] + n.left;
        const int top = y[where[i].row] + title_high[where[i].row] + n.names;
        p.column_x = edges(n.column_gaps, left, n.width, gap);
        p.row_y = edges(n.row_gaps, top, n.height, n.row_gap);
        place_names(p, n, left, top - n.lanes_y - 4);
        place_arrows(p, left, top);
        out.grids.push_back(std::move(p));
    }
    place_legends(out, picture);
    return out;
}

}  // namespace wgrun::geometry
