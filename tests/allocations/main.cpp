// Memory that runs out anywhere. operator new, or Lua's allocator, fails at the n-th allocation, once or from
// then on, while the scenarios below run, each in a process of its own: it must end with its whole result or
// with an error, leak nothing, and leave the Lua state usable. Also: what a program that embeds wgrun
// allocates before main.
//
//   test_allocations [SAMPLES [K M [SCENARIO...]]]   tries about SAMPLES (default 40) of the places of each
//                                      scenario, or of those named, evenly spread; 0: all; with K and M the
//                                      K-th of M parts of them, K from 0 on
//   test_allocations SCENARIO N        that one in this process, for a debugger: operator new fails from N on
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <lua.hpp>
#include <string>

#include "bindings/cli/cli.hpp"
#include "source_folder.hpp"
#include "tests/allocations/failing.hpp"
#include "wgrun/lua.hpp"

// What CLI11's header allocates before main in each file that includes it: here between two variables, which
// are initialized in order.
static const long before_cli11 = wgrun::test::of_new.made;
#include <CLI/CLI.hpp>
static const long of_cli11 = wgrun::test::of_new.made - before_cli11;

using namespace wgrun::test;

namespace {

// --- scenarios
// -------------------------------------------------------------------------------------------------

constexpr const char* layouts = R"(
    local wg = require "wgrun"
    local L = wg.zipped_divide(wg.layout {{8, 2}, 64}, {4, wg.layout "2:1"})
    local text = tostring(L) .. tostring(wg.swizzle(3, 4, 3))
    local tile = wg.tile {dtype = "bf16", mn = 8, k = 64}
    text = text .. tile:explain() .. #tile:bank_conflicts() .. tile.tma_box.inner .. tile:descriptor(1024)
    local good, e = pcall(wg.tile, {dtype = "bf16", mm = 64})
    if tostring(e):find "not enough memory" then error(e, 0) end
    text = text .. tostring(e)
    local t <close> = wg.randn {shape = {20, 30}, seed = 1}
    local u = t:convert "bf16":convert "f32"
    assert(wg.compare(u, t, 0.1) and #t:totable() == 600)
    return text .. tostring(wg.load "no such file")
)";

constexpr const char* emitting = R"(
    local wg = require "wgrun"
    local gemm = wg.gemm {dtype = "bf16", tile = {128, 128}, epilogue = {bias = "row", activation = "gelu"}}
    return #gemm.kernel:check() .. gemm.kernel:ptx() .. gemm.kernel:cuda()
)";

constexpr const char* multiplying = R"(
    local wg = require "wgrun"
    local gemm = wg.gemm {dtype = "bf16", tile = {64, 64}, name = "small"}
    local A = wg.randn {shape = {64, 64}, dtype = "bf16", seed = 1}
    local D = wg.zeros("bf16", {64, 64})
    gemm:run(A, A, D, {backend = "sim"})
    local launch = gemm:prepare(A, A, D, {backend = "sim"})
    launch:start() launch:download()
    return tostring(D[{3, 4}])
)";

constexpr const char* in_a_worker = R"(
    local wg = require "wgrun"
    local add_one = wg.kernel("add_one", {threads = 32}, function(k)
        local data, count = k:param("data", "f32*"), k:param("count", "u32")
        k:st_global_f32(data, k:ld_global_f32(data) + 1.0)
    end)
    local trap = wg.kernel("trap", {threads = 32}, function() end)
    local t = wg.zeros("f32", {1 << 16})
    add_one:run {args = {t, 1 << 16}, backend = "gpu"}
    local d <close> = t:to "gpu"
    local launch = add_one:prepare {args = {d, 3}, backend = "gpu"}
    launch:start() launch:wait()
    local good, e = pcall(trap.run, trap, {backend = "gpu"})
    assert(not good)
    add_one:run {args = {t, 2}, backend = "gpu"}
    return tostring(t[0]) .. tostring(t[2])
)";

struct Scenario {
    const char* name;
    const char* script;                        ///< Lua code, or null for a command
    std::initializer_list<const char*> words;  ///< of the command line
};

