#include "bindings/lua/owned.hpp"

#include <new>

namespace wgrun::lua {

struct Owner {
    Owned* newest = nullptr;

    static void destroy(lua_State* L, Owner& owner);
};

namespace {

char owner_key;  // registry: the userdata of the Owner; false once it is gone

// __gc of the Owner, which is older than all that it owns and therefore finalized last.
int collect_owner(lua_State* L) {
    Owner::destroy(L, *static_cast<Owner*>(lua_touserdata(L, 1)));
    return 0;
}

}  // namespace

// Nothing here allocates memory: assignments to fields that are there do not.
void Owner::destroy(lua_State* L, Owner& owner) {
    lua_pushboolean(L, 0);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &owner_key);
    while (owner.newest != nullptr) {
        // Finalizers of the host may still reach the userdata: it shall be of no class any more.
        lua_pushnil(L);
        lua_rawsetp(L, LUA_REGISTRYINDEX, owner.newest->key_);
        delete owner.newest;
    }
}

Owner& owner(lua_State* L) {
    luaL_checkstack(L, 4, nullptr);
    const int type = lua_rawgetp(L, LUA_REGISTRYINDEX, &owner_key);
    if (type == LUA_TBOOLEAN) luaL_error(L, "wgrun cannot be used any more: its Lua state is being closed");
    if (type != LUA_TUSERDATA) {
        lua_pop(L, 1);
        new (lua_newuserdatauv(L, sizeof(Owner), 0)) Owner();
        lua_createtable(L, 0, 1);
        lua_pushcfunction(L, collect_owner);
        lua_setfield(L, -2, "__gc");
        lua_pushvalue(L, -2);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &owner_key);
        lua_setmetatable(L, -2);
    }
    auto& found = *static_cast<Owner*>(lua_touserdata(L, -1));
    lua_pop(L, 1);
    return found;
}

void Owned::join(Owner& owner, const void* key) noexcept {
    owner_ = &owner;
    key_ = key;
    next_ = owner.newest;
    if (next_ != nullptr) next_->previous_ = this;
    owner.newest = this;
}

Owned::~Owned() {
    if (owner_ == nullptr) return;
    (previous_ != nullptr ? previous_->next_ : owner_->newest) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
}

}  // namespace wgrun::lua
