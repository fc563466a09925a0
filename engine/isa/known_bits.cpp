#include "isa/known_bits.hpp"

#include <algorithm>
#include <bit>

#include "isa/families.hpp"

namespace wgrun::isa {

KnownBits operator+(KnownBits a, KnownBits b) {
    const std::uint64_t ones = a.ones + b.ones;
    const std::uint64_t carries = (a.greatest() + b.greatest()) ^ ones;
    const std::uint64_t unknown = carries | a.unknown | b.unknown;
    return {ones & ~unknown, unknown};
}

KnownBits operator-(KnownBits a, KnownBits b) {
    const std::uint64_t ones = a.ones - b.ones;
    const std::uint64_t borrows = (ones + a.unknown) ^ (ones - b.unknown);
    const std::uint64_t unknown = borrows | a.unknown | b.unknown;
    return {ones & ~unknown, unknown};
}

KnownBits operator*(KnownBits a, KnownBits b) {
    // The sum of b, shifted, over the bits of a that are 1, and of either over those that may be.
    KnownBits out = KnownBits::of(a.ones * b.ones), maybe = KnownBits::of(0);
    for (; a.ones != 0 || a.unknown != 0; a.ones >>= 1, a.unknown >>= 1, b.ones <<= 1, b.unknown <<= 1) {
        if ((a.ones & 1) != 0) maybe = maybe + KnownBits{0, b.unknown};
        if ((a.unknown & 1) != 0) maybe = maybe + KnownBits{0, b.greatest()};
    }
    return out + maybe;
}

KnownBits operator&(KnownBits a, KnownBits b) {
    const std::uint64_t ones = a.ones & b.ones;
    return {ones, a.greatest() & b.greatest() & ~ones};
}

KnownBits operator|(KnownBits a, KnownBits b) {
    const std::uint64_t ones = a.ones | b.ones;
    return {ones, (a.unknown | b.unknown) & ~ones};
}

KnownBits operator^(KnownBits a, KnownBits b) {
    const std::uint64_t unknown = a.unknown | b.unknown;
    return {(a.ones ^ b.ones) & ~unknown, unknown};
}

KnownBits up_to(std::uint64_t greatest) {
    const int width = std::bit_width(greatest);
    return {0, width == 64 ? ~UINT64_C(0) : (UINT64_C(1) << width) - 1};
}

unsigned possible_relations(Type type, KnownBits a, KnownBits b) {
    enum : unsigned { less = 1, equal = 2, greater = 4 };
    const int width = bits(type);
    a = a.cut(width), b = b.cut(width);
    // With its highest bit flipped, a signed number has its place among the unsigned ones.
    if (is_signed(type)) {
        const KnownBits sign = KnownBits::of(UINT64_C(1) << (width - 1));
        a = a ^ sign, b = b ^ sign;
    }
    unsigned out = 0;
    if (a.least() < b.greatest()) out |= less;
    if (a.greatest() > b.least()) out |= greater;
    if (((a.ones ^ b.ones) & ~a.unknown & ~b.unknown) == 0) out |= equal;
    return out;
}

KnownBits known_bits(const Step& step, const std::function<KnownBits(Reg)>& of) {
    if (step.op->known_bits == nullptr) return {};
    return step.op->known_bits(step, [&](const Operand& operand) {
        const OperandRule& rule =
            step.op->operands[static_cast<std::size_t>(&operand - step.operands.data())];
        KnownBits out;
        if (operand.kind == Operand::Kind::imm)
            out = KnownBits::of(static_cast<std::uint64_t>(operand.imm));
        else if (operand.kind == Operand::Kind::reg)
            out = operand.negated ? of(operand.reg) ^ KnownBits::of(1) : of(operand.reg);
        return out.cut(bits(rule.type(step.form)));
    });
}

}  // namespace wgrun::isa
