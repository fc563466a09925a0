// Pictures as lines of text.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <utility>

#include "picture/geometry.hpp"
#include "picture/palette.hpp"
#include "wgrun/picture.hpp"

namespace wgrun {
namespace {

using TextLines = std::vector<std::string>;
constexpr std::string_view plain = "\x1b[0m";

// Black text on the colour.
std::string background(bool heat, int colour, Colours colours) {
    const Shade& shade = shade_of(heat, colour);
    if (colours == Colours::direct)
        return fmt::format("\x1b[38;2;0;0;0;48;2;{};{};{}m", shade.light >> 16, shade.light >> 8 & 255,
                           shade.light & 255);
    return fmt::format("\x1b[30;48;5;{}m", shade.indexed);
}

// The width on the screen, without escape sequences.
std::size_t columns_of(std::string_view text) {
    std::size_t out = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\x1b')
            i = std::min(text.find('m', i), text.size());
        else
            ++out;
    }
    return out;
}

std::size_t widest(const std::vector<std::string>& names) {
    std::size_t width = 1;
    for (const std::string& name : names) width = std::max(width, name.size());
    return width;
}

/// Characters of the row names and of a cell; grids one below the other share them.
struct Widths {
    std::size_t head = 0;
    std::size_t cell = 0;
};

Widths widths_of(const Grid& grid) {
    Widths w{widest(grid.row_names), widest(grid.column_names)};
    for (const Grid::Cell& c : grid.cells) w.cell = std::max(w.cell, c.text.size());
    return w;
}

// Columns [first, last) of the cells.
void add_band(TextLines& out, const Grid& grid, const Widths& w, int first, int last, Colours colours) {
    const std::vector<bool> column_gaps = geometry::gaps(grid, false);
    const std::vector<bool> row_gaps = geometry::gaps(grid, true);
    const auto apart = [&](int column) {
        return column > first && column_gaps[static_cast<std::size_t>(column)];
    };
    std::string names(w.head, ' ');
    std::string rule(w.head, ' ');
    for (int column = first; column < last; ++column) {
        names += fmt::format("{} {:>{}}", apart(column) ? "  " : "",
                             grid.column_names[static_cast<std::size_t>(column)], w.cell);
        rule += apart(column) ? "-+" : "";
        rule.append(w.cell + 1, '-');
    }
    out.push_back(std::move(names));
    for (int row = 0; row < grid.rows; ++row) {
        if (row > 0 && row_gaps[static_cast<std::size_t>(row)]) out.push_back(rule);
        std::string text = fmt::format("{:>{}}", grid.row_names[static_cast<std::size_t>(row)], w.head);
        int current = -1;
        for (int column = first; column < last; ++column) {
            const Grid::Cell& c = grid.at(row, column);
            if (apart(column)) {
                if (colours != Colours::none && current >= 0) text += plain;
                current = -1;
                text += " |";
            }
            if (colours != Colours::none && c.colour != current)
                text += c.colour < 0 ? std::string(plain) : background(grid.heat, c.colour, colours);
            current = c.colour;
            text += fmt::format(" {:>{}}", c.text.empty() ? "." : c.text, w.cell);
        }
        if (colours != Colours::none) text += plain;
        out.push_back(std::move(text));
    }
}

// The number of columns from `first` on that fit; whole blocks of frames, if at least one fits.
int fitting(const Grid& grid, const Widths& w, int first, int limit) {
    if (limit <= 0) return grid.columns;
    const std::vector<bool> gaps = geometry::gaps(grid, false);
    std::size_t used = w.head;
    int last = first;
    int whole = first;  // the last boundary of a frame that fits
    for (; last < grid.columns; ++last) {
        used += w.cell + 1 + (last > first && gaps[static_cast<std::size_t>(last)] ? 2 : 0);
        if (used > static_cast<std::size_t>(limit)) break;
        for (const Grid::Frame& frame : grid.frames)
            if (frame.column + frame.columns == last + 1) whole = last + 1;
    }
    if (last == grid.columns) return last;
    return std::max(whole > first ? whole : last, first + 1);
}

void add_title(TextLines& out, const std::string& title, int limit) {
    std::string text;
    for (const std::string_view word : geometry::words_of(title)) {
        if (limit > 0 && !text.empty() && text.size() + 1 + word.size() > static_cast<std::size_t>(limit)) {
            out.push_back(std::move(text));
            text.clear();
        }
        if (!text.empty()) text += ' ';
        text += word;
    }
    if (!text.empty()) out.push_back(std::move(text));
}

// The title, and what rows and columns count.
std::string caption_of(const Grid& grid) {
    std::string out = grid.title;
    if (grid.row_axis.empty()) return out;
    out += fmt::format("{}{} down", out.empty() ? "" : ", ", grid.row_axis);
    if (!grid.column_axis.empty()) out += fmt::format(", {} to the right", grid.column_axis);
    return out;
}

TextLines lines_of(const Grid& grid, const Widths& w, const TextStyle& style, bool captioned = true) {
    TextLines out;
    if (captioned) add_title(out, caption_of(grid), style.columns);
    for (int first = 0; first < grid.columns;) {
        const int last = fitting(grid, w, first, style.columns);
        if (first > 0) out.emplace_back();
        add_band(out, grid, w, first, last, style.colours);
        first = last;
    }
    return out;
}

void add_arrows(TextLines& out, const Picture& picture) {
    TextLines seen;
    for (const Grid& grid : picture)
        for (const Grid::Arrow& arrow : grid.arrows) {
            if (std::ranges::find(seen, arrow.label) != seen.end()) continue;
            seen.push_back(arrow.label);
            const bool down = arrow.from_column == arrow.to_column;
            const std::vector<std::string>& names = down ? grid.row_names : grid.column_names;
            out.push_back(
                fmt::format("{}: from {} {} to {}", arrow.label, down ? "row" : "column",
                            names[static_cast<std::size_t>(down ? arrow.from_row : arrow.from_column)],
                            names[static_cast<std::size_t>(down ? arrow.to_row : arrow.to_column)]));
        }
}

// Without colours there is no legend of colours.
void add_legends(TextLines& out, const Picture& picture, const TextStyle& style) {
    for (const Grid::Legend& legend : geometry::legends_of(picture)) {
        if (style.colours == Colours::none) continue;
        std::string text = legend.title;
        text += ':';
        for (const Grid::Legend::Key& key : legend.keys) {
            if (style.columns > 0 &&
                columns_of(text) + key.text.size() + 4 > static_cast<std::size_t>(style.columns))
                out.push_back(std::exchange(text, " "));
            text +=
                fmt::format(" {} {} {}", background(legend.heat, key.colour, style.colours), key.text, plain);
        }
        out.push_back(std::move(text));
    }
}

// Places blocks of text side by side, if they fit.
bool compose(TextLines& out, const Picture& picture, const TextStyle& style) {
    const std::vector<geometry::Place> where = geometry::places(picture);
    if (std::ranges::all_of(where, [](const geometry::Place& place) { return place.row == 0; })) return false;
    std::map<int, Widths> widths;  // of a column of grids
    for (std::size_t i = 0; i < picture.size(); ++i) {
        Widths& w = widths[where[i].column];
        const Widths own = widths_of(picture[i]);
        w = {std::max(w.head, own.head), std::max(w.cell, own.cell)};
    }
    std::map<int, std::map<int, TextLines>> blocks;
    std::map<int, std::size_t> wide;
    TextLines titles;
    for (std::size_t i = 0; i < picture.size(); ++i) {
        const Grid& grid = picture[i];
        titles.push_back(caption_of(grid));
        TextLines lines = lines_of(grid, widths[where[i].column], {style.colours, 0}, false);
        for (const std::string& text : lines) {
            std::size_t& most = wide[where[i].column];
            most = std::max(most, columns_of(text));
        }
        blocks[where[i].row][where[i].column] = std::move(lines);
    }
    std::size_t total = 0;
    for (const auto& [column, width] : wide) total += width + (total > 0 ? 3 : 0);
    if (style.columns > 0 && total > static_cast<std::size_t>(style.columns)) return false;
    for (const std::string& title : titles) add_title(out, title, style.columns);
    for (auto& [row, columns] : blocks) {
        out.emplace_back();
        std::size_t high = 0;
        for (const auto& [column, lines] : columns) high = std::max(high, lines.size());
        for (std::size_t i = 0; i < high; ++i) {
            std::string text;
            std::size_t pad = 0;
            for (const auto& [column, width] : wide) {
                const auto block = columns.find(column);
                const bool there = block != columns.end() && i < block->second.size();
                if (there) {
                    text.append(pad, ' ');
                    text += block->second[i];
                    pad = 0;
                }
                pad += width - (there ? columns_of(block->second[i]) : 0) + 3;
            }
            out.push_back(std::move(text));
        }
    }
    return true;
}

std::string joined(const TextLines& lines) {
    std::string out;
    for (const std::string& text : lines) out += text + '\n';
    return out;
}

}  // namespace

