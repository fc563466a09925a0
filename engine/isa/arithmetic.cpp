// Arithmetic that integers and floats share: add, sub, mul, mad, div, neg, abs; and rem.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "isa/algebra.hpp"
#include "isa/divisor.hpp"
#include "isa/families.hpp"
#include "isa/halves.hpp"
#include "isa/known_bits.hpp"
#include "isa/lanes.hpp"
#include "isa/pairs.hpp"
#include "isa/rounded.hpp"
#include "isa/shapes.hpp"

namespace wgrun::isa {
namespace {

using enum Type;

// Computes on unsigned numbers and takes the bits: two's complement without overflow traps.
template <class T, class F>
T wrapping(T a, T b, F f) {
    if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(f(a, b));
    } else {
        using U = std::make_unsigned_t<T>;
        return static_cast<T>(
            f(static_cast<std::uint64_t>(static_cast<U>(a)), static_cast<std::uint64_t>(static_cast<U>(b))));
    }
}

/// Returns the sum or difference of numbers of 32 bits, limited to their range.
template <class F>
void map_limited(const Step& s, Machine& m, F f) {
    map2<std::int32_t, std::int32_t>(s, m, [&](std::int32_t a, std::int32_t b) {
        return static_cast<std::int32_t>(
            std::clamp<std::int64_t>(f(std::int64_t{a}, std::int64_t{b}), INT32_MIN, INT32_MAX));
    });
}
bool limits_integers(const Form& form) { return form.type() == s32 && form.get(Field::sat, 0) == 1; }

void run_add(const Step& s, Machine& m) {
    if (limits_integers(s.form)) return map_limited(s, m, [](auto a, auto b) { return a + b; });
    if (is_half(s.form.type()))
        return map_halves<2>(s, m, [](double a, double b) { return sum_to_odd(a, b); });
    if (is_pair(s.form.type())) return map_pairs(s, m, [](auto a, auto b) { return a + b; });
    with_number(s.form.type(), [&]<class T>(T) {
        map_rounded<T, 2>(s, m,
                          [](T a, T b) { return wrapping(a, b, [](auto x, auto y) { return x + y; }); });
    });
}

void run_sub(const Step& s, Machine& m) {
    if (limits_integers(s.form)) return map_limited(s, m, [](auto a, auto b) { return a - b; });
    if (is_half(s.form.type()))
        return map_halves<2>(s, m, [](double a, double b) { return sum_to_odd(a, -b); });
    with_number(s.form.type(), [&]<class T>(T) {
        map_rounded<T, 2>(s, m,
                          [](T a, T b) { return wrapping(a, b, [](auto x, auto y) { return x - y; }); });
    });
}

template <class T>
T product_low(T a, T b) {
    return wrapping(a, b, [](auto x, auto y) { return x * y; });
}

template <class T>
T product_high(T a, T b) {
    __extension__ using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >>
                          std::numeric_limits<std::make_unsigned_t<T>>::digits);
}

template <class T>
using Wider =
    std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

/// Runs mul or mad of integers. The result is the low half, the high half or, at twice the width, the whole
/// product.
template <class Combine>
void run_product(const Step& s, Machine& m, Combine combine) {
    const std::string half = spelled(Field::half, s.form.get(Field::half));
    with_integer(s.form.type(), [&]<class T>(T) {
        if (half == "lo")
            combine(s, m, T{}, T{}, product_low<T>);
        else if (half == "hi")
            combine(s, m, T{}, T{}, product_high<T>);
        else if constexpr (sizeof(T) <= 4)
            combine(s, m, Wider<T>{}, T{}, [](T a, T b) {
                return static_cast<Wider<T>>(static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b));
            });
    });
}

/// The high half of a product is none of the numbers that it is computed from, times others.
Shape shape_of_product(const Form& form) {
    return spelled(Field::half, form.get(Field::half, 0)) == "hi" ? Shape::other
                                                                  : of_integers<Shape::polynomial>(form);
}

/// As a quotient by a number that is no power of 2 is computed.
Shape shape_of_factor(const Form& form) {
    const bool high = spelled(Field::half, form.get(Field::half, 0)) == "hi";
    return high && !is_signed(form.type()) ? of_integers<Shape::share>(form) : shape_of_product(form);
}

