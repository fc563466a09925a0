#include "check/check.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "check/changed_maps.hpp"
#include "check/dataflow.hpp"
#include "check/endless.hpp"
#include "check/grids.hpp"
#include "check/own_maps.hpp"
#include "check/sizes.hpp"
#include "isa/opaque.hpp"
#include "wgrun/inline_ptx.hpp"

namespace wgrun::check {

std::vector<Diagnostic> check(const Program& program, Made made) {
    Findings findings;
    const Outline outline(program);
    Dataflow dataflow(outline, findings, made);
    dataflow.run();
    std::vector<bool> stored = dataflow.stored();
    for_each_step(program, [&](const Step& step) {
        if (isa::may_store(*step.op)) stored.assign(stored.size(), true);
        const isa::InlinePtx* text = isa::inline_ptx_of(*step.op);
        if (text == nullptr) return;
        if (!text->declared || text->writes) stored.assign(stored.size(), true);
        if (const std::string hidden = isa::hidden_effect(*text); !hidden.empty())
            findings.add(rules::WG_ASM_02, step.where,
                         fmt::format("inline PTX is declared to have no effects, and executes {}", hidden),
                         "effects = \"reads\", \"writes\" or \"barrier\"");
        if (!text->declared)
            findings.add(rules::WG_ASM_01, step.where,
                         "inline PTX declares no effects: whether it touches memory or synchronises threads "
                         "is not known, "
                         "and what follows from that is not checked",
                         "effects = \"none\", or some of { \"reads\", \"writes\", \"barrier\" }");
    });
    for (Diagnostic& endless : endless_loops(outline)) findings.add(std::move(endless));
    for (Diagnostic& early : before_grids(program, made)) findings.add(std::move(early));
    for (Diagnostic& unfenced : through_changed_maps(program)) findings.add(std::move(unfenced));
    for (Diagnostic& misplaced : through_own_maps(program)) findings.add(std::move(misplaced));
    // Where threads diverge that must run together, further findings are consequences.
    const bool together = !findings.has(rules::WG_SYNC_01) && !findings.has(rules::WG_SYNC_03) &&
                          !findings.has(rules::WG_SYNC_08);
    const bool decided = together && execute_abstractly(outline, stored, findings);
    if (!decided) dataflow.barriers_met();
    return std::move(findings).sorted(program.where().file);
}

}  // namespace wgrun::check
