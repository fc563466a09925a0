// A proof that the warps of a kernel synchronise rightly for all numbers of a launch: abstract executions
// with values that stand for all others.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "check/abstract_execution.hpp"
#include "check/budget.hpp"

namespace wgrun::check {

/// What was shown of a protocol.
struct Proof {
    bool proved = false;
    std::vector<std::string> numbers;         ///< proved: the parameters that are taken to be at least 1
    bool of_grid = false;                     ///< proved: of the grid alone that was given
    std::optional<abstract::Stop> stopped{};  ///< not proved: why
    std::string assumption{};                 ///< not proved: what would decide it; may be empty
    Gaps contained{};                         ///< proved, but for these properties (is_contained)
    std::vector<Diagnostic> findings{};       ///< what breaks with some sizes, and with which
    /// Numbers of the parameters with which an abstract execution showed a gap, each time another one, and
    /// where it stopped.
    std::vector<std::vector<std::int64_t>> launches{};
    std::set<int> loaded{};  ///< proved: parameters whose memory holds numbers from 0 to 2^30, as is assumed
    BoxSizes boxes{};        ///< what it has seen of boxes whose sizes no launch tells
    std::size_t executions = 0;
    std::int64_t operations = 0;  ///< of an exploration: what it has taken of the budget
};

/// Executes the program abstractly with the values of its numbers that are different, one after the other:
/// the states of its loops come back, and what is shown for as many turns as a period has is shown for all.
///
/// What it rests on is in docs/verdicts.md: a run stands for every schedule, since no warp does anything else
/// for what comes first (the waits and arrivals that this needs are checked), and sizes do not wrap around.
/// grid: the only one, where that is given; what does not hold for all grids may hold for its clusters.
Proof prove(const Program& program, const Skeleton& skeleton, const Budget& budget,
            std::optional<Dim3> grid = {});

/// The same of a skeleton with accesses to shared memory; no sizes that break are looked for. gaps: gets what
/// is not proved of them.
Proof prove_accesses(const Program& program, const Skeleton& skeleton, const Budget& budget, Gaps& gaps,
                     std::optional<Dim3> grid = {});

}  // namespace wgrun::check
