// C++ objects that Lua owns, and the classes of those that scripts see.
#pragma once

#include <lua.hpp>

#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>

#include "bindings/lua/guard.hpp"
#include "bindings/lua/member.hpp"

namespace wgrun::lua {

/// What tostring and messages call a class ("wgrun.layout"). Specialise it for every type given to scripts.
template <class T>
inline constexpr const char* class_name = nullptr;

/// Its address is the registry key of T's metatable: looking it up allocates nothing.
template <class T>
inline char class_key = 0;

/// A class as data (member.hpp).
struct Class {
    const Member* methods = nullptr;      ///< object:method(...)
    const Member* fields = nullptr;       ///< object.field: called with the object
    const Member* metamethods = nullptr;  ///< without __index, __gc, __name
    lua_CFunction index = nullptr;          ///< object[key] for keys that are no strings
    const char* text = nullptr;             ///< what is said of the class as a whole
};

/// __index of a class: methods, then fields, then `index`; a name that is none of them is an error that
/// suggests the nearest one.
void declare_class(lua_State* L, const void* key, const char* name, lua_CFunction finalizer, const Class& c);

/// Pushes the metatable kept under `key`. Raises if luaopen_wgrun has not made it in this state.
void push_class(lua_State* L, const void* key, const char* name);

/// Pushes the method table of the class: what is added to it becomes a method.
void push_methods(lua_State* L, const void* key, const char* name);

/// Adds methods to a class that is there, and remembers what is said of them.
void add_class_methods(lua_State* L, const void* key, const char* name, const Member* methods);

/// The userdata at `index` if its metatable is the one kept under `key`, else null.
void* test_userdata(lua_State* L, int index, const void* key);

/// Raises "bad argument #ARG to `FUNCTION`: expected EXPECTED, got ..." (args.hpp).
[[noreturn]] void fail_argument(lua_State* L, int arg, const char* expected);

/// Raises "OWNER has no `WORD`: did you mean ...?", looking among the string keys of the tables at `tables`.
[[noreturn]] void fail_unknown_name(lua_State* L, const char* owner, const char* word,
                                    std::initializer_list<int> tables);

/// The T at `index`, or null.
template <class T>
T* test(lua_State* L, int index) {
    return static_cast<T*>(test_userdata(L, index, &class_key<T>));
}

/// The T at argument `arg`; raises otherwise.
template <class T>
T& check(lua_State* L, int arg) {
    T* object = test<T>(L, arg);
    if (object == nullptr) fail_argument(L, arg, class_name<T>);
    return *object;
}

/// __gc. Afterwards the userdata is of no class any more, so that a second call does nothing.
template <class T>
int collect(lua_State* L) {
    if (T* object = test<T>(L, 1)) {
        object->~T();
        lua_pushnil(L);
        lua_setmetatable(L, 1);
    }
    return 0;
}

template <class T>
void declare(lua_State* L, const Class& c) {
    declare_class(L, &class_key<T>, class_name<T>, collect<T>, c);
}

template <class T>
void add_methods(lua_State* L, const Member* methods) {
    add_class_methods(L, &class_key<T>, class_name<T>, methods);
}

/// Pushes a new object of class T, made by `make` (guarded: it may throw, it never calls Lua).
template <class T, class Make>
T& push_object(lua_State* L, Make&& make) {
    static_assert(alignof(T) <= alignof(lua_Integer));
    static_assert(class_name<T> != nullptr, "specialise class_name");
    luaL_checkstack(L, 2, nullptr);
    push_class(L, &class_key<T>, class_name<T>);
    void* memory = lua_newuserdatauv(L, sizeof(T), 1);
    T* object = guarded(L, [&] { return new (memory) T(make()); });
    lua_insert(L, -2);
    lua_setmetatable(L, -2);
    return *object;
}

/// Pushes a userdata that holds a default-made T, for the time it stays on the stack. This is where bindings
/// keep strings and vectors while they call Lua.
template <class T>
T& held(lua_State* L) {
    static_assert(alignof(T) <= alignof(lua_Integer));
    luaL_checkstack(L, 3, nullptr);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &class_key<T>) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_createtable(L, 0, 1);
        lua_pushcfunction(L, collect<T>);
        lua_setfield(L, -2, "__gc");
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &class_key<T>);
    }
    void* memory = lua_newuserdatauv(L, sizeof(T), 0);
    T* object = guarded(L, [&] { return new (memory) T(); });
    lua_insert(L, -2);
    lua_setmetatable(L, -2);
    return *object;
}

}  // namespace wgrun::lua
