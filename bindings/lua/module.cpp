#include "wgrun/lua.hpp"

#include "bindings/lua/args.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/export.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/stdlib.hpp"
#include "bindings/lua/types.hpp"
#include "wgrun/version.hpp"

namespace wgrun::lua {
namespace {

// wg.backend: "gpu", "gpu-cuda" or "sim", what a kernel would run on here.
int module_backend(lua_State* L) {
    const std::string_view name = to_string(resolve_backend(L, Backend::automatic));
    lua_pushlstring(L, name.data(), name.size());
    return 1;
}

// __index of the module: computed fields; an unknown one is an error.
int module_index(lua_State* L) {
    const bool named = lua_type(L, 2) == LUA_TSTRING;
    if (named && string_argument(L, 2) == "backend") return module_backend(L);
    if (!named) {
        const ShortText key = describe(L, 2);
        fail(L, [&] { return std::string("wg cannot be indexed with ") + key.text; });
    }
    fail_unknown_name(L, "wg", lua_tostring(L, 2), {1});
}

}  // namespace
}  // namespace wgrun::lua

int luaopen_wgrun(lua_State* L) {
    using namespace wgrun::lua;
    luaL_checkversion(L);
    open_error(L);
    lua_newtable(L);
    lua_pushliteral(L, WGRUN_VERSION);
    lua_setfield(L, -2, "version");
    open_layout(L);
    open_algebra(L);
    open_tile(L);
    open_fragment(L);
    open_picture(L);
    open_bank(L);
    open_tensor(L);
    open_device_tensor(L);
    open_sparse(L);
    open_device(L);
    open_kernel(L);
    open_launch(L);
    open_export(L);
    preload_stdlib(L);
    run_init(L);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, module_index);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    return 1;
}
