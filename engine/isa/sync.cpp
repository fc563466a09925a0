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

OperandRule barrier_number(std::optional<std::int64_t> fallback) {
    return {"barrier", Access::in, Rule::reg | Rule::imm,        fixed<u32>, nullptr,
            false,     fallback,   Range{0, sm_90a.barriers - 1}};
}
/// least: of threads; where it is 0, that is the default and stands for all of the CTA.
OperandRule thread_count(int least) {
    return {"threads",
            Access::in,
            Rule::reg | Rule::imm,
            fixed<u32>,
            nullptr,
            true,
            least == 0 ? std::optional<std::int64_t>(0) : std::nullopt,
            Range{least, sm_90a.cta_threads, sm_90a.lanes}};
}

Type vote_type(const Form& form) { return form.type(); }

/// A reduction over the predicates of the threads that wait: operands d, barrier, c, threads.
void run_barrier_vote(const Step& s, Machine& m) {
    const Lanes<std::uint32_t> c = read<std::uint32_t>(m, s.operands[2]);
    Mask votes = 0;
    for (std::size_t l = 0; l < lanes; ++l) votes |= (c[l] & 1U) << l;
    const std::string how = spelled(Field::op, s.form.get(Field::op));
    m.barrier_vote(first_lane(m, s.operands[1]), first_lane(m, s.operands[3]),
                   how == "popc"  ? Vote::count
                   : how == "and" ? Vote::all
                                  : Vote::any,
                   votes, s.operands[0].reg);
}

Instruction vote(std::string_view name, std::string_view summary, std::string_view ptx,
                 Participants taken_by) {
    return {
        .name = name,
        .summary = summary,
        .section = "9.7.13.1",
        .rows = {{{spelled_as(Field::op, {"popc"}), types({u32})}, {7, 8}},
                 {{spelled_as(Field::op, {"and", "or"}), types({pred})}, {7, 8}}},
        .operands = {out("d", vote_type), barrier_number({}), in("c", fixed<pred>, Rule::reg),
                     thread_count(0)},
        .ptx = ptx,
        .taken_by = taken_by,
        .without_ended = true,
        .awaits = Awaits::barrier,
        .effects = [](const Step& s, Effects& e) { e.barrier(s.operands[1], s.operands[3]); },
        .value = [](const Step&,
                    const ValueOf&) { return Value{.uniform = Uniform::warp, .constant = {}, .offset = {}}; },
        .run = run_barrier_vote};
}

/// A step that orders descriptors of tensors, and of which nothing is seen on the simulator.
void run_fence(const Step& s, Machine& m) { m.fence(order_of(s)); }

}  // namespace

std::span<const Instruction> sync_family() {
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
         .without_ended = true,
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
         .without_ended = true,
         .effects = [](const Step& s, Effects& e) { e.arrive(s.operands[0], s.operands[1]); },
         .run =
             [](const Step& s, Machine& m) {
                 m.barrier_arrive(first_lane(m, s.operands[0]), first_lane(m, s.operands[1]));
             }},
        vote("bar.red", "waits as bar.sync, and counts or combines the predicates of all threads that wait",
             "bar.red{.op}{.type} {%d}, {%barrier}{,%threads}, {%c}", Participants::cta),
        {.name = "barrier.sync",
         .summary = "as bar.sync, also where the lanes of a warp have diverged",
         .section = "9.7.13.1",
         .rows = {{{}, {7, 8}}},
         .operands = {barrier_number(0), thread_count(0)},
         .ptx = "barrier.sync {%barrier}{,%threads}",
         .awaits = Awaits::barrier,
         .effects = [](const Step& s, Effects& e) { e.barrier(s.operands[0], s.operands[1]); },
         .run = [](const Step& s,
                   Machine& m) { m.barrier(first_lane(m, s.operands[0]), first_lane(m, s.operands[1])); }},
        {.name = "barrier.arrive",
         .summary = "as bar.arrive, also where the lanes of a warp have diverged",
         .section = "9.7.13.1",
         .rows = {{{}, {7, 8}}},
         .operands = {barrier_number({}), thread_count(sm_90a.lanes)},
         .ptx = "barrier.arrive {%barrier}, {%threads}",
         .effects = [](const Step& s, Effects& e) { e.arrive(s.operands[0], s.operands[1]); },
         .run =
             [](const Step& s, Machine& m) {
                 m.barrier_arrive(first_lane(m, s.operands[0]), first_lane(m, s.operands[1]));
             }},
        vote("barrier.red", "as bar.red, also where the lanes of a warp have diverged",
             "barrier.red{.op}{.type} {%d}, {%barrier}{,%threads}, {%c}", Participants::thread),
        {.name = "nanosleep",
         .summary = "suspends the thread for a time between 0 and twice so many nanoseconds",
         .section = "9.7.19.2",
         .rows = {{{types({u32})}, {7, 8}}},
         .operands = {{"time", Access::in, Rule::reg | Rule::imm, fixed<u32>, nullptr, false, {}, {}}},
         .ptx = "nanosleep{.type} {%time}",
         .effects = [](const Step&, Effects& e) { e.pause(); },
         .run = [](const Step&, Machine&) {}},
        {.name = "pmevent",
         .summary = "counts an event of a profiler; the simulator passes it",
         .section = "9.7.19.3",
         .rows = {{{}, {7, 8}}},
         .operands = {{"event", Access::in, Rule::imm, fixed<u32>, nullptr, false, {}, Range{0, 15}}},
         .ptx = "pmevent {%event}",
         .effects = [](const Step&, Effects& e) { e.pause(); },
         .run = [](const Step&, Machine&) {}},
        {.name = "pmevent.mask",
         .summary = "counts events of a profiler, those of the bits; the simulator passes it",
         .section = "9.7.19.3",
         .rows = {{{}, {7, 8}}},
         .operands = {{"events", Access::in, Rule::imm, fixed<u32>, nullptr, false, {}, Range{0, 0xFFFF}}},
         .ptx = "pmevent.mask {%events}",
         .effects = [](const Step&, Effects& e) { e.pause(); },
         .run = [](const Step&, Machine&) {}},
        {.name = "brkpt",
         .summary = "a breakpoint of the hardware; the simulator passes it",
         .section = "9.7.19.1",
         .rows = {{{}, {7, 8}}},
         .ptx = "brkpt",
         .effects = [](const Step&, Effects& e) { e.pause(); },
         .run = [](const Step&, Machine&) {}},
        {.name = "trap",
         .summary = "ends the launch with an error",
         .section = "9.7.19.4",
         .rows = {{{}, {7, 8}}},
         .ptx = "trap",
         .effects = [](const Step&, Effects& e) { e.trap(); },
         .run = [](const Step&, Machine& m) { m.trap(); }},
        {.name = "fence.proxy.alias",
         .summary = "orders accesses to the same memory by different virtual addresses",
         .section = "9.7.13.4",
         .rows = {{{}, {7, 8}}},
         .ptx = "fence.proxy.alias",
         .effects = [](const Step&, Effects& e) { e.fence(); },
         .run = run_fence},
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

}  // namespace wgrun::isa
