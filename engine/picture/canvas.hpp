// Rectangles, strokes along the axes and text in pixels.
#pragma once

#include <cstdint>
#include <vector>

#include "picture/geometry.hpp"
#include "picture/raster.hpp"

namespace wgrun {

/// Colours are indices of the palette that take() gets. What is outside of the image is not drawn.
class Canvas {
  public:
    Canvas(int width, int height, std::uint8_t paper);

    void fill(int x, int y, int width, int height, std::uint8_t colour);
    /// The outline of a rectangle; lines of an odd thickness have their middle on its edges, so that those of
    /// neighbours fall together.
    void outline(int x, int y, int width, int height, int thick, std::uint8_t colour);
    /// A horizontal or vertical stroke, two pixels thick.
    void stroke(int from_x, int from_y, int to_x, int to_y, std::uint8_t colour);
    void text(const geometry::Label& label, std::uint8_t colour, bool bold = false);

    /// The image, every pixel `scale` x `scale` of them. Throws ArgumentError unless that is 1 to 8.
    Image take(std::vector<std::uint32_t> palette, int scale);

  private:
    Image image_;
};

}  // namespace wgrun
