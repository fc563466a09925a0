// What scripts of a state may take: memory, time, instructions, and what kernels may.
//
// docs/sandbox.md says what each of them holds, and what it does not.
#pragma once

#include <lua.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace wgrun::lua {

/// 0 is no limit.
struct Limits {
    std::uint64_t memory = 0;            ///< bytes of the Lua state, with what is in it when the limit is set
    std::uint64_t instructions = 0;      ///< of Lua, counted by the thousand in each coroutine
    std::chrono::milliseconds time{0};   ///< from set_limits on
    std::uint64_t tensors = 0;           ///< bytes of tensors together; the host gives them a TensorBudget
    std::uint64_t program = 0;           ///< instructions, blocks and registers of one kernel
    std::uint64_t simulation_steps = 0;  ///< warp instructions of one launch on the simulator
};

/// What a restricted script may take unless the host says otherwise: 512 MiB, a minute, 4 GiB of tensors,
/// 200,000 parts of a kernel.
Limits restricted_limits();

/// What a script has come to the end of.
enum class Limit : unsigned char { none, instructions, time };

/// What is known of the limits of one Lua state.
struct LimitState {
    Limits limits;
    bool restricted = false;  ///< made by open_restricted (sandbox.hpp)
    std::uint64_t instructions = 0;
    std::chrono::steady_clock::time_point deadline;
    std::atomic<Limit> reached = Limit::none;
    std::uint64_t parts = 0;  ///< of the kernel that is being built
};

/// Made without limits on the first call; lives as long as the state.
LimitState& limit_state(lua_State* L);

/// Sets the limits of this state, and begins to count. The allocator of the state is wrapped (for good) where
/// there is a limit of memory; where there is one of instructions or time, a hook is set, xpcall leaves
/// its handler out once the limit is reached, and setmetatable refuses finalizers: Lua runs both without
/// hooks. Call it when the standard libraries are there. A script that has come to the end of its
/// instructions or time is stopped by an error with code ELIMIT, again and again until the outermost caller
/// has it, or the limits are set anew.
void set_limits(lua_State* L, const Limits& limits);

/// "the script has taken more than 2 s", and how to raise the limit.
std::string text_of(Limit limit, const Limits& limits);
std::string advice_on(Limit limit);
std::string text_of_memory(const Limits& limits);

/// The time that is left if it is shorter than `timeout` (0: none), else `timeout`.
std::chrono::milliseconds within_limit(lua_State* L, std::chrono::milliseconds timeout);

/// Counts `parts` more of the kernel that is being built. Raises at the limit of its size.
void spend(lua_State* L, std::uint64_t parts);

/// xpcall, setmetatable: see set_limits.
void guard_globals(lua_State* L);

}  // namespace wgrun::lua
