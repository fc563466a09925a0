// Pictures of a product: A on the left, B above, D in the corner.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "picture/picture.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun {
namespace {

struct Extents {
    int mn = 0;
    int k = 0;
};

Extents extents_of(const MmaOperand& operand) {
    if (const Tile* tile = std::get_if<Tile>(&operand)) return {tile->mn(), tile->k()};
    const Fragment& fragment = std::get<Fragment>(operand);
    return {fragment.rows, fragment.columns};
}

// thread:value in one line instead of two, so that 64 rows stay readable.
Grid compact(const Fragment& fragment) {
    Grid grid = grid_of(fragment);
    for (Grid::Cell& c : grid.cells) {
        std::erase(c.text, 'T');
        const std::size_t parted = c.text.find(" V");
        if (parted != std::string::npos)
            c.text = fmt::format("{}:{}", c.text.substr(0, parted), c.text.substr(parted + 2));
        c.links.clear();
    }
    for (Grid::Frame& frame : grid.frames) frame.label.clear();
    return grid;
}

// The first `k` of an operand.
Grid grid_of_operand(const MmaOperand& operand, bool whole, int k) {
    if (const Tile* tile = std::get_if<Tile>(&operand)) {
        Grid grid = whole ? grid_of(*tile, true) : overview(*tile);
        grid = corner(grid, grid.rows, whole ? k : k / core_matrix(*tile).k);
        grid.legend.title = whole ? "in shared memory: byte offset, by banks"
                                  : "in shared memory: the byte of each core matrix's first chunk, by k";
        grid.arrows.clear();
        grid.detail = nullptr;
        for (Grid::Frame& frame : grid.frames) {
            frame.heavy = false;  // gaps between atoms would move the rows away from D's rows
            frame.label.clear();
        }
        return grid;
    }
    const Fragment& fragment = std::get<Fragment>(operand);
    Grid grid = whole ? compact(fragment) : overview(fragment);
    grid.legend.title = whole ? "in registers: thread:value, by lanes (mod 32)" : "in registers, by warps";
    grid.detail = nullptr;
    return grid;
}

std::string place_of(const MmaOperand& operand, int k) {
    if (const Tile* tile = std::get_if<Tile>(&operand))
        return fmt::format("shared memory, {}{}", k < tile->k() ? fmt::format("k 0 to {} of ", k - 1) : "",
                           title_of(*tile));
    return "registers, " + std::get<Fragment>(operand).name;
}

// Cells of row i of A share "r<i>" with row i of D, those of column j of B "c<j>" with column j of D.
void link(Grid& grid, bool rows, bool columns) {
    for (int row = 0; row < grid.rows; ++row)
        for (int column = 0; column < grid.columns; ++column) {
            std::string& links = grid.at(row, column).links;
            links.clear();
            if (rows) links += fmt::format("r{}", row);
            if (columns) links += fmt::format("{}c{}", rows ? " " : "", column);
        }
}

int number_after(std::string_view& text, char letter) {
    int number = -1;
    if (text.empty() || text.front() != letter) return -1;
    const auto result = std::from_chars(text.data() + 1, text.data() + text.size(), number);
    if (result.ec != std::errc{}) return -1;
    text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
    return number;
}

// The product of the first `k` of A and B.
Picture picture_of_product(const MmaOperand& a, const MmaOperand& b, const Fragment& d, int k) {
    const int m = d.rows;
    const int n = d.columns;
    const bool whole = m * n <= most_elements / 2 && m * k <= most_elements / 2 && n * k <= most_elements / 2;
    Grid left = grid_of_operand(a, whole, k);
    Grid above = transposed(grid_of_operand(b, whole, k));
    Grid product = grid_of_operand(d, whole, k);
    left.title = "A: " + place_of(a, k);
    above.title = "B: " + place_of(b, k);
    product.title = "D: " + place_of(d, k);
    name_axes(left, "m", "k");
    name_axes(above, "k", "n");
    name_axes(product, "m", "n");
    link(left, true, false);
    link(above, false, true);
    link(product, true, true);
    left.place_row = product.place_row = 1;
    left.place_column = 0;
    above.place_column = product.place_column = 1;
    return {std::move(above), std::move(left), std::move(product)};
}

}  // namespace

Picture mma_picture(const MmaOperand& a, const MmaOperand& b, const Fragment& d) {
    const auto [m, k] = extents_of(a);
    const auto [n, k_of_b] = extents_of(b);
    if (m != d.rows || n != d.columns || k != k_of_b)
        throw ArgumentError(fmt::format("mma picture: A is {}x{}, B {}x{} (n x k), D {}x{}", m, k, n, k_of_b,
                                        d.rows, d.columns),
                            "A of m x k, B of n x k and D of m x n");
    return picture_of_product(a, b, d, k);
}

Picture mma_picture(std::string_view shape, Dtype dtype, std::optional<SwizzleMode> swizzle) {
    std::string_view rest = shape;
    const int m = number_after(rest, 'm');
    const int n = number_after(rest, 'n');
    const int k = number_after(rest, 'k');
    if (m < 0 || n < 0 || k < 0 || !rest.empty())
        throw ArgumentError(fmt::format("`{}` is not the shape of an mma", shape),
                            "such as m64n16k16 (wgmma) or m16n8k16 (mma.sync)");
    const bool integer = dtype == Dtype::s8 || dtype == Dtype::u8 || dtype == Dtype::b1;
    if (m == 16 && n == 8 && swizzle)
        throw ArgumentError(
            fmt::format("{}: mma.sync has its operands in registers, without a swizzle", shape),
            "omit the swizzle");
    if (m == 16 && n == 8) return mma_picture(mma_sync_a(dtype, k), mma_sync_b(dtype, k), mma_sync_c());
    if (m != 64)
        throw ArgumentError(fmt::format("{}: there is no such mma", shape),
                            "m64 (wgmma) or m16n8 (mma.sync)");
    const int step = 256 / bits(dtype);
    if (k != step)
        throw ArgumentError(fmt::format("{}: wgmma of {} has k{}", shape, to_string(dtype), step),
                            fmt::format("m64n{}k{}", n, step));
    const Fragment d = wgmma_d(integer ? Dtype::s32 : Dtype::f32, n);
    const SwizzleMode mode = swizzle.value_or(SwizzleMode::b128);
    const int line = std::max(k, mode == SwizzleMode::none ? 0 : width(mode) * 8 / bits(dtype));
    const auto tile = [&](int mn) { return Tile({dtype, mn, line, Major::k, mode, AtomOrder::mn}); };
    return picture_of_product(tile(64), tile(n), d, k);
}

}  // namespace wgrun
