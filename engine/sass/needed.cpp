#include "sass/needed.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "isa/effects.hpp"
#include "isa/opaque.hpp"
#include "sass/step_events.hpp"

namespace wgrun::sass {
namespace {

bool is_written(const Step& step, std::size_t operand) {
    if (operand >= step.op->operands.size()) return false;
    const isa::Access access = step.op->operands[operand].access;
    // A list that is read and written are accumulators.
    return access == isa::Access::out ||
           (access == isa::Access::inout && !step.operands[operand].list.empty());
}

/// Whether a product of warpgroups adds to its accumulators; nothing: the step is none.
std::optional<bool> adds_to_accumulators(const Step& step) {
    struct Product final : isa::Effects {
        std::optional<bool> adds;
        void issue_mma(const isa::AsyncMma& mma) override { adds = mma.reads_accumulators; }
    } found;
    if (!isa::is_opaque(*step.op)) isa::visit_effects(step, found);
    return found.adds;
}

template <class Visit>
void for_each_register(const Step& step, bool written, Visit of_register) {
    const auto visit = [&](Reg reg) {
        if (reg) of_register(reg);
    };
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        const Operand& operand = step.operands[i];
        if (operand.kind == Operand::Kind::address) {
            if (!written) visit(operand.reg);
            continue;
        }
        if (is_written(step, i) != written) continue;
        visit(operand.reg);
        for (const Reg reg : operand.list) visit(reg);
    }
    if (!written) visit(step.guard);
}

class NeededRegisters {
  public:
    NeededRegisters(const Program& program, const std::map<std::uint32_t, std::int64_t>& known,
                    const ProgramValues& values, const std::set<int>& lost)
        : known_(known), values_(values), lost_(lost) {
        for_each_step(program, [&](const Step& step) {
            if (only_computes(step))
                computes_.push_back(&step);
            else if (acts(step))
                for_each_register(step, false, [&](Reg reg) { needed_.insert(reg.id); });
        });
        for (const BasicBlock& block : program.blocks()) needed_.insert(block.condition.id);
        // Most results are needed behind the step that computes them.
        for (std::size_t before = 0; before != needed_.size();) {
            before = needed_.size();
            for (auto step = computes_.rbegin(); step != computes_.rend(); ++step)
                if (result_needed(**step))
                    for_each_register(**step, false, [&](Reg reg) { needed_.insert(reg.id); });
        }
    }
    const std::set<std::uint32_t>& needed() const { return needed_; }
    /// Whether it matters that the step is executed.
    bool matters(const Step& step) const {
        return acts(step) && (!only_computes(step) || result_needed(step));
    }

  private:
    bool acts(const Step& step) const {
        return !never_executes(step, known_) && !lost_.contains(step.where.line);
    }
    bool only_computes(const Step& step) const {
        const auto& operands = step.op->operands;
        if (isa::is_opaque(*step.op) || operands.empty() || operands[0].access != isa::Access::out)
            return false;
        const StepEvents does = events_of(step, known_, values_);
        return does.events.empty() && does.waits.empty() && does.orders.empty() &&
               std::ranges::all_of(does.accesses,
                                   [](const Access& access) { return access.does == Does::load; });
    }
    bool result_needed(const Step& step) const {
        bool out = false;
        for_each_register(step, true, [&](Reg reg) { out = out || needed_.contains(reg.id); });
        return out;
    }

    const std::map<std::uint32_t, std::int64_t>& known_;
    const ProgramValues& values_;
    const std::set<int>& lost_;
    std::vector<const Step*> computes_;
    std::set<std::uint32_t> needed_;
};

/// Which accumulators are read later, block by block from their ends.
class Unread {
  public:
    Unread(const Program& program, const NeededRegisters& registers) : program_(program) {
        for_each_step(program, [&](const Step& step) {
            const std::optional<bool> adds = adds_to_accumulators(step);
            if (!adds) return;
            products_.emplace(&step, *adds);
            unread_.insert(&step);
            for (const Reg reg : step.operands[0].list) numbers_.try_emplace(reg.id, numbers_.size());
        });
        if (unread_.empty()) return;
        for_each_step(program, [&](const Step& step) {
            if (!products_.contains(&step) && registers.matters(step)) readers_.insert(&step);
        });
    }

    std::set<const Step*> find() {
        // A product that nobody reads does not read, so that the first guess is that nobody reads any.
        while (!unread_.empty()) {
            const std::size_t before = unread_.size();
            live_.assign(program_.blocks().size(), Set(numbers_.size()));
            for (bool changed = true; changed;) {
                changed = false;
                for (std::size_t i = program_.blocks().size(); i-- > 0;)
                    if (pass(i)) changed = true;
            }
            if (unread_.size() == before) break;
        }
        return std::move(unread_);
    }

  private:
    using Set = std::vector<bool>;

    /// Returns whether more is read from the beginning of the block on.
    bool pass(std::size_t i) {
        const BasicBlock& block = program_.blocks()[i];
        Set live(numbers_.size());
        block.for_each_successor([&](BlockId to, int) {
            for (std::size_t at = 0; at < live.size(); ++at) live[at] = live[at] || live_[to][at];
        });
        for (auto step = block.steps.rbegin(); step != block.steps.rend(); ++step) pass(*step, live);
        if (live == live_[i]) return false;
        live_[i] = std::move(live);
        return true;
    }

    void pass(const Step& step, Set& live) {
        const auto set = [&](bool value) {
            return [&, value](Reg reg) {
                if (const auto at = numbers_.find(reg.id); at != numbers_.end()) live[at->second] = value;
            };
        };
        const auto product = products_.find(&step);
        if (product == products_.end()) {
            if (!step.guard) for_each_register(step, true, set(false));
            if (readers_.contains(&step)) for_each_register(step, false, set(true));
            return;
        }
        if (std::ranges::any_of(step.operands[0].list, [&](Reg reg) { return live[numbers_.at(reg.id)]; }))
            unread_.erase(&step);
        const bool adds = product->second;
        if (!adds && !step.guard) for_each_register(step, true, set(false));
        if (unread_.contains(&step)) return;
        for_each_register(step, false, set(true));
        if (adds) for_each_register(step, true, set(true));
    }

    const Program& program_;
    std::map<const Step*, bool> products_;  ///< whether they add to their accumulators
    std::set<const Step*> unread_, readers_;
    std::map<std::uint32_t, std::size_t> numbers_;  ///< of accumulators
    std::vector<Set> live_;                         ///< by block: at its beginning
};

}  // namespace

Needed needed_of(const Program& program, const std::map<std::uint32_t, std::int64_t>& known,
                 const ProgramValues& values, const std::set<int>& lost) {
    const NeededRegisters registers(program, known, values, lost);
    return {registers.needed(), Unread(program, registers).find()};
}

}  // namespace wgrun::sass
