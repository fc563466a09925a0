// Loops that end since they count.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "check/drawn_numbers.hpp"
#include "check/skeleton.hpp"

namespace wgrun::check {

/// Returns the place of a loop of which it is not known that it ends: no branch out of it that every turn
/// comes to compares a number, which each turn changes by the same, with one that the loop does not change.
/// Loops that a proof of the skeleton follows to their ends are left out. Numbers do not wrap around.
std::optional<Where> uncounted_loop(const Outline& outline, const Skeleton& skeleton);

/// A loop of which it is not known that it ends.
struct OpenLoop {
    Where where;
    std::set<BlockId> branches{};  ///< at the ends of blocks that each turn comes to
    bool draws = false;            ///< it draws numbers
};

/// Returns the same of the loops that have one of these steps, followed or not: a proof that only compares
/// states does not come to their ends. A loop that compares numbers that it draws, from a counter that grows,
/// with one that it does not change, ends.
std::vector<OpenLoop> uncounted_loops_around(const Outline& outline, const std::set<const Step*>& steps,
                                             const DrawnNumbers& drawn);

}  // namespace wgrun::check
