// Pictures and descriptions of layouts, tiles and fragments, and the identification of canonical layouts.
#include "wgrun/picture.hpp"

#include <cstdio>
#include <optional>
#include <string>
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

constexpr Option tile_picture_keys[] = {
    {"view", R"(string = "auto")",
     R"(what the picture shows: "offsets", "bytes", "chunks" (of 16 bytes), "banks" (of one access, lane by lane), "conflicts" (where in the matrix they are) or "overview" (core matrices and atoms); "auto" is "offsets" up to 4096 elements, and "overview" beyond)"},
    {"access", "string?",
     R"(with "banks" or "conflicts", which access of a warp; by default the one with the most conflicts, or all)"}};
constexpr Option layout_keys[] = {
    {"dtype", "string?", "the element type, required by all views except offsets and overview"},
    {"chunk", "integer?",
     "the number of consecutive offsets that share a colour; by default those of 16 bytes, or 8"}};
constexpr auto layout_picture_keys = joined(tile_picture_keys, layout_keys);
constexpr Option fragment_picture_keys[] = {
    {"view", R"(string = "auto")",
     R"("offsets" (thread and value of each element) or "overview" (of blocks of 8 x 8); "auto" is the first up to 4096 elements)"}};
template <class T>
constexpr std::span<const Option> picture_keys;
template <>
constexpr std::span<const Option> picture_keys<Layout> = layout_picture_keys;
template <>
constexpr std::span<const Option> picture_keys<Tile> = tile_picture_keys;
template <>
constexpr std::span<const Option> picture_keys<Fragment> = fragment_picture_keys;
template <>
constexpr std::span<const Option> picture_keys<Picture> = {};

/// The options of object:print, object:svg and object:html, at `index`. Keys that a class lacks are refused.
template <class T>
Viewing read_viewing(lua_State* L, int index, const char* function) {
    const Options options(L, index, function, picture_keys<T>, Options::Missing::empty);
    Viewing viewing;
    if constexpr (!std::is_same_v<T, Picture>)
        viewing.view = static_cast<PictureView>(options.choice("view", view_names(), 0));
    if constexpr (std::is_same_v<T, Tile> || std::is_same_v<T, Layout>) {
        if (options.has("access")) {
            if (viewing.view != PictureView::banks && viewing.view != PictureView::conflicts)
                fail(L, [] { return R"(option `access` requires view = "banks" or "conflicts")"; });
            viewing.access = static_cast<SharedAccess>(options.choice("access", shared_access_names()));
        }
    }
    if constexpr (std::is_same_v<T, Layout>) {
        viewing.chunk = static_cast<int>(options.integer("chunk", 0, 1, INT32_MAX));
        if (options.has("dtype")) {
            const std::string_view dtype = options.string("dtype");
            viewing.element_bits = guarded(L, [&] { return bits(dtype_named(dtype)); });
        }
    }
    return viewing;
}

Picture picture_of(const Picture& picture, const Viewing&) { return picture; }

// object:print([options]): lines of text on standard output
template <class T>
int print(lua_State* L) {
    const T& object = check<T>(L, 1);
    const Viewing viewing = read_viewing<T>(L, 2, "print");
    guarded(L, [&] {
        const TextStyle style{terminal_colours(session(L).colour_output), terminal_columns(fileno(stdout))};
        const std::string text = to_text(picture_of(object, viewing), style);
        print_text(L, text);
    });
    return 0;
}

/// object:NAME(path [, options]): true, or nil, message, code
template <class T, class Save>
int write(lua_State* L, const char* name, Save save) {
    check_unrestricted(L, name);
    const T& object = check<T>(L, 1);
    const std::string_view path = name_argument(L, 2);
    const Viewing viewing = read_viewing<T>(L, 3, name);
    const int failed = attempted(L, [&] { save(picture_of(object, viewing), std::string(path)); });
    if (failed != 0) return failed;
    lua_pushboolean(L, 1);
    return 1;
}

