// Looking at layouts, tiles and fragments: pictures, words, and which canonical layout one is.
#include "wgrun/picture.hpp"

#include <algorithm>
#include <cstdio>
#include <type_traits>

#include "bindings/lua/args.hpp"
#include "bindings/lua/options.hpp"
#include "bindings/lua/sandbox.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/types.hpp"
#include "wgrun/bank.hpp"
#include "wgrun/identify.hpp"
#include "wgrun/tile.hpp"

namespace wgrun::lua {
namespace {

/// What print and svg may be asked to show.
struct Asked {
    std::size_t view = 0;  ///< of `views`
    int chunk = 0;         ///< offsets of one colour; 0: those of 16 bytes, or 8
    int element_bits = 0;  ///< 0: not given
    std::optional<SharedAccess> access;
};

constexpr std::string_view views[] = {"offsets", "bytes", "chunks", "banks"};

const BankConflicts& worst(const std::vector<BankConflicts>& all) {
    return *std::ranges::max_element(all, {}, &BankConflicts::degree);
}

Picture picture_of(const Layout& layout, const Asked& asked) {
    if (asked.view > 0 && asked.element_bits == 0)
        throw ArgumentError("picture: view = \"" + std::string(views[asked.view]) +
                                "\" of a layout speaks of bytes, and the layout counts elements",
                            "say of which type: dtype = \"bf16\"");
    if (asked.view == 1) return {byte_grid(layout, asked.element_bits)};
    if (asked.view == 2) return chunk_grids(layout, asked.element_bits);
    if (asked.view == 3)
        return {grid_of(asked.access ? bank_conflicts(layout, asked.element_bits, *asked.access)
                                     : worst(bank_conflicts(layout, asked.element_bits)))};
    const int chunk = asked.element_bits > 0 ? 128 / asked.element_bits : 8;
    return {grid_of(layout, asked.chunk > 0 ? asked.chunk : chunk)};
}

Picture picture_of(const Tile& tile, const Asked& asked) {
    if (asked.view == 2) return chunk_grids(tile.layout(), bits(tile.dtype()));
    if (asked.view == 3)
        return {grid_of(asked.access ? bank_conflicts(tile, *asked.access) : worst(bank_conflicts(tile)))};
    return {grid_of(tile, asked.view == 1)};
}

Picture picture_of(const Fragment& fragment, const Asked&) { return {grid_of(fragment)}; }

template <class T>
constexpr std::span<const Option> picture_keys;
constexpr Option tile_picture_keys[] = {
    {"view", R"(string = "offsets")",
     R"(what is shown: "offsets", "bytes", "chunks" (of 16 bytes) or "banks")"},
    {"access", "string?",
     R"(with view = "banks", which access of a warp; by default the one with the most conflicts)"}};
constexpr Option layout_keys[] = {
    {"dtype", "string?", "the element type, which views other than offsets need"},
    {"chunk", "integer?", "offsets of one colour; by default those of 16 bytes, or 8"}};
constexpr auto layout_picture_keys = joined(tile_picture_keys, layout_keys);
template <>
constexpr std::span<const Option> picture_keys<Layout> = layout_picture_keys;
template <>
constexpr std::span<const Option> picture_keys<Tile> = tile_picture_keys;
template <>
constexpr std::span<const Option> picture_keys<Fragment> = {};

/// The options at `index`, of object:print and object:svg. A class that lacks a key refuses it.
template <class T>
Asked read_asked(lua_State* L, int index, const char* function) {
    const Options options(L, index, function, picture_keys<T>, Options::Missing::empty);
    Asked asked;
    if constexpr (!std::is_same_v<T, Fragment>) {
        asked.view = options.choice("view", views, 0);
        if (options.has("access")) {
            if (asked.view != 3) fail(L, [] { return "option `access` belongs to view = \"banks\""; });
            asked.access = static_cast<SharedAccess>(options.choice("access", shared_access_names()));
        }
    }
    if constexpr (std::is_same_v<T, Layout>) {
        asked.chunk = static_cast<int>(options.integer("chunk", 0, 1, INT32_MAX));
        if (options.has("dtype")) {
            const std::string_view dtype = options.string("dtype");
            asked.element_bits = guarded(L, [&] { return bits(dtype_named(dtype)); });
        }
    }
    return asked;
}

// object:print([options]): a grid on standard output
template <class T>
int print(lua_State* L) {
    const T& object = check<T>(L, 1);
    const Asked asked = read_asked<T>(L, 2, "print");
    guarded(L, [&] {
        const std::string text = to_text(picture_of(object, asked), session(L).colour_output);
        std::fwrite(text.data(), 1, text.size(), stdout);
    });
    return 0;
}

// object:svg(path [, options]): true, or nil, message, code
template <class T>
int svg(lua_State* L) {
    check_unrestricted(L, "svg");
    const T& object = check<T>(L, 1);
    const std::string_view path = name_argument(L, 2);
    const Asked asked = read_asked<T>(L, 3, "svg");
    const int failed = attempted(L, [&] { save_svg(picture_of(object, asked), std::string(path)); });
    if (failed != 0) return failed;
    lua_pushboolean(L, 1);
    return 1;
}

// t:explain(): several lines
int tile_explain(lua_State* L) {
    const Tile& tile = check<Tile>(L, 1);
    auto& text = held<std::string>(L);
    guarded(L, [&] { text = explain(tile); });
    lua_pushlstring(L, text.data(), text.size());
    return 1;
}

// wg.identify(layout, dtype): { canonical =, operand =, major =, swizzle =, lbo =, sbo =, mismatches =,
// difference = { row =, k =, given =, expected = }, text = }; bytes
int identify_layout(lua_State* L) {
    const Layout& layout = check<Layout>(L, 1);
    const std::string_view dtype = string_argument(L, 2);
    auto& identity = held<Identity>(L);
    guarded(L, [&] { identity = identify(layout, dtype_named(dtype)); });
    lua_createtable(L, 0, 9);
    put_boolean(L, "canonical", identity.canonical);
    put_boolean(L, "operand", identity.operand);
    put_string(L, "major", to_string(identity.major));
    put_string(L, "swizzle", to_string(identity.swizzle));
    put_integer(L, "lbo", identity.lbo);
    put_integer(L, "sbo", identity.sbo);
    put_integer(L, "mismatches", identity.mismatches);
    put_string(L, "text", identity.text);
    if (identity.difference) {
        lua_createtable(L, 0, 4);
        put_integer(L, "row", identity.difference->row);
        put_integer(L, "k", identity.difference->k);
        put_integer(L, "given", identity.difference->given);
        put_integer(L, "expected", identity.difference->expected);
        lua_setfield(L, -2, "difference");
    }
    return 1;
}

}  // namespace

void open_picture(lua_State* L) {
    static const Member layout[] = {{"print", print<Layout>, R"(
Prints a picture of the layout: its offsets as a grid.
@param options table?)",
                                     layout_picture_keys},
                                    {"svg", svg<Layout>, R"(
Writes a picture of the layout as an SVG file.
@param path string
@param options table?
@return boolean  true; or nil, message, code)",
                                     layout_picture_keys},
                                    {}};
    static const Member fragment[] = {
        {"print", print<Fragment>, "Prints which thread and register hold each element, as a grid."},
        {"svg", svg<Fragment>, R"(
Writes the picture as an SVG file.
@param path string
@return boolean  true; or nil, message, code)"},
        {}};
    static const Member tile[] = {{"print", print<Tile>, R"(
Prints a picture of the tile: where its elements are in memory.
@param options table?)",
                                   tile_picture_keys},
                                  {"svg", svg<Tile>, R"(
Writes a picture of the tile as an SVG file.
@param path string
@param options table?
@return boolean  true; or nil, message, code)",
                                   tile_picture_keys},
                                  {"explain", tile_explain, R"(
The tile in words: atoms, LBO and SBO, K steps, TMA box.
@return string  several lines)"},
                                  {}};
    add_methods<Layout>(L, layout);
    add_methods<Fragment>(L, fragment);
    add_methods<Tile>(L, tile);
    static const Member functions[] = {{"identify", identify_layout, R"(
Which canonical wgmma layout a layout is, or which is nearest and where they differ.
@param layout layout  (row, k) to the element offset
@param dtype string  the element type
@return table
@field canonical boolean  it is one
@field operand boolean  wgmma can read it
@field major string  "K" or "MN"
@field swizzle string  "none", "32B", "64B" or "128B"
@field lbo integer  bytes
@field sbo integer  bytes
@field mismatches integer  elements that lie elsewhere than in the nearest one
@field difference table?  the first of them: { row, k, given, expected }, offsets in bytes
@field text string  the same in words)"},
                                       {}};
    add_functions(L, "wg", functions);
}

}  // namespace wgrun::lua
