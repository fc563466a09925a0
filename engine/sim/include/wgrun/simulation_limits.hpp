// The limits of a simulated launch.
#pragma once

#include <chrono>
#include <cstdint>

#pragma GCC visibility push(default)

namespace wgrun {

/// A plain value, a part of RunOptions and HostSimulation.
struct SimulationLimits {
    std::chrono::milliseconds timeout{0};  ///< of one launch, 0: none; beyond it EnvironmentError ETIMEDOUT
    std::uint64_t steps = 0;  ///< warp instructions of one launch, 0: no limit; beyond them ELIMIT
    int multiprocessors = 0;  ///< of the chip, which hold the CTAs that run at a time; 0: those of an H200
};

}  // namespace wgrun

#pragma GCC visibility pop
