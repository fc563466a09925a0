// Where calls go into a script, how they are written there, and the diff.
#include "bindings/cli/script_text.hpp"

#include "bindings/cli/unified_diff.hpp"

#include "tests/catch.hpp"

using namespace wgrun;
using cli::ScriptText;

namespace {

Change call(int line, bool after = false, std::vector<std::string> calls = {"wgmma_fence()"}) {
    Change change{Where::at("k.lua", line), after ? Change::Kind::after : Change::Kind::before};
    for (std::string& lua : calls) change.lines.push_back({std::move(lua), {}});
    return change;
}

/// "LINE: TEXT" of where the call goes.
std::string placed(const char* script, int line, bool after = false) {
    const Change out = ScriptText(script).resolved(call(line, after));
    return std::to_string(out.where.line) + ": " + out.lines.at(0).lua;
}

}  // namespace

TEST_CASE("a call takes the indentation of its statement and the name that the kernel has there") {
    const char* script =
        "local kernel = wg.kernel('x', {}, function(b)\n"
        "  b:mov(x, 0)\n"
        "\tself.k:wgmma_mma_async(acc, da, db)\n"
        "  pipe:wait(cursor)\n"
        "end)\n";
    CHECK(placed(script, 2) == "2:   b:wgmma_fence()");
    CHECK(placed(script, 2, true) == "3:   b:wgmma_fence()");
    CHECK(placed(script, 3) == "3: \tself.k:wgmma_fence()");
    CHECK(placed(script, 4, true) == "5:   self.k:wgmma_fence()");
    CHECK(placed("wg.kernel('x', {}, function(body)\n  pipe:wait(c)\nend)\n", 2) ==
          "2:   body:wgmma_fence()");
    CHECK(placed("pipe:wait(c)\nq:bar_sync(0)\n", 1) == "1: q:wgmma_fence()");
    CHECK(placed("pipe:wait(c)\n", 1) == "1: k:wgmma_fence()");
}

TEST_CASE("a call goes in front of or behind the whole statement") {
    const char* script =
        "k:loop(n, function(i)\n"     // 1
        "  k:wgmma_mma_async(acc,\n"  // 2
        "    da, db,\n"               // 3
        "    { n = 64 })\n"           // 4
        "  -- what follows\n"         // 5
        "  local x =\n"               // 6
        "    k:add(a, b)\n"           // 7
        "  k:if_(p, function()\n"     // 8
        "    k:mov(a, b)\n"           // 9
        "  end)\n"                    // 10
        "end)\n"                      // 11
        "k:bar_sync(0)";              // 12
    CHECK(placed(script, 2, true) == "5:   k:wgmma_fence()");
    CHECK(placed(script, 3) == "2:   k:wgmma_fence()");
    CHECK(placed(script, 3, true) == "5:   k:wgmma_fence()");
    CHECK(placed(script, 7) == "6:   k:wgmma_fence()");
    CHECK(placed(script, 7, true) == "8:   k:wgmma_fence()");
    CHECK(placed(script, 8, true) == "11:   k:wgmma_fence()");
    CHECK(placed(script, 9, true) == "10:     k:wgmma_fence()");
    CHECK(placed(script, 1, true) == "12: k:wgmma_fence()");
    CHECK(placed(script, 12, true) == "13: k:wgmma_fence()");
    CHECK(placed(script, 99) == "12: k:wgmma_fence()");
}

TEST_CASE("a call may be taken out of the blocks around its statement") {
    const char* script =
        "local function make()\n"           // 1
        "  k:if_(first, function()\n"       // 2
        "    for s = 0, 3 do\n"             // 3
        "      k:mbarrier_init(full, 1)\n"  // 4
        "    end\n"                         // 5
        "  end)\n"                          // 6
        "  k:mov(a, b)\n"                   // 7
        "end\n";
    const auto out = [&](int blocks, bool after) {
        const Change made = ScriptText(script).resolved(call(4, after), blocks);
        return std::to_string(made.where.line) + ": " + made.lines.at(0).lua;
    };
    CHECK(out(1, true) == "6:     k:wgmma_fence()");
    CHECK(out(1, false) == "3:     k:wgmma_fence()");
    CHECK(out(2, true) == "7:   k:wgmma_fence()");
    CHECK(out(2, false) == "2:   k:wgmma_fence()");
    CHECK(out(3, false) == "1: k:wgmma_fence()");
    CHECK(out(9, false) == "1: k:wgmma_fence()");
}

TEST_CASE("words in strings and comments open no block") {
    const char* script =
        "#!/usr/bin/env wgrun\n"
        "local s = \"function ( { \\\" do\" -- if then (\n"
        "--[==[ function\n"
        "do ]] ( ]==]\n"
        "local t = [[\n"
        "k:mov(x, function\n"
        "]]\n"
        "k:bar_sync(0)\n"
        "k:mov(a, b)\n";
    CHECK(placed(script, 8) == "8: k:wgmma_fence()");
    CHECK(placed(script, 8, true) == "9: k:wgmma_fence()");
    CHECK(placed(script, 6) == "5: k:wgmma_fence()");
    CHECK(placed(script, 5, true) == "8: k:wgmma_fence()");
}

