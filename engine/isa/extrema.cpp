// The smaller and the larger one of two numbers: min, max, min.NaN, max.NaN.
#include <algorithm>
#include <cmath>
#include <limits>

#include "isa/algebra.hpp"
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

// min and max of floats prefer a number to a NaN, and -0 is less than +0 (PTX ISA 9.7.3.11, 9.7.3.12).
template <class T>
T least(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(a)) return b;
        if (std::isnan(b)) return a;
        if (a == b) return std::signbit(a) ? a : b;
    }
    return a < b ? a : b;
}

template <class T>
T greatest(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(a)) return b;
        if (std::isnan(b)) return a;
        if (a == b) return std::signbit(a) ? b : a;
    }
    return a > b ? a : b;
}

template <class T>
T least_or_nan(T a, T b) {
    return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN() : least(a, b);
}
template <class T>
T greatest_or_nan(T a, T b) {
    return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN() : greatest(a, b);
}

/// min and max of the magnitudes; the sign is the exclusive or of the signs.
template <class F>
void run_of_magnitudes(const Step& s, Machine& m, F f) {
    if (is_half(s.form.type())) {
        const HalfFormat format(s.form);
        constexpr unsigned sign = 0x8000;
        return map_half_bits<2>(s, m, [&](std::uint16_t a, std::uint16_t b) {
            const auto magnitude = [&](unsigned bits) {
                return format.number(static_cast<std::uint16_t>(bits & ~sign));
            };
            const double least = f(magnitude(a), magnitude(b));
            return static_cast<std::uint16_t>(format.bits(least) |
                                              (std::isnan(least) ? 0U : (unsigned{a} ^ b) & sign));
        });
    }
    map_rounded<float, 2>(s, m, [&](float a, float b) {
        return std::copysign(static_cast<float>(f(double{std::abs(a)}, double{std::abs(b)})),
                             std::signbit(a) != std::signbit(b) ? -1.F : 1.F);
    });
}
bool is_of_magnitudes(const Form& form) { return form.get(Field::xorsign, 0) == 1; }

/// Computes f; with .relu a negative result becomes zero.
template <class F>
void of_integers_or_floats(const Step& s, Machine& m, F f) {
    const bool rectified = s.form.get(Field::relu, 0) == 1;
    const auto g = [&]<class T>(T a, T b) { return rectified ? std::max(f(a, b), T{0}) : f(a, b); };
    if (is_pair(s.form.type())) return map_pairs(s, m, g);
    with_number(s.form.type(), [&]<class T>(T) { map_rounded<T, 2>(s, m, g); });
}

void run_min(const Step& s, Machine& m) {
    if (is_of_magnitudes(s.form)) return run_of_magnitudes(s, m, least<double>);
    if (is_half(s.form.type())) return map_halves<2>(s, m, least<double>);
    of_integers_or_floats(s, m, []<class T>(T a, T b) { return least(a, b); });
}
void run_max(const Step& s, Machine& m) {
    if (is_of_magnitudes(s.form)) return run_of_magnitudes(s, m, greatest<double>);
    if (is_half(s.form.type())) return map_halves<2>(s, m, greatest<double>);
    of_integers_or_floats(s, m, []<class T>(T a, T b) { return greatest(a, b); });
}
void run_min_nan(const Step& s, Machine& m) {
    if (is_of_magnitudes(s.form)) return run_of_magnitudes(s, m, least_or_nan<double>);
    if (is_half(s.form.type())) return map_halves<2>(s, m, least_or_nan<double>);
    map_rounded<float, 2>(s, m, least_or_nan<float>);
}
void run_max_nan(const Step& s, Machine& m) {
    if (is_of_magnitudes(s.form)) return run_of_magnitudes(s, m, greatest_or_nan<double>);
    if (is_half(s.form.type())) return map_halves<2>(s, m, greatest_or_nan<double>);
    map_rounded<float, 2>(s, m, greatest_or_nan<float>);
}

