// The static checker: applies the laws of the catalogue to a program.
#pragma once

#include <vector>

#include "wgrun/diagnostic.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check {

/// Returns every finding in `program`, each (rule, place) once, in script order. It does not stop at the
/// first.
std::vector<Diagnostic> check(const Program& program);

}  // namespace wgrun::check
