// Ways of a thread on which it does nothing that others see.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "check/outline.hpp"
#include "isa/known_bits.hpp"

namespace wgrun::check {

/// What is known of registers, of those that a way has written.
using BitsOf = std::map<std::uint32_t, isa::KnownBits>;

/// Adds what the step writes.
void compute(const Step& step, BitsOf& known);

/// Whether it reads one of the registers, also as its guard.
bool reads(const Step& step, const std::set<std::uint32_t>& registers);

class QuietWays {
  public:
    /// Before a step of a block.
    struct Place {
        BlockId block;
        const Step* step;
    };

    /// trapping: flow::trapping of the outline's graph.
    QuietWays(const Outline& outline, const std::vector<bool>& trapping)
        : outline_(outline), trapping_(trapping) {}

    /// Whether all ways from there come to that place, and only compute, or let time go by; or they trap.
    bool all_come(Place from, const BitsOf& known, Place to);
    /// The step belongs to the ways, too.
    void pass(const Step& step) { passed_.insert(&step); }
    /// Registers that the ways have written, and whether each with what follows from `known`.
    const std::map<std::uint32_t, bool>& written() const { return written_; }
    /// Whether something reads one of the registers that the ways do not pass.
    bool is_read_elsewhere(const std::set<std::uint32_t>& registers) const;

  private:
    bool all_come(BlockId block, const Step* from, BitsOf known, Place to);

    const Outline& outline_;
    const std::vector<bool>& trapping_;
    std::vector<BlockId> on_way_;
    std::set<const Step*> passed_;
    std::set<BlockId> branches_;  ///< at whose ends the ways go on
    std::map<std::uint32_t, bool> written_;
};

}  // namespace wgrun::check
