#include "bindings/repl/repl.hpp"

#include <deque>

#include "bindings/lua/interrupt.hpp"
#include "wgrun/lua.hpp"
#include "tests/catch.hpp"
#include "tests/states/state.hpp"

using wgrun::repl::Console;
using wgrun::test::State;

namespace {

/// A console that is fed from a list; "^C" is an interrupt.
class Script : public Console {
  public:
    explicit Script(std::deque<std::string> lines) : lines_(std::move(lines)) {}

    Input read(std::string_view prompt, std::string& line) override {
        prompts += prompt;
        if (lines_.empty()) return Input::end;
        line = lines_.front();
        lines_.pop_front();
        return line == "^C" ? Input::interrupted : Input::line;
    }
    void write(std::string_view text) override { out += text; }
    void remark(std::string_view text) override { err += text; }

    std::string prompts, out, err;

  private:
    std::deque<std::string> lines_;
};

int run_loop(lua_State* L) {
    wgrun::repl::run(L, *static_cast<Console*>(lua_touserdata(L, 1)));
    return 0;
}

Script session(std::deque<std::string> lines) {
    State state;
    state.open();
    Script console(std::move(lines));
    lua_pushcfunction(state, run_loop);
    lua_pushlightuserdata(state, &console);
    REQUIRE(lua_pcall(state, 1, 0, 0) == LUA_OK);
    CHECK(lua_gettop(state) == 0);
    return console;
}

std::string shown(const char* expression) { return session({expression}).out; }

}  // namespace

TEST_CASE("expressions print, statements do not") {
    const Script s = session({"1 + 1", "x = 3", "x, x * 2", "", "   ", "nil", "print == nil"});
    CHECK(s.out == "2\n3\t6\nnil\nfalse\n");
    CHECK(s.err.empty());
}

TEST_CASE("an unfinished line goes on, with another prompt; an interrupt drops it") {
    const Script s =
        session({"function f(x)", "  return x + 1", "end", "f(1)", "for i = 1,", "^C", "'after'"});
    CHECK(s.out == "2\nafter\n");
    CHECK(s.err.empty());
    CHECK(s.prompts == "> >> >> > > >> > > ");
}

TEST_CASE("a long string may span lines") { CHECK(session({"#[[a", "b]]"}).out == "3\n"); }

TEST_CASE("errors are shown and the loop goes on") {
    const Script s = session({"x = = 1", "error 'bad'", "local y <close> = 1", "error()",
                              "setmetatable({}, {__tostring = function() error 'worse' end})", "'after'"});
    CHECK(s.out == "after\n");
    CHECK(s.err ==
          "stdin:1: unexpected symbol near '='\n"
          "stdin:1: bad\n"
          "a local ends with its line: leave `local` out to keep the value\n"
          "stdin:1: variable 'y' got a non-closable value\n"
          "nil\n"
          "stdin:1: worse\n");
}

TEST_CASE("errors of wgrun show message and fix") {
    const Script s = session({"wg = require 'wgrun'", "wg.tile{dtyp = 'bf16'}"});
    CHECK_THAT(s.err, ContainsSubstring("stdin:1: unknown option `dtyp` of wg.tile: did you mean `dtype`?"));
}

TEST_CASE("values are shown as a person reads them") {
    CHECK(shown("{}") == "{}\n");
    CHECK(shown("{1, 'two', {3, {4}}, x = 5, ['a b'] = 6}").find("{1, \"two\", {3, {4}}, ") == 0);
    CHECK(shown("{['a b'] = 6}") == "{[\"a b\"] = 6}\n");
    CHECK(shown("{[1.5] = true}") == "{[1.5] = true}\n");
    CHECK(shown("{nil, 2}") == "{nil, 2}\n");
    CHECK(shown("{{{{{}}}}}") == "{{{{{...}}}}}\n");
    CHECK(shown("'text'") == "text\n");
    CHECK(shown("require('wgrun').layout '(8,64):(64,1)'") == "(8,64):(64,1)\n");
    CHECK(shown("{require('wgrun').layout '8:1'}") == "{8:1}\n");
}

TEST_CASE("large and endless tables are cut") {
    CHECK_THAT(shown("(function() local t = {} for i = 1, 100 do t[i] = i end return t end)()"),
               ContainsSubstring("24, ... 76 more}"));
    CHECK_THAT(shown("(function() local t = {} for i = 1, 100 do t['k' .. i] = i end return t end)()"),
               ContainsSubstring(", ... 76 more}"));
    CHECK_THAT(shown("(function() local t = {} t.t = t return t end)()"), ContainsSubstring("{...}"));
}

TEST_CASE("more results than the stack has room for") {
    const Script s = session({"table.unpack({}, 1, 150000)", "'after'"});
    CHECK_THAT(s.out, ContainsSubstring("after\n"));
}
