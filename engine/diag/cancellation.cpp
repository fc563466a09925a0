#include "wgrun/cancellation.hpp"

#include <utility>

#include "wgrun/diagnostic.hpp"

namespace wgrun {

thread_local Cancellation* Cancellation::innermost_ = nullptr;

Cancellation::Cancellation(const std::atomic<bool>* stop, Clock::time_point deadline)
    : stop_(stop), deadline_(deadline) {
    innermost_ = this;
}

Cancellation::Cancellation(std::function<bool()> asked) : asked_(std::move(asked)) { innermost_ = this; }

Cancellation::~Cancellation() { innermost_ = around_; }

Cancellation::Reason Cancellation::reason(bool all) noexcept {
    constexpr unsigned polls_between_looks_at_the_clock = 64;
    constexpr auto between_questions = std::chrono::milliseconds(20);
    if (found_ != Reason::none) return found_;
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) return Reason::stopped;
    if (deadline_ == Clock::time_point::max() && !asked_) return Reason::none;
    if (!all && polls_++ % polls_between_looks_at_the_clock != 0) return Reason::none;
    const Clock::time_point now = Clock::now();
    if (now >= deadline_) found_ = Reason::late;
    if (asked_ && now >= next_look_) {
        next_look_ = now + between_questions;
        if (asked_()) found_ = Reason::stopped;
    }
    return found_;
}

bool Cancellation::requested() noexcept {
    for (Cancellation* each = innermost_; each != nullptr; each = each->around_)
        if (each->reason(true) != Reason::none) return true;
    return false;
}

void Cancellation::look() {
    for (Cancellation* each = innermost_; each != nullptr; each = each->around_) {
        const Reason reason = each->reason(false);
        if (reason == Reason::stopped) throw EnvironmentError("EINTR", "interrupted");
        if (reason == Reason::late) throw EnvironmentError("ETIMEDOUT", "the time for this work is over");
    }
}

}  // namespace wgrun
