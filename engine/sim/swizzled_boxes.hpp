// Boxes whose swizzle does not begin where they do: it goes by the bits of the address, and threads that take
// it from the row of the box read other elements.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "isa/warp.hpp"
#include "wgrun/tile.hpp"

namespace wgrun::sim {

/// Those of the shared memory of a CTA.
class SwizzledBoxes {
  public:
    struct Box {
        std::uint32_t begin, end;  ///< offsets
        std::uint32_t width;       ///< bytes of a line
        std::uint32_t pc;          ///< of the copy
    };

    void clear() { boxes_.clear(); }
    bool empty() const { return boxes_.empty(); }
    /// A copy writes these bytes, as a box with that swizzle.
    void copied(std::uint32_t begin, std::uint32_t end, SwizzleMode swizzle, std::uint32_t pc);
    /// Lanes read at these offsets. Returns a box in which they read along a column if its swizzle began with
    /// it, and here and there as it is; of each the first time.
    std::optional<Box> misread(const std::array<std::uint32_t, isa::lanes>& at, isa::Mask lanes);

  private:
    std::vector<Box> boxes_;
};

}  // namespace wgrun::sim
