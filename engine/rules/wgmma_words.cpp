#include "rules/wgmma_words.hpp"

#include <fmt/format.h>

#include "rules/phrases.hpp"

namespace wgrun::rules {
namespace {

Fix fence_before(Where mma) { return std::vector<Remedy>{{insert_before(mma, {wgmma_fence()})}}; }

}  // namespace

std::string_view name_of(MmaOperand part) {
    switch (part) {
        case MmaOperand::accumulator: return "an accumulator";
        case MmaOperand::fragment: return "a register of the A fragment";
        default: return "the metadata register";
    }
}

RuleMessage no_fence_at_all(Where mma) {
    return {WG_FENCE_01, "no wgmma.fence comes before the first wgmma", fence_before(mma)};
}

RuleMessage no_fence_since_access(MmaOperand part, Where mma) {
    return {WG_FENCE_01,
            fmt::format("{} is accessed by a thread, and no wgmma.fence comes between that and this wgmma",
                        name_of(part)),
            fence_before(mma)};
}

std::string_view kept_before_fence() {
    return "accessed here: a compiler moves this behind a wgmma.fence, unless asm volatile(\"\" : "
           "\"+f\"(d[i]) :: "
           "\"memory\") for each accumulator comes before the fence; instead of zeros, the first wgmma may "
           "have "
           "scale-d 0";
}

RuleMessage no_fence_between(MmaOperand part, Where mma) {
    return {
        WG_FENCE_01,
        fmt::format("{} of this wgmma was an accumulator of a wgmma of another {}, and no wgmma.fence comes "
                    "between them",
                    name_of(part), part == MmaOperand::accumulator ? "shape" : "kind"),
        fence_before(mma)};
}

RuleMessage accessed_in_flight(MmaOperand part, std::string_view access, Where issued, Where here,
                               std::optional<int> younger) {
    std::vector<Remedy> remedies;
    if (!younger)
        remedies = {
            {insert_after(issued, {wgmma_commit_group()}), insert_before(here, {wgmma_wait_group(0)})},
            {insert_before(here, {wgmma_wait_group(0)})}};
    else if (*younger < 0)
        remedies = {{insert_before(here, {wgmma_commit_group(), wgmma_wait_group(0)})}};
    else
        remedies = {{insert_before(here, {wgmma_wait_group(*younger)})}};
    return {WG_GROUP_01,
            fmt::format("{} of a wgmma is {} while the wgmma may still run", name_of(part), access),
            std::move(remedies)};
}

RuleMessage never_committed(Where issued, bool at_end) {
    std::vector<Phrase> calls{wgmma_commit_group()};
    if (at_end) calls.push_back(wgmma_wait_group(0));
    return {WG_GROUP_02, "the wgmma is never committed to a wgmma-group, so no wait_group covers it",
            std::vector<Remedy>{{insert_after(issued, std::move(calls))}}};
}

RuleMessage group_at_end(const std::string& who, Where committed, Where end) {
    return {WG_GROUP_05,
            fmt::format("{} ends, and no wgmma.wait_group has waited for this wgmma-group", who),
            {"the warpgroup has to wait for it (wgmma.wait_group 0) before the kernel ends",
             {{insert_after(end, {wgmma_wait_group(0)})}, {insert_after(committed, {wgmma_wait_group(0)})}}}};
}

Fix proxy_fence_between(Where access, Where here) {
    return {fmt::format("a fence.proxy.async by the threads that access it, {}, before the barrier or the "
                        "arrival that is waited for {}",
                        after(access, here), before(here)),
            {{insert_after(access, {fence_proxy_async()})},
             {insert_after(access, {fence_proxy_async(), bar_sync()})},
             {insert_before(here, {fence_proxy_async()})},
             {insert_before(here, {fence_proxy_async(), bar_sync()})}}};
}

std::string write_before(Where here, bool accumulator) {
    if (!accumulator) return fmt::format("write it {}", before(here));
    return fmt::format(
        "scale_d = 0 (in PTX scale-d false) in the first wgmma of a sum, which then does not read "
        "its accumulators; or zeros in them {}",
        before(here));
}

std::vector<Remedy> barriers_between(Where access, Where here, std::vector<Phrase> calls) {
    return {{insert_after(access, calls)},
            {insert_before(here, calls)},
            {insert_after(access, calls), insert_after(here, {bar_sync()})},
            {insert_before(here, calls), insert_after(here, {bar_sync()})}};
}

Fix barrier_between(Where access, Where here, std::string_view other, std::string_view who) {
    return {fmt::format("{} has to wait for {}: by a barrier that both reach and no other role uses, or by "
                        "an mbarrier, {}",
                        who, other, between(access, here)),
            barriers_between(access, here, {bar_sync()})};
}

}  // namespace wgrun::rules
