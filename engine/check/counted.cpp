#include "check/counted.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "check/at_least_one.hpp"
#include "isa/algebra.hpp"
#include "isa/registers.hpp"
#include "isa/relations.hpp"

namespace wgrun::check {
namespace {

/// Sums of a register, times a number, and a constant, or of two registers and a constant; nothing else.
class OneRegister final : public isa::UnknownAlgebra {
  public:
    struct Sum {
        Reg reg{};
        std::int64_t times = 0, constant = 0;  ///< 0 times: it is a constant
        Reg other{};                           ///< is added once
    };
    /// Of an unknown term: a register of which nothing comes.
    Sum at(isa::Term term) const {
        return term == isa::Term::unknown ? Sum() : sums_[static_cast<std::size_t>(term)];
    }

  private:
    using Term = isa::Term;
    Term keep(Sum sum) {
        sums_.push_back(sum);
        return static_cast<Term>(sums_.size() - 1);
    }
    Term of(const Operand& operand) override {
        if (operand.reg) return keep({operand.reg, 1, 0});
        return operand.kind == Operand::Kind::imm ? constant(operand.imm) : Term::unknown;
    }
    Term constant(std::int64_t value) override { return keep({{}, 0, value}); }
    Term sum(Term a, Term b, std::int64_t times) override {
        if (a == Term::unknown || b == Term::unknown) return Term::unknown;
        const Sum left = at(a), right = at(b);
        if (left.other || right.other) return Term::unknown;
        if (left.times != 0 && right.times != 0)
            return left.times == 1 && right.times * times == 1
                       ? keep({left.reg, 1, left.constant + times * right.constant, right.reg})
                       : Term::unknown;
        return keep({left.times != 0 ? left.reg : right.reg, left.times + times * right.times,
                     left.constant + times * right.constant});
    }

    std::vector<Sum> sums_;
};

/// A loop, and the steps in it that write a register.
class Counting {
  public:
    /// strides: registers that are at least 1, and stay what they are.
    Counting(const Outline& outline, int loop, const std::set<std::uint32_t>& strides)
        : graph_(outline.graph()), strides_(strides), loop_(graph_.loops()[static_cast<std::size_t>(loop)]) {
        for (const BlockId block : loop_.blocks)
            for (const Step& step : graph_.blocks()[block].steps)
                isa::for_each_written(step, [&](Reg reg) { writes_.push_back({reg.id, block, &step}); });
        for (const BlockId before : graph_.predecessors(loop_.header))
            if (inside(before)) ends_.push_back(before);
    }

    /// Whether the branch at the end of the block leaves the loop after a number of turns that it counts.
    bool counts(BlockId block) const {
        if (!in_every_turn(block)) return false;
        const std::optional<Test> first = test_of(block, false), second = test_of(block, true);
        return (first && counts(*first)) || (second && counts(*second));
    }

  private:
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
    };

    bool inside(BlockId block) const { return std::ranges::find(loop_.blocks, block) != loop_.blocks.end(); }
    bool in_every_turn(BlockId block) const {
        return std::ranges::all_of(ends_, [&](BlockId end) { return graph_.dominates(block, end); });
    }

    /// Nothing where the block does not end so. turned: the counter is the second of both.
    std::optional<Test> test_of(BlockId block, bool turned) const {
        const BasicBlock& at = graph_.blocks()[block];
        const Writing* test = only(at.condition);
        if (test == nullptr || test->step->op->shape == nullptr ||
            test->step->op->shape(test->step->form) != isa::Shape::order || test->step->guard)
            return std::nullopt;
        std::vector<const Operand*> sources;
        for (std::size_t i = 0; i < test->step->operands.size(); ++i)
            if (test->step->op->operands[i].access == isa::Access::in)
                sources.push_back(&test->step->operands[i]);
        if (sources.size() != 2) return std::nullopt;
        unsigned relations = isa::relations_of(test->step->form);
        constexpr unsigned all = isa::less | isa::equal | isa::greater;
        if (relations > all) return std::nullopt;
        if (inside(at.taken) == at.negated) relations ^= all;
        if (turned) relations = isa::turned(relations);
        Test out{test, sources[turned ? 1 : 0], sources[turned ? 0 : 1], relations,
                 !isa::is_signed(test->step->form.type())};
        return stays(*out.other) ? std::optional(out) : std::nullopt;
    }

