#include "check/dataflow/mma_groups.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rules/phrases.hpp"

namespace wgrun::check::dataflow {

void MmaGroups::touch(std::span<const Touch> touches) {
    for (const Touch& touch : touches) {
        stalls_.needed(touch.slot);
        const auto uses = [&](const MmaRegisters& mma) { return mma.part(touch.slot).has_value(); };
        if (touch.waits)
            if (const InFlightMma* flight = pending(uses))
                overtaken(*flight, *flight->registers->part(touch.slot), touch.writes ? "written" : "read");
        if (!touch.counts) continue;
        if (touch.from >= 0) {
            const auto from = static_cast<std::size_t>(touch.from);
            analysis_.state.touched_by.set(touch.index(), analysis_.state.touched_by[from]);
            const RegisterState copied = analysis_.state.registers[from];
            analysis_.state.registers.change(touch.index(), [&](RegisterState& state) { state = copied; });
            continue;
        }
        analysis_.state.touched_by.set(touch.index(), analysis_.step);
        if (analysis_.state.registers[touch.index()].touched == Fact::always()) continue;
        analysis_.state.registers.change(touch.index(),
                                         [](RegisterState& state) { state.touched = Fact::always(); });
    }
}

void MmaGroups::overtaken(const InFlightMma& flight, MmaOperand part, std::string_view access) {
    const Where here = analysis_.step->where;
    if (flight.age == InFlightMma::uncommitted && flight.waited) {
        uncommitted(flight, false,
                    {{flight.waited->where, "this wait_group does not cover it"},
                     {here, fmt::format("{} is {} here", name_of(part), access)}});
    } else {
        const Where issued = flight.mma->where;
        analysis_.findings.add(rules::accessed_in_flight(part, access, issued, here, flight.age), here,
                               {{issued, "issued here"}});
    }
    assume_waited(flight);
}

void MmaGroups::uncommitted(const InFlightMma& flight, bool at_end, std::vector<Note> notes) {
    if (committed_by_some_) return;
    const Where issued = flight.mma->where;
    analysis_.findings.add(rules::never_committed(issued, at_end), issued, std::move(notes));
}

/// Continues as if the fault of `flight` were fixed, so that one fault gives one finding.
void MmaGroups::assume_waited(InFlightMma covered) {
    for (InFlightMma& flight : analysis_.state.flights.own()) {
        if (!flight.pending || (covered.age != InFlightMma::uncommitted && flight.age < covered.age))
            continue;
        flight.pending = {};
    }
}

void MmaGroups::order_registers() {
    analysis_.state.order_registers();
    analysis_.meets_others = false;
}

void MmaGroups::commit(bool apart) {
    committed_by_some_ |= apart;
    analysis_.state.commit(*analysis_.step);
    analysis_.meets_others = false;
}

void MmaGroups::wait(int pending) {
    constexpr int most = 7;
    if (pending > most)
        analysis_.findings.add(
            rules::WG_GROUP_03, analysis_.step->where,
            fmt::format("wait_group {} waits as wait_group {} does: the hardware counts to {}", pending, most,
                        most),
            sentence("{}", rules::wgmma_wait_group(most)));
    stalls_.waits(pending);
    analysis_.state.wait(*analysis_.step, std::min(pending, most),
                         analysis_.program.threads() > sm_90a.warpgroup && !analysis_.in_role());
}

/// Reports what is pending at the end of the kernel, after line `end`: WG-GROUP-02, -05 and -06.
void MmaGroups::left_over(Where end) {
    for (const InFlightMma& flight : *analysis_.state.flights) {
        if (!analysis_.holds(Property::groups, flight.pending)) continue;
        if (flight.age == InFlightMma::uncommitted) {
            uncommitted(flight, flight.waited == nullptr, {});
            continue;
        }
        const Where committed = flight.committed->where;
        analysis_.findings.add(rules::group_at_end("the kernel", committed, end), committed,
                               {{flight.mma->where, "issued here"}});
    }
}

}  // namespace wgrun::check::dataflow
