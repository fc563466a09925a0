// Polynomials of what a launch decides, as numbers that launches are compared with.
#pragma once

#include <optional>

#include "check/launch_limit.hpp"
#include "check/symbolic/accesses.hpp"

namespace wgrun::check::symbolic {

/// Nothing: it has an atom whose value a launch does not show.
std::optional<LaunchNumber> launch_number(const Accesses& of, const Polynomial& number);

}  // namespace wgrun::check::symbolic
