// Bits of integers: counting, finding, reversing, extracting, inserting, permuting; and sums of products of
// bytes.
#include <algorithm>
#include <bit>

#include "isa/algebra.hpp"
#include "isa/families.hpp"
#include "isa/known_bits.hpp"
#include "isa/lanes.hpp"
#include "isa/shapes.hpp"

namespace wgrun::isa {
namespace {

using enum Type;

template <class T>
using Unsigned = std::make_unsigned_t<T>;
template <class T>
constexpr std::uint32_t width = sizeof(T) * 8;
constexpr std::uint32_t not_found = 0xFFFFFFFF;  ///< the result of bfind if there is no such bit

// --- counting and finding ------------------------------------------------------------------------------

/// Computes d = f(a) on unsigned bits; d is a count.
template <class F>
void run_count(const Step& s, Machine& m, F f) {
    with_integer(s.form.type(), [&]<class T>(T) {
        map1<std::uint32_t, Unsigned<T>>(s, m,
                                         [&](Unsigned<T> a) { return static_cast<std::uint32_t>(f(a)); });
    });
}

/// Returns the highest bit that differs from the sign; for unsigned numbers, the highest one bit.
template <class T>
std::uint32_t highest(T a) {
    const auto bits = static_cast<Unsigned<T>>(std::is_signed_v<T> && a < 0 ? ~a : a);
    return bits == 0 ? not_found : width<T> - 1 - static_cast<std::uint32_t>(std::countl_zero(bits));
}

template <bool shift_amount>
void run_bfind(const Step& s, Machine& m) {
    with_integer(s.form.type(), [&]<class T>(T) {
        map1<std::uint32_t, T>(s, m, [](T a) {
            const std::uint32_t found = highest(a);
            return shift_amount && found != not_found ? width<T> - 1 - found : found;
        });
    });
}

template <class T>
T reversed(T a) {
    T out = 0;
    for (std::uint32_t i = 0; i < width<T>; ++i) out = static_cast<T>(out << 1 | (a >> i & 1U));
    return out;
}

void run_brev(const Step& s, Machine& m) {
    with_integer(s.form.type(), [&]<class T>(T) { map1<T, T>(s, m, reversed<T>); });
}

// --- fields of bits ------------------------------------------------------------------------------------

/// Returns the lowest `length` bits; a length of at least the width gives all of them.
template <class T>
T lowest_bits(std::uint32_t length) {
    return length >= width<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
}

/// Returns a position or a length of bfe and bfi. The PTX ISA (9.7.1.19, 9.7.1.20) defines numbers up to 255.
/// Of larger ones the chip takes the lowest 8 bits if the type has 32, and all bits if it has 64
/// (docs/silicon.md).
template <class T>
std::uint64_t place(std::uint32_t number) {
    return width<T> == 32 ? number & 0xFF : number;
}

/// Returns `length` bits of a from `position` on, with the sign of the last of them. If the field exceeds the
/// number, its sign is that of the number.
template <class T>
T extracted(T a, std::uint32_t from, std::uint32_t count) {
    const std::uint64_t position = place<T>(from), length = place<T>(count);
    using U = Unsigned<T>;
    const U bits = position >= width<T> ? U{0} : static_cast<U>(static_cast<U>(a) >> position);
    const std::uint64_t inside =
        position >= width<T> ? 0 : std::min<std::uint64_t>(length, width<T> - position);
    const U mask = lowest_bits<U>(static_cast<std::uint32_t>(inside));
    bool negative = false;
    if (std::is_signed_v<T> && length > 0)
        negative =
            (static_cast<U>(a) >> std::min<std::uint64_t>(position + length - 1, width<T> - 1) & 1U) != 0;
    return static_cast<T>((bits & mask) | (negative ? static_cast<U>(~mask) : U{0}));
}

void run_bfe(const Step& s, Machine& m) {
    with_integer(s.form.type(), [&]<class T>(T) {
        const Lanes<T> a = read<T>(m, s.operands[1]);
        const Lanes<std::uint32_t> position = read<std::uint32_t>(m, s.operands[2]),
                                   length = read<std::uint32_t>(m, s.operands[3]);
        Lanes<T> d;
        for (std::size_t l = 0; l < lanes; ++l) d[l] = extracted(a[l], position[l], length[l]);
        write_reg<T>(m, s.operands[0].reg, d);
    });
}

KnownBits bits_of_bfe(const Step& s, const BitsOf& of) {
    const KnownBits a = of(s.operands[1]);
    const auto position = of(s.operands[2]).value(), length = of(s.operands[3]).value();
    const int width = bits(s.form.type());
    if (!position || !length) return {};
    const std::uint64_t numbers = width == 32 ? 0xFF : ~UINT64_C(0);  // place()
    const std::uint64_t first = *position & numbers, count = *length & numbers;
    if (count == 0) return KnownBits::of(0);
    // Beyond the word are its highest bits, if it has a sign.
    if (first >= static_cast<unsigned>(width) || count > width - first) return {};
    const KnownBits field = KnownBits{a.ones >> first, a.unknown >> first}.cut(static_cast<int>(count));
    return is_signed(s.form.type()) ? field.extended(static_cast<int>(count)).cut(width) : field;
}

/// Returns b with the lowest `length` bits of a at `position`.
template <class T>
T inserted(T a, T b, std::uint32_t at, std::uint32_t count) {
    const std::uint64_t position = place<T>(at);
    if (position >= width<T>) return b;
    const std::uint64_t length = std::min<std::uint64_t>(place<T>(count), width<T>);
    const auto mask = static_cast<T>(lowest_bits<T>(static_cast<std::uint32_t>(length)) << position);
    return static_cast<T>((b & ~mask) | (static_cast<T>(a << position) & mask));
}

void run_bfi(const Step& s, Machine& m) {
    with_integer(s.form.type(), [&]<class T>(T) {
        const Lanes<T> a = read<T>(m, s.operands[1]), b = read<T>(m, s.operands[2]);
        const Lanes<std::uint32_t> position = read<std::uint32_t>(m, s.operands[3]),
                                   length = read<std::uint32_t>(m, s.operands[4]);
        Lanes<T> d;
        for (std::size_t l = 0; l < lanes; ++l) d[l] = inserted(a[l], b[l], position[l], length[l]);
        write_reg<T>(m, s.operands[0].reg, d);
    });
}

/// Returns `b` ones from bit `a` on.
template <bool wrap>
void run_bmsk(const Step& s, Machine& m) {
    map2<std::uint32_t, std::uint32_t>(s, m, [](std::uint32_t a, std::uint32_t b) -> std::uint32_t {
        if constexpr (wrap) {
            return lowest_bits<std::uint32_t>(b & 31U) << (a & 31U);
        } else {
            return a > 31 ? 0 : lowest_bits<std::uint32_t>(b) << a;
        }
    });
}

// --- three operands ------------------------------------------------------------------------------------

/// Computes any function of three bits: bit i of the table is its value where a, b and c are the bits of i.
void run_lop3(const Step& s, Machine& m) {
    const auto table = static_cast<std::uint32_t>(s.operands[4].imm);
    map3<std::uint32_t, std::uint32_t, std::uint32_t>(
        s, m, [table](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
            std::uint32_t d = 0;
            for (std::uint32_t i = 0; i < 8; ++i)
                if (table >> i & 1U) d |= (i & 4U ? a : ~a) & (i & 2U ? b : ~b) & (i & 1U ? c : ~c);
            return d;
        });
}

/// Computes the upper or the lower half of {b, a}, shifted by c bits (PTX ISA 9.7.8.7).
template <bool left, bool wrap>
void run_shf(const Step& s, Machine& m) {
    map3<std::uint32_t, std::uint32_t, std::uint32_t>(
        s, m, [](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
            const std::uint32_t n = wrap ? c & 31U : std::min(c, 32U);
            const std::uint64_t both = std::uint64_t{b} << 32 | a;
            return static_cast<std::uint32_t>(left ? both << n >> 32 : both >> n);
        });
}

/// Returns the byte of {b, a} that four bits choose; the last of them asks for its sign instead.
std::uint32_t chosen(std::uint64_t bytes, std::uint32_t choice) {
    const auto byte = static_cast<std::uint32_t>(bytes >> (choice & 7U) * 8 & 0xFFU);
    if ((choice & 8U) == 0) return byte;
    return byte & 0x80U ? 0xFFU : 0U;
}

/// Returns the four bytes of {b, a} that `choices` has four bits for, each.
std::uint32_t permuted(std::uint32_t a, std::uint32_t b, std::uint32_t choices) {
    const std::uint64_t both = std::uint64_t{b} << 32 | a;
    std::uint32_t d = 0;
    for (std::uint32_t i = 0; i < 4; ++i) d |= chosen(both, choices >> 4 * i & 15U) << 8 * i;
    return d;
}

/// What c chooses, as `permuted` takes it: its digits...
struct ByDigits {
    static std::uint32_t choices(std::uint32_t c) { return c; }
};
/// ...or, with a mode of prmt (PTX ISA 9.7.9.7), what two bits of it say.
template <std::uint32_t of_0, std::uint32_t of_1, std::uint32_t of_2, std::uint32_t of_3>
struct ByMode {
    static std::uint32_t choices(std::uint32_t c) {
        static constexpr std::uint32_t table[] = {of_0, of_1, of_2, of_3};
        return table[c & 3U];
    }
};

template <class Choice>
void run_prmt(const Step& s, Machine& m) {
    map3<std::uint32_t, std::uint32_t, std::uint32_t>(
        s, m,
        [](std::uint32_t a, std::uint32_t b, std::uint32_t c) { return permuted(a, b, Choice::choices(c)); });
}

/// Each bit of d is one bit of a or b, so that d has most ones where they have.
template <class Choice>
KnownBits bits_of_prmt(const Step& s, const BitsOf& of) {
    const KnownBits a = of(s.operands[1]), b = of(s.operands[2]);
    const auto c = of(s.operands[3]).value();
    if (!c) return {};
    const auto with = [&](std::uint64_t from_a, std::uint64_t from_b) {
        return permuted(static_cast<std::uint32_t>(from_a), static_cast<std::uint32_t>(from_b),
                        Choice::choices(static_cast<std::uint32_t>(*c)));
    };
    const std::uint32_t least = with(a.least(), b.least()), greatest = with(a.greatest(), b.greatest());
    return {least, greatest & ~least};
}

template <class Choice>
Instruction permutation(std::string_view name, std::string_view summary, std::string_view ptx) {
    return {.name = name,
            .summary = summary,
            .section = "9.7.9.7",
            .rows = {{{types({b32})}, {7, 8}}},
            .operands = {out("d"), in("a"), in("b"), in("c")},
            .ptx = ptx,
            .work = Work::logic,
            .known_bits = bits_of_prmt<Choice>,
            .run = run_prmt<Choice>};
}

Instruction funnel(std::string_view name, std::string_view summary, std::string_view ptx,
                   void (*run)(const Step&, Machine&)) {
    return {.name = name,
            .summary = summary,
            .section = "9.7.8.7",
            .rows = {{{types({b32})}, {7, 8}}},
            .operands = {out("d"), in("a"), in("b"), in("c", fixed<u32>)},
            .ptx = ptx,
            .work = Work::logic,
            .run = run};
}

// --- bytes ---------------------------------------------------------------------------------------------

/// Returns bits of a word as a number, which is signed if `type` is.
std::int64_t part(std::uint32_t word, std::uint32_t index, std::uint32_t bits, Type type) {
    const std::uint32_t raw = word >> index * bits & lowest_bits<std::uint32_t>(bits);
    const bool negative = is_signed(type) && (raw >> (bits - 1) & 1U) != 0;
    return static_cast<std::int64_t>(raw) - (negative ? std::int64_t{1} << bits : 0);
}

/// Computes c plus the products of `count` parts of a, of `bits` bits each, and bytes of b from `first` on.
void run_dot(const Step& s, Machine& m, std::uint32_t count, std::uint32_t bits, std::uint32_t first) {
    const Type a_type = s.form.type(Field::a), b_type = s.form.type(Field::b);
    map3<std::uint32_t, std::uint32_t, std::uint32_t>(
        s, m, [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
            std::int64_t sum = c;
            for (std::uint32_t i = 0; i < count; ++i)
                sum += part(a, i, bits, a_type) * part(b, first + i, 8, b_type);
            return static_cast<std::uint32_t>(sum);
        });
}

Type dot_type(const Form& form) {
    return is_signed(form.type(Field::a)) || is_signed(form.type(Field::b)) ? s32 : u32;
}

std::vector<OperandRule> dot_operands() {
    return {out("d", dot_type), in("a", typed<Field::a>), in("b", typed<Field::b>), in("c", dot_type)};
}

/// Computes c + |a - b|.
void run_sad(const Step& s, Machine& m) {
    with_integer(s.form.type(), [&]<class T>(T) {
        map3<T, T, T>(s, m, [](T a, T b, T c) {
            using U = Unsigned<T>;
            const auto difference = static_cast<U>(a < b ? static_cast<U>(b) - static_cast<U>(a)
                                                         : static_cast<U>(a) - static_cast<U>(b));
            return static_cast<T>(static_cast<U>(static_cast<U>(c) + difference));
        });
    });
}

void run_cnot(const Step& s, Machine& m) {
    with_integer(s.form.type(),
                 [&]<class T>(T) { map1<T, T>(s, m, [](T a) { return a == 0 ? T{1} : T{0}; }); });
}

Row words() { return {{types({b32, b64})}, {7, 8}}; }
Row numbers() { return {{types({u32, s32, u64, s64})}, {7, 8}}; }

/// The n-th set bit from `base` on (PTX ISA 9.7.1.17); a negative n counts downwards.
std::uint32_t nth_set(std::uint32_t mask, std::uint32_t base, std::int32_t n) {
    if (base > 31) return UINT32_MAX;
    if (n == INT32_MIN) return 0;  // as an H200 has it; the ISA excludes nothing
    const auto set = [&](std::int64_t bit) { return (mask >> bit & 1U) != 0; };
    if (n == 0) return set(base) ? base : UINT32_MAX;
    std::int64_t left = std::abs(std::int64_t{n});
    for (std::int64_t bit = base; bit >= 0 && bit<32; bit += n> 0 ? 1 : -1)
        if (set(bit) && --left == 0) return static_cast<std::uint32_t>(bit);
    return UINT32_MAX;
}

void run_fns(const Step& s, Machine& m) { map3<std::uint32_t, std::uint32_t, std::int32_t>(s, m, nth_set); }

/// The lowest n bits of a, extended to 32.
template <bool wrap>
void run_szext(const Step& s, Machine& m) {
    const bool is_signed = s.form.type() == s32;
    map2<std::uint32_t, std::uint32_t>(s, m, [&](std::uint32_t a, std::uint32_t b) -> std::uint32_t {
        const std::uint32_t n = wrap ? b & 31U : std::min(b, 32U);
        if (n == 0) return 0;
        const std::uint32_t left = a << (32 - n);
        return is_signed ? static_cast<std::uint32_t>(static_cast<std::int32_t>(left) >> (32 - n))
                         : left >> (32 - n);
    });
}

template <bool wrap>
Instruction extension(std::string_view name, std::string_view summary, std::string_view ptx) {
    return {.name = name,
            .summary = summary,
            .section = "9.7.1.21",
            .rows = {{{types({u32, s32})}, {7, 8}}},
            .operands = {out("d"), in("a"), in("b", fixed<u32>)},
            .ptx = ptx,
            .run = run_szext<wrap>};
}

/// Of unsigned types, and fields that lie within the register.
Term meaning_of_bfe(const Step& s, Algebra& in) {
    const Type type = s.form.type();
    const Operand &position = s.operands[2], &length = s.operands[3];
    if (is_signed(type) || position.kind != Operand::Kind::imm || length.kind != Operand::Kind::imm ||
        position.imm < 0 || length.imm < 0 || position.imm + length.imm > bits(type))
        return Term::unknown;
    const Term above = in.quotient(in.number(s.operands[1], type), in.power_of_2(in.constant(position.imm)));
    const Term size = in.power_of_2(in.constant(length.imm));
    return in.sum(above, in.product(size, in.quotient(above, size)), -1);
}

}  // namespace

std::span<const Instruction> bits_family() {
    static const std::vector<Instruction> list{
        {.name = "popc",
         .summary = "the number of ones in a",
         .section = "9.7.1.14",
         .rows = {words()},
         .operands = {out("d", fixed<u32>), in("a")},
         .ptx = "popc{.type} {%d}, {%a}",
         .work = Work::function,
         .run = [](const Step& s, Machine& m) { run_count(s, m, [](auto a) { return std::popcount(a); }); }},
        {.name = "clz",
         .summary = "the number of zeros above the highest one of a",
         .section = "9.7.1.15",
         .rows = {words()},
         .operands = {out("d", fixed<u32>), in("a")},
         .ptx = "clz{.type} {%d}, {%a}",
         .work = Work::function,
         .run = [](const Step& s,
                   Machine& m) { run_count(s, m, [](auto a) { return std::countl_zero(a); }); }},
        {.name = "bfind",
         .summary =
             "the place of the highest bit of a that differs from the sign; 0xFFFFFFFF if there is none",
         .section = "9.7.1.16",
         .rows = {numbers()},
         .operands = {out("d", fixed<u32>), in("a")},
         .ptx = "bfind{.type} {%d}, {%a}",
         .work = Work::function,
         .run = run_bfind<false>},
        {.name = "bfind.shiftamt",
         .summary =
             "the left shift that brings the bit that bfind finds to the top; 0xFFFFFFFF if there is none",
         .section = "9.7.1.16",
         .rows = {numbers()},
         .operands = {out("d", fixed<u32>), in("a")},
         .ptx = "bfind.shiftamt{.type} {%d}, {%a}",
         .work = Work::function,
         .run = run_bfind<true>},
        {.name = "brev",
         .summary = "the bits of a in reverse order",
         .section = "9.7.1.18",
         .rows = {words()},
         .operands = {out("d"), in("a")},
         .ptx = "brev{.type} {%d}, {%a}",
         .work = Work::function,
         .run = run_brev},
        {.name = "bfe",
         .summary = "`length` bits of a from `position` on; of signed types with their sign",
         .section = "9.7.1.19",
         .rows = {numbers()},
         .operands = {out("d"), in("a"), in("position", fixed<u32>), in("length", fixed<u32>)},
         .ptx = "bfe{.type} {%d}, {%a}, {%position}, {%length}",
         .work = Work::logic,
         .known_bits = bits_of_bfe,
         .meaning = meaning_of_bfe,
         .run = run_bfe},
        {.name = "bfi",
         .summary = "puts the lowest `length` bits of a into b, from bit `position` on",
         .section = "9.7.1.20",
         .rows = {words()},
         .operands = {out("d"), in("a"), in("b"), in("position", fixed<u32>), in("length", fixed<u32>)},
         .ptx = "bfi{.type} {%d}, {%a}, {%b}, {%position}, {%length}",
         .work = Work::logic,
         .run = run_bfi},
        {.name = "bmsk.clamp",
         .summary = "`length` ones from bit `position` on; none from bit 32 on",
         .section = "9.7.1.22",
         .rows = {{{types({b32})}, {7, 8}}},
         .operands = {out("d", fixed<u32>), in("position", fixed<u32>), in("length", fixed<u32>)},
         .ptx = "bmsk.clamp{.type} {%d}, {%position}, {%length}",
         .work = Work::logic,
         .run = run_bmsk<false>},
        {.name = "bmsk.wrap",
         .summary = "`length` ones from bit `position` on, both modulo 32",
         .section = "9.7.1.22",
         .rows = {{{types({b32})}, {7, 8}}},
         .operands = {out("d", fixed<u32>), in("position", fixed<u32>), in("length", fixed<u32>)},
         .ptx = "bmsk.wrap{.type} {%d}, {%position}, {%length}",
         .work = Work::logic,
         .run = run_bmsk<true>},
        {.name = "fns",
         .summary = "the place of the n-th set bit of a mask from bit `base` on; all ones if there is none",
         .section = "9.7.1.17",
         .rows = {{{types({b32})}, {7, 8}}},
         .operands = {out("d", fixed<u32>), in("mask", fixed<u32>), in("base", fixed<u32>),
                      in("n", fixed<s32>)},
         .ptx = "fns{.type} {%d}, {%mask}, {%base}, {%n}",
         .run = run_fns},
        extension<false>("szext.clamp", "the lowest min(b, 32) bits of a, extended by their sign or by zeros",
                         "szext.clamp{.type} {%d}, {%a}, {%b}"),
        extension<true>("szext.wrap", "the lowest b % 32 bits of a, extended by their sign or by zeros",
                        "szext.wrap{.type} {%d}, {%a}, {%b}"),
        {.name = "cnot",
         .summary = "d = a == 0 ? 1 : 0",
         .section = "9.7.8.5",
         .rows = {{{types({b16, b32, b64})}, {7, 8}}},
         .operands = {out("d"), in("a")},
         .ptx = "cnot{.type} {%d}, {%a}",
         .work = Work::logic,
         .run = run_cnot},
        {.name = "lop3",
         .summary = "any function of the bits of a, b and c: `table` is its value for 0xF0, 0xCC and 0xAA",
         .section = "9.7.8.6",
         .rows = {{{types({b32})}, {7, 8}}},
         .operands = {out("d"),
                      in("a"),
                      in("b"),
                      in("c"),
                      {"table", Access::in, OperandRule::imm, fixed<u32>, nullptr, false, {}, Range{0, 255}}},
         .ptx = "lop3{.type} {%d}, {%a}, {%b}, {%c}, {%table}",
         .work = Work::logic,
         .shape = of_integers<Shape::bits>,
         .run = run_lop3},
        funnel("shf.l.clamp", "the upper half of {b, a} << min(c, 32)",
               "shf.l.clamp{.type} {%d}, {%a}, {%b}, {%c}", run_shf<true, false>),
        funnel("shf.l.wrap", "the upper half of {b, a} << c % 32", "shf.l.wrap{.type} {%d}, {%a}, {%b}, {%c}",
               run_shf<true, true>),
        funnel("shf.r.clamp", "the lower half of {b, a} >> min(c, 32)",
               "shf.r.clamp{.type} {%d}, {%a}, {%b}, {%c}", run_shf<false, false>),
        funnel("shf.r.wrap", "the lower half of {b, a} >> c % 32", "shf.r.wrap{.type} {%d}, {%a}, {%b}, {%c}",
               run_shf<false, true>),
        permutation<ByDigits>(
            "prmt", "four bytes of {b, a}: each of four digits of c chooses one, or with 8 added its sign",
            "prmt{.type} {%d}, {%a}, {%b}, {%c}"),
        permutation<ByMode<0x3210, 0x4321, 0x5432, 0x6543>>("prmt.f4e", "bytes c to c + 3 of {b, a}",
                                                            "prmt{.type}.f4e {%d}, {%a}, {%b}, {%c}"),
        permutation<ByMode<0x5670, 0x6701, 0x7012, 0x0123>>(
            "prmt.b4e", "bytes c, c - 1, c - 2 and c - 3 of {b, a}, modulo 8",
            "prmt{.type}.b4e {%d}, {%a}, {%b}, {%c}"),
        permutation<ByMode<0x0000, 0x1111, 0x2222, 0x3333>>("prmt.rc8", "byte c of a, four times",
                                                            "prmt{.type}.rc8 {%d}, {%a}, {%b}, {%c}"),
        permutation<ByMode<0x3210, 0x3211, 0x3222, 0x3333>>(
            "prmt.ecl", "the bytes of a; in place of those below byte c, byte c",
            "prmt{.type}.ecl {%d}, {%a}, {%b}, {%c}"),
        permutation<ByMode<0x0000, 0x1110, 0x2210, 0x3210>>(
            "prmt.ecr", "the bytes of a; in place of those above byte c, byte c",
            "prmt{.type}.ecr {%d}, {%a}, {%b}, {%c}"),
        permutation<ByMode<0x1010, 0x3232, 0x1010, 0x3232>>("prmt.rc16",
                                                            "a half of a, twice: the lower one for even c",
                                                            "prmt{.type}.rc16 {%d}, {%a}, {%b}, {%c}"),
        {.name = "dp4a",
         .summary = "c and the products of the four bytes of a with those of b",
         .section = "9.7.1.23",
         .rows = {{{types(Field::a, {u32, s32}), types(Field::b, {u32, s32})}, {7, 8}}},
         .operands = dot_operands(),
         .ptx = "dp4a{.a}{.b} {%d}, {%a}, {%b}, {%c}",
         .work = Work::logic,
         .run = [](const Step& s, Machine& m) { run_dot(s, m, 4, 8, 0); }},
        {.name = "dp2a",
         .summary = "c and the products of the two 16-bit halves of a with the lower or the upper bytes of b",
         .section = "9.7.1.24",
         .rows = {{{spelled_as(Field::half, {"lo", "hi"}), types(Field::a, {u32, s32}),
                    types(Field::b, {u32, s32})},
                   {7, 8}}},
         .operands = dot_operands(),
         .ptx = "dp2a{.half}{.a}{.b} {%d}, {%a}, {%b}, {%c}",
         .work = Work::logic,
         .run =
             [](const Step& s, Machine& m) {
                 run_dot(s, m, 2, 16, spelled(Field::half, s.form.get(Field::half)) == "hi" ? 2 : 0);
             }},
        {.name = "sad",
         .summary = "d = c + |a - b|",
         .section = "9.7.1.7",
         .rows = {{{types({u16, s16, u32, s32, u64, s64})}, {7, 8}}},
         .operands = {out("d"), in("a"), in("b"), in("c")},
         .ptx = "sad{.type} {%d}, {%a}, {%b}, {%c}",
         .work = Work::logic,
         .run = run_sad},
    };
    return list;
}

}  // namespace wgrun::isa
