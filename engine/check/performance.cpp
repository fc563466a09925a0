#include "check/performance.hpp"

#include <fmt/format.h>

#include <utility>

#include "check/sectors.hpp"
#include "check/walker.hpp"

namespace wgrun::check {

namespace {

/// Products of a warp whose operands are 8-bit floats. Those of wgmma have no work of a warp's.
bool is_emulated(const Step& step) {
    const isa::Type a = step.form.type(isa::Field::a);
    return step.op->work == isa::Work::products && isa::is_float(a) && isa::bits(a) == 8;
}

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
    const Outline outline(program);
    find_wasted_sectors(outline, remarks);
    Walker walker(outline, laws);
    walker.watch_speed(remarks);
    walker.run();
    return std::move(remarks).sorted(program.where().file);
}

}  // namespace wgrun::check
