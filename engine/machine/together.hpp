// What the four warps of a warpgroup execute together: wgmma and setmaxnreg (PTX ISA 9.7.15.5.2, 9.7.19.5).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "isa/warp.hpp"

namespace wgrun::machine {

/// The steps of a warpgroup that all of its warps execute, each in the same order. Warps are numbered within
/// the warpgroup.
class Together {
  public:
    static constexpr int warps = isa::warps_of_group;

    /// Warps that do not do the same.
    struct Apart {
        std::uint32_t pc;      ///< the step that some of them execute
        std::uint32_t theirs;  ///< what another executes instead; `pc`: it ends
        int other;             ///< that warp
    };

    void reset() { *this = {}; }

    /// The warp executes such a step.
    std::optional<Apart> step(int warp, std::uint32_t pc) {
        std::optional<Apart> out;
        const std::size_t number = at(warp)++ - past_;
        if (number < steps_.size()) {
            if (steps_[number] != pc) out = Apart{pc, steps_[number], first_past(number + past_, warp)};
        } else {
            steps_.push_back(pc);
            for (int other = 0; other < warps; ++other)
                if (ended_[static_cast<std::size_t>(other)]) out = Apart{pc, pc, other};
        }
        for (; !steps_.empty() && *std::ranges::min_element(at_) > past_; ++past_) steps_.pop_front();
        return out;
    }

    /// The warp ends.
    std::optional<Apart> end(int warp) {
        ended_[static_cast<std::size_t>(warp)] = true;
        const std::size_t number = at(warp) - past_;
        if (number >= steps_.size()) return std::nullopt;
        return Apart{steps_[number], steps_[number], warp};
    }

  private:
    std::size_t& at(int warp) { return at_[static_cast<std::size_t>(warp)]; }
    int first_past(std::size_t number, int but) {
        for (int other = 0; other < warps; ++other)
            if (other != but && at(other) > number) return other;
        return but;
    }

    std::deque<std::uint32_t> steps_;      ///< those that not all warps have executed
    std::size_t past_ = 0;                 ///< those that all have
    std::array<std::size_t, warps> at_{};  ///< by warp: those that it has
    std::array<bool, warps> ended_{};
};

}  // namespace wgrun::machine
