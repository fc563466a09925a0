// The part of a program that decides about synchronisation, as a flat list of operations: the steps that
// synchronise, and those that compute their operands, their guards and the conditions that they depend on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "check/attempts.hpp"
#include "check/drawn_numbers.hpp"
#include "check/launch_loads.hpp"
#include "check/pressure.hpp"
#include "flow/control.hpp"
#include "flow/divergence.hpp"
#include "flow/graph.hpp"

namespace wgrun::check {

/// One operation.
struct SkeletonOp {
    enum class Kind : std::uint8_t { step, jump, branch, end };
    Kind kind = Kind::end;
    bool negated = false;       ///< the guard or the condition is negated
    bool synchronises = false;  ///< step: it concerns other threads
    /// step: it concerns another CTA if its address, a generic one, is known to be of that. What is not known
    /// is taken for global memory.
    bool may_visit = false;
    bool touches =
        false;  ///< step: it does nothing but load, store or copy by threads, perhaps in shared memory
    bool traps = false;  ///< step: it ends the kernel
    /// branch: the arm (0: taken) whose threads do not all trap, where those of the other do. It is taken to
    /// be the one where that is not known: else the kernel ends, and nothing else matters. -1: there is none.
    int goes_on = -1;
    bool opaque = false;    ///< step: its results are unknown before the kernel runs
    int of_launch = -1;     ///< step: the parameter that it loads from, of LaunchLoads; -1: it is none
    int drawn_from = -1;    ///< step: the same, of DrawnNumbers
    bool receives = false;  ///< step: it loads what a thread may have shown in shared memory
    Attempt attempt = Attempt::again;  ///< step: it says whether a phase of an mbarrier is complete
    bool answers = false;              ///< step: it waits where the answer to what another one asked was no
    bool multiplies = false;           ///< step: it issues, commits or waits for wgmma
    int pressure = 0;                  ///< step: registers live there
    bool both_arms = false;            ///< branch: something depends on its not being taken
    /// Its address alone is followed, and not what it loads.
    bool only_touches() const { return touches && !synchronises && !may_visit; }
    Reg reg;                           ///< guard of a step, condition of a branch
    BlockId block = no_block;          ///< branch: at whose end it is
    flow::Divergence::Ways ways = {};  ///< branch: where its arms begin and join; jump: `taken`
    const Step* step = nullptr;
    Where where;
};

struct Skeleton {
    /// `pressure` gives the registers live at wgmma; null: they do not matter.
    /// accesses: those to shared memory matter, too. loads: the loads whose address is followed. drawn:
    /// numbers that are followed from their draw on, also through shared memory.
    explicit Skeleton(const Outline& outline, const Pressure* pressure = nullptr, bool accesses = false,
                      LaunchLoads loads = {}, DrawnNumbers drawn = {});
    /// Of setmaxnreg alone: no step waits for anything but registers.
    static Skeleton of_registers(const Outline& outline);

    std::vector<SkeletonOp> ops;  ///< empty when nothing synchronises
    std::vector<int> slots;       ///< Reg::id -> index among the registers that matter; -1: none
    int slot_count = 0;

    std::vector<bool> stored;  ///< by buffer: threads may write to it; empty: unknown
    /// Sizes in bytes of boxes that no launch describes, by map (BoxSizes): they are taken for granted.
    std::map<std::uint64_t, std::int64_t> boxes;
    std::vector<int> integers;    ///< indices of the integer parameters that matter
    bool knows_the_grid = false;  ///< it depends on the grid, or on a CTA's position in it
    bool loads_numbers = false;   ///< some operation is a load of the launch
    bool draws_numbers = false;   ///< some operation draws one
    bool shows_numbers = false;   ///< some operation receives a number: all stores to shared memory are there
    /// Whether the branch at the end of the block matters.
    bool decides(BlockId block) const { return decides_[block]; }
    bool decides_all(const std::set<BlockId>& blocks) const {
        return std::ranges::all_of(blocks, [&](BlockId block) { return decides(block); });
    }
    const DrawnNumbers& drawn() const { return drawn_; }
    bool depends_on_launch() const { return knows_the_grid || !integers.empty(); }

  private:
    struct Nature;
    struct OnlyRegisters {};
    Skeleton(const Outline& outline, OnlyRegisters);
    void make();
    bool is_root(const Step& step, const Nature& nature) const;
    bool follows(const Nature& nature) const;
    void slice();
    bool needed(const Step& step, std::size_t number);
    void need(Reg reg);
    void need_branches(BlockId block);
    void flatten();
    void add(const Step& step);
    BlockId follower(BlockId block) const;
    bool matters(BlockId block) const { return !kept_[block].empty() || decides_[block]; }
    BlockId entered(BlockId block);

    const Outline outline_;
    const flow::Graph& graph_;
    std::vector<std::vector<const Step*>> kept_;  ///< steps that matter, by block, the last one first
    std::vector<bool> decides_;                   ///< by block: the branch at its end matters
    flow::Control control_;                       ///< the arms that nothing has asked for yet
    std::vector<BlockId> entered_;                ///< by block: from where on entered() looks further
    bool grew_ = false;
    const Pressure* pressure_;
    bool accesses_;
    LaunchLoads loads_;
    DrawnNumbers drawn_;
    const Attempts attempts_{outline_};
    bool copies_ = false;  ///< mbarriers count the copies to shared memory
    bool only_registers_ = false;
};

}  // namespace wgrun::check
