// Communication between the lanes of a warp: shfl.sync, vote.sync, redux.sync, bar.warp.sync.
//
// None of them is .aligned: the lanes that a membermask names execute the instruction together, wherever
// the other lanes are, also if these execute it with a membermask of their own: each mask makes a party. The
// simulator runs the lanes of a warp in lockstep, so the lanes of a party must be at the same step.
#include <fmt/format.h>

#include <algorithm>

#include "isa/algebra.hpp"
#include "isa/combine.hpp"
#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/lanes.hpp"
#include "isa/membermask.hpp"
#include "rules/lane_words.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;

bool is_full(const Operand& membermask) {
    return membermask.kind == Operand::Kind::imm && static_cast<Mask>(membermask.imm) == ~Mask{0};
}

// --- shfl.sync -----------------------------------------------------------------------------------------

/// The value that a lane gets from one that takes no part: the ISA leaves it open.
constexpr std::uint32_t poison = 0xFFFFFFFF;

/// Where a lane reads (PTX ISA 9.7.9.6), and whether that is in its segment.
struct Source {
    int lane;
    bool in_range;
};

Source source_of(std::string_view mode, int lane, std::uint32_t b, std::uint32_t c) {
    const int by = static_cast<int>(b & 31), clamp = static_cast<int>(c & 31);
    const int segment = static_cast<int>(c >> 8 & 31);
    const int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
    const int j = mode == "up"     ? lane - by
                  : mode == "down" ? lane + by
                  : mode == "bfly" ? lane ^ by
                                   : least | (by & ~segment);
    const bool in_range = mode == "up" ? j >= most : j <= most;
    return {in_range ? j : lane, in_range};
}

void run_shfl(const Step& s, Machine& m) {
    const Lanes<Mask> party = parties(s, m);
    const Lanes<std::uint32_t> a = read<std::uint32_t>(m, s.operands[1]),
                               b = read<std::uint32_t>(m, s.operands[2]),
                               c = read<std::uint32_t>(m, s.operands[3]);
    const std::string mode = spelled(Field::op, s.form.get(Field::op));
    Lanes<std::uint32_t> d, p;
    for (std::size_t l = 0; l < lanes; ++l) {
        const auto [from, in_range] = source_of(mode, static_cast<int>(l), b[l], c[l]);
        if (in_range && party[l] != 0 && (party[l] >> from & 1U) == 0)
            throw ArgumentError(rules::finding(
                rules::cited(rules::source_takes_no_part(s.op->name, static_cast<int>(l), from, party[l]),
                             s.op->section),
                {}));
        d[l] = party[l] >> from & 1U ? a[static_cast<std::size_t>(from)] : poison;
        p[l] = in_range;
    }
    write_reg(m, s.operands[0].reg, d);
    if (const Operand& in_range = s.operand("p"); in_range.reg) write_reg(m, in_range.reg, p);
}

/// A value that is the same in the whole warp stays so; one lane's value, given to all lanes, becomes so.
Value value_shfl(const Step& s, const ValueOf& of) {
    if (s.operand("p").reg) return {};  // the value would be that of both results
    if (Value a = of(s.operands[1]); a.uniform >= Uniform::warp) return a;
    Value out;
    const auto clamp = plain(of(s.operands[3]));
    if (spelled(Field::op, s.form.get(Field::op)) == "idx" && clamp && (*clamp & 0x1F1F) == 31 &&
        of(s.operands[2]).uniform >= Uniform::warp && is_full(s.operand("membermask")))
        out.uniform = Uniform::warp;
    return out;
}

// --- vote.sync -----------------------------------------------------------------------------------------

void run_vote(const Step& s, Machine& m) {
    const Lanes<Mask> party = parties(s, m);
    const Lanes<std::uint32_t> a = read<std::uint32_t>(m, s.operands[1]);
    Mask all_votes = 0;
    for (int l = 0; l < lanes; ++l) all_votes |= (a[static_cast<std::size_t>(l)] & 1U) << l;
    const std::string mode = spelled(Field::op, s.form.get(Field::op));
    Lanes<std::uint32_t> d{};
    for (std::size_t l = 0; l < lanes; ++l) {
        const Mask votes = all_votes & party[l];
        d[l] = mode == "ballot" ? votes
               : mode == "any"  ? votes != 0
               : mode == "all"  ? votes == party[l]
                                : votes == 0 || votes == party[l];
    }
    write_reg(m, s.operands[0].reg, d);
}

