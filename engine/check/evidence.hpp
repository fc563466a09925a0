// What the checker can prove of a program, and what stopped it: wgrun/verdict.hpp.
#pragma once

#include <string>
#include <vector>

#include "check/check.hpp"
#include "wgrun/verdict.hpp"

namespace wgrun::check {

struct Evidence {
    std::vector<Gap> gaps;             ///< of each property at most one
    std::string domain;                ///< for which launches the others are proved
    std::vector<Diagnostic> findings;  ///< what a rehearsal of some sizes breaks
};

/// Returns what is proved of a program in which check() has found no error. Thread-safe.
Evidence evidence(const Program& program, Made made = Made::by_author);

}  // namespace wgrun::check
