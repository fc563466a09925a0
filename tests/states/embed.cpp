// wgrun inside another program's Lua states.
#include "bindings/lua/interrupt.hpp"
#include "bindings/lua/session.hpp"
#include "tests/catch.hpp"
#include "tests/states/state.hpp"
#include "wgrun/lua.hpp"

using wgrun::test::State;

TEST_CASE("the module opens in a bare state, and sets no global") {
    State state;
    luaL_requiref(state, "_G", luaopen_base, 0);
    luaL_requiref(state, "package", luaopen_package, 1);
    luaL_requiref(state, "string", luaopen_string, 1);
    luaL_requiref(state, "table", luaopen_table, 1);
    luaL_requiref(state, "math", luaopen_math, 1);
    lua_settop(state, 0);
    luaL_requiref(state, "wgrun", luaopen_wgrun, 0);
    REQUIRE(lua_type(state, -1) == LUA_TTABLE);
    lua_getglobal(state, "wgrun");
    CHECK(lua_isnil(state, -1));
    CHECK(state.run("return require('wgrun').layout('(8,64):(64,1)')(1)") == "64");
}

TEST_CASE("states are independent of each other") {
    State one;
    State two;
    one.open();
    two.open();
    wgrun::lua::session(one).mode = wgrun::lua::Mode::trace;
    CHECK(wgrun::lua::session(two).mode == wgrun::lua::Mode::run);
    CHECK(one.run("t = require('wgrun').zeros('f32', 4) return #t") == "4");
    CHECK(two.run("return t") == "nil");
}

TEST_CASE("the module can be opened twice in a state") {
    State state;
    state.open();
    CHECK(state.run("first = require('wgrun').layout '8:1' package.loaded.wgrun = nil "
                    "second = require('wgrun').layout '8:1' return #first + #second") == "16");
}

TEST_CASE("engine errors arrive as error objects, thousands of them, without a leak") {
    State state;
    state.open();
    CHECK(state.run("local wg = require 'wgrun' "
                    "for i = 1, 3000 do "
                    "  assert(not pcall(wg.layout, '((')) "
                    "  assert(not pcall(wg.tile, {dtype = 'bf16', mn = 7, k = 64})) "
                    "  assert(not pcall(wg.composition, wg.layout '(6,2):(8,2)', {wg.layout '4:1', 'x'})) "
                    "  assert(wg.load('no such file') == nil) "
                    "end return 'good'") == "good");
}

TEST_CASE("a Lua error in the middle of reading arguments leaks nothing") {
    State state;
    state.open();
    // The list is read in part before the bad entry comes.
    CHECK(
        state.run("local wg = require 'wgrun' local list = {} "
                  "for i = 1, 4000 do list[i] = wg.layout '4:1' end list[4000] = {} "
                  "for i = 1, 20 do assert(not pcall(wg.zipped_divide, list[1], list)) end return 'good'") ==
        "good");
}

TEST_CASE("an error in a coroutine or below a kernel's function unwinds cleanly") {
    State state;
    state.open();
    CHECK(state.run(
              "local wg = require 'wgrun' "
              "for i = 1, 200 do "
              "  local co = coroutine.wrap(function() "
              "    wg.kernel('k', {threads = 128}, function(k) k:regs('f32', 8) coroutine.yield() end) end) "
              "  pcall(co) "
              "  local good, e = pcall(wg.kernel, 'k', {threads = 128}, function(k) error 'stop' end) "
              "  assert(not good and e:find 'stop') "
              "end return 'good'") == "good");
}

TEST_CASE("the stop flag ends a loop, also in a coroutine, and the state lives on") {
    State state;
    state.open();
    wgrun::lua::install_interrupt(state);
    REQUIRE(wgrun::lua::interrupt());
    CHECK_FALSE(wgrun::lua::interrupt());
    CHECK(state.run("while true do end").find("interrupted") != std::string::npos);
    CHECK(
        state
            .run("coroutine.wrap(function() while true do pcall(function() while true do end end) end end)()")
            .find("interrupted") != std::string::npos);
    wgrun::lua::session(state).stop = false;
    CHECK(state.run("local n = 0 for i = 1, 100000 do n = n + i end return n") == "5000050000");
    wgrun::lua::forget_interrupt();
    CHECK_FALSE(wgrun::lua::interrupt());
}

TEST_CASE("closing the state frees what scripts left open") {
    State state;
    state.open();
    CHECK(state.run("keep = {} for i = 1, 10 do keep[i] = require('wgrun').zeros('f32', {64, 64}) end "
                    "return #keep") == "10");
}

TEST_CASE("coroutines work as before once interrupts are prepared") {
    State state;
    state.open();
    wgrun::lua::install_interrupt(state);
    wgrun::lua::install_interrupt(state);
    CHECK(state.run("local t = {} for a, b in coroutine.wrap(function(x) "
                    "  for i = 1, 3 do coroutine.yield(i, x) end end), 7 do t[#t + 1] = a .. tostring(b) end "
                    "return table.concat(t, ' ')") == "17 27 37");
    CHECK(state.run("local co = coroutine.create(function(...) local a = coroutine.yield(select('#', ...)) "
                    "  error({a}) end) "
                    "local r = {coroutine.resume(co, nil, nil)} local s = {coroutine.resume(co, 'x')} "
                    "return r[2] .. tostring(s[1]) .. s[2][1] .. coroutine.status(co)") == "2falsexdead");
    CHECK(state.run("local w = coroutine.wrap(function() error('inside', 0) end) "
                    "local good, e = pcall(w) return e") == "inside");
    CHECK(state.run("return select(2, pcall(coroutine.resume, 1))").find("coroutine expected") !=
          std::string::npos);
    wgrun::lua::forget_interrupt();
}
