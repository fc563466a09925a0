#include <fmt/format.h>

#include "wgrun/gpu.hpp"

namespace wgrun::gpu {

namespace {

const Patience::Limits unasked;
thread_local const Patience::Limits* innermost = &unasked;

}  // namespace

Patience::Patience(std::chrono::milliseconds timeout, const std::atomic<bool>* stop)
    : limits_{timeout, stop != nullptr ? stop : innermost->stop}, outer_(innermost) {
    if (timeout.count() < 0)
        throw ArgumentError(fmt::format("timeout of {} ms: must be 0 (no limit) or more", timeout.count()));
    innermost = &limits_;
}

Patience::~Patience() { innermost = outer_; }

const Patience::Limits& Patience::current() { return *innermost; }

}  // namespace wgrun::gpu
