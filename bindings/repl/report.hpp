// How errors and findings are shown to a person.
#pragma once

#include <lua.hpp>

#include <span>
#include <string>
#include <string_view>

#include "wgrun/diagnostic.hpp"

namespace wgrun::repl {

/// Findings of a rule as "file:line: error: message [RULE]" with notes and fix below; an error without a rule
/// as one line "PREFIXfile:line: message", and its fix below. Ends with a newline.
std::string to_report(std::span<const Diagnostic> findings, std::string_view prefix, bool colour);

/// The code ("EINVAL", "ENODEV", ...) of the error object at `index`; empty for other values. A string
/// literal or valid while the object holds it.
std::string_view error_code(lua_State* L, int index);

}  // namespace wgrun::repl
