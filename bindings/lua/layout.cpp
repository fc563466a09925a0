// wg.layout, wg.swizzle: the classes. The algebra is in algebra.cpp.
#include "wgrun/layout.hpp"

#include "bindings/lua/args.hpp"
#include "bindings/lua/types.hpp"

namespace wgrun::lua {

namespace {

constexpr int max_depth = 64;
constexpr std::size_t max_entries = 1 << 16;

// `left` is the number of further entries that are allowed: a small table that contains another one many
// times, and that one a third, stands for a very large tuple.
void read_tuple_at(lua_State* L, int index, const char* what, IntTuple& out, int depth, std::size_t& left) {
    luaL_checkstack(L, 8, nullptr);
    index = lua_absindex(L, index);
    std::int64_t value = 0;
    if (to_integer(L, index, value)) {
        guarded(L, [&] { out = IntTuple(value); });
        return;
    }
    if (lua_type(L, index) != LUA_TTABLE) {
        const ShortText given = describe(L, index);
        fail(L, [&] {
            return std::string(what) + ": expected an integer or a table of them, got " + given.text;
        });
    }
    const std::size_t count = lua_rawlen(L, index);
    if (depth >= max_depth || count > 4096 || count > left) {
        fail(L, [&] { return std::string(what) + ": more than 64 levels, 4096 modes or 65536 entries"; });
    }
    left -= count;
    auto& modes = held<std::vector<IntTuple>>(L);
    guarded(L, [&] { modes.resize(count); });
    for (std::size_t i = 0; i < count; ++i) {
        lua_rawgeti(L, index, static_cast<lua_Integer>(i) + 1);
        read_tuple_at(L, -1, what, modes[i], depth + 1, left);
        lua_pop(L, 1);
    }
    guarded(L, [&] { out = IntTuple(std::move(modes)); });
    lua_pop(L, 1);
}

}  // namespace

void read_tuple(lua_State* L, int index, const char* what, IntTuple& out) {
    std::size_t left = max_entries;
    read_tuple_at(L, index, what, out, 0, left);
}

void push_tuple(lua_State* L, const IntTuple& tuple) {
    luaL_checkstack(L, 3, nullptr);
    if (tuple.is_leaf()) {
        lua_pushinteger(L, tuple.value());
        return;
    }
    lua_createtable(L, tuple.rank(), 0);
    lua_Integer position = 0;
    for (const IntTuple& mode : tuple.modes()) {
        push_tuple(L, mode);
        lua_rawseti(L, -2, ++position);
    }
}

namespace {

void push_text(lua_State* L, const std::string& text) { lua_pushlstring(L, text.data(), text.size()); }

// --- layout --------------------------------------------------------------------------------------------

// wg.layout "(8,64):(64,1)"   wg.layout(shape [, stride])
int layout_new(lua_State* L) {
    lua_settop(L, 2);
    if (lua_type(L, 1) == LUA_TSTRING) {
        const std::string_view text = string_argument(L, 1);
        push_object<Layout>(L, [&] { return Layout::parse(text); });
        return 1;
    }
    IntTuple& shape = held<IntTuple>(L);
    read_tuple(L, 1, "wg.layout: shape", shape);
    if (lua_isnoneornil(L, 2)) {
        push_object<Layout>(L, [&] { return Layout(shape); });
        return 1;
    }
    IntTuple& stride = held<IntTuple>(L);
    read_tuple(L, 2, "wg.layout: stride", stride);
    push_object<Layout>(L, [&] { return Layout(shape, stride); });
    return 1;
}

int layout_tostring(lua_State* L) {
    const Layout& layout = check<Layout>(L, 1);
    auto& text = held<std::string>(L);
    guarded(L, [&] { text = layout.to_string(); });
    push_text(L, text);
    return 1;
}

int layout_eq(lua_State* L) {
    const Layout* a = test<Layout>(L, 1);
    const Layout* b = test<Layout>(L, 2);
    lua_pushboolean(L, a != nullptr && b != nullptr && *a == *b);
    return 1;
}

// L(i), L(i, j, ...), L({...})
int layout_call(lua_State* L) {
    const Layout& layout = check<Layout>(L, 1);
    const int count = lua_gettop(L) - 1;
    std::int64_t index = 0;
    std::int64_t offset = 0;
    if (count == 1 && to_integer(L, 2, index)) {
        offset = guarded(L, [&] { return layout(index); });
    } else if (count == 1) {
        IntTuple& coordinate = held<IntTuple>(L);
        read_tuple(L, 2, "coordinate", coordinate);
        offset = guarded(L, [&] { return layout(coordinate); });
    } else {
        auto& modes = held<std::vector<IntTuple>>(L);
        guarded(L, [&] { modes.resize(static_cast<std::size_t>(count)); });
        for (int i = 0; i < count; ++i)
            read_tuple(L, i + 2, "coordinate", modes[static_cast<std::size_t>(i)]);
        offset = guarded(L, [&] { return layout(IntTuple(std::move(modes))); });
    }
    lua_pushinteger(L, offset);
    return 1;
}

int layout_size(lua_State* L) {
    lua_pushinteger(L, check<Layout>(L, 1).size());
    return 1;
}

int layout_cosize(lua_State* L) {
    const Layout& layout = check<Layout>(L, 1);
    lua_pushinteger(L, guarded(L, [&] { return layout.cosize(); }));
    return 1;
}

int layout_rank(lua_State* L) {
    lua_pushinteger(L, check<Layout>(L, 1).rank());
    return 1;
}

int layout_depth(lua_State* L) {
    lua_pushinteger(L, check<Layout>(L, 1).depth());
    return 1;
}

// L:mode(i), from 0
int layout_mode(lua_State* L) {
    const Layout& layout = check<Layout>(L, 1);
    const std::int64_t mode = integer_argument(L, 2);
    push_object<Layout>(L, [&] {
        if (mode < 0 || mode >= layout.rank()) {
            throw ArgumentError("mode " + std::to_string(mode) + " of a layout of rank " +
                                std::to_string(layout.rank()) + ": modes count from 0");
        }
        return layout.mode(static_cast<int>(mode));
    });
    return 1;
}

// L:coordinate(i): the natural coordinate of index i
int layout_coordinate(lua_State* L) {
    const Layout& layout = check<Layout>(L, 1);
    const std::int64_t index = integer_argument(L, 2);
    IntTuple& coordinate = held<IntTuple>(L);
    guarded(L, [&] { coordinate = layout.coordinate(index); });
    push_tuple(L, coordinate);
    return 1;
}

int layout_shape(lua_State* L) {
    push_tuple(L, check<Layout>(L, 1).shape());
    return 1;
}

int layout_stride(lua_State* L) {
    push_tuple(L, check<Layout>(L, 1).stride());
    return 1;
}

int layout_swizzle(lua_State* L) {
    const std::optional<Swizzle>& swizzle = check<Layout>(L, 1).swizzle();
    if (swizzle) {
        push_object<Swizzle>(L, [&] { return *swizzle; });
    } else {
        lua_pushnil(L);
    }
    return 1;
}

int layout_offset(lua_State* L) {
    lua_pushinteger(L, check<Layout>(L, 1).offset());
    return 1;
}

int layout_unswizzled(lua_State* L) {
    const Layout& layout = check<Layout>(L, 1);
    push_object<Layout>(L, [&] { return layout.unswizzled(); });
    return 1;
}

// --- swizzle -------------------------------------------------------------------------------------------

// wg.swizzle(bits, base, shift)
int swizzle_new(lua_State* L) {
    if (lua_type(L, 1) == LUA_TSTRING)
        fail(L, [] {
            return ArgumentError("wg.swizzle takes three numbers: bits, base and shift",
                                 "of bytes (3, 4, 3) is \"128B\", (2, 4, 3) \"64B\" and (1, 4, 3) \"32B\"; "
                                 "wg.tile and k:tensor_map "
                                 "take the names");
        });
    std::int64_t p[3];
    for (int i = 0; i < 3; ++i) {
        p[i] = integer_argument(L, i + 1);
        if (p[i] < -64 || p[i] > 64) fail_argument(L, i + 1, "at most 64 bits");
    }
    push_object<Swizzle>(
        L, [&] { return Swizzle(static_cast<int>(p[0]), static_cast<int>(p[1]), static_cast<int>(p[2])); });
    return 1;
}

int swizzle_call(lua_State* L) {
    const Swizzle& swizzle = check<Swizzle>(L, 1);
    lua_pushinteger(L, swizzle(integer_argument(L, 2)));
    return 1;
}

int swizzle_tostring(lua_State* L) {
    const Swizzle& swizzle = check<Swizzle>(L, 1);
    auto& text = held<std::string>(L);
    guarded(L, [&] { text = swizzle.to_string(); });
    push_text(L, text);
    return 1;
}

int swizzle_eq(lua_State* L) {
    const Swizzle* a = test<Swizzle>(L, 1);
    const Swizzle* b = test<Swizzle>(L, 2);
    lua_pushboolean(L, a != nullptr && b != nullptr && *a == *b);
    return 1;
}

template <int (Swizzle::*Member)() const>
int swizzle_field(lua_State* L) {
    lua_pushinteger(L, (check<Swizzle>(L, 1).*Member)());
    return 1;
}

}  // namespace

void open_layout(lua_State* L) {
    static const Member layout_methods[] = {{"size", layout_size, R"(
The number of coordinates, which `#layout` gives as well.
@return integer)"},

                                            {"cosize", layout_cosize, R"(
The largest offset plus one.
@return integer)"},

                                            {"rank", layout_rank, R"(
The number of modes at the top level.
@return integer)"},

                                            {"depth", layout_depth, R"(
The nesting depth of the modes; 0 for a plain integer.
@return integer)"},

                                            {"mode", layout_mode, R"(
One mode as a layout.
@param i integer  from 0
@return layout)"},

                                            {"coordinate", layout_coordinate, R"(
The natural coordinate of an index, nested as the shape.
@param i integer  from 0; the first mode varies fastest
@return integer|table)"},

                                            {"unswizzled", layout_unswizzled, R"(
The layout without its swizzle.
@return layout)"},
                                            {}};
    static const Member layout_fields[] = {{"shape", layout_shape, R"(
The extents, nested.
@return integer|table)"},

                                           {"stride", layout_stride, R"(
The strides, nested as the shape.
@return integer|table)"},

                                           {"swizzle", layout_swizzle, R"(
The swizzle that is applied to the offsets, or nil.
@return swizzle?)"},

                                           {"offset", layout_offset, R"(
The constant that is added to each offset before the swizzle.
@return integer)"},
                                           {}};
    static const Member layout_meta[] = {{"__tostring", layout_tostring},
                                         {"__eq", layout_eq},
                                         {"__call", layout_call},
                                         {"__len", layout_size},
                                         {}};
    declare<Layout>(
        L, {.methods = layout_methods, .fields = layout_fields, .metamethods = layout_meta, .text = R"(
A function from coordinates to offsets, made by wg.layout and the layout algebra. Offsets count elements, unless stated otherwise.

layout(i) is the offset of index i, from 0; layout(i, j, ...) and layout{ i, { j, k } } are offsets of coordinates. `#layout` is the size. Two layouts are equal if their shape, stride, swizzle and offset are equal.
@operator call: integer|table -> integer
@operator len: -> integer
@see wg.layout)"});

    static const Member swizzle_fields[] = {{"bits", swizzle_field<&Swizzle::bits>, R"(
The number of bits that are XORed.
@return integer)"},

                                            {"base", swizzle_field<&Swizzle::base>, R"(
The lowest bit that changes.
@return integer)"},

                                            {"shift", swizzle_field<&Swizzle::shift>, R"(
The distance of the source bits above the bits that change.
@return integer)"},
                                            {}};
    static const Member swizzle_meta[] = {
        {"__tostring", swizzle_tostring}, {"__eq", swizzle_eq}, {"__call", swizzle_call}, {}};
    declare<Swizzle>(L, {.fields = swizzle_fields, .metamethods = swizzle_meta, .text = R"(
An XOR permutation of offsets, made by wg.swizzle. swizzle(offset) applies it.
@operator call: integer -> integer
@see wg.swizzle)"});

    static const Member functions[] = {{"layout", layout_new,
                                        R"--(
A layout: a function from coordinates to offsets, given by shape and stride as in CuTe.
@param shape string|integer|table  "(8,64):(64,1)", or the shape alone: an integer or a table, which may be nested
@param stride integer|table?  as the shape; compact and column-major where it is left out
@return layout
@raise where shape and stride do not go together.
@example
  local rows = wg.layout "(8,64):(64,1)"
  print(rows(3, 5), wg.layout({ 8, 64 }, { 64, 1 }) == rows)  --> 197  true)--"},
                                       {"swizzle", swizzle_new, R"(
A swizzle: a permutation of offsets that XORs some of their bits into others, as CuTe's Swizzle<B, M, S>.
@param bits integer  B: how many bits are XORed
@param base integer  M: the lowest bit that changes
@param shift integer  S: how far above it the bits are that change it
@return swizzle
@example
  local s = wg.swizzle(3, 4, 3)  -- of byte offsets: the 128-byte swizzle)"},
                                       {}};
    add_functions(L, "wg", functions);
}

}  // namespace wgrun::lua