    bool counts(const Test& test) const {
        const std::int64_t more = growth(*test.counter);
        if (more == 0) return counts_in_parts(test);
        // What grows by an odd number comes to every number.
        if (more % 2 != 0) return true;
        if (test.relations == (isa::less | isa::greater)) return false;
        if (!test.is_unsigned || test.relations == isa::equal) return true;
        // Else it may jump over the numbers that end the loop, from one end of all numbers to the other.
        constexpr std::int64_t longest = std::int64_t{1} << 30;
        const std::int64_t step = std::min(more < 0 ? -more : more, longest);
        if (is_above(test)) return above_by(test).value_or(0) >= step;
        return test.other->kind != Operand::Kind::imm ||
               static_cast<std::uint32_t>(test.other->imm) + step <= UINT32_MAX;
    }

    static bool is_above(const Test& test) {
        return (test.relations & (isa::less | isa::greater)) == isa::greater;
    }
    static bool is_below(const Test& test) {
        return (test.relations & (isa::less | isa::greater)) == isa::less;
    }
    /// By how much an unsigned counter is at least greater than 0 while the loop goes on.
    static std::optional<std::int64_t> above_by(const Test& test) {
        if (!test.is_unsigned || test.other->kind != Operand::Kind::imm) return std::nullopt;
        const auto least = static_cast<std::int64_t>(static_cast<std::uint32_t>(test.other->imm));
        if (!is_above(test)) return std::nullopt;
        return (test.relations & isa::equal) != 0 ? least : least + 1;
    }

    /// Of a counter to which several steps of each turn add numbers of one sign. An unsigned one that falls
    /// is compared before each of them.
    bool counts_in_parts(const Test& test) const {
        if (!is_above(test) && !is_below(test)) return false;
        if (!test.counter->reg) return false;
        std::vector<std::pair<const Writing*, std::int64_t>> parts;
        for (const Writing& write : writes_) {
            if (write.reg != test.counter->reg.id) continue;
            OneRegister algebra;
            const OneRegister::Sum sum = algebra.at(isa::meaning_of(*write.step, algebra));
            if (write.step->guard || !in_every_turn(write.block) || sum.times != 1 || sum.other ||
                sum.reg != test.counter->reg || sum.constant == 0)
                return false;
            parts.emplace_back(&write, sum.constant);
        }
        const bool falls = is_above(test);
        return !parts.empty() && std::ranges::all_of(parts, [&](const auto& part) {
            if ((part.second < 0) != falls) return false;
            return !falls || !test.is_unsigned || is_compared_before(test.counter->reg, part, parts);
        });
    }
    bool is_compared_before(Reg counter, const std::pair<const Writing*, std::int64_t>& part,
                            const std::vector<std::pair<const Writing*, std::int64_t>>& parts) const {
        return std::ranges::any_of(loop_.blocks, [&](BlockId block) {
            const BasicBlock& at = graph_.blocks()[block];
            if (at.end != BasicBlock::End::branch || inside(at.taken) == inside(at.otherwise) ||
                !graph_.dominates(block, part.first->block) || block == part.first->block)
                return false;
            const std::optional<Test> test = test_of(block, false);
            if (!test || test->counter->reg != counter || !graph_.dominates(test->by->block, block))
                return false;
            std::int64_t less = -part.second;
            for (const auto& [other, more] : parts)
                if (other != part.first && before(*test->by, *other) && before(*other, *part.first))
                    less -= more;
            return above_by(*test).value_or(0) >= less;
        });
    }
    /// Whether a step comes before another one in each turn.
    bool before(const Writing& one, const Writing& other) const {
        return one.block == other.block ? one.step < other.step : graph_.dominates(one.block, other.block);
    }
    const Writing* only(Reg reg) const {
        const auto is = [&](const Writing& write) { return write.reg == reg.id; };
        const auto first = std::ranges::find_if(writes_, is);
        return first != writes_.end() && std::ranges::count_if(writes_, is) == 1 ? &*first : nullptr;
    }
    bool stays(const Operand& operand) const {
        return !operand.reg || std::ranges::none_of(writes_, [&](const Writing& write) {
            return write.reg == operand.reg.id;
        });
    }
    std::int64_t growth(const Operand& operand) const {
        return operand.reg ? growth(operand.reg, operand.reg, 0, 0).value_or(0) : 0;
    }

