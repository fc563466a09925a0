// What happens when time is over, whatever the main thread does.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace wgrun::cli {

/// While it lives, `late` is called once, in a thread of its own, if the deadline comes.
class Watchdog {
  public:
    using Clock = std::chrono::steady_clock;

    /// Throws EnvironmentError EAGAIN if no thread can be made.
    Watchdog(Clock::time_point deadline, std::function<void()> late);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

  private:
    void watch(Clock::time_point deadline);

    std::function<void()> late_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool over_ = false;
    std::jthread thread_;
};

}  // namespace wgrun::cli
