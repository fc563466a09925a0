#include "check/state.hpp"

#include <algorithm>

namespace wgrun::check {

void State::order_registers() {
    unfenced = {};
    registers.clear();
    touched_by.clear();
}

void State::commit(const Step& step) {
    if (flights->empty()) return;
    for (InFlightMma& flight : flights.own()) {
        if (!flight.pending) continue;
        if (flight.age == InFlightMma::uncommitted) flight.committed = &step;
        flight.age = std::min(flight.age + 1, InFlightMma::oldest);
    }
}

void State::wait(const Step& step, int pending, bool others) {
    if (flights->empty()) return;
    for (InFlightMma& flight : flights.own()) {
        if (!flight.pending) continue;
        if (flight.age == InFlightMma::uncommitted) {
            flight.waited = &step;
        } else if (flight.age >= pending) {
            flight.retired = others ? flight.pending : Fact{};
            flight.pending = {};
        }
    }
}

void State::fence_proxies() {
    for (std::size_t i = 0; i < cells.size(); ++i)
        if (cells[i].unpublished.any()) cells.change(i, [](CellState& cell) { cell.unpublished.fence(); });
}

void State::barrier() {
    for (std::size_t i = 0; i < cells.size(); ++i)
        if (cells[i].unpublished.any()) cells.change(i, [](CellState& cell) { cell.unpublished.barrier(); });
    if (std::ranges::all_of(*flights,
                            [](const InFlightMma& flight) { return flight.pending && !flight.retired; }))
        return;
    for (InFlightMma& flight : flights.own()) flight.retired = {};
    std::erase_if(flights.own(), [](const InFlightMma& flight) { return !flight.pending; });
}

void State::write(const Step& step, const Region& region, const Fact& fact) {
    cells.change(static_cast<std::size_t>(region.cell), [&](CellState& cell) {
        CellState::Write& last = cell.unpublished.fresh;
        Region written = region;
        if (last && !(last.region == region)) written = {region.cell, 0, 0, region.whole};
        last = {fact, &step, written};
    });
}

// A step that executes again while its copy is in flight, as in a loop, may copy to another part: it is not
// followed further.
void State::copy(const Step& step, const Region& region) {
    InFlightCopy flight;
    flight.step = &step;
    flight.region = region;
    flight.pending = Fact::always();
    std::vector<InFlightCopy>& all = copies.own();
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const InFlightCopy& other) { return other.same_place(flight); });
    if (same != all.end()) {
        flight.pending = {Fact::Kind::doubtful};
        *same = flight;
        return;
    }
    const bool others = std::any_of(
        all.begin(), all.end(), [&](const InFlightCopy& other) { return other.region.cell == region.cell; });
    if (!others) arrive(region, false);
    all.push_back(flight);
}

void State::arrive(const Region& region, bool arrived) {
    cells.change(static_cast<std::size_t>(region.cell), [&](CellState& cell) { cell.arrived = arrived; });
}

void State::commit_copies() {
    if (copies->empty()) return;
    for (InFlightCopy& flight : copies.own()) flight.age = std::min(flight.age + 1, InFlightCopy::oldest);
}

void State::wait_copies(std::optional<int> pending) {
    const int youngest = pending ? std::min(*pending, InFlightCopy::oldest) : InFlightCopy::uncommitted;
    if (copies->empty()) return;
    for (const InFlightCopy& flight : *copies) {
        if (flight.age < youngest) continue;
        arrive(flight.region, true);
        write(*flight.step, flight.region, flight.pending);
    }
    std::erase_if(copies.own(), [&](const InFlightCopy& flight) { return flight.age >= youngest; });
}

namespace {

CellState::Write join(const CellState::Write& a, const CellState::Write& b, const Decision& decision) {
    if (!b.fact) return {check::join(a.fact, b.fact, decision), a.step, a.region};
    CellState::Write out{check::join(a.fact, b.fact, decision), b.step, b.region};
    if (a.fact) {
        out.step = a.step;
        if (!(a.region == b.region)) out.region = {a.region.cell, 0, 0, false};  // one of two regions
    }
    return out;
}

void join_groups(Grouped& out, const Grouped& left, const Grouped& right, const Decision& decision) {
    if (left.pending && right.pending && left.age != right.age) {
        // The younger group is the last that a wait covers, but it is pending on one path only.
        const int arm = left.age < right.age ? 0 : 1;
        out = arm == 0 ? left : right;
        out.pending = out.pending.depending_on(decision, arm);
        return;
    }
    out.pending = join(left.pending, right.pending, decision);
    if (!left.pending) out.age = right.age;
    if (!left.waited) out.waited = right.waited;
    if (!left.pending) out.committed = right.committed;
}

template <class F>
void join_in_flight(Shared<std::vector<F>>& a, const Shared<std::vector<F>>& b, const Decision& decision) {
    if (a == b) return;
    const F nothing;
    std::vector<F> out;
    const auto add = [&](F flight, const F& left, const F& right) {
        join_groups(flight, left, right, decision);
        if constexpr (requires { flight.retired; })
            flight.retired = join(left.retired, right.retired, decision);
        out.push_back(flight);
    };
    for (const F& left : *a) {
        const auto found = std::ranges::find_if(*b, [&](const F& f) { return f.same_place(left); });
        add(left, left, found == b->end() ? nothing : *found);
    }
    for (const F& right : *b)
        if (std::ranges::none_of(*a, [&](const F& f) { return f.same_place(right); }))
            add(right, nothing, right);
    a.own() = std::move(out);
}

std::uint64_t hash_of(const Fact& fact) {
    return static_cast<std::uint64_t>(fact.last) << 32 | static_cast<std::uint64_t>(fact.first) << 8 |
           static_cast<std::uint64_t>(fact.kind);
}

void doubt(Fact& fact, const Fact& other) {
    if (!(fact == other) && (fact || other)) fact = {Fact::Kind::doubtful};
}

}  // namespace

