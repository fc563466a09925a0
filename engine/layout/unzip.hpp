// Shared by divides and products: working mode by mode, and regrouping ((a,x),(b,y)) into ((a,b),(x,y)).
#pragma once

#include <string_view>

#include "wgrun/layout.hpp"

namespace wgrun {

/// What becomes of the modes beyond those of the tiler.
enum class Beyond : unsigned char { kept, dropped };

/// `operation` on each mode of `a` that the tiler has a layout for; those of `_` stay. Throws ArgumentError
/// for too many modes.
Layout by_mode(const Layout& a, const Tiler& tiler, std::string_view name, Beyond beyond,
               Layout (*operation)(const Layout&, const Layout&));

/// ((tile_0, rest_0), ..., more) -> ((tile_0, ...), (rest_0, ..., more)); for a layout tiling: unchanged.
Layout unzip(Layout divided, const Tiling& tiling, std::string_view name);

/// (tiles, rests) -> (tiles, rest_0, rest_1, ...) and, if `both`, (tile_0, ..., rest_0, ...). A mode of rank
/// 1 stays.
Layout unpack(const Layout& zipped, bool both);

}  // namespace wgrun
