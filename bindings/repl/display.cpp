#include <cctype>
#include <cstring>

#include "bindings/lua/userdata.hpp"
#include "bindings/repl/repl.hpp"

namespace wgrun::repl {
namespace {

constexpr int max_depth = 4;
constexpr lua_Integer max_items = 24;

void add_value(lua_State* L, int index, int depth, std::string& out);

void add(lua_State* L, std::string& out, std::string_view text) {
    lua::guarded(L, [&] { out += text; });
}

bool is_name(const char* text) {
    if (std::isdigit(static_cast<unsigned char>(text[0])) != 0 || text[0] == 0) return false;
    for (; *text != 0; ++text)
        if (std::isalnum(static_cast<unsigned char>(*text)) == 0 && *text != '_') return false;
    return true;
}

// "key = value" for the key and value at the top of the stack.
void add_entry(lua_State* L, int depth, std::string& out) {
    const int key = lua_gettop(L) - 1;
    if (lua_type(L, key) == LUA_TSTRING && is_name(lua_tostring(L, key))) {
        add(L, out, lua_tostring(L, key));
    } else {
        add(L, out, "[");
        add_value(L, key, depth, out);
        add(L, out, "]");
    }
    add(L, out, " = ");
    add_value(L, key + 1, depth, out);
}

// The sequence first, then the other keys.
void add_table(lua_State* L, int index, int depth, std::string& out) {
    if (depth >= max_depth) {
        add(L, out, "{...}");
        return;
    }
    const auto length = static_cast<lua_Integer>(lua_rawlen(L, index));
    lua_Integer items = 0;
    add(L, out, "{");
    for (; items < length && items < max_items; ++items) {
        if (items > 0) add(L, out, ", ");
        lua_rawgeti(L, index, items + 1);
        add_value(L, lua_gettop(L), depth + 1, out);
        lua_pop(L, 1);
    }
    items = length;
    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
        if (lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= length) continue;
        if (++items > max_items) continue;
        if (items > 1) add(L, out, ", ");
        add_entry(L, depth + 1, out);
    }
    if (items > max_items) {
        lua_pushfstring(L, ", ... %I more", items - max_items);
        add(L, out, lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    add(L, out, "}");
}

// Nested strings are quoted, so that "1" and 1 look different.
void add_value(lua_State* L, int index, int depth, std::string& out) {
    luaL_checkstack(L, LUA_MINSTACK, nullptr);
    if (lua_type(L, index) == LUA_TTABLE) {
        if (luaL_getmetafield(L, index, "__tostring") == LUA_TNIL) {
            add_table(L, index, depth, out);
            return;
        }
        lua_pop(L, 1);
    }
    const bool quoted = depth > 0 && lua_type(L, index) == LUA_TSTRING;
    std::size_t size = 0;
    const char* text = luaL_tolstring(L, index, &size);
    if (quoted) add(L, out, "\"");
    add(L, out, {text, size});
    if (quoted) add(L, out, "\"");
    lua_pop(L, 1);
}

}  // namespace

void push_display(lua_State* L, int index) {
    index = lua_absindex(L, index);
    auto& text = lua::held<std::string>(L);
    add_value(L, index, 0, text);
    lua_pushlstring(L, text.data(), text.size());
    lua_remove(L, -2);
}

}  // namespace wgrun::repl
