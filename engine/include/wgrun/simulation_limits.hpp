// How long a simulated launch may go on.
#pragma once

#include <chrono>
#include <cstdint>

#pragma GCC visibility push(default)

namespace wgrun {

struct SimulationLimits {
    std::chrono::milliseconds timeout{0};  ///< of one launch; 0: none. Ends with EnvironmentError ETIMEDOUT
    std::uint64_t steps = 0;  ///< warp instructions of one launch; 0: any number. Ends with ELIMIT

    /// Those of this thread; none unless it has a Scope.
    static SimulationLimits current();

    /// Gives them to the launches on the simulator that this thread runs or prepares meanwhile. A prepared
    /// launch keeps those under which it was prepared.
    class Scope {
      public:
        explicit Scope(SimulationLimits limits);
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

      private:
        std::chrono::milliseconds timeout_;
        std::uint64_t steps_;
    };
};

}  // namespace wgrun

#pragma GCC visibility pop
