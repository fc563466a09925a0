// The registers of a CTA in a rehearsal: WG-REG-02, WG-REG-03.
#include <fmt/format.h>

#include <algorithm>

#include "check/rehearsal.hpp"
#include "rules/barrier_words.hpp"

namespace wgrun::check {

using isa::lanes;

void Rehearsal::set_registers(int registers, bool increase) {
    Warp& warp = *warp_;
    Cta& cta = *warp.cta;
    if (increase ? registers < warp.held : registers > warp.held) {
        const bool first = warp.resized_by == nullptr;
        return add(rules::resized_the_wrong_way(increase, registers, warp.held), op_->step,
                   {{first ? program_.where() : warp.resized_by->where,
                     first ? fmt::format("a CTA of {} threads enters with {} registers a thread",
                                         program_.threads(), warp.held)
                           : fmt::format("{} registers since here", warp.held)}});
    }
    if (warp.wanted == 0) resized_together();
    const int more = (registers - warp.held) * lanes;
    if (more > cta.free_registers) {
        warp.wanted = registers;
        return sleep(Warp::Wait::registers);
    }
    cta.free_registers -= more;
    warp.held = registers;
    warp.wanted = 0;
    ++warp.resizes;
    warp.resized = warp.now++;
    warp.resized_by = op_->step;
    warp.known.learn(warp.number, warp.resized);
    if (more < 0) wake(Warp::Wait::registers, [&](const Warp& other) { return other.cta == &cta; });
}

/// Between two setmaxnreg of a warpgroup all its warps meet.
void Rehearsal::resized_together() {
    const Warp& warp = *warp_;
    if (warp.resizes == 0) return;
    const int leader = warp.number - local(warp) % 4;
    for (int w = leader; w < std::min(leader + 4, warp.cta->first + warps_per_cta_); ++w) {
        const Warp& mate = warps_[static_cast<std::size_t>(w)];
        if (mate.resizes > warp.resizes || (mate.resizes == warp.resizes && warp.known.of(w) >= mate.resized))
            continue;
        return add(rules::WG_REG_03, op_->step,
                   fmt::format("a second setmaxnreg, and nothing tells {} that {} has executed the first",
                               name(warp), name(mate)),
                   fmt::format("k:bar_sync of the warpgroup's 128 threads {}", before(op_->where)),
                   {{warp.resized_by->where, "the first"}});
    }
}

/// WG-REG-04, once a line.
void Rehearsal::fits_registers(const Step& step) {
    const bool as_at_entry = warp_->resized_by == nullptr;
    const int limit = as_at_entry ? sm_90a.registers_to_use(program_.threads()) : warp_->held,
              need = op_->pressure;
    if (need <= limit) return;
    const Where where = step.where;
    if (std::ranges::any_of(remarks_, [&](const Diagnostic& told) { return told.where == where; })) return;
    Diagnostic remark = rules::finding(
        rules::WG_REG_04, where,
        fmt::format(
            "this wgmma and what is alive here need {} registers of a thread or more, and it has {}: the "
            "assembler spills, waits for each wgmma, ignores setmaxnreg or gives up",
            need, limit),
        limit < sm_90a.thread_registers ? "a smaller N, fewer values at a time, or setmaxnreg.inc"
                                        : "a smaller N, or fewer values at a time");
    if (!as_at_entry)
        remark.notes.push_back(
            {warp_->resized_by->where, fmt::format("{} registers since here", warp_->held)});
    remarks_.push_back(std::move(remark));
}

}  // namespace wgrun::check
