// Large tiles, layouts and fragments in blocks.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "picture/picture.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun {
namespace {

std::string range(std::int64_t first, std::int64_t last) {
    return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

void name_ranges(std::vector<std::string>& names, int step) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto first = static_cast<std::int64_t>(i) * step;
        names[i] = range(first, first + step - 1);
    }
}

// The grid that an overview shows when it is enlarged, unless that is too large as well.
template <class Make>
std::shared_ptr<const Grid> detail_of(std::int64_t rows, std::int64_t columns, Make make) {
    if (rows * columns > 1 << 16) return nullptr;
    return std::make_shared<const Grid>(make());
}

// The smallest power of two times 8 that divides `extent` and leaves at most 32 blocks; the extent if there
// is none.
int block_of(std::int64_t extent) {
    if (extent <= 8) return static_cast<int>(extent);
    for (std::int64_t block = 8; block < extent; block *= 2)
        if (extent % block == 0 && extent / block <= 32) return static_cast<int>(block);
    return static_cast<int>((extent + 31) / 32);
}

// "0-3 8-11", or with more runs "0-62 (32)".
std::string runs(const std::set<int>& numbers) {
    std::string out;
    int count = 0;
    for (auto i = numbers.begin(); i != numbers.end();) {
        const int first = *i;
        int last = first;
        while (i != numbers.end() && *i <= last + 1) last = *i++;
        out += fmt::format("{}{}", out.empty() ? "" : ",", range(first, last));
        ++count;
    }
    return count <= 2 ? out : fmt::format("{}..{}", *numbers.begin(), *numbers.rbegin());
}

}  // namespace

Grid overview(const Tile& tile) {
    const CoreMatrix core = core_matrix(tile);
    const bool plain = tile.swizzle() == SwizzleMode::none;
    Grid grid = blank_grid(
        fmt::format("{}: core matrices (8 lines of 16 bytes), by the byte of their first chunk{}",
                    title_of(tile),
                    plain ? "" : fmt::format("; frames: atoms of {} contiguous bytes", tile.atom_bytes())),
        tile.mn() / core.mn, tile.k() / core.k);
    name_axes(grid, "mn", "k");
    name_ranges(grid.row_names, core.mn);
    name_ranges(grid.column_names, core.k);
    const bool k_major = tile.major() == Major::k;
    const int across = plain ? 8 : width(tile.swizzle()) / 16;  // core matrices along the line of an atom
    for (int row = 0; row < grid.rows; ++row)
        for (int column = 0; column < grid.columns; ++column) {
            const int mn = row * core.mn;
            const int k = column * core.k;
            const int byte = tile.offset(mn, k);
            const int atom =
                tile.offset(mn / tile.atom_mn() * tile.atom_mn(), k / tile.atom_k() * tile.atom_k());
            Grid::Cell& c = grid.at(row, column);
            c.text = std::to_string(byte);
            c.tip = fmt::format("mn {}, k {}: ", range(mn, mn + core.mn - 1), range(k, k + core.k - 1));
            c.tip += plain ? fmt::format("a core matrix in bytes {}", range(byte, byte + 127))
                           : fmt::format("first chunk at byte {}, in the atom of bytes {}", byte,
                                         range(atom, atom + tile.atom_bytes() - 1));
            c.colour = (k_major ? column : row) % across;
        }
    grid.frames = frames_of(tile, core.mn, core.k);
    for (Grid::Frame& frame : grid.frames)
        if (frame.heavy) {
            const int first = tile.offset(frame.row * core.mn, frame.column * core.k);
            frame.label = range(first, first + tile.atom_bytes() - 1);
        }
    grid.arrows = arrows_of(tile, core.mn, core.k);
    grid.legend = range_legend(k_major ? "k" : "mn", k_major ? core.k : core.mn,
                               (k_major ? tile.k() : tile.mn()) - 1, across);
    grid.detail = detail_of(tile.mn(), tile.k(), [&] { return grid_of(tile, true); });
    return grid;
}

