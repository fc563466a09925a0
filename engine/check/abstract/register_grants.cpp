#include "check/abstract/register_grants.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "check/findings.hpp"
#include "rules/barrier_words.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::check::abstract {

RegisterGrants::RegisterGrants(ExecutionState& execution, Faults& report)
    : execution_(execution),
      report_(report),
      ctas_(static_cast<std::size_t>(execution.ctas)),
      warps_(execution.warps.size()) {
    const int at_entry = machine::registers_at_entry(execution.program);
    for (machine::RegisterPool& grants : ctas_) grants.reset(execution.warps_per_cta, at_entry);
    for_each_step(execution.program,
                  [this](const Step& step) { resizes_ |= step.op->awaits == isa::Awaits::registers; });
}

void RegisterGrants::set_registers(int registers, bool increase) {
    using Resize = machine::RegisterPool::Resize;
    Warp& warp = *execution_.warp;
    machine::RegisterPool& grants = ctas_[static_cast<std::size_t>(warp.cta)];
    const int local = execution_.local(warp);
    const bool again = grants.wanted(local) != 0;
    const Resize what = grants.resize(local, registers, increase);
    if (what == Resize::wrong_way) {
        const Step* before = own().by;
        const int held = grants.held(local);
        const std::string text =
            before != nullptr
                ? fmt::format("{} from here on", count_of(held, "register"))
                : fmt::format("a CTA of {} enters with {} a thread",
                              count_of(execution_.program.threads(), "thread"), count_of(held, "register"));
        return report_.fault(rules::resized_the_wrong_way(increase, registers, held),
                             {{before != nullptr ? before->where : execution_.program.where(), text}});
    }
    if (!again) resized_together();
    if (what == Resize::blocked) return execution_.sleep(Warp::Wait::registers);
    own() = {own().times + 1, warp.now++, execution_.op->step};
    warp.known.learn(warp.number, own().clock);
    if (what == Resize::given_back)
        execution_.wake(Warp::Wait::registers, [&](const Warp& other) { return other.cta == warp.cta; });
}

/// Reports a second setmaxnreg of a warpgroup whose warps have not all synchronised since the first.
void RegisterGrants::resized_together() {
    const Warp& warp = *execution_.warp;
    if (own().times == 0) return;
    constexpr int mates = isa::warps_of_group;
    const int leader = warp.number - execution_.local(warp) % mates;
    for (int w = leader; w < std::min(leader + mates, execution_.first(warp.cta) + execution_.warps_per_cta);
         ++w) {
        const Resized& mate = warps_[static_cast<std::size_t>(w)];
        if (mate.times > own().times || (mate.times == own().times && warp.known.of(w) >= mate.clock))
            continue;
        return report_.fault(
            {rules::WG_REG_03,
             fmt::format("a second setmaxnreg, and nothing tells {} that {} has executed the first",
                         execution_.name(), execution_.name(execution_.warps[static_cast<std::size_t>(w)])),
             fmt::format("k:bar_sync of the warpgroup's {} threads {}", sm_90a.warpgroup,
                         before(execution_.op->where))},
            {{own().by->where, "the first"}});
    }
}

void RegisterGrants::fits() {
    const Warp& warp = *execution_.warp;
    const Step* resized = own().by;
    const int held = of(warp.cta).held(execution_.local(warp));
    const int limit = resized == nullptr ? sm_90a.registers_to_use(execution_.program.threads()) : held;
    const int need = execution_.op->pressure;
    const Where where = execution_.op->where;
    if (need <= limit || report_.remarked(where)) return;
    if (const int least = least_registers(*execution_.op->step); least > limit && !resizes_) {
        Diagnostic error = rules::finding(
            {rules::WG_REG_04,
             fmt::format(
                 "this wgmma needs {} of a thread, of which a CTA of {} has {}: the assembler refuses it",
                 count_of(least, "register"), count_of(execution_.program.threads(), "thread"), limit),
             "a smaller N, or fewer threads a CTA"},
            where);
        error.severity = Severity::error;
        return report_.remark(std::move(error));
    }
    Diagnostic remark = rules::finding(
        {rules::WG_REG_04,
         fmt::format("this wgmma and what is alive here need {} of a thread or more, and it has {}: the "
                     "assembler spills, waits for each wgmma, ignores setmaxnreg or gives up",
                     count_of(need, "register"), limit),
         limit < sm_90a.thread_registers ? "a smaller N, fewer values at a time, or setmaxnreg.inc"
                                         : "a smaller N, or fewer values at a time"},
        where);
    if (resized != nullptr)
        remark.notes.push_back({resized->where, fmt::format("{} from here on", count_of(held, "register"))});
    report_.remark(std::move(remark));
}

}  // namespace wgrun::check::abstract
