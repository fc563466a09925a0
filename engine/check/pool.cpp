// The register pool of a CTA in a rehearsal: WG-REG-02, WG-REG-03.
#include <fmt/format.h>

#include <algorithm>

#include "check/rehearsal.hpp"
#include "rules/barrier_words.hpp"

namespace wgrun::check {

using isa::lanes;

void Rehearsal::set_registers(int registers, bool increase) {
    Warp& warp = *warp_;
    Cta& cta = *warp.cta;
    using Resize = machine::RegisterPool::Resize;
    machine::RegisterPool& pool = cta.registers;
    const bool again = pool.wanted(local(warp)) != 0;
    const Resize what = pool.resize(local(warp), registers, increase);
    if (what == Resize::wrong_way) {
        const bool first = warp.resized_by == nullptr;
        const int held = pool.held(local(warp));
        return add(rules::resized_the_wrong_way(increase, registers, held), op_->step,
                   {{first ? program_.where() : warp.resized_by->where,
                     first ? fmt::format("a CTA of {} threads enters with {} registers a thread",
                                         program_.threads(), held)
                           : fmt::format("{} registers since here", held)}});
    }
    if (!again) resized_together();
    if (what == Resize::blocked) return sleep(Warp::Wait::registers);
    ++warp.resizes;
    warp.resized = warp.now++;
    warp.resized_by = op_->step;
    warp.known.learn(warp.number, warp.resized);
    if (what == Resize::given_back)
        wake(Warp::Wait::registers, [&](const Warp& other) { return other.cta == &cta; });
}

/// Reports a second setmaxnreg of a warpgroup whose warps have not all synchronised since the first.
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

/// Reports WG-REG-04, once per line.
void Rehearsal::fits_registers(const Step& step) {
    const bool as_at_entry = warp_->resized_by == nullptr;
    const int held = warp_->cta->registers.held(local(*warp_));
    const int limit = as_at_entry ? sm_90a.registers_to_use(program_.threads()) : held, need = op_->pressure;
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
        remark.notes.push_back({warp_->resized_by->where, fmt::format("{} registers since here", held)});
    remarks_.push_back(std::move(remark));
}

}  // namespace wgrun::check
