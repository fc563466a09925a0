// Bits, shifts, comparisons and selection.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "isa/algebra.hpp"
#include "isa/divisor.hpp"
#include "isa/families.hpp"
#include "isa/halves.hpp"
#include "isa/known_bits.hpp"
#include "isa/lanes.hpp"
#include "isa/relations.hpp"
#include "isa/rounded.hpp"
#include "isa/shapes.hpp"
#include "wgrun/target.hpp"

namespace wgrun::isa {
namespace {

using enum Type;

void run_bits(const Step& s, Machine& m, std::uint64_t (*f)(std::uint64_t, std::uint64_t)) {
    const auto as = [&]<class T>(T) { map2<T, T>(s, m, [f](T a, T b) { return static_cast<T>(f(a, b)); }); };
    switch (s.form.type()) {
        case b16: return as(std::uint16_t{});
        case b64: return as(std::uint64_t{});
        default: return as(std::uint32_t{});  // b32 and pred
    }
}

void run_not(const Step& s, Machine& m) {
    switch (s.form.type()) {
        case pred: return map1<std::uint32_t, std::uint32_t>(s, m, [](std::uint32_t a) { return a ^ 1U; });
        case b16:
            return map1<std::uint16_t, std::uint16_t>(
                s, m, [](std::uint16_t a) { return static_cast<std::uint16_t>(~a); });
        case b32: return map1<std::uint32_t, std::uint32_t>(s, m, [](std::uint32_t a) { return ~a; });
        default: return map1<std::uint64_t, std::uint64_t>(s, m, [](std::uint64_t a) { return ~a; });
    }
}

// Shift amounts of the operand's width and more are clamped to it (PTX ISA 9.7.8.8).
template <class T>
T shift_left(T a, std::uint32_t n) {
    return n >= sizeof(T) * 8 ? T{0} : static_cast<T>(a << n);
}
template <class T>
T shift_right(T a, std::uint32_t n) {
    constexpr std::uint32_t width = sizeof(T) * 8;
    if (n >= width) return std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> n);
}

template <class T, class F>
void map_shift(const Step& s, Machine& m, F f) {
    const Lanes<T> a = read<T>(m, s.operands[1]);
    const Lanes<std::uint32_t> n = read<std::uint32_t>(m, s.operands[2]);
    Lanes<T> d;
    for (std::size_t l = 0; l < lanes; ++l) d[l] = f(a[l], n[l]);
    write_reg<T>(m, s.operands[0].reg, d);
}

void run_shl(const Step& s, Machine& m) {
    with_integer(s.form.type(), [&]<class T>(T) { map_shift<T>(s, m, shift_left<T>); });
}
void run_shr(const Step& s, Machine& m) {
    with_integer(s.form.type(), [&]<class T>(T) { map_shift<T>(s, m, shift_right<T>); });
}

/// Compares the sources a and b, which are of the type. Returns 1 where it holds, else 0.
Lanes<std::uint32_t> compared(const Step& s, Machine& m, const Operand& a, const Operand& b, Type type) {
    const unsigned relations = relations_of(s.form);
    Lanes<std::uint32_t> out;
    const auto compare = [&]<class T>(T, auto number) {
        const Lanes<T> x = read<T>(m, a), y = read<T>(m, b);
        for (std::size_t l = 0; l < lanes; ++l)
            out[l] = (relations & relation(number(x[l]), number(y[l]))) != 0 ? 1 : 0;
    };
    if (is_half(type)) {
        const HalfFormat format(type, s.form);
        compare(std::uint16_t{}, [&](std::uint16_t bits) { return format.number(bits); });
    } else if (type == f32 && s.form.get(Field::ftz, 0) == 1) {
        compare(float{}, [](float value) { return flushed(value); });
    } else {
        with_number(type, [&]<class T>(T t) { compare(t, [](T value) { return value; }); });
    }
    return out;
}

/// The comparison that holds where the other does not.
Lanes<std::uint32_t> opposite(Lanes<std::uint32_t> holds) {
    for (std::uint32_t& lane : holds) lane ^= 1U;
    return holds;
}

/// Combines a comparison with the predicate c, if the form asks for that (PTX ISA 9.7.6.2).
Lanes<std::uint32_t> combined(const Step& s, Machine& m, Lanes<std::uint32_t> holds) {
    if (!s.form.has(Field::combine)) return holds;
    const Lanes<std::uint32_t> c = read<std::uint32_t>(m, s.operand("c"));
    const std::string how = spelled(Field::combine, s.form.get(Field::combine));
    for (std::size_t l = 0; l < lanes; ++l)
        holds[l] = how == "and" ? holds[l] & c[l] : how == "or" ? holds[l] | c[l] : holds[l] ^ c[l];
    return holds;
}

void run_setp(const Step& s, Machine& m) {
    write_reg(m, s.operands[0].reg,
              combined(s, m, compared(s, m, s.operands[1], s.operands[2], s.form.type())));
}

/// q is the opposite comparison, combined likewise.
void run_setp_both(const Step& s, Machine& m) {
    const Lanes<std::uint32_t> holds = compared(s, m, s.operands[2], s.operands[3], s.form.type()),
                               p = combined(s, m, holds), q = combined(s, m, opposite(holds));
    write_reg(m, s.operands[0].reg, p);
    write_reg(m, s.operands[1].reg, q);
}

/// Compares the lower (0) or the upper halves (1) of pairs. Returns 1 where it holds, else 0.
Lanes<std::uint32_t> compared_halves(const Step& s, Machine& m, const Operand& a, const Operand& b,
                                     unsigned half) {
    const HalfFormat format(s.form);
    const unsigned relations = relations_of(s.form);
    const Lanes<std::uint32_t> x = read<std::uint32_t>(m, a), y = read<std::uint32_t>(m, b);
    Lanes<std::uint32_t> out;
    const auto number = [&](std::uint32_t pair) {
        return format.number(static_cast<std::uint16_t>(pair >> 16 * half));
    };
    for (std::size_t l = 0; l < lanes; ++l)
        out[l] = (relations & relation(number(x[l]), number(y[l]))) != 0 ? 1 : 0;
    return out;
}

/// Compares both halves: p is the result of the lower ones, q that of the upper ones.
void run_setp_pair(const Step& s, Machine& m) {
    const Lanes<std::uint32_t> p = compared_halves(s, m, s.operands[2], s.operands[3], 0),
                               q = compared_halves(s, m, s.operands[2], s.operands[3], 1);
    write_reg(m, s.operands[0].reg, p);
    write_reg(m, s.operands[1].reg, q);
}

/// All ones, or the number 1, where the comparison holds; else 0.
void run_set(const Step& s, Machine& m) {
    const Lanes<std::uint32_t> holds = compared(s, m, s.operands[1], s.operands[2], s.form.type(Field::from));
    const Type type = s.form.type();
    const std::uint32_t yes = type == f32        ? std::bit_cast<std::uint32_t>(1.F)
                              : type == f16      ? 0x3C00
                              : type == bf16     ? 0x3F80
                              : bits(type) == 16 ? 0xFFFF
                                                 : 0xFFFFFFFF;
    Lanes<std::uint32_t> d;
    for (std::size_t l = 0; l < lanes; ++l) d[l] = holds[l] != 0 ? yes : 0;
    write_reg(m, s.operands[0].reg, d);
}

/// The number 1 in each half where the comparison of these halves holds; else 0.
void run_set_pair(const Step& s, Machine& m) {
    const std::uint32_t yes = s.form.type() == f16x2 ? 0x3C00 : 0x3F80;
    Lanes<std::uint32_t> d{};
    for (const unsigned half : {0U, 1U}) {
        const Lanes<std::uint32_t> holds = compared_halves(s, m, s.operands[1], s.operands[2], half);
        for (std::size_t l = 0; l < lanes; ++l) d[l] |= holds[l] * yes << 16 * half;
    }
    write_reg(m, s.operands[0].reg, d);
}

void run_slct(const Step& s, Machine& m) {
    Lanes<std::uint32_t> first;
    const auto choose = [&]<class T>(T) {
        const Lanes<T> c = read<T>(m, s.operands[3]);
        const bool flushes = s.form.get(Field::ftz, 0) == 1;
        for (std::size_t l = 0; l < lanes; ++l)
            if constexpr (std::is_same_v<T, float>)
                first[l] = (flushes ? flushed(c[l]) : c[l]) >= 0 ? 1 : 0;
            else
                first[l] = c[l] >= 0 ? 1 : 0;
    };
    if (s.form.type(Field::from) == f32)
        choose(float{});
    else
        choose(std::int32_t{});
    with_number(s.form.type(), [&]<class T>(T) {
        const Lanes<T> a = read<T>(m, s.operands[1]), b = read<T>(m, s.operands[2]);
        Lanes<T> d;
        for (std::size_t l = 0; l < lanes; ++l) d[l] = first[l] != 0 ? a[l] : b[l];
        write_reg<T>(m, s.operands[0].reg, d);
    });
}

void run_selp(const Step& s, Machine& m) {
    const Lanes<std::uint32_t> p = read<std::uint32_t>(m, s.operands[3]);
    with_number(s.form.type(), [&]<class T>(T) {
        const Lanes<T> a = read<T>(m, s.operands[1]), b = read<T>(m, s.operands[2]);
        Lanes<T> d;
        for (std::size_t l = 0; l < lanes; ++l) d[l] = p[l] ? a[l] : b[l];
        write_reg<T>(m, s.operands[0].reg, d);
    });
}

/// Returns the threads over which a comparison of (tid.x >> s) + a with b is the same: it tries all 1024.
Uniform spread(const Step& s, const Value& a, const Value& b) {
    const Type type = s.form.type();
    const unsigned relations = relations_of(s.form);
    constexpr int threads = sm_90a.cta_threads;
    const auto at = [&](const Value& value, int thread) {
        const std::int64_t index = value.thread_shift < 0 ? 0 : thread >> value.thread_shift;
        return number_of(type, wrapped(type, index + *value.constant));
    };
    std::array<bool, threads> result{};
    for (int t = 0; t < threads; ++t)
        result[static_cast<std::size_t>(t)] = (relations & relation(at(a, t), at(b, t))) != 0;
    const auto same_in = [&](std::size_t group) {
        for (std::size_t t = 0; t < threads; ++t)
            if (result[t] != result[t / group * group]) return false;
        return true;
    };
    return same_in(threads)            ? Uniform::cta
           : same_in(sm_90a.warpgroup) ? Uniform::warpgroup
           : same_in(sm_90a.lanes)     ? Uniform::warp
                                       : Uniform::thread;
}

Value value_setp(const Step& s, const ValueOf& of) {
    const Value a = of(s.operands[1]), b = of(s.operands[2]);
    Value out = joined(s, of);
    if (out.uniform < Uniform::cta && a.constant && b.constant && bits(s.form.type()) == 32 &&
        !is_float(s.form.type()))
        out.uniform = std::max(out.uniform, spread(s, a, b));
    return out;
}

Value value_shr(const Step& s, const ValueOf& of) {
    const Type type = s.form.type();
    const Value a = of(s.operands[1]);
    const std::optional<std::int64_t> n = plain(of(s.operands[2]));
    Value out = joined(s, of);
    if (!n || *n < 0 || *n > 31 || bits(type) < 32) return out;
    if (const auto constant = plain(a)) {
        out.constant = bits(type) == 64 && !is_signed(type)
                           ? static_cast<std::int64_t>(static_cast<std::uint64_t>(*constant) >> *n)
                           : number_of(type, *constant) >> *n;
        out.constant = wrapped(type, *out.constant);
    } else if (a.constant) {
        // ((tid.x >> s) + c) >> n is (tid.x >> (s + n)) + (c >> n) if c has no bits below n; otherwise a
        // carry could be lost.
        const std::int64_t low = *a.constant & ((std::int64_t{1} << *n) - 1);
        if (low != 0 || *a.constant < 0 || *a.constant > 1 << 30) return out;
        out.constant = *a.constant >> *n;
        out.thread_shift = a.thread_shift + static_cast<int>(*n);
        out.uniform = std::max(out.uniform, of_groups(out.thread_shift));
    }
    return out;
}

Value value_shl(const Step& s, const ValueOf& of) {
    const Type type = s.form.type();
    const auto a = plain(of(s.operands[1])), n = plain(of(s.operands[2]));
    Value out = joined(s, of);
    if (a && n && *n >= 0 && *n < 32 && bits(type) >= 32)
        out.constant = wrapped(type, static_cast<std::int64_t>(static_cast<std::uint64_t>(*a) << *n));
    return out;
}

Value value_and(const Step& s, const ValueOf& of) {
    const auto a = plain(of(s.operands[1])), b = plain(of(s.operands[2]));
    Value out = joined(s, of);
    if (a && b && bits(s.form.type()) >= 32) out.constant = wrapped(s.form.type(), *a & *b);
    return out;
}

KnownBits bits_of_not(const Step& s, const BitsOf& of) {
    return (of(s.operands[1]) ^ KnownBits::of(~UINT64_C(0))).cut(bits(s.form.type()));
}

KnownBits bits_of_shl(const Step& s, const BitsOf& of) {
    const auto n = of(s.operands[2]).value();
    const int width = bits(s.form.type());
    if (!n) return {};
    const KnownBits a = of(s.operands[1]);
    return *n >= static_cast<unsigned>(width) ? KnownBits::of(0)
                                              : KnownBits{a.ones << *n, a.unknown << *n}.cut(width);
}

KnownBits bits_of_shr(const Step& s, const BitsOf& of) {
    const auto n = of(s.operands[2]).value();
    const int width = bits(s.form.type());
    const KnownBits a = of(s.operands[1]);
    if (is_signed(s.form.type())) return {};
    if (!n) return up_to(a.greatest());
    return *n >= static_cast<unsigned>(width) ? KnownBits::of(0) : KnownBits{a.ones >> *n, a.unknown >> *n};
}

KnownBits bits_of_setp(const Step& s, const BitsOf& of) {
    const Type type = s.form.type();
    if (is_float(type) || is_half(type)) return up_to(1);
    const unsigned possible = possible_relations(type, of(s.operands[1]), of(s.operands[2])),
                   holds = relations_of(s.form) & possible;
    return holds == 0 ? KnownBits::of(0) : holds == possible ? KnownBits::of(1) : up_to(1);
}

KnownBits bits_of_setp_bool(const Step& s, const BitsOf& of) {
    const KnownBits holds = bits_of_setp(s, of), c = of(s.operand("c"));
    const std::string how = spelled(Field::combine, s.form.get(Field::combine));
    return how == "and" ? holds & c : how == "or" ? holds | c : holds ^ c;
}

KnownBits bits_of_selp(const Step& s, const BitsOf& of) {
    const auto first = of(s.operands[3]).value();
    const KnownBits a = of(s.operands[1]), b = of(s.operands[2]);
    return !first ? a.joined(b) : *first != 0 ? a : b;
}

// The same as terms (algebra.hpp).

template <unsigned table>
Term meaning_of_bits(const Step& s, Algebra& in) {
    return in.bitwise(table, in.of(s.operands[1]), in.of(s.operands[2]), s.form.type());
}

Term meaning_of_not(const Step& s, Algebra& in) {
    const Type type = s.form.type();
    return in.bitwise(table_xor, in.of(s.operands[1]), in.constant(type == pred ? 1 : -1), type);
}

Term meaning_of_shl(const Step& s, Algebra& in) {
    return in.product(in.of(s.operands[1]), in.power_of_2(in.number(s.operands[2], u32)));
}

Term meaning_of_shr(const Step& s, Algebra& in) {
    return in.quotient(in.number(s.operands[1], s.form.type()), in.power_of_2(in.number(s.operands[2], u32)));
}

Term meaning_of_setp(const Step& s, Algebra& in) {
    const Type type = s.form.type();
    if (is_float(type) || is_half(type) || is_pair(type)) return Term::unknown;
    static constexpr std::array<unsigned, 6> relations{equal,        less | greater, less,
                                                       less | equal, greater,        greater | equal};
    const unsigned holds = relations_of(s.form);
    for (std::size_t i = 0; i < relations.size(); ++i)
        if (relations.at(i) == holds)
            return in.compare(static_cast<Compared>(i), in.number(s.operand("a"), type),
                              in.number(s.operand("b"), type));
    return Term::unknown;
}

Term meaning_of_setp_bool(const Step& s, Algebra& in) {
    const std::string how = spelled(Field::combine, s.form.get(Field::combine));
    return in.bitwise(how == "and"  ? table_and
                      : how == "or" ? table_or
                                    : table_xor,
                      meaning_of_setp(s, in), in.of(s.operand("c")), pred);
}

Term meaning_of_selp(const Step& s, Algebra& in) {
    return in.select(in.of(s.operands[3]), in.of(s.operands[1]), in.of(s.operands[2]));
}

Row bit_types() { return {{types({pred, b16, b32, b64})}, {7, 8}}; }
Row signed_or_unsigned() {
    return {
        {spelled_as(Field::cmp, {"eq", "ne", "lt", "le", "gt", "ge"}), types({u16, s16, u32, s32, u64, s64})},
        {7, 8}};
}
Row unsigned_names() {
    return {{spelled_as(Field::cmp, {"lo", "ls", "hi", "hs"}), types({u16, u32, u64})}, {7, 8}};
}
Row equality() { return {{spelled_as(Field::cmp, {"eq", "ne"}), types({b16, b32, b64})}, {7, 8}}; }
Row ordered(std::initializer_list<Type> of, bool flushes) {
    Row out{{spelled_as(Field::cmp, {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu",
                                     "geu", "num", "nan"}),
             types(of)},
            {7, 8}};
    if (flushes) out.choices.push_back(flag(Field::ftz));
    return out;
}

/// Returns the row of pairs of halves. Their registers have 32 bits, so that a call must name the type.
Row pairs(Type of, bool flushes) {
    Row out = ordered({of}, flushes);
    out.choices[1].asked = true;
    return out;
}

/// Returns the rows of setp, each with `more`. halves: also those of f16 and bf16.
std::vector<Row> comparisons(bool halves, const std::vector<Choice>& more = {}) {
    std::vector<Row> out{signed_or_unsigned(), unsigned_names(), equality(),
                         halves ? ordered({f32, f16}, true) : ordered({f32}, true),
                         halves ? ordered({f64, bf16}, false) : ordered({f64}, false)};
    for (Row& row : out) row.choices.insert(row.choices.end(), more.begin(), more.end());
    return out;
}
Choice combination() { return {Field::combine, {{0, 2}}, {}}; }

/// Returns the rows of set: results of 32 bits of everything but halves, and those of halves.
std::vector<Row> set_rows() {
    std::vector<Row> out;
    for (Row row :
         {signed_or_unsigned(), unsigned_names(), equality(), ordered({f32}, true), ordered({f64}, false)}) {
        for (Choice& choice : row.choices)
            if (choice.field == Field::type) choice.field = Field::from;
        row.choices.push_back(types({u32, s32, f32}));
        out.push_back(row);
    }
    for (const Type half : {f16, bf16}) {
        Row row = ordered({half}, half == f16);
        for (Choice& choice : row.choices)
            if (choice.field == Field::type) choice.field = Field::from;
        row.choices.push_back(types({half, u16, s16, u32, s32}));
        out.push_back(row);
    }
    return out;
}

}  // namespace

