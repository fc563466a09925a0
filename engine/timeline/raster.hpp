// A timeline in pixels, for terminals that show images: what SVG draws.
#pragma once

#include "picture/raster.hpp"
#include "wgrun/timeline.hpp"

namespace wgrun {

/// The picture `width` pixels wide (at least 320) for light or dark surroundings, every pixel `scale` x
/// `scale` (1 to 8) of them.
Image to_image(const Timeline& timeline, int width, bool dark = false, int scale = 1);

}  // namespace wgrun
