// What scripts of a Lua state may take: memory, time, instructions, and what their kernels may.
//
// docs/sandbox.md says what each of them holds, and what it does not.
#pragma once

#include <lua.hpp>

#include <chrono>
#include <cstdint>

#pragma GCC visibility push(default)

namespace wgrun::lua {

/// 0 is no limit.
struct Limits {
    std::uint64_t memory = 0;            ///< bytes of the Lua state, with what is in it when the limit is set
    std::uint64_t instructions = 0;      ///< of Lua, counted by the thousand in each coroutine
    std::chrono::milliseconds time{0};   ///< from set_limits on
    std::uint64_t tensors = 0;           ///< bytes of the tensors that live at the same time
    std::uint64_t program = 0;           ///< instructions, blocks and registers of one kernel
    std::uint64_t simulation_steps = 0;  ///< warp instructions of one launch on the simulator
};

/// What a restricted script may take unless the host says otherwise: 512 MiB, a minute, 4 GiB of tensors,
/// 200,000 parts of a kernel.
Limits restricted_limits();

/// Sets the limits of this state, and begins to count; tensors that it made under an earlier limit of them
/// still count. Those of other states, on whatever thread, are their own. Call it when the standard libraries
/// are there, in a protected call: it raises a Lua error where there is no memory.
///
/// Where there is a limit of memory, the allocator of the state is wrapped, for good: lua_getallocf then
/// gives another than the host's. Finalizers may take 64 KiB above the limit, for Lua drops those for whose
/// call there is no memory. Where there is one of instructions or time, a debug hook is set, xpcall
/// leaves its handler out once the limit is reached, and setmetatable refuses finalizers: Lua runs both
/// without hooks. A script that has come to the end of its instructions or time is stopped by an error with
/// code ELIMIT, again and again until the outermost caller has it; the state can be used again once the
/// limits are set anew.
void set_limits(lua_State* L, const Limits& limits);

/// What ends a script as a whole. What only ends a call, as those of tensors do, is an error with code ELIMIT
/// and no more.
enum class Limit : unsigned char { none, memory, instructions, time };

/// What the state has come to the end of since set_limits; for memory: whether it was ever refused some, even
/// if the script caught that.
Limit limit_reached(lua_State* L);

}  // namespace wgrun::lua

#pragma GCC visibility pop
