#include "check/assigned.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "isa/effects.hpp"
#include "isa/registers.hpp"

namespace wgrun::check {
namespace {

/// What is written: a register, under a guard (0: under none) and its polarity.
using Assigned = std::set<std::tuple<std::uint32_t, std::uint32_t, bool>>;

void execute(const Step& step, Assigned& assigned) {
    const std::uint32_t guard = step.guard ? step.guard.id + 1 : 0;
    isa::for_each_written(step, [&](Reg reg) {
        // What holds under a guard holds no more when that is written anew.
        std::erase_if(assigned, [&](const auto& one) { return std::get<1>(one) == reg.id + 1; });
        const bool other = guard != 0 && assigned.contains({reg.id, guard, !step.guard_negated});
        assigned.insert(guard == 0 || other ? std::tuple(reg.id, 0U, false)
                                            : std::tuple(reg.id, guard, step.guard_negated));
    });
}

bool is_assigned(const Step& step, Reg reg, const Assigned& assigned) {
    if (assigned.contains({reg.id, 0, false})) return true;
    return step.guard && assigned.contains({reg.id, step.guard.id + 1, step.guard_negated});
}

/// The accumulators of a wgmma that only writes them.
class OnlyWritten final : public isa::Effects {
  public:
    explicit OnlyWritten(const Step& step) { isa::tell(step, *this); }
    bool operator()(Reg reg) const {
        return accumulators_ != nullptr && std::ranges::find(*accumulators_, reg) != accumulators_->end();
    }

  private:
    void issue_mma(const isa::AsyncMma& mma) override {
        if (!mma.reads_accumulators) accumulators_ = mma.accumulators;
    }
    const std::vector<Reg>* accumulators_ = nullptr;
};

}  // namespace

std::optional<Where> maybe_unassigned(const Outline& outline) {
    const flow::Graph& graph = outline.graph();
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
            Assigned assigned = before(block);
            for (const Step& step : graph.blocks()[block].steps) execute(step, assigned);
            if (after[block] == assigned) continue;
            after[block] = std::move(assigned);
            changed = true;
        }
    }
    for (const BlockId block : graph.order()) {
        Assigned assigned = before(block);
        for (const Step& step : graph.blocks()[block].steps) {
            bool missing = false;
            const OnlyWritten only_written(step);
            isa::for_each_read(
                step, [&](Reg reg) { missing |= !only_written(reg) && !is_assigned(step, reg, assigned); });
            if (missing) return step.where;
            execute(step, assigned);
        }
    }
    return std::nullopt;
}

}  // namespace wgrun::check
