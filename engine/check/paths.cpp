// How the walker follows the paths of a program: block by block in reverse post-order, loops to their fixed
// point. A block is entered with one state, the join of all paths to it.
#include <algorithm>
#include <utility>

#include "check/walker.hpp"
#include "program/end.hpp"

namespace wgrun::check {

namespace {
// A loop whose condition is known is followed iteration by iteration for at most this many steps; then, like
// any other loop, to a fixed point.
constexpr int most_steps = 8192;
constexpr int most_passes = 8;
}  // namespace

void Walker::run() {
    ways_.resize(program_.blocks().size());
    ways_.front().push_back({std::move(state_), {}});
    region(flow::no_loop);
}

/// Follows the blocks of a loop, or of the kernel, that have been reached.
void Walker::region(int loop) {
    for (const Plan::Place& place : plan_.region(loop)) {
        if (gave_up() || (!loops_.empty() && loops_.back().stopped)) return;
        if (place.loop != flow::no_loop)
            follow(place.loop);
        else if (!ways_[place.block].empty())
            block(place.block);
    }
}

void Walker::block(BlockId id) {
    block_ = id;
    enter(meet(std::exchange(ways_[id], {}), id));
    for (Scope& scope : scopes_) scope.left |= plan_.joins(scope.block) == id;
    for (const Step& inner : program_.blocks()[id].steps) {
        if (gave_up()) return;
        step(inner);
    }
    end(id);
}

void Walker::enter(Way way) {
    state_ = std::move(way.state);
    scopes_ = std::move(way.scopes);
}

/// Returns whether the scope's decision is over where the block begins.
bool Walker::over(const Scope& scope, BlockId block) const {
    const flow::Graph& graph = plan_.graph;
    if (graph.post_dominator(scope.block) == block) return true;
    // The loop around the scope is over, even if threads have left the kernel in it.
    const int loop = graph.innermost_loop(scope.block);
    return graph.reconvergence(scope.block) == block && loop != flow::no_loop && !graph.inside(block, loop);
}

/// Returns the index of the way's first scope that is over at the block, or that the script leaves there for
/// the next iteration.
std::size_t Walker::first_over(const Way& way, BlockId block) const {
    const auto found =
        std::ranges::find_if(way.scopes, [&](const Scope& scope) { return over(scope, block); });
    auto first = static_cast<std::size_t>(found - way.scopes.begin());
    if (continues(block)) first = std::min(first, loops_.back().scopes);
    return first;
}

bool Walker::continues(BlockId block) const {
    const Label& label = program_.blocks()[block].label;
    if (label.kind != Label::Kind::next || loops_.empty()) return false;
    const Label& header = program_.blocks()[plan_.loop(loops_.back().loop).header].label;
    return header.kind == Label::Kind::loop && header.number == label.number;
}

/// Joins all ways into a block. Of the decisions between them that are over now, the first counts.
Walker::Way Walker::meet(std::vector<Way> ways, BlockId block) const {
    for (Way& way : ways) {
        const std::size_t index = first_over(way, block);
        if (index >= way.scopes.size()) continue;
        Scope& first = way.scopes[index];
        const int loop = plan_.graph.innermost_loop(first.block);
        if (continues(block) || (loop != flow::no_loop && !plan_.graph.inside(block, loop))) {
            for (std::size_t inner = index + 1; inner < way.scopes.size(); ++inner) {
                first.condition.inputs |= way.scopes[inner].condition.inputs;
                first.condition.value.uniform = std::min(first.uniform(), way.scopes[inner].uniform());
            }
            first.condition.exact = {};
        }
        way.scopes.resize(index + 1, first);
    }
    std::ranges::stable_sort(ways, {}, [](const Way& way) { return way.scopes.size(); });
    Way out = std::move(ways.front());
    for (std::size_t i = 1; i < ways.size(); ++i) out = joined(std::move(out), std::move(ways[i]));
    std::erase_if(out.scopes, [&](const Scope& scope) { return over(scope, block); });
    return out;
}

Walker::Way Walker::joined(Way a, Way b) const {
    const auto [differs, other] = std::ranges::mismatch(
        a.scopes, b.scopes,
        [](const Scope& x, const Scope& y) { return x.node == y.node && x.arm == y.arm; });
    // Ways with equal scopes come from different iterations that made the same decisions.
    const Scope* decides = other != b.scopes.end()     ? &*other
                           : differs != a.scopes.end() ? &*differs
                           : b.scopes.empty()          ? nullptr
                                                       : &b.scopes.back();
    Decision decision;
    decision.doubtful = true;
    Known condition;
    condition.inputs = roots::memory;
    const void* place = &program_;
    bool b_first = true;
    if (decides != nullptr) {
        decision = decides->decision;
        condition = decides->condition;
        place = decides->node;
        b_first = (decides->arm == 0) == (other != b.scopes.end() || differs == a.scopes.end());
    }
    Way out;
    out.state = join(b_first ? b.state : a.state, b_first ? a.state : b.state, decision, condition, place);
    a.scopes.erase(differs, a.scopes.end());
    out.scopes = std::move(a.scopes);
    return out;
}

void Walker::end(BlockId id) {
    const BasicBlock& block = program_.blocks()[id];
    switch (block.end) {
        case BasicBlock::End::exit: {
            const bool last = id + 1 == program_.blocks().size();
            return left_over(last ? end_of(program_) : block.where);
        }
        case BasicBlock::End::jump: return send(block.taken, {std::move(state_), std::move(scopes_)});
        case BasicBlock::End::branch: return branch(id);
    }
}

void Walker::branch(BlockId id) {
    const BasicBlock& block = program_.blocks()[id];
    const Known known = condition(block.condition, block.negated, block.where);
    const auto constant = known.constant();
    if (!loops_.empty() && plan_.decides(loops_.back().loop) == id) {
        Around& loop = loops_.back();
        if (!loop.known) return iterate(id, known);
        if (!constant || ++executed_ > most_steps) {
            loop.stopped = true;
            return;
        }
    }
    if (constant)
        return send(*constant != 0 ? block.taken : block.otherwise, {std::move(state_), std::move(scopes_)});
    Scope scope{decision_of(&block, known), known, block.where, "branch", 0, &block, id};
    // On each arm the condition is known, in case it is tested again.
    Way taken{state_, scopes_}, otherwise{std::move(state_), std::move(scopes_)};
    taken.state.values.at(block.condition.id).exact = block.negated ? 0 : 1;
    otherwise.state.values.at(block.condition.id).exact = block.negated ? 1 : 0;
    taken.scopes.push_back(scope);
    scope.arm = 1;
    otherwise.scopes.push_back(std::move(scope));
    send(block.taken, std::move(taken));
    send(block.otherwise, std::move(otherwise));
}

/// Handles the branch that decides whether there is another iteration, with an unknown condition.
void Walker::iterate(BlockId id, Known known) {
    const BasicBlock& block = program_.blocks()[id];
    Around& loop = loops_.back();
    const BasicBlock& header = program_.blocks()[plan_.loop(loop.loop).header];
    // A counter that is still constant in the first pass does not decide.
    known.inputs |= roots::loop(plan_.decisions.at(&header.label).id);
    loop.decision = decision_of(&header.label, known);
    loop.condition = known;
    const bool stays = plan_.graph.inside(block.taken, loop.loop);
    loop.exits.push_back({stays ? block.otherwise : block.taken, {state_, scopes_}, true});
    scopes_.push_back({loop.decision, known, header.label.where ? header.label.where : block.where, "loop", 0,
                       &header.label, id});
    send(stays ? block.taken : block.otherwise, {std::move(state_), std::move(scopes_)});
}

/// Adds a way into block `to`.
void Walker::send(BlockId to, Way way) {
    if (loops_.empty()) return ways_[to].push_back(std::move(way));
    Around& loop = loops_.back();
    if (to == plan_.loop(loop.loop).header) return loop.back.push_back(std::move(way));
    if (plan_.graph.inside(to, loop.loop)) return ways_[to].push_back(std::move(way));
    Known decided;
    decided.value.uniform = isa::Uniform::grid;
    for (std::size_t i = loop.scopes; i < way.scopes.size(); ++i) {
        decided.inputs |= way.scopes[i].condition.inputs;
        decided.value.uniform = std::min(decided.value.uniform, way.scopes[i].condition.value.uniform);
    }
    if (way.scopes.size() > loop.scopes) left_at_different_times(loop.values, way.state, decided);
    loop.exits.push_back({to, std::move(way), false});
}

/// Threads that left the loop in different iterations have different values of what it changed.
void Walker::left_at_different_times(const Chunks<Known>& before, State& after, const Known& condition) {
    before.differences(after.values, [&](std::size_t i) {
        if (before[i].writer == after.values[i].writer) return;
        Known& value = after.values.at(i);
        value.inputs |= condition.inputs;
        value.value.uniform = std::min(value.value.uniform, condition.value.uniform);
    });
}

void Walker::follow(int loop) {
    const BlockId header = plan_.loop(loop).header;
    // Ways into blocks other than the header are the same in each pass.
    std::vector<std::pair<BlockId, std::vector<Way>>> aside;
    bool reached = !ways_[header].empty();
    for (const BlockId block : plan_.loop(loop).blocks)
        if (block != header && !ways_[block].empty()) aside.emplace_back(block, ways_[block]);
    if (!reached && aside.empty()) return;
    std::optional<Way> entry;
    if (reached) entry = meet(std::exchange(ways_[header], {}), header);
    loops_.emplace_back().loop = loop;
    if (entry) {
        loops_.back().scopes = entry->scopes.size();
        loops_.back().values = entry->state.values;
    }
    loops_.back().known = entry && aside.empty() && plan_.decides(loop) != no_block;
    if (loops_.back().known) entry = known_iterations(std::move(*entry));
    loops_.back().known = false;
    if (entry || !aside.empty()) unknown_iterations(std::move(entry), aside);
    std::vector<Exit> exits = std::move(loops_.back().exits);
    loops_.pop_back();
    if (gave_up()) return;
    for (Exit& exit : exits) send(exit.to, std::move(exit.way));
}

/// Returns the way into the next iteration, if there is one.
std::optional<Walker::Way> Walker::iteration(const std::optional<Way>& head) {
    const int loop = loops_.back().loop;
    const BlockId header = plan_.loop(loop).header;
    loops_.back().back.clear();
    loops_.back().decision = {};
    if (head) ways_[header].assign(1, *head);
    region(loop);
    if (loops_.back().stopped || gave_up() || loops_.back().back.empty()) return {};
    Way back = meet(std::exchange(loops_.back().back, {}), header);
    back.scopes.resize(std::min(back.scopes.size(), loops_.back().scopes));
    return back;
}

/// Iterates while the condition is known. Returns the way into the first iteration in which it is not, if
/// any.
std::optional<Walker::Way> Walker::known_iterations(Way entry) {
    for (;;) {
        const std::size_t exits = loops_.back().exits.size();
        std::optional<Way> back = iteration(entry);
        if (gave_up()) return {};
        Around& loop = loops_.back();
        if (std::exchange(loop.stopped, false)) {
            loop.exits.erase(loop.exits.begin() + static_cast<std::ptrdiff_t>(exits), loop.exits.end());
            for (const BlockId block : plan_.loop(loop.loop).blocks) ways_[block].clear();
            return entry;
        }
        if (!back) return {};
        entry = std::move(*back);
    }
}

/// Iterates to the fixed point. `aside`: ways into the loop at blocks other than its header.
void Walker::unknown_iterations(std::optional<Way> entry,
                                const std::vector<std::pair<BlockId, std::vector<Way>>>& aside) {
    std::optional<Way> head = entry;
    const auto known = static_cast<std::ptrdiff_t>(loops_.back().exits.size());  // earlier exits
    const Label& label = program_.blocks()[plan_.loop(loops_.back().loop).header].label;
    for (int pass = 1;; ++pass, ++executed_) {
        loops_.back().exits.erase(loops_.back().exits.begin() + known, loops_.back().exits.end());
        for (const auto& [block, ways] : aside) ways_[block] = ways;
        const std::optional<Way> back = iteration(head);
        if (gave_up() || !back) return;  // there is no second iteration
        if (!entry) {
            head = entry = back;
            continue;
        }
        Around& loop = loops_.back();
        if (loop.decision.id == 0) {  // no single branch decides
            loop.condition.inputs = roots::memory | roots::loop(plan_.decisions.at(&label).id);
            loop.decision = decision_of(&label, loop.condition);
        }
        loop.condition.exact = {};  // it holds in this pass only

        // Values only lose certainty from pass to pass; facts are those of the entry or of the last
        // iteration.
        State next = join(entry->state, back->state, loop.decision, loop.condition, &label);
        State seen = head->state;
        seen.values.differences(back->state.values, [&](std::size_t i) {
            if (!(seen.values[i] == back->state.values[i]))
                seen.values.at(i) = join(seen.values[i], back->state.values[i], loop.condition, &label);
        });
        next.values = std::move(seen.values);
        // A wait at the end of the body precedes the next iteration, whatever precedes the first.
        if (back->state.drain.wait != nullptr) next.drain = back->state.drain;
        const bool settled = next == head->state;
        if (!settled && pass < most_passes && !gave_up()) {
            head->state = std::move(next);
            continue;
        }
        for (Exit& exit : loop.exits) {
            if (!settled) doubt_differences(exit.way.state, next);
            if (exit.decided) left_at_different_times(entry->state.values, exit.way.state, loop.condition);
        }
        return;
    }
}

}  // namespace wgrun::check
