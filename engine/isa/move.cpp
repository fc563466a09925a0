// mov, special registers, packing, and the matrix descriptor of wgmma.
#include "isa/algebra.hpp"
#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/known_bits.hpp"
#include "isa/lanes.hpp"
#include "isa/shapes.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;

void run_mov(const Step& s, Machine& m) {
    if (bits(s.form.type()) == 128)
        map1<Bits128, Bits128>(s, m, [](auto a) { return a; });
    else if (bits(s.form.type()) == 64)
        map1<std::uint64_t, std::uint64_t>(s, m, [](auto a) { return a; });
    else if (bits(s.form.type()) == 16)
        map1<std::uint16_t, std::uint16_t>(s, m, [](auto a) { return a; });
    else
        map1<std::uint32_t, std::uint32_t>(s, m, [](auto a) { return a; });
}

/// A value of 8 bits is extended to a register of 16.
void run_ld_param(const Step& s, Machine& m) {
    if (bits(s.form.type()) != 8) return run_mov(s, m);
    const bool is_signed = s.form.type() == s8;
    map1<std::uint16_t, std::uint64_t>(s, m, [=](std::uint64_t a) {
        const auto low = static_cast<std::uint8_t>(a);
        return is_signed ? static_cast<std::uint16_t>(static_cast<std::int8_t>(low)) : std::uint16_t{low};
    });
}

Value value_mov(const Step& s, const ValueOf& of) {
    Value out = of(s.operands[1]);
    if (bits(s.form.type()) > 64) return {};
    if (out.constant && bits(s.form.type()) >= 32) out.constant = wrapped(s.form.type(), *out.constant);
    return out;
}

void run_special(const Step& s, Machine& m) {
    const auto read_all = [&]<class T>(T) {
        Lanes<T> d;
        for (int l = 0; l < lanes; ++l)
            d[static_cast<std::size_t>(l)] = static_cast<T>(m.special(special_of(s.form), l));
        write_reg(m, s.operands[0].reg, d);
    };
    if (s.form.type() == u64)
        read_all(std::uint64_t{});
    else
        read_all(std::uint32_t{});
}

Value value_special(const Step& s, const ValueOf&) {
    const Special which = special_of(s.form);
    Value out;
    out.uniform = uniform_over(which);
    if (which == Special::tid_x) out.thread_shift = 0;  // value = (tid.x >> 0) + 0
    if (which == Special::tid_x) out.constant = 0;
    return out;
}

/// Positions in the CTA, whose extents are limited.
KnownBits bits_of_special(const Step& s, const BitsOf&) {
    using enum Special;
    switch (special_of(s.form)) {
        case tid_x:
        case tid_y: return up_to(sm_90a.cta_threads - 1);
        case tid_z: return up_to(63);
        case laneid: return up_to(lanes - 1);
        default: return {};
    }
}

/// Calls f(Whole{}, Part{}) with the types of a register and of its parts.
template <class F>
void with_parts(const Step& s, std::size_t parts, F f) {
    const int size = bits(s.form.type());
    if (size == 128 && parts == 2)
        f(Bits128{}, std::uint64_t{});
    else if (size == 128)
        f(Bits128{}, std::uint32_t{});
    else if (size == 64 && parts == 2)
        f(std::uint64_t{}, std::uint32_t{});
    else if (size == 64)
        f(std::uint64_t{}, std::uint16_t{});
    else
        f(std::uint32_t{}, std::uint16_t{});
}

/// The first part of a register is the lowest, as in memory.
void run_pack(const Step& s, Machine& m) {
    const std::vector<Reg>& parts = s.operands[1].list;
    with_parts(s, parts.size(), [&]<class Whole, class Part>(Whole, Part) {
        Lanes<Whole> d{};
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const Lanes<Part> part = read_reg<Part>(m, parts[i]);
            for (std::size_t l = 0; l < lanes; ++l)
                std::memcpy(reinterpret_cast<std::byte*>(&d[l]) + i * sizeof(Part), &part[l], sizeof(Part));
        }
        write_reg(m, s.operands[0].reg, d);
    });
}

void run_unpack(const Step& s, Machine& m) {
    const std::vector<Reg>& parts = s.operands[0].list;
    with_parts(s, parts.size(), [&]<class Whole, class Part>(Whole, Part) {
        const Lanes<Whole> a = read<Whole>(m, s.operands[1]);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            Lanes<Part> part;
            for (std::size_t l = 0; l < lanes; ++l)
                std::memcpy(&part[l], reinterpret_cast<const std::byte*>(&a[l]) + i * sizeof(Part),
                            sizeof(Part));
            write_reg(m, parts[i], part);
        }
    });
}

