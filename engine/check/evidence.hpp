// What the checker can prove of a program, and what stopped it: wgrun/verdict.hpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "check/check.hpp"
#include "wgrun/assumptions.hpp"
#include "wgrun/verdict.hpp"

namespace wgrun::check {

struct Evidence {
    std::vector<Gap> gaps;             ///< of each property at most one
    std::string domain;                ///< for which launches the others are proved
    bool of_grid = false;              ///< of which those of the grid that is given
    std::vector<Diagnostic> findings;  ///< what a rehearsal of some sizes breaks
};

/// Returns what is proved of a program, whose findings are those of check(). unknown: why nothing is proved
/// that depends on how many threads and CTAs there are; null: they are known. given: the program is that of
/// with_numbers(). Throws EnvironmentError EINTR. Thread-safe.
Evidence evidence(const Program& program, std::span<const Diagnostic> findings, Made made = Made::by_author,
                  const Gap* unknown = nullptr, const Assumptions& given = {});

}  // namespace wgrun::check
