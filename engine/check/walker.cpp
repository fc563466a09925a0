#include "check/walker.hpp"

#include <algorithm>
#include <utility>

#include "check/rehearsal.hpp"
#include "program/end.hpp"
#include "wgrun/inline_ptx.hpp"

namespace wgrun::check {

namespace {
// A loop whose condition is known is followed iteration by iteration, until this many steps are executed;
// then, like any other loop, to a fixed point.
constexpr int most_steps = 8192;
constexpr int most_passes = 8;
// Loops nested many times over could take for ever. What comes after this many steps, and this many visits of
// each step, is left to the simulator.
constexpr int most_steps_in_all = 1 << 17, most_visits = 64;
}  // namespace

std::vector<Diagnostic> check(const Program& program) {
    Findings findings;
    Walker walker(program, findings);
    walker.run();
    std::vector<bool> stored = walker.stored();
    for_each_step(program, [&](const Step& step) {
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
    // Where threads part that should go together, what follows of it is no news.
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

void Walker::run() {
    text(0, static_cast<BlockId>(program_.blocks().size()));
    if (gave_up() || left_) return;
    left_over(end_of(program_));
}

bool Walker::gave_up() const { return executed_ > most_executed_; }

void Walker::text(BlockId at, BlockId end) {
    const std::size_t around = scopes_.size();
    while (at < end && !gave_up() && !left_) {
        for (const Step& inner : program_.blocks()[at].steps) {
            if (gave_up()) break;
            step(inner);
        }
        if (!gave_up()) at = ends(at);
    }
    // What came after a branch that some have left by depended on it.
    scopes_.erase(scopes_.begin() + static_cast<std::ptrdiff_t>(around), scopes_.end());
}

/// Follows what the block ends with. Where it goes on in the text.
BlockId Walker::ends(BlockId id) {
    const BasicBlock& block = program_.blocks()[id];
    const BlockId next = id + 1;
    if (block.end == BasicBlock::End::exit) {
        if (next < program_.blocks().size()) leave(block);
        return next;
    }
    const Label::Kind to = program_.blocks()[block.taken].label.kind;
    if (block.end == BasicBlock::End::jump) {
        if (block.taken == next && to == Label::Kind::loop) return loop(next);
        if (block.taken != next && (to == Label::Kind::after || to == Label::Kind::next)) leave(block);
        return next;
    }
    if (program_.blocks()[block.otherwise].label.kind == Label::Kind::after) return next;
    return branch(block);
}

/// Does `fact` come from an earlier iteration, which met the same branch, and may the branch not go the way
/// that it went then and the way at hand now?
bool Walker::another_visit(const Scope& scope, const Fact& fact) {
    if (fact.first != scope.decision.id || scope.decision.repeats) return false;
    return fact.arm != scope.arm || (scope.decision.inputs & roots::loops) != 0;
}

/// Does `fact` hold on a path that surely exists?
bool Walker::holds(const Fact& fact) const {
    if (fact.kind == Fact::Kind::always) return true;
    if (fact.kind != Fact::Kind::conditional) return false;
    // A scope entered since then was a further decision: it must not have to do with the earlier ones.
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
    scopes_.push_back({decision, guard.value.uniform, guard.exact.known(), step.where, "guard", 0, &step});
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

BlockId Walker::branch(const BasicBlock& branch) {
    const Known known = condition(branch.condition, branch.negated, branch.where);
    const Construct& parts = plan_.constructs[program_.blocks()[branch.otherwise].label.number];
    const auto then_body = [&] { text(branch.taken, branch.otherwise); };
    const auto else_body = [&] { text(branch.otherwise, parts.after); };
    if (const auto constant = known.constant()) {
        *constant ? then_body() : else_body();
        return parts.after;
    }
    const Decision decision = decision_of(&branch, known);
    // On each way the condition is known, should it be tested again.
    const auto enter = [&](int arm) {
        state_.values.at(branch.condition.id).exact = (arm == 0) != branch.negated ? 1 : 0;
        scopes_.back().arm = arm;
    };
    const State before = state_;
    scopes_.push_back(
        {decision, known.value.uniform, known.exact.known(), branch.where, "branch", 0, &branch});
    enter(0);
    then_body();
    const bool then_left = std::exchange(left_, false);
    State then_state = std::move(state_);
    state_ = before;
    enter(1);
    else_body();
    if (then_left != left_) {
        // Only one side goes on: all that follows in this block depends on the branch.
        if (left_) {
            state_ = std::move(then_state);
            scopes_.back().arm = 0;
        }
        left_ = false;
        scopes_.back().left = true;
        return parts.after;
    }
    scopes_.pop_back();
    if (!left_) state_ = join(then_state, state_, decision, known, &branch);
    return parts.after;
}

void Walker::leave(const BasicBlock& block) {
    left_ = true;
    if (block.end == BasicBlock::End::exit) return left_over(block.where);
    Around& loop = loops_.back();
    Departure departure{state_, {}, {}};
    departure.condition.value.uniform = isa::Uniform::grid;
    for (std::size_t i = loop.scopes; i < scopes_.size(); ++i) {
        if (!departure.scope) departure.scope = scopes_[i];
        departure.condition.inputs |= scopes_[i].decision.inputs;
        departure.condition.value.uniform = std::min(departure.condition.value.uniform, scopes_[i].uniform);
    }
    const bool breaks = program_.blocks()[block.taken].label.kind == Label::Kind::after;
    if (breaks) left_at_different_times(loop.values, departure.state, departure.condition);
    (breaks ? loop.breaks : loop.continues).push_back(std::move(departure));
}

/// Threads that left the loop at different times have different values of what it changed.
void Walker::left_at_different_times(const Chunks<Known>& before, State& after, const Known& condition) {
    before.differences(after.values, [&](std::size_t i) {
        if (before[i].writer == after.values[i].writer) return;
        Known& value = after.values.at(i);
        value.inputs |= condition.inputs;
        value.value.uniform = std::min(value.value.uniform, condition.value.uniform);
    });
}

/// Ways that left come to the place at hand, too.
void Walker::departures_join(std::vector<Departure>& departures) {
    for (Departure& departure : departures) {
        if (std::exchange(left_, false)) {
            state_ = std::move(departure.state);
            continue;
        }
        if (!departure.scope) continue;  // the rest of the loop cannot be reached
        const Scope& scope = *departure.scope;
        const State& first = scope.arm == 0 ? departure.state : state_;
        const State& second = scope.arm == 0 ? state_ : departure.state;
        state_ = join(first, second, scope.decision, departure.condition, scope.node);
    }
    departures.clear();
}

BlockId Walker::loop(BlockId head) {
    loops_.push_back({scopes_.size(), state_.values, {}, {}});
    if (!known_iterations(head)) unknown_iterations(head);
    departures_join(loops_.back().breaks);
    loops_.pop_back();
    return plan_.constructs[program_.blocks()[head].label.number].after;
}

/// The body, and what every iteration ends with.
void Walker::iteration(const Construct& loop) {
    const BlockId next = std::min(loop.next, loop.after);
    text(loop.condition + 1, next);
    departures_join(loops_.back().continues);
    text(next, loop.after);
}

/// Follows the loop as long as its condition is known. True when that is up to its end.
bool Walker::known_iterations(BlockId head) {
    const Label& label = program_.blocks()[head].label;
    const Construct& loop = plan_.constructs[label.number];
    for (;;) {
        State before = state_;
        text(head, loop.condition + 1);
        if (left_) return true;
        const BasicBlock& decides = program_.blocks()[loop.condition];
        const auto constant = condition(decides.condition, false, decides.where).constant();
        if (constant && *constant == 0) return true;
        if (!constant || ++executed_ > most_steps) {
            state_ = std::move(before);
            return false;
        }
        iteration(loop);
        if (left_) return true;
    }
}

void Walker::unknown_iterations(BlockId first) {
    const Label& label = program_.blocks()[first].label;
    const Construct& loop = plan_.constructs[label.number];
    const BasicBlock& decides = program_.blocks()[loop.condition];
    const State entry = state_;
    const std::size_t breaks = loops_.back().breaks.size();  // of iterations before, which were known
    for (int pass = 1;; ++pass, ++executed_) {
        auto& departures = loops_.back().breaks;
        departures.erase(departures.begin() + static_cast<std::ptrdiff_t>(breaks), departures.end());
        const State head = state_;
        text(first, loop.condition + 1);
        if (left_) return;
        Known known = condition(decides.condition, false, decides.where);
        // A counter that is still constant in the first pass is not what decides.
        known.inputs |= roots::loop(plan_.decisions.at(&label).id);
        const Decision decision = decision_of(&label, known);
        State exit = state_;
        scopes_.push_back(
            {decision, known.value.uniform, known.exact.known(), label.where, "loop", 0, &label});
        iteration(loop);
        scopes_.pop_back();
        if (std::exchange(left_, false)) {  // there is no second iteration
            state_ = std::move(exit);
            return;
        }

        known.exact = {};  // it chose in this pass only

        // Values only lose certainty from pass to pass; facts are those of the entry or of the last
        // iteration.
        State next = join(entry, state_, decision, known, &label);
        State seen = head;
        seen.values.differences(state_.values, [&](std::size_t i) {
            if (!(seen.values[i] == state_.values[i]))
                seen.values.at(i) = join(seen.values[i], state_.values[i], known, &label);
        });
        next.values = std::move(seen.values);
        // A wait at the end of the body stands before the next iteration, whatever stands before the first.
        if (state_.drain.wait != nullptr) next.drain = state_.drain;
        const bool settled = next == head;
        if (!settled && pass < most_passes && !gave_up()) {
            state_ = std::move(next);
            continue;
        }
        if (!settled) doubt_differences(exit, next);
        left_at_different_times(entry.values, exit, known);
        state_ = std::move(exit);
        return;
    }
}

}  // namespace wgrun::check
