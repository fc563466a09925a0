#include "check/walker.hpp"

#include <algorithm>

#include "check/rehearsal.hpp"
#include "isa/opaque.hpp"
#include "wgrun/inline_ptx.hpp"

namespace wgrun::check {

namespace {
// Loops nested many times would take too long. What follows this many steps, plus this many visits of each
// step, is left to the simulator.
constexpr int most_steps_in_all = 1 << 17, most_visits = 64;
}  // namespace

std::vector<Diagnostic> check(const Program& program) {
    Findings findings;
    Walker walker(program, findings);
    walker.run();
    std::vector<bool> stored = walker.stored();
    for_each_step(program, [&](const Step& step) {
        if (isa::may_store(*step.op)) stored.assign(stored.size(), true);
        const isa::InlinePtx* text = isa::inline_ptx_of(*step.op);
        if (text == nullptr) return;
        if (!text->declared || text->writes) stored.assign(stored.size(), true);
        if (!text->declared)
            findings.add(rules::WG_ASM_01, step.where,
                         "inline PTX declares no effects: whether it touches memory or synchronises threads "
                         "is not known, "
                         "and what follows from that is not checked",
                         "effects = \"none\", or some of { \"reads\", \"writes\", \"barrier\" }");
    });
    // Where threads diverge that must run together, further findings are consequences.
    const bool decided = !findings.any_of("WG-SYNC-") && rehearse(program, stored, findings);
    if (!decided) walker.barriers_met();
    return std::move(findings).sorted(program.where().file);
}

Walker::Walker(const Program& program, Findings& findings)
    : program_(program),
      findings_(findings),
      plan_(program),
      cells_(program),
      matrix_(program, cells_, findings),
      value_of_([this](const Operand& operand) { return value_of(operand); }),
      known_([this](Reg reg) -> const Known& { return state_.values[reg.id]; }) {
    stored_.resize(program.shared().size());
    state_.values = Chunks<Known>(program.registers().size());
    state_.registers = Chunks<RegisterState>(static_cast<std::size_t>(plan_.slot_count));
    state_.cells.resize(static_cast<std::size_t>(cells_.count()));
    most_executed_ = most_steps_in_all + most_visits * plan_.step_count;
}

/// Returns whether `fact` comes from an earlier iteration that met the same branch, which may be unable to
/// take both the arm taken then and the current one.
bool Walker::another_visit(const Scope& scope, const Fact& fact) {
    if (fact.first != scope.decision.id || scope.decision.repeats) return false;
    return fact.arm != scope.arm || (scope.decision.inputs & roots::loops) != 0;
}

/// Returns whether `fact` holds on a path that certainly exists.
bool Walker::holds(const Fact& fact) const {
    if (fact.kind == Fact::Kind::always) return true;
    if (fact.kind != Fact::Kind::conditional) return false;
    // A scope entered since is a further decision: it must share no input with the earlier ones.
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
        if (scope->decision.contains(fact.first)) return !another_visit(*scope, fact);
        if (scope->decision.inputs & fact.inputs) return false;
    }
    return true;
}

Known Walker::condition(Reg reg, bool negated, Where where) {
    read(reg, where);
    Known known = state_.values[reg.id];
    if (negated) known.exact = known.exact.map([](std::int64_t value) { return value ^ 1; });
    return known;
}

Decision Walker::decision_of(const void* node, const Known& condition) const {
    Decision decision = plan_.decisions.at(node);
    decision.inputs = condition.inputs ? condition.inputs : roots::memory;
    // `if (n > 0) for (i < n)`: the loop runs. But `for (i < n) if (i > 0)` goes both ways.
    decision.doubtful = std::any_of(scopes_.begin(), scopes_.end(), [&](const Scope& scope) {
        const Decision& outer = scope.decision;
        return (outer.inputs & decision.inputs) &&
               !(outer.repeats && (decision.inputs & roots::loop(outer.id)));
    });
    return decision;
}

void Walker::step(const Step& step) {
    ++executed_;
    if (step.guard)
        guarded(step);
    else
        execute(step);
}

void Walker::guarded(const Step& step) {
    const Known guard = condition(step.guard, step.guard_negated, step.where);
    if (const auto constant = guard.constant()) {
        if (*constant != 0) execute(step);
        return;
    }
    const Decision decision = decision_of(&step, guard);
    const State skipped = state_;
    scopes_.push_back({decision, guard, step.where, "guard", 0, &step, block_});
    execute(step);
    scopes_.pop_back();
    state_ = join(state_, skipped, decision, guard, &step);
}

void Walker::execute(const Step& step) {
    step_ = &step;
    reads_memory_ = false;
    meets_others_ = isa::pinned(*step.op);
    if (step.op->taken_by != isa::Participants::thread) aligned(step);
    read_operands(step);
    isa::tell(step, *this);
    write_operands(step);
    if (meets_others_) state_.drain = {};
}

}  // namespace wgrun::check
