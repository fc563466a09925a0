// WG-MEM-07 and WG-MEM-02 for parameters, as far as a text of PTX names them.
#pragma once

#include <vector>

#include "wgrun/diagnostic.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check {

/// Returns the reads of parameters that leave the parameter, and those at a misaligned place.
std::vector<Diagnostic> misread_parameters(const Program& program);

}  // namespace wgrun::check
