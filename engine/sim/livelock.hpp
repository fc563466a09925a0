// Loops without an end: a warp that turns and turns, looks at nothing but its registers, and finds them as
// they were before does so for ever, whatever it stores. One that has turned millions of times is taken to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isa/warp.hpp"

namespace wgrun::sim {

/// What one warp did since anything but its registers last decided about them.
class Livelock {
  public:
    void reset() { turns_ = all_ = 0; }
    /// Returns how often the warp has jumped back at all.
    std::uint64_t all() const { return all_; }
    /// The warp executes a step after which its registers may be any.
    void stir() { turns_ = 0; }
    /// The warp jumps back to `pc`, with these lanes and these bytes of registers. Returns whether it has
    /// been there before in the same state, and all that it did since follows from that.
    ///
    /// The state is remembered after 4,096 turns, 8,192, ... (Brent, 1980), so that a short loop costs
    /// nothing.
    bool again(std::uint32_t pc, isa::Mask lanes, std::span<const std::byte> registers) {
        ++all_;
        if (++turns_ < patience) return false;
        if ((turns_ & (turns_ - 1)) == 0) {
            pc_ = pc;
            lanes_ = lanes;
            registers_.assign(registers.begin(), registers.end());
            return false;
        }
        return pc == pc_ && lanes == lanes_ && std::ranges::equal(registers, registers_);
    }

  private:
    static constexpr std::uint64_t patience = 4096;
    std::uint64_t turns_ = 0, all_ = 0;
    std::uint32_t pc_ = 0;
    isa::Mask lanes_ = 0;
    std::vector<std::byte> registers_;
};

}  // namespace wgrun::sim
