#include "bindings/cli/watchdog.hpp"

#include <unistd.h>

#include <string>
#include <system_error>

#include "bindings/cli/cli.hpp"
#include "file/leftovers.hpp"
#include "file/signals.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun::cli {

Watchdog::Watchdog(lua::LimitState& limits, std::atomic<bool>& stop) {
    if (limits.limits.time.count() == 0) return;
    const file::SignalsHeld for_the_thread_that_runs_lua;
    try {
        thread_ = std::jthread([this, &limits, &stop] { watch(limits, stop); });
    } catch (const std::system_error& error) {
        throw EnvironmentError(
            "EAGAIN", "cannot start a thread that watches the time of the script: " + error.code().message(),
            "allow more processes (ulimit -u), or lift the limit of time (--max-seconds 0)");
    }
}

Watchdog::~Watchdog() {
    const std::lock_guard lock(mutex_);
    over_ = true;
    ended_.notify_all();
}

void Watchdog::watch(lua::LimitState& limits, std::atomic<bool>& stop) {
    constexpr auto grace = std::chrono::seconds(2);
    const auto ended_by = [this](std::chrono::steady_clock::time_point when) {
        std::unique_lock lock(mutex_);
        return ended_.wait_until(lock, when, [this] { return over_; });
    };
    if (ended_by(limits.deadline)) return;
    limits.reached = lua::Limit::time;
    stop = true;
    if (ended_by(limits.deadline + grace)) return;
    remark("wgrun: " + lua::limit_finding(lua::Limit::time, limits.limits).message +
           " and did not stop: " + lua::advice_on(lua::Limit::time));
    file::remove_leftovers();
    _exit(Exit::failed);
}

}  // namespace wgrun::cli
