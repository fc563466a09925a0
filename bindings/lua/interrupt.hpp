// Stopping Lua code from outside.
//
// A hook that is always on would make Lua three times slower, so it is set at the moment of the interrupt, on
// the coroutine that runs just then. Lua does not say which that is: coroutine.resume and coroutine.wrap are
// wrapped.
#pragma once

#include <lua.hpp>

namespace wgrun::lua {

struct Session;

/// Prepares the state; call it after the standard libraries are there.
void install_interrupt(lua_State* L);

/// Raises session.stop of the state prepared last and stops its Lua code: an error object with code EINTR is
/// raised, again and again while the flag is up, until the outermost caller has it. To be called from a
/// signal handler of the thread that runs Lua, or from that thread itself. False if the flag was up already.
bool interrupt() noexcept;

/// Is `session` that of the state prepared last?
bool has_interrupts(const Session& session) noexcept;

/// Counts the instructions and looks at the time of this state from now on, in coroutines too (limits.hpp).
void watch_limits(lua_State* L);

/// No state is prepared any more. Call it before lua_close.
void forget_interrupt() noexcept;

}  // namespace wgrun::lua
