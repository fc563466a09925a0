// The last resort against a script that does not stop.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "bindings/lua/limits.hpp"

namespace wgrun::cli {

/// While it lives, a script whose time is over is stopped even where Lua checks no limits: work of the engine
/// ends at once, and if the script is in a C function that takes very long (a pattern with many repetitions),
/// the process ends two seconds later with exit code 1.
class Watchdog {
  public:
    /// Does nothing if there is no limit of time. `stop` is the session's; both outlive this object. Throws
    /// EnvironmentError EAGAIN if no thread can be made.
    Watchdog(lua::LimitState& limits, std::atomic<bool>& stop);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

  private:
    void watch(lua::LimitState& limits, std::atomic<bool>& stop);

    std::mutex mutex_;
    std::condition_variable ended_;
    bool over_ = false;
    std::jthread thread_;
};

}  // namespace wgrun::cli
