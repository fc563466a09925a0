// What may come next, and that asking runs nothing of the script.
#include <algorithm>

#include "tests/unit/repl/session.hpp"

using wgrun::test::Script;
using wgrun::test::session;

namespace {

std::vector<std::string> offered(std::deque<std::string> lines) {
    lines.push_front("wg = require 'wgrun'");
    return session(std::move(lines)).offered;
}

bool has(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("globals, locals and Lua's words") {
    CHECK(offered({"local kitten = 1", "kitchen = 2", "kit<Tab>"}) == Names{"kitchen", "kitten"});
    CHECK(offered({"func<Tab>"}) == Names{"function"});
    CHECK(offered({"local abc = 1 local abd = ab<Tab>"}) == Names{"abc", "abd"});
}

TEST_CASE("fields, and methods behind a colon") {
    CHECK(offered({"t = {alpha = 1, beta = print, ['not a name'] = 2}", "t.<Tab>"}) ==
          Names{"alpha", "beta"});
    CHECK(offered({"t = {alpha = 1, beta = print}", "t:<Tab>"}) == Names{"beta"});
    CHECK(offered({"local t = {u = {v = {one = 1, two = 2}}}", "x = 1 + t.u.v.o<Tab>"}) == Names{"one"});
    CHECK(offered({"math.fl<Tab>"}) == Names{"floor"});
    CHECK(has(offered({"s = 'text'", "s:<Tab>"}), "upper"));
    CHECK(has(offered({"wg.<Tab>"}), "tile"));
    CHECK(offered({"wg.til<Tab>"}).front() == "tile");
    const Names tensor = offered({"local D = wg.zeros('f32', {2})", "D:<Tab>"});
    CHECK((has(tensor, "save") && !has(tensor, "shape")));
    CHECK(has(offered({"local D = wg.zeros('f32', {2})", "D.<Tab>"}), "shape"));
    CHECK(has(offered({"t = setmetatable({}, {__index = {inherited = print}})", "t:<Tab>"}), "inherited"));
    CHECK(offered({"nothing.here.<Tab>"}).empty());
    CHECK(offered({"f().<Tab>"}).empty());
}

TEST_CASE("the builder of the kernel that is being typed") {
    const Names names = offered({"wg.kernel('x', {}, function(kk) kk:wgmma_<Tab>"});
    CHECK((has(names, "wgmma_fence") && has(names, "wgmma_wait_group")));
    CHECK(has(offered({"wg.kernel('x', {}, function(k)", "  k:copy_<Tab>"}), "copy_tile"));
    CHECK(offered({"other:wgmma_<Tab>"}).empty());
    // Forms, qualifier by qualifier, and only legal ones.
    const Names forms = offered({"wg.kernel('x', {}, function(k) k:ld_global_<Tab>"});
    CHECK((has(forms, "ld_global_v4") && has(forms, "ld_global_f32")));
    const Names vectors = offered({"wg.kernel('x', {}, function(k) k:ld_global_v4_<Tab>"});
    CHECK((has(vectors, "ld_global_v4_f32") && !has(vectors, "ld_global_v4_f64")));
    CHECK(offered({"wg.kernel('x', {}, function(k) k:ld_global_v4_f3<Tab>"}) == Names{"ld_global_v4_f32"});
    CHECK(offered({"wg.kernel('x', {}, function(k) k:ld_nowhere_<Tab>"}).empty());
}

TEST_CASE("what a name has just been given, and what a call gives") {
    CHECK(has(offered({"wg.kernel('x', {}, function(k) local a = k:shared({bytes = 16}) a.<Tab>"}), "bytes"));
    CHECK(has(offered({"wg.zeros('f32', {2}):<Tab>"}), "save"));
    CHECK(has(offered({"local t = wg.zeros('f32', {2}) t.<Tab>"}), "shape"));
    CHECK(has(offered({"local w = wg w.<Tab>"}), "tile"));
    CHECK(offered({"local a = a.b a.<Tab>"}).empty());
    CHECK(offered({"local a = b.x local b = a.y a.<Tab>"}).empty());  // no endless way
}

TEST_CASE("keys of options, with their types, but for those that are there") {
    const Names names = offered({"wg.tile { dtype = 'bf16', <Tab>"});
    CHECK((has(names, "swizzle = ") && !has(names, "dtype = ") && !has(names, "print")));
    CHECK(offered({"wg.tile { sw<Tab>"}) == Names{"swizzle = "});
    CHECK(has(offered({"wg.kernel('x', { <Tab>"}), "threads = "));
    CHECK(has(offered({"wg.kernel('x', {}, function(k) k:tensor_map('m', { <Tab>"}), "box = "));
    CHECK(has(offered({"k = wg.kernel('x', {}, function(k) end)", "k:run { <Tab>"}), "grid = "));
    CHECK(has(offered({"wg.gemm { epilogue = { <Tab>"}), "bias = "));
    CHECK(has(offered({"x = { <Tab>"}), "print"));
}

TEST_CASE("candidates say what they are") {
    const Script s = session({"wg = require 'wgrun'", "wg.til<Tab>"});
    REQUIRE(!s.completion.candidates.empty());
    for (const auto& candidate : s.completion.candidates) {
        INFO(candidate.text);
        CHECK(!candidate.about.empty());
    }
}

TEST_CASE("where the word begins") {
    Script s = session({"alphabet = 1", "x = alp<Tab>"});
    CHECK(s.completion.begin == 4);
    s = session({"t = {}", "if x then", "math.ab<Tab>"});
    CHECK(s.completion.begin == 5);
    CHECK(s.offered == Names{"abs"});
}

TEST_CASE("nothing in strings, comments, numbers and names that are being made") {
    for (const char* text :
         {"'pri<Tab>", "-- pri<Tab>", "[[ pri<Tab>", "0x<Tab>", "function <Tab>", "goto <Tab>", "x..<Tab>"}) {
        INFO(text);
        const Names names = offered({text});
        CHECK((names.empty() || std::string_view(text) == "x..<Tab>"));
    }
}

TEST_CASE("commands") {
    CHECK(offered({".lo<Tab>"}) == Names{".load"});
    CHECK(has(offered({".<Tab>"}), ".quit"));
}

TEST_CASE("no metamethod and no finalizer runs, and nothing is endless") {
    const Script s = session({
        "ran = 0",
        "local function bad() ran = ran + 1 while true do end end",
        "t = setmetatable({}, {__index = bad, __pairs = bad, __len = bad, __tostring = bad, __call = bad})",
        "t.<Tab>",
        "t.x.<Tab>",
        "t:<Tab>",
        "loop = {} setmetatable(loop, {__index = loop})",
        "loop.x.<Tab>",
        "loop.<Tab>",
        "a, b = {}, {} setmetatable(a, {__index = b}) setmetatable(b, {__index = a})",
        "a.x.y.<Tab>",
        "a:<Tab>",
        "collectgarbage('stop') for i = 1, 1000 do setmetatable({}, {__gc = function() ran = ran + 1 end}) "
        "end "
        "collectgarbage('restart')",
        "big = {} for i = 1, 200000 do big['k' .. i] = i end",
        "big.k<Tab>",
        "big.<Tab>",
        "collectgarbage('stop') ran = 0 for i = 1, 1000 do setmetatable({}, {__gc = function() ran = ran + 1 "
        "end}) end",
        "big.k<Tab>",
        "ran",
    });
    CHECK(s.out == "0\n");
    CHECK(s.err.empty());
    CHECK(s.offered.size() <= 400);
}
