// What the Lua half of the library asks of the machine that Lua's own libraries cannot say.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "bindings/lua/args.hpp"
#include "bindings/lua/stdlib.hpp"
#include "bindings/lua/userdata.hpp"
#include "file/lock.hpp"
#include "file/replacement.hpp"
#include "file/trusted.hpp"
#include "gpu/cache.hpp"

namespace wgrun::lua {
namespace {

// internal.cache_folder(name): a folder in that of wgrun's cache, which the size limit of what compilers made
// does not touch, made if need be; or nil, why there is none, code
int cache_folder(lua_State* L) {
    const std::string_view name = string_argument(L, 1);
    auto& folder = held<std::string>(L);
    const int failed =
        attempted(L, [&] { folder = gpu::Cache::standard().folder(std::string(name)).string(); });
    if (failed != 0) return failed;
    lua_pushlstring(L, folder.data(), folder.size());
    return 1;
}

constexpr std::uint64_t largest_own = 64 << 20;  // bytes

// What a file of ours holds; empty when there is none. Throws when it is not to be believed.
std::string read_text(const char* path) {
    const file::TrustedFile file = file::open_trusted(AT_FDCWD, path);
    if (!file && file.why.empty()) return {};
    const auto text = file::read_all(file, largest_own);
    if (!text)
        throw EnvironmentError("EACCES",
                               std::string(path) + " is not used: " + (file ? "it is too large" : file.why));
    return *text;
}

// internal.read_own(path): the text of a file that nobody else can have written; "" for none; or nil, why
// not, code
int read_own(lua_State* L) {
    const char* path = string_argument(L, 1).data();
    auto& text = held<std::string>(L);
    const int failed = attempted(L, [&] { text = read_text(path); });
    if (failed != 0) return failed;
    lua_pushlstring(L, text.data(), text.size());
    return 1;
}

using Lock = std::optional<file::FolderLock>;

// Now, not when Lua collects them: the next update waits for the lock.
void release(Lock& lock, file::Descriptor& folder) {
    lock.reset();
    folder.close();
}

// internal.update_own(path, change): writes what change(text) makes of a file's text, while no other process
// does the same; true, or nil, why not, code. The file is the user's alone (mode 0600).
int update_own(lua_State* L) {
    constexpr auto patience = std::chrono::seconds(10);
    const char* path = string_argument(L, 1).data();
    luaL_checktype(L, 2, LUA_TFUNCTION);
    auto& folder = held<file::Descriptor>(L);
    auto& lock = held<Lock>(L);
    auto& text = held<std::string>(L);
    lua_pushvalue(L, 2);
    int failed = attempted(L, [&] {
        const std::filesystem::path parent = std::filesystem::path(path).parent_path();
        const char* name = parent.empty() ? "." : parent.c_str();
        folder = file::Descriptor(::open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!folder) throw EnvironmentError("EIO", std::string(name) + ": " + std::strerror(errno));
        // Without it (a file system that has no locks) the last of two at once wins.
        lock.emplace(folder.get(), patience);
        text = read_text(path);
    });
    if (failed != 0) return release(lock, folder), failed;
    lua_pushlstring(L, text.data(), text.size());
    lua_call(L, 1, 1);
    const std::string_view changed = string_argument(L, -1);
    failed = attempted(L, [&] {
        file::Replacement file(folder.get(), std::filesystem::path(path).filename().string(),
                               file::Durable::yes);
        file.write(changed);
        file.complete();
    });
    release(lock, folder);
    if (failed != 0) return failed;
    lua_pushboolean(L, 1);
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
    lua_pushcfunction(L, read_own);
    lua_setfield(L, -2, "read_own");
    lua_pushcfunction(L, update_own);
    lua_setfield(L, -2, "update_own");
    lua_pushcfunction(L, on_terminal);
    lua_setfield(L, -2, "on_terminal");
}

}  // namespace wgrun::lua