Grid overview(const Layout& layout) {
    const std::int64_t rows = layout.rank() == 0 ? 1 : layout.mode(0).size();
    const std::int64_t columns = layout.size() / rows;
    const std::vector<std::int64_t> offsets = layout.offsets();
    const int high = block_of(rows);
    const int wide = block_of(columns);
    Grid grid = blank_grid(
        fmt::format("{}: lowest and highest offset of {}x{} coordinates", layout.to_string(), high, wide),
        (rows + high - 1) / high, (columns + wide - 1) / wide);
    name_modes(grid, layout);
    for (int row = 0; row < grid.rows; ++row)
        grid.row_names[static_cast<std::size_t>(row)] =
            range(std::int64_t{row} * high, std::min(rows, std::int64_t{row + 1} * high) - 1);
    for (int column = 0; column < grid.columns; ++column)
        grid.column_names[static_cast<std::size_t>(column)] =
            range(std::int64_t{column} * wide, std::min(columns, std::int64_t{column + 1} * wide) - 1);
    for (int row = 0; row < grid.rows; ++row)
        for (int column = 0; column < grid.columns; ++column) {
            std::int64_t low = INT64_MAX;
            std::int64_t most = INT64_MIN;
            std::int64_t count = 0;
            for (std::int64_t j = std::int64_t{column} * wide;
                 j < std::min(columns, std::int64_t{column + 1} * wide); ++j)
                for (std::int64_t i = std::int64_t{row} * high;
                     i < std::min(rows, std::int64_t{row + 1} * high); ++i, ++count) {
                    const std::int64_t offset = offsets[static_cast<std::size_t>(j * rows + i)];
                    low = std::min(low, offset);
                    most = std::max(most, offset);
                }
            grid.at(row, column) = {low == most ? std::to_string(low) : fmt::format("{} {}", low, most),
                                    fmt::format("rows {}, columns {}: {}, offsets {} to {}",
                                                grid.row_names[static_cast<std::size_t>(row)],
                                                grid.column_names[static_cast<std::size_t>(column)],
                                                count_of(count, "coordinate"), low, most),
                                    0,
                                    {}};
        }
    if (rows % high == 0 && columns % wide == 0)
        grid.detail = detail_of(rows, columns, [&] { return grid_of(layout); });
    return grid;
}

Grid overview(const Fragment& fragment) {
    const int high = fragment.rows % 8 == 0 ? 8 : fragment.rows;
    const int wide = fragment.columns % 8 == 0 ? 8 : fragment.columns;
    Grid grid = blank_grid(fmt::format("{}: threads and values of {}x{} elements", fragment.name, high, wide),
                           fragment.rows / high, fragment.columns / wide);
    name_axes(grid, "row", "column");
    name_ranges(grid.row_names, high);
    name_ranges(grid.column_names, wide);
    struct Held {
        std::set<int> threads, values;
    };
    std::vector<Held> held(grid.cells.size());
    for (int thread = 0; thread < fragment.threads(); ++thread)
        for (int value = 0; value < fragment.values(); ++value) {
            const auto [row, column] = fragment.at(thread, value);
            Held& block = held[static_cast<std::size_t>(row / high * grid.columns + column / wide)];
            block.threads.insert(thread);
            block.values.insert(value);
        }
    for (std::size_t i = 0; i < held.size(); ++i) {
        Grid::Cell& c = grid.cells[i];
        const auto row = static_cast<int>(i) / grid.columns;
        const auto column = static_cast<int>(i) % grid.columns;
        c.colour = -1;
        if (held[i].threads.empty()) continue;
        const std::string threads = runs(held[i].threads);
        const std::string values = runs(held[i].values);
        c.text = fmt::format("T{} V{}", threads, values);
        c.tip = fmt::format("rows {}, columns {}: threads {}, values {}",
                            grid.row_names[static_cast<std::size_t>(row)],
                            grid.column_names[static_cast<std::size_t>(column)], threads, values);
        c.colour = *held[i].threads.begin() / 32 % 4 * 2;
        c.links = fmt::format("w{}", *held[i].threads.begin() / 32);
    }
    if (fragment.threads() == 128 && grid.rows == 8)
        for (int row = 0; row < grid.rows; row += 2)
            grid.frames.push_back({row, 0, 2, grid.columns, true, {}});
    grid.legend = {.title = "warps", .keys = {}, .heat = false};
    for (int warp = 0; warp < fragment.threads() / 32; ++warp)
        grid.legend.keys.push_back({warp % 4 * 2, std::to_string(warp)});
    grid.detail = detail_of(fragment.rows, fragment.columns, [&] { return grid_of(fragment); });
    return grid;
}

}  // namespace wgrun
