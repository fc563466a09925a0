#include "bindings/repl/repl.hpp"

#include <vector>

#include "bindings/lua/error.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/userdata.hpp"
#include "wgrun/report.hpp"

namespace wgrun::repl {
namespace {

using lua::guarded;
using lua::held;

// What the loop keeps between calls of Lua: lives in a userdata.
struct Buffers {
    std::string line;
    std::string chunk;
    std::string text;
    std::vector<Diagnostic> findings;
    bool warned_of_local = false;
};

bool unfinished(lua_State* L, int status) {
    if (status != LUA_ERRSYNTAX) return false;
    const std::string_view message = lua_tostring(L, -1);
    return message.ends_with("<eof>");
}

enum class Compiled { good, unfinished, wrong };

// Compiles the chunk, as an expression if it is one; leaves a function or an error message.
Compiled compile(lua_State* L, Buffers& b) {
    guarded(L, [&] { b.text = "return " + b.chunk; });
    const int expression = luaL_loadbufferx(L, b.text.data(), b.text.size(), "=stdin", "t");
    if (expression == LUA_OK) return Compiled::good;
    const bool may_go_on = unfinished(L, expression);
    lua_pop(L, 1);
    const int statement = luaL_loadbufferx(L, b.chunk.data(), b.chunk.size(), "=stdin", "t");
    if (statement == LUA_OK) return Compiled::good;
    return may_go_on || unfinished(L, statement) ? Compiled::unfinished : Compiled::wrong;
}

// All arguments, displayed: one string.
int display(lua_State* L) {
    const int count = lua_gettop(L);
    for (int i = 1; i <= count; ++i) {
        push_display(L, i);
        lua_replace(L, i);
    }
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    for (int i = 1; i <= count; ++i) {
        if (i > 1) luaL_addchar(&out, '\t');
        lua_pushvalue(L, i);
        luaL_addvalue(&out);
    }
    luaL_addchar(&out, '\n');
    luaL_pushresult(&out);
    return 1;
}

// Shows the error on top of the stack and removes it.
void show_error(lua_State* L, Console& console, Buffers& b) {
    guarded(L, [&] { b.findings.clear(); });
    lua::read_findings(L, -1, b.findings);
    guarded(L, [&] { console.remark(to_report(b.findings, "", lua::session(L).colour)); });
    lua_pop(L, 1);
}

void evaluate(lua_State* L, Console& console, Buffers& b) {
    const int base = lua_gettop(L) - 1;  // below the function
    if (lua_pcall(L, 0, LUA_MULTRET, 0) != LUA_OK) {
        show_error(L, console, b);
        return;
    }
    const int results = lua_gettop(L) - base;
    if (results == 0) return;
    if (!lua_checkstack(L, LUA_MINSTACK)) {
        guarded(L, [&] { console.remark("too many results to show\n"); });
        lua_settop(L, base);
        return;
    }
    lua_pushcfunction(L, display);
    lua_insert(L, base + 1);
    if (lua_pcall(L, results, 1, 0) != LUA_OK) {
        show_error(L, console, b);
        return;
    }
    std::size_t size = 0;
    const char* text = lua_tolstring(L, -1, &size);
    guarded(L, [&] { console.write({text, size}); });
    lua_settop(L, base);
}

}  // namespace

void run(lua_State* L, Console& console) {
    luaL_checkstack(L, LUA_MINSTACK, nullptr);
    auto& b = held<Buffers>(L);
    for (;;) {
        const char* prompt = b.chunk.empty() ? "> " : ">> ";
        lua::session(L).stop = false;  // a Ctrl-C was for what ran until now
        const Console::Input input = guarded(L, [&] { return console.read(prompt, b.line); });
        if (input == Console::Input::end) break;
        if (input == Console::Input::interrupted) {
            b.chunk.clear();
            continue;
        }
        if (b.chunk.empty() && b.line.find_first_not_of(" \t\r") == std::string::npos) continue;
        guarded(L, [&] { b.chunk += (b.chunk.empty() ? "" : "\n") + b.line; });
        const Compiled compiled = compile(L, b);
        if (compiled == Compiled::unfinished) {
            lua_pop(L, 1);
            continue;
        }
        if (compiled == Compiled::wrong) {
            show_error(L, console, b);
        } else {
            if (b.chunk.starts_with("local ") && !b.warned_of_local) {
                guarded(L, [&] {
                    console.remark("a local ends with its line: leave `local` out to keep the value\n");
                });
                b.warned_of_local = true;
            }
            evaluate(L, console, b);
        }
        b.chunk.clear();
    }
    lua_pop(L, 1);
}

}  // namespace wgrun::repl
