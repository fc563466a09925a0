// The loops of a skeleton, by the jumps back in its order of operations. They say what is worth remembering,
// and who is to go on first: nothing that is proved rests on them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "check/skeleton.hpp"

namespace wgrun::check::abstract {

class Loops {
  public:
    struct Loop {
        std::uint32_t first, last;  ///< operations
        bool contains(std::uint32_t pc) const { return first <= pc && pc <= last; }
    };

    explicit Loops(const Skeleton& skeleton);

    /// How many loops the operation is in.
    int depth(std::uint32_t pc) const;
    /// Returns the smallest loop around the operation, or null.
    const Loop* innermost(std::uint32_t pc) const;

  private:
    std::vector<Loop> loops_;
};

}  // namespace wgrun::check::abstract
