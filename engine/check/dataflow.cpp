#include "check/dataflow.hpp"

namespace wgrun::check {

Dataflow::Dataflow(const Outline& outline, Findings& findings, Made made)
    : analysis_(outline, findings, made),
      values_(analysis_),
      convergence_(analysis_),
      stalls_(analysis_),
      groups_(analysis_, stalls_),
      memory_(analysis_, values_, groups_),
      products_(analysis_, values_, groups_, memory_, stalls_),
      paths_(
          analysis_, values_, [this](const Step& inner) { step(inner); },
          [this](Where end) { left_over(end); }) {}

void Dataflow::step(const Step& step) {
    ++analysis_.executed;
    analysis_.number = analysis_.plan.outline.number(analysis_.block, step);
    if (step.guard)
        guarded(step);
    else
        execute(step);
}

void Dataflow::guarded(const Step& step) {
    const Known& guard = values_.condition(step.guard, step.guard_negated, step.where);
    if (const auto constant = guard.constant()) {
        if (*constant != 0) execute(step);
        return;
    }
    const Decision decision = analysis_.decision_of(&step, guard);
    State& state = analysis_.state;
    const std::span<const Reg> results = analysis_.plan.results(analysis_.uses());
    const std::span<const Touch> touches = analysis_.plan.touches(analysis_.uses());
    skipped_values_.clear();
    skipped_registers_.clear();
    for (const Reg reg : results) skipped_values_.push_back(&state.values[reg.id]);
    for (const Touch& touch : touches) skipped_registers_.push_back(&state.registers[touch.index()]);
    // What else of the state a step changes that only writes its results.
    const bool plain = analysis_.uses().plain;
    const State::MmaGroups flights = state.flights;
    std::optional<State> skipped;
    if (!plain) skipped = state;
    analysis_.scopes.push_back({decision, &guard, &step.where, "guard", 0, &step, analysis_.block});
    execute(step);
    analysis_.scopes.pop_back();
    for (std::size_t i = 0; i < results.size(); ++i)
        state.values.meet(results[i].id, skipped_values_[i], [&](const Known& after, const Known& before) {
            return join(after, before, guard, &step);
        });
    if (!plain) return join(state, *skipped, decision);
    for (std::size_t i = 0; i < touches.size(); ++i)
        state.registers.meet(touches[i].index(), skipped_registers_[i],
                             [&](const RegisterState& after, const RegisterState& before) {
                                 return join(after, before, decision);
                             });
    join(state.flights, flights, decision);
}

void Dataflow::execute(const Step& step) {
    const StepUses& uses = analysis_.uses();
    analysis_.step = &step;
    analysis_.loads = false;
    analysis_.meets_others = uses.pinned;
    apart_ = step.op->taken_by != isa::Participants::thread && convergence_.aligned(step);
    if (uses.membermask != nullptr) convergence_.members(step, *uses.membermask);
    values_.read(step);
    groups_.touch(analysis_.plan.touches(uses));
    isa::visit_effects(step, *this);
    values_.write(step);
    if (analysis_.meets_others) analysis_.state.drain = {};
}

void Dataflow::left_over(Where end) {
    groups_.left_over(end);
    memory_.left_over(end);
}

// --- what the current step does ------------------------------------------------------------------------

void Dataflow::memory(const isa::MemoryAccess& access) { memory_.access(access); }
void Dataflow::copy_async(const isa::AsyncCopy& access) { memory_.copy(access); }
void Dataflow::proxy_fence(std::optional<isa::Space> space) { memory_.fence(space); }
void Dataflow::bulk_copy(const isa::BulkAccess& copy) {
    convergence_.copy(copy);
    memory_.taken(copy);
}
void Dataflow::commit_copies() { analysis_.state.commit_copies(); }
void Dataflow::wait_copies(std::optional<int> pending) { analysis_.state.wait_copies(pending); }

// Threads that wait for the mbarrier see the copies; whether the right threads wait is left to the simulator.
void Dataflow::arrive_copies(const Operand&) { analysis_.state.wait_copies(std::nullopt); }

void Dataflow::order_registers() { groups_.order_registers(); }
void Dataflow::issue_mma(const isa::AsyncMma& mma) { products_.issue(mma); }
void Dataflow::commit_mma() { groups_.commit(apart_); }
void Dataflow::wait_mma(int pending) { groups_.wait(pending); }

void Dataflow::barrier(const Operand&, const Operand& threads) { convergence_.barrier(threads); }

// Arrivals are not attributed to threads: whether the right threads arrive is left to the simulator.
void Dataflow::await_arrivals() {
    analysis_.state.barrier();
    analysis_.meets_others = false;
}

}  // namespace wgrun::check
