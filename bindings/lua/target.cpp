// wg.target: the numbers of the chip that kernels are written for.
#include "wgrun/target.hpp"

#include "bindings/lua/types.hpp"

namespace wgrun::lua {

void open_target(lua_State* L) {
    const auto set = [&](const char* name, std::int64_t value) {
        lua_pushinteger(L, value);
        lua_setfield(L, -2, name);
    };
    constexpr const Target& chip = sm_90a;
    lua_createtable(L, 0, 20);
    lua_pushlstring(L, chip.name.data(), chip.name.size());
    lua_setfield(L, -2, "name");
    set("multiprocessors", chip.multiprocessors);
    set("lanes", chip.lanes);
    set("warpgroup", chip.warpgroup);
    set("cta_threads", chip.cta_threads);
    set("sm_threads", chip.sm_threads);
    set("sm_ctas", chip.sm_ctas);
    set("barriers", chip.barriers);
    set("portable_cluster", chip.portable_cluster);
    set("cluster", chip.cluster);
    set("registers", chip.registers);
    set("thread_registers", chip.thread_registers);
    set("register_unit", chip.register_unit);
    set("least_setmaxnreg", chip.least_setmaxnreg);
    set("most_setmaxnreg", chip.most_setmaxnreg);
    set("sm_shared", chip.sm_shared);
    set("cta_reserved", chip.cta_reserved);
    set("cta_shared", chip.cta_shared());
    set("shared_base", chip.shared_base);
    set("l2", chip.l2);
    lua_setfield(L, -2, "target");
}

}  // namespace wgrun::lua
