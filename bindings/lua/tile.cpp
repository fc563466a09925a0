// wg.tile, wg.decode: shared-memory tiles and matrix descriptors.
#include "wgrun/tile.hpp"

#include "bindings/lua/args.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/types.hpp"

namespace wgrun::lua {
namespace {

void push_view(lua_State* L, std::string_view text) { lua_pushlstring(L, text.data(), text.size()); }

// wg.tile{ dtype =, mn =, k =, major =, swizzle =, order = }
int tile_new(lua_State* L) {
    static constexpr std::string_view keys[] = {"dtype", "mn", "k", "major", "swizzle", "order"};
    const Options options(L, 1, "wg.tile", keys);
    const std::string_view dtype = options.string("dtype");
    const int mn = static_cast<int>(options.integer("mn", {}, 1, INT32_MAX));
    const int k = static_cast<int>(options.integer("k", {}, 1, INT32_MAX));
    const std::string_view major = options.string("major", "K");
    const std::string_view swizzle = options.string("swizzle", "");
    const std::string_view order = options.string("order", "MN");
    const bool has_swizzle = options.has("swizzle");
    push_object<Tile>(L, [&] {
        TileSpec spec{.dtype = dtype_named(dtype),
                      .mn = mn,
                      .k = k,
                      .major = parse_major(major),
                      .swizzle = {},
                      .order = parse_atom_order(order)};
        if (has_swizzle) spec.swizzle = parse_swizzle_mode(swizzle);
        return Tile(spec);
    });
    return 1;
}

int tile_tostring(lua_State* L) {
    const Tile& tile = check<Tile>(L, 1);
    const std::string_view dtype = to_string(tile.dtype());
    const std::string_view major = to_string(tile.major());
    const std::string_view swizzle = to_string(tile.swizzle());
    // The views are of string literals: they end with a zero.
    lua_pushfstring(L, "tile %s %dx%d, %s-major, swizzle %s", dtype.data(), tile.mn(), tile.k(), major.data(),
                    swizzle.data());
    return 1;
}

int tile_eq(lua_State* L) {
    const Tile* a = test<Tile>(L, 1);
    const Tile* b = test<Tile>(L, 2);
    lua_pushboolean(L, a != nullptr && b != nullptr && *a == *b);
    return 1;
}

template <int (Tile::*Member)() const>
int integer_field(lua_State* L) {
    const Tile& tile = check<Tile>(L, 1);
    lua_pushinteger(L, guarded(L, [&] { return (tile.*Member)(); }));
    return 1;
}

template <auto Member>
int name_field(lua_State* L) {
    push_view(L, to_string((check<Tile>(L, 1).*Member)()));
    return 1;
}

template <Layout (Tile::*Member)() const>
int layout_field(lua_State* L) {
    const Tile& tile = check<Tile>(L, 1);
    push_object<Layout>(L, [&] { return (tile.*Member)(); });
    return 1;
}

// t.tma_box: { inner =, outer =, panels = {{offset =, mn =, k =}, ...} }
int tile_tma_box(lua_State* L) {
    const Tile& tile = check<Tile>(L, 1);
    TmaBox& box = held<TmaBox>(L);
    guarded(L, [&] { box = tile.tma_box(); });
    lua_createtable(L, 0, 3);
    put_integer(L, "inner", box.inner);
    put_integer(L, "outer", box.outer);
    lua_createtable(L, static_cast<int>(box.panels.size()), 0);
    lua_Integer position = 0;
    for (const TmaPanel& panel : box.panels) {
        lua_createtable(L, 0, 3);
        put_integer(L, "offset", panel.offset);
        put_integer(L, "mn", panel.mn);
        put_integer(L, "k", panel.k);
        lua_rawseti(L, -2, ++position);
    }
    lua_setfield(L, -2, "panels");
    return 1;
}

// t:offset(row, col): bytes; row = mn and col = k count from 0
int tile_offset(lua_State* L) {
    const Tile& tile = check<Tile>(L, 1);
    const int row = small_argument(L, 2);
    const int col = small_argument(L, 3);
    lua_pushinteger(L, guarded(L, [&] { return tile.offset(row, col); }));
    return 1;
}

// t:descriptor(address [, kstep [, mn_offset [, base_offset]]]); base_offset: true computes the base offset
// of a tile whose pattern starts at `address`, a multiple of 128 bytes
int tile_descriptor(lua_State* L) {
    const Tile& tile = check<Tile>(L, 1);
    const std::int64_t address = integer_argument(L, 2);
    if (address < 0 || address > UINT32_MAX) fail_argument(L, 2, "an address in shared memory");
    const int kstep = lua_isnoneornil(L, 3) ? 0 : small_argument(L, 3);
    const int mn_offset = lua_isnoneornil(L, 4) ? 0 : small_argument(L, 4);
    if (!lua_isnoneornil(L, 5) && !lua_isboolean(L, 5)) fail_argument(L, 5, "true or false");
    const OperandBlock block{.kstep = kstep,
                             .ksteps = 1,
                             .mn_offset = mn_offset,
                             .mn = 0,
                             .base_offset = lua_toboolean(L, 5) != 0};
    const std::uint64_t bits =
        guarded(L, [&] { return tile.descriptor(static_cast<std::uint32_t>(address), block).encode(); });
    lua_pushinteger(L, static_cast<lua_Integer>(bits));
    return 1;
}

// wg.decode(bits): { start =, lbo =, sbo =, base_offset =, swizzle =, text = }
int decode(lua_State* L) {
    const auto bits = static_cast<std::uint64_t>(integer_argument(L, 1));
    auto& text = held<std::string>(L);
    const Descriptor descriptor = guarded(L, [&] {
        const Descriptor found = Descriptor::decode(bits);
        text = explain(found);
        return found;
    });
    lua_createtable(L, 0, 6);
    put_integer(L, "start", descriptor.start);
    put_integer(L, "lbo", descriptor.lbo);
    put_integer(L, "sbo", descriptor.sbo);
    put_integer(L, "base_offset", descriptor.base_offset);
    put_string(L, "swizzle", to_string(descriptor.swizzle));
    put_string(L, "text", text);
    return 1;
}

}  // namespace

void open_tile(lua_State* L) {
    static const luaL_Reg methods[] = {
        {"offset", tile_offset}, {"descriptor", tile_descriptor}, {nullptr, nullptr}};
    static const luaL_Reg fields[] = {{"dtype", name_field<&Tile::dtype>},
                                      {"mn", integer_field<&Tile::mn>},
                                      {"k", integer_field<&Tile::k>},
                                      {"major", name_field<&Tile::major>},
                                      {"swizzle", name_field<&Tile::swizzle>},
                                      {"order", name_field<&Tile::order>},
                                      {"layout", layout_field<&Tile::layout>},
                                      {"atom", layout_field<&Tile::atom>},
                                      {"atom_mn", integer_field<&Tile::atom_mn>},
                                      {"atom_k", integer_field<&Tile::atom_k>},
                                      {"lbo", integer_field<&Tile::lbo>},
                                      {"sbo", integer_field<&Tile::sbo>},
                                      {"bytes", integer_field<&Tile::bytes>},
                                      {"align", integer_field<&Tile::align>},
                                      {"ksteps", integer_field<&Tile::ksteps>},
                                      {"kstep_elements", integer_field<&Tile::kstep_elements>},
                                      {"tma_box", tile_tma_box},
                                      {nullptr, nullptr}};
    static const luaL_Reg metamethods[] = {
        {"__tostring", tile_tostring}, {"__eq", tile_eq}, {nullptr, nullptr}};
    declare<Tile>(L, {methods, fields, metamethods});
    static const luaL_Reg functions[] = {{"tile", tile_new}, {"decode", decode}, {nullptr, nullptr}};
    luaL_setfuncs(L, functions, 0);
}

}  // namespace wgrun::lua