RegisterState join(const RegisterState& a, const RegisterState& b, const Decision& decision) {
    RegisterState out = a;
    out.touched = check::join(a.touched, b.touched, decision);
    const auto with_shape = [](const RegisterState& state, int shape) {
        return std::find_if(state.used.begin(), state.used.end(),
                            [&](const RegisterState::Use& use) { return use.fact && use.shape == shape; });
    };
    const auto fact_of = [&](const RegisterState& state, int shape) {
        const auto use = with_shape(state, shape);
        return use == state.used.end() ? Fact{} : use->fact;
    };
    out.used = {};
    std::size_t count = 0;
    for (const RegisterState* side : {&a, &b}) {
        for (const RegisterState::Use& use : side->used) {
            if (!use.fact || count == out.used.size() || with_shape(out, use.shape) != out.used.end())
                continue;
            const Fact both = check::join(fact_of(a, use.shape), fact_of(b, use.shape), decision);
            out.used[count++] = {both, use.shape, use.mma};
        }
    }
    return out;
}

std::size_t hash_of(const RegisterState& state) {
    const auto& [one, other] = state.used;
    return Hash().with(hash_of(state.touched)).with(one.mma).with(hash_of(one.fact)).with(other.mma).value();
}

std::size_t hash_of(const CellState& state) {
    Hash out;
    for (const CellState::Write* write :
         {&state.unpublished.fresh, &state.unpublished.fenced, &state.unpublished.ordered})
        out.with(write->step).with(hash_of(write->fact));
    return out.value();
}

void join(State::MmaGroups& a, const State::MmaGroups& b, const Decision& decision) {
    join_in_flight(a, b, decision);
}

void join(State& a, const State& b, const Decision& decision, const Known& condition, const void* place,
          const RegisterSet& live) {
    join(a.values, b.values, condition, place, live);
    join(a, b, decision);
}

void join(State& a, const State& b, const Decision& decision) {
    a.touched_by.differences(b.touched_by, [&](std::size_t i, const Step*, const Step* other) {
        if (!a.registers[i].touched) a.touched_by.set(i, other);
    });
    a.registers.meet(
        b.registers, [](std::size_t) { return true; },
        [&](const RegisterState& mine, const RegisterState& other) { return join(mine, other, decision); });
    join(a.flights, b.flights, decision);
    join_in_flight(a.copies, b.copies, decision);
    a.cells.meet(
        b.cells, [](std::size_t) { return true; },
        [&](const CellState& left, const CellState& right) {
            const auto &one = left.unpublished, &other = right.unpublished;
            return CellState{
                {join(one.fresh, other.fresh, decision), join(one.fenced, other.fenced, decision),
                 join(one.ordered, other.ordered, decision)},
                left.arrived || right.arrived};
        });
    a.unfenced = join(a.unfenced, b.unfenced, decision);
    if (a.proxy_fence == nullptr) a.proxy_fence = b.proxy_fence;
    if (!(a.drain == b.drain)) a.drain = {};
}

void doubt_differences(State& a, const State& b) {
    a.registers.differences(
        b.registers, [&](std::size_t i, const RegisterState&, const RegisterState& other) {
            a.registers.change(i, [&](RegisterState& state) {
                doubt(state.touched, other.touched);
                for (RegisterState::Use& use : state.used) {
                    const auto& others = other.used;
                    if (use.fact && std::find(others.begin(), others.end(), use) == others.end())
                        doubt(use.fact, {});
                }
            });
        });
    for (InFlightMma& flight : a.flights.own()) {
        const auto found =
            std::ranges::find_if(*b.flights, [&](const InFlightMma& f) { return f.same_place(flight); });
        doubt(flight.pending, found == b.flights->end() ? Fact{} : found->pending);
        doubt(flight.retired, found == b.flights->end() ? Fact{} : found->retired);
    }
    for (InFlightCopy& flight : a.copies.own()) {
        const auto found =
            std::ranges::find_if(*b.copies, [&](const InFlightCopy& f) { return f.same_place(flight); });
        doubt(flight.pending, found == b.copies->end() ? Fact{} : found->pending);
    }
    a.cells.differences(b.cells, [&](std::size_t i, const CellState&, const CellState& other) {
        a.cells.change(i, [&](CellState& cell) {
            cell.arrived |= other.arrived;
            auto& left = cell.unpublished;
            const auto& right = other.unpublished;
            doubt(left.fresh.fact, right.fresh.fact);
            doubt(left.fenced.fact, right.fenced.fact);
            doubt(left.ordered.fact, right.ordered.fact);
        });
    });
    doubt(a.unfenced, b.unfenced);
}

}  // namespace wgrun::check
