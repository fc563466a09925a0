// Chunks of 16 bytes, in the matrix and in shared memory.
#include <fmt/format.h>

#include <algorithm>

#include "layout/lines.hpp"
#include "picture/picture.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/target.hpp"

namespace wgrun {

Picture chunk_grids(const Layout& layout, int element_bits) {
    const UnitLines chunks = unit_lines(layout, element_bits, "chunks");
    const std::uint32_t last = *std::ranges::max_element(chunks.addresses);
    Grid matrix = blank_grid(layout.to_string(), chunks.along_rows ? chunks.units : chunks.lines,
                             chunks.along_rows ? chunks.lines : chunks.units);
    Grid memory = blank_grid("shared memory: chunk at each address", last / 128 + 1, 8);
    name_modes(matrix, layout);
    name_axes(memory, "address", "byte of the line");
    for (int i = 0; i < 8; ++i) memory.column_names[static_cast<std::size_t>(i)] = fmt::format("+{}", 16 * i);
    for (int i = 0; i < memory.rows; ++i)
        memory.row_names[static_cast<std::size_t>(i)] = std::to_string(128 * i);
    std::vector<std::string>& units = chunks.along_rows ? matrix.row_names : matrix.column_names;
    for (std::size_t i = 0; i < units.size(); ++i)
        units[i] = std::to_string(static_cast<int>(i) * 128 / element_bits);
    for (Grid::Cell& c : memory.cells) c.colour = -1;
    for (int line = 0; line < chunks.lines; ++line)
        for (int unit = 0; unit < chunks.units; ++unit) {
            const std::uint32_t address = chunks.address(line, unit);
            const int number = line * chunks.units + unit;
            const int bank = sm_90a.bank_of(address);
            Grid::Cell& chunk = chunks.along_rows ? matrix.at(unit, line) : matrix.at(line, unit);
            const int per_unit = 128 / element_bits;
            chunk.text = std::to_string(number);
            chunk.tip = fmt::format("chunk {}: {} {}, {} {} to {}: byte {}, banks {} to {}", number,
                                    chunks.along_rows ? "k" : "mn", line, chunks.along_rows ? "mn" : "k",
                                    unit * per_unit, (unit + 1) * per_unit - 1, address, bank, bank + 3);
            chunk.colour = (line / 8 * chunks.units + unit) % 8;
            chunk.links = fmt::format("u{}", number);
            Grid::Cell& slot = memory.at(static_cast<int>(address / 128), static_cast<int>(address / 16 % 8));
            if (!slot.text.empty()) slot.text += '+';
            slot.text += std::to_string(number);
            slot.tip += fmt::format("{}{}", slot.tip.empty() ? "" : "; ", chunk.tip);
            slot.colour = chunk.colour;
            slot.links += fmt::format("{}u{}", slot.links.empty() ? "" : " ", number);
        }
    // The rows that one ldmatrix reads.
    for (int line = 0; line + 8 <= chunks.lines; line += 8)
        for (int unit = 0; unit < chunks.units; ++unit)
            matrix.frames.push_back({.row = chunks.along_rows ? unit : line,
                                     .column = chunks.along_rows ? line : unit,
                                     .rows = chunks.along_rows ? 1 : 8,
                                     .columns = chunks.along_rows ? 8 : 1,
                                     .heavy = false,
                                     .label = {}});
    matrix.legend = memory.legend = range_legend("matrices of 8 lines of 16 bytes, as ldmatrix reads them", 1,
                                                 (chunks.lines + 7) / 8 * chunks.units - 1);
    for (int row = 0; row < memory.rows; ++row)
        for (int column = 0; column < 8; ++column)
            if (Grid::Cell& slot = memory.at(row, column); slot.tip.empty())
                slot.tip = fmt::format("byte {}: not part of this matrix", 128 * row + 16 * column);
    return {std::move(matrix), std::move(memory)};
}

Picture chunk_grids(const Tile& tile) {
    Picture picture = chunk_grids(tile.layout(), bits(tile.dtype()));
    Grid& matrix = picture[0];
    Grid& memory = picture[1];
    matrix.title = title_of(tile) + ": chunks of 16 bytes";
    name_axes(matrix, "mn", "k");
    const int unit = 128 / bits(tile.dtype());
    const bool k_major = tile.major() == Major::k;
    const int mn = k_major ? 1 : unit;
    const int k = k_major ? unit : 1;
    matrix.frames = frames_of(tile, mn, k);
    matrix.arrows = arrows_of(tile, mn, k);
    // Core matrices without a swizzle, atoms with one, are contiguous.
    const int lines = tile.atom_bytes() / 128;
    for (int row = 0; row < memory.rows; row += lines)
        memory.frames.push_back(
            {.row = row, .column = 0, .rows = lines, .columns = 8, .heavy = lines > 1, .label = {}});
    for (Grid::Arrow arrow : matrix.arrows) {
        arrow.to_row = tile.offset(arrow.to_row * mn, arrow.to_column * k) / 128;
        arrow.to_column = 0;
        memory.arrows.push_back(std::move(arrow));
    }
    return picture;
}

}  // namespace wgrun
