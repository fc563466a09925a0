// Grids as text and as SVG.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "file/replacement.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/picture.hpp"

namespace wgrun {
namespace {

struct Colour {
    std::string_view css;
    int ansi;  // of the 256-colour palette
};
// Light enough for black text.
constexpr std::array<Colour, 8> palette{{{"#a8d5ff", 153},
                                         {"#ffd6a8", 223},
                                         {"#b8f0b8", 157},
                                         {"#ffb8c8", 217},
                                         {"#d8c8ff", 183},
                                         {"#fff0a0", 229},
                                         {"#a8ece8", 159},
                                         {"#e0e0e0", 253}}};
constexpr std::array<Colour, 8> heat{{{"#c8f0c8", 157},
                                      {"#fff0a0", 229},
                                      {"#ffe080", 222},
                                      {"#ffc870", 215},
                                      {"#ffa860", 209},
                                      {"#ff8858", 203},
                                      {"#ff6850", 196},
                                      {"#f04848", 160}}};

const Colour& colour_of(const Grid& grid, int colour) {
    return (grid.heat ? heat : palette)[static_cast<std::size_t>(colour % 8)];
}

const Grid::Cell& cell(const Grid& grid, int row, int column) {
    return grid.cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(grid.columns) +
                      static_cast<std::size_t>(column)];
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '&')
            out += "&amp;";
        else
            out += c;
    }
    return out;
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

std::size_t widest(const std::vector<std::string>& names) {
    std::size_t width = 1;
    for (const std::string& name : names) width = std::max(width, name.size());
    return width;
}

constexpr int advance = 7;  // of a character of the 11-pixel font
constexpr int line = 13;    // from a line of text to the next
constexpr int margin = 8;

/// Sizes in pixels.
struct Measures {
    int left = 0;    ///< the row names
    int top = 0;     ///< the title and the column names
    int width = 0;   ///< of a cell
    int height = 0;  ///< likewise
    int full = 0;    ///< of the whole grid
};

Measures measure(const Grid& grid) {
    std::size_t letters = widest(grid.column_names);
    std::size_t lines = 1;
    for (const Grid::Cell& c : grid.cells) {
        const std::vector<std::string_view> words = words_of(c.text);
        lines = std::max(lines, words.size());
        for (const std::string_view word : words) letters = std::max(letters, word.size());
    }
    Measures m;
    m.left = advance * static_cast<int>(widest(grid.row_names)) + 8;
    m.top = grid.title.empty() ? line + 6 : 2 * line + 14;
    m.height = line * static_cast<int>(lines) + 6;
    m.width = std::max(m.height, advance * static_cast<int>(letters) + 6);
    m.full = std::max(m.left + m.width * grid.columns, advance * static_cast<int>(grid.title.size()));
    return m;
}

void add_grid(std::string& out, const Grid& grid, const Measures& m) {
    const auto text = [&](std::string_view kind, int x, int y, std::string_view what) {
        out += fmt::format("<text{} x=\"{}\" y=\"{}\">{}</text>", kind, x, y, escaped(what));
    };
    if (!grid.title.empty()) text(" class=\"t\"", 0, line, grid.title);
    for (int column = 0; column < grid.columns; ++column)
        text(" class=\"n\"", m.left + m.width * column + m.width / 2, m.top - 5,
             grid.column_names[static_cast<std::size_t>(column)]);
    out += "\n";
    for (int row = 0; row < grid.rows; ++row) {
        const int y = m.top + m.height * row;
        text(" class=\"r\"", m.left - 5, y + m.height / 2 + 4, grid.row_names[static_cast<std::size_t>(row)]);
        out += "\n";
        for (int column = 0; column < grid.columns; ++column) {
            const auto& [label, tip, shade] = cell(grid, row, column);
            const int x = m.left + m.width * column;
            out += fmt::format(
                "<g><title>{}</title><rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                escaped(tip), shade < 0 ? "w" : fmt::format("{}{}", grid.heat ? 'h' : 'c', shade % 8), x, y,
                m.width, m.height);
            const std::vector<std::string_view> words = words_of(label);
            int below = y + (m.height - line * static_cast<int>(words.size())) / 2 + 10;
            for (const std::string_view word : words) {
                text("", x + m.width / 2, below, word);
                below += line;
            }
            out += "</g>\n";
        }
    }
}

}  // namespace

std::string to_text(const Grid& grid, bool colour) {
    const std::size_t head = widest(grid.row_names);
    std::size_t width = widest(grid.column_names);
    for (const Grid::Cell& c : grid.cells) width = std::max(width, c.text.size());
    std::string out = grid.title;
    if (!out.empty()) out += '\n';
    out.append(head, ' ');
    for (const std::string& name : grid.column_names) out += fmt::format(" {:>{}}", name, width);
    out += "\n";
    for (int row = 0; row < grid.rows; ++row) {
        out += fmt::format("{:>{}}", grid.row_names[static_cast<std::size_t>(row)], head);
        int current = -1;
        for (int column = 0; column < grid.columns; ++column) {
            const Grid::Cell& c = cell(grid, row, column);
            if (colour && c.colour != current)
                out += c.colour < 0 ? "\x1b[0m"
                                    : fmt::format("\x1b[30;48;5;{}m", colour_of(grid, c.colour).ansi);
            current = c.colour;
            out += fmt::format(" {:>{}}", c.text.empty() ? "." : c.text, width);
        }
        out += colour ? "\x1b[0m\n" : "\n";
    }
    return out;
}

std::string to_text(const Picture& picture, bool colour) {
    std::string out;
    for (const Grid& grid : picture) {
        if (!out.empty()) out += '\n';
        out += to_text(grid, colour);
    }
    return out;
}

std::string to_svg(const Picture& picture) {
    int width = margin;
    int height = 0;
    std::string body;
    for (const Grid& grid : picture) {
        const Measures m = measure(grid);
        body += fmt::format("<g transform=\"translate({},{})\">\n", width, margin);
        add_grid(body, grid, m);
        body += "</g>\n";
        width += m.full + 4 * margin;
        height = std::max(height, m.top + m.height * grid.rows);
    }
    width -= 3 * margin;
    height += 2 * margin;
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n"
        "<style>text{{font:11px monospace;text-anchor:middle}}"
        "rect{{stroke:#666;stroke-width:.5}}.n,.r{{fill:#666}}.r{{text-anchor:end}}"
        ".t{{text-anchor:start;font-weight:bold}}.w{{fill:#fff}}",
        width, height);
    for (std::size_t i = 0; i < palette.size(); ++i)
        out += fmt::format(".c{0}{{fill:{1}}}.h{0}{{fill:{2}}}", i, palette[i].css, heat[i].css);
    out += "</style>\n<rect class=\"w\" width=\"100%\" height=\"100%\" style=\"stroke:none\"/>\n";
    return out + body + "</svg>\n";
}

void save_svg(const Picture& picture, const std::string& path) {
    file::replace(path, to_svg(picture));
}

}  // namespace wgrun