const std::string hello = WGRUN_SOURCE_DIR "/scripts/hello_wgmma.lua";
const std::initializer_list<Scenario> scenarios{
    {"layouts and tensors", layouts, {}},
    {"check and emit", emitting, {}},
    {"a small product on the simulator", multiplying, {}},
    {"a worker process", in_a_worker, {}},
    {"wgrun hello_wgmma.lua", nullptr, {"wgrun", "--backend=sim", hello.c_str()}},
    {"wgrun check", nullptr, {"wgrun", "check", hello.c_str()}},
    {"wgrun check --json", nullptr, {"wgrun", "check", "--json", hello.c_str()}},
    {"wgrun ptx", nullptr, {"wgrun", "ptx", hello.c_str()}},
    {"wgrun rules", nullptr, {"wgrun", "rules"}},
    {"wgrun layout", nullptr, {"wgrun", "layout", "(8,64):(64,1)"}},
};

int open_and_run(lua_State* L) {
    luaL_openlibs(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_wgrun);
    lua_setfield(L, -2, "wgrun");
    if (luaL_loadstring(L, static_cast<const char*>(lua_touserdata(L, 1))) != LUA_OK) return lua_error(L);
    lua_call(L, 0, 1);
    return 1;
}

/// 0 and the script's text on standard output, or 1 and its error on standard error; 70 and more: a fault.
int run_script(const char* script, bool warm) {
    const long before = of_new.live;
    lua_State* L = lua_newstate(allocate_for_lua, nullptr);
    if (L == nullptr) return 1;
    lua_pushcfunction(L, open_and_run);
    lua_pushlightuserdata(L, const_cast<char*>(script));
    const bool good = lua_pcall(L, 1, 1, 0) == LUA_OK;
    of_new.disarm();
    of_lua.disarm();
    std::fputs(luaL_tolstring(L, -1, nullptr), good ? stdout : stderr);
    lua_settop(L, 0);
    lua_pushcfunction(L, open_and_run);
    lua_pushlightuserdata(L, const_cast<char*>("return require 'wgrun'.layout '8:2' (3)"));
    if (lua_pcall(L, 1, 1, 0) != LUA_OK || lua_tointeger(L, -1) != 6) return 70;
    lua_close(L);
    if (warm && of_new.live != before) return 71;
    return good ? 0 : 1;
}

int run_command(std::initializer_list<const char*> words) {
    char* argv[8] = {};
    int argc = 0;
    for (const char* word : words) argv[argc++] = const_cast<char*>(word);
    return wgrun::cli::main(argc, argv);
}

int run(const Scenario& scenario, bool warm = false) {
    return scenario.script != nullptr ? run_script(scenario.script, warm) : run_command(scenario.words);
}

// --- trying
// ----------------------------------------------------------------------------------------------------

struct Ended {
    int code = 0;  ///< minus the signal's number, if one ended it
    std::string out, err;
    long allocations = 0;
};

std::string contents(int file) {
    std::string text(static_cast<std::size_t>(lseek(file, 0, SEEK_END)), 0);
    if (pread(file, text.data(), text.size(), 0) < 0) text.clear();
    close(file);
    return text;
}

int temporary_file() { return memfd_create("wgrun_memory", MFD_CLOEXEC); }

/// Runs it in a process of its own; `warm`: after a first run that fills the tables which are made when they
/// are first asked for, so that what is left over afterwards was leaked.
Ended attempt(const Scenario& scenario, Failing& which, long first, bool for_good, bool warm) {
    const int out = temporary_file(), err = temporary_file(), count = temporary_file();
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 1);
        dup2(nowhere, 2);
        if (warm && scenario.script != nullptr) run_script(scenario.script, false);
        std::fflush(stdout);
        dup2(out, 1);
        dup2(err, 2);
        alarm(60);
        which.arm(first, for_good);
        int code = run(scenario, warm);
        which.disarm();
        const long made = which.made;
        if (write(count, &made, sizeof made) < 0 || std::fflush(stdout) != 0) code = 72;
        _exit(code);
    }
    int status = 0;
    waitpid(child, &status, 0);
    Ended ended;
    ended.code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    if (pread(count, &ended.allocations, sizeof ended.allocations, 0) < 0) ended.allocations = 0;
    close(count);
    ended.out = contents(out);
    ended.err = contents(err);
    return ended;
}

