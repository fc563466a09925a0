// A proof that the warps of a kernel synchronise rightly for all numbers of a launch: rehearsals with values
// that stand for all others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/rehearsal.hpp"

namespace wgrun::check {

/// What was shown of a protocol.
struct Proof {
    bool proved = false;
    std::vector<std::string> numbers;          ///< proved: the parameters that are taken to be at least 1
    std::optional<rehearsal::Stop> stopped{};  ///< not proved: why
    Gaps contained{};                          ///< proved, but for these properties (is_contained)
    std::vector<Diagnostic> findings{};        ///< what breaks with some sizes, and with which
    /// Numbers of the parameters with which a rehearsal showed a gap, each time another one, and where it
    /// stopped.
    std::vector<std::vector<std::int64_t>> launches{};
    std::size_t rehearsals = 0;
};

/// Rehearses the program with the values of its numbers that are different, one after the other: the states
/// of its loops come back, and what is shown for as many turns as a period has is shown for all.
///
/// What it rests on is in docs/verdicts.md: a run stands for every schedule, since no warp does anything else
/// for what comes first (the waits and arrivals that this needs are checked), and sizes do not wrap around.
/// gaps: gets what is not proved of accesses to shared memory, if the skeleton has them; else null.
Proof prove(const Program& program, const Skeleton& skeleton, Gaps* gaps = nullptr);

}  // namespace wgrun::check
