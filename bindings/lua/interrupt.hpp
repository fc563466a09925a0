// Stopping Lua code from outside.
//
// A hook that is always on would make Lua three times slower, so it is set at the moment of the interrupt, on
// the running coroutine. Since Lua does not say which one that is, coroutine.resume and coroutine.wrap are
// wrapped.
#pragma once

#include <lua.hpp>

namespace wgrun::lua {

struct Session;

/// Prepares the state; call it after the standard libraries are there.
void install_interrupt(lua_State* L);

/// Raises session.stop of the state prepared last and stops its Lua code: an error object with code EINTR is
/// raised repeatedly while the flag is set, until it reaches the outermost caller. May be called from a
/// signal handler of the thread that runs Lua, or from that thread itself. Returns false if the flag was
/// already set.
bool interrupt() noexcept;

/// Whether an interrupt of that state has not been answered yet. May be called from a signal handler.
bool interrupted() noexcept;

/// Whether `session` belongs to the state prepared last.
bool has_interrupts(const Session& session) noexcept;

/// From now on counts instructions and checks the time of this state, including its coroutines (limits.hpp).
void watch_limits(lua_State* L);

/// Forgets the prepared state. Call it before lua_close.
void forget_interrupt() noexcept;

}  // namespace wgrun::lua
