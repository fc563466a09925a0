// The static checker: applies the laws of the catalogue to a program.
#pragma once

#include <cstdint>
#include <vector>

#include "wgrun/diagnostic.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check {

/// Who has written a program down.
enum class Made : std::uint8_t { by_author, by_compiler };

/// Returns every finding in `program`, each (rule, place) once, in script order. It does not stop at the
/// first.
std::vector<Diagnostic> check(const Program& program, Made made = Made::by_author);

}  // namespace wgrun::check
