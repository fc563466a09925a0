// How much the proofs of a kernel may take: operations, so that what is proved does not depend on the
// machine. Time is a second limit, for machines that are several times slower.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "wgrun/assumptions.hpp"
#include "wgrun/cancellation.hpp"

namespace wgrun::check {

class Budget {
  public:
    static constexpr const char* more = "--budget SECONDS gives more";

    explicit Budget(const Assumptions& given = {}) : seconds_(given.seconds), stop_(given.stop) {}

    /// Of all abstract executions of a proof together, and of those that look for sizes that break.
    std::int64_t operations() const { return static_cast<std::int64_t>(600000 * seconds_); }
    std::int64_t plain_operations() const { return static_cast<std::int64_t>(300000 * seconds_); }
    /// That are kept of all states of an exploration, some 40 bytes each: memory is limited as time is.
    std::size_t numbers() const { return static_cast<std::size_t>((4 << 20) * std::min(seconds_, 10.0)); }
    /// Of isl, in all questions about a kernel.
    unsigned long questions() const { return static_cast<unsigned long>(1000000 * seconds_); }
    bool is_over() const {
        return std::chrono::steady_clock::now() - began_ > std::chrono::duration<double>(2 * seconds_ + 4);
    }
    /// Throws EnvironmentError EINTR if the work was interrupted.
    void poll() const {
        if (stop_ != nullptr && *stop_) throw EnvironmentError("EINTR", "interrupted");
        Cancellation::poll();
    }

  private:
    double seconds_;
    const std::atomic<bool>* stop_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace wgrun::check
