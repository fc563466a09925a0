#include "check/assigned.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "check/at_least_one.hpp"
#include "isa/algebra.hpp"
#include "isa/effects.hpp"
#include "isa/known_bits.hpp"
#include "isa/registers.hpp"
#include "wgrun/cancellation.hpp"

namespace wgrun::check {
namespace {

/// What is written: under a guard (0: under none), a register, and the guard's polarity. What holds under one
/// guard stands together.
using Assigned = std::set<std::tuple<std::uint32_t, std::uint32_t, bool>>;

/// What holds under a guard holds no more when that is written anew.
void forget_guard(Reg written, Assigned& assigned) {
    const auto first_of = [&](std::uint32_t guard) { return assigned.lower_bound({guard, 0, false}); };
    assigned.erase(first_of(written.id + 1), first_of(written.id + 2));
}

/// guard: 0 where the step is executed in any case.
void assign(const Step& step, Reg reg, std::uint32_t guard, Assigned& assigned) {
    forget_guard(reg, assigned);
    const bool other = guard != 0 && assigned.contains({guard, reg.id, !step.guard_negated});
    assigned.insert(guard == 0 || other ? std::tuple(0U, reg.id, false)
                                        : std::tuple(guard, reg.id, step.guard_negated));
}

std::uint32_t guard_of(const Step& step) { return step.guard ? step.guard.id + 1 : 0; }

void execute(const Step& step, Assigned& assigned) {
    isa::for_each_written(step, [&](Reg reg) { assign(step, reg, guard_of(step), assigned); });
}

bool is_assigned(const Step& step, Reg reg, const Assigned& assigned) {
    if (assigned.contains({0, reg.id, false})) return true;
    return step.guard && assigned.contains({step.guard.id + 1, reg.id, step.guard_negated});
}

/// The accumulators of a wgmma that only writes them, or may.
class OnlyWritten final : public isa::Effects {
  public:
    explicit OnlyWritten(const Step& step) { isa::visit_effects(step, *this); }
    bool operator()(Reg reg) const { return !reads_ && may(reg); }
    bool may(Reg reg) const {
        return accumulators_ != nullptr && std::ranges::find(*accumulators_, reg) != accumulators_->end();
    }

  private:
    void issue_mma(const isa::AsyncMma& mma) override {
        accumulators_ = mma.accumulators;
        reads_ = mma.reads_accumulators;
    }
    const std::vector<Reg>* accumulators_ = nullptr;
    bool reads_ = false;
};

/// Follows all paths at once. Returns the registers that a path to a read of theirs may not have written.
std::set<std::uint32_t> maybe_unassigned(const flow::Graph& graph) {
    std::vector<std::optional<Assigned>> after(graph.blocks().size());
    const auto before = [&](BlockId block) {
        std::optional<Assigned> out;
        if (block == graph.order().front()) out.emplace();
        for (const BlockId from : graph.predecessors(block)) {
            if (!after[from]) continue;  // not reached yet: it may have written anything
            if (!out)
                out = after[from];
            else
                std::erase_if(*out, [&](const auto& one) { return !after[from]->contains(one); });
        }
        return out.value_or(Assigned());
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (const BlockId block : graph.order()) {
            Cancellation::poll();
            Assigned assigned = before(block);
            for (const Step& step : graph.blocks()[block].steps) execute(step, assigned);
            if (after[block] == assigned) continue;
            after[block] = std::move(assigned);
            changed = true;
        }
    }
    std::set<std::uint32_t> open;
    for (const BlockId block : graph.order()) {
        Assigned assigned = before(block);
        for (const Step& step : graph.blocks()[block].steps) {
            const OnlyWritten only_written(step);
            isa::for_each_read(step, [&](Reg reg) {
                if (!only_written(reg) && !is_assigned(step, reg, assigned)) open.insert(reg.id);
            });
            if (step.guard && !assigned.contains({0, step.guard.id, false})) open.insert(step.guard.id);
            execute(step, assigned);
        }
        const BasicBlock& ended = graph.blocks()[block];
        if (ended.end == BasicBlock::End::branch && !assigned.contains({0, ended.condition.id, false}))
            open.insert(ended.condition.id);
    }
    return open;
}

/// Comparisons of 0 with registers that are at least 1, as a loop makes before its first turn; nothing else.
class WithZero final : public isa::UnknownAlgebra {
  public:
    using Term = isa::Term;
    static constexpr Term no{0}, yes{1}, zero{2}, positive{3};

