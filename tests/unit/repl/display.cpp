// Values as a person reads them.
#include "tests/unit/repl/session.hpp"

using wgrun::test::session;
using wgrun::test::shown;

TEST_CASE("values are shown as a person reads them") {
    CHECK(shown("{}") == "{}\n");
    CHECK(shown("{1, 'two', {3, {4}}, x = 5, ['a b'] = 6}") ==
          "{1, \"two\", {3, {4}}, [\"a b\"] = 6, x = 5}\n");
    CHECK(shown("{[1.5] = true, [-1] = 1, [true] = 2, b = 3, a = 4}") ==
          "{[-1] = 1, [1.5] = true, a = 4, b = 3, [true] = 2}\n");
    CHECK(shown("{nil, 2}") == "{nil, 2}\n");
    CHECK(shown("{{{{{}}}}}") == "{{{{{...}}}}}\n");
    CHECK(shown("'text'") == "text\n");
    CHECK(shown("{'a\\n\"b'}") == "{\"a\\n\\\"b\"}\n");
    CHECK(shown("{'\\27[2J\\0'}") == "{\"\\x1b[2J\\x00\"}\n");
    CHECK(shown("{print}") == "{function}\n");
    CHECK(shown("{wg.layout '8:1'}") == "{8:1}\n");
}

TEST_CASE("large and endless tables are cut") {
    CHECK_THAT(shown("(function() local t = {} for i = 1, 100 do t[i] = i end return t end)()"),
               ContainsSubstring("21, 22,\n  23, 24,\n  ... 76 more\n}\n"));
    CHECK_THAT(shown("(function() local t = {} for i = 1, 100 do t['k' .. i] = i end return t end)()"),
               ContainsSubstring("... 76 more"));
    CHECK(shown("(function() local t = {} t.t = t return t end)()") == "{t = <cycle>}\n");
    CHECK(shown("(function() local a = {} return {a, a} end)()") == "{{}, {}}\n");  // twice is no cycle
    CHECK_THAT(shown("{('x'):rep(1000)}"), ContainsSubstring("\"... (1000 bytes)\n}"));
    CHECK(shown("{('x'):rep(60), ('y'):rep(60), 1, 2}") ==
          "{\n  \"" + std::string(60, 'x') + "\",\n  \"" + std::string(60, 'y') + "\", 1, 2\n}\n");
}

TEST_CASE("a table that does not fit its line has a line for each entry") {
    CHECK(shown("{name = ('n'):rep(50), other = {1, 2, ('o'):rep(50)}, last = {a = 1}}") ==
          "{\n"
          "  last = {a = 1},\n"
          "  name = \"" +
              std::string(50, 'n') +
              "\",\n"
              "  other = {1, 2, \"" +
              std::string(50, 'o') +
              "\"}\n"
              "}\n");
}

TEST_CASE("layouts, tiles and fragments are grids that fit the line") {
    CHECK(shown("wg.layout '(4,3):(3,1)'") ==
          "(4,3):(3,1), mode 0 down, mode 1 to the right\n"
          "   0  1  2\n"
          "0  0  1  2\n"
          "1  3  4  5\n"
          "2  6  7  8\n"
          "3  9 10 11\n");
    const std::string wide = shown("wg.layout '(64,64):(64,1)'");
    CHECK_THAT(wide, ContainsSubstring("of 64 x 64: `:print()` shows all\n"));
    for (std::size_t at = 0; at < wide.size(); at = wide.find('\n', at) + 1)
        CHECK(wide.find('\n', at) - at <= 80);
    // Large ones are overviews; a long title does not make the grid narrow.
    CHECK_THAT(shown("wg.tile { dtype = 'bf16', mn = 128, k = 128, major = 'K', swizzle = '128B' }"),
               ContainsSubstring("\n   8-15  1024  1040 ") && ContainsSubstring("... 16 x 12 of 16 x 16"));
    CHECK_THAT(shown("wg.layout 'Swizzle<3,4,3> o ((64,2),(64,16)):((64,4096),(1,8192))'"),
               ContainsSubstring("lowest and highest offset of 8x32 coordinates, mode 0 down") &&
                   ContainsSubstring(" 32 479   8192 8703 "));
    CHECK_THAT(shown("wg.mma_picture { shape = 'm16n8k8' }"), ContainsSubstring("\n15 28:2 28:3 29:2"));
    CHECK(shown("wg.layout '(65536,65536):(65536,1)'") == "(65536,65536):(65536,1)\n");
    CHECK_THAT(shown("wg.tile { dtype = 'bf16', mn = 64, k = 64, major = 'K', swizzle = '128B' }"),
               StartsWith("bf16 64x64 K-major swizzle 128B: element offsets, mn down, k to the right\n") &&
                   ContainsSubstring("\n 1   72   73 "));
}

TEST_CASE("tensors are matrices with shape and dtype") {
    CHECK(shown("wg.tensor('s32', {2, 3}, {1, 2, 3, -4, 5, 6})") ==
          "s32 {2, 3}\n"
          "   1  2  3\n"
          "  -4  5  6\n");
    CHECK(shown("wg.zeros('f32', {})") == "f32 {}\n  0\n");
    CHECK(shown("wg.zeros('f32', {0, 4})") == "f32 {0, 4}\n");
    CHECK(shown("wg.tensor('f32', {3}, {0.5, -1/0, 1e10})") == "f32 {3}\n    0.5  -inf 1e+10\n");
    CHECK(shown("wg.zeros('u8', {9, 1})").find("...") == std::string::npos);
    CHECK_THAT(shown("wg.zeros('u8', {10, 40})"),
               StartsWith("u8 {10, 40}\n"
                          "    0   0   0   0   0   0   0   0 ...   0   0   0   0   0   0   0   0\n"));
    CHECK_THAT(shown("wg.zeros('f32', {5, 2, 2})"),
               StartsWith("f32 {5, 2, 2}\n[0, :, :]\n  0 0\n  0 0\n[1, :, :]\n") &&
                   ContainsSubstring("... 2 more matrices\n"));
}

TEST_CASE("a kernel is a summary") {
    CHECK(shown("wg.kernel('add', {threads = 64}, function(k) local A = k:param('A', 'const f32*') "
                "local s = k:shared{bytes = 1024, name = 'stage'} k:bar_sync(0) end)") ==
          "kernel add: 64 threads, 1024 bytes of shared memory\n"
          "  parameter  A      const f32*\n"
          "  shared     stage  1024 bytes at 0\n"
          "  3 instructions\n");
}

TEST_CASE("findings are what the command line prints") {
    const std::string text = shown(
        "wg.kernel('bad', {threads = 128}, function(k) local d = k:regs('f32', 8) k:wgmma_commit_group() "
        "k:wgmma_wait_group(0) k:if_(k:setp_eq_u32(k:special 'tid.x', 0), function() k:bar_sync(0) end) "
        "k:bar_sync(1) end):check()");
    CHECK_THAT(text, ContainsSubstring("]:1: error: ") && ContainsSubstring("[WG-"));
    CHECK_THAT(shown("select(2, pcall(wg.tile, {dtyp = 'bf16'}))"),
               ContainsSubstring("did you mean `dtype`?"));
    CHECK(shown("{{message = 'm', severity = 'no'}, 5}").find("{{message = \"m\"") == 0);
}
