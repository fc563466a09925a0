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
    Counting(const Outline& outline, int loop, const std::set<std::uint32_t>& strides,
             const DrawnNumbers& drawn)
        : graph_(outline.graph()),
          strides_(strides),
          drawn_(drawn),
          loop_(graph_.loops()[static_cast<std::size_t>(loop)]) {
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

    /// The blocks that each turn comes to, and at whose end it may leave the loop.
    std::set<BlockId> exits() const {
        std::set<BlockId> out;
        for (const BlockId block : loop_.blocks)
            if (const BasicBlock& at = graph_.blocks()[block]; at.end == BasicBlock::End::branch &&
                                                               inside(at.taken) != inside(at.otherwise) &&
                                                               in_every_turn(block))
                out.insert(block);
        return out;
    }
    bool draws() const {
        return std::ranges::any_of(writes_,
                                   [&](const Writing& write) { return drawn_.draws.contains(write.step); });
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
        if (is_below(test) && test.counter->reg && is_drawn(test)) return true;
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

    /// Whether the counter is a number that each turn draws, and something that stays.
    bool is_drawn(const Test& test) const {
        const Writing* number = only(test.counter->reg);
        if (number == nullptr || number->step->guard || loop_.parent != flow::no_loop) return false;
        OneRegister algebra;
        const OneRegister::Sum sum = algebra.at(isa::meaning_of(*number->step, algebra));
        if (sum.times != 1) return false;
        const bool first = is_draw(sum.reg);
        const Reg draw = first ? sum.reg : sum.other, more = first ? sum.other : sum.reg;
        if (!draw || !is_draw(draw) || (more && !strides_.contains(more.id) && !stays(Operand::of(more))))
            return false;
        // Each turn comes to the number, and on each path to there draws.
        if (!in_every_turn(number->block) || !always_draws(draw, *number)) return false;
        return std::ranges::all_of(writes_, [&](const Writing& write) {
            const auto from = drawn_.draws.find(write.step);
            if (from == drawn_.draws.end() || write.reg != draw.id) return true;
            const std::vector<const Step*>& changes = drawn_.changes.at(from->second);
            return std::ranges::all_of(changes, [&](const Step* step) {
                return is_last_turn(*step, test, draw, more, sum.constant, *number);
            });
        });
    }
    /// Whether the block writes the register; before: before that step of it.
    bool writes(Reg reg, BlockId block, const Step* before) const {
        return std::ranges::any_of(writes_, [&](const Writing& write) {
            return write.reg == reg.id && write.block == block && (before == nullptr || write.step < before);
        });
    }
    /// Whether each path through a turn writes the register before it comes to that step.
    bool always_draws(Reg draw, const Writing& to) const {
        return !comes_to(to, loop_.header, [&](BlockId block) { return writes(draw, block, nullptr); }) ||
               writes(draw, to.block, to.step);
    }
    /// Whether a path from the begin of a block comes to a step's block in the same turn, and through no
    /// block of some.
    template <class Without>
    bool comes_to(const Writing& to, BlockId from, Without without) const {
        std::set<BlockId> seen;
        for (std::vector<BlockId> open{from}; !open.empty();) {
            const BlockId block = open.back();
            open.pop_back();
            if (!inside(block) || !seen.insert(block).second) continue;
            if (block == to.block) return true;
            if (without(block)) continue;
            const BasicBlock& at = graph_.blocks()[block];
            for (const BlockId next : {at.taken, at.end == BasicBlock::End::branch ? at.otherwise : at.taken})
                if (next != loop_.header) open.push_back(next);
        }
        return false;
    }
    /// Whether all that writes the register in the loop are draws.
    bool is_draw(Reg reg) const {
        bool any = false;
        for (const Writing& write : writes_) {
            if (write.reg != reg.id) continue;
            if (write.step->guard || !drawn_.draws.contains(write.step)) return false;
            any = true;
        }
        return any;
    }
    /// Whether a step is executed only in turns that draw the number before the one with which the counter is
    /// compared: the counter, which is at least 1 more, then ends the loop.
    bool is_last_turn(const Step& step, const Test& test, Reg draw, Reg more, std::int64_t constant,
                      const Writing& number) const {
        const bool is_more =
            (constant >= 1 && !more) || (constant >= 0 && more && strides_.contains(more.id));
        if ((test.relations & isa::equal) != 0 || !is_more || !test.other->reg) return false;
        return std::ranges::any_of(loop_.blocks, [&](BlockId block) {
            const std::vector<Step>& steps = graph_.blocks()[block].steps;
            if (std::ranges::none_of(steps, [&](const Step& one) { return &one == &step; })) return false;
            if (graph_.predecessors(block).size() != 1) return false;
            const BlockId before = graph_.predecessors(block).front();
            const BasicBlock& at = graph_.blocks()[before];
            if (at.end != BasicBlock::End::branch || at.taken == at.otherwise) return false;
            const Writing* by = only(at.condition);
            // No other number is drawn after that one and before the counter is set.
            const auto draws = [&](BlockId one) { return writes(draw, one, nullptr); };
            return by != nullptr && by->block == before && !by->step->guard &&
                   (at.taken == block) != at.negated && draws_last(*by, *test.other, draw) &&
                   !writes_after(draw, before, by->step) && !draws(block) && block != number.block &&
                   stays_on_all_paths(block, number, draws) && !writes(draw, number.block, number.step);
        });
    }
    /// Whether the block writes the register behind that step.
    bool writes_after(Reg reg, BlockId block, const Step* step) const {
        return std::ranges::any_of(writes_, [&](const Writing& write) {
            return write.reg == reg.id && write.block == block && write.step > step;
        });
    }
    /// Whether no path from the block to the step comes through one of those.
    template <class Those>
    bool stays_on_all_paths(BlockId from, const Writing& to, Those those) const {
        return std::ranges::none_of(loop_.blocks, [&](BlockId block) {
            return block != to.block && those(block) &&
                   comes_to({0, block, nullptr}, from, [&](BlockId one) { return one == to.block; });
        });
    }
    /// Whether the predicate says that the number drawn is the one before `limit`.
    bool draws_last(const Writing& by, const Operand& limit, Reg draw) const {
        const isa::Instruction& op = *by.step->op;
        if (op.shape == nullptr || op.shape(by.step->form) != isa::Shape::order ||
            isa::relations_of(by.step->form) != isa::equal)
            return false;
        std::vector<Reg> sources;
        for (std::size_t i = 0; i < by.step->operands.size(); ++i)
            if (op.operands[i].access == isa::Access::in) sources.push_back(by.step->operands[i].reg);
        if (sources.size() != 2) return false;
        if (sources[0] != draw) std::swap(sources[0], sources[1]);
        if (sources[0] != draw || !sources[1]) return false;
        const Writing* last = only(sources[1]);
        if (last == nullptr || last->step->guard || last->block != by.block || last->step > by.step)
            return false;
        OneRegister algebra;
        const OneRegister::Sum sum = algebra.at(isa::meaning_of(*last->step, algebra));
        return sum.times == 1 && !sum.other && sum.reg == limit.reg && sum.constant == -1;
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
    const DrawnNumbers& drawn_;
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

/// Returns the loops that which(loop) names, and that no count ends.
template <class Which>
std::vector<OpenLoop> uncounted(const Outline& outline, const DrawnNumbers& drawn, Which which) {
    const flow::Graph& graph = outline.graph();
    const std::set<std::uint32_t> strides = at_least_one(outline.program(), {});
    std::vector<OpenLoop> out;
    for (int loop = 0; loop < static_cast<int>(graph.loops().size()); ++loop) {
        if (!which(loop)) continue;
        const Counting turns(outline, loop, strides, drawn);
        if (!has_exit(graph, loop, [&](BlockId block) { return turns.counts(block); }))
            out.push_back({graph.blocks()[graph.loops()[static_cast<std::size_t>(loop)].header].where,
                           turns.exits(), turns.draws()});
    }
    return out;
}

}  // namespace

std::optional<Where> uncounted_loop(const Outline& outline, const Skeleton& skeleton) {
    const std::vector<OpenLoop> all = uncounted(outline, skeleton.drawn(), [&](int loop) {
        return !has_exit(outline.graph(), loop, [&](BlockId block) { return skeleton.decides(block); });
    });
    return all.empty() ? std::nullopt : std::optional(all.front().where);
}

std::vector<OpenLoop> uncounted_loops_around(const Outline& outline, const std::set<const Step*>& steps,
                                             const DrawnNumbers& drawn) {
    const flow::Graph& graph = outline.graph();
    return uncounted(outline, drawn, [&](int loop) {
        return std::ranges::any_of(graph.loops()[static_cast<std::size_t>(loop)].blocks, [&](BlockId block) {
            return std::ranges::any_of(graph.blocks()[block].steps,
                                       [&](const Step& step) { return steps.contains(&step); });
        });
    });
}

}  // namespace wgrun::check
