// The verdicts of kernels, as `wgrun check` prints them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "wgrun/verdict.hpp"

namespace wgrun::cli {

/// [{"property", "verdict", "domain"}], and where it is not proved "reason", "file", "line", "assumption" in
/// place of "domain" (docs/schema/check.json).
nlohmann::ordered_json verdicts_as_json(std::span<const Verdict> verdicts);

/// What check --strict makes of a kernel, after kernels that gave `code`: Exit::failed where a property is
/// refuted, else Exit::undecided where one is undecided.
int strict_code(std::span<const Verdict> verdicts, int code);

}  // namespace wgrun::cli
