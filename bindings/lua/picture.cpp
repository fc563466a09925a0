// Looking at layouts, tiles and fragments: pictures, words, bank conflicts, and which canonical layout one
// is.
#include "layout/picture.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "bindings/lua/args.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/types.hpp"
#include "layout/bank.hpp"
#include "layout/explain.hpp"
#include "layout/identify.hpp"

namespace wgrun::lua {
namespace {

// object:print(): a grid on standard output
template <class T>
int print(lua_State* L) {
    const T& object = check<T>(L, 1);
    const bool colour = session(L).colour && isatty(STDOUT_FILENO) != 0;
    guarded(L, [&] {
        const std::string text = to_text(grid_of(object), colour);
        std::fwrite(text.data(), 1, text.size(), stdout);
    });
    return 0;
}

// object:svg(path): true, or nil, message, code
template <class T>
int svg(lua_State* L) {
    const T& object = check<T>(L, 1);
    const std::string_view path = string_argument(L, 2);
    const int failed = attempted(L, [&] {
        const std::string text = to_svg(grid_of(object));
        errno = 0;
        std::ofstream file{std::string(path), std::ios::binary};
        if (!(file << text) || !file.flush()) {
            const int reason = errno;
            throw EnvironmentError(reason == ENOENT ? "ENOENT" : "EIO",
                                   "cannot write " + std::string(path) + ": " + std::strerror(reason));
        }
    });
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

// t:bank_conflicts(): { {access =, degree =, phases =, passes =, line =, unit =, text =}, ... }
int tile_bank_conflicts(lua_State* L) {
    struct Conflict {
        BankConflicts conflicts;
        std::string text;
    };
    const Tile& tile = check<Tile>(L, 1);
    auto& all = held<std::vector<Conflict>>(L);
    guarded(L, [&] {
        for (BankConflicts& conflicts : bank_conflicts(tile)) {
            std::string text = conflicts.to_string();
            all.push_back({std::move(conflicts), std::move(text)});
        }
    });
    lua_createtable(L, static_cast<int>(all.size()), 0);
    lua_Integer position = 0;
    for (const Conflict& one : all) {
        lua_createtable(L, 0, 7);
        put_string(L, "access", to_string(one.conflicts.access));
        put_integer(L, "degree", one.conflicts.degree);
        put_integer(L, "phases", one.conflicts.phases);
        put_integer(L, "passes", one.conflicts.passes);
        put_integer(L, "line", one.conflicts.line);
        put_integer(L, "unit", one.conflicts.unit);
        put_string(L, "text", one.text);
        lua_rawseti(L, -2, ++position);
    }
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

template <class T>
void add_methods(lua_State* L, const luaL_Reg* methods) {
    push_methods(L, &class_key<T>, class_name<T>);
    luaL_setfuncs(L, methods, 0);
    lua_pop(L, 1);
}

}  // namespace

void open_picture(lua_State* L) {
    static const luaL_Reg layout[] = {{"print", print<Layout>}, {"svg", svg<Layout>}, {nullptr, nullptr}};
    static const luaL_Reg fragment[] = {
        {"print", print<Fragment>}, {"svg", svg<Fragment>}, {nullptr, nullptr}};
    static const luaL_Reg tile[] = {{"print", print<Tile>},
                                    {"svg", svg<Tile>},
                                    {"explain", tile_explain},
                                    {"bank_conflicts", tile_bank_conflicts},
                                    {nullptr, nullptr}};
    add_methods<Layout>(L, layout);
    add_methods<Fragment>(L, fragment);
    add_methods<Tile>(L, tile);
    lua_pushcfunction(L, identify_layout);
    lua_setfield(L, -2, "identify");
}

}  // namespace wgrun::lua
