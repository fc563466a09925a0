// Which registers of a skeleton an operation or one behind it may read.
#pragma once

#include <cstdint>
#include <vector>

#include "check/skeleton.hpp"

namespace wgrun::check::abstract {

class Live {
  public:
    explicit Live(const Skeleton& skeleton);
    /// Whether the register of that slot may be read from operation `pc` on.
    bool operator()(std::uint32_t pc, std::size_t slot) const { return at_[pc][slot]; }

  private:
    std::vector<std::vector<bool>> at_;  ///< by operation and slot
};

}  // namespace wgrun::check::abstract
