// Locals of the top level last into later chunks, and are variables there and no copies.
#include "bindings/repl/locals.hpp"

#include "bindings/repl/tokens.hpp"
#include "tests/unit/repl/session.hpp"

using wgrun::repl::tokens_of;
using wgrun::test::Script;
using wgrun::test::session;

namespace {

// What the lines print, when none of them is wrong.
std::string out_of(std::deque<std::string> lines) {
    const Script s = session(std::move(lines));
    CHECK(s.err.empty());
    return s.out;
}

}  // namespace

TEST_CASE("a local lasts") {
    CHECK(out_of({"local x = 1", "x", "x = x + 1", "x", "local a, b, c = 1, 2", "a, b, c"}) ==
          "1\n2\n1\t2\tnil\n");
    CHECK(out_of({"local x", "x = 5", "x", "_G.x"}) == "5\nnil\n");
}

TEST_CASE("closures of all chunks share the variable") {
    CHECK(out_of({"local n = 0; function inc() n = n + 1 return n end", "inc()", "n", "n = 10", "inc()",
                  "local function double() n = n * 2 end", "double()", "n, inc()"}) == "1\n1\n11\n22\t23\n");
    CHECK(out_of({"local function fact(n) return n < 2 and 1 or n * fact(n - 1) end", "fact(5)"}) == "120\n");
}

TEST_CASE("a later local hides an earlier one, which its closures keep") {
    CHECK(out_of({"local x = 1; function old() return x end", "local x = 2", "x, old()", "x = 3",
                  "x, old()"}) == "2\t1\n3\t1\n");
    CHECK(out_of({"local x = 1 local function first() return x end local x = 2", "x, first()"}) == "2\t1\n");
    CHECK(out_of({"local x = 1", "local x = x + 1", "x", "local y = function() return x end; local x = 7",
                  "x, y()"}) == "2\n7\t2\n");
    CHECK(out_of({"local x, x = 1, 2", "x"}) == "2\n");
}

TEST_CASE("a constant stays one") {
    const Script s =
        session({"local c <const>, v = 42, 1", "c", "c = 5", "local d <const>, e <const> = {c}, c + v",
                 "d[1], e", "function set() d = 1 end", "local c = 6", "c = 7", "c"});
    CHECK(s.out == "42\n42\t43\n7\n");
    CHECK(s.err ==
          "[3]:1: attempt to assign to const variable 'c'\n"
          "[6]:1: attempt to assign to const variable 'd'\n");
}

TEST_CASE("<close> keeps its promise at the end of the chunk, and the name ends with it") {
    CHECK(
        out_of(
            {"local t <close> = setmetatable({}, {__close = function() print 'closed' end}) seen = t ~= nil",
             "t, seen"}) == "nil\ttrue\n");
    CHECK(out_of({"local t = 1", "local t <close> = nil", "t"}) == "1\n");
}

TEST_CASE("locals of blocks end with them") {
    const Script s =
        session({"do local inner = 1 end", "inner", "for i = 1, 2 do local z = i end", "i, z",
                 "while true do local w = 1 break end", "w", "if true then local q = 1 end", "q",
                 "repeat local r = 1 until r == 1", "r", "f = function() local p = 1 return p end", "p",
                 "t = { function() local u = 1 end }", "u"});
    CHECK(s.out == "nil\nnil\tnil\nnil\nnil\nnil\nnil\nnil\n");
    CHECK(s.err.empty());
}

TEST_CASE("what came before an error, a return or a jump lasts") {
    const Script s =
        session({"local a = 1; error 'bad'", "a", "local b = 2 error 'bad'", "b", "local c = error 'bad'",
                 "c", "local d = 3 if d then return 'early' end", "d", "local e = 4 return e", "e",
                 "goto done; local f = 5; ::done::", "f", "local g = 6 ::last::", "g"});
    CHECK(s.out == "1\n2\nnil\nearly\n3\n4\n4\nnil\n6\n");
}

TEST_CASE("a jump back makes new variables") {
    CHECK(out_of({"local i, fs = 0, {} ::top:: i = i + 1 local v = i fs[i] = function() return v end "
                  "if i < 3 then goto top end",
                  "i, v, fs[1](), fs[3]()", "v = 9", "fs[3](), fs[1]()"}) == "3\t3\t1\t3\n9\t1\n");
}

TEST_CASE("statements that follow without a semicolon are found") {
    CHECK(out_of({"local f = print local g = f g 'hidden'", "g == print"}) == "true\n");
    CHECK(out_of({"local t = {1}\nt[1] = 2\nlocal s = t[1]", "s"}) == "2\n");
    CHECK(out_of({"local s = 'a' x = s", "s, x"}) == "a\ta\n");
    CHECK(out_of({"local x = 1 -- a comment", "x -- another"}) == "1\n");
    CHECK(out_of({"local x = 1 --[[ long\ncomment ]]", "x"}) == "1\n");
    CHECK(out_of({"local x = 1;;;", "x"}) == "1\n");
    CHECK(out_of({"local x = ... ; local y = {...}", "x, #y"}) == "nil\t0\n");
    CHECK(out_of({"local id = function(...) return ... end\n(id)(1)", "id(5)"}) == "5\n");
}

TEST_CASE("lines of errors stay where they are") {
    const Script s = session({"local x = 1\nlocal y = 2\nlocal z = x + nil", "x, y"});
    CHECK(s.err == "[1]:3: attempt to perform arithmetic on a nil value\n");
    CHECK(s.out == "1\t2\n");
}

TEST_CASE("a session has more locals than a function of Lua may") {
    std::deque<std::string> lines;
    for (int i = 0; i < 300; ++i) lines.push_back("local v" + std::to_string(i) + " = " + std::to_string(i));
    lines.push_back("v0 + v150 + v299");
    CHECK(out_of(std::move(lines)) == "449\n");
    std::string many = "local v0 = 0";
    for (int i = 1; i < 200; ++i) many += "\nlocal v" + std::to_string(i) + " = " + std::to_string(i);
    CHECK(out_of({many, "v0, v199"}) == "0\t199\n");
}

TEST_CASE("locals of coroutines and of debug.sethook are of no concern") {
    CHECK(out_of({"local co = coroutine.wrap(function() local h = 1 coroutine.yield(h) end)", "co()", "h"}) ==
          "1\nnil\n");
}

TEST_CASE("tokens of any text") {
    const auto kinds = [](std::string_view text) {
        std::string out;
        for (const auto& token : tokens_of(text)) {
            out += "nk0scy"[static_cast<int>(token.kind)];
            if (!token.closed) out += '!';
        }
        return out;
    };
    CHECK(tokens_of("").empty());
    CHECK(kinds("local x = 0x1p-3 .. 'a\\'b'") == "kny0ys");
    CHECK(kinds("a.b:c") == "nynyn");
    CHECK(kinds("\"open") == "s!");
    CHECK(kinds("[==[ ]] ") == "s!");
    CHECK(kinds("[==[ ]] ]==] x") == "sn");
    CHECK(kinds("--[[ open") == "c!");
    CHECK(kinds("-- line\nx") == "cn");
    CHECK(kinds("1e+5..2") == "0");  // one malformed number, as for Lua
    CHECK(kinds("\xff\xfe$") == "yyy");
}
