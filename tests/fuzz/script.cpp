// Scripts grown from bytes (script/grammar.lua) and judged (script/judge.lua).
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <lua.hpp>
#include <string>

#include "bindings/lua/interrupt.hpp"
#include "source_folder.hpp"
#include "tests/fuzz/bodies.hpp"
#include "wgrun/isa.hpp"
#include "wgrun/limits.hpp"
#include "wgrun/lua.hpp"
#include "wgrun/sandbox.hpp"

namespace wgrun::fuzz {
namespace {

constexpr std::size_t most_memory = std::size_t{256} << 20;  // of Lua, bytes
constexpr int most_milliseconds = 1500;                      // then the script is interrupted
#ifdef __SANITIZE_ADDRESS__
constexpr std::clock_t slowness = 8;
#else
constexpr std::clock_t slowness = 1;
#endif
constexpr std::clock_t patience_seconds =
    8 * slowness;  // of all threads' CPU time, for what cannot be interrupted

void* allocate(void* self, void* block, std::size_t old_size, std::size_t size) {
    auto& used = *static_cast<std::size_t*>(self);
    if (block == nullptr) old_size = 0;
    if (size == 0) {
        std::free(block);
        used -= old_size;
        return nullptr;
    }
    if (size > old_size && used + (size - old_size) > most_memory) return nullptr;
    void* out = std::realloc(block, size);
    if (out != nullptr) used += size - old_size;
    return out;
}

void on_alarm(int) { lua::interrupt(); }

/// Interrupts the script while it lives.
class Alarm {
  public:
    Alarm() {
        struct sigaction action {};
        action.sa_handler = on_alarm;
        sigaction(SIGALRM, &action, &before_);
        const itimerval once{{1, 0}, {most_milliseconds / 1000, most_milliseconds % 1000 * 1000}};
        setitimer(ITIMER_REAL, &once, nullptr);
    }
    ~Alarm() {
        const itimerval never{};
        setitimer(ITIMER_REAL, &never, nullptr);
        std::signal(SIGALRM, SIG_IGN);  // one that is on its way
        sigaction(SIGALRM, &before_, nullptr);
        lua::forget_interrupt();
    }

  private:
    struct sigaction before_ {};
};

/// Pushes the methods of k that are instructions.
void push_instructions(lua_State* L) {
    lua_newtable(L);
    lua_Integer position = 0;
    for (const isa::Instruction* op : isa::all()) {
        std::string name(op->name);
        std::replace(name.begin(), name.end(), '.', '_');
        lua_pushlstring(L, name.data(), name.size());
        lua_rawseti(L, -2, ++position);
    }
}

/// Calls the function on the stack; its error is a broken law.
void call(lua_State* L, int arguments) {
    if (lua_pcall(L, arguments, 1, 0) != LUA_OK) throw Broken(luaL_tolstring(L, -1, nullptr));
}

void load(lua_State* L, const char* name) {
    const std::string path = std::string(WGRUN_SOURCE_DIR) + "/tests/fuzz/script/" + name;
    if (luaL_loadfile(L, path.c_str()) != LUA_OK) throw Broken(lua_tostring(L, -1));
    call(L, 0);
}

int open(lua_State* L) {
    luaL_openlibs(L);
    luaL_requiref(L, "wgrun", luaopen_wgrun, 0);
    return 0;
}

constexpr const char* forbidden_file = "wgrun_fuzz_escape";

/// What wgrun --restricted has, in two steps, and with less of everything.
int open_restricted(lua_State* L) {
    lua::open_restricted(L);
    return 0;
}
int set_limits(lua_State* L) {
    lua::Limits limits = lua::restricted_limits();
    limits.memory = most_memory / 2;
    limits.time = std::chrono::milliseconds(most_milliseconds);
    limits.tensors = most_memory;
    limits.program = 20000;
    limits.simulation_steps = 100000;
    lua::set_limits(L, limits);
    return 0;
}

struct Close {
    lua_State* L;
    ~Close() { lua_close(L); }
};

}  // namespace

std::string script_of(Bytes bytes, bool restricted) {
    const Close state{luaL_newstate()};
    lua_State* L = state.L;
    luaL_openlibs(L);
    load(L, "grammar.lua");
    lua_pushlstring(L, reinterpret_cast<const char*>(bytes.data()), bytes.size());
    push_instructions(L);
    lua_pushboolean(L, restricted);
    call(L, 3);
    return lua_tostring(L, -1);
}

namespace {

void judge(Bytes bytes, bool restricted) {
    const std::string source = script_of(bytes, restricted);
    std::size_t used = 0;
    std::string faults;
    const std::clock_t begin = std::clock();
    {
        const Close state{lua_newstate(allocate, &used)};
        lua_State* L = state.L;
        lua_pushcfunction(L, restricted ? open_restricted : open);
        call(L, 0);
        lua::install_interrupt(L);
        load(L, "judge.lua");
        if (restricted) {
            lua_pushcfunction(L, set_limits);
            call(L, 0);
            lua_pop(L, 1);
        }
        const Alarm alarm;
        lua_pushlstring(L, source.data(), source.size());
        lua_pushboolean(L, restricted);
        const int status = lua_pcall(L, 2, 1, 0);
        // The judge itself may be interrupted, or find no memory.
        if (status == LUA_OK) {
            for (lua_Integer i = 1; lua_rawgeti(L, -1, i) == LUA_TSTRING; ++i, lua_pop(L, 1))
                faults += std::string(lua_tostring(L, -1)) + "\n";
        }
    }
    if (std::clock() - begin > patience_seconds * CLOCKS_PER_SEC) faults += "it took too long\n";
    if (used != 0) faults += std::to_string(used) + " bytes of Lua's are left\n";
    if (restricted && unlink(forbidden_file) == 0) faults += "it has written a file\n";
    if (!faults.empty()) throw Broken(faults + "in the script\n" + source);
}

}  // namespace

void script(Bytes bytes) { judge(bytes, false); }

void restricted_script(Bytes bytes) { judge(bytes, true); }

}  // namespace wgrun::fuzz