long tried = 0, failed = 0, faults = 0;
long part = 0, parts = 1;  ///< of what is to be tried

void fault(const Scenario& scenario, const char* allocator, long n, bool for_good, const std::string& what) {
    ++faults;
    std::fprintf(stderr, "%s, allocation %ld of %s%s: %s\n", scenario.name, n, allocator,
                 for_good ? " and all after it" : "", what.c_str());
}

void try_all(const Scenario& scenario, Failing& which, const char* allocator, long samples, bool warm) {
    const Ended whole = attempt(scenario, which, never, false, warm);
    if (whole.code != 0)
        return fault(scenario, allocator, -1, false,
                     "without a failure: code " + std::to_string(whole.code) + " " + whole.err);
    const long step = samples == 0 ? 1 : std::max(1L, whole.allocations / samples);
    for (const bool for_good : {false, true}) {
        for (long n = part * step; n < whole.allocations; n += parts * step) {
            const Ended ended = attempt(scenario, which, n, for_good, warm);
            ++tried;
            if (ended.code == 0) {
                if (ended.out != whole.out)
                    fault(scenario, allocator, n, for_good, "success, but not the whole result");
            } else if (ended.code == 1) {
                ++failed;
                if (ended.err.empty() && ended.out.find("not enough memory") == std::string::npos &&
                    scenario.script == nullptr)
                    fault(scenario, allocator, n, for_good, "no word");
            } else {
                fault(scenario, allocator, n, for_good,
                      "ended with " + std::to_string(ended.code) + ": " + ended.err);
            }
        }
    }
    std::printf("%-36s %-13s %7ld allocations\n", scenario.name, allocator, whole.allocations);
}

}  // namespace

int main(int argc, char** argv) {
    const long before_main = of_new.made;
    for (const Scenario& scenario : scenarios) {
        if (argc < 3 || scenario.name != std::string(argv[1])) continue;
        of_new.arm(std::atol(argv[2]), true);
        return run(scenario);
    }
    const long samples = argc > 1 ? std::atol(argv[1]) : 40;
    if (argc > 3) part = std::atol(argv[2]), parts = std::max(1L, std::atol(argv[3]));
    // With a worker (WGRUN_WORKER) there is a driver that tests/worker makes up.
    const bool worker = std::getenv("WGRUN_WORKER") != nullptr;
    // 5400 once. Those of CLI11 are the tool's alone: it is included in its files, and in this one.
    const long ours = before_main - of_cli11 * (WGRUN_CLI11_FILES + 1);
    std::printf("allocations before main: %ld, and %ld for CLI11 in each of %d files\n", ours, of_cli11,
                WGRUN_CLI11_FILES + 1);
    if (ours > most_before_main) {
        std::fprintf(stderr, "%ld allocations before main, %ld at most\n", ours, most_before_main);
        ++faults;
    }
    for (const Scenario& scenario : scenarios) {
        if (argc > 4 && std::find(argv + 4, argv + argc, std::string(scenario.name)) == argv + argc) continue;
        const bool wants_worker = scenario.script == in_a_worker;
        if (wants_worker && !worker) continue;
        if (wants_worker)
            unsetenv("WGRUN_CUDA");
        else
            setenv("WGRUN_CUDA", "off", 1);
        try_all(scenario, of_new, "operator new", samples, false);
        if (scenario.script == nullptr) continue;
        // A worker process lives on, or does not: what it takes is no leak.
        if (!wants_worker) try_all(scenario, of_new, "new, warm", samples, true);
        try_all(scenario, of_lua, "Lua's", samples, false);
    }
    std::printf("%ld runs, %ld of them ended by an error, %ld faults\n", tried, failed, faults);
    return faults == 0 ? 0 : 1;
}
