#pragma once

#include <string>

namespace wgrun::cli {

/// Returns what `after` has otherwise than `before`, as a unified diff.
std::string unified_diff(const std::string& file, const std::string& before, const std::string& after);

}  // namespace wgrun::cli
