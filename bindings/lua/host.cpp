// What the Lua half of the library asks of the machine that Lua's own libraries cannot say.
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "bindings/lua/args.hpp"
#include "bindings/lua/stdlib.hpp"
#include "bindings/lua/userdata.hpp"
#include "wgrun/gpu.hpp"

namespace wgrun::lua {
namespace {

// internal.cache_folder(name): a folder in that of wgrun's cache, which the size limit of what compilers made
// does not touch, made if need be; or nil, why there is none, code
int cache_folder(lua_State* L) {
    const std::string_view name = string_argument(L, 1);
    auto& folder = held<std::string>(L);
    const int failed = attempted(L, [&] {
        const gpu::CacheInfo cache = gpu::doctor().cache;
        if (!cache.missing.empty()) throw EnvironmentError("ENOENT", "no cache: " + cache.missing);
        const std::filesystem::path path = std::filesystem::path(cache.folder) / name;
        std::error_code error;
        std::filesystem::create_directories(path, error);
        if (error) throw EnvironmentError("EACCES", path.string() + ": " + error.message());
        folder = path.string();
    });
    if (failed != 0) return failed;
    lua_pushlstring(L, folder.data(), folder.size());
    return 1;
}

// internal.on_terminal(): is standard error a terminal?
int on_terminal(lua_State* L) {
    lua_pushboolean(L, isatty(STDERR_FILENO));
    return 1;
}

}  // namespace

void push_host(lua_State* L) {
    lua_pushcfunction(L, cache_folder);
    lua_setfield(L, -2, "cache_folder");
    lua_pushcfunction(L, on_terminal);
    lua_setfield(L, -2, "on_terminal");
}

}  // namespace wgrun::lua
