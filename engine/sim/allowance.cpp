#include "sim/allowance.hpp"

#include <fmt/format.h>

#include <chrono>

#include "wgrun/count_of.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun::sim {

void Allowance::end(const char* code, std::string_view limit, std::string why, std::string fix,
                    const Where& where) const {
    EnvironmentError error(code, fmt::format("kernel {} {}; a warp was here", program_.name(), why),
                           std::move(fix));
    error.finding().where = where;
    error.finding().facts = {{"limit", std::string(limit)}};
    throw error;
}

void Allowance::take(std::uint64_t steps, const Where& where) {
    constexpr std::uint32_t between_clocks = 16;  // calls
    const std::uint64_t all = taken_.fetch_add(steps, std::memory_order_relaxed) + steps;
    if (launch_.most_steps != 0 && all > launch_.most_steps)
        end("ELIMIT", "steps",
            fmt::format("took more than {} on the simulator", count_of(launch_.most_steps, "step")),
            "raise the limit (--max-steps, Limits::simulation_steps), or simulate a smaller problem", where);
    if (launch_.timeout.count() == 0 || calls_.fetch_add(1, std::memory_order_relaxed) % between_clocks != 0)
        return;
    if (std::chrono::steady_clock::now() >= launch_.started + launch_.timeout)
        end("ETIMEDOUT", "time",
            fmt::format("did not end within {} s on the simulator",
                        static_cast<double>(launch_.timeout.count()) / 1000),
            "a larger timeout_ms, if it does end", where);
}

}  // namespace wgrun::sim