void run_mul(const Step& s, Machine& m) {
    const Type type = s.form.type();
    if (is_half(type)) return map_halves<2>(s, m, [](double a, double b) { return a * b; });
    if (type == f32) return map_rounded<float, 2>(s, m, [](float a, float b) { return a * b; });
    if (type == f64) return map_rounded<double, 2>(s, m, [](double a, double b) { return a * b; });
    run_product(s, m, []<class R, class T>(const Step& step, Machine& machine, R, T, auto product) {
        map2<R, T>(step, machine, product);
    });
}

void run_mad(const Step& s, Machine& m) {
    if (limits_integers(s.form))
        return map3<std::int32_t, std::int32_t, std::int32_t>(
            s, m, [](std::int32_t a, std::int32_t b, std::int32_t c) {
                return static_cast<std::int32_t>(
                    std::clamp<std::int64_t>(std::int64_t{product_high(a, b)} + c, INT32_MIN, INT32_MAX));
            });
    run_product(s, m, []<class R, class T>(const Step& step, Machine& machine, R, T, auto product) {
        map3<R, T, R>(step, machine, [&](T a, T b, R c) {
            return wrapping<R>(static_cast<R>(product(a, b)), c, [](auto x, auto y) { return x + y; });
        });
    });
}

// A division by zero gives an unspecified value (PTX ISA 9.7.1.8); the chip gives all ones, and so does this.
template <class T>
T quotient(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        return a / b;
    } else {
        if (b == 0) return static_cast<T>(-1);
        if constexpr (std::is_signed_v<T>)
            if (b == -1) return wrapping<T>(0, a, [](auto x, auto y) { return x - y; });
        return static_cast<T>(a / b);
    }
}

template <class T>
T remainder(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>)
        if (b == -1) return 0;
    return static_cast<T>(a % b);
}

void look_for_zeros(const Step& s, Machine& m) {
    Mask zero = 0;
    with_integer(s.form.type(), [&]<class T>(T) {
        const Lanes<T> divisors = read<T>(m, s.operands[2]);
        for_each_lane(m.active(), [&](std::size_t l) { zero |= Mask{divisors[l] == 0} << l; });
    });
    if (zero != 0) m.divide_by_zero(zero);
}

void run_div(const Step& s, Machine& m) {
    if (divisor_of(s) != nullptr) look_for_zeros(s, m);
    with_number(s.form.type(), [&]<class T>(T) { map_rounded<T, 2>(s, m, quotient<T>); });
}
void run_rem(const Step& s, Machine& m) {
    look_for_zeros(s, m);
    with_integer(s.form.type(), [&]<class T>(T) { map2<T, T>(s, m, remainder<T>); });
}

void run_neg(const Step& s, Machine& m) {
    if (is_half(s.form.type())) return map_halves<1>(s, m, [](double a) { return -a; });
    with_number(s.form.type(), [&]<class T>(T) {
        map_rounded<T, 1>(s, m, [](T a) {
            if constexpr (std::is_floating_point_v<T>)
                return std::isnan(a) ? a : -a;  // binary64 keeps the sign, as on the chip
            else
                return wrapping<T>(0, a, [](auto x, auto y) { return x - y; });
        });
    });
}
void run_abs(const Step& s, Machine& m) {
    if (is_half(s.form.type())) return map_halves<1>(s, m, [](double a) { return std::abs(a); });
    with_number(s.form.type(), [&]<class T>(T) {
        map_rounded<T, 1>(s, m, [](T a) {
            if constexpr (std::is_floating_point_v<T>)
                return std::isnan(a) ? a : std::abs(a);
            else
                return a < 0 ? wrapping<T>(0, a, [](auto x, auto y) { return x - y; }) : a;
        });
    });
}

/// Returns the type of the result of mul and mad: at twice the width with .wide.
Type product_type(const Form& form) {
    if (form.get(Field::half, 0) != 2) return form.type();
    switch (form.type()) {
        case u16: return u32;
        case s16: return s32;
        case u32: return u64;
        default: return s64;
    }
}

bool is_word(Type type) { return !is_float(type) && !is_pair(type) && bits(type) >= 32; }

std::int64_t sum(std::int64_t a, std::int64_t b) {
    return wrapping(a, b, [](auto x, auto y) { return x + y; });
}

