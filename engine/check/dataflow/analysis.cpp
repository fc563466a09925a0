#include "check/dataflow/analysis.hpp"

#include <algorithm>

namespace wgrun::check::dataflow {

namespace {
// Loops nested many times would take too long. What follows this many steps, plus this many visits of each
// step or block, is left to the simulator.
constexpr int most_steps_in_all = 1 << 17, most_visits = 64;
}  // namespace

Analysis::Analysis(const Outline& outline, Findings& found, Made made)
    : program(outline.program()),
      made(made),
      plan(outline, made),
      cells(program),
      findings(found),
      stored(program.shared().size()) {
    state.values = RegisterValues(program.registers().size(), known);
    state.registers = State::Registers(static_cast<std::size_t>(plan.slot_count), register_states_);
    state.touched_by = Chunks<const Step*>(static_cast<std::size_t>(plan.slot_count), toucher_lists_);
    state.cells = InternedArray<CellState>(static_cast<std::size_t>(cells.count()), cell_states_);
    most_executed_ = most_steps_in_all + most_visits * static_cast<std::int64_t>(plan.outline.steps());
    most_entered_ = most_steps_in_all + most_visits * static_cast<std::int64_t>(program.blocks().size());
}

namespace {

/// Returns whether `fact` comes from an earlier iteration that met the same branch, which may be unable to
/// take both the arm taken then and the current one.
bool another_visit(const Scope& scope, const Fact& fact) {
    if (fact.first != scope.decision.id || scope.decision.repeats) return false;
    return fact.arm != scope.arm || (scope.decision.inputs & roots::loops) != 0;
}

}  // namespace

bool Analysis::holds(Property property, const Fact& fact) const {
    const bool out = certain(fact);
    if (!out && fact) doubt(property, "it depends on conditions that may exclude each other");
    return out;
}

bool Analysis::certain(const Fact& fact) const {
    if (fact.kind == Fact::Kind::always) return true;
    if (fact.kind != Fact::Kind::conditional) return false;
    // A scope entered since is a further decision: it must share no input with the earlier ones.
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
        if (scope->decision.contains(fact.first)) return !another_visit(*scope, fact);
        if (scope->decision.inputs & fact.inputs) return false;
    }
    return true;
}

Decision Analysis::decision_of(const void* node, const Known& condition) const {
    Decision decision = plan.decisions.at(node);
    decision.inputs = condition.inputs ? condition.inputs : roots::memory;
    // `if (n > 0) for (i < n)`: the loop runs. But `for (i < n) if (i > 0)` goes both ways.
    decision.doubtful = std::any_of(scopes.begin(), scopes.end(), [&](const Scope& scope) {
        const Decision& outer = scope.decision;
        return (outer.inputs & decision.inputs) &&
               !(outer.repeats && (decision.inputs & roots::loop(outer.id)));
    });
    return decision;
}

bool Analysis::in_role() const {
    return std::any_of(scopes.begin(), scopes.end(),
                       [](const Scope& scope) { return scope.uniform() < isa::Uniform::cta; });
}

std::string Analysis::buffer_name(int cell) const {
    return program.shared()[static_cast<std::size_t>(cells.buffer_of(cell))].name;
}

}  // namespace wgrun::check::dataflow
