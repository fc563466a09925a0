#include "bindings/lua/session.hpp"

#include <cstdio>

#include "bindings/lua/userdata.hpp"

namespace wgrun::lua {
namespace {

char kernels_key;  // registry: the list of kernels

}  // namespace

Session& session(lua_State* L) { return kept<Session>(L); }

void print_text(lua_State* L, std::string_view text) {
    if (const Session& here = session(L); here.print)
        here.print(text);
    else
        std::fwrite(text.data(), 1, text.size(), stdout);
}

Backend resolve_backend(lua_State* L, Backend asked) {
    Session& here = session(L);
    return guarded(L, [&] {
        const Backend wanted = asked == Backend::automatic ? here.backend : asked;
        if (wanted != Backend::automatic) return wanted;
        const gpu::Patience patience(std::chrono::seconds(10), &here.stop);
        const BackendChoice choice = choose_backend(wanted, here.isolation);
        if (choice.backend == Backend::sim && !here.said_simulator && here.remark) {
            here.remark("running on the simulator: " + choice.why);
        }
        here.said_simulator = here.said_simulator || choice.backend == Backend::sim;
        return choice.backend;
    });
}

void push_kernels(lua_State* L) {
    luaL_checkstack(L, 4, nullptr);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kernels_key) == LUA_TTABLE) return;
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &kernels_key);
}

void set_kernels(lua_State* L) { lua_rawsetp(L, LUA_REGISTRYINDEX, &kernels_key); }

void remember_kernel(lua_State* L, int index) {
    if (session(L).mode == Mode::run) return;
    index = lua_absindex(L, index);
    push_kernels(L);
    lua_pushvalue(L, index);
    lua_rawseti(L, -2, static_cast<lua_Integer>(lua_rawlen(L, -2)) + 1);
    lua_pop(L, 1);
}

}  // namespace wgrun::lua
