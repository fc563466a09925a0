#include "picture/picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "wgrun/count_of.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/target.hpp"

namespace wgrun {
namespace {

constexpr int max_cells = 1 << 16;

}  // namespace

Grid blank_grid(std::string title, std::int64_t rows, std::int64_t columns) {
    if (rows * columns > max_cells)
        throw ArgumentError(
            fmt::format("picture of {}: {} cells are too many", title, rows * columns),
            fmt::format("at most {}; picture one atom or one mode, or an overview", max_cells));
    Grid grid;
    grid.title = std::move(title);
    grid.rows = static_cast<int>(rows);
    grid.columns = static_cast<int>(columns);
    for (int i = 0; i < grid.rows; ++i) grid.row_names.push_back(std::to_string(i));
    for (int i = 0; i < grid.columns; ++i) grid.column_names.push_back(std::to_string(i));
    grid.cells.resize(static_cast<std::size_t>(rows * columns));
    return grid;
}

void name_axes(Grid& grid, std::string_view rows, std::string_view columns) {
    grid.row_axis = rows;
    grid.column_axis = columns;
}

void name_modes(Grid& grid, const Layout& layout) {
    const int rank = layout.rank();
    grid.row_axis = "mode 0";
    if (rank > 1) grid.column_axis = rank == 2 ? "mode 1" : fmt::format("modes 1 to {}", rank - 1);
}

CoreMatrix core_matrix(const Tile& tile) {
    const int unit = 128 / bits(tile.dtype());
    return tile.major() == Major::k ? CoreMatrix{8, unit} : CoreMatrix{unit, 8};
}

std::string title_of(const Tile& tile) {
    return fmt::format("{} {}x{} {}-major swizzle {}", to_string(tile.dtype()), tile.mn(), tile.k(),
                       to_string(tile.major()), to_string(tile.swizzle()));
}

std::vector<Grid::Frame> frames_of(const Tile& tile, int mn, int k) {
    std::vector<Grid::Frame> out;
    const auto add = [&](int high, int wide, bool heavy) {
        for (int row = 0; row < tile.mn(); row += high)
            for (int column = 0; column < tile.k(); column += wide)
                out.push_back({.row = row / mn,
                               .column = column / k,
                               .rows = high / mn,
                               .columns = wide / k,
                               .heavy = heavy,
                               .label = {}});
    };
    const CoreMatrix core = core_matrix(tile);
    // A core matrix of one cell is its own frame.
    if (core.mn > mn || core.k > k) add(core.mn, core.k, false);
    if (tile.atom_mn() > core.mn || tile.atom_k() > core.k) add(tile.atom_mn(), tile.atom_k(), true);
    return out;
}

std::vector<Grid::Arrow> arrows_of(const Tile& tile, int mn, int k) {
    std::vector<Grid::Arrow> out;
    // From the first element to the one `rows` further down or `columns` further to the right.
    const auto add = [&](int rows, int columns, std::string_view name, int bytes) {
        if (rows < tile.mn() && columns < tile.k())
            out.push_back({.from_row = 0,
                           .from_column = 0,
                           .to_row = rows / mn,
                           .to_column = columns / k,
                           .label = fmt::format("{} {}", name, count_of(bytes, "byte"))});
    };
    const bool k_major = tile.major() == Major::k;
    const bool plain = tile.swizzle() == SwizzleMode::none;
    if (k_major) {
        add(8, 0, "SBO", tile.sbo());
        if (plain)
            add(0, tile.atom_k(), "LBO", tile.lbo());
        else if (tile.atom_k() < tile.k())  // which is not a field of the descriptor
            add(0, tile.atom_k(), "next atom", tile.offset(0, tile.atom_k()));
    } else {
        add(tile.atom_mn(), 0, plain ? "SBO" : "LBO", plain ? tile.sbo() : tile.lbo());
        add(0, 8, plain ? "LBO" : "SBO", plain ? tile.lbo() : tile.sbo());
    }
    return out;
}

Grid::Legend range_legend(std::string title, std::int64_t step, std::int64_t last, int colours) {
    if (last >= colours * step) title += fmt::format(" mod {}", colours * step);
    Grid::Legend legend{.title = std::move(title), .keys = {}, .heat = false};
    for (int i = 0; i < colours; ++i)
        legend.keys.push_back(
            {i, step == 1 ? std::to_string(i) : fmt::format("{}-{}", step * i, step * (i + 1) - 1)});
    return legend;
}

Grid::Legend bank_legend() { return range_legend("banks", 4, 31); }

Grid::Legend lane_legend() { return range_legend("lanes", 4, 31); }

Grid transposed(const Grid& grid) {
    Grid out = grid;
    std::swap(out.rows, out.columns);
    std::swap(out.row_names, out.column_names);
    std::swap(out.row_axis, out.column_axis);
    for (int row = 0; row < out.rows; ++row)
        for (int column = 0; column < out.columns; ++column) out.at(row, column) = grid.at(column, row);
    for (Grid::Frame& frame : out.frames) {
        std::swap(frame.row, frame.column);
        std::swap(frame.rows, frame.columns);
    }
    for (Grid::Arrow& arrow : out.arrows) {
        std::swap(arrow.from_row, arrow.from_column);
        std::swap(arrow.to_row, arrow.to_column);
    }
    return out;
}

Grid corner(const Grid& grid, int rows, int columns) {
    Grid out = grid;
    out.rows = rows;
    out.columns = columns;
    out.row_names.resize(static_cast<std::size_t>(rows));
    out.column_names.resize(static_cast<std::size_t>(columns));
    out.cells.clear();
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column) out.cells.push_back(grid.at(row, column));
    std::erase_if(out.frames, [&](const Grid::Frame& f) { return f.row >= rows || f.column >= columns; });
    for (Grid::Frame& frame : out.frames) {
        frame.rows = std::min(frame.rows, rows - frame.row);
        frame.columns = std::min(frame.columns, columns - frame.column);
    }
    std::erase_if(out.arrows, [&](const Grid::Arrow& a) {
        return std::max(a.from_row, a.to_row) >= rows || std::max(a.from_column, a.to_column) >= columns;
    });
    out.detail = nullptr;
    return out;
}

