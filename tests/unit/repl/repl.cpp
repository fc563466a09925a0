#include "bindings/repl/repl.hpp"

#include "tests/unit/repl/session.hpp"

using wgrun::test::Script;
using wgrun::test::session;

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
    CHECK(s.prompts == "[1]> >> >> [2]> [3]> >> [3]> [4]> ");
}

TEST_CASE("several lines at once are one chunk") {
    const Script s = session({"local a = 1\nlocal b = a + 1\nfunction both()\n  return a, b\nend", "both()"});
    CHECK(s.out == "1\t2\n");
    CHECK(s.err.empty());
    CHECK(s.prompts == "[1]> [2]> [3]> ");
}

TEST_CASE("a long string may span lines") { CHECK(session({"#[[a", "b]]"}).out == "3\n"); }

TEST_CASE("errors are shown and the loop goes on") {
    const Script s = session({"x = = 1", "error 'bad'", "local y <close> = 1", "error()",
                              "a\nb = error 'third'", "\n\nerror 'third line'", "'after'"});
    CHECK(s.out == "after\n");
    CHECK(s.err ==
          "[1]:1: unexpected symbol near '='\n"
          "[2]:1: bad\n"
          "[3]:1: variable 'y' got a non-closable value\n"
          "(error object is a nil value)\n"
          "[5]:2: syntax error near 'b'\n"
          "[6]:3: third line\n");
}

TEST_CASE("errors of wgrun show message and fix") {
    const Script s = session({"wg = require 'wgrun'", "wg.tile{dtyp = 'bf16'}"});
    CHECK_THAT(s.err, ContainsSubstring("[2]:1: unknown option `dtyp` of wg.tile: did you mean `dtype`?"));
}

TEST_CASE("_ is the last result that is not nil") {
    const Script s = session({"6 * 7", "_ + 1", "nil", "print == 1, 5", "_", "x = 1", "_",
                              "setmetatable(_G, {__newindex = function() error 'strict' end})", "7", "_"});
    CHECK_THAT(s.out, StartsWith("42\n43\nnil\nfalse\t5\nfalse\nfalse\n"));
    CHECK(s.out.ends_with("7\n7\n"));
    CHECK(s.err.empty());
}

TEST_CASE("nothing that a value does ends the session") {
    const Script s = session({
        "setmetatable({}, {__tostring = function() error 'worse' end})",
        "setmetatable({}, {__tostring = function() return 1 end})",
        "setmetatable({}, {__name = 'named', __index = error, __len = error, __pairs = error})",
        "error(setmetatable({}, {__tostring = function() error 'worst' end}))",
        "setmetatable({}, {__gc = function() error 'late' end}) collectgarbage()",
        "function deep(n) return deep(n + 1) + 1 end deep(1)",
        "string.rep('x', 1 << 40)",
        "coroutine.wrap(function() error 'inside' end)()",
        "'after'",
    });
    CHECK(s.out.ends_with("after\n"));
    CHECK_THAT(s.out, ContainsSubstring("<error in __tostring: [1]:1: worse>"));
    CHECK_THAT(s.err, ContainsSubstring("stack overflow"));
    CHECK_THAT(s.err, ContainsSubstring("inside"));
    CHECK_THAT(s.err, ContainsSubstring("not enough memory") || ContainsSubstring("too large"));
}

TEST_CASE("more results than the stack has room for") {
    const Script s = session({"table.unpack({}, 1, 150000)", "'after'"});
    CHECK_THAT(s.out, ContainsSubstring("after\n"));
}

TEST_CASE("commands: help, time, backend, ptx, quit; an unknown one names its neighbour") {
    const Script s =
        session({".help", ".time 1 + 1", ".backend sim", ".backed", ".backend foo", "  .quit", "'never'"});
    CHECK_THAT(s.out, ContainsSubstring(".load FILE"));
    CHECK_THAT(s.out, ContainsSubstring("2\n") && ContainsSubstring(" ms\n") && ContainsSubstring("sim\n"));
    CHECK_THAT(s.err, ContainsSubstring("unknown command `.backed`: did you mean `.backend`?"));
    CHECK_THAT(s.err, ContainsSubstring("unknown backend `foo`"));
    CHECK_THAT(s.out, !ContainsSubstring("never"));
    const Script k =
        session({"wg = require 'wgrun'", "k = wg.kernel('empty', {}, function(k) k:bar_sync(0) end)",
                 ".ptx k", "k", ".ptx", ".ptx 5", ".ptx nothing.here"});
    const std::size_t first = k.out.find(".visible .entry empty");
    CHECK(first != std::string::npos);
    CHECK(k.out.find(".visible .entry empty", first + 1) != std::string::npos);
    CHECK_THAT(k.err, ContainsSubstring("`5` is no kernel") && ContainsSubstring("attempt to index"));
}

TEST_CASE("help, by name and by value") {
    const Script s = session({"wg = require 'wgrun'", "help 'wg.tile'", "help(wg.tile)", ".help wg.tile"});
    const std::size_t third = s.out.size() / 3;
    REQUIRE(third > 100);
    CHECK(s.out.substr(0, third) == s.out.substr(third, third));
    CHECK(s.out.substr(0, third) == s.out.substr(2 * third));
    CHECK_THAT(s.out, ContainsSubstring("swizzle"));
    CHECK_THAT(session({"wg = require 'wgrun'", "help(wg.zeros('f32', {1}))"}).out,
               ContainsSubstring("tensor:save"));
    CHECK_THAT(session({"require 'wgrun'", "help 'k:loop'"}).out, ContainsSubstring("k:loop"));
    CHECK_THAT(session({"require 'wgrun'", "help()"}).out, ContainsSubstring("wg.gemm"));
    CHECK_THAT(session({"require 'wgrun'", "help 'k:lop'"}).err, ContainsSubstring("did you mean k:loop"));
    CHECK_THAT(session({"require 'wgrun'", "help(5)"}).err, ContainsSubstring("expected a name"));
    CHECK(session({"help = 'mine'", "help"}).out == "mine\n");
}
