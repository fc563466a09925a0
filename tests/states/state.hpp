// A Lua state for a test.
#pragma once

#include <lua.hpp>
#include <string>

#include "wgrun/lua.hpp"

namespace wgrun::test {

class State {
  public:
    State() : L_(luaL_newstate()) {}
    explicit State(lua_State* L) : L_(L) {}
    ~State() {
        if (L_ != nullptr) lua_close(L_);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    operator lua_State*() const { return L_; }

    /// The standard libraries and, for require, wgrun.
    void open() {
        luaL_openlibs(L_);
        luaL_getsubtable(L_, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
        lua_pushcfunction(L_, luaopen_wgrun);
        lua_setfield(L_, -2, "wgrun");
        lua_pop(L_, 1);
    }

    /// Runs code; gives its first result, or its error, as text.
    std::string run(const char* code) {
        if (luaL_loadstring(L_, code) == LUA_OK) lua_pcall(L_, 0, 1, 0);
        std::string text = luaL_tolstring(L_, -1, nullptr);
        lua_settop(L_, 0);
        return text;
    }

  private:
    lua_State* L_;
};

}  // namespace wgrun::test
