// The limits of a state from inside: what is counted, and where it is checked.
#pragma once

#include <lua.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "bindings/lua/guard.hpp"
#include "wgrun/limits.hpp"
#include "wgrun/tensor_budget.hpp"

namespace wgrun::lua {

/// The limits of one Lua state, and what has been used.
struct LimitState {
    Limits limits;
    bool restricted = false;   ///< made by open_restricted (sandbox.hpp)
    bool cancellable = false;  ///< Lua code looks whether its work is cancelled
    std::uint64_t instructions = 0;
    std::chrono::steady_clock::time_point deadline;
    std::atomic<Limit> reached = Limit::none;  ///< instructions or time
    std::uint64_t parts = 0;                   ///< of the kernel that is being built
    std::optional<TensorBudget> tensors;
};

/// Made without limits on the first call; lives as long as the state.
LimitState& limit_state(lua_State* L);

/// "the script has run for more than 2 s", with the fact `limit`, and how to raise it.
Diagnostic limit_finding(Limit limit, const Limits& limits, const Where& where = {});
/// How to raise it.
std::string advice_on(Limit limit);

/// Whether the state was refused memory since its limit was set. Allocates nothing.
bool memory_refused(lua_State* L) noexcept;

/// The error of a script that has used up its instructions or time.
Error limit_error(const LimitState& here);

/// The remaining time if it is shorter than `timeout` (0: none), else `timeout`.
std::chrono::milliseconds within_limit(lua_State* L, std::chrono::milliseconds timeout);

/// Whether the script's time is over; then `reached` is set, too.
bool out_of_time(LimitState& here);

/// Counts `parts` more of the kernel that is being built. Raises at the limit of its size.
void spend(lua_State* L, std::uint64_t parts);

/// xpcall, whose handler would run without end where a script is stopped.
void guard_handlers(lua_State* L);
/// xpcall, setmetatable: see set_limits.
void guard_globals(lua_State* L);

/// Lives in the body of guarded() or attempted(): tensors that are made there are charged to the state.
class Charging {
  public:
    explicit Charging(const LimitState& here) {
        if (here.tensors) scope_.emplace(*here.tensors);
    }

  private:
    std::optional<TensorBudget::Scope> scope_;
};

/// guarded(), for bodies that make tensors.
template <class Body>
auto charged(lua_State* L, Body&& body) {
    const LimitState& here = limit_state(L);
    return guarded(L, [&] {
        const Charging charging(here);
        return body();
    });
}

/// For long work in a body of guarded() or attempted(): if the script's time ends meanwhile, the error says
/// so.
template <class Take>
auto on_time(LimitState& here, Take&& take) {
    try {
        return take();
    } catch (const EnvironmentError& error) {
        if (error.code() != "ETIMEDOUT" || !out_of_time(here)) throw;
        throw limit_error(here);
    }
}

}  // namespace wgrun::lua
