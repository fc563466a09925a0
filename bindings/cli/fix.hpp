// wgrun check --fix FILE, wgrun check --diff FILE: makes the changes to a script, or a PTX text, that its
// findings propose.
#pragma once

#include <optional>

#include "bindings/cli/remedies.hpp"
#include "bindings/cli/script_text.hpp"

namespace wgrun::cli {

/// The text of a script; nothing when it cannot be read.
std::optional<ScriptText> read_script(const std::string& file);

/// Fixes the script and writes it, or with `diff` shows what would change. The file is written only if the
/// new text has no errors.
int fix(const Request& request, const Search& search, bool diff, Results& results);

/// The same for a PTX text.
int fix_ptx(const Request& request, const std::string& text, const Mending& mending, bool diff,
            Results& results);

}  // namespace wgrun::cli
