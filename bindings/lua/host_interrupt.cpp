#include "bindings/lua/host_interrupt.hpp"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <system_error>
#include <thread>

#include "bindings/lua/interrupt.hpp"
#include "bindings/lua/session.hpp"

namespace wgrun::lua {
namespace {

constexpr std::chrono::milliseconds between_looks{20};

}  // namespace

HostHooks host_hooks(lua_State* L) {
    luaL_checkstack(L, 1, nullptr);
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    lua_State* main = lua_tothread(L, -1);
    lua_pop(L, 1);
    Session& here = session(L);
    return {{L, main}, {lua_gethook(L), lua_gethook(main)}, has_interrupts(here) ? nullptr : &here.stop};
}

struct HostInterrupt::Watch {
    HostHooks hooks;
    bool raised = false;
    bool over = false;
    std::mutex mutex;
    std::condition_variable ended;
    std::thread thread;

    explicit Watch(const HostHooks& hooks_before) : hooks(hooks_before) {}

    void run() {
        std::unique_lock lock(mutex);
        while (!ended.wait_for(lock, between_looks, [&] { return over; })) {
            for (std::size_t i = 0; i < hooks.states.size(); ++i) {
                const lua_Hook now = lua_gethook(hooks.states[i]);
                if (now != nullptr && now != hooks.before[i]) raised = !hooks.stop->exchange(true) || raised;
            }
        }
    }
};

HostInterrupt::HostInterrupt(const HostHooks& hooks) {
    if (hooks.stop == nullptr) return;
    cancellation_.emplace(hooks.stop);
    watch_ = std::make_unique<Watch>(hooks);
    // Signals are left to the threads of the host.
    sigset_t all;
    sigset_t mine;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mine);
    try {
        watch_->thread = std::thread([watch = watch_.get()] { watch->run(); });
    } catch (const std::system_error&) {
        watch_.reset();  // no thread is available: the work runs to its end
    }
    pthread_sigmask(SIG_SETMASK, &mine, nullptr);
}

HostInterrupt::~HostInterrupt() {
    if (watch_ == nullptr) return;
    {
        const std::lock_guard lock(watch_->mutex);
        watch_->over = true;
    }
    watch_->ended.notify_one();
    watch_->thread.join();
    if (watch_->raised) *watch_->hooks.stop = false;
}

}  // namespace wgrun::lua