/// All lanes that take part get the same result.
Value value_of_all(const Step& s, const ValueOf&) {
    Value out;
    if (is_full(s.operand("membermask"))) out.uniform = Uniform::warp;
    return out;
}

// --- match.sync, activemask ----------------------------------------------------------------------------

/// Returns, by lane, the lanes of its party that hold the same value.
template <class T>
Lanes<Mask> equal_lanes(const Lanes<T>& a, const Lanes<Mask>& party) {
    Lanes<Mask> out{};
    for (std::size_t l = 0; l < lanes; ++l)
        for_each_lane(party[l], [&](std::size_t other) { out[l] |= Mask{a[l] == a[other]} << other; });
    return out;
}
Lanes<Mask> equal_lanes(const Step& s, Machine& m, const Lanes<Mask>& party) {
    if (bits(s.form.type()) == 64) return equal_lanes(read<std::uint64_t>(m, s.operands[1]), party);
    return equal_lanes(read<std::uint32_t>(m, s.operands[1]), party);
}

void run_match_any(const Step& s, Machine& m) {
    write_reg(m, s.operands[0].reg, equal_lanes(s, m, parties(s, m)));
}

void run_match_all(const Step& s, Machine& m) {
    const Lanes<Mask> party = parties(s, m);
    Lanes<Mask> d = equal_lanes(s, m, party);
    Lanes<std::uint32_t> p;
    for (std::size_t l = 0; l < lanes; ++l) {
        p[l] = d[l] == party[l] ? 1 : 0;
        d[l] = p[l] != 0 ? party[l] : 0;
    }
    write_reg(m, s.operands[0].reg, d);
    if (const Operand& equal = s.operand("p"); equal.reg) write_reg(m, equal.reg, p);
}

void run_activemask(const Step& s, Machine& m) {
    Lanes<Mask> d;
    d.fill(m.active());
    write_reg(m, s.operands[0].reg, d);
}

/// Returns the record of match.any or match.all: ptxas takes no floats.
Instruction matching(std::string_view name, std::string_view summary, std::string_view ptx, bool all,
                     void (*run)(const Step&, Machine&)) {
    const auto bits_of = [](const Form& form) { return form.type() == b64 ? b64 : b32; };
    std::vector<OperandRule> operands{out("d", fixed<u32>), in("a", +bits_of, Rule::reg)};
    if (all) operands.push_back({"p", Access::out, Rule::reg, fixed<pred>, nullptr, true, {}, {}});
    operands.push_back(membermask(true));
    return {.name = name,
            .summary = summary,
            .section = "9.7.13.10",
            .rows = {{{types({b32, b64})}, {7, 8}}},
            .operands = std::move(operands),
            .ptx = ptx,
            .convergent = true,
            .value = [](const Step&, const ValueOf&) { return Value{}; },
            .run = run};
}

// --- redux.sync ----------------------------------------------------------------------------------------

/// Returns the type of the operands: ptxas takes no float registers for .b32 here.
Type redux_type(const Form& form) { return form.type() == b32 ? u32 : form.type(); }

void run_redux(const Step& s, Machine& m) {
    const Lanes<std::uint32_t> a = read<std::uint32_t>(m, s.operands[1]);
    const auto operation = static_cast<BulkCopy::Reduction>(s.form.get(Field::op));
    Lanes<std::uint32_t> d{};
    for_each_party(parties(s, m), m.active(), [&](Mask party) {
        std::optional<std::uint32_t> result;
        for_each_lane(party, [&](std::size_t l) {
            result =
                !result
                    ? a[l]
                    : static_cast<std::uint32_t>(combined(operation, s.form.type(), false, *result, a[l]));
        });
        for_each_lane(party, [&](std::size_t l) { d[l] = *result; });
    });
    write_reg(m, s.operands[0].reg, d);
}

