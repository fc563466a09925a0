// Findings as the command line prints them. Thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "wgrun/diagnostic.hpp"

#pragma GCC visibility push(default)

namespace wgrun {

/// Findings of a rule as to_text prints them, an error without a rule on one
/// line: "PREFIXfile:line: message (fix: ...)". The text ends with a
/// newline.
std::string to_report(std::span<const Diagnostic> findings, std::string_view prefix, bool colour = false);

}  // namespace wgrun

#pragma GCC visibility pop
