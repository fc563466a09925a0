// A launch whose arguments are synthetic: which registers hold values that another launch would change, and
// what may be executed although they do.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "isa/warp.hpp"
#include "sim/code.hpp"
#include "sim/sim.hpp"

namespace wgrun::sim {

/// A register is tainted if what it holds depends on what is synthetic: on what is loaded, and unless the
/// numbers of the launch are known, on a parameter that is no pointer and on the size of the grid. A run is
/// what every launch does as long as no tainted value decides what is executed, where shared memory is
/// accessed, or what is synchronised.
class Taint {
  public:
    enum class Verdict : std::uint8_t {
        go,    ///< execute the step
        skip,  ///< whether it is executed, or where, nobody knows, and no harm is done: its results are
               ///< tainted
        stop,  ///< what follows differs between launches
        limit  ///< the run has taken as many steps, or as long, as it may
    };

    Taint(const Program& program, const Code& code, const Synthetic& synthetic, int warps);

    /// Something has been found: what else the run finds, it finds soon.
    void hurry();
    /// Nothing is tainted yet.
    void reset();
    /// Judges a step that some lanes of a warp are to execute.
    Verdict judge(int warp, std::uint32_t pc);
    /// Judges the condition of a branch.
    bool decides(int warp, std::uint32_t reg) const { return tainted(warp, reg); }
    /// The step has been executed, or skipped, by all lanes of the warp or by some.
    void executed(int warp, std::uint32_t pc, bool by_all);

    const std::vector<std::uint32_t>& results(std::uint32_t pc) { return facts(pc).results; }
    /// Whether nobody knows where in its tensor the box lies that the step judged last copies.
    bool box_is_tainted() const { return box_is_tainted_; }

  private:
    /// What is known of a step. Operands are registers.
    struct Facts {
        std::vector<std::uint32_t> decisive;  ///< they decide where and with whom: addresses, counts, masks
        std::vector<std::uint32_t> values;    ///< the other ones that it reads
        std::vector<std::uint32_t> place;     ///< where a box lies in its tensor
        std::vector<std::uint32_t> results;
        bool loads = false;      ///< its results come from memory, or from the launch
        bool harmless = false;   ///< it reads memory, or accesses global memory alone
        bool effects = false;    ///< it does more than compute
        bool unknown = false;    ///< nobody knows what it does
        std::uint32_t cost = 1;  ///< in steps
    };
    Facts facts_of(const Op& op) const;
    /// Returns what is known of an operation. Many are never executed: it is found when one first is.
    const Facts& facts(std::uint32_t pc);
    bool tainted(int warp, std::uint32_t reg) const {
        return tainted_[static_cast<std::size_t>(warp) * registers_ + reg] != 0;
    }
    bool any(int warp, const std::vector<std::uint32_t>& regs) const;

    const Program& program_;
    const Code& code_;
    const Synthetic& synthetic_;
    std::size_t registers_;
    bool generic_is_global_;
    std::deque<Facts> facts_;            ///< of the operations that have been executed
    std::vector<const Facts*> known_;    ///< by operation: the facts, or null
    std::vector<std::uint8_t> tainted_;  ///< by warp and register
    std::vector<std::uint8_t> outcome_;  ///< by warp: whether the results of the step at hand are tainted
    bool is_over();

    std::uint64_t left_ = 0;     ///< steps
    std::uint32_t unasked_ = 0;  ///< steps since the clock was read
    bool box_is_tainted_ = false;
};

}  // namespace wgrun::sim
