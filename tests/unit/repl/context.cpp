// What the text in front of the cursor says of what may come next.
#include "bindings/repl/context.hpp"

#include "tests/catch.hpp"

using namespace wgrun::repl;
using Kind = Context::Kind;

namespace {

std::string shown(const Path& path) {
    std::string out;
    for (const std::string& name : path.names) out += (out.empty() ? "" : ".") + name;
    if (!path.method.empty()) out += ":" + path.method;
    return out + (path.called ? "()" : "");
}

std::string member(std::string_view text) {
    const Context c = context_of(text);
    return c.kind == Kind::member ? shown(c.path) + (c.colon ? ":" : ".") + c.prefix : "none";
}

std::string option(std::string_view text) {
    const Context c = context_of(text);
    return c.kind == Kind::option ? shown(c.path) + " " + c.keys + c.prefix : "none";
}

}  // namespace

TEST_CASE("paths in front of a dot or colon") {
    CHECK(member("wg.") == "wg.");
    CHECK(member("x = wg.ti") == "wg.ti");
    CHECK(member("a.b.c:d") == "a.b.c:d");
    CHECK(member("return a:") == "a:");
    CHECK(member("f(a.b") == "a.b");
    CHECK(member("wg.zeros('f32', {2, 3}):") == "wg.zeros():");
    CHECK(member("k:shared(tile, 'a').") == "k:shared().");
    CHECK(member("wg.layout '8:1':") == "wg.layout():");
    CHECK(member("wg.tile { mn = f(1) }:pr") == "wg.tile():pr");
    CHECK(member("('x'):") == "none");
    CHECK(member("f()():") == "none");
    CHECK(member("a[1].") == "none");
    CHECK(member("a:b.") == "none");
    CHECK(member("a..") == "none");
    CHECK(member("1.") == "none");
    CHECK(member("'text.") == "none");
    CHECK(member("-- wg.") == "none");
    CHECK(member(")).") == "none");
}

TEST_CASE("keys in the braces of a call") {
    CHECK(option("wg.tile { ") == "wg.tile() ");
    CHECK(option("wg.tile{dt") == "wg.tile() dt");
    CHECK(option("wg.tile({ dtype = 'bf16', m") == "wg.tile() m");
    CHECK(option("wg.kernel('k', { ") == "wg.kernel() ");
    CHECK(option("kernel:run { grid = {1, 1, 1}, a") == "kernel:run() a");
    CHECK(option("wg.gemm { epilogue = { b") == "wg.gemm() epilogue.b");
    CHECK(option("wg.x { a = { b = { c") == "wg.x() a.b.c");
    CHECK(option("wg.tile { dtype = ") == "none");
    CHECK(option("x = { a") == "none");
    CHECK(option("x = { y = { a") == "none");
    CHECK(option("return { ") == "none");
    CHECK(option("f(a, function() g { k") == "g() k");
    CHECK(context_of("wg.tile { dtype = 'bf16', mn = 64, ").given == std::vector<std::string>{"dtype", "mn"});
    CHECK(context_of("wg.x { a = { b = 1 }, ").given == std::vector<std::string>{"a"});
}

TEST_CASE("names, commands, and nothing") {
    CHECK(context_of("").kind == Kind::name);
    CHECK(context_of("x = ").kind == Kind::name);
    CHECK(context_of("x = pri").prefix == "pri");
    CHECK(context_of(".lo").kind == Kind::command);
    CHECK(context_of(".").kind == Kind::command);
    CHECK(member(".time wg.ge") == "wg.ge");
    for (const char* text : {"'open", "-- x", "0x1f", "function f", "goto f", "local f", "[[ f", "--[[ x"}) {
        INFO(text);
        CHECK(context_of(text).kind == Kind::nothing);
    }
}

TEST_CASE("where a name has its value from") {
    CHECK(shown(*declared("local a = wg.tile{}", "a").path) == "wg.tile()");
    CHECK(shown(*declared("local a = k:shared(t)", "a").path) == "k:shared()");
    CHECK(shown(*declared("a = wg", "a").path) == "wg");
    CHECK(shown(*declared("a = f 'x' a = g.h(2)", "a").path) == "g.h()");
    CHECK(!declared("t.a = wg", "a").path);
    CHECK(!declared("f { a = wg }", "a").path);
    CHECK(!declared("a = 5", "a").path);
    CHECK(!declared("a == b", "a").path);
    CHECK(declared("wg.kernel('x', {}, function(k) k", "k").builder);
    CHECK(!declared("each(function(k) k", "k").builder);
    CHECK(names_before("local alpha = beta.gamma alp") == std::vector<std::string>{"alpha", "beta"});
}
