// What the checker can prove of a program, and what stopped it: wgrun/verdict.hpp.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "check/check.hpp"
#include "check/launch_limit.hpp"
#include "wgrun/assumptions.hpp"
#include "wgrun/verdict.hpp"

namespace wgrun::check {

struct Evidence {
    std::vector<Gap> gaps;            ///< of each property at most one
    std::set<std::string> numbers;    ///< the others are proved for launches where these are at least 1
    std::set<std::string> flat;       ///< of global races: the dimensions of the grid that have one CTA
    std::string extents;              ///< what a launch has to keep, besides, for bounds; empty: nothing
    std::vector<LaunchLimit> limits;  ///< for global races and bounds
    /// What the proof of a property takes for granted of what launches give, in words.
    std::map<Property, std::set<std::string>> assumed;
    bool of_grid = false;              ///< they are proved for the grid alone that is given
    std::string domain;                ///< the launches for which they are proved
    std::vector<Diagnostic> findings;  ///< what an abstract execution of some sizes breaks
    /// Numbers of the parameters with which a launch may break what the gaps leave open.
    std::vector<std::vector<std::int64_t>> launches{};
};

/// What a launch decides: how many threads and CTAs there are.
struct OpenShape {
    Gap gap;                   ///< why nothing is proved that depends on it
    bool of_clusters = false;  ///< it is how many CTAs a cluster has, and no more
};

/// Returns what is proved of a program, whose findings are those of check(). unknown: what is open of the
/// shape of launches; null: nothing. Where that is the size of clusters, what holds for launches without
/// clusters is proved for those. given: the program is that of
/// with_numbers(). Throws EnvironmentError EINTR. Thread-safe.
Evidence evidence(const Program& program, std::span<const Diagnostic> findings, Made made = Made::by_author,
                  const OpenShape* unknown = nullptr, const Assumptions& given = {});

/// Adds gaps for the properties whose proof does not hold of the launch: it lies outside of the domain.
void add_outside(Evidence& evidence, const Program& program, const LaunchSizes& launch);

/// Returns the verdict of each property.
std::vector<Verdict> verdicts(std::span<const Diagnostic> findings, const Evidence& evidence);

}  // namespace wgrun::check
