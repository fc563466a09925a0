#include "layout/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "wgrun/diagnostic.hpp"

namespace wgrun {
namespace {

constexpr int max_cells = 1 << 16;

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

Grid blank(std::string title, std::int64_t rows, std::int64_t columns) {
    if (rows * columns > max_cells)
        throw ArgumentError(
            fmt::format("picture of {}: {} cells are too many to look at", title, rows * columns),
            fmt::format("at most {}; picture one atom or one mode", max_cells));
    Grid grid;
    grid.title = std::move(title);
    grid.rows = static_cast<int>(rows);
    grid.columns = static_cast<int>(columns);
    for (int i = 0; i < grid.rows; ++i) grid.row_names.push_back(std::to_string(i));
    for (int i = 0; i < grid.columns; ++i) grid.column_names.push_back(std::to_string(i));
    grid.cells.resize(static_cast<std::size_t>(rows * columns));
    return grid;
}

std::size_t index_of(const Grid& grid, int row, int column) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(grid.columns) +
           static_cast<std::size_t>(column);
}

Grid::Cell& cell(Grid& grid, int row, int column) { return grid.cells[index_of(grid, row, column)]; }

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

std::size_t widest(const std::vector<std::string>& names) {
    std::size_t width = 1;
    for (const std::string& name : names) width = std::max(width, name.size());
    return width;
}

std::size_t widest_cell(const Grid& grid) {
    std::size_t width = widest(grid.column_names);
    for (const Grid::Cell& c : grid.cells) width = std::max(width, c.text.size());
    return width;
}

}  // namespace

Grid grid_of(const Layout& layout, int chunk) {
    if (chunk < 1) throw ArgumentError(fmt::format("picture: chunks of {} offsets", chunk), "at least 1");
    const std::int64_t rows = layout.rank() == 0 ? 1 : layout.mode(0).size();
    Grid grid = blank(layout.to_string(), rows, layout.size() / rows);
    const std::vector<std::int64_t> offsets = layout.offsets();
    for (int column = 0; column < grid.columns; ++column)
        for (int row = 0; row < grid.rows; ++row) {
            const auto index = static_cast<std::size_t>(column) * static_cast<std::size_t>(rows) +
                               static_cast<std::size_t>(row);
            const std::int64_t offset = offsets[index];
            const std::int64_t unit = offset >= 0 ? offset / chunk : ~(~offset / chunk);
            cell(grid, row, column) = {std::to_string(offset),
                                       fmt::format("({}, {}) index {} offset {}", row, column, index, offset),
                                       static_cast<int>(unit & 7)};
        }
    return grid;
}

Grid grid_of(const Tile& tile, bool bytes) {
    Grid grid = blank(
        fmt::format("{} {}x{} {}-major swizzle {}: {} offsets", to_string(tile.dtype()), tile.mn(), tile.k(),
                    to_string(tile.major()), to_string(tile.swizzle()), bytes ? "byte" : "element"),
        tile.mn(), tile.k());
    const Layout layout = tile.layout();
    const std::vector<std::int64_t> offsets = layout.offsets();
    for (int row = 0; row < grid.rows; ++row)
        for (int column = 0; column < grid.columns; ++column) {
            const int byte = tile.offset(row, column);
            const std::int64_t element =
                offsets[static_cast<std::size_t>(column) * static_cast<std::size_t>(grid.rows) +
                        static_cast<std::size_t>(row)];
            cell(grid, row, column) = {std::to_string(bytes ? byte : element),
                                       fmt::format("mn {} k {}: byte {}, element {}, bank {}", row, column,
                                                   byte, element, byte / 4 % 32),
                                       byte / 16 % 8};
        }
    return grid;
}

Grid grid_of(const Fragment& fragment) {
    Grid grid = blank(fragment.name, fragment.rows, fragment.columns);
    for (int thread = 0; thread < fragment.threads(); ++thread)
        for (int value = 0; value < fragment.values(); ++value) {
            const auto [row, column] = fragment.at(thread, value);
            Grid::Cell& c = cell(grid, row, column);
            if (c.text.empty())
                c = {fmt::format("T{} V{}", thread, value), fmt::format("({}, {})", row, column),
                     thread % 32 / 4};
            else if (c.text.back() != '+')
                c.text += '+';
            c.tip +=
                fmt::format(" thread {} value {} register {}", thread, value, value / fragment.per_register);
        }
    for (Grid::Cell& c : grid.cells)
        if (c.text.empty()) c.colour = -1;
    return grid;
}

