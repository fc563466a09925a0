// Ending long work before its end.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

#pragma GCC visibility push(default)

namespace wgrun {

/// While it lives, what the thread that made it has wgrun do can be ended from outside: loading, checking,
/// proofs, printing, compiling, simulating. It belongs to a thread and a scope; one within another adds to
/// it. The work ends with EnvironmentError EINTR, or ETIMEDOUT after the deadline, and leaves everything as
/// it was before.
class Cancellation {
  public:
    using Clock = std::chrono::steady_clock;

    /// stop: the work ends when it is true; any thread and any signal handler may set it, before the work
    /// begins, too. May be null.
    explicit Cancellation(const std::atomic<bool>* stop,
                          Clock::time_point deadline = Clock::time_point::max());
    /// asked: called in this thread, at most every 20 ms; the work ends once it returns true. It must not
    /// throw.
    explicit Cancellation(std::function<bool()> asked);
    ~Cancellation();
    Cancellation(const Cancellation&) = delete;
    Cancellation& operator=(const Cancellation&) = delete;

    /// Throws if the work of this thread is to end. Long work calls it often: it costs a few nanoseconds.
    static void poll() {
        if (innermost_ != nullptr) look();
    }
    /// Whether poll() would throw. Asks all at once.
    static bool requested() noexcept;
    /// Whether anything may end the work of this thread.
    static bool possible() noexcept { return innermost_ != nullptr; }

  private:
    enum class Reason : unsigned char { none, stopped, late };
    static void look();
    Reason reason(bool all) noexcept;

    static thread_local Cancellation* innermost_;

    Cancellation* const around_ = innermost_;
    const std::atomic<bool>* const stop_ = nullptr;
    const Clock::time_point deadline_ = Clock::time_point::max();
    const std::function<bool()> asked_{};
    Clock::time_point next_look_{};
    unsigned polls_ = 0;
    Reason found_ = Reason::none;  ///< a reason stays
};

}  // namespace wgrun

#pragma GCC visibility pop
