// Where the boxes of tensor copies start.
#pragma once

#include <optional>

#include "check/outline.hpp"

namespace wgrun::check {

/// Returns a tensor copy of which it is not known that its box starts at a multiple of 16 bytes, as it has to
/// (WG-TMA-06): of its first coordinate too few low bits are 0 whatever the sizes are.
std::optional<Where> maybe_misaligned_box(const Outline& outline);

}  // namespace wgrun::check
