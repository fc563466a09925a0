// What check --dynamic says of the synchronising instructions that its runs have executed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "wgrun/coverage.hpp"

namespace wgrun::cli {

/// A line for each kernel in which something synchronises.
std::string coverage_text(const Coverage& coverage);
/// [{kernel, file, line, executed, of, lines}], with `elsewhere` where lines of other files are missing.
nlohmann::ordered_json coverage_json(const Coverage& coverage);
/// Whether a kernel has less than so many percent, which is said on standard error.
bool lacks_coverage(const Coverage& coverage, int percent);

}  // namespace wgrun::cli