    /// Both say of a register of the step whether it is that; at_least_one as an unsigned number.
    WithZero(std::function<bool(Reg)> is_zero, std::function<bool(Reg, isa::Type)> at_least_one)
        : is_zero_(std::move(is_zero)), at_least_one_(std::move(at_least_one)) {}

  private:
    Term number(const Operand& operand, isa::Type type) override {
        if (operand.kind == Operand::Kind::imm) return operand.imm == 0 ? zero : Term::unknown;
        if (operand.kind != Operand::Kind::reg || isa::is_float(type)) return Term::unknown;
        if (is_zero_(operand.reg)) return zero;
        return !isa::is_signed(type) && at_least_one_(operand.reg, type) ? positive : Term::unknown;
    }
    Term compare(isa::Compared how, Term a, Term b) override {
        using isa::Compared;
        const bool less = a == zero && b == positive;
        if (!less && !(a == positive && b == zero)) return Term::unknown;
        const bool holds = how == Compared::ne || (less ? how == Compared::lt || how == Compared::le
                                                        : how == Compared::gt || how == Compared::ge);
        return holds ? yes : no;
    }

    std::function<bool(Reg)> is_zero_;
    std::function<bool(Reg, isa::Type)> at_least_one_;
};

/// Comparisons of 0 with a register, where they say whether it is 0.
class IsZero final : public isa::UnknownAlgebra {
  public:
    using Term = isa::Term;
    static constexpr Term yes{0}, no{1};

    /// is_zero: of a register of the step. same: whether it has the width of a type.
    IsZero(std::function<bool(Reg)> is_zero, std::function<bool(Reg, isa::Type)> same)
        : is_zero_(std::move(is_zero)), same_(std::move(same)) {}
    /// The register, once compare() has returned yes or no.
    Reg reg() const { return reg_; }

  private:
    static constexpr Term zero{2}, it{3};

    Term number(const Operand& operand, isa::Type type) override {
        if (operand.kind == Operand::Kind::imm) return operand.imm == 0 ? zero : Term::unknown;
        if (operand.kind != Operand::Kind::reg || isa::is_float(type)) return Term::unknown;
        if (is_zero_(operand.reg)) return zero;
        if (isa::is_signed(type) || !same_(operand.reg, type)) return Term::unknown;
        reg_ = operand.reg;
        return it;
    }
    Term compare(isa::Compared how, Term a, Term b) override {
        using isa::Compared;
        const bool first = a == zero && b == it;
        if (!first && !(a == it && b == zero)) return Term::unknown;
        if (how == Compared::eq || how == (first ? Compared::ge : Compared::le)) return yes;
        return how == Compared::ne || how == (first ? Compared::lt : Compared::gt) ? no : Term::unknown;
    }

    std::function<bool(Reg)> is_zero_;
    std::function<bool(Reg, isa::Type)> same_;
    Reg reg_;
};

/// Follows a few registers, and what is constant: paths that have written other ones of them are kept apart.
class Apart {
  public:
    Apart(const Outline& outline, std::set<std::uint32_t> open, const std::set<std::string>& numbers)
        : program_(outline.program()),
          graph_(outline.graph()),
          open_(std::move(open)),
          at_least_one_(at_least_one(program_, numbers)),
          before_(graph_.blocks().size()) {}

    std::optional<Where> run() {
        add(graph_.order().front(), {}, {});
        for (bool changed = true; changed;) {
            changed = false;
            for (const BlockId block : graph_.order()) {
                if (!before_[block].changed) continue;
                changed = true;
                before_[block].changed = false;
                for (const auto& [assigned, numbers] : std::map(before_[block].states)) {
                    follow(block, assigned, numbers);
                    if (missing_) return missing_;
                }
            }
        }
        return std::nullopt;
    }

