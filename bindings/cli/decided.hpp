// What `wgrun check` has decided when no kernel has run: it stands in the rows of the rules (Rule::found_by),
// and tests/unit/rules/excerpts.cpp holds the rows against the kernels of tests/rules.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace wgrun::cli {

/// "not decided without a run (--dynamic): WG-SYNC-06; as far as runs ahead came: WG-MEM-01, -02,
/// WG-RACE-04". how: "a run (--dynamic)"
std::string left_to_a_run(std::string_view how);

/// {"decided": [id], "in_part": [id], "left_to_a_run": [id]}: rules that are decided for every kernel, those
/// that are where the values are known, and those that only a run decides.
nlohmann::ordered_json decided_rules();

}  // namespace wgrun::cli
