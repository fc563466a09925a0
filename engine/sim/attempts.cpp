#include "sim/attempts.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "flow/traps.hpp"
#include "isa/effects.hpp"
#include "isa/order.hpp"
#include "isa/registers.hpp"

namespace wgrun::sim {
namespace {

bool attempts(const isa::Step& step) { return step.op->awaits == isa::Awaits::mbarrier; }

/// One loop, and what its ways out depend on.
class Around {
  public:
    Around(const flow::Graph& graph, int loop, const std::vector<bool>& trapping)
        : graph_(graph), loop_(loop), trapping_(trapping) {
        for (const BlockId id : graph.loops()[static_cast<std::size_t>(loop)].blocks)
            for (const isa::Step& step : graph.blocks()[id].steps)
                isa::for_each_written(step, [&](Reg reg) { definitions_[reg.id].push_back(&step); });
    }

    Attempts judge() const {
        bool counts = false;
        for (const BlockId id : graph_.loops()[static_cast<std::size_t>(loop_)].blocks) {
            const BasicBlock& block = graph_.blocks()[id];
            if (std::ranges::any_of(block.steps, flow::traps)) return Attempts::trapped;
            for (const BlockId next : {block.taken, block.otherwise}) {
                if (next == no_block || graph_.inside(next, loop_)) continue;
                if (traps_first(next)) return Attempts::trapped;
                counts |= block.condition && counted(block.condition);
            }
        }
        return counts ? Attempts::counted : Attempts::until_success;
    }

  private:
    /// Returns whether the block decides about a trap, by registers alone, before it does anything else.
    bool traps_first(BlockId id) const {
        constexpr int most = 8;
        for (int i = 0; i < most && id != no_block && !trapping_[id]; ++i) {
            const BasicBlock& block = graph_.blocks()[id];
            for (const isa::Step& step : block.steps) {
                if (flow::traps(step)) return true;
                if (!isa::keeps_to_registers(step)) return false;
            }
            if (block.end == BasicBlock::End::exit) return false;
            if (block.end == BasicBlock::End::branch)
                return trapping_[block.taken] || trapping_[block.otherwise];
            id = block.taken;
        }
        return id != no_block && trapping_[id];
    }
    /// Returns whether the register depends on one that a round of the loop makes of itself.
    bool counted(Reg condition) const {
        const std::unordered_set<std::uint32_t> all = sources(condition.id);
        return std::ranges::any_of(all, [&](std::uint32_t reg) {
            const auto defined = definitions_.find(reg);
            return defined != definitions_.end() &&
                   std::ranges::any_of(defined->second, [&](const isa::Step* step) {
                       bool own = false;
                       if (!attempts(*step))
                           isa::for_each_read(*step,
                                              [&](Reg read) { own |= sources(read.id).contains(reg); });
                       return own;
                   });
        });
    }
    /// Returns the register and those that it is computed from in the loop. What an attempt returns is news.
    std::unordered_set<std::uint32_t> sources(std::uint32_t of) const {
        std::unordered_set<std::uint32_t> out{of};
        std::vector<std::uint32_t> open{of};
        while (!open.empty()) {
            const auto defined = definitions_.find(open.back());
            open.pop_back();
            if (defined == definitions_.end()) continue;
            for (const isa::Step* step : defined->second) {
                if (attempts(*step)) continue;
                const auto add = [&](Reg reg) {
                    if (out.insert(reg.id).second) open.push_back(reg.id);
                };
                isa::for_each_read(*step, add);
            }
        }
        return out;
    }

    const flow::Graph& graph_;
    int loop_;
    const std::vector<bool>& trapping_;
    std::unordered_map<std::uint32_t, std::vector<const isa::Step*>> definitions_;  ///< in the loop
};

}  // namespace

std::unordered_map<const isa::Step*, Attempts> attempts_in_loops(const flow::Graph& graph) {
    std::unordered_map<const isa::Step*, Attempts> out;
    std::unordered_map<int, Attempts> loops;
    std::vector<bool> trapping;
    for (BlockId id = 0; id < graph.blocks().size(); ++id) {
        const int loop = graph.reachable(id) ? graph.innermost_loop(id) : flow::no_loop;
        if (loop == flow::no_loop) continue;
        for (const isa::Step& step : graph.blocks()[id].steps) {
            if (!attempts(step)) continue;
            if (trapping.empty()) trapping = flow::trapping(graph);
            const auto [found, made] = loops.try_emplace(loop, Attempts::until_success);
            if (made) found->second = Around(graph, loop, trapping).judge();
            if (found->second != Attempts::until_success) out.emplace(&step, found->second);
        }
    }
    return out;
}

}  // namespace wgrun::sim
