#include "bindings/lua/syntax.hpp"

#include <algorithm>
#include <lua.hpp>
#include <memory>

#include "tests/fuzz/bodies.hpp"

namespace wgrun::fuzz {
namespace {

using namespace lua::syntax;

void expect(bool holds, const char* what, const std::string& text) {
    if (!holds) throw Broken(std::string(what) + ": " + text);
}

/// Does Lua itself read it?
bool loads(const std::string& text) {
    static const std::unique_ptr<lua_State, void (*)(lua_State*)> state(luaL_newstate(), lua_close);
    const bool good = luaL_loadbufferx(state.get(), text.data(), text.size(), "=text", "t") == LUA_OK;
    lua_settop(state.get(), 0);
    return good;
}

struct Bounds {
    const Chunk& chunk;
    int lines = 1;

    void within(std::string_view view, const char* what) const {
        const char* const begin = chunk.text.data();
        expect(view.data() == nullptr ||
                   (view.data() >= begin && view.data() + view.size() <= begin + chunk.text.size()),
               what, chunk.text);
    }
    void line(int line) const { expect(line >= 0 && line <= lines, "a line of the text", chunk.text); }
    template <class List>
    void index(int index, const List& of, const char* what) const {
        expect(index >= none && index < static_cast<int>(of.size()), what, chunk.text);
    }
    void expression(int id) const { index(id, chunk.expressions, "an expression that is there"); }
    void declaration(int id) const { index(id, chunk.declarations, "a declaration that is there"); }
    void function(int id) const { index(id, chunk.functions, "a function that is there"); }
};

}  // namespace

void syntax(Bytes bytes) {
    Chunk chunk;
    parse(std::string(bytes.begin(), bytes.end()), chunk);
    const std::string& text = chunk.text;
    expect(text == std::string(bytes.begin(), bytes.end()), "the text is kept", text);
    if (!text.starts_with('#')) expect(chunk.good || !loads(text), "what Lua reads is read", text);
    expect(chunk.good || (chunk.expressions.empty() && chunk.functions.empty()), "all or nothing", text);
    const Bounds bounds{chunk, 1 + static_cast<int>(std::ranges::count(text, '\n'))};
    for (const Expression& of : chunk.expressions) {
        bounds.within(of.text, "an expression is of the text");
        bounds.within(of.name, "a name is of the text");
        bounds.line(of.line);
        bounds.expression(of.left);
        bounds.expression(of.right);
        bounds.declaration(of.declaration);
        bounds.function(of.function);
        for (const int argument : of.arguments) bounds.expression(argument);
    }
    for (const Declaration& of : chunk.declarations) {
        if (of.name != "self")
            bounds.within(of.name, "a declaration is of the text");  // a method's is not written
        bounds.line(of.line);
        bounds.function(of.function);
        for (const int value : of.values) bounds.expression(value);
        for (const int call : of.calls) bounds.expression(call);
    }
    for (const Function& of : chunk.functions) {
        bounds.line(of.first_line);
        bounds.line(of.last_line);
        expect(of.first_line <= of.last_line, "a function begins before it ends", text);
        for (const int parameter : of.parameters) bounds.declaration(parameter);
        bounds.expression(of.expression);
        bounds.declaration(of.declaration);
    }
    for (const Test& of : chunk.tests) {
        bounds.expression(of.expression);
        bounds.within(of.guarded, "a block is of the text");
    }
}

}  // namespace wgrun::fuzz
