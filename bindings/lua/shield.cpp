#include "bindings/lua/shield.hpp"

#include <string>
#include <string_view>

#include "bindings/lua/args.hpp"
#include "bindings/lua/error.hpp"

namespace wgrun::lua {
namespace {

/// An error message of Lua about a line of the library, without the place: "[wgrun]/tile:12: attempt to ...".
std::string_view complaint(std::string_view message) {
    constexpr std::string_view prefix = std::string_view(stdlib_prefix).substr(1);
    if (!message.starts_with(prefix)) return {};
    const std::size_t file = message.find(':'), line = message.find(": ", file + 1);
    return line == std::string_view::npos ? std::string_view() : message.substr(line + 2);
}

// The outcome of the protected call: its results, or an error.
int after_call(lua_State* L, int status, lua_KContext) {
    if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(L);
    std::string_view text;
    if (lua_type(L, -1) == LUA_TSTRING) text = complaint(string_argument(L, -1));
    if (text.empty()) return lua_error(L);
    const std::string_view name = string_argument(L, lua_upvalueindex(2));
    fail(L, [&] { return std::string(name).append(": ").append(text); });
}

// Upvalues: the function, its name, and how many arguments it takes (nil: any number).
int call_shielded(lua_State* L) {
    const std::string_view name = string_argument(L, lua_upvalueindex(2));
    const std::size_t colon = name.find(':');
    if (colon != std::string_view::npos && lua_type(L, 1) != LUA_TTABLE && lua_type(L, 1) != LUA_TUSERDATA) {
        const ShortText got = describe(L, 1);
        fail(L, [&] {
            return ArgumentError(
                std::string(name)
                        .append(": expected a ")
                        .append(name.starts_with("k:") ? "builder" : name.substr(0, colon))
                        .append(" before the colon, got ") +
                    got.text,
                std::string("a method is called with a colon: ").append(name).append("(...)"));
        });
    }
    if (!lua_isnil(L, lua_upvalueindex(3)))
        refuse_surplus(L, name.substr(name.find_last_of(":.") + 1).data(),
                       static_cast<int>(lua_tointeger(L, lua_upvalueindex(3))),
                       colon != std::string_view::npos);
    luaL_checkstack(L, 2, nullptr);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    return after_call(L, lua_pcallk(L, lua_gettop(L) - 1, LUA_MULTRET, 0, 0, after_call), 0);
}

}  // namespace

int shielded_from_lua(lua_State* L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    string_argument(L, 2);
    lua_settop(L, 2);
    lua_Debug takes;
    lua_pushvalue(L, 1);
    lua_getinfo(L, ">u", &takes);
    if (takes.isvararg != 0)
        lua_pushnil(L);
    else
        lua_pushinteger(L, takes.nparams);
    lua_pushcclosure(L, call_shielded, 3);
    return 1;
}

}  // namespace wgrun::lua
