// wg.device: what runs here, or why not.
#include <algorithm>
#include <memory>

#include "bindings/lua/types.hpp"
#include "wgrun/gpu.hpp"

namespace wgrun::lua {
namespace {

void set_integer(lua_State* L, const char* key, std::size_t value) {
    lua_pushinteger(L, static_cast<lua_Integer>(value));
    lua_setfield(L, -2, key);
}

// wg.device(): { name =, capability = "9.0", sm_count =, memory_bytes =, l2_bytes =, shared_bytes =,
// driver_version = "13.0" }, or nil, why, code. Sizes in bytes.
int device(lua_State* L) {
    auto& info = held<gpu::DeviceInfo>(L);
    const int failed = attempted(L, [&] {
        const gpu::Report report = gpu::doctor();
        const auto hopper = [](const gpu::DeviceInfo& d) { return d.major == 9 && d.minor == 0; };
        const auto found = std::find_if(report.devices.begin(), report.devices.end(), hopper);
        if (!report.no_device.empty() || found == report.devices.end()) {
            throw EnvironmentError("ENODEV", report.no_device.empty() ? "no sm_90 device" : report.no_device);
        }
        info = *found;
    });
    if (failed != 0) return failed;
    lua_createtable(L, 0, 7);
    lua_pushlstring(L, info.name.data(), info.name.size());
    lua_setfield(L, -2, "name");
    lua_pushfstring(L, "%d.%d", info.major, info.minor);
    lua_setfield(L, -2, "capability");
    lua_pushfstring(L, "%d.%d", info.driver_version / 1000, info.driver_version % 1000 / 10);
    lua_setfield(L, -2, "driver_version");
    set_integer(L, "sm_count", static_cast<std::size_t>(info.sm_count));
    set_integer(L, "memory_bytes", info.memory_bytes);
    set_integer(L, "l2_bytes", info.l2_bytes);
    set_integer(L, "shared_bytes", info.shared_bytes);
    return 1;
}

}  // namespace

void open_device(lua_State* L) {
    lua_pushcfunction(L, device);
    lua_setfield(L, -2, "device");
}

}  // namespace wgrun::lua
