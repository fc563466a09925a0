// What of a program decides about synchronisation: the steps that synchronise, and those that compute their
// operands, their guards and the conditions around them. Flat, with structured jumps.
#pragma once

#include <cstdint>
#include <vector>

#include "check/pressure.hpp"

namespace wgrun::check {

/// One operation. Divergence needs only a stack of masks:
///   if    branch(otherwise) then... otherwise(join) else... join
///   loop  enter head... test(join) body... repeat(head) join
struct SkeletonOp {
    enum class Kind : std::uint8_t { step, branch, otherwise, join, enter, test, repeat, end };
    Kind kind = Kind::end;
    bool negated = false;       ///< of the guard or the condition
    bool synchronises = false;  ///< step: it concerns other threads
    bool opaque = false;        ///< step: what it gives is not known before the kernel runs
    bool multiplies = false;    ///< step: it issues, commits or waits for wgmma
    int pressure = 0;           ///< registers that are needed there
    bool both_arms = false;     ///< branch: the other arm synchronises too
    Reg reg;                    ///< guard of a step, condition of a branch or test
    std::uint32_t target = 0;
    const Step* step = nullptr;
    Where where;
};

struct Skeleton {
    /// pressure: of its wgmma; null: it does not matter.
    explicit Skeleton(const Program& program, const Pressure* pressure = nullptr);

    std::vector<SkeletonOp> ops;  ///< empty when nothing synchronises
    std::vector<int> slots;       ///< Reg::id -> place among the registers that matter; -1: none
    int slot_count = 0;

    std::vector<bool> stored;     ///< by buffer: threads may write to it; empty: nobody knows
    std::vector<int> integers;    ///< integer parameters that matter: their indices
    bool knows_the_grid = false;  ///< it depends on the grid, or on where in it a CTA is
    bool depends_on_launch() const { return knows_the_grid || !integers.empty(); }

  private:
    bool is_root(const Step& step) const;
    bool needed(const Block& block);
    bool needed(const Step& step);
    void need(Reg reg);
    void flatten(const Block& block);
    std::size_t add(SkeletonOp::Kind kind, Where where);
    std::uint32_t here() const { return static_cast<std::uint32_t>(ops.size()); }

    std::vector<const void*> kept_;  ///< steps, loops and branches that matter, sorted
    bool grew_ = false;
    const Pressure* pressure_;
    bool copies_ = false;  ///< what comes to shared memory is counted by mbarriers
};

}  // namespace wgrun::check
