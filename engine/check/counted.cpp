#include "check/counted.hpp"

#include <algorithm>
#include <vector>

#include "isa/algebra.hpp"
#include "isa/registers.hpp"

namespace wgrun::check {
namespace {

/// Sums of a register, times a number, and a constant; nothing else.
class OneRegister final : public isa::Algebra {
  public:
    struct Sum {
        Reg reg{};
        std::int64_t times = 0, constant = 0;  ///< 0 times: it is a constant
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
        if (left.times != 0 && right.times != 0) return Term::unknown;
        return keep({left.times != 0 ? left.reg : right.reg, left.times + times * right.times,
                     left.constant + times * right.constant});
    }
    // What is less than that has no part in counting.
    Term number(const Operand&, isa::Type) override { return Term::unknown; }
    Term number(Term, isa::Type) override { return Term::unknown; }
    Term product(Term, Term) override { return Term::unknown; }
    Term quotient(Term, Term) override { return Term::unknown; }
    Term power_of_2(Term) override { return Term::unknown; }
    Term bitwise(unsigned, Term, Term, isa::Type) override { return Term::unknown; }
    Term compare(isa::Compared, Term, Term) override { return Term::unknown; }
    Term select(Term, Term, Term) override { return Term::unknown; }
    Term in_lane(const Operand&, int) override { return Term::unknown; }
    Term elected() override { return Term::unknown; }

    std::vector<Sum> sums_;
};

/// A loop, and the steps in it that write a register.
class Counting {
  public:
    Counting(const Outline& outline, int loop)
        : graph_(outline.graph()), loop_(graph_.loops()[static_cast<std::size_t>(loop)]) {
        for (const BlockId block : loop_.blocks)
            for (const Step& step : graph_.blocks()[block].steps)
                isa::for_each_written(step, [&](Reg reg) { writes_.push_back({reg.id, block, &step}); });
    }

    /// Whether the branch at the end of the block leaves the loop after a number of turns that it counts.
    bool counts(BlockId block) const {
        const BasicBlock& at = graph_.blocks()[block];
        for (const BlockId before : graph_.predecessors(loop_.header))
            if (std::ranges::find(loop_.blocks, before) != loop_.blocks.end() &&
                !graph_.dominates(block, before))
                return false;
        const Writing* test = only(at.condition);
        if (test == nullptr || test->step->op->shape == nullptr ||
            test->step->op->shape(test->step->form) != isa::Shape::order || test->step->guard)
            return false;
        const std::string_view how = isa::spelled(isa::Field::cmp, test->step->form.get(isa::Field::cmp));
        std::vector<const Operand*> sources;
        for (std::size_t i = 0; i < test->step->operands.size(); ++i)
            if (test->step->op->operands[i].access == isa::Access::in)
                sources.push_back(&test->step->operands[i]);
        if (sources.size() != 2) return false;
        // What grows by an odd number comes to every number, and to that where one of both is the other.
        const auto passes = [&](std::int64_t more) {
            return how == "eq" || how == "ne" ? more % 2 != 0 : more != 0;
        };
        return (passes(growth(*sources[0])) && stays(*sources[1])) ||
               (passes(growth(*sources[1])) && stays(*sources[0]));
    }

  private:
    struct Writing {
        std::uint32_t reg;
        BlockId block;
        const Step* step;
    };
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
        for (const BlockId before : graph_.predecessors(loop_.header))
            if (std::ranges::find(loop_.blocks, before) != loop_.blocks.end() &&
                !graph_.dominates(write->block, before))
                return std::nullopt;
        OneRegister algebra;
        const OneRegister::Sum sum = algebra.at(isa::meaning_of(*write->step, algebra));
        if (sum.times != 1) return std::nullopt;
        more += sum.constant;
        return sum.reg == from ? std::optional(more) : growth(sum.reg, from, more, depth + 1);
    }

    const flow::Graph& graph_;
    const flow::Loop& loop_;
    std::vector<Writing> writes_;
};

}  // namespace

std::optional<Where> uncounted_loop(const Outline& outline, const Skeleton& skeleton) {
    const flow::Graph& graph = outline.graph();
    for (int loop = 0; loop < static_cast<int>(graph.loops().size()); ++loop) {
        const flow::Loop& its = graph.loops()[static_cast<std::size_t>(loop)];
        const auto leaves = [&](BlockId block) {
            const BasicBlock& at = graph.blocks()[block];
            return at.end == BasicBlock::End::branch &&
                   (!graph.inside(at.taken, loop) || !graph.inside(at.otherwise, loop));
        };
        const auto followed = [&](BlockId block) { return leaves(block) && skeleton.decides(block); };
        if (std::ranges::any_of(its.blocks, followed)) continue;
        const Counting turns(outline, loop);
        const auto counted = [&](BlockId block) { return leaves(block) && turns.counts(block); };
        if (std::ranges::none_of(its.blocks, counted)) return graph.blocks()[its.header].where;
    }
    return std::nullopt;
}

}  // namespace wgrun::check
