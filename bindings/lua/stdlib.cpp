#include "bindings/lua/stdlib.hpp"

#include "bindings/lua/error.hpp"
#include "bindings/lua/trace.hpp"
#include "bindings/lua/types.hpp"

namespace wgrun::lua {
namespace {

constexpr std::string_view init_name = "init";

// Pushes the file's chunk.
void load_file(lua_State* L, const StdlibFile& file) {
    lua_pushstring(L, stdlib_prefix);
    lua_pushlstring(L, file.name.data(), file.name.size());
    lua_concat(L, 2);
    const int status = luaL_loadbufferx(L, file.text.data(), file.text.size(), lua_tostring(L, -1), "t");
    lua_remove(L, -2);
    if (status != LUA_OK) lua_error(L);
}

// package.preload[modname]: upvalues are the file (light userdata) and wg.
int preload(lua_State* L) {
    load_file(L, *static_cast<const StdlibFile*>(lua_touserdata(L, lua_upvalueindex(1))));
    lua_pushvalue(L, 1);
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_call(L, 2, 1);
    return 1;
}

template <class T>
void set_methods(lua_State* L, const char* name) {
    push_methods(L, &class_key<T>, class_name<T>);
    lua_setfield(L, -2, name);
}

}  // namespace

void preload_stdlib(lua_State* L) {
    luaL_checkstack(L, 6, nullptr);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    for (const StdlibFile& file : stdlib_files()) {
        if (file.name == init_name) continue;
        lua_pushliteral(L, "wgrun.");
        lua_pushlstring(L, file.name.data(), file.name.size());
        lua_concat(L, 2);
        lua_pushlightuserdata(L, const_cast<StdlibFile*>(&file));
        lua_pushvalue(L, -4);
        lua_pushcclosure(L, preload, 2);
        lua_rawset(L, -3);
    }
    lua_pop(L, 1);
}

void run_init(lua_State* L) {
    luaL_checkstack(L, 6, nullptr);
    for (const StdlibFile& file : stdlib_files()) {
        if (file.name != init_name) continue;
        load_file(L, file);
        lua_pushvalue(L, -2);
        lua_createtable(L, 0, 2);
        lua_createtable(L, 0, 6);
        set_methods<Layout>(L, "layout");
        set_methods<Swizzle>(L, "swizzle");
        set_methods<Tile>(L, "tile");
        set_methods<TensorBox>(L, "tensor");
        set_methods<Kernel>(L, "kernel");
        set_methods<BuilderBox>(L, "builder");
        lua_setfield(L, -2, "methods");
        lua_pushcfunction(L, fail_from_lua);
        lua_setfield(L, -2, "fail");
        push_host(L);
        lua_call(L, 2, 0);
    }
}

}  // namespace wgrun::lua
