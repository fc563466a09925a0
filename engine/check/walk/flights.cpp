#include "check/walk/flights.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rules/phrases.hpp"

namespace wgrun::check::walk {

void Flights::touch(std::span<const Touch> touches) {
    for (const Touch& touch : touches) {
        drains_.needed(touch.slot);
        const auto uses = [&](const MmaRegisters& mma) { return mma.part(touch.slot).has_value(); };
        if (touch.waits)
            if (const Flight* flight = pending(uses))
                overtaken(*flight, *flight->registers->part(touch.slot), touch.writes ? "written" : "read");
        if (!touch.counts) continue;
        if (touch.from >= 0) {
            const auto from = static_cast<std::size_t>(touch.from);
            scene_.state.touched_by.set(touch.index(), scene_.state.touched_by[from]);
            const RegisterState copied = scene_.state.registers[from];
            scene_.state.registers.change(touch.index(), [&](RegisterState& state) { state = copied; });
            continue;
        }
        scene_.state.touched_by.set(touch.index(), scene_.step);
        if (scene_.state.registers[touch.index()].touched == Fact::always()) continue;
        scene_.state.registers.change(touch.index(),
                                      [](RegisterState& state) { state.touched = Fact::always(); });
    }
}

void Flights::overtaken(const Flight& flight, MmaOperand part, std::string_view access) {
    const Where here = scene_.step->where;
    if (flight.age == Flight::uncommitted && flight.waited) {
        uncommitted(flight, false,
                    {{flight.waited->where, "this wait_group does not cover it"},
                     {here, fmt::format("{} is {} here", name_of(part), access)}});
    } else {
        const Where issued = flight.mma->where;
        scene_.findings.add(rules::accessed_in_flight(part, access, issued, here, flight.age), here,
                            {{issued, "issued here"}});
    }
    assume_waited(flight);
}

void Flights::uncommitted(const Flight& flight, bool at_end, std::vector<Note> notes) {
    if (committed_by_some_) return;
    const Where issued = flight.mma->where;
    scene_.findings.add(rules::never_committed(issued, at_end), issued, std::move(notes));
}

/// Continues as if the fault of `flight` were fixed, so that one fault gives one finding.
void Flights::assume_waited(Flight covered) {
    for (Flight& flight : scene_.state.flights.own()) {
        if (!flight.pending || (covered.age != Flight::uncommitted && flight.age < covered.age)) continue;
        flight.pending = {};
    }
}

void Flights::order_registers() {
    scene_.state.order_registers();
    scene_.meets_others = false;
}

void Flights::commit(bool apart) {
    committed_by_some_ |= apart;
    scene_.state.commit(*scene_.step);
    scene_.meets_others = false;
}

void Flights::wait(int pending) {
    constexpr int most = 7;
    if (pending > most)
        scene_.findings.add(
            rules::WG_GROUP_03, scene_.step->where,
            fmt::format("wait_group {} waits as wait_group {} does: the hardware counts to {}", pending, most,
                        most),
            sentence("{}", rules::wgmma_wait_group(most)));
    drains_.waits(pending);
    scene_.state.wait(*scene_.step, std::min(pending, most),
                      scene_.program.threads() > sm_90a.warpgroup && !scene_.in_role());
}

/// Reports what is pending at the end of the kernel, after line `end`: WG-GROUP-02, -05 and -06.
void Flights::left_over(Where end) {
    for (const Flight& flight : *scene_.state.flights) {
        if (!scene_.holds(Property::groups, flight.pending)) continue;
        if (flight.age == Flight::uncommitted) {
            uncommitted(flight, flight.waited == nullptr, {});
            continue;
        }
        const Where committed = flight.committed->where;
        scene_.findings.add(rules::group_at_end("the kernel", committed, end), committed,
                            {{flight.mma->where, "issued here"}});
    }
}

}  // namespace wgrun::check::walk