  private:
    using Numbers = std::map<std::uint32_t, std::uint64_t>;  ///< by register: those that are known
    struct Before {
        std::map<Assigned, Numbers> states;
        bool changed = false, joined = false;
    };

    void follow(BlockId id, Assigned assigned, Numbers numbers) {
        const BasicBlock& block = graph_.blocks()[id];
        for (const Step& step : block.steps) {
            if (--steps_left_ < 0) missing_ = step.where;
            execute(step, assigned, numbers);
            if (missing_) return;
        }
        if (block.end == BasicBlock::End::exit) return;
        if (block.end == BasicBlock::End::jump) return add(block.taken, assigned, numbers);
        if (open_.contains(block.condition.id) && !has(assigned, block.condition, numbers))
            missing_ = block.where;
        const std::optional<Zero> zero = zero_where(block, numbers);
        for (const bool taken : {true, false}) {
            const std::uint64_t holds = taken != block.negated ? 1 : 0;
            const auto known = numbers.find(block.condition.id);
            if (known != numbers.end() && known->second != holds) continue;
            Numbers there = numbers;
            there[block.condition.id] = holds;
            if (zero && zero->holds == holds) there[zero->reg.id] = 0;
            add(taken ? block.taken : block.otherwise, assigned, there);
        }
    }

    /// What is 0 where the condition of a block's end is that.
    struct Zero {
        Reg reg;
        std::uint64_t holds;
    };
    std::optional<Zero> zero_where(const BasicBlock& block, const Numbers& numbers) const {
        std::set<std::uint32_t> written;  // behind the comparison
        for (auto step = block.steps.rbegin(); step != block.steps.rend(); ++step) {
            std::set<std::uint32_t> its;
            isa::for_each_written(*step, [&](Reg reg) { its.insert(reg.id); });
            if (!its.contains(block.condition.id)) {
                written.merge(its);
                continue;
            }
            IsZero algebra(
                [&](Reg reg) {
                    const auto known = numbers.find(reg.id);
                    return known != numbers.end() && known->second == 0 && !written.contains(reg.id);
                },
                [&](Reg reg, isa::Type type) {
                    return isa::bits(type) == isa::bits(program_.registers()[reg.id].type);
                });
            const isa::Term truth = isa::meaning_of(*step, algebra);
            if (step->guard || its.size() != 1 || (truth != IsZero::yes && truth != IsZero::no) ||
                written.contains(algebra.reg().id) || algebra.reg() == block.condition)
                return std::nullopt;
            return Zero{algebra.reg(), truth == IsZero::yes ? 1U : 0U};
        }
        return std::nullopt;
    }

    /// What is found for one state may be found of paths that no thread takes, and is not for fewer of them.
    void add(BlockId to, const Assigned& assigned, const Numbers& numbers) {
        constexpr std::size_t most_states = 32;
        Before& before = before_[to];
        const auto join = [&](Numbers& with) {
            return std::erase_if(with, [&](const auto& known) {
                       const auto other = numbers.find(known.first);
                       return other == numbers.end() || other->second != known.second;
                   }) > 0;
        };
        if (before.states.size() == most_states) before.joined = true;
        if (!before.joined || before.states.empty()) {
            const auto [at, added] = before.states.try_emplace(assigned, numbers);
            if (added || join(at->second)) before.changed = true;
            return;
        }
        Assigned all = assigned;
        Numbers known = numbers;
        for (const auto& [other, its] : before.states) {
            std::erase_if(all, [&other = other](const auto& one) { return !other.contains(one); });
            std::erase_if(known, [&its = its](const auto& one) {
                const auto there = its.find(one.first);
                return there == its.end() || there->second != one.second;
            });
        }
        if (before.states.size() == 1 && before.states.begin()->first == all &&
            before.states.begin()->second == known)
            return;
        before.states.clear();
        before.states.emplace(std::move(all), std::move(known));
        before.changed = true;
    }

    /// Whether it is written, also under a guard that held.
    static bool has(const Assigned& assigned, Reg reg, const Numbers& numbers) {
        return std::ranges::any_of(assigned, [&](const auto& one) {
            const auto& [guard, written, negated] = one;
            if (written != reg.id || guard == 0) return written == reg.id;
            const auto known = numbers.find(guard - 1);
            return known != numbers.end() && (known->second != 0) != negated;
        });
    }

