// A loop, the steps in it that write registers, and the tests that end it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "check/outline.hpp"
#include "isa/relations.hpp"

namespace wgrun::check {

class TestedLoop {
  public:
    /// A step of the loop that writes the register.
    struct Writing {
        std::uint32_t reg;
        BlockId block;
        const Step* step;
    };
    /// The loop goes on while a counter is in one of some relations to something that stays.
    struct Test {
        const Writing* by;
        const Operand *counter, *other;
        unsigned relations;  ///< those in which it goes on (isa/relations.hpp)
        bool is_unsigned;

        bool is_above() const { return (relations & (isa::less | isa::greater)) == isa::greater; }
        bool is_below() const { return (relations & (isa::less | isa::greater)) == isa::less; }
    };

    /// strides: registers that are at least 1, and stay what they are.
    TestedLoop(const Outline& outline, int loop, const std::set<std::uint32_t>& strides);

    const flow::Loop& loop() const { return graph_.loops()[static_cast<std::size_t>(index_)]; }
    int index() const { return index_; }
    const flow::Graph& graph() const { return graph_; }
    const std::vector<Writing>& writes() const { return writes_; }
    bool is_stride(Reg reg) const { return strides_.contains(reg.id); }

    bool inside(BlockId block) const { return graph_.inside(block, index_); }
    bool in_every_turn(BlockId block) const;
    /// Nor is it in an inner loop, where a turn comes to it several times.
    bool once_in_every_turn(BlockId block) const {
        return in_every_turn(block) && graph_.innermost_loop(block) == index_;
    }
    /// Whether a step comes before another one in each turn, of those that each turn comes to.
    bool before(const Writing& one, const Writing& other) const {
        return one.block == other.block ? one.step < other.step : graph_.dominates(one.block, other.block);
    }
    /// The only step that writes the register in the loop; null: there is none, or there are several.
    const Writing* only(Reg reg) const;
    /// Whether no step of the loop writes it.
    bool stays(const Operand& operand) const;

    /// Nothing where the block does not end so, in every turn. turned: the counter is the second of both.
    std::optional<Test> test_of(BlockId block, bool turned) const;
    /// At least so many numbers, one behind the other, end the loop: a counter that goes round in steps of no
    /// more comes to one of them.
    std::int64_t room(const Test& test) const;
    /// The blocks that each turn comes to, and at whose end it may leave the loop; where there are none,
    /// those that each turn comes to once, and at whose end it goes one of two ways.
    std::set<BlockId> branches() const;

  private:
    const flow::Graph& graph_;
    const std::set<std::uint32_t>& strides_;
    int index_;
    std::vector<Writing> writes_;
    std::vector<BlockId> ends_;  ///< of turns
};

/// What the step compares; nothing where it is no comparison, or guarded.
std::optional<std::pair<const Operand*, const Operand*>> compared_by(const Step& step);

}  // namespace wgrun::check
