// CTAs of a cluster, and agreements of warps: elections, register pools, dependent grids.
#include "isa/algebra.hpp"
#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/generic.hpp"
#include "isa/lanes.hpp"
#include "isa/membermask.hpp"
#include "wgrun/target.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;

/// Whole warps take part, and the text says so (.aligned).
Choice whole_warps() { return among(Field::aligned, {1}, 1); }

/// Returns whether a setmaxnreg increases.
bool increases(const Step& s) { return spelled(Field::op, s.form.get(Field::op)) == "inc"; }

void run_mapa(const Step& s, Machine& m) {
    const auto rank = read<std::uint32_t>(m, s.operands[2]);
    const auto map = [&]<class T>(T) {
        const Lanes<T> address = read<T>(m, s.operands[1]);
        Lanes<T> d{};
        for_each_lane(m.active(), [&](std::size_t l) {
            const std::uint32_t there = m.map_shared(static_cast<std::uint32_t>(address[l]), rank[l]);
            d[l] = s.form.has(Field::space) ? T{there}
                                            : static_cast<T>(generic_of(Space::shared_cluster, there));
        });
        write_reg(m, s.operands[0].reg, d);
    };
    if (s.form.type() == u64)
        map(std::uint64_t{});
    else
        map(std::uint32_t{});
}

void run_getctarank(const Step& s, Machine& m) {
    const auto own = static_cast<std::uint32_t>(m.special(Special::cluster_ctarank, 0));
    Lanes<std::uint32_t> d{};
    const auto rank_of = [&](auto address) {
        for (std::size_t l = 0; l < lanes; ++l) {
            const std::uint64_t window = window_of(address[l] & UINT32_MAX);
            d[l] = window == 0 ? own : static_cast<std::uint32_t>(window - 1);
        }
    };
    if (s.form.type() == u64)
        rank_of(read<std::uint64_t>(m, s.operands[1]));
    else
        rank_of(read<std::uint32_t>(m, s.operands[1]));
    write_reg(m, s.operands[0].reg, d);
}

}  // namespace

