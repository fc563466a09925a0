// Pictures of layouts, tiles, fragments and bank conflicts: grids of labelled, coloured cells as text or as
// SVG. Plain values, and functions that any thread may call.
#pragma once

#include <string>
#include <vector>

#include "wgrun/bank.hpp"
#include "wgrun/fragment.hpp"
#include "wgrun/tile.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// Rows and columns of labelled cells.
struct Grid {
    struct Cell {
        std::string text;  ///< words stand one below the other in an SVG
        std::string tip;   ///< shown by an SVG viewer when the cell is pointed at
        int colour = 0;    ///< 0..7 in the order of the palette, -1 for white
    };
    std::string title;
    int rows = 0;
    int columns = 0;
    std::vector<std::string> row_names;
    std::vector<std::string> column_names;
    std::vector<Cell> cells;  ///< row after row
    bool heat = false;        ///< colours run from cold to hot
};

/// Grids that belong together: side by side in an SVG, one below the other as text.
using Picture = std::vector<Grid>;

/// Offsets of a layout; mode 0 runs down, the other modes to the right. Colours change every `chunk` offsets.
/// Throws ArgumentError above 2^16 cells, as do all of these.
Grid grid_of(const Layout& layout, int chunk = 8);
/// Element offsets, or byte offsets, of a tile: mn down, k to the right. The colour is the place of the
/// 16-byte unit in its 128 bytes of shared memory: cells of one colour share their banks.
Grid grid_of(const Tile& tile, bool bytes = false);
/// Thread and value of every element, rows down; the colour is the thread's lane / 4. Of several owners the
/// first is named, with a +.
Grid grid_of(const Fragment& fragment);
/// The worst access: a row for each lane, a column for each bank; marked cells are the words that the lane
/// touches, coloured by how many different words their bank has to give in that phase.
Grid grid_of(const BankConflicts& conflicts);

/// Byte addresses of a layout of elements of `element_bits` bits; colours as in a tile. Throws ArgumentError
/// where an element begins inside a byte.
Grid byte_grid(const Layout& layout, int element_bits);
/// Where the 16-byte chunks of a matrix (mn, k) -> element offset go: the matrix with its chunks numbered
/// along the contiguous dimension first, and shared memory, 128 bytes a row, with the same numbers. The
/// colour is the matrix of 8 x 16 bytes that ldmatrix reads at once. Throws ArgumentError where a chunk is
/// not contiguous.
Picture chunk_grids(const Layout& layout, int element_bits);

/// Lines of text, with ANSI background colours on demand.
std::string to_text(const Grid& grid, bool colour = false);
std::string to_text(const Picture& picture, bool colour = false);
/// A complete SVG document.
std::string to_svg(const Picture& picture);
/// Writes it. Throws EnvironmentError where the file cannot be written.
void save_svg(const Picture& picture, const std::string& path);

}  // namespace wgrun

#pragma GCC visibility pop
