#include "bindings/repl/chunk.hpp"

#include <algorithm>
#include <vector>

#include "bindings/lua/guard.hpp"
#include "bindings/lua/script.hpp"
#include "bindings/lua/userdata.hpp"
#include "bindings/repl/locals.hpp"

namespace wgrun::repl {
namespace {

using lua::guarded;
using lua::held;

// A session's locals are closures by name, each of which has the variable as its one upvalue. Constants have
// `true` in a second table, which the first table has under this key.
constexpr lua_Integer constants = 1;

// The texts of one compilation: lives in a userdata.
struct Texts {
    std::string chunk, head, whole;
    std::vector<std::string> names;
};

// keep(NAME, CLOSURE [, constant]): upvalues are the locals and a function that makes a variable of a value.
int keep(lua_State* L) {
    lua_settop(L, 3);
    const bool constant = lua_toboolean(L, 3) != 0;
    lua_rawgeti(L, lua_upvalueindex(1), constants);
    lua_pushvalue(L, 1);
    if (constant) {
        lua_pushboolean(L, 1);
    } else {
        lua_pushnil(L);
    }
    lua_rawset(L, -3);
    if (constant) {  // it may be a number in the code instead of a variable
        lua_pushvalue(L, lua_upvalueindex(2));
        lua_pushvalue(L, 2);
        lua_call(L, 0, 1);
        lua_call(L, 1, 1);
        lua_replace(L, 2);
    }
    lua_settop(L, 2);
    lua_rawset(L, lua_upvalueindex(1));
    return 0;
}

bool ends_too_early(lua_State* L, int status) {
    if (status != LUA_ERRSYNTAX) return false;
    const std::string_view message = lua_tostring(L, -1);
    return message.ends_with("<eof>");
}

int load(lua_State* L, const std::string& text, const char* name) {
    const int status = luaL_loadbufferx(L, text.data(), text.size(), name, "t");
    if (status == LUA_ERRMEM) lua_error(L);
    return status;
}

// "local a,b<const>;return function(...) ": the locals that the chunk names. `locals` is a stack index.
void write_head(lua_State* L, int locals, Texts& t, bool keeps) {
    guarded(L, [&] {
        t.names = names_in(t.chunk);
        t.head = "local " + std::string(keep_name);
    });
    lua_rawgeti(L, locals, constants);
    for (const std::string& name : t.names) {
        lua_pushlstring(L, name.data(), name.size());
        lua_pushvalue(L, -1);
        const bool known = lua_rawget(L, locals) != LUA_TNIL;
        lua_pop(L, 1);
        const bool constant = lua_rawget(L, -2) != LUA_TNIL;
        lua_pop(L, 1);
        if (known) guarded(L, [&] { t.head += "," + name + (constant ? "<const>" : ""); });
    }
    lua_pop(L, 1);
    guarded(L, [&] {
        t.whole = t.head + ";return function(...) " + (keeps ? with_kept_locals(t.chunk) : t.chunk) + "\nend";
    });
}

// Replaces the variables that the head declares by the session's, in the function on top.
void join(lua_State* L, int locals) {
    const int function = lua_gettop(L);
    for (int i = 1; const char* name = lua_getupvalue(L, function, i); ++i) {
        lua_pop(L, 1);
        if (name == keep_name) {
            lua_pushvalue(L, locals);
            if (load(L, "local x=...return function()return x end", "=keep") != LUA_OK) lua_error(L);
            lua_pushcclosure(L, keep, 2);
            lua_setupvalue(L, function, i);
            continue;
        }
        lua_pushstring(L, name);
        if (lua_rawget(L, locals) == LUA_TFUNCTION) lua_upvaluejoin(L, function, i, -1, 1);
        lua_pop(L, 1);
    }
}

// Compiles the chunk, whose syntax Lua has accepted, with the session's locals.
Compiled compile_joined(lua_State* L, int locals, Texts& t, const char* name, bool& passing) {
    for (const bool keeps : {true, false}) {
        write_head(L, locals, t, keeps);
        if (load(L, t.whole, name) == LUA_OK) {
            lua_call(L, 0, 1);
            join(L, locals);
            passing = !keeps;
            return Compiled::good;
        }
        if (keeps) lua_pop(L, 1);
    }
    return Compiled::wrong;
}

}  // namespace

void push_locals(lua_State* L) {
    lua_newtable(L);
    lua_newtable(L);
    lua_rawseti(L, -2, constants);
}

bool push_local(lua_State* L, int locals, std::string_view name) {
    luaL_checkstack(L, 3, nullptr);
    lua_pushlstring(L, name.data(), name.size());
    if (lua_rawget(L, locals) != LUA_TFUNCTION) {
        lua_pop(L, 1);
        lua_pushnil(L);
        return false;
    }
    lua_getupvalue(L, -1, 1);
    lua_remove(L, -2);
    return true;
}

bool unfinished(lua_State* L, const std::string& text) {
    auto& t = held<Texts>(L);
    guarded(L, [&] { t.whole = "return " + text; });
    int status = load(L, t.whole, "=stdin");
    bool unfinished = ends_too_early(L, status);
    lua_pop(L, 1);
    if (status != LUA_OK) {
        status = load(L, text, "=stdin");
        unfinished = status != LUA_OK && (unfinished || ends_too_early(L, status));
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return unfinished;
}

Compiled compile(lua_State* L, int locals, const std::string& text, const char* name, bool& passing) {
    luaL_checkstack(L, LUA_MINSTACK, nullptr);
    locals = lua_absindex(L, locals);
    auto& t = held<Texts>(L);
    const int mine = lua_gettop(L);
    guarded(L, [&] { t.chunk = "return " + text; });
    const int expression = load(L, t.chunk, name);
    bool may_go_on = false;
    Compiled result = Compiled::good;
    if (expression != LUA_OK) {
        may_go_on = ends_too_early(L, expression);
        lua_pop(L, 1);
        guarded(L, [&] { t.chunk = text; });
        const int statement = load(L, t.chunk, name);
        if (statement == LUA_ERRSYNTAX) lua::explain_syntax(L);
        if (statement != LUA_OK)
            result = may_go_on || ends_too_early(L, statement) ? Compiled::unfinished : Compiled::wrong;
    }
    if (result == Compiled::good) {
        lua_pop(L, 1);
        result = compile_joined(L, locals, t, name, passing);
    }
    lua_remove(L, mine);
    return result;
}

}  // namespace wgrun::repl
