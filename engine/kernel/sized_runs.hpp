// What is found of a kernel that nobody launches: runs of its first cluster in launches that are made up
// whole, with several numbers for its sizes.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "wgrun/diagnostic.hpp"
#include "wgrun/program.hpp"

namespace wgrun {

/// What launches show whose numbers are made up.
struct SizedFindings {
    std::vector<Diagnostic> findings;
    /// The numbers of the launches that show them, all of those that were tried and could be run.
    std::vector<std::uint32_t> numbers;
};

/// Returns what is wrong in the synchronisation of a CTA or cluster in every launch that could be tried: each
/// passes one number for all sizes, and so does memory. A kernel may be meant for other numbers: launches
/// that break other laws, too, do not count, and what a single one shows is told only if no number can excuse
/// it. Nothing for programs with instructions that the simulator does not know. Takes as long as a kernel of
/// its size does on the simulator, `most` at most. Thread-safe.
SizedFindings found_in_sized_launches(const Program& program,
                                      std::chrono::milliseconds most = std::chrono::seconds(4));

}  // namespace wgrun