Grid grid_of(const Layout& layout, int chunk) {
    if (chunk < 1) throw ArgumentError(fmt::format("picture: chunks of {} offsets", chunk), "at least 1");
    const std::int64_t rows = layout.rank() == 0 ? 1 : layout.mode(0).size();
    Grid grid = blank_grid(layout.to_string(), rows, layout.size() / rows);
    name_modes(grid, layout);
    const std::vector<std::int64_t> offsets = layout.offsets();
    std::int64_t last = 0;
    for (int column = 0; column < grid.columns; ++column)
        for (int row = 0; row < grid.rows; ++row) {
            const auto index = static_cast<std::size_t>(column) * static_cast<std::size_t>(rows) +
                               static_cast<std::size_t>(row);
            const std::int64_t offset = offsets[index];
            last = std::max(last, offset < 0 ? INT64_MAX : offset);
            const std::int64_t unit = offset >= 0 ? offset / chunk : ~(~offset / chunk);
            grid.at(row, column) = {std::to_string(offset),
                                    fmt::format("({}, {}) index {} offset {}", row, column, index, offset),
                                    static_cast<int>(unit & 7), fmt::format("o{}", offset)};
        }
    grid.legend = range_legend("offsets", chunk, last);
    return grid;
}

Grid byte_grid(const Layout& layout, int element_bits) {
    Grid grid = grid_of(layout);
    grid.title += fmt::format(" of {}: byte addresses", count_of(element_bits, "bit"));
    const std::vector<std::int64_t> offsets = layout.offsets();
    for (int column = 0; column < grid.columns; ++column)
        for (int row = 0; row < grid.rows; ++row) {
            const std::int64_t offset =
                offsets[static_cast<std::size_t>(column) * static_cast<std::size_t>(grid.rows) +
                        static_cast<std::size_t>(row)];
            std::int64_t bit = 0;
            if (__builtin_mul_overflow(offset, element_bits, &bit) || bit % 8 != 0 || bit < 0)
                throw ArgumentError(fmt::format("picture: offset {} of elements of {} is not a byte address",
                                                offset, count_of(element_bits, "bit")));
            Grid::Cell& c = grid.at(row, column);
            c.text = std::to_string(bit / 8);
            c.tip += fmt::format(" byte {} bank {} chunk {}", bit / 8,
                                 sm_90a.bank_of(static_cast<std::uint32_t>(bit / 8)), bit / 128);
            c.colour = static_cast<int>(bit / 128 % 8);
            c.links = fmt::format("u{}", bit / 128);
        }
    grid.legend = bank_legend();
    return grid;
}