    /// How much greater the register and `more` are than `from` of the turn before.
    std::optional<std::int64_t> growth(Reg reg, Reg from, std::int64_t more, int depth) const {
        constexpr int deepest = 6;
        const Writing* write = only(reg);
        if (write == nullptr || write->step->guard || depth > deepest) return std::nullopt;
        if (!in_every_turn(write->block)) return std::nullopt;
        OneRegister algebra;
        const OneRegister::Sum sum = algebra.at(isa::meaning_of(*write->step, algebra));
        if (sum.times != 1) return std::nullopt;
        if (sum.other) {
            // By the size of the grid, which is at least 1: by an even number, as far as is known.
            if (sum.constant != 0 || more < 0) return std::nullopt;
            const bool first = strides_.contains(sum.reg.id);
            if (!first && !strides_.contains(sum.other.id)) return std::nullopt;
            const Reg next = first ? sum.other : sum.reg;
            constexpr std::int64_t some = std::int64_t{1} << 40;
            return next == from ? std::optional(some) : std::nullopt;
        }
        more += sum.constant;
        return sum.reg == from ? std::optional(more) : growth(sum.reg, from, more, depth + 1);
    }

    const flow::Graph& graph_;
    const std::set<std::uint32_t>& strides_;
    const flow::Loop& loop_;
    std::vector<Writing> writes_;
    std::vector<BlockId> ends_;  ///< of turns
};

}  // namespace

namespace {

/// Whether a branch leaves the loop, of those at the ends of its blocks that which(block) names.
template <class Which>
bool has_exit(const flow::Graph& graph, int loop, Which which) {
    return std::ranges::any_of(graph.loops()[static_cast<std::size_t>(loop)].blocks, [&](BlockId block) {
        const BasicBlock& at = graph.blocks()[block];
        return at.end == BasicBlock::End::branch &&
               (!graph.inside(at.taken, loop) || !graph.inside(at.otherwise, loop)) && which(block);
    });
}

/// Returns the place of a loop that which(loop) names, and that no count ends.
template <class Which>
std::optional<Where> uncounted(const Outline& outline, Which which) {
    const flow::Graph& graph = outline.graph();
    const std::set<std::uint32_t> strides = at_least_one(outline.program(), {});
    for (int loop = 0; loop < static_cast<int>(graph.loops().size()); ++loop) {
        if (!which(loop)) continue;
        const Counting turns(outline, loop, strides);
        if (!has_exit(graph, loop, [&](BlockId block) { return turns.counts(block); }))
            return graph.blocks()[graph.loops()[static_cast<std::size_t>(loop)].header].where;
    }
    return std::nullopt;
}

}  // namespace

std::optional<Where> uncounted_loop(const Outline& outline, const Skeleton& skeleton) {
    return uncounted(outline, [&](int loop) {
        return !has_exit(outline.graph(), loop, [&](BlockId block) { return skeleton.decides(block); });
    });
}

std::optional<Where> uncounted_loop_around(const Outline& outline, const std::set<const Step*>& steps) {
    const flow::Graph& graph = outline.graph();
    return uncounted(outline, [&](int loop) {
        return std::ranges::any_of(graph.loops()[static_cast<std::size_t>(loop)].blocks, [&](BlockId block) {
            return std::ranges::any_of(graph.blocks()[block].steps,
                                       [&](const Step& step) { return steps.contains(&step); });
        });
    });
}

}  // namespace wgrun::check
