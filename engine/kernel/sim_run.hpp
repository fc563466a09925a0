// A run of a kernel on the simulator: its arguments as the simulator sees them.
#pragma once

#include <vector>

#include "wgrun/kernel.hpp"

namespace wgrun {

namespace sim {
struct Synthetic;
struct Overlap;
}  // namespace sim

/// Returns the warnings of the run. CheckError if it has found an error, with the warnings behind the errors.
/// origin: of a kernel that was read from PTX, else null. overlap: null if no other launch can overlap it.
/// synthetic: null if nothing is.
std::vector<Diagnostic> run_on_simulator(const Program& program, const RunOptions& options,
                                         const ForeignEntry* origin, sim::Overlap* overlap = nullptr,
                                         const sim::Synthetic* synthetic = nullptr);

}  // namespace wgrun