/// object:picture([options])
template <class T>
int picture(lua_State* L) {
    const T& object = check<T>(L, 1);
    const Viewing viewing = read_viewing<T>(L, 2, "picture");
    push_object<Picture>(L, [&] { return picture_of(object, viewing); });
    return 1;
}

template <class T>
int svg(lua_State* L) {
    return write<T>(L, "svg", save_svg);
}

template <class T>
int html(lua_State* L) {
    return write<T>(L, "html", save_html);
}

constexpr Option mma_keys[] = {
    {"shape", "string?", R"(of an instruction: "m64n16k16" (wgmma) or "m16n8k16" (mma.sync))"},
    {"dtype", R"(string = "bf16")", "the type of A and B, with `shape`"},
    {"swizzle", R"(string?)",
     R"(with `shape` of a wgmma, the swizzle of A and B: "none", "32B", "64B" or "128B", the default)"},
    {"a", "tile|fragment?", "in place of `shape`: A, m x k"},
    {"b", "tile|fragment?", "B, n x k"},
    {"d", "fragment?", "D, m x n"}};

/// The tile or fragment under a key of mma_keys.
MmaOperand& read_operand(lua_State* L, const Options& options, std::string_view key) {
    auto& out = held<std::optional<MmaOperand>>(L);
    options.push(key);
    const Tile* tile = test<Tile>(L, -1);
    const Fragment* fragment = test<Fragment>(L, -1);
    if (tile == nullptr && fragment == nullptr) options.fail_value(key, "a tile or a fragment");
    guarded(L, [&] { out = tile != nullptr ? MmaOperand(*tile) : MmaOperand(*fragment); });
    lua_pop(L, 1);
    return *out;
}

int mma_picture_new(lua_State* L) {
    const Options options(L, 1, "wg.mma_picture", mma_keys);
    if (options.has("shape")) {
        for (const std::string_view key : {"a", "b", "d"})
            if (options.has(key))
                fail(L, [] { return "wg.mma_picture: either `shape` or `a`, `b` and `d` must be given"; });
        const std::string_view shape = options.string("shape");
        const std::string_view dtype = options.string("dtype", "bf16");
        const std::string_view swizzle = options.string("swizzle", "", swizzle_names);
        push_object<Picture>(L, [&] {
            return mma_picture(shape, dtype_named(dtype),
                               swizzle.empty() ? std::nullopt : std::optional(parse_swizzle_mode(swizzle)));
        });
        return 1;
    }
    const MmaOperand& a = read_operand(L, options, "a");
    const MmaOperand& b = read_operand(L, options, "b");
    options.push("d");
    const Fragment* d = test<Fragment>(L, -1);
    if (d == nullptr) options.fail_value("d", "a fragment");
    push_object<Picture>(L, [&] { return mma_picture(a, b, *d); });
    return 1;
}

