#include "check/walker.hpp"

namespace wgrun::check {

Walker::Walker(const Outline& outline, Findings& findings, Made made)
    : scene_(outline, findings, made),
      values_(scene_),
      convergence_(scene_),
      drains_(scene_),
      flights_(scene_, drains_),
      memory_(scene_, values_, flights_),
      products_(scene_, values_, flights_, memory_, drains_),
      paths_(
          scene_, values_, [this](const Step& inner) { step(inner); },
          [this](Where end) { left_over(end); }) {}

void Walker::step(const Step& step) {
    ++scene_.executed;
    scene_.number = scene_.plan.outline.number(scene_.block, step);
    if (step.guard)
        guarded(step);
    else
        execute(step);
}

void Walker::guarded(const Step& step) {
    const Known& guard = values_.condition(step.guard, step.guard_negated, step.where);
    if (const auto constant = guard.constant()) {
        if (*constant != 0) execute(step);
        return;
    }
    const Decision decision = scene_.decision_of(&step, guard);
    State& state = scene_.state;
    const std::span<const Reg> results = scene_.plan.results(scene_.uses());
    const std::span<const Touch> touches = scene_.plan.touches(scene_.uses());
    skipped_values_.clear();
    skipped_registers_.clear();
    for (const Reg reg : results) skipped_values_.push_back(&state.values[reg.id]);
    for (const Touch& touch : touches) skipped_registers_.push_back(&state.registers[touch.index()]);
    // What else of the state a step changes that only writes its results.
    const bool plain = scene_.uses().plain;
    const State::Flights flights = state.flights;
    std::optional<State> skipped;
    if (!plain) skipped = state;
    scene_.scopes.push_back({decision, &guard, step.where, "guard", 0, &step, scene_.block});
    execute(step);
    scene_.scopes.pop_back();
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

void Walker::execute(const Step& step) {
    const StepUses& uses = scene_.uses();
    scene_.step = &step;
    scene_.loads = false;
    scene_.meets_others = uses.pinned;
    apart_ = step.op->taken_by != isa::Participants::thread && convergence_.aligned(step);
    if (uses.membermask != nullptr) convergence_.members(step, *uses.membermask);
    values_.read(step);
    flights_.touch(scene_.plan.touches(uses));
    isa::tell(step, *this);
    values_.write(step);
    if (scene_.meets_others) scene_.state.drain = {};
}

void Walker::left_over(Where end) {
    flights_.left_over(end);
    memory_.left_over(end);
}

// --- what the current step does ------------------------------------------------------------------------

void Walker::memory(const isa::MemoryAccess& access) { memory_.access(access); }
void Walker::copy_async(const isa::AsyncCopy& access) { memory_.copy(access); }
void Walker::proxy_fence(std::optional<isa::Space> space) { memory_.fence(space); }
void Walker::bulk_copy(const isa::BulkAccess& copy) {
    convergence_.copy(copy);
    memory_.taken(copy);
}
void Walker::commit_copies() { scene_.state.commit_copies(); }
void Walker::wait_copies(std::optional<int> pending) { scene_.state.wait_copies(pending); }

// Threads that wait for the mbarrier see the copies; whether the right threads wait is left to the simulator.
void Walker::arrive_copies(const Operand&) { scene_.state.wait_copies(std::nullopt); }

void Walker::order_registers() { flights_.order_registers(); }
void Walker::issue_mma(const isa::AsyncMma& mma) { products_.issue(mma); }
void Walker::commit_mma() { flights_.commit(apart_); }
void Walker::wait_mma(int pending) { flights_.wait(pending); }

void Walker::barrier(const Operand&, const Operand& threads) { convergence_.barrier(threads); }

// Arrivals are not attributed to threads: whether the right threads arrive is left to the simulator.
void Walker::await_arrivals() {
    scene_.state.barrier();
    scene_.meets_others = false;
}

}  // namespace wgrun::check