bool chooses(const Step& step) { return step.op->name == "selp" || step.op->name == "slct"; }

std::span<const Instruction> logic_family() {
    static const std::vector<Instruction> list{
        {.name = "and",
         .summary = "d = a & b",
         .section = "9.7.8.1",
         .rows = {bit_types()},
         .operands = {out("d"), in("a"), in("b")},
         .ptx = "and{.type} {%d}, {%a}, {%b}",
         .work = Work::logic,
         .value = value_and,
         .known_bits = [](const Step& s, const BitsOf& of) { return of(s.operands[1]) & of(s.operands[2]); },
         .shape = of_integers<Shape::bits>,
         .meaning = meaning_of_bits<table_and>,
         .run = [](const Step& s,
                   Machine& m) { run_bits(s, m, [](std::uint64_t a, std::uint64_t b) { return a & b; }); }},
        {.name = "or",
         .summary = "d = a | b",
         .section = "9.7.8.2",
         .rows = {bit_types()},
         .operands = {out("d"), in("a"), in("b")},
         .ptx = "or{.type} {%d}, {%a}, {%b}",
         .work = Work::logic,
         .known_bits = [](const Step& s, const BitsOf& of) { return of(s.operands[1]) | of(s.operands[2]); },
         .shape = of_integers<Shape::bits>,
         .meaning = meaning_of_bits<table_or>,
         .run = [](const Step& s,
                   Machine& m) { run_bits(s, m, [](std::uint64_t a, std::uint64_t b) { return a | b; }); }},
        {.name = "xor",
         .summary = "d = a ^ b",
         .section = "9.7.8.3",
         .rows = {bit_types()},
         .operands = {out("d"), in("a"), in("b")},
         .ptx = "xor{.type} {%d}, {%a}, {%b}",
         .work = Work::logic,
         .known_bits = [](const Step& s, const BitsOf& of) { return of(s.operands[1]) ^ of(s.operands[2]); },
         .shape = of_integers<Shape::bits>,
         .meaning = meaning_of_bits<table_xor>,
         .run = [](const Step& s,
                   Machine& m) { run_bits(s, m, [](std::uint64_t a, std::uint64_t b) { return a ^ b; }); }},
        {.name = "not",
         .summary = "d = ~a",
         .section = "9.7.8.4",
         .rows = {bit_types()},
         .operands = {out("d"), in("a")},
         .ptx = "not{.type} {%d}, {%a}",
         .work = Work::logic,
         .known_bits = bits_of_not,
         .shape = of_integers<Shape::polynomial>,  // -1 - a
         .meaning = meaning_of_not,
         .run = run_not},
        {.name = "shl",
         .summary = "d = a << b; amounts of the width and more give 0",
         .section = "9.7.8.8",
         .rows = {{{types({b16, b32, b64})}, {7, 8}}},
         .operands = {out("d"), in("a"), in("b", fixed<u32>)},
         .ptx = "shl{.type} {%d}, {%a}, {%b}",
         .work = Work::logic,
         .value = value_shl,
         .known_bits = bits_of_shl,
         .shape = of_integers<Shape::multiple>,
         .meaning = meaning_of_shl,
         .run = run_shl},
        {.name = "shr",
         .summary = "d = a >> b; arithmetic for signed types",
         .section = "9.7.8.9",
         .rows = {{{types({b16, u16, s16, b32, u32, s32, b64, u64, s64})}, {7, 8}}},
         .operands = {out("d"), in("a"), in("b", fixed<u32>)},
         .ptx = "shr{.type} {%d}, {%a}, {%b}",
         .work = Work::logic,
         .value = value_shr,
         .known_bits = bits_of_shr,
         .shape = of_integers<Shape::quotient>,
         .meaning = meaning_of_shr,
         .run = run_shr},
        {.name = "setp",
         .summary = "p = a cmp b",
         .section = "9.7.6.2",
         .rows = comparisons(true),
         .operands = {out("p", fixed<pred>), in("a"), in("b")},
         .ptx = "setp{.cmp}{.ftz}{.type} {%p}, {%a}, {%b}",
         .work = Work::logic,
         .value = value_setp,
         .known_bits = bits_of_setp,
         .shape = of_integers<Shape::order>,
         .meaning = meaning_of_setp,
         .run = run_setp},
        {.name = "setp.bool",
         .summary = "p = (a cmp b) and, or, xor c",
         .section = "9.7.6.2",
         .rows = comparisons(true, {combination()}),
         .operands = {out("p", fixed<pred>), in("a"), in("b"), in("c", fixed<pred>, OperandRule::reg)},
         .ptx = "setp{.cmp}{.combine}{.ftz}{.type} {%p}, {%a}, {%b}, {%c}",
         .known_bits = bits_of_setp_bool,
         .shape = of_integers<Shape::order>,
         .meaning = meaning_of_setp_bool,
         .run = run_setp},
        {.name = "setp.both",
         .summary = "p = a cmp b, q = the opposite",
         .section = "9.7.6.2",
         .rows = comparisons(false),
         .operands = {out("p", fixed<pred>), out("q", fixed<pred>), in("a"), in("b")},
         .ptx = "setp{.cmp}{.ftz}{.type} {%p}|{%q}, {%a}, {%b}",
         .value = [](const Step&, const ValueOf&) { return Value{}; },
         .shape = of_integers<Shape::order>,
         .meaning = meaning_of_setp,
         .run = run_setp_both},
        {.name = "setp.bool.both",
         .summary = "p = (a cmp b) and, or, xor c; q = the same of the opposite comparison",
         .section = "9.7.6.2",
         .rows = comparisons(false, {combination()}),
         .operands = {out("p", fixed<pred>), out("q", fixed<pred>), in("a"), in("b"),
                      in("c", fixed<pred>, OperandRule::reg)},
         .ptx = "setp{.cmp}{.combine}{.ftz}{.type} {%p}|{%q}, {%a}, {%b}, {%c}",
         .value = [](const Step&, const ValueOf&) { return Value{}; },
         .shape = of_integers<Shape::order>,
         .meaning = meaning_of_setp_bool,
         .run = run_setp_both},
        {.name = "setp.pair",
         .summary = "compares two pairs: p is the result of the lower halves, q that of the upper ones",
         .section = "9.7.7.2",
         .rows = {pairs(f16x2, true), pairs(bf16x2, false)},
         .operands = {out("p", fixed<pred>), out("q", fixed<pred>), in("a"), in("b")},
         .ptx = "setp{.cmp}{.ftz}{.type} {%p}|{%q}, {%a}, {%b}",
         .value = [](const Step&, const ValueOf&) { return Value{}; },
         .run = run_setp_pair},
        {.name = "set",
         .summary = "d = a cmp b ? all ones, or the number 1 : 0",
         .section = "9.7.6.1",
         .rows = set_rows(),
         .operands = {out("d"), in("a", typed<Field::from>), in("b", typed<Field::from>)},
         .ptx = "set{.cmp}{.ftz}{.type}{.from} {%d}, {%a}, {%b}",
         .run = run_set},
        {.name = "set.pair",
         .summary = "compares two pairs: each half of d is the number 1 where the comparison holds, else 0",
         .section = "9.7.7.1",
         .rows = {pairs(f16x2, true), pairs(bf16x2, false)},
         .operands = {out("d"), in("a"), in("b")},
         .ptx = "set{.cmp}{.ftz}{.type}{.type} {%d}, {%a}, {%b}",
         .run = run_set_pair},
        {.name = "slct",
         .summary = "d = c >= 0 ? a : b",
         .section = "9.7.6.4",
         .rows = {{{types({b16, u16, s16, b32, u32, s32, f32, b64, u64, s64, f64}),
                    types(Field::from, {s32})},
                   {7, 8}},
                  {{types({b16, u16, s16, b32, u32, s32, f32, b64, u64, s64, f64}), types(Field::from, {f32}),
                    flag(Field::ftz)},
                   {7, 8}}},
         .operands = {out("d"), in("a"), in("b"), in("c", typed<Field::from>)},
         .ptx = "slct{.ftz}{.type}{.from} {%d}, {%a}, {%b}, {%c}",
         .run = run_slct},
        {.name = "selp",
         .summary = "d = p ? a : b",
         .section = "9.7.6.3",
         .rows = {{{types({b16, u16, s16, b32, u32, s32, f32, b64, u64, s64, f64})}, {7, 8}}},
         .operands = {out("d"), in("a"), in("b"), in("p", fixed<pred>, OperandRule::reg)},
         .ptx = "selp{.type} {%d}, {%a}, {%b}, {%p}",
         .work = Work::logic,
         .known_bits = bits_of_selp,
         .shape = of_integers<Shape::polynomial>,
         .meaning = meaning_of_selp,
         .run = run_selp},
    };
    return list;
}

}  // namespace wgrun::isa