int two(const Form&) { return 2; }
int four(const Form&) { return 4; }
Type half_of(const Form& form) { return form.type() == b128 ? b64 : form.type() == b64 ? b32 : b16; }
Type quarter_of(const Form& form) { return form.type() == b128 ? b32 : b16; }
/// 32 bits are of two halves by default, and 64 of four quarters.
std::vector<Row> packed_rows() {
    return {{{types({b32})}, {7, 8}}, {{types({b64})}, {7, 8}}, {{types({b128})}, {8, 3}}};
}
std::vector<Row> packed_by_four() { return {{{types({b64})}, {7, 8}}, {{types({b128})}, {8, 3}}}; }

void run_descriptor(const Step& s, Machine& m) {
    const Lanes<std::uint32_t> address = read<std::uint32_t>(m, s.operands[1]);
    Lanes<std::uint64_t> d;
    for (std::size_t l = 0; l < lanes; ++l)
        d[l] = static_cast<std::uint64_t>(s.operands[2].imm) | (address[l] & 0x3FFFF) >> 4;
    write_reg(m, s.operands[0].reg, d);
}

Value value_descriptor(const Step& s, const ValueOf& of) {
    Value out = of(s.operands[1]);
    out.is_descriptor = out.buffer >= 0;
    out.constant.reset();
    out.thread_shift = -1;
    return out;
}

/// Returns a row for each type: the clocks, or all others.
std::vector<Row> special_rows(bool clocks) {
    std::vector<Row> out;
    for (const Type type : {u32, u64, pred}) {
        Choice sreg{Field::sreg, {}, {}, true};
        for (int i = 0; i < static_cast<int>(special_names.size()); ++i)
            if (const auto which = static_cast<Special>(i);
                is_clock(which) == clocks && type_of(which) == type)
                sreg.allowed.push_back({i, i});
        if (!sreg.allowed.empty()) out.push_back({{std::move(sreg), types({type})}, {7, 8}});
    }
    return out;
}

Row any_register() {
    return {{types({b32, u32, s32, f32, b16, u16, s16, b64, u64, s64, f64, pred})}, {7, 8}};
}

Term meaning_of_copy(const Step& s, Algebra& in) { return in.of(s.operands[1]); }

/// It may read the low bytes of a parameter.
Term meaning_of_ld_param(const Step& s, Algebra& in) {
    const Type type = s.form.type();
    return bits(type) < 32 ? in.number(s.operands[1], type) : in.of(s.operands[1]);
}

}  // namespace

Reg copied(const Step& step) {
    if (step.op->run != run_mov || step.guard || step.operands[1].kind != Operand::Kind::reg) return {};
    return step.operands[1].reg;
}

