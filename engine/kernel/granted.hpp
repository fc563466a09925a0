// What proofs take for granted of the data of launches, compared with the launches of a script.
#pragma once

#include <optional>
#include <vector>

#include "wgrun/kernel.hpp"
#include "wgrun/verdict.hpp"

namespace wgrun {

/// Returns why the metadata that this launch passes are not those of the proof; nothing: they are, or lie on
/// a device. Thread-safe.
std::optional<Gap> illegal_metadata(const Program& program, const std::vector<Argument>& args);

}  // namespace wgrun
