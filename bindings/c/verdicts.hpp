// Verdicts that C holds.
#pragma once

#include <string>
#include <vector>

#include "bindings/c/handle.hpp"
#include "wgrun.h"
#include "wgrun/assumptions.hpp"
#include "wgrun/verdict.hpp"

namespace wgrun::c {

/// Immutable, and thread-safe.
struct Verdicts {
    explicit Verdicts(std::vector<Verdict> all);

    std::vector<Verdict> list;
    std::vector<std::string> files;  ///< of each: a string that ends with NUL
    std::string json;
};

template <>
inline constexpr Kind kind_of<Verdicts> = Kind::verdicts;

/// What is given of the launches; NULL: nothing. Throws Failure for numbers that no launch has.
Assumptions read_assumptions(const wgrun_assumptions* given);

}  // namespace wgrun::c