Grid grid_of(const Tile& tile, bool bytes) {
    Grid grid = blank_grid(fmt::format("{}: {} offsets", title_of(tile), bytes ? "byte" : "element"),
                           tile.mn(), tile.k());
    name_axes(grid, "mn", "k");
    const Layout layout = tile.layout();
    const std::vector<std::int64_t> offsets = layout.offsets();
    for (int row = 0; row < grid.rows; ++row)
        for (int column = 0; column < grid.columns; ++column) {
            const int byte = tile.offset(row, column);
            const std::int64_t element =
                offsets[static_cast<std::size_t>(column) * static_cast<std::size_t>(grid.rows) +
                        static_cast<std::size_t>(row)];
            grid.at(row, column) = {
                std::to_string(bytes ? byte : element),
                fmt::format("mn {} k {}: byte {}, element {}, bank {}, chunk {}", row, column, byte, element,
                            sm_90a.bank_of(static_cast<std::uint32_t>(byte)), byte / 16),
                byte / 16 % 8, fmt::format("u{}", byte / 16)};
        }
    grid.frames = frames_of(tile, 1, 1);
    grid.arrows = arrows_of(tile, 1, 1);
    grid.legend = bank_legend();
    return grid;
}

Grid grid_of(const Fragment& fragment) {
    Grid grid = blank_grid(fragment.name, fragment.rows, fragment.columns);
    name_axes(grid, "row", "column");
    for (int thread = 0; thread < fragment.threads(); ++thread)
        for (int value = 0; value < fragment.values(); ++value) {
            const auto [row, column] = fragment.at(thread, value);
            Grid::Cell& c = grid.at(row, column);
            if (c.text.empty())
                c = {fmt::format("T{} V{}", thread, value),
                     fmt::format("({}, {})", row, column),
                     thread % 32 / 4,
                     {}};
            else if (c.text.back() != '+')
                c.text += '+';
            if (!c.links.empty()) c.tip += ';';
            c.tip +=
                fmt::format(" thread {} value {} register {}", thread, value, value / fragment.per_register);
            c.links += fmt::format("{}t{}", c.links.empty() ? "" : " ", thread);
        }
    for (Grid::Cell& c : grid.cells)
        if (c.text.empty()) c.colour = -1;
    // Blocks of 8 x 8 elements, and the rows of each warp.
    if (fragment.rows % 8 == 0 && fragment.columns % 8 == 0)
        for (int row = 0; row < grid.rows; row += 8)
            for (int column = 0; column < grid.columns; column += 8)
                grid.frames.push_back({row, column, 8, 8, false, {}});
    if (fragment.threads() == 128 && fragment.rows == 64)
        for (int row = 0; row < grid.rows; row += 16)
            grid.frames.push_back({row, 0, 16, grid.columns, true, fmt::format("warp {}", row / 16)});
    grid.legend = lane_legend();
    return grid;
}

}  // namespace wgrun
