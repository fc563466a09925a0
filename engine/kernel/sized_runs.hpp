// What is found of a kernel that nobody launches: runs of its first cluster in launches that are synthetic
// whole, with several numbers for its sizes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "wgrun/diagnostic.hpp"
#include "wgrun/program.hpp"

namespace wgrun {

/// What launches show whose numbers are synthetic.
struct SizedFinding {
    Diagnostic finding;
    std::vector<std::uint32_t> numbers;  ///< of the launches that show it
    bool in_all = false;                 ///< all do that could be run
};

/// What is to be tried.
struct SizedTrials {
    /// Returns the program for the i-th shape of its CTAs and clusters; nothing behind the last one. What is
    /// found must show in all of them that count.
    std::function<std::optional<Program>(std::size_t i)> shape;
    bool shape_is_known = true;  ///< there is only one
    /// The shapes may all be wrong: only what no shape can excuse counts.
    bool races_only = false;
    std::span<const Diagnostic> known{};  ///< they are reported already
    std::optional<Dim3> grid{};           ///< nothing: one cluster, and one for each tile
    double part = 1;                      ///< of the steps that runs of a kernel may take
};

/// Returns what is wrong in the synchronisation of a CTA or cluster in every launch that could be tried: each
/// passes one number for all sizes, and so does memory. A kernel may be meant for other numbers: launches
/// that break other laws, too, do not count, and what a single one shows counts only if no number can excuse
/// it. Nothing for programs with instructions that the simulator does not know. Thread-safe.
std::vector<SizedFinding> found_in_sized_launches(const SizedTrials& trials);

}  // namespace wgrun
