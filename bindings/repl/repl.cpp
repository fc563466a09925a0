#include "bindings/repl/repl.hpp"

#include <fmt/format.h>

#include <optional>

#include "bindings/lua/error.hpp"
#include "bindings/lua/userdata.hpp"
#include "bindings/repl/chunk.hpp"
#include "bindings/repl/commands.hpp"
#include "bindings/repl/complete.hpp"
#include "bindings/repl/help.hpp"
#include "bindings/repl/session.hpp"
#include "wgrun/report.hpp"
#include "wgrun/session.hpp"

namespace wgrun::repl {
namespace {

using lua::guarded;
using lua::held;

// Displays all arguments as one string, which ends with a newline. Upvalue: the session.
int display(lua_State* L) {
    const auto& s = *static_cast<Session*>(lua_touserdata(L, lua_upvalueindex(1)));
    const int count = lua_gettop(L);
    auto& view = held<View>(L);
    guarded(L, [&] {
        view = {s.console->columns(), lua::session(L).colour_output, [&s] { return s.console->canvas(); }};
    });
    for (int i = 1; i <= count; ++i) {
        push_display(L, i, view);
        lua_replace(L, i);
    }
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    bool lines = false;  // the last text ends with a newline of its own
    for (int i = 1; i <= count; ++i) {
        std::size_t size = 0;
        const char* text = lua_tolstring(L, i, &size);
        if (i > 1 && !lines) luaL_addchar(&out, '\t');
        lines = size > 1 && text[size - 1] == '\n';
        lua_pushvalue(L, i);
        luaL_addvalue(&out);
    }
    if (!lines) luaL_addchar(&out, '\n');
    luaL_pushresult(&out);
    return 1;
}

// help([VALUE]). Upvalue: the session's userdata, which may outlive the loop.
int help(lua_State* L) {
    const Session* s = lua::test<Session>(L, lua_upvalueindex(1));
    lua_settop(L, 1);
    if (s == nullptr || s->console == nullptr) return 0;
    const int columns = guarded(L, [&] { return s->console->columns(); });
    push_help_of(L, 1, columns);
    const char* text = lua_tostring(L, -1);
    guarded(L, [&] { s->console->write(text); });
    return 0;
}

// Makes the global `help`, unless there is one. The session's userdata is on top of the stack.
void set_help(lua_State* L) {
    lua_pushglobaltable(L);
    lua_pushliteral(L, "help");
    lua_pushvalue(L, -1);
    if (lua_rawget(L, -3) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_pushvalue(L, -3);
        lua_pushcclosure(L, help, 1);
        lua_rawset(L, -3);
        lua_pop(L, 1);
    } else {
        lua_pop(L, 3);
    }
}

// Sets the global `_` to the value at `index`, whatever the globals' metatable does.
void set_last(lua_State* L, int index) {
    lua_pushvalue(L, index);
    lua_pushglobaltable(L);
    lua_pushliteral(L, "_");
    lua_rotate(L, -3, -1);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

// Shows the results from `first` to the top of the stack, and removes them.
bool show_results(lua_State* L, Session& s, int first) {
    const int count = lua_gettop(L) - first + 1;
    if (count == 0) return true;
    if (!lua_checkstack(L, LUA_MINSTACK)) {
        guarded(L, [&] { s.console->remark("too many results to show\n"); });
        lua_settop(L, first - 1);
        return true;
    }
    if (!lua_isnil(L, first)) set_last(L, first);
    lua_pushlightuserdata(L, &s);
    lua_pushcclosure(L, display, 1);
    lua_insert(L, first);
    if (lua_pcall(L, count, 1, 0) != LUA_OK) {
        show_error(L, s);
        return false;
    }
    std::size_t size = 0;
    const char* text = lua_tolstring(L, -1, &size);
    guarded(L, [&] { s.console->write({text, size}); });
    lua_pop(L, 1);
    return true;
}

// Errors and findings name the chunk by its number.
Evaluated evaluate_numbered(lua_State* L, Session& s, bool whole) {
    auto& name = held<std::string>(L);
    guarded(L, [&] { name = fmt::format("=[{}]", s.number); });
    return evaluate(L, s, s.chunk, name.c_str(), whole);
}

// One round: reads a line, and runs the chunk that it completes. Argument: the session.
int round(lua_State* L) {
    auto& s = *static_cast<Session*>(lua_touserdata(L, 1));
    lua_settop(L, 2);
    s.locals = 2;
    auto& helper = held<std::optional<Helper>>(L);
    guarded(L, [&] { helper.emplace(L, s.locals); });
    const Console::Input input = guarded(L, [&] {
        if (!s.chunk.empty()) helper->begin_with(s.chunk);
        return s.console->read(s.chunk.empty() ? fmt::format("[{}]> ", s.number) : ">> ", *helper, s.line);
    });
    if (input == Console::Input::end) {
        s.over = true;
        if (!s.chunk.empty()) evaluate_numbered(L, s, true);  // says what is missing
    }
    if (input != Console::Input::line) {
        s.chunk.clear();
        return 0;
    }
    if (s.chunk.empty() && s.line.find_first_not_of(" \t\r\n") == std::string::npos) return 0;
    if (s.chunk.empty() && is_command(s.line)) {
        run_command(L, s, s.line);
        return 0;
    }
    guarded(L, [&] { s.chunk += (s.chunk.empty() ? "" : "\n") + s.line; });
    if (evaluate_numbered(L, s, false) == Evaluated::unfinished) return 0;
    s.chunk.clear();
    ++s.number;
    return 0;
}

int show(lua_State* L) {
    show_error(L, *static_cast<Session*>(lua_touserdata(L, 1)));
    return 0;
}

}  // namespace

void show_error(lua_State* L, Session& s) {
    luaL_checkstack(L, LUA_MINSTACK, nullptr);
    guarded(L, [&] { s.findings.clear(); });
    lua::read_findings(L, -1, s.findings);
    guarded(L, [&] { s.console->remark(to_report(s.findings, "", lua::session(L).colour)); });
    lua_pop(L, 1);
}

Evaluated evaluate(lua_State* L, Session& s, const std::string& text, const char* name, bool whole) {
    bool passing = false;
    const Compiled compiled = compile(L, s.locals, text, name, passing);
    if (compiled == Compiled::unfinished && !whole) {
        lua_pop(L, 1);
        return Evaluated::unfinished;
    }
    if (compiled != Compiled::good) {
        show_error(L, s);
        return Evaluated::failed;
    }
    guarded(L, [&] {
        s.kept += text + '\n';
        if (passing)
            s.console->remark("the locals of this chunk end with it: Lua has no room to keep them\n");
    });
    const int first = lua_gettop(L);
    if (lua_pcall(L, 0, LUA_MULTRET, 0) != LUA_OK) {
        show_error(L, s);
        return Evaluated::failed;
    }
    return show_results(L, s, first) ? Evaluated::good : Evaluated::failed;
}

void push_result(lua_State* L, Session& s, const std::string& text) {
    bool passing = false;
    if (compile(L, s.locals, text, "=stdin", passing) != Compiled::good) lua_error(L);
    lua_call(L, 0, 1);
}

void run(lua_State* L, Console& console) {
    luaL_checkstack(L, LUA_MINSTACK, nullptr);
    auto& s = held<Session>(L);
    s.console = &console;
    set_help(L);
    push_locals(L);
    const int locals = lua_gettop(L);
    int failures = 0;  // consecutive: nothing can be read any more
    while (!s.over && failures < 3) {
        lua::session(L).stop = false;  // a Ctrl-C was meant for what ran until now
        lua_pushcfunction(L, round);
        lua_pushlightuserdata(L, &s);
        lua_pushvalue(L, locals);
        s.line.clear();
        if (lua_pcall(L, 2, 0, 0) == LUA_OK) {
            failures = 0;
            continue;
        }
        // A command's error, or there was no memory for the loop itself.
        if (s.line.empty()) ++failures;
        s.chunk.clear();
        lua_pushcfunction(L, show);
        lua_pushlightuserdata(L, &s);
        lua_rotate(L, -3, -1);
        if (lua_pcall(L, 2, 0, 0) != LUA_OK) {
            lua_pop(L, 1);
            console.remark("not enough memory\n");
        }
    }
    s.console = nullptr;
    lua_pop(L, 2);
}

}  // namespace wgrun::repl
