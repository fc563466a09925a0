// What the checker can prove of a program, and what stopped it: wgrun/verdict.hpp.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "check/check.hpp"
#include "wgrun/assumptions.hpp"
#include "wgrun/verdict.hpp"

namespace wgrun::check {

struct Evidence {
    std::vector<Gap> gaps;             ///< of each property at most one
    std::set<std::string> numbers;     ///< the others are proved for launches where these are at least 1
    std::set<std::string> flat;        ///< of global races: the dimensions of the grid that have one CTA
    std::string extents;               ///< what a launch has to keep, besides, for bounds; empty: nothing
    std::string of_metadata;           ///< of descriptors: what is taken for granted of metadata
    bool of_grid = false;              ///< they are proved for the grid alone that is given
    std::string domain;                ///< the launches for which they are proved
    std::vector<Diagnostic> findings;  ///< what a rehearsal of some sizes breaks
    /// Numbers of the parameters with which a launch may break what the gaps leave open.
    std::vector<std::vector<std::int64_t>> launches{};
};

/// Returns what is proved of a program, whose findings are those of check(). unknown: why nothing is proved
/// that depends on how many threads and CTAs there are; null: they are known. given: the program is that of
/// with_numbers(). Throws EnvironmentError EINTR. Thread-safe.
Evidence evidence(const Program& program, std::span<const Diagnostic> findings, Made made = Made::by_author,
                  const Gap* unknown = nullptr, const Assumptions& given = {});

/// Returns the verdict of each property.
std::vector<Verdict> verdicts(std::span<const Diagnostic> findings, const Evidence& evidence);

}  // namespace wgrun::check
