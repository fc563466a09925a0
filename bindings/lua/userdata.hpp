// C++ objects that Lua owns, and the classes of those that scripts see.
#pragma once

#include <lua.hpp>

#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>

#include "bindings/lua/guard.hpp"
#include "bindings/lua/member.hpp"
#include "bindings/lua/owned.hpp"

namespace wgrun::lua {

/// The name of a class in tostring and in messages ("wgrun.layout"). Specialise it for every type given to
/// scripts.
template <class T>
inline constexpr const char* class_name = nullptr;

/// Its address is the registry key of T's metatable: looking it up allocates nothing.
template <class T>
inline char class_key = 0;

/// Is a T kept inside its userdata, since others read it there? It is lost if Lua drops its finalizer
/// (owned.hpp).
template <class T>
inline constexpr bool stays_inside = false;

/// A class as data (member.hpp).
struct Class {
    const Member* methods = nullptr;      ///< object:method(...)
    const Member* fields = nullptr;       ///< object.field: called with the object
    const Member* metamethods = nullptr;  ///< without __index, __gc, __name
    lua_CFunction index = nullptr;        ///< object[key] for keys that are no strings
    const char* text = nullptr;           ///< the documentation of the class as a whole
};

/// __index of a class: methods, then fields, then `index`. Any other name is an error that suggests the
/// nearest one.
void declare_class(lua_State* L, const void* key, const char* name, lua_CFunction finalizer, const Class& c);

/// Pushes the metatable kept under `key`. Raises if luaopen_wgrun has not made it in this state.
void push_class(lua_State* L, const void* key, const char* name);

/// Pushes the method table of the class; functions that are added to it become methods.
void push_methods(lua_State* L, const void* key, const char* name);

/// Adds methods to an existing class, and remembers their documentation.
void add_class_methods(lua_State* L, const void* key, const char* name, const Member* methods);

/// Whether the value at `index` is the function of a member of a class or of a table (add_functions).
bool is_member(lua_State* L, int index, const Member& member);

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
    void* memory = test_userdata(L, index, &class_key<T>);
    if constexpr (stays_inside<T>) {
        return static_cast<T*>(memory);
    } else {
        return memory == nullptr ? nullptr : &(*static_cast<Holder<T>**>(memory))->object;
    }
}

/// The T at argument `arg`; raises otherwise.
template <class T>
T& check(lua_State* L, int arg) {
    T* object = test<T>(L, arg);
    if (object == nullptr) fail_argument(L, arg, class_name<T>);
    return *object;
}

/// __gc. Afterwards the userdata has no class, so that a second call does nothing.
template <class T>
int collect(lua_State* L) {
    if (void* memory = test_userdata(L, 1, &class_key<T>)) {
        if constexpr (stays_inside<T>) {
            static_cast<T*>(memory)->~T();
        } else {
            delete *static_cast<Holder<T>**>(memory);
        }
        lua_pushnil(L);
        lua_setmetatable(L, 1);
    }
    return 0;
}

/// Pushes a userdata without a metatable for the T that `make` makes (guarded: it may throw, it never calls
/// Lua).
template <class T, class Make>
T& push_bare(lua_State* L, int user_values, Make&& make) {
    if constexpr (stays_inside<T>) {
        static_assert(alignof(T) <= alignof(lua_Integer));
        void* memory = lua_newuserdatauv(L, sizeof(T), user_values);
        return *guarded(L, [&] { return new (memory) T(make()); });
    } else {
        Owner& list = owner(L);
        auto** held = static_cast<Holder<T>**>(lua_newuserdatauv(L, sizeof(Holder<T>*), user_values));
        *held = guarded(L, [&] { return new Holder<T>(make); });
        (*held)->join(list, &class_key<T>);
        return (*held)->object;
    }
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
    static_assert(class_name<T> != nullptr, "specialise class_name");
    luaL_checkstack(L, 2, nullptr);
    push_class(L, &class_key<T>, class_name<T>);
    T& object = push_bare<T>(L, 1, make);
    lua_insert(L, -2);
    lua_setmetatable(L, -2);
    return object;
}

/// Pushes a userdata that holds a default-made T, for the time it stays on the stack. This is where bindings
/// keep strings and vectors while they call Lua.
template <class T>
T& held(lua_State* L) {
    luaL_checkstack(L, 3, nullptr);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &class_key<T>) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_createtable(L, 0, 1);
        lua_pushcfunction(L, collect<T>);
        lua_setfield(L, -2, "__gc");
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &class_key<T>);
    }
    T& object = push_bare<T>(L, 0, [] { return T(); });
    lua_insert(L, -2);
    lua_setmetatable(L, -2);
    return object;
}

/// Registry key of the T that a state keeps.
template <class T>
inline char kept_key = 0;

/// The one T of the state: made when it is first asked for, lives as long as the state.
template <class T>
T& kept(lua_State* L) {
    luaL_checkstack(L, 4, nullptr);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &kept_key<T>);
    T* found = test<T>(L, -1);  // null, too, when the state is being closed and this one is finalized
    lua_pop(L, 1);
    if (found != nullptr) return *found;
    found = &held<T>(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &kept_key<T>);
    return *found;
}

}  // namespace wgrun::lua
