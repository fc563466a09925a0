// wgrun check --replay FINDING.json FILE: the launches of findings, once more.
#pragma once

#include <optional>
#include <string>

#include "bindings/cli/cli.hpp"

namespace wgrun::cli {

/// Runs what the findings of `file` (one, or a report with its list `findings`) name as their launches, and
/// prints those that show again: on the simulator, or, where the request names that back end, hangs on a GPU.
/// text: of FILE, where it is PTX. Returns Exit::failed if one does, Exit::ok if none does. Throws
/// ArgumentError for a file that is no finding, or has none with a launch, and for a finding that a GPU
/// cannot show; EnvironmentError on the GPU's.
int replay(Request request, const std::optional<std::string>& text, const std::string& file,
           Results& results);

}  // namespace wgrun::cli
