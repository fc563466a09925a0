// Pictures in pixels, for terminals that show images: the same plan of places as an SVG's.
#pragma once

#include <cstdint>
#include <vector>

#include "wgrun/picture.hpp"

namespace wgrun {

/// Pixels row after row, each an index of the palette.
struct Image {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> pixels;
    std::vector<std::uint32_t> palette;  ///< 0xRRGGBB

    /// The colour at (x, y), which must be inside.
    std::uint32_t at(int x, int y) const {
        return palette[pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                              static_cast<std::size_t>(x)]];
    }
};

/// Width and height that to_image() gives at scale 1.
struct Extent {
    int width = 0;
    int height = 0;
};
Extent extent_of(const Picture& picture);

/// The picture for light or dark surroundings, every pixel `scale` x `scale` (1 to 8) of them. What SVG and
/// HTML tell of a cell that is pointed at is not in it.
Image to_image(const Picture& picture, bool dark = false, int scale = 1);

}  // namespace wgrun
