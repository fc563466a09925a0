// wg.tile, wg.decode: shared-memory tiles and matrix descriptors.
#include "wgrun/tile.hpp"

#include "bindings/lua/args.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/types.hpp"

namespace wgrun::lua {
namespace {

void push_view(lua_State* L, std::string_view text) { lua_pushlstring(L, text.data(), text.size()); }

constexpr Option tile_keys[] = {
    {"dtype", R"(string)", R"(the element type: "bf16", "f16", "tf32", "e4m3", "e5m2", "s8", "u8", ...)"},
    {"mn", "integer", "the extent along M or N, in elements"},
    {"k", "integer", "the extent along K, in elements"},
    {"major", R"(string = "K")",
     R"(the coordinate that is contiguous in memory: "K", or "MN" (16-bit types only))"},
    {"swizzle", R"(string?)", R"("none", "32B", "64B" or "128B"; by default the widest that fits the tile)"},
    {"order", R"(string = "MN")",
     R"(the direction in which the swizzle atoms follow each other first: "MN" or "K")"}};

// wg.tile{ dtype =, mn =, k =, major =, swizzle =, order = }
int tile_new(lua_State* L) {
    const Options options(L, 1, "wg.tile", tile_keys);
    const std::string_view dtype = options.string("dtype");
    const int mn = static_cast<int>(options.integer("mn", {}, 1, INT32_MAX));
    const int k = static_cast<int>(options.integer("k", {}, 1, INT32_MAX));
    const std::string_view major = options.string("major", "K");
    const std::string_view swizzle = options.string("swizzle", "", swizzle_names);
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
    // The views are of string literals, which end with a zero.
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
int tile_number(lua_State* L) {
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
    static const Member methods[] = {{"offset", tile_offset, R"(
The byte offset of an element from the start of the tile, including the swizzle.
@param row integer  the M or N coordinate, from 0
@param k integer  the K coordinate, from 0
@return integer  bytes)"},
                                     {"descriptor", tile_descriptor, R"(
The wgmma matrix descriptor of a part of the tile.
@param address integer  the tile's address in shared memory, in bytes
@param kstep integer = 0  the K step in the tile
@param mn integer = 0  the first row of the block that the instruction reads
@param base_offset boolean = false  computes the base offset, for a tile whose swizzle pattern begins at `address`, a multiple of 128 bytes
@return integer  64 bits
@see wg.decode
@see k:descriptor)"},
                                     {}};
    static const Member fields[] = {{"dtype", name_field<&Tile::dtype>, R"(
The element type.
@return string)"},

                                    {"mn", tile_number<&Tile::mn>, R"(
The extent along M or N.
@return integer  elements)"},

                                    {"k", tile_number<&Tile::k>, R"(
The extent along K.
@return integer  elements)"},

                                    {"major", name_field<&Tile::major>, R"(
The coordinate that is contiguous in memory.
@return string  "K" or "MN")"},

                                    {"swizzle", name_field<&Tile::swizzle>, R"(
The swizzle mode.
@return string  "none", "32B", "64B" or "128B")"},

                                    {"order", name_field<&Tile::order>, R"(
The coordinate along which the atoms follow each other first.
@return string  "MN" or "K")"},

                                    {"layout", layout_field<&Tile::layout>, R"(
The layout of the tile: (row, k) to the element offset, including the swizzle.
@return layout)"},

                                    {"atom", layout_field<&Tile::atom>, R"(
The layout of one swizzle atom: (row, k) to the element offset.
@return layout)"},

                                    {"atom_mn", tile_number<&Tile::atom_mn>, R"(
The rows of a swizzle atom.
@return integer  elements)"},

                                    {"atom_k", tile_number<&Tile::atom_k>, R"(
The K extent of a swizzle atom.
@return integer  elements)"},

                                    {"lbo", tile_number<&Tile::lbo>, R"(
The leading byte offset of its descriptors.
@return integer  bytes)"},

                                    {"sbo", tile_number<&Tile::sbo>, R"(
The stride byte offset of its descriptors.
@return integer  bytes)"},

                                    {"bytes", tile_number<&Tile::bytes>, R"(
The size of the tile in shared memory.
@return integer  bytes)"},

                                    {"align", tile_number<&Tile::align>, R"(
The alignment that the tile needs in shared memory.
@return integer  bytes)"},

                                    {"ksteps", tile_number<&Tile::ksteps>, R"(
The number of wgmma instructions that cover K.
@return integer)"},

                                    {"kstep_elements", tile_number<&Tile::kstep_elements>, R"(
The K extent of one wgmma.
@return integer  elements)"},

                                    {"tma_box", tile_tma_box, R"(
The TMA boxes of the tile: one for each panel of the swizzle's width.
@return table
@field inner integer  the box's contiguous extent, in elements
@field outer integer  its other extent
@field panels table  a list of { offset = bytes in the tile, mn = first row, k = first K element })"},
                                    {}};
    static const Member metamethods[] = {{"__tostring", tile_tostring}, {"__eq", tile_eq}, {}};
    declare<Tile>(L, {.methods = methods, .fields = fields, .metamethods = metamethods, .text = R"(
An operand of wgmma in shared memory, made by wg.tile: M or N rows by K elements, in swizzle atoms. Two tiles are equal if their options are equal.
@see wg.tile
@see k:shared)"});
    static const Member functions[] = {{"tile", tile_new, R"(
Makes the shared-memory tile of a wgmma operand: M or N rows by K elements, laid out in swizzle atoms.
@param options table
@return tile
@raise when the extents are not a whole number of atoms, or the type cannot have that major.
@see k:shared
@example
  local a = wg.tile { dtype = "bf16", mn = 128, k = 64, major = "K", swizzle = "128B" })",
                                        tile_keys},
                                       {"decode", decode, R"(
Decodes a wgmma matrix descriptor.
@param bits integer  the 64 bits
@return table  the fields
@field start integer  the start address in shared memory, in bytes
@field lbo integer  the leading byte offset, in bytes
@field sbo integer  the stride byte offset, in bytes
@field base_offset integer  0 to 7
@field swizzle string  "none", "32B", "64B" or "128B"
@field text string  a description of several lines
@see tile:descriptor
@example
  print(wg.decode(tile:descriptor(0)).text))"},
                                       {}};
    add_functions(L, "wg", functions);
}

}  // namespace wgrun::lua
