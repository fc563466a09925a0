// Statements of a script that differ in their numbers alone, as Lua loops.
#pragma once

#include <string>

namespace wgrun::emit {

/// Returns the text, in which each run of calls of the builder whose numbers grow evenly is a loop.
std::string with_loops(const std::string& text);

}  // namespace wgrun::emit
