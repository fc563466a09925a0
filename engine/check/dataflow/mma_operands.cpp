#include "check/dataflow/mma_operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rules/phrases.hpp"

namespace wgrun::check::dataflow {

namespace {

/// Calls visit(register, its part in the wgmma), accumulators first.
template <class Visit>
void for_each_register(const isa::AsyncMma& mma, Visit visit) {
    for (Reg reg : *mma.accumulators) visit(reg, MmaOperand::accumulator);
    if (mma.a_fragment)
        for (Reg reg : *mma.a_fragment) visit(reg, MmaOperand::fragment);
    if (mma.metadata) visit(mma.metadata->reg, MmaOperand::metadata);
}

std::string_view used_as(MmaOperand part) {
    switch (part) {
        case MmaOperand::accumulator: return "used as an accumulator";
        case MmaOperand::fragment: return "read as a fragment of A";
        default: return "read as metadata";
    }
}

}  // namespace

void MmaOperands::issue(const isa::AsyncMma& mma) {
    const auto known = [&](const Operand& operand) {
        if (operand.kind == Operand::Kind::reg) return analysis_.state.values[operand.reg.id];
        Known immediate;
        immediate.exact = operand.imm;
        return immediate;
    };
    InFlightMma flight;
    flight.mma = analysis_.step;
    flight.registers = &analysis_.plan.mmas.at(analysis_.step);
    flight.shape = mma.same_shape_key;
    flight.pending = Fact::always();
    // Threads that do not get here count too: a value of theirs that differs within a warpgroup is no
    // accident.
    const auto common = [&](const Operand& operand, std::string_view name) {
        const Exact& exact = known(operand).exact;
        if (!exact.known() || exact.spread() >= isa::Uniform::warpgroup) return;
        analysis_.findings.add(rules::WG_DESC_05, analysis_.step->where,
                               fmt::format("{} is the same in each {}, but not in the warpgroup", name,
                                           to_string(exact.spread())),
                               "make it of values that are the same in the whole warpgroup");
    };
    if (mma.a_descriptor) common(*mma.a_descriptor, "the descriptor of A");
    common(*mma.b_descriptor, "the descriptor of B");
    common(analysis_.step->operands.back(), "scale-d");
    if (mma.a_descriptor) flight.a = matrix_(*analysis_.step, Matrix::a(mma), known(*mma.a_descriptor));
    flight.b = matrix_(*analysis_.step, Matrix::b(mma), known(*mma.b_descriptor));
    stalls_.issues(mma);
    check_registers(mma);
    check_fence(mma);
    check_memory(flight.a, flight.b);

    for (const int slot : flight.registers->in_order)
        analysis_.state.touched_by.set(static_cast<std::size_t>(slot), nullptr);
    State::Registers& registers = analysis_.state.registers;
    registers.change_all(flight.registers->source_slots(), [](RegisterState& state) { state.touched = {}; });
    registers.change_all(flight.registers->accumulator_slots(), [&](RegisterState& state) {
        state = {};
        state.used[0] = {Fact::always(), mma.same_shape_key, analysis_.step};
    });
    std::vector<InFlightMma>& flights = analysis_.state.flights.own();
    const auto same =
        std::ranges::find_if(flights, [&](const InFlightMma& other) { return other.same_place(flight); });
    if (same == flights.end()) {
        flights.push_back(flight);
    } else {
        flight.retired = same->retired;
        *same = flight;
    }
}

/// Returns whether the wgmma certainly reads its accumulators: not if scale-d is an unknown predicate.
bool MmaOperands::surely_reads_accumulators(const isa::AsyncMma& mma) const {
    if (!mma.reads_accumulators) return false;
    return std::none_of(
        analysis_.step->operands.begin(), analysis_.step->operands.end(), [&](const Operand& operand) {
            if (operand.kind != Operand::Kind::reg) return false;
            return analysis_.program.registers()[operand.reg.id].type == isa::Type::pred &&
                   analysis_.state.values[operand.reg.id].constant() != 1 - (operand.negated ? 1 : 0);
        });
}

/// Reports registers that nothing has written, or that another wgmma still uses.
void MmaOperands::check_registers(const isa::AsyncMma& mma) {
    const bool reads_accumulators = surely_reads_accumulators(mma);
    for_each_register(mma, [&](Reg reg, MmaOperand part) {
        if (part != MmaOperand::accumulator || reads_accumulators) values_.read(reg, analysis_.step->where);
    });
    // Successive wgmma may share accumulators, and several may read the same sources.
    const MmaRegisters& mine = analysis_.plan.mmas.at(analysis_.step);
    const InFlightMma* flight = groups_.pending([&](const MmaRegisters& other) {
        return other.accumulators.meets(mine.sources) || mine.accumulators.meets(other.sources);
    });
    if (!flight) return;
    bool found = false;
    for_each_register(mma, [&](Reg reg, MmaOperand part) {
        const std::optional<MmaOperand> theirs = flight->registers->part(analysis_.plan.slots[reg.id]);
        if (found || !theirs || (*theirs == MmaOperand::accumulator) == (part == MmaOperand::accumulator))
            return;
        found = true;
        groups_.overtaken(*flight, *theirs, used_as(part));
    });
}

/// Reports registers that no wgmma.fence orders: WG-FENCE-01.
void MmaOperands::check_fence(const isa::AsyncMma& mma) {
    const Where here = analysis_.step->where;
    const auto report = [&](rules::RuleMessage message, std::vector<Note> notes) {
        analysis_.findings.add(std::move(message), here, std::move(notes));
        analysis_.state.order_registers();
    };
    if (analysis_.holds(Property::registers, analysis_.state.unfenced))
        return report(rules::no_fence_at_all(here), {});
    // Returns whether there is something to report.
    const auto check = [&](MmaOperand part, std::span<const int> slots) {
        const RegisterState* before = nullptr;
        for (const int slot : slots) {
            const RegisterState& state = analysis_.state.registers[static_cast<std::size_t>(slot)];
            if (std::exchange(before, &state) == &state) continue;  // neighbours are often alike
            if (analysis_.holds(Property::registers, state.touched)) {
                report(rules::no_fence_since_access(part, here),
                       {{analysis_.state.touched_by[static_cast<std::size_t>(slot)]->where,
                         analysis_.made == Made::by_compiler ? std::string(rules::kept_before_fence())
                                                             : "accessed here"}});
                return true;
            }
            const auto unordered = std::ranges::find_if(state.used, [&](const RegisterState::Use& use) {
                const bool same = part == MmaOperand::accumulator && use.shape == mma.same_shape_key;
                return !same && analysis_.holds(Property::registers, use.fact);
            });
            if (unordered == state.used.end()) continue;
            report(rules::no_fence_between(part, here), {{unordered->mma->where, "issued here"}});
            return true;
        }
        return false;
    };
    // The ISA names accumulators and fragments of A; metadata need no fence on the chip either
    // (docs/silicon.md).
    const MmaRegisters& mine = analysis_.plan.mmas.at(analysis_.step);
    if (!check(MmaOperand::accumulator, mine.accumulator_slots()))
        check(MmaOperand::fragment, mine.fragment_slots());
}

/// Reports matrices that are not yet visible to the wgmma that reads them: WG-PROXY-01 and WG-RACE-01.
void MmaOperands::check_memory(const Region& a, const Region& b) {
    using Writes = machine::Unpublished<CellState::Write>;
    const auto check = [&](const Rule& rule, const Region& region, auto which, const std::string& lacks,
                           auto fix) {
        if (region.cell < 0) return false;
        const Writes& writes = analysis_.state.cells[static_cast<std::size_t>(region.cell)].unpublished;
        for (const CellState::Write* write : (writes.*which)()) {
            if (!write->region.overlaps(region) || !analysis_.holds(rule.property, write->fact)) continue;
            std::vector<Note> notes{{write->step->where, "written here"}};
            if (&rule == &rules::WG_PROXY_01 && analysis_.state.proxy_fence)
                notes.push_back(
                    {analysis_.state.proxy_fence->where, "this fence.proxy.async does not order it"});
            analysis_.findings.add(rule, analysis_.step->where,
                                   fmt::format("the wgmma reads `{}`, which was written {}",
                                               analysis_.buffer_name(region.cell), lacks),
                                   fix(*write), std::move(notes));
            return true;
        }
        return false;
    };
    const Where here = analysis_.step->where;
    const auto fence = [&](const CellState::Write& write) {
        return rules::proxy_fence_between(write.step->where, here);
    };
    const auto barrier = [&](const CellState::Write& write) {
        return rules::barrier_between(write.step->where, here);
    };
    const std::string through = "through the generic proxy, with no fence.proxy.async in between";
    const std::string by_others = "by other warps, with no barrier in between";
    for (const Region& region : {a, b})
        if (memory_.copied(region, "the wgmma", true)) return;
    bool unfenced = check(rules::WG_PROXY_01, a, &Writes::without_fence, through, fence);
    unfenced |= check(rules::WG_PROXY_01, b, &Writes::without_fence, through, fence);
    // All four warps read B, but only their own rows of A, which may be written without a barrier.
    const bool unordered = check(rules::WG_RACE_01, b, &Writes::without_order, by_others, barrier);
    if (unfenced) analysis_.state.fence_proxies();
    if (unordered) analysis_.state.barrier();
}

}  // namespace wgrun::check::dataflow