/// Moves an address by bytes, or a descriptor by 16-byte units.
void move_in_buffer(Type type, const Value& from, std::optional<std::int64_t> by, Value& out) {
    out.buffer = from.buffer;
    out.is_descriptor = from.is_descriptor;
    if (!from.offset || !by) return;
    const std::int64_t unit = from.is_descriptor ? 16 : 1;
    out.offset = wrapped(from.is_descriptor ? b64 : type, sum(*from.offset, product_low(*by, unit)));
}

/// Returns the sum of an address (or descriptor) and anything, of two constants, or of tid and a constant.
Value value_sum(const Step& s, const ValueOf& of, bool subtract) {
    const Type type = s.form.type();
    Value a = of(s.operands[1]), b = of(s.operands[2]);
    Value out = joined(s, of);
    if (!is_word(type) || s.form.get(Field::sat, 0) == 1) return out;
    if (!subtract && a.buffer < 0 && !plain(b)) std::swap(a, b);
    if (b.buffer >= 0) return out;
    std::optional<std::int64_t> by = plain(b);
    if (by && subtract) by = product_low<std::int64_t>(*by, -1);
    if (a.buffer >= 0) {
        move_in_buffer(type, a, by, out);
    } else if (a.constant && by) {
        out.constant = wrapped(type, sum(*a.constant, *by));
        out.thread_shift = a.thread_shift;
    }
    return out;
}

/// Returns the product of two constants, as mul and mad compute it.
std::optional<std::int64_t> constant_product(const Step& s, const ValueOf& of) {
    const Type type = s.form.type();
    const auto a = plain(of(s.operands[1])), b = plain(of(s.operands[2]));
    const int half = s.form.get(Field::half, 0);
    if (!a || !b || is_float(type) || half == 1 || bits(type) < 32) return {};
    if (half == 0) return wrapped(type, product_low(*a, *b));
    return product_low(number_of(type, *a), number_of(type, *b));
}

Value value_mul(const Step& s, const ValueOf& of) {
    Value out = joined(s, of);
    if ((out.constant = constant_product(s, of))) out.thread_shift = -1;
    return out;
}

Value value_mad(const Step& s, const ValueOf& of) {
    const Type type = product_type(s.form);
    const Value c = of(s.operands[3]);
    const std::optional<std::int64_t> product = constant_product(s, of);
    Value out = joined(s, of);
    if (!is_word(type) || s.form.get(Field::sat, 0) == 1) return out;
    if (c.buffer >= 0) {
        move_in_buffer(type, c, product, out);
    } else if (c.constant && product) {
        out.constant = wrapped(type, sum(*c.constant, *product));
        out.thread_shift = c.thread_shift;
    }
    return out;
}

/// Wraps integers alone, not floats, and not limited to their range.
bool wraps(const Form& form) {
    const Type type = form.type();
    return !is_float(type) && !is_half(type) && !is_pair(type) && form.get(Field::sat, 0) == 0;
}

KnownBits bits_of_sum(const Step& s, const BitsOf& of) {
    if (!wraps(s.form)) return {};
    return (of(s.operands[1]) + of(s.operands[2])).cut(bits(s.form.type()));
}

KnownBits bits_of_difference(const Step& s, const BitsOf& of) {
    if (!wraps(s.form)) return {};
    return (of(s.operands[1]) - of(s.operands[2])).cut(bits(s.form.type()));
}

/// Of mul: the low half, or with .wide all of the product.
KnownBits bits_of_product(const Step& s, const BitsOf& of) {
    const int half = s.form.get(Field::half, 0);
    if (!wraps(s.form) || half == 1) return {};
    const auto source = [&](std::size_t i) {
        const KnownBits bits_of_it = of(s.operands[i]);
        return half == 2 && is_signed(s.form.type()) ? bits_of_it.extended(bits(s.form.type())) : bits_of_it;
    };
    return (source(1) * source(2)).cut(bits(product_type(s.form)));
}

KnownBits bits_of_mad(const Step& s, const BitsOf& of) {
    if (!wraps(s.form) || s.form.get(Field::half, 0) == 1) return {};
    return (bits_of_product(s, of) + of(s.operands[3])).cut(bits(product_type(s.form)));
}

KnownBits bits_of_remainder(const Step& s, const BitsOf& of) {
    if (is_signed(s.form.type())) return {};
    const KnownBits a = of(s.operands[1]), b = of(s.operands[2]);
    // By 0 it is a itself.
    const KnownBits out = up_to(b.least() == 0 ? a.greatest() : std::min(a.greatest(), b.greatest() - 1));
    // What divides both divides it.
    const int zeros = std::min(std::countr_zero(a.greatest()), std::countr_zero(b.greatest()));
    return zeros == 64 ? KnownBits::of(0) : KnownBits{0, out.unknown & ~UINT64_C(0) << zeros};
}

