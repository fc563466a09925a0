// The allowance of a simulation, in time and in steps. The clusters of a grid share it.
#pragma once

#include <atomic>
#include <cstdint>

#include "sim/sim.hpp"
#include "wgrun/program.hpp"

namespace wgrun::sim {

class Allowance {
  public:
    Allowance(const Program& program, const SimulatedLaunch& launch) : program_(program), launch_(launch) {}

    /// Takes `steps` more, executed at `where`. Throws EnvironmentError with that place: ETIMEDOUT when the
    /// time is over, ELIMIT when there were too many steps.
    void take(std::uint64_t steps, const Where& where);
    std::uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }

  private:
    [[noreturn]] void end(const char* code, std::string_view limit, std::string why, std::string fix,
                          const Where& where) const;

    const Program& program_;
    const SimulatedLaunch& launch_;
    std::atomic<std::uint64_t> taken_{0};
    std::atomic<std::uint32_t> calls_{0};
};

}  // namespace wgrun::sim
