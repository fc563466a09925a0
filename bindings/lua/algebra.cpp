// wg.coalesce, wg.composition, wg.logical_divide, ...: the layout algebra. Wherever a layout is wanted, an
// integer n is n:1.
#include <algorithm>

#include "bindings/lua/args.hpp"
#include "bindings/lua/types.hpp"
#include "wgrun/layout.hpp"

namespace wgrun::lua {
namespace {

// Reads a tiler by mode: a list of layouts, integers n (n:1), false (the mode stays as it is) and tilers of
// the modes inside. `left` is the number of further entries that are allowed.
void read_tiler(lua_State* L, int arg, int index, Tiler& tiler, int depth, std::size_t& left) {
    constexpr int deepest = 16;
    const std::size_t count = lua_rawlen(L, index);
    if (count > left || depth > deepest)
        fail_argument(L, arg, "a tiler of at most 4096 modes, nested at most 16 times");
    left -= count;
    luaL_checkstack(L, 4, nullptr);
    index = lua_absindex(L, index);
    guarded(L, [&] { tiler.resize(count); });
    for (std::size_t i = 0; i < count; ++i) {
        std::int64_t extent = 0;
        lua_rawgeti(L, index, static_cast<lua_Integer>(i) + 1);
        if (const Layout* layout = test<Layout>(L, -1)) {
            guarded(L, [&] { tiler[i] = *layout; });
        } else if (to_integer(L, -1, extent)) {
            guarded(L, [&] { tiler[i] = Layout(IntTuple(extent)); });
        } else if (lua_type(L, -1) == LUA_TTABLE) {
            guarded(L, [&] { tiler[i] = Tiler(); });
            read_tiler(L, arg, -1, *std::get_if<Tiler>(&tiler[i].what), depth + 1, left);
        } else if (lua_type(L, -1) != LUA_TBOOLEAN || lua_toboolean(L, -1) != 0) {
            fail_argument(L, arg, "a tiler: a list of layouts, integers, false and such lists");
        }
        lua_pop(L, 1);
    }
}

/// A layout, or an integer n for n:1.
const Layout& layout_argument(lua_State* L, int arg) {
    std::int64_t extent = 0;
    if (test<Layout>(L, arg) != nullptr || !to_integer(L, arg, extent)) return check<Layout>(L, arg);
    auto& layout = held<Layout>(L);
    guarded(L, [&] { layout = Layout(IntTuple(extent)); });
    return layout;
}

const Tiling& tiling_argument(lua_State* L, int arg) {
    const bool table = test<Layout>(L, arg) == nullptr && lua_type(L, arg) == LUA_TTABLE;
    if (!table && test<Layout>(L, arg) == nullptr && lua_isinteger(L, arg) == 0)
        fail_argument(L, arg, "a layout, an integer or a tiler");
    auto& tiling = held<Tiling>(L);
    if (!table) {
        const Layout& layout = layout_argument(L, arg);
        guarded(L, [&] { tiling = layout; });
    } else {
        guarded(L, [&] { tiling.emplace<Tiler>(); });
        std::size_t left = 4096;
        read_tiler(L, arg, arg, *std::get_if<Tiler>(&tiling), 1, left);
    }
    return tiling;
}

template <Layout (*Function)(const Layout&)>
int of_one(lua_State* L) {
    const Layout& a = layout_argument(L, 1);
    push_object<Layout>(L, [&] { return Function(a); });
    return 1;
}

template <Layout (*Function)(const Layout&, const Layout&)>
int of_two(lua_State* L) {
    const Layout& a = layout_argument(L, 1);
    const Layout& b = layout_argument(L, 2);
    push_object<Layout>(L, [&] { return Function(a, b); });
    return 1;
}

template <Layout (*Function)(const Layout&, const Tiling&)>
int tiled(lua_State* L) {
    const Layout& a = layout_argument(L, 1);
    const Tiling& b = tiling_argument(L, 2);
    push_object<Layout>(L, [&] { return Function(a, b); });
    return 1;
}

template <Layout (*Function)(const Layout&, std::int64_t)>
int recast(lua_State* L) {
    const Layout& a = layout_argument(L, 1);
    const std::int64_t factor = integer_argument(L, 2);
    push_object<Layout>(L, [&] { return Function(a, factor); });
    return 1;
}

IntTuple& tuple_argument(lua_State* L, int arg, const char* what) {
    IntTuple& tuple = held<IntTuple>(L);
    read_tuple(L, arg, what, tuple);
    return tuple;
}

// wg.coalesce(L [, profile])
int coalesce_layout(lua_State* L) {
    if (lua_isnoneornil(L, 2)) return of_one<coalesce>(L);
    const Layout& a = layout_argument(L, 1);
    const IntTuple& profile = tuple_argument(L, 2, "wg.coalesce: profile");
    push_object<Layout>(L, [&] { return coalesce(a, profile); });
    return 1;
}

// wg.composition(A, B): layout and layout or tiler, swizzle and layout, swizzle and swizzle
int composition_layout(lua_State* L) {
    if (const Swizzle* swizzle = test<Swizzle>(L, 1)) {
        if (const Swizzle* inner = test<Swizzle>(L, 2)) {
            push_object<Swizzle>(L, [&] { return composition(*swizzle, *inner); });
        } else {
            const Layout& b = layout_argument(L, 2);
            push_object<Layout>(L, [&] { return composition(*swizzle, b); });
        }
        return 1;
    }
    const Layout& a = layout_argument(L, 1);
    const Tiling& tiling = tiling_argument(L, 2);
    const auto* tiler = std::get_if<Tiler>(&tiling);
    if (tiler == nullptr) return of_two<composition>(L);
    push_object<Layout>(L, [&] { return composition(a, *tiler); });
    return 1;
}

// wg.complement(A [, target])
int complement_layout(lua_State* L) {
    if (lua_isnoneornil(L, 2)) return of_one<complement>(L);
    const Layout& a = layout_argument(L, 1);
    const IntTuple& target = tuple_argument(L, 2, "wg.complement: target");
    push_object<Layout>(L, [&] { return complement(a, target); });
    return 1;
}

// wg.ordered_layout(shape, order)
int ordered(lua_State* L) {
    const IntTuple& shape = tuple_argument(L, 1, "wg.ordered_layout: shape");
    const IntTuple& order = tuple_argument(L, 2, "wg.ordered_layout: order");
    push_object<Layout>(L, [&] { return ordered_layout(shape, order); });
    return 1;
}

// wg.tile_to_shape(A, shape [, order])
int tile_to_shape_layout(lua_State* L) {
    lua_settop(L, 3);
    const Layout& a = layout_argument(L, 1);
    const IntTuple& shape = tuple_argument(L, 2, "wg.tile_to_shape: shape");
    auto& order = held<std::optional<IntTuple>>(L);
    if (!lua_isnoneornil(L, 3)) {
        guarded(L, [&] { order.emplace(); });
        read_tuple(L, 3, "wg.tile_to_shape: order", *order);
    }
    push_object<Layout>(L, [&] { return tile_to_shape(a, shape, order); });
    return 1;
}

// A slice coordinate: false keeps the mode, an integer fixes it, a table describes the modes inside. `left`
// is the number of further entries that are allowed.
void read_slice(lua_State* L, int index, SliceCoordinate& out, int depth, std::size_t& left) {
    luaL_checkstack(L, 4, nullptr);
    index = lua_absindex(L, index);
    std::int64_t value = 0;
    if (to_integer(L, index, value)) {
        guarded(L, [&] { out.what = value; });
    } else if (lua_type(L, index) == LUA_TBOOLEAN && lua_toboolean(L, index) == 0) {
        guarded(L, [&] { out.what = std::monostate{}; });
    } else if (lua_type(L, index) == LUA_TTABLE && depth < 16 &&
               lua_rawlen(L, index) <= std::min<std::size_t>(left, 4096)) {
        const std::size_t count = lua_rawlen(L, index);
        left -= count;
        guarded(L, [&] { out.what.emplace<std::vector<SliceCoordinate>>(count); });
        auto& modes = *std::get_if<std::vector<SliceCoordinate>>(&out.what);
        for (std::size_t i = 0; i < count; ++i) {
            lua_rawgeti(L, index, static_cast<lua_Integer>(i) + 1);
            read_slice(L, -1, modes[i], depth + 1, left);
            lua_pop(L, 1);
        }
    } else {
        fail_argument(L, 2, "a coordinate: integers, false for an open mode, and tables of them");
    }
}

// wg.slice(L, coordinate): the remaining modes, and the offset of the fixed coordinates
int slice_layout(lua_State* L) {
    const Layout& a = layout_argument(L, 1);
    auto& coordinate = held<SliceCoordinate>(L);
    std::size_t left = 1 << 16;
    read_slice(L, 2, coordinate, 0, left);
    std::int64_t offset = 0;
    push_object<Layout>(L, [&] {
        const Slice result = slice(a, coordinate);
        offset = result.offset;
        return result.layout;
    });
    lua_pushinteger(L, offset);
    return 2;
}

// wg.max_common_vector(A, B): elements
int max_common_vector_of(lua_State* L) {
    const Layout& a = layout_argument(L, 1);
    const Layout& b = layout_argument(L, 2);
    lua_pushinteger(L, guarded(L, [&] { return max_common_vector(a, b); }));
    return 1;
}

int same_function_layout(lua_State* L) {
    const Layout& a = layout_argument(L, 1);
    const Layout& b = layout_argument(L, 2);
    lua_pushboolean(L, guarded(L, [&] { return same_function(a, b); }));
    return 1;
}

}  // namespace

void open_algebra(lua_State* L) {
    static const Member functions[] = {{"coalesce", coalesce_layout, R"(
Coalesces a layout: the same function with as few modes as possible.
@param layout layout|integer
@param profile integer|table?  modes of this shape are kept apart
@return layout)"},

                                       {"composition", composition_layout, R"(
The composition A(B(i)).
@param A layout|integer|swizzle
@param B layout|integer|swizzle|table  a layout, or an integer n for n:1; a tiler for each mode of A (a list of layouts, integers n for n:1, false for a mode that is kept, and such lists for the modes inside a mode); or a swizzle, if A is one
@return layout|swizzle
@raise when the strides of B do not divide the modes of A.)"},

                                       {"complement", complement_layout, R"(
The complement of A: the ordered layout of the offsets up to a size that A leaves out.
@param A layout|integer
@param target integer|table?  the size or shape to fill; A's cosize where it is left out
@return layout)"},

                                       {"flatten", of_one<flatten>, R"(
Flattens a layout: the same function without nested modes.
@param layout layout|integer
@return layout)"},

                                       {"filter", of_one<filter>, R"(
The layout without its modes of size 1 or stride 0, coalesced.
@param layout layout|integer
@return layout)"},

                                       {"right_inverse", of_one<right_inverse>, R"(
The layout R for which L(R(i)) = i, for the longest run of i from 0.
@param L layout|integer
@return layout)"},

                                       {"left_inverse", of_one<left_inverse>, R"(
The layout R for which L(R(L(i))) = L(i), and R(L(i)) = i where L is injective.
@param L layout|integer
@return layout)"},

                                       {"logical_divide", tiled<logical_divide>, R"(
Divides a layout into tiles: (tile, rest) for each mode that the tiler names.
@param layout layout|integer
@param tiler layout|integer|table  a layout, an integer n (n:1), or for each mode a layout, an integer n (n:1), false, or such a list for the modes inside
@return layout
@example
  print(wg.logical_divide(wg.layout("16:1"), wg.layout("4:1")))  --> (4,4):(1,4))"},

                                       {"zipped_divide", tiled<zipped_divide>, R"(
As logical_divide, with all tile modes together, then all rest modes: ((tiles), (rests)).
@param layout layout|integer
@param tiler layout|integer|table  as of wg.logical_divide
@return layout)"},

                                       {"tiled_divide", tiled<tiled_divide>, R"(
As zipped_divide, with the rest modes not grouped: ((tiles), rest, rest, ...).
@param layout layout|integer
@param tiler layout|integer|table  as of wg.logical_divide
@return layout)"},

                                       {"flat_divide", tiled<flat_divide>, R"(
As zipped_divide, with no modes grouped: (tile, tile, ..., rest, rest, ...).
@param layout layout|integer
@param tiler layout|integer|table  as of wg.logical_divide
@return layout)"},

                                       {"logical_product", tiled<logical_product>, R"(
Repeats a layout: (tile, repetitions), where the second layout arranges the repetitions.
@param layout layout|integer
@param tiler layout|integer|table  the number of repetitions, and their order
@return layout)"},

                                       {"zipped_product", tiled<zipped_product>, R"(
As logical_product, with all tile modes together, then all repetitions.
@param layout layout|integer
@param tiler layout|integer|table  as of wg.logical_product
@return layout)"},

                                       {"tiled_product", tiled<tiled_product>, R"(
As zipped_product, with the repetitions not grouped.
@param layout layout|integer
@param tiler layout|integer|table  as of wg.logical_product
@return layout)"},

                                       {"flat_product", tiled<flat_product>, R"(
As zipped_product, with no modes grouped.
@param layout layout|integer
@param tiler layout|integer|table  as of wg.logical_product
@return layout)"},

                                       {"blocked_product", of_two<blocked_product>, R"(
Repeats a layout mode by mode, keeping each copy together as a block.
@param block layout|integer
@param blocks layout|integer  the arrangement of the blocks
@return layout)"},

                                       {"raked_product", of_two<raked_product>, R"(
Repeats a layout mode by mode, with the copies interleaved: neighbouring elements belong to different copies.
@param block layout|integer
@param blocks layout|integer  the arrangement of the copies
@return layout)"},

                                       {"ordered_layout", ordered, R"(
Makes a compact layout whose modes have a given order in memory.
@param shape integer|table
@param order integer|table  numbers, nested as the shape; the mode with the smallest number is contiguous
@return layout)"},

                                       {"tile_to_shape", tile_to_shape_layout, R"(
Repeats a layout until it covers a shape.
@param layout layout|integer  the tile
@param shape integer|table  the shape that is covered
@param order integer|table?  the order of the repetitions, as of wg.ordered_layout
@return layout
@raise when the shape is not a whole number of tiles.)"},

                                       {"slice", slice_layout, R"(
Fixes some coordinates of a layout.
@param layout layout|integer
@param coordinate integer|table  an integer fixes a mode, false leaves it open; nested as the layout
@return layout  the remaining modes
@return integer  the offset of the fixed coordinates)"},

                                       {"nullspace", of_one<nullspace>, R"(
The layout of the indices that the given one maps to offset 0 because of strides of 0.
@param layout layout|integer
@return layout)"},

                                       {"max_common_layout", of_two<max_common_layout>, R"(
The longest layout L with A(L(i)) = B(L(i)) = i: the elements that can be copied from one layout to the other as one vector.
@param A layout|integer
@param B layout|integer
@return layout)"},

                                       {"max_common_vector", max_common_vector_of, R"(
The number of elements that can be copied as one vector between two layouts.
@param A layout|integer
@param B layout|integer
@return integer  elements)"},

                                       {"same_function", same_function_layout, R"(
Whether two layouts have the same size and map each index to the same offset.
@param A layout|integer
@param B layout|integer
@return boolean)"},

                                       {"upcast", recast<upcast>, R"(
Recasts a layout to larger elements, each made of `factor` old ones.
@param layout layout|integer
@param factor integer
@return layout)"},

                                       {"downcast", recast<downcast>, R"(
Recasts a layout to smaller elements, `factor` for each old one.
@param layout layout|integer
@param factor integer
@return layout)"},
                                       {}};
    add_functions(L, "wg", functions);
}

}  // namespace wgrun::lua
