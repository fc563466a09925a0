#include "check/dataflow/paths.hpp"

#include <algorithm>
#include <utility>

#include "program/end.hpp"
#include "wgrun/cancellation.hpp"

namespace wgrun::check::dataflow {

namespace {
// A loop whose condition is known is followed iteration by iteration for at most this many steps; then, like
// any other loop, to a fixed point.
constexpr int most_steps = 8192;
constexpr int most_passes = 8;
}  // namespace

void Paths::run() {
    ways_.resize(analysis_.program.blocks().size());
    ways_.front().push_back({std::move(analysis_.state), {}});
    // The blocks of a loop, or of the kernel, that have been reached.
    for (std::size_t next = 0;;) {
        if (analysis_.gave_up()) return loops_.clear();
        Cancellation::poll();
        const std::vector<Plan::Place>& places =
            analysis_.plan.region(loops_.empty() ? flow::no_loop : loops_.back().loop);
        std::size_t& at = loops_.empty() ? next : loops_.back().next;
        if (at < places.size() && (loops_.empty() || !loops_.back().stopped)) {
            const Plan::Place& place = places[at++];
            if (place.loop != flow::no_loop)
                begin_loop(place.loop);
            else if (!ways_[place.block].empty())
                block(place.block);
        } else if (loops_.empty()) {
            return;
        } else {
            end_iteration();
        }
    }
}

void Paths::block(BlockId id) {
    analysis_.block = id;
    enter(meet(std::exchange(ways_[id], {}), id));
    for (Scope& scope : analysis_.scopes) scope.left |= analysis_.plan.joins(scope.block) == id;
    for (const Step& inner : analysis_.program.blocks()[id].steps) {
        if (analysis_.gave_up()) return;
        Cancellation::poll();
        step_into_(inner);
    }
    // A branch compares its decision with those that it depends on.
    constexpr std::size_t compared_in_the_time_of_a_block = 32;
    analysis_.entered +=
        1 + static_cast<std::int64_t>(analysis_.scopes.size() / compared_in_the_time_of_a_block);
    end(id);
}

void Paths::enter(Way way) {
    analysis_.state = std::move(way.state);
    analysis_.scopes = std::move(way.scopes);
}

/// Returns whether the scope's decision is over where the block begins.
bool Paths::over(const Scope& scope, BlockId block) const {
    const flow::Graph& graph = analysis_.plan.graph;
    if (graph.post_dominator(scope.block) == block) return true;
    // The loop around the scope is over, even if threads have left the kernel in it.
    const int loop = graph.innermost_loop(scope.block);
    return graph.reconvergence(scope.block) == block && loop != flow::no_loop && !graph.inside(block, loop);
}

/// Returns the index of the way's first scope that is over at the block, or that the script leaves there for
/// the next iteration.
std::size_t Paths::first_over(const Way& way, BlockId block) const {
    const auto found =
        std::ranges::find_if(way.scopes, [&](const Scope& scope) { return over(scope, block); });
    auto first = static_cast<std::size_t>(found - way.scopes.begin());
    if (continues(block)) first = std::min(first, loops_.back().scopes);
    return first;
}

bool Paths::continues(BlockId block) const {
    const Label& label = analysis_.program.blocks()[block].label;
    if (label.kind != Label::Kind::next || loops_.empty()) return false;
    const Label& header = analysis_.program.blocks()[analysis_.plan.loop(loops_.back().loop).header].label;
    return header.kind == Label::Kind::loop && header.number == label.number;
}

/// Of the decisions that are over where the block begins, the first counts. This is done when a path arrives
/// there, since all paths through a long chain of branches may arrive at one block.
void Paths::close_scopes(Way& way, BlockId block) const {
    const std::size_t index = first_over(way, block);
    if (index >= way.scopes.size()) return;
    Scope& first = way.scopes[index];
    const int loop = analysis_.plan.graph.innermost_loop(first.block);
    if (continues(block) || (loop != flow::no_loop && !analysis_.plan.graph.inside(block, loop))) {
        Known all = *first.condition;
        for (std::size_t inner = index + 1; inner < way.scopes.size(); ++inner) {
            all.inputs |= way.scopes[inner].condition->inputs;
            all.value.uniform = std::min(all.value.uniform, way.scopes[inner].uniform());
        }
        all.exact = {};
        first.condition = analysis_.known.the(all);
    }
    way.scopes.resize(index + 1, first);
    way.scopes.shrink_to_fit();
}

/// Joins all ways into a block.
Paths::Way Paths::meet(std::vector<Way> ways, BlockId block) const {
    if (ways.size() > 1) std::ranges::stable_sort(ways, {}, [](const Way& way) { return way.scopes.size(); });
    Way out = std::move(ways.front());
    for (std::size_t i = 1; i < ways.size(); ++i) out = joined(std::move(out), std::move(ways[i]), block);
    std::erase_if(out.scopes, [&](const Scope& scope) { return over(scope, block); });
    return out;
}

Paths::Way Paths::joined(Way a, Way b, BlockId block) const {
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
    Known unknown;
    unknown.inputs = roots::memory;
    const Known* condition = &unknown;
    const void* place = &analysis_.program;
    bool b_first = true;
    if (decides != nullptr) {
        decision = decides->decision;
        condition = decides->condition;
        place = decides->node;
        b_first = (decides->arm == 0) == (other != b.scopes.end() || differs == a.scopes.end());
    }
    const RegisterSet& live = analysis_.plan.live(block);
    if (b_first) std::swap(a.state, b.state);
    join(a.state, b.state, decision, *condition, place, live);
    a.scopes.erase(differs, a.scopes.end());
    return a;
}

void Paths::end(BlockId id) {
    const BasicBlock& block = analysis_.program.blocks()[id];
    switch (block.end) {
        case BasicBlock::End::exit: {
            const bool last = id + 1 == analysis_.program.blocks().size();
            return leave_(last ? end_of(analysis_.program) : block.where);
        }
        case BasicBlock::End::jump:
            return send(block.taken, {std::move(analysis_.state), std::move(analysis_.scopes)});
        case BasicBlock::End::branch: return branch(id);
    }
}

void Paths::branch(BlockId id) {
    const BasicBlock& block = analysis_.program.blocks()[id];
    const Known& known = values_.condition(block.condition, block.negated, block.where);
    const auto constant = known.constant();
    if (!loops_.empty() && analysis_.plan.decides(loops_.back().loop) == id) {
        Around& loop = loops_.back();
        if (!loop.known) return iterate(id, known);
        if (!constant || ++analysis_.executed > most_steps) {
            loop.stopped = true;
            return;
        }
    }
    if (constant)
        return send(*constant != 0 ? block.taken : block.otherwise,
                    {std::move(analysis_.state), std::move(analysis_.scopes)});
    Scope scope{analysis_.decision_of(&block, known), &known, &block.where, "branch", 0, &block, id};
    // On each arm the condition is known, in case it is tested again.
    Way taken{analysis_.state, analysis_.scopes},
        otherwise{std::move(analysis_.state), std::move(analysis_.scopes)};
    taken.state.values.change(block.condition.id, [&](Known& on) { on.exact = block.negated ? 0 : 1; });
    otherwise.state.values.change(block.condition.id, [&](Known& on) { on.exact = block.negated ? 1 : 0; });
    taken.scopes.push_back(scope);
    scope.arm = 1;
    otherwise.scopes.push_back(scope);
    send(block.taken, std::move(taken));
    send(block.otherwise, std::move(otherwise));
}

/// Handles the branch that decides whether there is another iteration, with an unknown condition.
void Paths::iterate(BlockId id, const Known& unknown) {
    const BasicBlock& block = analysis_.program.blocks()[id];
    Around& loop = loops_.back();
    const BasicBlock& header = analysis_.program.blocks()[analysis_.plan.loop(loop.loop).header];
    // A counter that is still constant in the first pass does not decide.
    Known known = unknown;
    known.inputs |= roots::loop(analysis_.plan.decisions.at(&header.label).id);
    loop.decision = analysis_.decision_of(&header.label, known);
    loop.condition = known;
    const bool stays = analysis_.plan.graph.inside(block.taken, loop.loop);
    loop.exits.push_back({stays ? block.otherwise : block.taken, {analysis_.state, analysis_.scopes}, true});
    analysis_.scopes.push_back({loop.decision, analysis_.known.the(known),
                                header.label.where ? &header.label.where : &block.where, "loop", 0,
                                &header.label, id});
    send(stays ? block.taken : block.otherwise, {std::move(analysis_.state), std::move(analysis_.scopes)});
}

/// Adds a way into block `to`.
void Paths::send(BlockId to, Way way) {
    const auto arrive = [&](std::vector<Way>& ways) {
        close_scopes(way, to);
        ways.push_back(std::move(way));
    };
    if (loops_.empty()) return arrive(ways_[to]);
    Around& loop = loops_.back();
    if (to == analysis_.plan.loop(loop.loop).header) return arrive(loop.back);
    if (analysis_.plan.graph.inside(to, loop.loop)) return arrive(ways_[to]);
    Known decided;
    decided.value.uniform = isa::Uniform::grid;
    for (std::size_t i = loop.scopes; i < way.scopes.size(); ++i) {
        decided.inputs |= way.scopes[i].condition->inputs;
        decided.value.uniform = std::min(decided.value.uniform, way.scopes[i].uniform());
    }
    if (way.scopes.size() > loop.scopes) left_at_different_times(loop.values, way.state, decided);
    loop.exits.push_back({to, std::move(way), false});
}

/// Threads that left the loop in different iterations have different values of what it changed.
void Paths::left_at_different_times(const RegisterValues& before, State& after, const Known& condition) {
    before.differences(after.values, [&](std::size_t i, const Known& old, const Known& now) {
        if (old.writer == now.writer) return;
        after.values.change(i, [&](Known& value) {
            value.inputs |= condition.inputs;
            value.value.uniform = std::min(value.value.uniform, condition.value.uniform);
        });
    });
}

void Paths::begin_loop(int loop) {
    const BlockId header = analysis_.plan.loop(loop).header;
    // Ways into blocks other than the header are the same in each pass.
    std::vector<std::pair<BlockId, std::vector<Way>>> aside;
    const bool reached = !ways_[header].empty();
    for (const BlockId block : analysis_.plan.loop(loop).blocks)
        if (block != header && !ways_[block].empty()) aside.emplace_back(block, ways_[block]);
    if (!reached && aside.empty()) return;
    std::optional<Way> entry;
    if (reached) entry = meet(std::exchange(ways_[header], {}), header);
    Around& around = loops_.emplace_back();
    around.loop = loop;
    if (entry) {
        around.scopes = entry->scopes.size();
        around.values = entry->state.values;
    }
    around.known = entry && aside.empty() && analysis_.plan.decides(loop) != no_block;
    around.head = entry;
    around.entry = std::move(entry);
    around.aside = std::move(aside);
    begin_iteration();
}

void Paths::begin_iteration() {
    Around& loop = loops_.back();
    loop.next = 0;
    loop.back.clear();
    loop.decision = {};
    if (loop.known) {
        loop.kept = static_cast<std::ptrdiff_t>(loop.exits.size());
        loop.head = loop.entry;
    } else {
        // Of the iterations to the fixed point the exits of the last one count.
        if (loop.pass++ == 0) loop.kept = static_cast<std::ptrdiff_t>(loop.exits.size());
        loop.exits.erase(loop.exits.begin() + loop.kept, loop.exits.end());
        for (const auto& [block, ways] : loop.aside) ways_[block] = ways;
    }
    if (loop.head) ways_[analysis_.plan.loop(loop.loop).header].assign(1, *loop.head);
}

void Paths::end_iteration() {
    Around& loop = loops_.back();
    std::optional<Way> back;  // into the next iteration
    if (!loop.stopped && !loop.back.empty()) {
        back = meet(std::exchange(loop.back, {}), analysis_.plan.loop(loop.loop).header);
        back->scopes.resize(std::min(back->scopes.size(), loop.scopes));
    }
    if (loop.known)
        end_known(std::move(back));
    else
        end_unknown(std::move(back));
}

/// Iterates while the condition is known.
void Paths::end_known(std::optional<Way> back) {
    Around& loop = loops_.back();
    if (std::exchange(loop.stopped, false)) {
        loop.exits.erase(loop.exits.begin() + loop.kept, loop.exits.end());
        for (const BlockId block : analysis_.plan.loop(loop.loop).blocks) ways_[block].clear();
        loop.known = false;
    } else if (!back) {
        return end_loop();
    } else {
        loop.entry = std::move(back);
    }
    begin_iteration();
}

/// Iterates to the fixed point.
void Paths::end_unknown(std::optional<Way> back) {
    if (!back) return end_loop();  // there is no second iteration
    Around& loop = loops_.back();
    if (!loop.entry) {
        loop.head = loop.entry = std::move(back);
        ++analysis_.executed;
        return begin_iteration();
    }
    const BlockId header = analysis_.plan.loop(loop.loop).header;
    const Label& label = analysis_.program.blocks()[header].label;
    const RegisterSet& live = analysis_.plan.live(header);
    if (loop.decision.id == 0) {  // no single branch decides
        loop.condition.inputs = roots::memory | roots::loop(analysis_.plan.decisions.at(&label).id);
        loop.decision = analysis_.decision_of(&label, loop.condition);
    }
    loop.condition.exact = {};  // it holds in this pass only

    // Values only lose certainty from pass to pass; facts are those of the entry or of the last
    // iteration.
    State next = loop.entry->state;
    join(next, back->state, loop.decision);
    next.values = loop.head->state.values;
    join(next.values, back->state.values, loop.condition, &label, live);
    // A wait at the end of the body precedes the next iteration, whatever precedes the first.
    if (back->state.drain.wait != nullptr) next.drain = back->state.drain;
    const bool settled = next == loop.head->state;
    if (!settled && loop.pass < most_passes) {
        loop.head->state = std::move(next);
        ++analysis_.executed;
        return begin_iteration();
    }
    for (Exit& exit : loop.exits) {
        if (!settled) doubt_differences(exit.way.state, next);
        if (exit.decided) left_at_different_times(loop.entry->state.values, exit.way.state, loop.condition);
    }
    end_loop();
}

void Paths::end_loop() {
    std::vector<Exit> exits = std::move(loops_.back().exits);
    loops_.pop_back();
    for (Exit& exit : exits) send(exit.to, std::move(exit.way));
}

}  // namespace wgrun::check::dataflow