// The same as terms (algebra.hpp).

Term meaning_of_sum(const Step& s, Algebra& in) {
    return wraps(s.form) ? in.sum(in.of(s.operands[1]), in.of(s.operands[2])) : Term::unknown;
}

Term meaning_of_difference(const Step& s, Algebra& in) {
    return wraps(s.form) ? in.sum(in.of(s.operands[1]), in.of(s.operands[2]), -1) : Term::unknown;
}

Term meaning_of_product(const Step& s, Algebra& in) {
    const int half = s.form.get(Field::half, 0);
    if (!wraps(s.form)) return Term::unknown;
    if (half == 0) return in.product(in.of(s.operands[1]), in.of(s.operands[2]));
    const Type type = s.form.type();
    const Term whole = in.product(in.number(s.operands[1], type), in.number(s.operands[2], type));
    if (half == 2) return whole;
    return bits(type) > 32 ? Term::unknown : in.quotient(whole, in.constant(std::int64_t{1} << bits(type)));
}

Term meaning_of_mad(const Step& s, Algebra& in) {
    return in.sum(meaning_of_product(s, in), in.of(s.operands[3]));
}

/// Rounded towards 0.
Term meaning_of_quotient(const Step& s, Algebra& in) {
    const Type type = s.form.type();
    if (!wraps(s.form)) return Term::unknown;
    const Term a = in.number(s.operands[1], type), b = in.number(s.operands[2], type);
    if (!is_signed(type)) return in.quotient(a, b);
    const Term zero = in.constant(0);
    return in.select(in.compare(Compared::ge, a, zero), in.quotient(a, b),
                     in.sum(zero, in.quotient(in.sum(zero, a, -1), b), -1));
}

Term meaning_of_remainder(const Step& s, Algebra& in) {
    const Type type = s.form.type();
    return in.sum(in.number(s.operands[1], type),
                  in.product(in.number(s.operands[2], type), meaning_of_quotient(s, in)), -1);
}

Term meaning_of_negation(const Step& s, Algebra& in) {
    return wraps(s.form) ? in.sum(in.constant(0), in.of(s.operands[1]), -1) : Term::unknown;
}

Row integers() { return {{types({u16, s16, u32, s32, u64, s64})}, {7, 8}}; }
/// Returns `rest` and the rows of floats: with every rounding, or without any.
/// limited: with .sat. fused: also as the assembler likes, "contract".
std::vector<Row> with_floats(std::vector<Row> rest, bool rounded, bool limited = false, bool fused = false) {
    Row single{{only(f32), flag(Field::ftz)}, {7, 8}}, twice{{only(f64)}, {7, 8}};
    if (rounded)
        for (Row* row : {&single, &twice})
            row->choices.push_back(fused
                                       ? spelled_as(Field::round, {"rn", "rz", "rm", "rp", "contract"}, "rn")
                                       : spelled_as(Field::round, {"rn", "rz", "rm", "rp"}, "rn"));
    if (limited) single.choices.push_back(flag(Field::sat));
    rest.push_back(single);
    rest.push_back(twice);
    return rest;
}
std::vector<Row> with_halves(std::vector<Row> rest, bool rounded) {
    for (const Row& row : half_rows(rounded)) rest.push_back(row);
    return rest;
}
/// Limited sums are those of s32 alone.
Row limited() { return {{only(s32), Choice{Field::sat, {{1, 1}}, {}, true}}, {7, 8}}; }

Row halves() {
    return {{types({u16, s16, u32, s32, u64, s64}), spelled_as(Field::half, {"lo", "hi"}, "lo")}, {7, 8}};
}
Row wide() { return {{types({u16, s16, u32, s32}), spelled_as(Field::half, {"wide"})}, {7, 8}}; }

}  // namespace

const Operand* divisor_of(const Step& step) {
    const bool divides = step.op->work == Work::quotient || step.op->work == Work::remainder;
    return divides && !is_float(step.form.type()) ? &step.operands[2] : nullptr;
}

