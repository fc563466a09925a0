#include "bindings/lua/userdata.hpp"

#include <string>
#include <vector>

#include "bindings/lua/args.hpp"

namespace wgrun::lua {
namespace {

enum Upvalue { methods = 1, fields, other };

void set_functions(lua_State* L, const Member* members) {
    for (; members != nullptr && members->name != nullptr; ++members) {
        if (members->function == nullptr) continue;
        lua_pushcfunction(L, members->function);
        lua_setfield(L, -2, members->name);
    }
}

constexpr int any_number = -1;

/// How many arguments a function takes by its description, without the object of a method.
int most_arguments(const Member& member) {
    const std::string_view text = member.text == nullptr ? std::string_view() : member.text;
    int out = 0;
    bool table = !member.options.empty();
    for (std::size_t at = text.find("\n@"); at != std::string_view::npos; at = text.find("\n@", at + 1)) {
        const std::string_view tag = text.substr(at + 2);
        if (tag.starts_with("param ...")) return any_number;
        out += tag.starts_with("param ") ? 1 : 0;
        table |= tag.starts_with("option");
    }
    return out + (table ? 1 : 0);
}

/// Calls the function of the Member in the first upvalue.
int limited(lua_State* L) {
    const Member& member = *static_cast<const Member*>(lua_touserdata(L, lua_upvalueindex(1)));
    const bool method = lua_toboolean(L, lua_upvalueindex(3)) != 0;
    refuse_surplus(L, member.name, static_cast<int>(lua_tointeger(L, lua_upvalueindex(2))), method);
    return member.function(L);
}

/// As set_functions, of functions that are described.
void set_limited(lua_State* L, const Member* members, bool methods) {
    for (; members != nullptr && members->name != nullptr; ++members) {
        if (members->function == nullptr) continue;
        const int most = most_arguments(*members);
        if (most == any_number) {
            lua_pushcfunction(L, members->function);
        } else {
            lua_pushlightuserdata(L, const_cast<Member*>(members));
            lua_pushinteger(L, most + (methods ? 1 : 0));
            lua_pushboolean(L, methods ? 1 : 0);
            lua_pushcclosure(L, limited, 3);
        }
        lua_setfield(L, -2, members->name);
    }
}

// Copies the string keys of the table at `index` into `names`, since a finalizer may change the table.
void add_names(lua_State* L, int index, std::vector<std::string>& names) {
    if (lua_type(L, index) != LUA_TTABLE) return;
    lua_pushnil(L);
    while (lua_next(L, index) != 0) {
        if (lua_type(L, -2) == LUA_TSTRING) {
            std::size_t size = 0;
            const char* text = lua_tolstring(L, -2, &size);
            guarded(L, [&] { names.emplace_back(text, size); });
        }
        lua_pop(L, 1);
    }
}

int class_index(lua_State* L) {
    lua_pushvalue(L, 2);
    if (lua_gettable(L, lua_upvalueindex(methods)) != LUA_TNIL)
        return 1;  // the table may make methods on demand
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(fields)) != LUA_TNIL) {
        lua_pushvalue(L, 1);
        lua_call(L, 1, 1);
        return 1;
    }
    if (lua_type(L, 2) != LUA_TSTRING && !lua_isnil(L, lua_upvalueindex(other))) {
        lua_pushvalue(L, lua_upvalueindex(other));
        lua_pushvalue(L, 1);
        lua_pushvalue(L, 2);
        lua_call(L, 2, 1);
        return 1;
    }
    luaL_getmetafield(L, 1, "__name");
    const char* name = lua_tostring(L, -1);
    if (lua_type(L, 2) != LUA_TSTRING) {
        const ShortText key = describe(L, 2);
        fail(L, [&] { return std::string(name) + " cannot be indexed with " + key.text; });
    }
    lua_pushvalue(L, lua_upvalueindex(methods));
    lua_pushvalue(L, lua_upvalueindex(fields));
    fail_unknown_name(L, name, lua_tostring(L, 2), {lua_gettop(L) - 1, lua_gettop(L)});
}

// The default __newindex of a class.
int class_newindex(lua_State* L) {
    luaL_getmetafield(L, 1, "__name");
    const ShortText key = describe(L, 2);
    fail(L, [&] {
        return std::string(lua_tostring(L, -1)) + " cannot be changed: " + key.text + " cannot be set";
    });
}

}  // namespace

bool is_member(lua_State* L, int index, const Member& member) {
    const lua_CFunction function = lua_tocfunction(L, index);
    if (function != limited) return function != nullptr && function == member.function;
    lua_getupvalue(L, index, 1);
    const bool same = lua_touserdata(L, -1) == &member;
    lua_pop(L, 1);
    return same;
}

void fail_unknown_name(lua_State* L, const char* owner, const char* word, std::initializer_list<int> tables) {
    auto& names = held<std::vector<std::string>>(L);
    for (int index : tables) add_names(L, index, names);
    fail(L, [&] {
        const std::vector<std::string_view> views(names.begin(), names.end());
        return std::string(owner) + " has no `" + word + "`" + nearest(word, views);
    });
}

void add_functions(lua_State* L, const char* owner, const Member* members) {
    luaL_checkstack(L, 4, nullptr);
    set_limited(L, members, false);
    remember_members(L, owner, MemberKind::function, members);
}

void declare_class(lua_State* L, const void* key, const char* name, lua_CFunction finalizer, const Class& c) {
    luaL_checkstack(L, 6, nullptr);
    // If the module is opened again, the class stays the one that earlier objects have.
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, key) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_createtable(L, 0, 8);
    }
    lua_pushstring(L, name);
    lua_setfield(L, -2, "__name");
    lua_pushstring(L, name);
    lua_setfield(
        L, -2, "__metatable");  // getmetatable() gives only the name, so that scripts cannot break the class
    lua_pushcfunction(L, finalizer);
    lua_setfield(L, -2, "__gc");
    lua_pushcfunction(L, class_newindex);
    lua_setfield(L, -2, "__newindex");
    set_functions(L, c.metamethods);

    lua_newtable(L);
    set_limited(L, c.methods, true);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "methods");
    lua_newtable(L);
    set_functions(L, c.fields);
    if (c.index != nullptr) {
        lua_pushcfunction(L, c.index);
    } else {
        lua_pushnil(L);
    }
    lua_pushcclosure(L, class_index, 3);
    lua_setfield(L, -2, "__index");
    lua_rawsetp(L, LUA_REGISTRYINDEX, key);
    remember_members(L, name, MemberKind::method, c.methods, c.text);
    remember_members(L, name, MemberKind::field, c.fields);
}

void push_class(lua_State* L, const void* key, const char* name) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, key) != LUA_TTABLE) luaL_error(L, "%s: wgrun is not loaded", name);
}

void push_methods(lua_State* L, const void* key, const char* name) {
    push_class(L, key, name);
    lua_getfield(L, -1, "methods");
    lua_remove(L, -2);
}

void add_class_methods(lua_State* L, const void* key, const char* name, const Member* methods) {
    push_methods(L, key, name);
    set_limited(L, methods, true);
    lua_pop(L, 1);
    remember_members(L, name, MemberKind::method, methods);
}

void* test_userdata(lua_State* L, int index, const void* key) {
    void* object = lua_touserdata(L, index);
    if (object == nullptr || lua_getmetatable(L, index) == 0) return nullptr;
    lua_rawgetp(L, LUA_REGISTRYINDEX, key);
    const bool same = lua_rawequal(L, -1, -2) != 0;
    lua_pop(L, 2);
    return same ? object : nullptr;
}

}  // namespace wgrun::lua