std::span<const Instruction> cluster_family() {
    static const std::vector<Instruction> list{
        // These come first, so that a text without .aligned is read as one of them.
        {.name = "barrier.cluster.arrive.unaligned",
         .summary = "as barrier.cluster.arrive, also where the lanes of a warp have diverged",
         .section = "9.7.13.3",
         .rows = {{{}, {7, 8}}, {{spelled_as(Field::sem, {"release", "relaxed"})}, {8, 0}}},
         .ptx = "barrier.cluster.arrive{.sem}",
         .of_cluster = true,
         .effects = [](const Step&, Effects& e) { e.cluster_arrive(); },
         .run = [](const Step&, Machine& m) { m.cluster_arrive(); }},
        {.name = "barrier.cluster.wait.unaligned",
         .summary = "as barrier.cluster.wait, also where the lanes of a warp have diverged",
         .section = "9.7.13.3",
         .rows = {{{}, {7, 8}}},
         .ptx = "barrier.cluster.wait",
         .of_cluster = true,
         .awaits = Awaits::cluster,
         .effects = [](const Step&, Effects& e) { e.cluster_wait(), e.await_arrivals(); },
         .run = [](const Step&, Machine& m) { m.cluster_wait(); }},
        {.name = "barrier.cluster.arrive",
         .summary = "arrives at the barrier of the cluster without waiting",
         .section = "9.7.13.3",
         .rows = {{{whole_warps()}, {7, 8}},
                  {{spelled_as(Field::sem, {"release", "relaxed"}), whole_warps()}, {8, 0}}},
         .ptx = "barrier.cluster.arrive{.sem}{.aligned}",
         .taken_by = Participants::warp,
         .without_ended = true,
         .of_cluster = true,
         .effects = [](const Step&, Effects& e) { e.cluster_arrive(); },
         .run = [](const Step&, Machine& m) { m.cluster_arrive(); }},
        {.name = "barrier.cluster.wait",
         .summary = "waits until all threads of the cluster have arrived at its barrier",
         .section = "9.7.13.3",
         .rows = {{{whole_warps()}, {7, 8}}},
         .ptx = "barrier.cluster.wait{.aligned}",
         .taken_by = Participants::warp,
         .without_ended = true,
         .of_cluster = true,
         .awaits = Awaits::cluster,
         .effects = [](const Step&, Effects& e) { e.cluster_wait(), e.await_arrivals(); },
         .run = [](const Step&, Machine& m) { m.cluster_wait(); }},
        {.name = "mapa",
         .summary = "the address in the CTA of rank b that corresponds to a in this CTA; without a space of "
                    "generic addresses",
         .section = "9.7.9.23",
         .rows = {{{spelled_as(Field::space, {"shared::cluster"}), types({u32})}, {7, 8}},
                  {{optional(spelled_as(Field::space, {"shared::cluster"})), types({u64})}, {7, 8}}},
         .operands = {out("d"),
                      in("a", typed<Field::type>, Rule::reg),
                      {"b",
                       Access::in,
                       Rule::reg | Rule::imm,
                       fixed<u32>,
                       nullptr,
                       false,
                       {},
                       Range{0, sm_90a.cluster - 1}}},
         .ptx = "mapa{.space}{.type} {%d}, {%a}, {%b}",
         .of_cluster = true,
         .run = run_mapa},
        {.name = "getctarank",
         .summary = "the rank of the CTA in whose shared memory an address is; without a space of a generic "
                    "address",
         .section = "9.7.9.24",
         .rows = {{{spelled_as(Field::space, {"shared::cluster"}), types({u32})}, {7, 8}},
                  {{optional(spelled_as(Field::space, {"shared::cluster"})), types({u64})}, {7, 8}}},
         .operands = {out("d", fixed<u32>), in("a", typed<Field::type>, Rule::reg)},
         .ptx = "getctarank{.space}{.type} {%d}, {%a}",
         .run = run_getctarank},
        {.name = "elect.sync",
         .summary = "elects one lane of the mask: p is true in that lane; leader: its number",
         .section = "9.7.13.14",
         .rows = {{{}, {8, 0}}},
         .operands = {{"p", Access::out, Rule::reg, fixed<pred>, nullptr, false, {}, {}},
                      membermask(false),
                      {"leader", Access::out, Rule::reg, fixed<u32>, nullptr, true, {}, {}}},
         .ptx = "elect.sync {%leader}|{%p}, {%membermask}",
         .convergent = true,
         .value = [](const Step&, const ValueOf&) { return Value{}; },
         .meaning =
             [](const Step& s, Algebra& in) {
                 const Operand& members = s.operand("membermask");
                 const bool all = members.kind == Operand::Kind::imm &&
                                  static_cast<std::uint32_t>(members.imm) == ~std::uint32_t{0};
                 return all ? in.elected() : Term::unknown;
             },
         .run =
             [](const Step& s, Machine& m) {
                 Lanes<std::uint32_t> d{}, leader{};
                 for_each_party(parties(s, m), m.active(), [&](Mask party) {
                     const int first = std::countr_zero(party);
                     d[static_cast<std::size_t>(first)] = 1;
                     for_each_lane(party,
                                   [&](std::size_t l) { leader[l] = static_cast<std::uint32_t>(first); });
                 });
                 write_reg(m, s.operands[0].reg, d);
                 if (const Operand& number = s.operands[2]; number.reg) write_reg(m, number.reg, leader);
             }},
        {.name = "setmaxnreg",
         .summary = "releases registers of the warpgroup (dec), or waits until it has more (inc)",
         .section = "9.7.19.5",
         .rows = {{{spelled_as(Field::op, {"inc", "dec"})}, {8, 0}, only_hopper}},
         .operands = {{"n",
                       Access::in,
                       Rule::imm,
                       fixed<u32>,
                       nullptr,
                       false,
                       {},
                       Range{sm_90a.least_setmaxnreg, sm_90a.most_setmaxnreg, sm_90a.register_unit}}},
         .ptx = "setmaxnreg{.op}.sync.aligned.u32 {%n}",
         .taken_by = Participants::warpgroup,
         .awaits = Awaits::registers,
         .effects = [](const Step& s,
                       Effects& e) { e.set_registers(static_cast<int>(s.operands[0].imm), increases(s)); },
         .run = [](const Step& s,
                   Machine& m) { m.set_registers(static_cast<int>(s.operands[0].imm), increases(s)); }},
        {.name = "griddepcontrol.launch_dependents",
         .summary = "lets the grids that depend on this one start",
         .section = "9.7.13.13",
         .rows = {{{}, {7, 8}}},
         .ptx = "griddepcontrol.launch_dependents",
         .effects = [](const Step&, Effects& e) { e.launch_dependents(); },
         .run = [](const Step&, Machine& m) { m.launch_dependents(); }},
        {.name = "griddepcontrol.wait",
         .summary = "waits until the grids that this one depends on have ended, and sees their memory",
         .section = "9.7.13.13",
         .rows = {{{}, {7, 8}}},
         .ptx = "griddepcontrol.wait",
         .awaits = Awaits::grids,
         .effects = [](const Step&, Effects& e) { e.wait_for_grids(); },
         .run = [](const Step&, Machine& m) { m.wait_for_grids(); }},
    };
    return list;
}

}  // namespace wgrun::isa
