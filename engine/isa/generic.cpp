// Conversions between the addresses of a state space and generic ones, and the local memory of a thread.
#include "isa/generic.hpp"

#include <algorithm>

#include "isa/families.hpp"
#include "isa/lanes.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;

template <class F>
void map_addresses(const Step& s, Machine& m, F f) {
    const Lanes<std::uint64_t> a = read<std::uint64_t>(m, s.operands[1]);
    Lanes<std::uint64_t> d;
    for (std::size_t l = 0; l < lanes; ++l) d[l] = f(a[l]);
    write_reg(m, s.operands[0].reg, d);
}

void run_cvta(const Step& s, Machine& m) {
    map_addresses(s, m, [&](std::uint64_t a) { return generic_of(space(s.form), a); });
}

void run_cvta_to(const Step& s, Machine& m) {
    map_addresses(s, m, [](std::uint64_t a) { return within_space(a); });
}

/// An address keeps its buffer: the bits above it are a matter of the machine.
Value value_of_address(const Step& s, const ValueOf& of) {
    Value out = of(s.operands[1]);
    out.constant.reset();
    out.thread_shift = -1;
    return out;
}

bool in_space(std::uint64_t address, Space space, Machine& m) {
    const Space found = space_of(address);
    if (space == Space::shared_cluster || space == Space::local || space == Space::global)
        return found == space;
    if (found != Space::shared_cluster) return false;
    const std::uint64_t window = window_of(address & UINT32_MAX);
    return window == 0 || window == m.special(Special::cluster_ctarank, 0) + 1;
}

void run_isspacep(const Step& s, Machine& m) {
    const Lanes<std::uint64_t> a = read<std::uint64_t>(m, s.operands[1]);
    Lanes<std::uint32_t> p;
    for (std::size_t l = 0; l < lanes; ++l) p[l] = in_space(a[l], space(s.form), m) ? 1 : 0;
    write_reg(m, s.operands[0].reg, p);
}

void run_local_address(const Step& s, Machine& m) {
    Lanes<std::uint64_t> d;
    d.fill(local_base + static_cast<std::uint64_t>(s.operands[1].imm));
    write_reg(m, s.operands[0].reg, d);
}

void run_param_address(const Step& s, Machine& m) {
    const auto write = [&]<class T>(T) {
        Lanes<T> d;
        d.fill(static_cast<T>(m.param_address(s.operands[1].index)));
        write_reg(m, s.operands[0].reg, d);
    };
    if (bits(s.form.type()) == 64)
        write(std::uint64_t{});
    else
        write(std::uint32_t{});
}

Choice shared_spaces_and(std::initializer_list<std::string_view> others) {
    Choice out = spelled_as(Field::space, others);
    const Choice shared = spelled_as(Field::space, {"shared", "shared::cta", "shared::cluster"});
    out.allowed.insert(out.allowed.begin(), shared.allowed.begin(), shared.allowed.end());
    return out;
}

}  // namespace

bool makes_generic_of_own(const Step& step) {
    return step.op->run == run_cvta && space(step.form) != Space::global;
}

std::optional<Space> own_space(const Step& step) {
    if (step.op->run == run_local_address) return Space::local;
    if (makes_generic_of_own(step)) return space(step.form) == Space::local ? Space::local : Space::shared;
    const bool of_buffer = std::ranges::any_of(
        step.operands, [](const Operand& operand) { return operand.kind == Operand::Kind::shared; });
    return of_buffer && step.op->effects == nullptr ? std::optional(Space::shared) : std::nullopt;
}

std::span<const Instruction> generic_family() {
    static const std::vector<Instruction> list{
        {.name = "cvta",
         .summary = "converts an address of a state space to a generic one",
         .section = "9.7.9.20",
         .rows = {{{shared_spaces_and({"global", "local"}), types({u64})}, {7, 8}}},
         .operands = {out("d"), in("a", typed<Field::type>, Rule::reg)},
         .ptx = "cvta{.space}{.type} {%d}, {%a}",
         .value = value_of_address,
         .run = run_cvta},
        {.name = "cvta.param.at",
         .summary = "converts an address in the parameter space to a generic one",
         .section = "9.7.9.20",
         .rows = {{{types({u64})}, {7, 8}}},
         .operands = {out("d"), in("a", typed<Field::type>, Rule::reg)},
         .ptx = "cvta.param{.type} {%d}, {%a}",
         .value = value_of_address,
         .run =
             [](const Step& s, Machine& m) {
                 map_addresses(s, m, [](std::uint64_t a) { return generic_of(Space::param, a); });
             }},
        {.name = "cvta.to",
         .summary = "converts a generic address to one of a state space",
         .section = "9.7.9.20",
         .rows = {{{shared_spaces_and({"local"}), types({u64})}, {7, 8}}},
         .operands = {out("d"), in("a", typed<Field::type>, Rule::reg)},
         .ptx = "cvta.to{.space}{.type} {%d}, {%a}",
         .value = value_of_address,
         .run = run_cvta_to},
        {.name = "isspacep",
         .summary = "p = whether a generic address points to a state space",
         .section = "9.7.9.19",
         .rows = {{{shared_spaces_and({"global", "local"})}, {7, 8}}},
         .operands = {out("p", fixed<pred>), in("a", fixed<u64>, Rule::reg)},
         .ptx = "isspacep{.space} {%p}, {%a}",
         .value = joined,
         .run = run_isspacep},
        {.name = "local.address",
         .summary = "the address, in the local space, of a byte of the thread's local memory",
         .section = "9.7.9.1",
         .rows = {{{types({u64})}, {7, 8}}, {{types({b64, s64})}, {7, 8}}},
         .operands = {out("d", fixed<u64>),
                      {"offset", Access::in, Rule::imm, fixed<u32>, nullptr, false, 0, Range{0, 1 << 19}}},
         .ptx = "mov{.type} {%d}, wgrun_local+{%offset}",
         .cuda = "asm(\"cvta.to.local.u64 %0, %1;\" : \"=l\"({%d}) : \"l\"((unsigned long long)wgrun_local + "
                 "{%offset}))",
         .value =
             [](const Step&, const ValueOf&) {
                 return Value{.uniform = Uniform::grid, .constant = {}, .offset = {}};
             },
         .run = run_local_address},
        {.name = "param.address",
         .summary = "the address of a parameter in the parameter space",
         .section = "9.7.9.1",
         .rows = {{{types({u64})}, {7, 8}}, {{types({b64, s64, u32, b32, s32})}, {7, 8}}},
         .operands = {out("d"), in("a", nullptr, Rule::param)},
         .ptx = "mov{.type} {%d}, {%a}",
         .value =
             [](const Step&, const ValueOf&) {
                 return Value{.uniform = Uniform::grid, .constant = {}, .offset = {}};
             },
         .run = run_param_address},
    };
    return list;
}

}  // namespace wgrun::isa
