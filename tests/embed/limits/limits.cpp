// Each limit stops a script with its own words, and the program goes on; states with different limits have
// nothing to do with each other, on one thread and on two.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <lua.hpp>
#include <string>
#include <thread>
#include <wgrun/limits.hpp>
#include <wgrun/sandbox.hpp>
#include <wgrun/session.hpp>

using namespace std::chrono_literals;
using wgrun::lua::Limit;
using wgrun::lua::Limits;

namespace {

std::atomic<int> faults = 0;

void expect(bool good, const std::string& what) {
    if (good) return;
    std::printf("fault: %s\n", what.c_str());
    ++faults;
}

/// A restricted state, whose kernels run on the simulator.
class State {
  public:
    explicit State(const Limits& limits) : L_(luaL_newstate()) {
        lua_pushcfunction(L_, open);
        lua_call(L_, 0, 0);
        set(limits);
    }
    ~State() { lua_close(L_); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    void set(const Limits& limits) {
        lua_pushcfunction(L_, apply);
        lua_pushlightuserdata(L_, const_cast<Limits*>(&limits));
        lua_call(L_, 1, 0);
    }

    Limit reached() const { return wgrun::lua::limit_reached(L_); }

    /// The text of what the chunk returns, or of its error.
    std::string run(const std::string& chunk) {
        lua_settop(L_, 0);
        if (luaL_loadbufferx(L_, chunk.data(), chunk.size(), "=script", "t") == LUA_OK)
            lua_pcall(L_, 0, 1, 0);
        // Of an error object at the end of the time the message is a field; asking for it runs no Lua code.
        if (lua_type(L_, -1) == LUA_TTABLE) lua_getfield(L_, -1, "message");
        const char* text = lua_tostring(L_, -1);
        return text == nullptr ? "" : text;
    }

  private:
    static int open(lua_State* L) {
        wgrun::lua::open_restricted(L);
        wgrun::lua::session(L).backend = wgrun::Backend::sim;
        return 0;
    }
    static int apply(lua_State* L) {
        wgrun::lua::set_limits(L, *static_cast<const Limits*>(lua_touserdata(L, 1)));
        return 0;
    }

    lua_State* L_;
};

const std::string spin = R"(
    local wg = require "wgrun"
    local k = wg.kernel("spin", { threads = 32 }, function(k) k:loop(4000000000, function() end) end)
    k:run { grid = { 1, 1, 1 } }
)";

/// MIB of tensors at the same time.
std::string tensors(int mib) {
    return "local t = {} for i = 1, " + std::to_string(mib) +
           " do t[i] = require 'wgrun'.zeros('u8', { 1 << 20 }) end return 'good'";
}

/// A kernel of about `count` parts.
std::string program(int count) {
    return "require 'wgrun'.kernel('k', {}, function(k) for i = 1, " + std::to_string(count) +
           " do k:mov(1, { type = 'u32' }) end end) return 'good'";
}

void ends(const Limits& limits, const std::string& chunk, const std::string& words, Limit limit) {
    State state(limits);
    const std::string said = state.run(chunk);
    expect(said.find(words) != std::string::npos, words + ": the script ends with: " + said);
    expect(state.reached() == limit, words + ": limit_reached says " + std::to_string(int(state.reached())));
    state.set(limits);
    expect(state.reached() == Limit::none, words + ": limits set anew are not reached");
    const std::string after = state.run("collectgarbage() return require 'wgrun'.layout '8:2' (3)");
    expect(after == "6", words + ": the state goes on: " + after);
}

void each_limit_ends_a_script() {
    Limits memory, instructions, time, tensor, parts, steps;
    memory.memory = 20 << 20;
    instructions.instructions = 200'000;
    time.time = 300ms;
    tensor.tensors = 10 << 20;
    parts.program = 1000;
    steps.simulation_steps = 10'000;
    ends(memory, "local s = 'x' while true do s = s .. s end", "not enough memory", Limit::memory);
    ends(instructions, "while true do pcall(function() while true do end end) end",
         "the script has executed more than 200000 instructions", Limit::instructions);
    ends(time, "while true do end", "the script has run for more than 0.3 s", Limit::time);
    ends(time, "while true do coroutine.wrap(function() pcall(function() while true do end end) end)() end",
         "the script has run for more than 0.3 s", Limit::time);
    ends(time, spin, "the script has run for more than 0.3 s", Limit::time);
    ends(time, "while true do pcall(function() " + spin + " end) end",
         "the script has run for more than 0.3 s", Limit::time);
    ends(tensor, tensors(11), "tensors may use 10 MiB, of which 10 MiB are in use", Limit::none);
    ends(tensor, "local t = require 'wgrun'.zeros('u8', { 6 << 20 }) return t:copy()",
         "tensors may use 10 MiB, of which 6 MiB are in use", Limit::none);
    ends(tensor, "local t = require 'wgrun'.zeros('u8', { 6 << 20 }) return t:to 'gpu'",
         "tensors may use 10 MiB, of which 6 MiB are in use", Limit::none);
    ends(parts, program(2000), "the kernel has more than 1000 instructions, blocks and registers",
         Limit::none);
    ends(steps, spin, "kernel spin took more than 10000 steps on the simulator", Limit::none);
    // What a restricted script may take unless the host says otherwise.
    const Limits usual = wgrun::lua::restricted_limits();
    expect(usual.memory > 0 && usual.time > 0ms && usual.tensors > 0 && usual.program > 0,
           "the usual limits");
    ends(usual, "return io.open 'x'", "attempt to index a nil value (global 'io')", Limit::none);
    ends(usual, "return require 'wgrun'.load 't.npy'", "wg.load is not for restricted scripts", Limit::none);
    ends(usual, "setmetatable({}, { __gc = print })", "cannot set finalizers (__gc)", Limit::none);
}

// Tensors that were there before still count, and those that went do not.
void limits_can_be_changed() {
    Limits small, large;
    small.tensors = 4 << 20;
    large.tensors = 8 << 20;
    State state(large);
    expect(state.run("keep = {} for i = 1, 6 do keep[i] = require 'wgrun'.zeros('u8', { 1 << 20 }) end "
                     "return 'good'") == "good",
           "six of eight");
    state.set(small);
    expect(state.run(tensors(1)).find("of which 6 MiB are in use") != std::string::npos,
           "six are more than four");
    expect(state.run("for i = 1, 6 do keep[i]:close() end return 'good'") == "good", "closing");
    expect(state.run(tensors(4)) == "good", "four of four");
    state.set({});
    expect(state.run(tensors(64)) == "good", "no limit any more");
}

// Two states with limits of their own, used in turn: what one says, or comes to, is nothing to the other.
void states_in_turn() {
    Limits small, large;
    small.tensors = 4 << 20;
    small.simulation_steps = 1000;
    small.program = 500;
    large.tensors = 64 << 20;
    large.simulation_steps = 10'000'000;
    large.program = 5000;
    const std::string loop = R"(
        local wg = require "wgrun"
        local k = wg.kernel("loop", { threads = 32 }, function(k) k:loop(1000, function() end) end)
        launch = launch or k:prepare { grid = { 1, 1, 1 } }
        launch:start()
        return 'good'
    )";
    State one(small), other(large);
    for (int i = 0; i < 3; ++i) {
        expect(one.run(tensors(5)).find("tensors may use 4 MiB") != std::string::npos, "tensors of the one");
        expect(other.run(tensors(40)) == "good", "tensors of the other");
        expect(one.run(loop).find("more than 1000 steps") != std::string::npos, "steps of the one");
        expect(other.run(loop) == "good", "steps of the other");
        expect(one.run(program(1000)).find("more than 500") != std::string::npos, "program of the one");
        expect(other.run(program(1000)) == "good", "program of the other");
    }
    Limits brief;
    brief.time = 100ms;
    State stopped(brief);
    expect(stopped.run("while true do end").find("0.1 s") != std::string::npos, "time of the third");
    expect(other.run("for i = 1, 100000 do end return 'good'") == "good", "the other has time");
    expect(stopped.run("for i = 1, 100000 do end return 'good'") != "good", "the third has none");
}

