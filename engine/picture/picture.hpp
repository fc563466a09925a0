// Shared by the files that make pictures.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wgrun/picture.hpp"

namespace wgrun {

/// Rows and columns of empty cells, numbered from 0. Throws ArgumentError above 2^16 cells.
Grid blank_grid(std::string title, std::int64_t rows, std::int64_t columns);

/// Says what rows and columns count; `name_modes`: the modes of a layout.
void name_axes(Grid& grid, std::string_view rows, std::string_view columns);
void name_modes(Grid& grid, const Layout& layout);

/// The core matrices and atoms of a tile as frames of a grid whose cells are `mn` x `k` elements.
std::vector<Grid::Frame> frames_of(const Tile& tile, int mn, int k);
/// LBO and SBO of a tile, and the distance of two atoms along K that no field holds, in the same cells.
std::vector<Grid::Arrow> arrows_of(const Tile& tile, int mn, int k);

/// Elements along mn and k of a core matrix: 8 lines of 16 bytes.
struct CoreMatrix {
    int mn = 8;
    int k = 8;
};
CoreMatrix core_matrix(const Tile& tile);

/// The description of a tile in a line: "bf16 64x64 K-major swizzle 128B".
std::string title_of(const Tile& tile);

/// The legend of colours for the place of 16 bytes in 128, which determines the banks.
Grid::Legend bank_legend();
/// What colours mean that stand for `step` numbers each, up to `last`: "0-7", "8-15", ... If they are more
/// than `colours`, which begin again then, the title says modulo what the numbers are.
Grid::Legend range_legend(std::string title, std::int64_t step, std::int64_t last, int colours = 8);
/// The lanes of a thread, by fours.
Grid::Legend lane_legend();
/// Passes.
Grid::Legend heat_legend();

/// Rows become columns.
Grid transposed(const Grid& grid);

}  // namespace wgrun
