#include "bindings/lua/sandbox.hpp"

#include <cstring>
#include <string>

#include "bindings/lua/guard.hpp"
#include "bindings/lua/limits.hpp"
#include "wgrun/lua.hpp"

namespace wgrun::lua {
namespace {

// load, text only; upvalue: the original. Bytecode can break the virtual machine.
int load_text(lua_State* L) {
    const int arguments = lua_gettop(L);
    if (!lua_isnoneornil(L, 3) && std::strchr(luaL_checkstring(L, 3), 't') == nullptr)
        fail(L, [] { return std::string("a restricted script can load only text (mode \"t\")"); });
    lua_settop(L, arguments < 3 ? 3 : arguments);  // an environment of nil differs from no environment
    lua_pushliteral(L, "t");
    lua_replace(L, 3);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

// require, limited to modules that are loaded or compiled in.
int require_own(lua_State* L) {
    const char* name = luaL_checkstring(L, 1);
    lua_settop(L, 1);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    if (lua_getfield(L, 2, name) != LUA_TNIL) return 1;
    lua_settop(L, 2);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    if (lua_getfield(L, 3, name) != LUA_TFUNCTION)
        fail(L, [&] { return std::string("a restricted script cannot load the module `") + name + "`"; });
    lua_pushvalue(L, 1);
    lua_pushliteral(L, ":preload:");
    lua_call(L, 2, 1);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_pushboolean(L, 1);
    }
    lua_pushvalue(L, -1);
    lua_setfield(L, 2, name);
    return 1;
}

// collectgarbage, limited to options without lasting effects; upvalue: the original
int collect_only(lua_State* L) {
    static const char* const allowed[] = {"collect", "count", "step", "isrunning", nullptr};
    luaL_checkoption(L, 1, "collect", allowed);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

void wrap(lua_State* L, const char* name, lua_CFunction wrapper) {
    lua_getglobal(L, name);
    lua_pushcclosure(L, wrapper, 1);
    lua_setglobal(L, name);
}

void remove_field(lua_State* L, const char* table, const char* name) {
    lua_getglobal(L, table);
    lua_pushnil(L);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

// Removes all functions of a library but `names`, in the list of loaded modules too.
void open_some(lua_State* L, const char* library, lua_CFunction open, const char* const* names) {
    luaL_requiref(L, library, open, 0);
    lua_newtable(L);
    for (; *names != nullptr; ++names) {
        lua_getfield(L, -2, *names);
        lua_setfield(L, -2, *names);
    }
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, library);
    lua_pop(L, 1);
    lua_setglobal(L, library);
    lua_pop(L, 1);
}

}  // namespace

void open_restricted(lua_State* L) {
    static const luaL_Reg whole[] = {{LUA_GNAME, luaopen_base},       {LUA_COLIBNAME, luaopen_coroutine},
                                     {LUA_TABLIBNAME, luaopen_table}, {LUA_STRLIBNAME, luaopen_string},
                                     {LUA_MATHLIBNAME, luaopen_math}, {LUA_UTF8LIBNAME, luaopen_utf8}};
    static const char* const of_os[] = {"clock", "date", "difftime", "time", nullptr};
    luaL_checkstack(L, 8, nullptr);
    limit_state(L).restricted = true;
    for (const luaL_Reg& library : whole) {
        luaL_requiref(L, library.name, library.func, 1);
        lua_pop(L, 1);
    }
    open_some(L, LUA_OSLIBNAME, luaopen_os, of_os);
    for (const char* name : {"dofile", "loadfile"}) remove_field(L, LUA_GNAME, name);
    remove_field(L, LUA_STRLIBNAME, "dump");
    wrap(L, "load", load_text);
    wrap(L, "collectgarbage", collect_only);
    lua_pushcfunction(L, require_own);
    lua_setglobal(L, "require");
    guard_globals(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_wgrun);
    lua_setfield(L, -2, "wgrun");
    lua_pop(L, 1);
}

void check_unrestricted(lua_State* L, const char* what) {
    if (!limit_state(L).restricted) return;
    fail(L, [&] {
        return std::string(what) + " is not for restricted scripts (--restricted, docs/sandbox.md)";
    });
}

}  // namespace wgrun::lua