Grid grid_of(const BankConflicts& conflicts) {
    std::size_t lanes = 0;
    for (const BankPhase& phase : conflicts.worst) lanes += phase.addresses.size();
    Grid grid = blank(conflicts.to_string(), static_cast<std::int64_t>(lanes), 32);
    grid.heat = true;
    for (Grid::Cell& c : grid.cells) c.colour = -1;
    const int words = std::max(1, conflicts.bytes / 4);  // of each lane
    for (const BankPhase& phase : conflicts.worst) {
        std::array<std::vector<int>, 32> distinct;
        for (const std::uint32_t address : phase.addresses)
            for (int word = static_cast<int>(address / 4), left = words; left > 0; --left, ++word) {
                auto& seen = distinct[static_cast<std::size_t>(word % 32)];
                if (std::ranges::find(seen, word) == seen.end()) seen.push_back(word);
            }
        for (std::size_t i = 0; i < phase.addresses.size(); ++i)
            for (int word = static_cast<int>(phase.addresses[i] / 4), left = words; left > 0;
                 --left, ++word) {
                const int lane = phase.first_lane + static_cast<int>(i);
                const auto degree = static_cast<int>(distinct[static_cast<std::size_t>(word % 32)].size());
                cell(grid, lane, word % 32) = {
                    std::to_string(degree),
                    fmt::format("lane {} word {}: {} words of bank {} in this phase", lane, word, degree,
                                word % 32),
                    std::min(degree, 8) - 1};
            }
    }
    return grid;
}

std::string to_text(const Grid& grid, bool colour) {
    const std::size_t head = widest(grid.row_names);
    const std::size_t width = widest_cell(grid);
    std::string out = grid.title + "\n" + std::string(head, ' ');
    for (const std::string& name : grid.column_names) out += fmt::format(" {:>{}}", name, width);
    out += "\n";
    for (int row = 0; row < grid.rows; ++row) {
        out += fmt::format("{:>{}}", grid.row_names[static_cast<std::size_t>(row)], head);
        int current = -1;
        for (int column = 0; column < grid.columns; ++column) {
            const Grid::Cell& c = grid.cells[index_of(grid, row, column)];
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

std::string to_svg(const Grid& grid) {
    constexpr int line = 18;
    constexpr int baseline = 13;  // of a label in its cell
    constexpr int advance = 7;    // of a character of the 11-pixel font
    const int left = advance * static_cast<int>(widest(grid.row_names)) + 12;
    const int width = std::max(line, advance * static_cast<int>(widest_cell(grid)) + 6);
    const int top = 2 * line + 10;
    const int full =
        std::max(left + width * grid.columns + 8, advance * static_cast<int>(grid.title.size()) + 16);
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n"
        "<style>text{{font:11px monospace;text-anchor:middle}}"
        "rect{{stroke:#666;stroke-width:.5}}.n{{fill:#666}}.t{{text-anchor:start;font-weight:bold}}",
        full, top + line * grid.rows + 8);
    for (int i = 0; i < 8; ++i) out += fmt::format(".c{}{{fill:{}}}", i, colour_of(grid, i).css);
    out += ".w{fill:#fff}</style>\n<rect class=\"w\" width=\"100%\" height=\"100%\" stroke=\"none\"/>\n";
    out += fmt::format("<text class=\"t\" x=\"8\" y=\"{}\">{}</text>\n", line, escaped(grid.title));
    for (int column = 0; column < grid.columns; ++column)
        out +=
            fmt::format("<text class=\"n\" x=\"{}\" y=\"{}\">{}</text>\n", left + width * column + width / 2,
                        top - 5, escaped(grid.column_names[static_cast<std::size_t>(column)]));
    for (int row = 0; row < grid.rows; ++row) {
        const int y = top + line * row;
        out += fmt::format("<text class=\"n\" x=\"{}\" y=\"{}\">{}</text>\n", left / 2, y + baseline,
                           escaped(grid.row_names[static_cast<std::size_t>(row)]));
        for (int column = 0; column < grid.columns; ++column) {
            const auto& [text, tip, shade] = grid.cells[index_of(grid, row, column)];
            const int x = left + width * column;
            out += fmt::format(
                "<g><title>{}</title><rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                escaped(tip), shade < 0 ? "w" : fmt::format("c{}", shade % 8), x, y, width, line);
            if (!text.empty())
                out += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>", x + width / 2, y + baseline,
                                   escaped(text));
            out += "</g>\n";
        }
    }
    return out + "</svg>\n";
}

}  // namespace wgrun