int picture_tostring(lua_State* L) {
    const Picture& picture = check<Picture>(L, 1);
    auto& text = held<std::string>(L);
    guarded(L, [&] {
        text = "picture";
        for (const Grid& grid : picture) text += (text.size() == 7 ? ": " : "; ") + grid.title;
    });
    lua_pushlstring(L, text.data(), text.size());
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
                                    {"picture", picture<Layout>, R"(
A picture of the layout as a value, which the prompt shows as an image where the terminal can.
@param options table?
@return picture)",
                                     layout_picture_keys},
                                    {"svg", svg<Layout>, R"(
Writes a picture of the layout as an SVG file, for light and dark backgrounds.
@param path string
@param options table?
@return boolean  true; or nil, message, code)",
                                     layout_picture_keys},
                                    {"html", html<Layout>, R"(
Writes a picture of the layout as a self-contained HTML page: pointing at a cell describes it, and zooming into an overview shows the elements.
@param path string
@param options table?
@return boolean  true; or nil, message, code)",
                                     layout_picture_keys},
                                    {}};
    static const Member fragment[] = {{"print", print<Fragment>, R"(
Prints which thread and register hold each element, as a grid.
@param options table?)",
                                       fragment_picture_keys},
                                      {"picture", picture<Fragment>, R"(
A picture of the fragment as a value, which the prompt shows as an image where the terminal can.
@param options table?
@return picture)",
                                       fragment_picture_keys},
                                      {"svg", svg<Fragment>, R"(
Writes the picture as an SVG file, for light and dark backgrounds.
@param path string
@param options table?
@return boolean  true; or nil, message, code)",
                                       fragment_picture_keys},
                                      {"html", html<Fragment>, R"(
Writes the picture as a self-contained HTML page: pointing at a cell describes it, and zooming into an overview shows the elements.
@param path string
@param options table?
@return boolean  true; or nil, message, code)",
                                       fragment_picture_keys},
                                      {}};
    static const Member tile[] = {{"print", print<Tile>, R"(
Prints a picture of the tile: the positions of its elements in memory.
@param options table?)",
                                   tile_picture_keys},
                                  {"picture", picture<Tile>, R"(
A picture of the tile as a value, which the prompt shows as an image where the terminal can.
@param options table?
@return picture)",
                                   tile_picture_keys},
                                  {"svg", svg<Tile>, R"(
Writes a picture of the tile as an SVG file, for light and dark backgrounds.
@param path string
@param options table?
@return boolean  true; or nil, message, code)",
                                   tile_picture_keys},
                                  {"html", html<Tile>, R"(
Writes a picture of the tile as a self-contained HTML page: pointing at a cell describes it, and zooming into an overview shows the elements.
@param path string
@param options table?
@return boolean  true; or nil, message, code)",
                                   tile_picture_keys},
                                  {"explain", tile_explain, R"(
Describes the tile: atoms, LBO and SBO, K steps, TMA box.
@return string  several lines)"},
                                  {}};
    static const Member picture[] = {{"print", print<Picture>, R"(
Prints the picture as text.)"},
                                     {"svg", svg<Picture>, R"(
Writes the picture as an SVG file, for light and dark backgrounds.
@param path string
@return boolean  true; or nil, message, code)"},
                                     {"html", html<Picture>, R"(
Writes the picture as a self-contained HTML page: pointing at a cell describes it, and zooming into an overview shows the elements.
@param path string
@return boolean  true; or nil, message, code)"},
                                     {}};
    static const Member metamethods[] = {{"__tostring", picture_tostring}, {}};
    declare<Picture>(L, {.methods = picture, .metamethods = metamethods, .text = R"(
A picture of a layout, tile or fragment, made by its method picture, or of several objects, made by wg.mma_picture.
@see wg.mma_picture)"});
    add_methods<Layout>(L, layout);
    add_methods<Fragment>(L, fragment);
    add_methods<Tile>(L, tile);
    static const Member functions[] = {{"identify", identify_layout, R"(
Identifies the canonical wgmma layout that a layout is, or the nearest one and where they differ.
@param layout layout  (row, k) to the element offset
@param dtype string  the element type
@return table
@field canonical boolean  the layout is canonical
@field operand boolean  wgmma can read the layout
@field major string  "K" or "MN"
@field swizzle string  "none", "32B", "64B" or "128B"
@field lbo integer  bytes
@field sbo integer  bytes
@field mismatches integer  the number of elements whose offset differs from the nearest canonical layout
@field difference table?  the first of them: { row, k, given, expected }, offsets in bytes
@field text string  the same in words)"},
                                       {"mma_picture", mma_picture_new, R"(
Draws a matrix product with A on the left, B above and D in the corner. Registers are shown as thread:value, shared memory as byte offsets, large operands as overviews.
@param options table
@return picture
@example
  wg.mma_picture { shape = "m16n8k16", dtype = "bf16" }:print())",
                                        mma_keys},
                                       {}};
    add_functions(L, "wg", functions);
}

}  // namespace wgrun::lua