std::span<const Instruction> arithmetic_family() {
    static const std::vector<Instruction> list{
        {.name = "add",
         .summary = "d = a + b",
         .section = "9.7.1.1",
         .rows = with_halves(with_floats({integers(), limited(), pairs()}, true, true, true), true),
         .operands = {out("d"), in("a"), in("b")},
         .ptx = "add{.round}{.ftz}{.sat}{.type} {%d}, {%a}, {%b}",
         .work = Work::arithmetic,
         .value = [](const Step& s, const ValueOf& of) { return value_sum(s, of, false); },
         .known_bits = bits_of_sum,
         .shape = of_integers<Shape::polynomial>,
         .meaning = meaning_of_sum,
         .run = run_add},
        {.name = "sub",
         .summary = "d = a - b",
         .section = "9.7.1.2",
         .rows = with_halves(with_floats({integers(), limited()}, true, true, true), true),
         .operands = {out("d"), in("a"), in("b")},
         .ptx = "sub{.round}{.ftz}{.sat}{.type} {%d}, {%a}, {%b}",
         .work = Work::arithmetic,
         .value = [](const Step& s, const ValueOf& of) { return value_sum(s, of, true); },
         .known_bits = bits_of_difference,
         .shape = of_integers<Shape::polynomial>,
         .meaning = meaning_of_difference,
         .run = run_sub},
        {.name = "mul",
         .summary = "d = a * b: the low half, the high half, or the wide product of integers",
         .section = "9.7.1.3",
         .rows = with_halves(with_floats({halves(), wide()}, true, true, true), true),
         .operands = {out("d", product_type), in("a"), in("b")},
         .ptx = "mul{.half}{.round}{.ftz}{.sat}{.type} {%d}, {%a}, {%b}",
         .work = Work::arithmetic,
         .value = value_mul,
         .known_bits = bits_of_product,
         .shape = shape_of_factor,
         .meaning = meaning_of_product,
         .run = run_mul},
        {.name = "mad",
         .summary = "d = a * b + c of integers (floats: fma)",
         .section = "9.7.1.4",
         .rows = {halves(),
                  wide(),
                  {{only(s32), spelled_as(Field::half, {"hi"}), Choice{Field::sat, {{1, 1}}, {}, true}},
                   {7, 8}}},
         .operands = {out("d", product_type), in("a"), in("b"), in("c", product_type)},
         .ptx = "mad{.half}{.sat}{.type} {%d}, {%a}, {%b}, {%c}",
         .work = Work::arithmetic,
         .value = value_mad,
         .known_bits = bits_of_mad,
         .shape = shape_of_product,
         .meaning = meaning_of_mad,
         .run = run_mad},
        {.name = "div",
         .summary = "d = a / b",
         .section = "9.7.1.8",
         .rows = with_floats({integers()}, true),
         .operands = {out("d"), in("a"), in("b")},
         .ptx = "div{.round}{.ftz}{.type} {%d}, {%a}, {%b}",
         .work = Work::quotient,
         .shape = of_integers<Shape::quotient>,
         .meaning = meaning_of_quotient,
         .run = run_div},
        {.name = "rem",
         .summary = "d = a % b of integers",
         .section = "9.7.1.9",
         .rows = {integers()},
         .operands = {out("d"), in("a"), in("b")},
         .ptx = "rem{.type} {%d}, {%a}, {%b}",
         .work = Work::remainder,
         .known_bits = bits_of_remainder,
         .shape = of_integers<Shape::remainder>,
         .meaning = meaning_of_remainder,
         .run = run_rem},
        {.name = "neg",
         .summary = "d = -a",
         .section = "9.7.1.11",
         .rows = with_halves(with_floats({{{types({s16, s32, s64})}, {7, 8}}}, false), false),
         .operands = {out("d"), in("a")},
         .ptx = "neg{.ftz}{.type} {%d}, {%a}",
         .work = Work::arithmetic,
         .shape = of_integers<Shape::polynomial>,
         .meaning = meaning_of_negation,
         .run = run_neg},
        {.name = "abs",
         .summary = "d = |a|",
         .section = "9.7.1.10",
         .rows = with_halves(with_floats({{{types({s16, s32, s64})}, {7, 8}}}, false), false),
         .operands = {out("d"), in("a")},
         .ptx = "abs{.ftz}{.type} {%d}, {%a}",
         .work = Work::arithmetic,
         .run = run_abs},
    };
    return list;
}

}  // namespace wgrun::isa