std::vector<Row> single_and_halves() {
    std::vector<Row> out{{{only(f32), flag(Field::ftz)}, {7, 8}}};
    for (const Row& row : half_rows(false)) out.push_back(row);
    return out;
}
/// Adds the rows of magnitudes: of the floats but f64, with .xorsign.abs.
std::vector<Row> with_magnitudes(std::vector<Row> rest) {
    for (Row row : single_and_halves()) {
        row.choices.push_back(among(Field::xorsign, {1}));
        row.choices.back().asked = true;
        rest.push_back(row);
    }
    return rest;
}
std::vector<Row> rows_of_extrema() {
    std::vector<Row> out{
        {{types({u16, s16, u32, s32, u64, s64})}, {7, 8}},
        pairs(),
        {{types({s32, s16x2}), Choice{Field::relu, {{1, 1}}, {}, true}}, {8, 0}},
        {{only(f64)}, {7, 8}},
    };
    for (const Row& row : single_and_halves()) out.push_back(row);
    return with_magnitudes(std::move(out));
}

/// It is one of the two, and the smaller is no greater than either.
KnownBits bits_of_one(const Step& s, const BitsOf& of, bool smaller) {
    const Type type = s.form.type();
    if (is_float(type) || is_half(type) || is_pair(type)) return {};
    const KnownBits a = of(s.operands[1]), b = of(s.operands[2]);
    KnownBits out = a.joined(b);
    if (smaller && !is_signed(type)) out.unknown &= up_to(std::min(a.greatest(), b.greatest())).greatest();
    if (s.form.get(Field::relu, 0) == 1) out = out.joined(KnownBits::of(0));
    return out;
}

/// a where it is in that relation to b, else b.
template <Compared how>
Term meaning_of_one(const Step& s, Algebra& in) {
    const Type type = s.form.type();
    if (is_float(type) || is_half(type) || is_pair(type) || s.form.get(Field::relu, 0) != 0)
        return Term::unknown;
    const Term a = in.number(s.operands[1], type), b = in.number(s.operands[2], type);
    return in.select(in.compare(how, a, b), a, b);
}

template <Shape shape>
Shape shape_of_one(const Form& form) {
    return form.get(Field::relu, 0) != 0 ? Shape::other : of_integers<shape>(form);
}

}  // namespace

std::span<const Instruction> extrema_family() {
    static const std::vector<Instruction> list{
        {.name = "min",
         .summary = "the smaller of a and b",
         .section = "9.7.1.12",
         .rows = rows_of_extrema(),
         .operands = {out("d"), in("a"), in("b")},
         .ptx = "min{.relu}{.ftz}{.xorsign}{.type} {%d}, {%a}, {%b}",
         .work = Work::logic,
         .known_bits = [](const Step& s, const BitsOf& of) { return bits_of_one(s, of, true); },
         .shape = shape_of_one<Shape::smaller>,
         .meaning = meaning_of_one<Compared::le>,
         .run = run_min},
        {.name = "min.NaN",
         .summary = "the smaller of a and b; NaN if one of them is a NaN",
         .section = "9.7.3.11",
         .rows = with_magnitudes(single_and_halves()),
         .operands = {out("d"), in("a"), in("b")},
         .ptx = "min{.ftz}.NaN{.xorsign}{.type} {%d}, {%a}, {%b}",
         .work = Work::logic,
         .run = run_min_nan},
        {.name = "max",
         .summary = "the larger of a and b",
         .section = "9.7.1.13",
         .rows = rows_of_extrema(),
         .operands = {out("d"), in("a"), in("b")},
         .ptx = "max{.relu}{.ftz}{.xorsign}{.type} {%d}, {%a}, {%b}",
         .work = Work::logic,
         .known_bits = [](const Step& s, const BitsOf& of) { return bits_of_one(s, of, false); },
         .shape = shape_of_one<Shape::greater>,
         .meaning = meaning_of_one<Compared::ge>,
         .run = run_max},
        {.name = "max.NaN",
         .summary = "the larger of a and b; NaN if one of them is a NaN",
         .section = "9.7.3.12",
         .rows = with_magnitudes(single_and_halves()),
         .operands = {out("d"), in("a"), in("b")},
         .ptx = "max{.ftz}.NaN{.xorsign}{.type} {%d}, {%a}, {%b}",
         .work = Work::logic,
         .run = run_max_nan},
    };
    return list;
}

}  // namespace wgrun::isa
