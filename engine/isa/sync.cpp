// CTA barriers and fences.
#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/lanes.hpp"
#include "isa/order.hpp"
#include "wgrun/target.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;

std::optional<Space> fenced_space(const Form& form) {
    if (!form.has(Field::space)) return std::nullopt;
    return static_cast<Space>(form.get(Field::space));
}

std::uint32_t first_lane(Machine& m, const Operand& operand) {
    const Mask active = m.active();
    return read<std::uint32_t>(m, operand)[active ? static_cast<std::size_t>(std::countr_zero(active)) : 0];
}

/// Returns the records, which are made at the first call.
const std::vector<Instruction>& records() {
    static const std::vector<Instruction> list{
        {.name = "bar.sync",
         .summary = "waits at a barrier of the CTA; threads = 0: all threads of the CTA",
         .section = "9.7.13.1",
         .rows = {{{}, {7, 8}}},
         .operands = {{"barrier", Access::in, Rule::reg | Rule::imm, fixed<u32>, nullptr, false, 0,
                       Range{0, sm_90a.barriers - 1}},
                      {"threads", Access::in, Rule::reg | Rule::imm, fixed<u32>, nullptr, true, 0,
                       Range{0, sm_90a.cta_threads, sm_90a.lanes}}},
         .ptx = "bar.sync {%barrier}{,%threads}",
         .taken_by = Participants::cta,
         .awaits = Awaits::barrier,
         .effects = [](const Step& s, Effects& e) { e.barrier(s.operands[0], s.operands[1]); },
         .run = [](const Step& s,
                   Machine& m) { m.barrier(first_lane(m, s.operands[0]), first_lane(m, s.operands[1])); }},
        {.name = "bar.arrive",
         .summary = "arrives at a barrier of the CTA without waiting; `threads` counts all participants",
         .section = "9.7.13.1",
         .rows = {{{}, {7, 8}}},
         .operands = {{"barrier",
                       Access::in,
                       Rule::reg | Rule::imm,
                       fixed<u32>,
                       nullptr,
                       false,
                       {},
                       Range{0, sm_90a.barriers - 1}},
                      {"threads",
                       Access::in,
                       Rule::reg | Rule::imm,
                       fixed<u32>,
                       nullptr,
                       true,
                       {},
                       Range{sm_90a.lanes, sm_90a.cta_threads, sm_90a.lanes}}},
         .ptx = "bar.arrive {%barrier}, {%threads}",
         .taken_by = Participants::warp,
         .effects = [](const Step& s, Effects& e) { e.arrive(s.operands[0], s.operands[1]); },
         .run =
             [](const Step& s, Machine& m) {
                 m.barrier_arrive(first_lane(m, s.operands[0]), first_lane(m, s.operands[1]));
             }},
        {.name = "fence",
         .summary =
             "orders what the thread does with memory before and after it, for the threads of the scope",
         .section = "9.7.13.4",
         .rows = {{{in_all_scopes({"sc", "acq_rel"})}, {7, 8}},
                  {{in_all_scopes({"acquire", "release"})}, {8, 6}}},
         .operands = {},
         .ptx = "fence{.sem}",
         .effects =
             [](const Step& s, Effects& e) {
                 e.fence();
                 if (order_of(s).acquire) e.await_arrivals();
             },
         .run = [](const Step& s, Machine& m) { m.fence(order_of(s)); }},
        {.name = "fence.proxy.async",
         .summary =
             "orders accesses of the generic and the async proxy; without a space, in all state spaces",
         .section = "9.7.13.4",
         .rows = {{{}, {8, 0}},
                  {{spelled_as(Field::space, {"global", "shared::cta", "shared::cluster"})}, {8, 0}}},
         .operands = {},
         .ptx = "fence.proxy.async{.space}",
         .effects = [](const Step& s, Effects& e) { e.proxy_fence(fenced_space(s.form)); },
         .run = [](const Step& s, Machine& m) { m.proxy_fence(fenced_space(s.form)); }},
    };
    return list;
}

}  // namespace

std::span<const Instruction> sync_family() { return records(); }

}  // namespace wgrun::isa
