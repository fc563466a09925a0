#include "check/rehearsal/pool.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "check/findings.hpp"
#include "rules/barrier_words.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::check::rehearsal {

Pool::Pool(Scene& scene, Report& report)
    : scene_(scene),
      report_(report),
      ctas_(static_cast<std::size_t>(scene.ctas)),
      warps_(scene.warps.size()) {
    const int at_entry = machine::registers_at_entry(scene.program);
    for (machine::RegisterPool& pool : ctas_) pool.reset(scene.warps_per_cta, at_entry);
    for_each_step(scene.program,
                  [this](const Step& step) { resizes_ |= step.op->awaits == isa::Awaits::registers; });
}

void Pool::set_registers(int registers, bool increase) {
    using Resize = machine::RegisterPool::Resize;
    Warp& warp = *scene_.warp;
    machine::RegisterPool& pool = ctas_[static_cast<std::size_t>(warp.cta)];
    const int local = scene_.local(warp);
    const bool again = pool.wanted(local) != 0;
    const Resize what = pool.resize(local, registers, increase);
    if (what == Resize::wrong_way) {
        const Step* before = own().by;
        const int held = pool.held(local);
        const std::string text = before != nullptr ? fmt::format("{} since here", count_of(held, "register"))
                                                   : fmt::format("a CTA of {} enters with {} a thread",
                                                                 count_of(scene_.program.threads(), "thread"),
                                                                 count_of(held, "register"));
        return report_.fault(rules::resized_the_wrong_way(increase, registers, held),
                             {{before != nullptr ? before->where : scene_.program.where(), text}});
    }
    if (!again) resized_together();
    if (what == Resize::blocked) return scene_.sleep(Warp::Wait::registers);
    own() = {own().times + 1, warp.now++, scene_.op->step};
    warp.known.learn(warp.number, own().clock);
    if (what == Resize::given_back)
        scene_.wake(Warp::Wait::registers, [&](const Warp& other) { return other.cta == warp.cta; });
}

/// Reports a second setmaxnreg of a warpgroup whose warps have not all synchronised since the first.
void Pool::resized_together() {
    const Warp& warp = *scene_.warp;
    if (own().times == 0) return;
    constexpr int mates = isa::warps_of_group;
    const int leader = warp.number - scene_.local(warp) % mates;
    for (int w = leader; w < std::min(leader + mates, scene_.first(warp.cta) + scene_.warps_per_cta); ++w) {
        const Resized& mate = warps_[static_cast<std::size_t>(w)];
        if (mate.times > own().times || (mate.times == own().times && warp.known.of(w) >= mate.clock))
            continue;
        return report_.fault(
            {rules::WG_REG_03,
             fmt::format("a second setmaxnreg, and nothing tells {} that {} has executed the first",
                         scene_.name(), scene_.name(scene_.warps[static_cast<std::size_t>(w)])),
             fmt::format("k:bar_sync of the warpgroup's {} threads {}", sm_90a.warpgroup,
                         before(scene_.op->where))},
            {{own().by->where, "the first"}});
    }
}

void Pool::fits() {
    const Warp& warp = *scene_.warp;
    const Step* resized = own().by;
    const int held = of(warp.cta).held(scene_.local(warp));
    const int limit = resized == nullptr ? sm_90a.registers_to_use(scene_.program.threads()) : held;
    const int need = scene_.op->pressure;
    const Where where = scene_.op->where;
    if (need <= limit || report_.remarked(where)) return;
    if (const int least = least_registers(*scene_.op->step); least > limit && !resizes_) {
        Diagnostic error = rules::finding(
            {rules::WG_REG_04,
             fmt::format(
                 "this wgmma needs {} of a thread, of which a CTA of {} has {}: the assembler refuses it",
                 count_of(least, "register"), count_of(scene_.program.threads(), "thread"), limit),
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
        remark.notes.push_back({resized->where, fmt::format("{} since here", count_of(held, "register"))});
    report_.remark(std::move(remark));
}

}  // namespace wgrun::check::rehearsal
