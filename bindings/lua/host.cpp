// Services of the machine for the Lua half of the library that Lua's own libraries lack.
#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>

#include "bindings/lua/args.hpp"
#include "bindings/lua/limits.hpp"
#include "bindings/lua/sandbox.hpp"
#include "bindings/lua/stdlib.hpp"
#include "bindings/lua/userdata.hpp"
#include "wgrun/own_files.hpp"

namespace wgrun::lua {
namespace {

// native.cache_folder(name): a folder inside wgrun's cache folder, made if need be, to which the cache's
// size limit does not apply; or nil, the reason, code
int cache_folder(lua_State* L) {
    const std::string_view name = name_argument(L, 1);
    auto& folder = held<std::string>(L);
    const bool restricted = limit_state(L).restricted;
    const int failed = attempted(L, [&] {
        if (restricted) throw EnvironmentError("ENOENT", "no cache: the script is restricted");
        folder = own_folder(std::string(name));
    });
    if (failed != 0) return failed;
    lua_pushlstring(L, folder.data(), folder.size());
    return 1;
}

// native.read_own(path): the text of a file that no other user can have written, "" if there is none; or
// nil, the reason, code
int read_own(lua_State* L) {
    check_unrestricted(L, "a file of measurements");
    const char* path = string_argument(L, 1).data();
    auto& text = held<std::string>(L);
    const int failed = attempted(L, [&] { text = wgrun::read_own(path); });
    if (failed != 0) return failed;
    lua_pushlstring(L, text.data(), text.size());
    return 1;
}

// native.update_own(path, change): replaces a file's text by change(text), under a lock against other
// processes; true, or nil, the reason, code. The file is the user's alone (mode 0600).
int update_own(lua_State* L) {
    check_unrestricted(L, "a file of measurements");
    const char* path = string_argument(L, 1).data();
    luaL_checktype(L, 2, LUA_TFUNCTION);
    auto& update = held<std::optional<OwnUpdate>>(L);
    lua_pushvalue(L, 2);
    int failed = attempted(L, [&] { update.emplace(path); });
    if (failed != 0) return failed;
    lua_pushlstring(L, update->text().data(), update->text().size());
    lua_call(L, 1, 1);
    const std::string_view changed = string_argument(L, -1);
    failed = attempted(L, [&] { update->write(changed); });
    update.reset();  // now rather than when Lua collects it, since the next update waits for the lock
    if (failed != 0) return failed;
    lua_pushboolean(L, 1);
    return 1;
}

// native.on_terminal(): whether standard error is a terminal that the script may write to
int on_terminal(lua_State* L) {
    lua_pushboolean(L, isatty(STDERR_FILENO) != 0 && !limit_state(L).restricted);
    return 1;
}

}  // namespace

void push_host(lua_State* L) {
    lua_pushcfunction(L, cache_folder);
    lua_setfield(L, -2, "cache_folder");
    lua_pushcfunction(L, read_own);
    lua_setfield(L, -2, "read_own");
    lua_pushcfunction(L, update_own);
    lua_setfield(L, -2, "update_own");
    lua_pushcfunction(L, on_terminal);
    lua_setfield(L, -2, "on_terminal");
}

}  // namespace wgrun::lua
