// The last means against a script that does not stop.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "bindings/lua/limits.hpp"

namespace wgrun::cli {

/// While it lives, a script whose time is over is stopped also where Lua looks at nothing: what the engine
/// runs ends at once, and the whole process two seconds later, with exit code 1, if the script is in a C
/// function that takes for ever (a pattern with many repetitions).
class Watchdog {
  public:
    /// Does nothing where there is no limit of time. `stop` is the session's; both outlive it.
    /// EnvironmentError EAGAIN when no thread can be made.
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
