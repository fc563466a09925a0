#include "bindings/cli/watchdog.hpp"

#include <string>
#include <system_error>
#include <utility>

#include "file/signals.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun::cli {

Watchdog::Watchdog(Clock::time_point deadline, std::function<void()> late) : late_(std::move(late)) {
    const file::SignalsHeld for_the_main_thread;
    try {
        thread_ = std::jthread([this, deadline] { watch(deadline); });
    } catch (const std::system_error& error) {
        throw EnvironmentError(
            "EAGAIN", "cannot start a thread that watches the time: " + error.code().message(),
            "allow more processes (ulimit -u), or lift the limit of time (--max-seconds 0)");
    }
}

Watchdog::~Watchdog() {
    const std::lock_guard lock(mutex_);
    over_ = true;
    ended_.notify_all();
}

void Watchdog::watch(Clock::time_point deadline) {
    {
        std::unique_lock lock(mutex_);
        if (ended_.wait_until(lock, deadline, [this] { return over_; })) return;
    }
    late_();
}

}  // namespace wgrun::cli
