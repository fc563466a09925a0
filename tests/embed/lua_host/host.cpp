// The allocator counts and may refuse, print writes into a string, and what the script calls files are in a
// map.
#include <cstdio>
#include <cstdlib>
#include <lua.hpp>
#include <map>
#include <string>
#include <wgrun/lua.hpp>
#include <wgrun/session.hpp>

namespace {

struct Host {
    std::size_t held = 0;  // bytes that Lua has
    std::size_t limit = SIZE_MAX;
    std::string printed;
    std::string remarks;
    std::map<std::string, std::string> files;
};

void* allocate(void* context, void* block, std::size_t before, std::size_t size) {
    auto& host = *static_cast<Host*>(context);
    if (block == nullptr) before = 0;
    if (size > before && host.held - before + size > host.limit) return nullptr;
    void* result = nullptr;
    if (size == 0)
        std::free(block);
    else if ((result = std::realloc(block, size)) == nullptr)
        return nullptr;
    host.held += size - before;
    return result;
}

Host& host_of(lua_State* L) {
    void* context = nullptr;
    lua_getallocf(L, &context);
    return *static_cast<Host*>(context);
}

int print(lua_State* L) {
    for (int i = 1; i <= lua_gettop(L); ++i) {
        host_of(L).printed += luaL_tolstring(L, i, nullptr);
        lua_pop(L, 1);
    }
    host_of(L).printed += '\n';
    return 0;
}

// io.write(name, text) and io.read(name): all the files that scripts of this host have.
int write_file(lua_State* L) {
    const char* name = luaL_checkstring(L, 1);
    const char* text = luaL_checkstring(L, 2);
    host_of(L).files[name] = text;
    return 0;
}

int read_file(lua_State* L) {
    const auto& files = host_of(L).files;
    const auto found = files.find(luaL_checkstring(L, 1));
    if (found == files.end()) return 0;
    lua_pushstring(L, found->second.c_str());
    return 1;
}

// What a host gives its scripts; luaL_openlibs would give them the process's files and print.
void open_libraries(lua_State* L) {
    luaL_requiref(L, LUA_GNAME, luaopen_base, 1);
    luaL_requiref(L, LUA_LOADLIBNAME, luaopen_package, 1);
    luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 1);
    luaL_requiref(L, LUA_TABLIBNAME, luaopen_table, 1);
    luaL_requiref(L, LUA_MATHLIBNAME, luaopen_math, 1);
    lua_register(L, "print", print);
    const luaL_Reg io[] = {{"write", write_file}, {"read", read_file}, {nullptr, nullptr}};
    luaL_newlib(L, io);
    lua_setglobal(L, "io");
    luaL_requiref(L, "wgrun", luaopen_wgrun, 0);
    lua_settop(L, 0);
}

// Runs a chunk; the text of its error, or nothing.
std::string run(lua_State* L, const char* chunk) {
    if (luaL_loadbuffer(L, chunk, std::char_traits<char>::length(chunk), "=script") == LUA_OK &&
        lua_pcall(L, 0, 0, 0) == LUA_OK)
        return {};
    std::string error = luaL_tolstring(L, -1, nullptr);
    lua_settop(L, 0);
    return error;
}

constexpr const char* script = R"(
local wg = require "wgrun"
local double = wg.kernel("double", { threads = 64 }, function(k)
  local X = k:param("X", "f32*")
  local at = k:add_u64(X, k:mul_wide_u32(k:special "tid.x", 4))
  local x = k:ld_global_f32(at)
  k:st_global_f32(at, k:add_f32(x, x))
end)
assert(#double:check() == 0)
local X = wg.randint { shape = { 64 }, dtype = "f32", lo = -9, hi = 9, seed = 1 }
local before = X:totable()
double:run { grid = { 1, 1, 1 }, args = { X } }
for i, x in ipairs(X:totable()) do assert(x == 2 * before[i]) end
print("doubled on ", wg.backend)
io.write("kernel.ptx", double:ptx())
)";

int faults = 0;

void expect(bool good, const std::string& what) {
    if (good) return;
    std::printf("fault: %s\n", what.c_str());
    ++faults;
}

void scripts_run_with_what_the_host_gives() {
    Host host;
    lua_State* L = lua_newstate(allocate, &host);
    open_libraries(L);
    wgrun::lua::session(L).backend = wgrun::Backend::sim;
    wgrun::lua::session(L).remark = [&](std::string_view text) { host.remarks += text; };

    expect(run(L, script).empty(), "the script fails: " + run(L, script));
    expect(host.printed.starts_with("doubled on sim\n"), "print is the host's: " + host.printed);
    expect(host.files["kernel.ptx"].find(".entry double") != std::string::npos, "files are the host's");
    const std::string error = run(L, "require('wgrun').tile { dtype = 'bf16', mn = 7, k = 64 }");
    expect(error.starts_with("script:1: "), "an error names the line: " + error);
    lua_close(L);
    expect(host.held == 0, "all that Lua had is given back");
}

// However little memory there is: a Lua error, and the state goes on.
void memory_runs_out() {
    Host host;
    lua_State* L = lua_newstate(allocate, &host);
    open_libraries(L);
    wgrun::lua::session(L).backend = wgrun::Backend::sim;
    int failed = 0;
    for (std::size_t room = 0; room < 400'000; room += 4'096) {
        lua_gc(L, LUA_GCCOLLECT);
        host.limit = host.held + room;
        const std::string error = run(L, script);
        host.limit = SIZE_MAX;
        if (error.empty()) continue;
        ++failed;
        expect(error.find("not enough memory") != std::string::npos, "another error: " + error);
    }
    expect(failed > 0, "no limit was ever reached");
    expect(run(L, script).empty(), "the state works once there is memory");
    lua_close(L);
    expect(host.held == 0, "all is given back after failures too");
}

}  // namespace

int main() {
    scripts_run_with_what_the_host_gives();
    memory_runs_out();
    std::printf("%d faults\n", faults);
    return faults == 0 ? 0 : 1;
}
