// What one run of a script has given.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bindings/c/state.hpp"
#include "bindings/lua/error.hpp"
#include "bindings/lua/guard.hpp"
#include "bindings/lua/session.hpp"
#include "bindings/lua/types.hpp"
#include "bindings/lua/userdata.hpp"

namespace wgrun::c {
namespace {

// Of the table that a run refers to.
constexpr int items_place = 1, kernels_place = 2, first_place = 3;

// The kernel at `index`, or that of the launcher there; null for anything else.
Kernel* kernel_at(lua_State* L, int index, bool& launches) {
    launches = false;
    if (Kernel* kernel = lua::test<Kernel>(L, index)) return kernel;
    if (lua_type(L, index) != LUA_TTABLE) return nullptr;
    const int top = lua_gettop(L);
    Kernel* kernel = nullptr;
    if (lua_getfield(L, index, "launch") == LUA_TFUNCTION) {
        lua_getfield(L, index, "kernel");
        kernel = lua::test<Kernel>(L, -1);
        launches = kernel != nullptr;
    }
    lua_settop(L, top);
    return kernel;
}

// Appends the value on top of the stack, which it pops, to the table `list` and to `items`, if it is one; a
// tensor to `tensors`.
bool add_item(lua_State* L, int list, const char* name, std::size_t length, std::vector<Item>& items,
              std::vector<TensorItem>& tensors) {
    bool launches = false;
    Kernel* kernel = kernel_at(L, lua_gettop(L), launches);
    if (kernel == nullptr) {
        const auto* box = lua::test<lua::HostTensorBox>(L, -1);
        if (box != nullptr && box->tensor != nullptr)
            lua::guarded(L, [&] {
                tensors.push_back({name == nullptr ? "" : std::string(name, length), box->tensor});
            });
        lua_pop(L, 1);
        return false;
    }
    lua_rawseti(L, list, static_cast<lua_Integer>(items.size()) + 1);
    lua::guarded(L, [&] {
        items.push_back(
            {name == nullptr ? kernel->program().name() : std::string(name, length), kernel, launches});
    });
    return true;
}

// The entries of the table at `index`: a list's in order, then the others by their names.
void add_entries(lua_State* L, int list, int index, std::vector<Item>& items,
                 std::vector<TensorItem>& tensors) {
    const auto count = static_cast<lua_Integer>(lua_rawlen(L, index));
    for (lua_Integer i = 1; i <= count; ++i) {
        lua_rawgeti(L, index, i);
        add_item(L, list, nullptr, 0, items, tensors);
    }
    auto& names = lua::held<std::vector<std::string>>(L);
    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING) continue;
        std::size_t length = 0;
        const char* name = lua_tolstring(L, -2, &length);
        lua::guarded(L, [&] { names.emplace_back(name, length); });
    }
    lua::guarded(L, [&] { std::sort(names.begin(), names.end()); });
    for (std::size_t i = 0; i < names.size(); ++i) {
        lua_pushlstring(L, names[i].data(), names[i].size());
        lua_rawget(L, index);
        add_item(L, list, names[i].data(), names[i].size(), items, tensors);
    }
    lua_pop(L, 1);
}

// Of the kernels in the list at `index`.
void add_made(lua_State* L, int index, std::vector<Item>& made) {
    const auto count = static_cast<lua_Integer>(lua_rawlen(L, index));
    for (lua_Integer i = 1; i <= count; ++i) {
        lua_rawgeti(L, index, i);
        Kernel& kernel = lua::check<Kernel>(L, -1);
        lua::guarded(L, [&] { made.push_back({kernel.program().name(), &kernel, false}); });
        lua_pop(L, 1);
    }
}

void push_place(lua_State* L, int reference, int place) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, reference);
    if (lua_type(L, -1) == LUA_TTABLE)
        lua_rawgeti(L, -1, place);  // none of a script that has stopped
    else
        lua_pushnil(L);
    lua_remove(L, -2);
}

// Of the list on top of the stack: replaces it by the kernel, or pops it.
bool take_kernel(lua_State* L, const Kernel& wanted) {
    const auto count = lua_type(L, -1) == LUA_TTABLE ? static_cast<lua_Integer>(lua_rawlen(L, -1)) : 0;
    for (lua_Integer i = 1; i <= count; ++i) {
        lua_rawgeti(L, -1, i);
        if (lua_type(L, -1) == LUA_TTABLE) {  // a launcher
            lua_getfield(L, -1, "kernel");
            lua_remove(L, -2);
        }
        if (lua::test<Kernel>(L, -1) == &wanted) return lua_remove(L, -2), true;
        lua_pop(L, 1);
    }
    return lua_pop(L, 1), false;
}

}  // namespace

void Run::take_results(lua_State* L, int kernels, int first) {
    const int results = lua_gettop(L);
    lua_newtable(L);
    const int items = lua_gettop(L);
    for (int i = first; i <= results; ++i) {
        lua_pushvalue(L, i);
        if (!add_item(L, items, nullptr, 0, returned, tensors) && lua_type(L, i) == LUA_TTABLE)
            add_entries(L, items, i, returned, tensors);
    }
    add_made(L, kernels, made);
    lua_createtable(L, first_place, 0);
    lua_pushvalue(L, items);
    lua_rawseti(L, -2, items_place);
    lua_pushvalue(L, kernels);
    lua_rawseti(L, -2, kernels_place);
    if (first <= results) {
        lua_pushvalue(L, first);
        lua_rawseti(L, -2, first_place);
    }
    reference_ = luaL_ref(L, LUA_REGISTRYINDEX);
}

void Run::push_returned(lua_State* L, std::size_t index) const {
    push_place(L, reference_, items_place);
    lua_rawgeti(L, -1, static_cast<lua_Integer>(index) + 1);
    lua_remove(L, -2);
}

void Run::push_first(lua_State* L) const { push_place(L, reference_, first_place); }

void Run::make_current(lua_State* L) const {
    push_place(L, reference_, kernels_place);
    lua::set_kernels(L);
}

void Run::push_kernel(lua_State* L, const Kernel& kernel) const {
    make_current(L);
    for (const int place : {items_place, kernels_place}) {
        push_place(L, reference_, place);
        if (take_kernel(L, kernel)) return;
    }
    lua::fail(L, [] { return std::string("the script does not keep this kernel"); });
}

}  // namespace wgrun::c