/// Of one lane, in segments of 32.
Term meaning_of_shfl(const Step& s, Algebra& in) {
    const Operand &lane = s.operands[2], &segments = s.operands[3];
    const bool one = spelled(Field::op, s.form.get(Field::op)) == "idx" && lane.kind == Operand::Kind::imm &&
                     segments.kind == Operand::Kind::imm && segments.imm == lanes - 1 && lane.imm >= 0 &&
                     lane.imm < lanes;
    return one ? in.in_lane(s.operands[1], static_cast<int>(lane.imm)) : Term::unknown;
}

}  // namespace

std::span<const Instruction> warp_family() {
    static const std::vector<Instruction> list{
        {.name = "shfl.sync",
         .summary =
             "reads a register of another lane, which b names (idx) or says how far off it is; c: 0x1f, or "
             "for up 0, where the whole warp is one segment, and else its mask in bits 8 to 12, too; p: "
             "whether that lane is in range",
         .section = "9.7.9.6",
         .rows = {{{spelled_as(Field::op, {"up", "down", "bfly", "idx"}), types({b32})}, {7, 8}}},
         .operands = {out("d"),
                      in("a", typed<Field::type>, Rule::reg),
                      in("b", fixed<u32>),
                      in("c", fixed<u32>),
                      {"p", Access::out, Rule::reg, fixed<pred>, nullptr, true, {}, {}},
                      membermask(true)},
         .ptx = "shfl.sync{.op}{.type} {%d}{|%p}, {%a}, {%b}, {%c}, {%membermask}",
         .convergent = true,
         .work = Work::exchange,
         .value = value_shfl,
         .shape = [](const Form&) { return Shape::lanes; },
         .meaning = meaning_of_shfl,
         .run = run_shfl},
        {.name = "vote.sync",
         .summary =
             "a vote over lanes: whether a predicate holds in all, in any, equally in all, or a bit per lane",
         .section = "9.7.13.9",
         .rows = {{{spelled_as(Field::op, {"all", "any", "uni"}), types({pred})}, {7, 8}},
                  {{spelled_as(Field::op, {"ballot"}), types({b32})}, {7, 8}}},
         .operands = {out("d"), in("a", fixed<pred>, Rule::reg), membermask(true)},
         .ptx = "vote.sync{.op}{.type} {%d}, {%a}, {%membermask}",
         .convergent = true,
         .work = Work::logic,
         .value = value_of_all,
         .run = run_vote},
        matching("match.any.sync", "the lanes that hold the same value as this one",
                 "match.any.sync{.type} {%d}, {%a}, {%membermask}", false, run_match_any),
        matching("match.all.sync", "the mask if all lanes hold the same value, else 0; p: whether they do",
                 "match.all.sync{.type} {%d}{|%p}, {%a}, {%membermask}", true, run_match_all),
        {.name = "activemask",
         .summary = "the lanes of the warp that execute it now",
         .section = "9.7.13.11",
         .rows = {{{types({b32})}, {7, 8}}},
         .operands = {out("d", fixed<u32>)},
         .ptx = "activemask{.type} {%d}",
         .convergent = true,
         .effects = [](const Step&, Effects& e) { e.pause(); },
         .value = [](const Step&, const ValueOf&) { return Value{}; },
         .run = run_activemask},
        {.name = "redux.sync",
         .summary =
             "the sum, the least, the greatest or the bits of all lanes' values together, for each of them",
         .section = "9.7.13.12",
         .rows = {{{reductions({"add", "min", "max"}), types({u32, s32})}, {7, 8}},
                  {{reductions({"and", "or", "xor"}), types({b32})}, {7, 8}}},
         .operands = {out("d", redux_type), in("a", redux_type, Rule::reg), membermask(true)},
         .ptx = "redux.sync{.op}{.type} {%d}, {%a}, {%membermask}",
         .convergent = true,
         .value = value_of_all,
         .run = run_redux},
        {.name = "bar.warp.sync",
         .summary = "waits for lanes of the warp, and orders their memory accesses",
         .section = "9.7.13.2",
         .rows = {{{}, {7, 8}}},
         .operands = {membermask(false)},
         .ptx = "bar.warp.sync {%membermask}",
         .awaits = Awaits::lanes,
         .effects = [](const Step&, Effects& e) { e.converge(); },
         .run =
             [](const Step& s, Machine& m) {
                 for_each_party(parties(s, m), m.active(), [&](Mask party) { m.converge(party); });
             }},
    };
    return list;
}

}  // namespace wgrun::isa
