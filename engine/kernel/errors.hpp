// From findings to exceptions.
#pragma once

#include <vector>

#include "wgrun/diagnostic.hpp"

namespace wgrun {

/// Throws a CheckError with those of the findings that are errors, if there are any.
void throw_errors_of(const std::vector<Diagnostic>& findings);

}  // namespace wgrun
