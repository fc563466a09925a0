// wg.target: the numbers of the chip that kernels are written for. wg.chips: what differs between chips.
#include "wgrun/target.hpp"

#include <type_traits>

#include "bindings/lua/types.hpp"
#include "wgrun/chips.hpp"

namespace wgrun::lua {
namespace {

void open_chips(lua_State* L) {
    lua_createtable(L, 0, static_cast<int>(chips.size()));
    for (const Chip& chip : chips) {
        const auto set = [&](const char* name, auto value) {
            if constexpr (std::is_integral_v<decltype(value)>)
                lua_pushinteger(L, value);
            else
                lua_pushnumber(L, value);
            lua_setfield(L, -2, name);
        };
        lua_pushlstring(L, chip.name.data(), chip.name.size());
        lua_createtable(L, 0, 5);
        set("sm_count", chip.multiprocessors);
        set("clock", chip.clock);
        set("l2_bytes", chip.l2_bytes);
        set("memory_bytes", chip.memory_bytes);
        set("memory_bandwidth", chip.memory_bandwidth);
        lua_rawset(L, -3);
    }
    lua_setfield(L, -2, "chips");
}

}  // namespace

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
    open_chips(L);
}

}  // namespace wgrun::lua
