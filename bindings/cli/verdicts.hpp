// The verdicts of kernels, as `wgrun check` prints them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "wgrun/rules.hpp"
#include "wgrun/verdict.hpp"

namespace wgrun::cli {

/// What was checked, so that verdicts can be told to be of other texts, or of another wgrun.
Input input_of(const std::string& file, std::string_view text);
/// Adds `version` and `inputs` to a report.
void add_inputs(nlohmann::ordered_json& json, std::span<const Input> inputs);

/// As to_json.
nlohmann::ordered_json verdicts_as_json(std::span<const Verdict> verdicts);

/// What check --strict makes of a kernel, after kernels that gave `code`: Exit::failed where a property is
/// refuted, else Exit::undecided where one is undecided.
int strict_code(std::span<const Verdict> verdicts, int code);

}  // namespace wgrun::cli