    isa::KnownBits bits_of(Reg reg, const Numbers& numbers) const {
        const auto known = numbers.find(reg.id);
        return known != numbers.end() ? isa::KnownBits::of(known->second)
                                      : isa::KnownBits().cut(isa::bits(program_.registers()[reg.id].type));
    }

    void execute(const Step& step, Assigned& assigned, Numbers& numbers) {
        std::uint32_t guard = guard_of(step);
        if (guard != 0) {
            if (open_.contains(step.guard.id) && !has(assigned, step.guard, numbers)) missing_ = step.where;
            const auto known = numbers.find(step.guard.id);
            if (known != numbers.end() && (known->second != 0) == step.guard_negated) return;
            if (known != numbers.end()) guard = 0;
        }
        const OnlyWritten only_written(step);
        const bool overwrites = overwrites_accumulators(step, numbers);
        isa::for_each_read(step, [&](Reg reg) {
            if (open_.contains(reg.id) && !only_written(reg) && !is_assigned(step, reg, assigned) &&
                !has(assigned, reg, numbers) && !(overwrites && only_written.may(reg)))
                missing_ = step.where;
        });
        const std::optional<std::uint64_t> result = guard == 0 ? value_of(step, numbers) : std::nullopt;
        isa::for_each_written(step, [&](Reg reg) {
            forget_guard(reg, assigned);
            if (open_.contains(reg.id)) assign(step, reg, guard, assigned);
            numbers.erase(reg.id);
            if (result) numbers[reg.id] = *result;
        });
    }

    /// Of a step that writes one register, which is not wider than the result.
    std::optional<std::uint64_t> value_of(const Step& step, const Numbers& numbers) const {
        int written = 0, width = 0;
        isa::for_each_written(step, [&](Reg reg) {
            ++written;
            width = isa::bits(program_.registers()[reg.id].type);
        });
        if (written != 1) return {};
        if (width == 1)
            if (const std::optional<std::uint64_t> truth = compared(step, numbers)) return truth;
        if (step.op->known_bits == nullptr || width > 64 ||
            (step.op->widens && width != isa::bits(step.op->operands[0].type(step.form))))
            return {};
        return isa::known_bits(step, [&](Reg reg) { return bits_of(reg, numbers); }).cut(width).value();
    }

    /// Of a comparison of 0 with a number that is at least 1.
    std::optional<std::uint64_t> compared(const Step& step, const Numbers& numbers) const {
        WithZero algebra(
            [&](Reg reg) {
                const auto known = numbers.find(reg.id);
                return known != numbers.end() && known->second == 0;
            },
            [&](Reg reg, isa::Type type) {
                return at_least_one_.contains(reg.id) &&
                       isa::bits(type) == isa::bits(program_.registers()[reg.id].type);
            });
        const isa::Term truth = isa::meaning_of(step, algebra);
        if (truth != WithZero::yes && truth != WithZero::no) return {};
        return truth == WithZero::yes ? 1 : 0;
    }

    /// Whether scale-d, a predicate, is known to be false.
    bool overwrites_accumulators(const Step& step, const Numbers& numbers) const {
        return std::ranges::any_of(step.operands, [&](const Operand& operand) {
            if (operand.kind != Operand::Kind::reg || !operand.reg ||
                program_.registers()[operand.reg.id].type != isa::Type::pred)
                return false;
            const auto known = numbers.find(operand.reg.id);
            return known != numbers.end() && (known->second != 0) == operand.negated;
        });
    }

    const Program& program_;
    const flow::Graph& graph_;
    const std::set<std::uint32_t> open_, at_least_one_;
    std::vector<Before> before_;
    std::optional<Where> missing_;
    std::int64_t steps_left_ = 1 << 20;
};

}  // namespace

std::optional<Where> maybe_unassigned(const Outline& outline, const std::set<std::string>& numbers) {
    std::set<std::uint32_t> open = maybe_unassigned(outline.graph());
    return open.empty() ? std::nullopt : Apart(outline, std::move(open), numbers).run();
}

}  // namespace wgrun::check
