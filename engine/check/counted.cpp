#include "check/counted.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "isa/algebra.hpp"
#include "isa/registers.hpp"
#include "isa/special.hpp"

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

/// A register over a number, as a shift or a division by a constant states it; nothing else.
class Share final : public isa::UnknownAlgebra {
  public:
    struct Over {
        Reg reg{};
        std::int64_t by = 0;  ///< without a register: a constant
    };
    Over at(isa::Term term) const {
        return term == isa::Term::unknown ? Over() : shares_[static_cast<std::size_t>(term)];
    }

  private:
    using Term = isa::Term;
    Term keep(Over over) {
        shares_.push_back(over);
        return static_cast<Term>(shares_.size() - 1);
    }
    Term number(const Operand& operand, isa::Type /*type*/) override {
        if (operand.reg) return keep({operand.reg, 1});
        return operand.kind == Operand::Kind::imm ? constant(operand.imm) : Term::unknown;
    }
    Term number(Term a, isa::Type /*type*/) override { return a; }
    Term constant(std::int64_t value) override { return keep({{}, value}); }
    Term power_of_2(Term exponent) override {
        const Over of = at(exponent);
        return of.reg || of.by < 0 || of.by > 31 ? Term::unknown : constant(std::int64_t{1} << of.by);
    }
    Term quotient(Term a, Term b) override {
        const Over of = at(a), by = at(b);
        return of.reg && !by.reg && by.by > 0 ? keep({of.reg, of.by * by.by}) : Term::unknown;
    }

    std::vector<Over> shares_;
};

/// A loop, and the steps in it that write a register.
class Counting {
  public:
    Counting(const Outline& outline, int loop)
        : program_(outline.program()),
          graph_(outline.graph()),
          loop_(graph_.loops()[static_cast<std::size_t>(loop)]) {
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
        const std::string how = isa::spelled(isa::Field::cmp, test->step->form.get(isa::Field::cmp));
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
    /// Whether the register is the size of the grid over a number, stays that, and is at least 1: a grid has
    /// whole clusters.
    bool strides(Reg reg, std::int64_t over = 1) const {
        bool any = false, all = true;
        for_each_step(program_, [&](const Step& step) {
            isa::for_each_written(step, [&](Reg written) {
                if (written.id != reg.id) return;
                any = true;
                all &= is_stride(step, over);
            });
        });
        return any && all;
    }
    bool is_stride(const Step& step, std::int64_t over) const {
        if (step.guard) return false;
        if (step.form.has(isa::Field::sreg)) {
            const isa::Special which = isa::special_of(step.form);
            return isa::is_grid_size(which) &&
                   (over == 1 || (which == isa::Special::nctaid_x && over <= program_.cluster().x));
        }
        Share algebra;
        const Share::Over share = algebra.at(isa::meaning_of(step, algebra));
        return share.reg && share.by > 1 && strides(share.reg, over * share.by);
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
        if (sum.other) {
            // By the size of the grid, which is at least 1: by an even number, as far as is known.
            if (sum.constant != 0 || more < 0) return std::nullopt;
            const bool first = strides(sum.reg);
            if (!first && !strides(sum.other)) return std::nullopt;
            const Reg next = first ? sum.other : sum.reg;
            constexpr std::int64_t some = std::int64_t{1} << 40;
            return next == from ? std::optional(some) : std::nullopt;
        }
        more += sum.constant;
        return sum.reg == from ? std::optional(more) : growth(sum.reg, from, more, depth + 1);
    }

    const Program& program_;
    const flow::Graph& graph_;
    const flow::Loop& loop_;
    std::vector<Writing> writes_;
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
    for (int loop = 0; loop < static_cast<int>(graph.loops().size()); ++loop) {
        if (!which(loop)) continue;
        const Counting turns(outline, loop);
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
