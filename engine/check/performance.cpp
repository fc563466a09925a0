#include "check/performance.hpp"

#include <fmt/format.h>

#include <utility>

#include "check/dataflow.hpp"
#include "check/sectors.hpp"
#include "isa/order.hpp"

namespace wgrun::check {

namespace {

/// Products of a warp whose operands are 8-bit floats. Those of wgmma have no work of a warp's.
bool is_emulated(const Step& step) {
    const isa::Type a = step.form.type(isa::Field::a);
    return step.op->work == isa::Work::products && isa::is_float(a) && isa::bits(a) == 8;
}

/// Finds arrivals at mbarriers of the CTA itself, for which only its threads can wait.
class Arrivals final : public isa::Effects {
  public:
    static bool release_too_far(const Step& step) {
        Arrivals here;
        isa::visit_effects(step, here);
        const isa::MemoryOrder order = isa::arrival_order(step);
        return here.found_ && step.form.get(isa::Field::space) == static_cast<int>(isa::Space::shared_cta) &&
               order.release && order.scope > isa::Scope::cta;
    }

    void mbarrier(const isa::MbarrierAccess& access) override {
        found_ |= access.kind == isa::MbarrierAccess::Kind::arrive;
    }

  private:
    bool found_ = false;
};

}  // namespace

std::vector<Diagnostic> performance(const Program& program) {
    Findings laws, remarks;
    for_each_step(program, [&](const Step& step) {
        if (is_emulated(step))
            remarks.add(rules::WG_PERF_08, step.where,
                        fmt::format("sm_90 has no {} of {}: the assembler converts its operands to f16 and "
                                    "multiplies those",
                                    step.op->name, isa::to_string(step.form.type(isa::Field::a))),
                        "wgmma, which has 8-bit floats; its A may be in registers");
    });
    for_each_step(program, [&](const Step& step) {
        if (Arrivals::release_too_far(step))
            remarks.add(rules::WG_PERF_10, step.where,
                        "this arrival releases to the cluster, and only threads of the CTA can wait for an "
                        "mbarrier of "
                        "its own: the assembler puts a fence of the whole GPU before it",
                        "`sem = \"release.cta\"` (in PTX .release.cta), the default");
    });
    const Outline outline(program);
    find_wasted_sectors(outline, remarks);
    Dataflow dataflow(outline, laws);
    dataflow.watch_speed(remarks);
    dataflow.run();
    return std::move(remarks).sorted(program.where().file);
}

}  // namespace wgrun::check
