// Services of the machine for the Lua half of the library that Lua's own libraries lack.
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bindings/lua/args.hpp"
#include "bindings/lua/limits.hpp"
#include "bindings/lua/sandbox.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/stdlib.hpp"
#include "bindings/lua/userdata.hpp"
#include "wgrun/own_files.hpp"
#include "wgrun/progress.hpp"

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
    lua_pushboolean(L, session(L).terminal && isatty(STDERR_FILENO) != 0 && !limit_state(L).restricted);
    return 1;
}

/// A piece of work of a script of the library; null when it is over.
struct Work {
    std::unique_ptr<Progress> progress;
};

// The function that native.progress returns; upvalue: the work
int count_done(lua_State* L) {
    Work& work = *test<Work>(L, lua_upvalueindex(1));
    if (lua_isnoneornil(L, 1))
        work.progress.reset();
    else if (work.progress != nullptr)
        work.progress->done(static_cast<std::uint64_t>(integer_argument(L, 1)));
    return 0;
}

// native.progress(what, total, unit): says to who watches that such work is in flight. Returns a function, to
// be called with the number of what is done, and in the end with nothing.
int progress(lua_State* L) {
    const std::string_view what = string_argument(L, 1), unit = string_argument(L, 3);
    const std::int64_t total = integer_argument(L, 2);
    auto& work = held<Work>(L);
    guarded(L, [&] {
        work.progress = std::make_unique<Progress>(Progress::Is::around, std::string(what),
                                                   static_cast<std::uint64_t>(total), std::string(unit));
    });
    lua_pushcclosure(L, count_done, 1);
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
    lua_pushcfunction(L, progress);
    lua_setfield(L, -2, "progress");
}

}  // namespace wgrun::lua
