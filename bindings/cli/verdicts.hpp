// The verdicts of kernels, as `wgrun check` prints them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "wgrun/verdict.hpp"

namespace wgrun::cli {

/// [{"property", "title", "verdict", "domain"}], and where it is not proved "reason", "file", "line",
/// "assumption" (docs/schema/check.json).
nlohmann::ordered_json verdicts_as_json(std::span<const Verdict> verdicts);

}  // namespace wgrun::cli
