// Limits of a Lua state's scripts and their kernels: memory, time, instructions.
//
// docs/sandbox.md says what each limit guarantees, and what it does not.
#pragma once

#include <lua.hpp>

#include <chrono>
#include <cstdint>

#pragma GCC visibility push(default)

namespace wgrun::lua {

/// 0 means no limit.
struct Limits {
    std::uint64_t memory = 0;  ///< bytes of the Lua state, including what it holds when the limit is set
    std::uint64_t instructions = 0;      ///< Lua instructions, counted by the thousand in each coroutine
    std::chrono::milliseconds time{0};   ///< since set_limits
    std::uint64_t tensors = 0;           ///< bytes of the tensors that exist at the same time
    std::uint64_t program = 0;           ///< instructions, blocks and registers of one kernel
    std::uint64_t simulation_steps = 0;  ///< warp instructions of one launch on the simulator
    int multiprocessors = 0;             ///< SMs of the chip that the simulator stands for; 0: an H200's
};

/// The limits of a restricted script unless the host sets others: 512 MiB, a minute, 4 GiB of tensors,
/// 200,000 instructions, blocks and registers of a kernel.
Limits restricted_limits();

/// Sets the limits of this state and begins to count. Tensors that the state made under an earlier limit
/// still count. Other states have limits of their own, on any thread. Call it after the standard libraries
/// were opened, in a protected call: it raises a Lua error if there is not enough memory.
///
/// A limit of memory wraps the allocator of the state permanently: lua_getallocf then returns another than
/// the host's. Finalizers may use 64 KiB above the limit, since Lua drops a finalizer for whose call there is
/// not enough memory. A limit of instructions or time sets a debug hook; xpcall then skips its handler once
/// the limit is reached, and setmetatable refuses finalizers, since Lua runs both without hooks. A script
/// that has used up its instructions or time is stopped by an error with code ELIMIT, which is raised again
/// until it reaches the outermost caller; the state can be used again once its limits are set anew.
void set_limits(lua_State* L, const Limits& limits);

/// From now on a Cancellation (wgrun/cancellation.hpp) of the thread that runs this state ends its Lua code,
/// too, with an error with code EINTR, as a limit does; Lua then looks at it every 1000 instructions. Call it
/// as set_limits.
void watch_cancellation(lua_State* L);

/// The limits that end the whole script. A limit that ends only a call, such as that of tensors, is just an
/// error with code ELIMIT.
enum class Limit : unsigned char { none, memory, instructions, time };

/// The limit that the state has reached since set_limits; for memory, whether a request was ever refused,
/// even if the script caught the error.
Limit limit_reached(lua_State* L);

}  // namespace wgrun::lua

#pragma GCC visibility pop
