// Pictures of layouts, tiles, fragments, bank conflicts and whole products: grids of labelled, coloured cells
// with frames, arrows and a legend, as text, SVG or a page of HTML. The types are plain values; all functions
// are thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "wgrun/bank.hpp"
#include "wgrun/fragment.hpp"
#include "wgrun/tile.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// Rows and columns of labelled cells.
struct Grid {
    struct Cell {
        std::string text;   ///< in an SVG its words stand one below the other
        std::string tip;    ///< shown when the cell is pointed at
        int colour = 0;     ///< 0..7 in the order of the palette; -1: the background's
        std::string links;  ///< words; HTML marks all cells that share one with the cell pointed at
    };
    /// A border around a block of cells: thin for core matrices, heavy for atoms, which also stand apart.
    struct Frame {
        int row = 0;
        int column = 0;
        int rows = 1;
        int columns = 1;
        bool heavy = false;
        std::string label;  ///< of a heavy frame; it stands above the frame
    };
    /// An arrow between two cells of the first column, drawn on the left, or of the first row, drawn above.
    struct Arrow {
        int from_row = 0;
        int from_column = 0;
        int to_row = 0;
        int to_column = 0;
        std::string label;
    };
    /// What the colours mean. Grids of a picture with the same legend show it once, with the colours that
    /// occur in them.
    struct Legend {
        struct Key {
            int colour = 0;
            std::string text;
            bool operator==(const Key&) const = default;
        };
        std::string title;
        std::vector<Key> keys;
        bool heat = false;
        bool operator==(const Legend&) const = default;
    };

    std::string title;
    int rows = 0;
    int columns = 0;
    std::string row_axis;     ///< what the rows count, such as "mn"; empty: nothing
    std::string column_axis;  ///< the same of the columns, such as "k"
    std::vector<std::string> row_names;
    std::vector<std::string> column_names;
    std::vector<Cell> cells;  ///< row after row
    bool heat = false;        ///< colours run from cold to hot
    std::vector<Frame> frames;
    std::vector<Arrow> arrows;
    Legend legend;
    /// The grid's place among those of its picture. Grids with the same place_row have their rows at the same
    /// heights, grids with the same place_column have their columns one below the other.
    int place_row = 0;
    int place_column = -1;  ///< -1: to the right of the previous grid
    /// The same matrix with a cell per element, where the cells here stand for several: HTML shows it when
    /// the grid is enlarged.
    std::shared_ptr<const Grid> detail;

    /// The cell at (row, column), which must be inside the grid (not checked).
    Cell& at(int row, int column) { return cells[index(row, column)]; }
    const Cell& at(int row, int column) const { return cells[index(row, column)]; }

  private:
    std::size_t index(int row, int column) const {
        return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
               static_cast<std::size_t>(column);
    }
};

/// The first rows and columns of a grid, with what lies in them of its frames and arrows.
Grid corner(const Grid& grid, int rows, int columns);

/// Grids that belong together: side by side in an SVG, one below the other as text, unless their places say
/// otherwise.
using Picture = std::vector<Grid>;

/// Offsets of a layout; mode 0 runs down, the other modes to the right. Colours change every `chunk` offsets.
/// All of these functions throw ArgumentError above 2^16 cells.
Grid grid_of(const Layout& layout, int chunk = 8);
/// Element offsets, or byte offsets, of a tile: mn down, k to the right. The colour is the place of the
/// 16-byte unit in its 128 bytes of shared memory: cells of one colour share their banks. Thin frames are
/// core matrices, heavy ones atoms.
Grid grid_of(const Tile& tile, bool bytes = false);
/// Thread and value of every element, rows down; the colour is the thread's lane / 4. If an element has
/// several owners, the first is named, with a +.
Grid grid_of(const Fragment& fragment);
/// The worst access: a row for each lane, a column for each bank. Marked cells are the words that the lane
/// accesses; the colour is the number of different words that the bank serves in that phase.
Grid grid_of(const BankConflicts& conflicts);

/// Byte addresses of a layout of elements of `element_bits` bits; colours as for a tile. Throws ArgumentError
/// if an element begins inside a byte.
Grid byte_grid(const Layout& layout, int element_bits);
/// Where the 16-byte chunks of a matrix (mn, k) -> element offset go: the matrix with its chunks numbered
/// along the contiguous dimension first, and shared memory, 128 bytes a row, with the same numbers. The
/// colour is the matrix of 8 x 16 bytes that ldmatrix reads at once. Throws ArgumentError if a chunk is not
/// contiguous.
Picture chunk_grids(const Layout& layout, int element_bits);
/// The same for a tile, with its core matrices and atoms, and arrows for LBO, SBO and the distance between
/// atoms that no field of the descriptor holds.
Picture chunk_grids(const Tile& tile);

