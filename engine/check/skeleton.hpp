// What of a program decides about synchronisation: the steps that synchronise, and those that compute their
// operands, their guards and the conditions that they depend on. Flat.
#pragma once

#include <cstdint>
#include <vector>

#include "check/pressure.hpp"
#include "flow/divergence.hpp"
#include "flow/graph.hpp"

namespace wgrun::check {

/// One operation.
struct SkeletonOp {
    enum class Kind : std::uint8_t { step, jump, branch, end };
    Kind kind = Kind::end;
    bool negated = false;              ///< of the guard or the condition
    bool synchronises = false;         ///< step: it concerns other threads
    bool opaque = false;               ///< step: what it gives is not known before the kernel runs
    bool multiplies = false;           ///< step: it issues, commits or waits for wgmma
    int pressure = 0;                  ///< registers that are needed there
    bool both_arms = false;            ///< branch: something depends on its not being taken
    Reg reg;                           ///< guard of a step, condition of a branch
    flow::Divergence::Ways ways = {};  ///< of a branch; of a jump `taken`
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
    struct Nature;
    bool is_root(const Step& step, const Nature& nature) const;
    void slice();
    bool needed(const Step& step);
    void need(Reg reg);
    void need_branches(BlockId block);
    void flatten();
    void add(const Step& step);
    BlockId follower(BlockId block) const;
    BlockId entered(BlockId block) const;

    flow::Graph graph_;
    std::vector<std::vector<const Step*>> kept_;  ///< steps that matter, by block, the last one first
    std::vector<bool> decides_;                   ///< by block: the branch at its end matters
    bool grew_ = false;
    const Pressure* pressure_;
    bool copies_ = false;  ///< what comes to shared memory is counted by mbarriers
};

}  // namespace wgrun::check