TEST_CASE("repeat, while, for, if and else are blocks") {
    const char* script =
        "for i = 1, 3 do k:mov(a, b) end\n"
        "while x do\n"
        "  if y then\n"
        "    k:mov(a, b)\n"
        "  else\n"
        "    k:mov(c, d)\n"
        "  end\n"
        "end\n"
        "repeat k:mov(a, b) until z\n"
        "k:bar_sync(0)\n";
    CHECK(placed(script, 1, true) == "2: k:wgmma_fence()");
    CHECK(placed(script, 4, true) == "5:     k:wgmma_fence()");
    CHECK(placed(script, 6, true) == "7:     k:wgmma_fence()");
    CHECK(placed(script, 2, true) == "9: k:wgmma_fence()");
    CHECK(placed(script, 9, true) == "10: k:wgmma_fence()");
}

TEST_CASE("several insertions at once keep their lines and their order") {
    const ScriptText script("  k:mov(a, b)\n  k:mov(c, d)\n");
    CHECK(script.with({call(2, true, {"bar_sync(0)"}), call(1, true, {"one()", "two()"}), call(1)}) ==
          "  k:wgmma_fence()\n  k:mov(a, b)\n  k:one()\n  k:two()\n  k:mov(c, d)\n  k:bar_sync(0)\n");
    CHECK(script.with({}) == script.text());
    CHECK(ScriptText("k:mov(a, b)").with({call(1)}) == "k:wgmma_fence()\nk:mov(a, b)");
    CHECK(ScriptText("k:mov(a, b)").with({call(1, true)}) == "k:mov(a, b)\nk:wgmma_fence()\n");
    CHECK(ScriptText("").with({call(1)}).empty());
    CHECK(ScriptText("1\n2\n3").without(2) == "1\n3");
    CHECK(ScriptText("1\n2\n3").without(3) == "1\n2\n");
    CHECK(ScriptText("1\n2\n").without(1) == "2\n");
}

TEST_CASE("texts that are no Lua do no harm") {
    for (const char* text : {"\n\n\n", "end end ) ] }", "((((\n((((\n", "\"", "[==[", "--[[", "k:", ":",
                             "function(", "kernel function(", "\\", "'a\\"})
        for (int line : {-1, 0, 1, 2, 1000})
            for (bool after : {false, true}) CHECK_NOTHROW(ScriptText(text).with({call(line, after)}));
}

TEST_CASE("a unified diff of what was inserted") {
    const std::string before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
    CHECK(cli::unified_diff("f", before, "1\n2\n3\n4\n5\n+\n6\n7\n8\n9\n10\n11\n12\n") ==
          "--- f\n+++ f\n@@ -3,6 +3,7 @@\n 3\n 4\n 5\n++\n 6\n 7\n 8\n");
    CHECK(cli::unified_diff("f", before, "+\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n+\n") ==
          "--- f\n+++ f\n@@ -1,3 +1,4 @@\n++\n 1\n 2\n 3\n@@ -10,3 +11,4 @@\n 10\n 11\n 12\n++\n");
    // Two near each other are one hunk.
    CHECK(cli::unified_diff("f", before, "1\na\n2\n3\n4\nb\n5\n6\n7\n8\n9\n10\n11\n12\n") ==
          "--- f\n+++ f\n@@ -1,7 +1,9 @@\n 1\n+a\n 2\n 3\n 4\n+b\n 5\n 6\n 7\n");
}

TEST_CASE("an option gets another value where its statement gives it") {
    const char* script =
        "local a = k:shared{bytes=8, align=4, name='align=4'}\n"  // 1
        "local b = k:shared{\n"                                   // 2
        "  -- align = 4\n"                                        // 3
        "  bytes = 8, align = 4 }\n"                              // 4
        "local c = k:shared{bytes=8, align=n}\n";                 // 5
    const auto set = [](int line, const char* from = "4") {
        return Change{Where::at("k.lua", line), Change::Kind::option, {}, {"align", ".align"}, from, "8"};
    };
    const ScriptText text(script);
    const Change first = text.resolved(set(1));
    CHECK(first.kind == Change::Kind::line);
    CHECK(first.where.line == 1);
    CHECK(first.lines.at(0).lua == "local a = k:shared{bytes=8, align=8, name='align=4'}");
    CHECK(text.resolved(set(2)).where.line == 4);
    CHECK(text.resolved(set(2)).lines.at(0).lua == "  bytes = 8, align = 8 }");
    CHECK(text.resolved(set(3)).where.line == 4);
    CHECK(text.resolved(set(5)) == set(5));
    CHECK(text.resolved(set(1, "16")) == set(1, "16"));
    CHECK(text.with({set(5)}) == script);
    const std::string changed = text.with({set(2), call(2)});
    CHECK(changed.find("k:wgmma_fence()\nlocal b = k:shared{\n  -- align = 4\n  bytes = 8, align = 8 }\n") !=
          std::string::npos);
    for (const char* odd : {"", "\n", "align", "align =", "align = 4", "align =\n4"})
        for (int line : {-1, 0, 1, 9}) CHECK_NOTHROW(ScriptText(odd).with({set(line)}));
}

TEST_CASE("a unified diff of what was changed") {
    CHECK(cli::unified_diff("f", "1\n2\n3\n4\n5\n6\n", "1\n2\n3\nfour\n5\n6\n") ==
          "--- f\n+++ f\n@@ -1,6 +1,6 @@\n 1\n 2\n 3\n-4\n+four\n 5\n 6\n");
    CHECK(cli::unified_diff("f", "a\nb\n", "b\nc\n") == "--- f\n+++ f\n@@ -1,2 +1,2 @@\n-a\n b\n+c\n");
    CHECK(cli::unified_diff("f", "a\n", "a\n") == "--- f\n+++ f\n");
}
