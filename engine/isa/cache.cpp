// Instructions for the caches: prefetch, and the policies that .L2::cache_hint names.
#include <fmt/format.h>

#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/lanes.hpp"
#include "isa/registers.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;

[[noreturn]] void refuse(std::string message, std::string_view section) {
    ArgumentError error = rules::refusal(rules::WG_FORM_02, std::move(message));
    error.finding().section = section;
    throw error;
}

constexpr std::string_view createpolicy = "9.7.9.18";

void check_fraction(std::span<const Operand> operands, Form&) {
    const Operand& fraction = operands[1];
    if (fraction.kind == Operand::Kind::number && !(fraction.real > 0 && fraction.real <= 1))
        refuse(
            fmt::format("createpolicy.fractional, operand fraction: {} is out of range (legal: above 0, and "
                        "at most 1)",
                        fraction.real),
            createpolicy);
}

void check_sizes(std::span<const Operand> operands, Form&) {
    const Operand &primary = operands[2], &total = operands[3];
    if (primary.kind == Operand::Kind::number && total.kind == Operand::Kind::number &&
        primary.real > total.real)
        refuse(fmt::format("createpolicy.range, operand primary: {} is more than the total of {} bytes",
                           primary.real, total.real),
               createpolicy);
}

/// A policy is opaque, and the simulator has no caches. These are the values that an H200 returns for all
/// accesses.
void run_policy(const Step& s, Machine& m) {
    Mask known = 0;
    for_each_read(s, [&](Reg reg) { m.read_some(reg, known); });
    const std::string level = spelled(Field::level, s.form.get(Field::level));
    Lanes<std::uint64_t> d;
    d.fill(level == "L2::evict_last"     ? 0x14F0000000000000
           : level == "L2::evict_first"  ? 0x12F0000000000000
           : level == "L2::evict_normal" ? 0x16F0000000000000
                                         : 0x10F0000000000000);
    write_reg(m, s.operands[0].reg, d);
}

/// Converts an access property as CUDA makes it, which is opaque too.
void run_convert(const Step& s, Machine& m) {
    write_reg(m, s.operands[0].reg, read<std::uint64_t>(m, s.operands[1]));
}

/// The value is the same in all threads; its bits are up to the hardware.
Value value_policy(const Step&, const ValueOf&) {
    return Value{.uniform = Uniform::grid, .constant = {}, .offset = {}};
}

Choice primary() {
    return spelled_as(Field::level,
                      {"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"});
}
Choice secondary() {
    return optional(spelled_as(Field::secondary, {"L2::evict_first", "L2::evict_unchanged"}));
}

OperandRule bytes(std::string_view name) {
    return {name, Access::in, Rule::reg | Rule::imm, fixed<u32>, nullptr, false, {}, Range{1, INT32_MAX}};
}

constexpr std::int64_t every_access = 0x3F800000;  // 1.0

constexpr int line_bytes = 128;  ///< of the L2 cache

OperandRule line() {
    return {"bytes", Access::in, Rule::imm,  fixed<u32>,
            nullptr, true,       line_bytes, Range{line_bytes, line_bytes}};
}

}  // namespace

std::span<const Instruction> cache_family() {
    static const std::vector<Instruction> list{
        {.name = "prefetch",
         .summary = "prefetches the cache line of an address into a cache level",
         .section = "9.7.9.15",
         .rows = {{{spelled_as(Field::space, {"global"}, "global"),
                    spelled_as(Field::level, {"L1", "L2", "L2::evict_last", "L2::evict_normal"})},
                   {7, 8}},
                  {{spelled_as(Field::space, {"local"}), spelled_as(Field::level, {"L1", "L2"})}, {7, 8}}},
         .operands = {wide_address("a")},
         .ptx = "prefetch{.space}{.level} [{%a}]",
         .effects = [](const Step&, Effects& e) { e.prefetch(); },
         .run = [](const Step&, Machine&) {}},
        {.name = "prefetchu.L1",
         .summary = "prefetches the cache line of a generic address into the uniform cache",
         .section = "9.7.9.15",
         .rows = {{{}, {7, 8}}},
         .operands = {wide_address("a")},
         .ptx = "prefetchu.L1 [{%a}]",
         .effects = [](const Step&, Effects& e) { e.prefetch(); },
         .run = [](const Step&, Machine&) {}},
        {.name = "applypriority",
         .summary = "gives the 128 bytes at an address the priority of the L2 cache that is usual",
         .section = "9.7.9.16",
         .rows = {{{optional(spelled_as(Field::space, {"global"})),
                    spelled_as(Field::level, {"L2::evict_normal"})},
                   {7, 8}}},
         .operands = {wide_address("a"), line()},
         .ptx = "applypriority{.space}{.level} [{%a}], {%bytes}",
         .effects = [](const Step&, Effects& e) { e.prefetch(); },
         .run = [](const Step&, Machine&) {}},
        {.name = "discard",
         .summary = "leaves the 128 bytes at an address without a value, so that nobody writes them back",
         .section = "9.7.9.17",
         .rows = {{{optional(spelled_as(Field::space, {"global"})), spelled_as(Field::level, {"L2"})},
                   {7, 8}}},
         .operands = {wide_address("a"), line()},
         .ptx = "discard{.space}{.level} [{%a}], {%bytes}",
         .effects =
             [](const Step& s, Effects& e) {
                 e.discard({Space::global, true, &s.operands[0], line_bytes});
             },
         .run = [](const Step& s,
                   Machine& m) { m.discard(addresses_of<std::uint64_t>(m, s.operands[0]), line_bytes); }},
        {.name = "createpolicy.fractional",
         .summary = "a cache policy: `level` for a fraction of the accesses, `secondary` for the others",
         .section = createpolicy,
         .rows = {{{primary(), secondary()}, {7, 8}}},
         .operands =
             {out("d", fixed<u64>),
              {"fraction", Access::in, Rule::reg | Rule::imm, fixed<f32>, nullptr, false, every_access, {}}},
         .ptx = "createpolicy.fractional{.level}{.secondary}.b64 {%d}{,%fraction}",
         .infer = check_fraction,
         .value = value_policy,
         .run = run_policy},
        {.name = "createpolicy.range",
         .summary = "a cache policy: `level` for the first bytes from an address, `secondary` for the others",
         .section = createpolicy,
         .rows = {{{primary(), secondary()}, {7, 8}}},
         .operands = {out("d", fixed<u64>), wide_address("a"), bytes("primary"), bytes("total")},
         .ptx = "createpolicy.range.global{.level}{.secondary}.b64 {%d}, [{%a}], {%primary}, {%total}",
         .infer = check_sizes,
         .value = value_policy,
         .run = run_policy},
        {.name = "createpolicy.cvt.L2",
         .summary = "the cache policy of a CUDA access property",
         .section = createpolicy,
         .rows = {{{}, {7, 8}}},
         .operands = {out("d", fixed<u64>), in("property", fixed<u64>)},
         .ptx = "createpolicy.cvt.L2.b64 {%d}, {%property}",
         .value = joined,
         .run = run_convert},
    };
    return list;
}

}  // namespace wgrun::isa
