// wg.device: the GPU, or why there is none.
#include <memory>

#include "bindings/lua/args.hpp"
#include "bindings/lua/types.hpp"
#include "wgrun/gpu.hpp"

namespace wgrun::lua {
namespace {

// wg.device(): { name =, capability = "9.0", sm_count =, memory_bytes =, l2_bytes =, shared_bytes =,
// memory_bandwidth =, driver_version = "13.0", held_bytes = }, or nil, why, code. Sizes in bytes; held_bytes:
// device memory that tensors and launches hold now.
int device(lua_State* L) {
    auto& info = held<gpu::DeviceInfo>(L);
    const int failed = attempted(L, [&] { info = gpu::find_device(); });
    if (failed != 0) return failed;
    lua_createtable(L, 0, 9);
    put_string(L, "name", info.name);
    lua_pushfstring(L, "%d.%d", info.major, info.minor);
    lua_setfield(L, -2, "capability");
    lua_pushfstring(L, "%d.%d", info.driver_version / 1000, info.driver_version % 1000 / 10);
    lua_setfield(L, -2, "driver_version");
    put_integer(L, "sm_count", info.sm_count);
    put_integer(L, "memory_bytes", static_cast<std::int64_t>(info.memory_bytes));
    put_integer(L, "l2_bytes", static_cast<std::int64_t>(info.l2_bytes));
    put_integer(L, "shared_bytes", static_cast<std::int64_t>(info.shared_bytes));
    lua_pushnumber(L, info.memory_bandwidth);
    lua_setfield(L, -2, "memory_bandwidth");
    put_integer(L, "held_bytes", static_cast<std::int64_t>(gpu::Device::held_bytes()));
    return 1;
}

}  // namespace

void open_device(lua_State* L) {
    static const Member functions[] = {{"device", device, R"(
Describes the GPU that kernels run on.
@return table  or nil, the reason why there is none, code
@field name string
@field capability string  "9.0"
@field sm_count integer
@field memory_bytes integer
@field l2_bytes integer  size of the L2 cache
@field memory_bandwidth number  of device memory, bytes in a second; 0 where the driver does not tell
@field shared_bytes integer  shared memory that a CTA can have
@field driver_version string  "13.0"
@field held_bytes integer  device memory that tensors and launches hold now)"},
                                       {}};
    add_functions(L, "wg", functions);
}

}  // namespace wgrun::lua
