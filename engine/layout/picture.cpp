#include "wgrun/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "layout/lines.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun {
namespace {

constexpr int max_cells = 1 << 16;

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

Grid byte_grid(const Layout& layout, int element_bits) {
    Grid grid = grid_of(layout);
    grid.title += fmt::format(" of {} bits: byte addresses", element_bits);
    const std::vector<std::int64_t> offsets = layout.offsets();
    for (int column = 0; column < grid.columns; ++column)
        for (int row = 0; row < grid.rows; ++row) {
            const std::int64_t offset =
                offsets[static_cast<std::size_t>(column) * static_cast<std::size_t>(grid.rows) +
                        static_cast<std::size_t>(row)];
            std::int64_t bit = 0;
            if (__builtin_mul_overflow(offset, element_bits, &bit) || bit % 8 != 0 || bit < 0)
                throw ArgumentError(fmt::format(
                    "picture: offset {} of elements of {} bits is no byte address", offset, element_bits));
            Grid::Cell& c = cell(grid, row, column);
            c.text = std::to_string(bit / 8);
            c.tip += fmt::format(" byte {} bank {}", bit / 8, bit / 32 % 32);
            c.colour = static_cast<int>(bit / 128 % 8);
        }
    return grid;
}

Picture chunk_grids(const Layout& layout, int element_bits) {
    const UnitLines chunks = unit_lines(layout, element_bits, "chunks");
    const std::uint32_t last = *std::ranges::max_element(chunks.addresses);
    Grid matrix = blank(layout.to_string(), chunks.along_rows ? chunks.units : chunks.lines,
                        chunks.along_rows ? chunks.lines : chunks.units);
    Grid memory = blank("shared memory: chunk at each address", last / 128 + 1, 8);
    for (int i = 0; i < 8; ++i) memory.column_names[static_cast<std::size_t>(i)] = fmt::format("+{}", 16 * i);
    for (int i = 0; i < memory.rows; ++i)
        memory.row_names[static_cast<std::size_t>(i)] = std::to_string(128 * i);
    for (Grid::Cell& c : memory.cells) c.colour = -1;
    for (int line = 0; line < chunks.lines; ++line)
        for (int unit = 0; unit < chunks.units; ++unit) {
            const std::uint32_t address = chunks.address(line, unit);
            const int number = line * chunks.units + unit;
            const std::uint32_t bank = address / 4 % 32;
            Grid::Cell& chunk = chunks.along_rows ? cell(matrix, unit, line) : cell(matrix, line, unit);
            chunk.text = std::to_string(number);
            chunk.tip = fmt::format("chunk {}: byte {}, banks {} to {}", number, address, bank, bank + 3);
            chunk.colour = (line / 8 * chunks.units + unit) % 8;
            Grid::Cell& slot =
                cell(memory, static_cast<int>(address / 128), static_cast<int>(address / 16 % 8));
            if (!slot.text.empty()) slot.text += '+';
            slot.text += std::to_string(number);
            slot.tip += fmt::format("chunk {} (line {}, unit {}) ", number, line, unit);
            slot.colour = chunk.colour;
        }
    return {std::move(matrix), std::move(memory)};
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

}  // namespace wgrun