Colours terminal_colours(bool wanted) {
    if (!wanted) return Colours::none;
    const char* value = std::getenv("COLORTERM");
    const std::string_view said(value == nullptr ? "" : value);
    return said == "truecolor" || said == "24bit" ? Colours::direct : Colours::indexed;
}

int terminal_columns(int stream) {
    if (winsize size{}; ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    const char* value = std::getenv("COLUMNS");
    const std::string_view said(value == nullptr ? "" : value);
    int columns = 0;
    std::from_chars(said.data(), said.data() + said.size(), columns);
    return std::max(columns, 0);
}

std::string to_text(const Picture& picture, const TextStyle& style) {
    TextLines out;
    if (!compose(out, picture, style))
        for (const Grid& grid : picture) {
            if (!out.empty()) out.emplace_back();
            for (std::string& text : lines_of(grid, widths_of(grid), style)) out.push_back(std::move(text));
        }
    add_arrows(out, picture);
    add_legends(out, picture, style);
    return joined(out);
}

std::string to_text(const Grid& grid, const TextStyle& style) { return to_text(Picture{grid}, style); }

std::string to_text(const Grid& grid, bool colour) { return to_text(Picture{grid}, colour); }

std::string to_text(const Picture& picture, bool colour) {
    return to_text(picture, TextStyle{.colours = colour ? Colours::indexed : Colours::none, .columns = 0});
}

}  // namespace wgrun
