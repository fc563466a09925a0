#include "bindings/lua/args.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace wgrun::lua {

ShortText describe(lua_State* L, int index) {
    ShortText out{};
    switch (lua_type(L, index)) {
        case LUA_TNONE: std::snprintf(out.text, sizeof out.text, "nothing"); break;
        case LUA_TNUMBER:
            if (lua_isinteger(L, index)) {
                std::snprintf(out.text, sizeof out.text, "number %lld", lua_tointeger(L, index));
            } else {
                std::snprintf(out.text, sizeof out.text, "number %.14g", lua_tonumber(L, index));
            }
            break;
        case LUA_TSTRING: {
            const std::size_t size = lua_rawlen(L, index);
            std::snprintf(out.text, sizeof out.text, size > 60 ? "string \"%.60s...\"" : "string \"%s\"",
                          lua_tostring(L, index));
            break;
        }
        case LUA_TBOOLEAN:
            std::snprintf(out.text, sizeof out.text, lua_toboolean(L, index) ? "true" : "false");
            break;
        default: {
            const bool named = luaL_getmetafield(L, index, "__name") == LUA_TSTRING;
            std::snprintf(out.text, sizeof out.text, "%s",
                          named ? lua_tostring(L, -1) : luaL_typename(L, index));
            if (named) lua_pop(L, 1);
        }
    }
    return out;
}

namespace {

// The name of the running C function if it is one of wg's. pcall(wg.load) calls it without a name that Lua
// knows. Valid while the module has the function.
const char* module_name(lua_State* L, lua_Debug* frame) {
    const int top = lua_gettop(L);
    luaL_checkstack(L, 6, nullptr);
    lua_getinfo(L, "f", frame);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    const char* name = nullptr;
    if (lua_getfield(L, -1, "wgrun") == LUA_TTABLE) {
        for (lua_pushnil(L); name == nullptr && lua_next(L, -2) != 0; lua_pop(L, 1)) {
            if (lua_rawequal(L, -1, top + 1) != 0 && lua_type(L, -2) == LUA_TSTRING)
                name = lua_tostring(L, -2);
        }
    }
    lua_settop(L, top);
    return name;
}

}  // namespace

void fail_argument(lua_State* L, int arg, const char* expected) {
    const ShortText given = describe(L, arg);
    lua_Debug frame;
    const char* name = nullptr;
    bool method = false, of_module = false;
    if (lua_getstack(L, 0, &frame) != 0) {
        lua_getinfo(L, "n", &frame);
        method = std::string_view(frame.namewhat) == "method";
        const char* known = module_name(L, &frame);
        of_module = known != nullptr;
        name = frame.name != nullptr ? frame.name : known;
    }
    fail(L, [&] {
        const std::string to = name == nullptr ? "" : " to `" + std::string(name) + "`";
        const std::string place = method && arg == 1
                                      ? "bad object before the colon"
                                      : "bad argument #" + std::to_string(method ? arg - 1 : arg);
        const bool object =
            arg == 1 && !method && !of_module && std::string_view(expected).starts_with("wgrun.");
        return place + to + ": expected " + expected + ", got " + given.text +
               (object ? " (a method is called with a colon: object:method(...))" : "");
    });
}

void refuse_surplus(lua_State* L, const char* name, int most, bool method) {
    int given = lua_gettop(L);
    while (given > most && lua_isnil(L, given)) --given;
    if (given <= most) return;
    const ShortText first = describe(L, most + 1);
    const bool list = most > 0 && lua_type(L, most) == LUA_TNUMBER && lua_type(L, most + 1) == LUA_TNUMBER;
    const int own = method ? 1 : 0, takes = most - own;
    fail(L, [&] {
        return ArgumentError(fmt::format("`{}` takes {} argument{}, not {}: {} is too much", name,
                                         takes == 0 ? "no" : std::to_string(takes), takes == 1 ? "" : "s",
                                         given - own, first.text),
                             list ? "several numbers are one argument in braces: { 64, 64 }" : "");
    });
}

bool to_integer(lua_State* L, int index, std::int64_t& value) {
    if (lua_type(L, index) != LUA_TNUMBER) return false;
    int exact = 0;
    value = lua_tointegerx(L, index, &exact);
    return exact != 0;
}

std::int64_t integer_argument(lua_State* L, int arg) {
    std::int64_t value = 0;
    if (!to_integer(L, arg, value)) fail_argument(L, arg, "an integer");
    return value;
}

int small_argument(lua_State* L, int arg) {
    const std::int64_t value = integer_argument(L, arg);
    if (value < INT32_MIN || value > INT32_MAX) fail_argument(L, arg, "a 32-bit integer");
    return static_cast<int>(value);
}

double number_argument(lua_State* L, int arg) {
    if (lua_type(L, arg) != LUA_TNUMBER) fail_argument(L, arg, "a number");
    return lua_tonumber(L, arg);
}

std::string_view string_argument(lua_State* L, int arg) {
    if (lua_type(L, arg) != LUA_TSTRING) fail_argument(L, arg, "a string");
    std::size_t size = 0;
    const char* text = lua_tolstring(L, arg, &size);
    return {text, size};
}

std::string_view name_argument(lua_State* L, int arg) {
    const std::string_view name = string_argument(L, arg);
    if (name.find('\0') != std::string_view::npos) fail_argument(L, arg, "a name without a zero byte");
    return name;
}

void read_integers(lua_State* L, int index, const char* what, std::vector<std::int64_t>& values,
                   std::size_t most) {
    index = lua_absindex(L, index);
    std::int64_t value = 0;
    if (to_integer(L, index, value)) {
        guarded(L, [&] { values.assign(1, value); });
        return;
    }
    if (lua_type(L, index) != LUA_TTABLE) {
        const ShortText given = describe(L, index);
        fail(L, [&] { return std::string(what) + ": expected a list of integers, got " + given.text; });
    }
    const std::size_t count = lua_rawlen(L, index);
    guarded(L, [&] {
        if (count > most) {
            throw ArgumentError(std::string(what) + " has " + std::to_string(count) + " entries, at most " +
                                std::to_string(most) + " are possible");
        }
        values.resize(count);
    });
    for (std::size_t i = 0; i < count; ++i) {
        lua_rawgeti(L, index, static_cast<lua_Integer>(i) + 1);
        if (!to_integer(L, -1, values[i])) {
            const ShortText given = describe(L, -1);
            fail(L, [&] {
                return std::string(what) + "[" + std::to_string(i + 1) + "]: expected an integer, got " +
                       given.text;
            });
        }
        lua_pop(L, 1);
    }
}

void put_integer(lua_State* L, const char* key, std::int64_t value) {
    lua_pushinteger(L, value);
    lua_setfield(L, -2, key);
}

void put_number(lua_State* L, const char* key, double value) {
    lua_pushnumber(L, value);
    lua_setfield(L, -2, key);
}

void put_boolean(lua_State* L, const char* key, bool value) {
    lua_pushboolean(L, value);
    lua_setfield(L, -2, key);
}

void put_string(lua_State* L, const char* key, std::string_view value) {
    lua_pushlstring(L, value.data(), value.size());
    lua_setfield(L, -2, key);
}

void push_integers(lua_State* L, const std::int64_t* values, std::size_t count) {
    luaL_checkstack(L, 2, nullptr);
    lua_createtable(L, static_cast<int>(count), 0);
    for (std::size_t i = 0; i < count; ++i) {
        lua_pushinteger(L, values[i]);
        lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
    }
}

}  // namespace wgrun::lua
