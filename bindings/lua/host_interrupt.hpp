// Ctrl-C where the host has its own way to stop Lua: lua5.4 sets a debug hook on its state, from its signal
// handler, and the hook raises an error at the next Lua instruction. A call of the engine that is in progress
// would otherwise have to finish first.
#pragma once

#include <lua.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <optional>

#include "bindings/lua/guard.hpp"
#include "wgrun/cancellation.hpp"

namespace wgrun::lua {

/// The hooks of a state before a long call.
struct HostHooks {
    std::array<lua_State*, 2> states;  ///< the coroutine that runs, and the main one
    std::array<lua_Hook, 2> before;
    std::atomic<bool>* stop;  ///< the session's; null where interrupts come by interrupt.hpp
};
HostHooks host_hooks(lua_State* L);

/// While it lives, a hook that is set on the state raises session(L).stop: the engine's work ends with EINTR,
/// and the hook then does what the host intended.
///
/// It is made and destroyed in the body of guarded(). Its thread only reads which hook is set.
class HostInterrupt {
  public:
    explicit HostInterrupt(const HostHooks& hooks);
    ~HostInterrupt();
    HostInterrupt(const HostInterrupt&) = delete;
    HostInterrupt& operator=(const HostInterrupt&) = delete;

  private:
    struct Watch;
    std::unique_ptr<Watch> watch_;
    std::optional<Cancellation> cancellation_;
};

/// guarded(), for a body that takes long.
template <class Body>
void guarded_work(lua_State* L, Body&& body) {
    const HostHooks hooks = host_hooks(L);
    guarded(L, [&] {
        const HostInterrupt interrupt(hooks);
        body();
    });
}

}  // namespace wgrun::lua
