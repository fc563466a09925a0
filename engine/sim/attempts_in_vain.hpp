// Attempts to wait for an mbarrier may end before the phase is complete, all of a limited number. Those of a
// loop that goes on until one succeeds end at some time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace wgrun::sim {

/// Attempts of one warp that came too soon, one after the other.
class AttemptsInVain {
  public:
    void reset() {
        count_ = 0;
        counted_ = most;
    }
    /// The warp attempts again, with these bytes of registers. May it come too soon once more?
    ///
    /// After a few attempts it may if it counts them: its registers are not what they were some attempts ago
    /// (Brent, 1980).
    bool once_more(std::span<const std::byte> registers) {
        if (count_ < patience) return true;
        if (counted_ == 0) return false;
        --counted_;
        if (!std::has_single_bit(count_)) return !std::ranges::equal(registers, registers_);
        registers_.assign(registers.begin(), registers.end());
        return true;
    }
    void came(bool too_soon) { count_ = too_soon ? count_ + 1 : 0; }

  private:
    static constexpr std::uint32_t patience = 64;
    static constexpr std::uint32_t most = 1U << 14;  ///< of all loops of the warp
    std::uint32_t count_ = 0, counted_ = most;
    std::vector<std::byte> registers_;
};

}  // namespace wgrun::sim
