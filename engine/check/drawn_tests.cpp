#include "check/drawn_tests.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "check/register_sum.hpp"

namespace wgrun::check {
namespace {

using Test = TestedLoop::Test;
using Writing = TestedLoop::Writing;

/// Paths through a turn, and where they write the register that holds what is drawn.
class Draws {
  public:
    Draws(const TestedLoop& loop, Reg draw) : loop_(loop), draw_(draw) {}

    /// Whether each path through a turn draws before it comes to that step.
    bool always_before(const Writing& to) const {
        return !comes_to(to.block, loop_.loop().header, [&](BlockId block) { return in(block); }) ||
               before(to);
    }
    /// Whether the block draws; before, after a step of it.
    bool in(BlockId block) const {
        return any([&](const Writing& write) { return write.block == block; });
    }
    bool before(const Writing& to) const {
        return any([&](const Writing& write) { return write.block == to.block && write.step < to.step; });
    }
    bool after(const Writing& from) const {
        return any([&](const Writing& write) { return write.block == from.block && write.step > from.step; });
    }
    /// Whether none is drawn between the end of that block and the step, which is in another one.
    bool none_between(BlockId from, const Writing& to) const {
        return !before(to) && std::ranges::none_of(loop_.loop().blocks, [&](BlockId block) {
            return block != to.block && in(block) &&
                   comes_to(block, from, [&](BlockId one) { return one == to.block; });
        });
    }

  private:
    template <class Which>
    bool any(Which which) const {
        return std::ranges::any_of(
            loop_.writes(), [&](const Writing& write) { return write.reg == draw_.id && which(write); });
    }
    /// Whether a path from the begin of a block comes to another one in the same turn, and through no block
    /// of some.
    template <class Without>
    bool comes_to(BlockId to, BlockId from, Without without) const {
        std::set<BlockId> seen;
        for (std::vector<BlockId> open{from}; !open.empty();) {
            const BlockId block = open.back();
            open.pop_back();
            if (!loop_.inside(block) || !seen.insert(block).second) continue;
            if (block == to) return true;
            if (without(block)) continue;
            loop_.graph().blocks()[block].for_each_successor([&](BlockId next, int) {
                if (next != loop_.loop().header) open.push_back(next);
            });
        }
        return false;
    }

    const TestedLoop& loop_;
    const Reg draw_;
};

/// A test whose counter is drawn + more + constant.
struct Drawn {
    Test test;
    Writing number;  ///< the step that computes the counter
    Reg draw, more;
    std::int64_t constant;
};

/// Whether all that writes the register in the loop are draws, each of one counter: none of another in each
/// turn, which could give the same number for ever.
bool is_draw(const TestedLoop& loop, Reg reg, const DrawnNumbers& drawn, Kept& kept) {
    bool any = false;
    for (const Writing& write : loop.writes()) {
        if (write.reg != reg.id) continue;
        const auto draw = drawn.draws.find(write.step);
        if (write.step->guard || draw == drawn.draws.end()) return false;
        const Reg address = draw->second.address;
        if (address && !kept.keeps(address, loop.index(), write.block)) return false;
        any = true;
    }
    return any;
}

/// Whether the predicate says that the number drawn is the one before `limit`.
bool draws_last(const TestedLoop& loop, const Writing& by, const Operand& limit, Reg draw) {
    const auto sources = compared_by(*by.step);
    if (!sources || isa::relations_of(by.step->form) != isa::equal) return false;
    auto [first, second] = std::pair(sources->first->reg, sources->second->reg);
    if (first != draw) std::swap(first, second);
    if (first != draw || !second) return false;
    const Writing* last = loop.only(second);
    if (last == nullptr || last->step->guard || last->block != by.block || last->step > by.step) return false;
    const RegisterSum sum = sum_of(*last->step);
    return sum.times == 1 && !sum.other && sum.reg == limit.reg && sum.constant == -1;
}

/// Whether a step is executed only in turns that draw the number before the one with which the counter is
/// compared: the counter, which is at least 1 more, then ends the loop.
bool is_last_turn(const TestedLoop& loop, const Step& step, const Drawn& of) {
    const bool is_more =
        (of.constant >= 1 && !of.more) || (of.constant >= 0 && of.more && loop.is_stride(of.more));
    if ((of.test.relations & isa::equal) != 0 || !is_more || !of.test.other->reg) return false;
    const flow::Graph& graph = loop.graph();
    return std::ranges::any_of(loop.loop().blocks, [&](BlockId block) {
        const std::vector<Step>& steps = graph.blocks()[block].steps;
        if (std::ranges::none_of(steps, [&](const Step& one) { return &one == &step; })) return false;
        if (graph.predecessors(block).size() != 1) return false;
        const BlockId before = graph.predecessors(block).front();
        const BasicBlock& at = graph.blocks()[before];
        if (at.end != BasicBlock::End::branch || at.taken == at.otherwise) return false;
        const Writing* by = loop.only(at.condition);
        // No other number is drawn after that one and before the counter is set.
        const Draws draws(loop, of.draw);
        return by != nullptr && by->block == before && (at.taken == block) != at.negated &&
               draws_last(loop, *by, *of.test.other, of.draw) && !draws.after(*by) && !draws.in(block) &&
               block != of.number.block && draws.none_between(block, of.number);
    });
}

}  // namespace

bool ends_as_it_draws(const TestedLoop& loop, const Test& test, const DrawnNumbers& drawn, Kept& kept) {
    if (!test.is_below() || !test.counter->reg || loop.room(test) < DrawnNumbers::most_added) return false;
    const Writing* number = loop.only(test.counter->reg);
    if (number == nullptr || number->step->guard || loop.loop().parent != flow::no_loop) return false;
    const RegisterSum sum = sum_of(*number->step);
    if (sum.times != 1) return false;
    const bool first = is_draw(loop, sum.reg, drawn, kept);
    const Drawn of{test, *number, first ? sum.reg : sum.other, first ? sum.other : sum.reg, sum.constant};
    if (!of.draw || (!first && !is_draw(loop, of.draw, drawn, kept))) return false;
    if (of.more && !loop.is_stride(of.more) && !loop.stays(Operand::of(of.more))) return false;
    // Each turn comes to the number, and on each path to there draws.
    if (!loop.in_every_turn(number->block) || !Draws(loop, of.draw).always_before(*number)) return false;
    return std::ranges::all_of(loop.writes(), [&](const Writing& write) {
        const auto from = drawn.draws.find(write.step);
        if (from == drawn.draws.end() || write.reg != of.draw.id) return true;
        const std::vector<const Step*>& changes = drawn.changes.at(from->second.param);
        return std::ranges::all_of(changes, [&](const Step* step) { return is_last_turn(loop, *step, of); });
    });
}

bool draws(const TestedLoop& loop, const DrawnNumbers& drawn) {
    return std::ranges::any_of(loop.writes(),
                               [&](const Writing& write) { return drawn.draws.contains(write.step); });
}

}  // namespace wgrun::check
