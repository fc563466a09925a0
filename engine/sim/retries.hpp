// Attempts to wait for an mbarrier may end before the phase is complete, all of a limited number. Those of a
// loop that goes on until one succeeds end at some time, and so do those of one that traps instead of going
// on: a limit that is never reached is no fault.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "sim/attempts.hpp"

namespace wgrun::sim {

/// Attempts of one warp that came too soon, one after the other.
class Retries {
  public:
    void reset() {
        count_ = 0;
        counted_ = most_counted;
        uncounted_ = most;
    }
    /// The warp attempts again, with these bytes of registers. May it come too soon once more?
    ///
    /// After a few attempts it may if it counts them: its registers are not what they were some attempts ago
    /// (Brent, 1980).
    bool once_more(std::span<const std::byte> registers, Attempts kind) {
        if (kind == Attempts::trapped) return false;
        if (count_ < patience) return true;
        std::uint32_t& left = kind == Attempts::counted ? counted_ : uncounted_;
        if (left == 0) return false;
        --left;
        if (!std::has_single_bit(count_))
            return std::memcmp(registers.data(), registers_.data(), registers.size()) != 0;
        registers_.assign(registers.begin(), registers.end());
        return true;
    }
    void came(bool too_soon) { count_ = too_soon ? count_ + 1 : 0; }

  private:
    static constexpr std::uint32_t patience = 64;
    // Of all loops of the warp.
    static constexpr std::uint32_t most = 1U << 14, most_counted = 1U << 20;
    std::uint32_t count_ = 0, counted_ = most_counted, uncounted_ = most;
    std::vector<std::byte> registers_;
};

}  // namespace wgrun::sim
