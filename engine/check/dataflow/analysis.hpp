// What the parts of the analysis share: the state at the current place of the current path, the decisions
// that this place depends on, and where findings go.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "check/cells.hpp"
#include "check/findings.hpp"
#include "check/gaps.hpp"
#include "check/plan.hpp"
#include "check/state.hpp"

namespace wgrun::check::dataflow {

/// A branch, loop or guard with an unknown condition that the current step depends on.
struct Scope {
    Decision decision;
    const Known* condition;
    const Where* where;
    std::string_view what;  ///< "branch", "loop", "guard"
    int arm;                ///< 0: then, 1: else
    const void* node;
    BlockId block;      ///< the block at whose end it is decided
    bool left = false;  ///< it is over: threads of the other arm have left
    isa::Uniform uniform() const { return condition->value.uniform; }
    bool exact() const { return condition->exact.known(); }  ///< known for every thread
};

/// One thread uses a scene at a time.
class Analysis {
  public:
    Analysis(const Outline& outline, Findings& findings, Made made);

    const Program& program;
    const Made made;
    const Plan plan;
    const Cells cells;
    Findings& findings;
    Findings* remarks = nullptr;  ///< for what is slow; null: nobody asks
    Gaps* gaps = nullptr;         ///< for what paths do not decide; null: nobody asks
    Findings* copies = nullptr;   ///< for what bulk copies take without a fence; null: nobody asks
    Interned<Known> known;
    std::vector<bool> stored;  ///< by shared buffer: whether threads may write to it
  private:
    Interned<RegisterState> register_states_;
    Interned<CellState> cell_states_;
    Chunks<const Step*>::Memory toucher_lists_{nullptr};

  public:
    State state;
    std::vector<Scope> scopes;  ///< outer ones first

    // The current step.
    BlockId block = 0;
    const Step* step = nullptr;
    std::size_t number = 0;     ///< of the step, as in the plan
    bool loads = false;         ///< it reads memory
    bool meets_others = false;  ///< it may do more than read and compute

    const StepUses& uses() const { return plan.uses(number); }

    std::int64_t executed = 0;  ///< steps and iterations, over all passes
    std::int64_t entered = 0;   ///< blocks, over all passes: they may have no steps
    /// There are too many of them: what follows is left to the simulator.
    bool gave_up() const { return executed > most_executed_ || entered > most_entered_; }

    /// Returns whether `fact`, which breaks that property, holds on a path that certainly exists. One that
    /// may hold is a gap.
    bool holds(Property property, const Fact& fact) const;
    /// The property is not decided at the current step.
    void doubt(Property property, std::string reason) const {
        if (gaps != nullptr && property != Property::none)
            gaps->add(property, step == nullptr ? program.where() : step->where, std::move(reason));
    }
    /// Returns the decision of `node`, a branch, loop or guarded step, by `condition` at this place.
    Decision decision_of(const void* node, const Known& condition) const;
    /// Returns whether some warps of the CTA may come here and others not.
    bool in_role() const;
    std::string buffer_name(int cell) const;

  private:
    bool certain(const Fact& fact) const;

    std::int64_t most_executed_ = 0, most_entered_ = 0;
};

}  // namespace wgrun::check::dataflow
