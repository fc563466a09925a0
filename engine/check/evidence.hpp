// What the checker can prove of a program, and what stopped it: wgrun/verdict.hpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "check/check.hpp"
#include "wgrun/verdict.hpp"

namespace wgrun::check {

struct Evidence {
    std::vector<Gap> gaps;             ///< of each property at most one
    std::string domain;                ///< for which launches the others are proved
    std::vector<Diagnostic> findings;  ///< what a rehearsal of some sizes breaks
    /// Numbers of the parameters with which a launch may break what the gaps leave open.
    std::vector<std::vector<std::int64_t>> launches{};
};

/// Returns what is proved of a program, whose findings are those of check(). unknown: why nothing is proved
/// that depends on how many threads and CTAs there are; null: they are known. Thread-safe.
Evidence evidence(const Program& program, std::span<const Diagnostic> findings, Made made = Made::by_author,
                  const Gap* unknown = nullptr);

}  // namespace wgrun::check