// The same on two threads at once.
void states_on_two_threads() {
    const auto work = [](int mib, std::uint64_t steps, std::chrono::milliseconds time) {
        Limits limits;
        limits.tensors = std::uint64_t(mib) << 20;
        limits.simulation_steps = steps;
        for (int i = 0; i < 5; ++i) {
            State state(limits);
            const std::string number = std::to_string(mib);
            expect(state.run(tensors(mib)) == "good", number + " MiB");
            expect(state.run(tensors(mib + 1)).find("may use " + number + " MiB") != std::string::npos,
                   number + " MiB and one more");
            expect(state.run(spin).find("more than " + std::to_string(steps) + " steps") != std::string::npos,
                   std::to_string(steps) + " steps");
            Limits brief;
            brief.time = time;
            const auto start = std::chrono::steady_clock::now();
            state.set(brief);  // the time begins here
            expect(state.run("while true do end").find("the script has run for more than") == 0, "time");
            expect(std::chrono::steady_clock::now() - start >= time, "the time of another state");
        }
    };
    std::jthread one(work, 3, 1000, 50ms), other(work, 9, 50'000, 200ms);
}

}  // namespace

int main() {
    each_limit_ends_a_script();
    limits_can_be_changed();
    states_in_turn();
    states_on_two_threads();
    std::printf("%d faults\n", faults.load());
    return faults == 0 ? 0 : 1;
}
