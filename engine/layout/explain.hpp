// Tiles and descriptors in words.
#pragma once

#include <string>

#include "wgrun/tile.hpp"

namespace wgrun {

/// Several lines: the layout, what its descriptor holds and why, the other swizzles and what they cost, what
/// is not legal and why, how TMA fills it, bank conflicts.
std::string explain(const Tile& tile);

/// Field by field, with the bits of each.
std::string explain(const Descriptor& descriptor);

}  // namespace wgrun