/// A tile with a cell for each core matrix (the byte offset of its first chunk, and of its last one if it is
/// contiguous), atoms with their bytes, LBO and SBO.
Grid overview(const Tile& tile);
/// A layout in at most 32 x 32 blocks, with the lowest and the highest offset of each.
Grid overview(const Layout& layout);
/// A fragment in blocks of 8 x 8 elements: the threads that hold elements there, and which of their values.
Grid overview(const Fragment& fragment);
/// A picture of PictureView::automatic shows elements up to this many cells, and an overview beyond.
inline constexpr int most_elements = 64 * 64;

/// How many passes each block of 8 lines x 16 bytes takes: a grid for each way of accessing the matrix that
/// its type allows.
Picture conflict_maps(const Tile& tile);
Picture conflict_maps(const Layout& layout, int element_bits);
/// The same for one way of accessing it.
Grid conflict_map(const Tile& tile, SharedAccess access);
Grid conflict_map(const Layout& layout, int element_bits, SharedAccess access);

/// What a picture shows. `elements`: offsets of layouts and tiles, owners of fragments; `automatic`: these,
/// or an overview where there are more than `most_elements`.
enum class PictureView : std::uint8_t { automatic, elements, bytes, chunks, banks, conflicts, overview };
/// "auto", "offsets", "bytes", "chunks", "banks", "conflicts", "overview": in the order of the enumeration.
std::span<const std::string_view> view_names();
struct Viewing {
    PictureView view = PictureView::automatic;
    std::optional<SharedAccess> access = std::nullopt;  ///< for banks and conflicts; none: the worst, all
    int element_bits = 0;                               ///< for a layout; 0: not known
    int chunk = 0;  ///< offsets of one colour; 0: the elements of 16 bytes, or 8
};
/// The picture of an object. Throws ArgumentError for views that it does not have: bytes where the element
/// size is not known, memory for a fragment.
Picture picture_of(const Layout& layout, const Viewing& viewing = {});
Picture picture_of(const Tile& tile, const Viewing& viewing = {});
Picture picture_of(const Fragment& fragment, const Viewing& viewing = {});

/// An operand of a matrix product, in shared memory or in registers.
using MmaOperand = std::variant<Tile, Fragment>;
/// A matrix product as on paper: A (m x k) on the left, B (n x k, drawn k down) above, D in the corner.
/// Registers show thread:value, shared memory byte offsets; above `most_elements` elements all three are
/// overviews. Throws ArgumentError if the extents do not match.
Picture mma_picture(const MmaOperand& a, const MmaOperand& b, const Fragment& d);
/// The same for one instruction, named as in PTX: m64n16k16 (wgmma with A and B in shared memory) or m16n8k16
/// (mma.sync), for A and B of this type. A and B of wgmma are the first k of K-major tiles whose lines are as
/// wide as the swizzle, 128 bytes unless given. Throws ArgumentError for shapes that do not exist, and for a
/// swizzle of mma.sync, whose operands are in registers.
Picture mma_picture(std::string_view shape, Dtype dtype, std::optional<SwizzleMode> swizzle = {});

/// The colours that a terminal shows: none, those of the 256-colour palette, or any.
enum class Colours : std::uint8_t { none, indexed, direct };
/// The terminal's colours by COLORTERM; none unless `wanted`.
Colours terminal_colours(bool wanted);
/// Columns of the terminal on file descriptor `stream`; if that is no terminal, those of COLUMNS, else 0 (no
/// limit).
int terminal_columns(int stream);
struct TextStyle {
    Colours colours = Colours::none;
    int columns = 0;  ///< wider grids are continued below; 0: no limit
};

/// The picture as lines of text. Heavy frames become rules; arrows and the legend get lines of their own.
std::string to_text(const Grid& grid, const TextStyle& style);
std::string to_text(const Picture& picture, const TextStyle& style);
/// The same without a limit of columns; `colour`: with backgrounds of the 256-colour palette.
std::string to_text(const Grid& grid, bool colour = false);
std::string to_text(const Picture& picture, bool colour = false);
/// A complete SVG document, for light and dark backgrounds.
std::string to_svg(const Picture& picture);
/// A complete page that needs nothing else: the SVG with a script for zooming, moving and pointing at cells.
std::string to_html(const Picture& picture);
/// They write it to a file. Both throw EnvironmentError if the file cannot be written.
void save_svg(const Picture& picture, const std::string& path);
void save_html(const Picture& picture, const std::string& path);

}  // namespace wgrun

#pragma GCC visibility pop