std::span<const Instruction> move_family() {
    static const std::vector<Instruction> list{
        {.name = "mov",
         .summary = "copies a register, an immediate or the address of a shared buffer",
         .section = "9.7.9.1",
         .rows = {any_register(), {{only(b128)}, {8, 3}}},
         .operands = {out("d"), in("a", typed<Field::type>, Rule::reg | Rule::imm | Rule::shared)},
         .ptx = "mov{.type} {%d}, {%a}",
         .cuda = "{%d} = {%a}",
         .value = value_mov,
         .known_bits = [](const Step& s, const BitsOf& of) { return of(s.operands[1]); },
         .shape = of_integers<Shape::polynomial>,
         .meaning = meaning_of_copy,
         .run = run_mov},
        {.name = "special",
         .summary = "reads a special register: mov.u32 d, %tid.x",
         .section = "10",
         .rows = special_rows(false),
         .operands = {out("d")},
         .ptx = "mov{.type} {%d}, %{sreg}",
         .value = value_special,
         .known_bits = bits_of_special,
         .run = run_special},
        {.name = "special.clock",
         .summary = "reads a clock: mov.u64 d, %globaltimer",
         .section = "10",
         .rows = special_rows(true),
         .operands = {out("d")},
         .ptx = "mov{.type} {%d}, %{sreg}",
         .effects = [](const Step&, Effects& e) { e.pause(); },
         .value = value_special,
         .run = run_special},
        {.name = "ld.param",
         .summary = "reads a kernel parameter",
         .section = "9.7.9.8",
         .rows = {{{types({u8, s8, u16, s16, b16, u32, s32, f32, u64, s64, f64, b32, b64})}, {7, 8}}},
         .operands = {out("d"), in("a", typed<Field::type>, Rule::param)},
         .ptx = "ld.param{.type} {%d}, [{%a}]",
         .cuda = "{%d} = {%a}",
         .widens = true,
         .value =
             [](const Step&, const ValueOf&) {
                 return Value{.uniform = Uniform::grid, .constant = {}, .offset = {}};
             },
         .shape = of_integers<Shape::polynomial>,
         .meaning = meaning_of_ld_param,
         .run = run_ld_param},
        {.name = "cvta.param",
         .summary = "the generic address of a tensor map that is a kernel parameter",
         .section = "9.7.9.20",
         .rows = {{{types({u64})}, {7, 8}}},
         .operands = {out("d"), in("a", fixed<tensormap>, Rule::param)},
         .ptx = "mov.b64 {%d}, {%a};\n\tcvta.param{.type} {%d}, {%d}",
         .cuda = "{%d} = (unsigned long long)&{%a}",
         .value =
             [](const Step&, const ValueOf&) {
                 return Value{.uniform = Uniform::grid, .constant = {}, .offset = {}};
             },
         .meaning = meaning_of_copy,
         .run = run_mov},
        {.name = "cvta.to.global",
         .summary = "converts a generic address to one of the global space",
         .section = "9.7.9.20",
         .rows = {{{types({u64})}, {7, 8}}},
         .operands = {out("d"), in("a", typed<Field::type>, Rule::reg)},
         .ptx = "cvta.to.global{.type} {%d}, {%a}",
         .value = value_mov,
         .shape = of_integers<Shape::polynomial>,
         .meaning = meaning_of_copy,
         .run = run_mov},
        {.name = "pack",
         .summary =
             "mov.b32 d, {lo, hi}: two registers of 16 bits into one of 32, of 32 into 64, or of 64 into 128",
         .section = "9.7.9.1",
         .rows = packed_rows(),
         .operands = {out("d"), {"a", Access::in, Rule::list, half_of, two, false, {}, {}}},
         .ptx = "mov{.type} {%d}, {%a}",
         .run = run_pack},
        {.name = "pack.v4",
         .summary = "mov.b64 d, {a, b, c, d}: four registers of 16 bits into one of 64, or four of 32 into "
                    "one of 128",
         .section = "9.7.9.1",
         .rows = packed_by_four(),
         .operands = {out("d"), {"a", Access::in, Rule::list, quarter_of, four, false, {}, {}}},
         .ptx = "mov{.type} {%d}, {%a}",
         .run = run_pack},
        {.name = "unpack.v4",
         .summary = "mov.b64 {a, b, c, d}, x: one register of 64 bits into four of 16, or one of 128 into "
                    "four of 32",
         .section = "9.7.9.1",
         .rows = packed_by_four(),
         .operands = {{"d", Access::out, Rule::list, quarter_of, four, false, {}, {}},
                      in("a", typed<Field::type>, Rule::reg)},
         .ptx = "mov{.type} {%d}, {%a}",
         .run = run_unpack},
        {.name = "unpack",
         .summary =
             "mov.b32 {lo, hi}, a: one register of 32 bits into two of 16, of 64 into 32, or of 128 into 64",
         .section = "9.7.9.1",
         .rows = packed_rows(),
         .operands = {{"d", Access::out, Rule::list, half_of, two, false, {}, {}},
                      in("a", typed<Field::type>, Rule::reg)},
         .ptx = "mov{.type} {%d}, {%a}",
         .run = run_unpack},
        {.name = "matrix.descriptor",
         .summary =
             "a wgmma matrix descriptor: constant fields, and the start address of a shared-memory register",
         .section = "9.7.15.5.1.2.2",
         .rows = {{{types({b64})}, {8, 0}}},
         .operands = {out("d", fixed<u64>), in("address", fixed<u32>, Rule::reg),
                      in("fields", typed<Field::type>, Rule::imm)},
         .ptx = "cvt.u64.u32 {%d}, {%address};\n\tand.b64 {%d}, {%d}, 0x3FFFF;\n\tshr.u64 {%d}, {%d}, 4;\n\t"
                "or.b64 {%d}, {%d}, {%fields}",
         .cuda = "{%d} = {%fields} | (unsigned long long)(({%address} & 0x3FFFF) >> 4)",
         .value = value_descriptor,
         .run = run_descriptor},
    };
    return list;
}

}  // namespace wgrun::isa
