// fma, the functions of one float (rcp, sqrt, rsqrt, ex2, lg2, sin, cos, tanh), copysign, and approximate
// division.
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "isa/families.hpp"
#include "isa/halves.hpp"
#include "isa/lanes.hpp"
#include "isa/rounded.hpp"

namespace wgrun::isa {
namespace {

using enum Type;

void run_fma(const Step& s, Machine& m) {
    const bool relu = s.form.get(Field::relu, 0) == 1;
    if (is_half(s.form.type()))
        return map_halves<3>(s, m, [relu](double a, double b, double c) {
            const double sum = sum_to_odd(a * b, c);
            return relu && sum <= 0 ? 0 : sum;  // -0 included
        });
    if (s.form.type() == f32)
        map_rounded<float, 3>(s, m, [](float a, float b, float c) { return std::fma(a, b, c); });
    else
        map_rounded<double, 3>(s, m, [](double a, double b, double c) { return std::fma(a, b, c); });
}

/// A function of one float. The .approx forms are computed here to binary32 precision, which is more than the
/// chip's.
template <double (*f)(double)>
void run_function(const Step& s, Machine& m) {
    if (is_half(s.form.type())) return map_halves<1>(s, m, f);
    if (s.form.type() == f32)
        map_rounded<float, 1>(s, m, [](float a) { return static_cast<float>(f(a)); });
    else
        map_rounded<double, 1>(s, m, [](double a) { return f(a); });
}

/// A function of the upper half of a binary64 number, whose result has an upper half alone.
template <double (*f)(double)>
void run_gross_function(const Step& s, Machine& m) {
    if (s.form.type() != f64 || s.form.get(Field::approx, 0) == 0) return run_function<f>(s, m);
    constexpr std::uint64_t upper = ~std::uint64_t{0} << 32, half = std::uint64_t{1} << 31;
    const bool flushes = s.form.get(Field::ftz, 0) == 1;
    const auto normal = [&](double a) {
        return flushes && std::abs(a) < std::numeric_limits<double>::min() ? std::copysign(0.0, a) : a;
    };
    map1<std::uint64_t, std::uint64_t>(s, m, [&](std::uint64_t bits) -> std::uint64_t {
        const double y = normal(f(normal(std::bit_cast<double>(bits & upper))));
        if (std::isnan(y)) return std::uint64_t{0x7FFFFFFF} << 32;
        return (std::bit_cast<std::uint64_t>(y) + half) & upper;
    });
}

void run_quotient(const Step& s, Machine& m) {
    map_rounded<float, 2>(s, m, [](float a, float b) { return a / b; });
}

template <class T>
void run_copysign_of(const Step& s, Machine& m) {
    constexpr T sign = T{1} << (sizeof(T) * 8 - 1);
    map2<T, T>(s, m, [](T a, T b) { return static_cast<T>((a & sign) | (b & ~sign)); });
}

void run_copysign(const Step& s, Machine& m) {
    if (s.form.type() == f32)
        run_copysign_of<std::uint32_t>(s, m);
    else
        run_copysign_of<std::uint64_t>(s, m);
}

/// Zeros count as normal (PTX ISA 9.7.3.1).
bool has_property(std::string_view property, double a, bool subnormal) {
    if (property == "finite") return std::isfinite(a);
    if (property == "infinite") return std::isinf(a);
    if (property == "number") return !std::isnan(a);
    if (property == "notanumber") return std::isnan(a);
    return std::isfinite(a) && subnormal == (property == "subnormal");
}

void run_testp(const Step& s, Machine& m) {
    const std::string property = spelled(Field::property, s.form.get(Field::property));
    const auto of = [&]<class T>(T) {
        map1<std::uint32_t, T>(s, m, [&](T a) {
            const bool subnormal = std::fpclassify(a) == FP_SUBNORMAL;
            return has_property(property, static_cast<double>(a), subnormal) ? 1U : 0U;
        });
    };
    if (s.form.type() == f32)
        of(float{});
    else
        of(double{});
}

double reciprocal(double a) { return 1 / a; }
double root(double a) { return std::sqrt(a); }
double reciprocal_root(double a) { return 1 / std::sqrt(a); }
double power_of_two(double a) { return std::exp2(a); }
double binary_logarithm(double a) { return std::log2(a); }
double sine(double a) { return std::sin(a); }
double cosine(double a) { return std::cos(a); }
double hyperbolic_tangent(double a) { return std::tanh(a); }

/// Without .ftz, the root of a binary64 number is a program of the compiler's, of binary64 precision.
void run_reciprocal_root(const Step& s, Machine& m) {
    if (s.form.get(Field::ftz, 0) == 0) return run_function<reciprocal_root>(s, m);
    run_gross_function<reciprocal_root>(s, m);
}

std::vector<Row> rounded() {
    const Choice any = spelled_as(Field::round, {"rn", "rz", "rm", "rp"}, "rn");
    return {{{only(f32), any, flag(Field::ftz)}, {7, 8}}, {{only(f64), any}, {7, 8}}};
}
/// Returns `rows` followed by `more`.
std::vector<Row> with(std::vector<Row> rows, const std::vector<Row>& more) {
    rows.insert(rows.end(), more.begin(), more.end());
    return rows;
}
/// Returns the rows of f16 and bf16. ex2 of bf16 is .ftz, and its text says so.
std::vector<Row> approximate_halves(bool brain_ftz) {
    const Choice approx{Field::approx, {{1, 1}}, 1};
    Row brain{{types({bf16, bf16x2}), approx}, {7, 8}};
    if (brain_ftz) brain.choices.push_back(Choice{Field::ftz, {{1, 1}}, 1});
    return {{{types({f16, f16x2}), approx}, {7, 8}}, brain};
}
std::vector<Row> fma_rows() {
    const Choice nearest = spelled_as(Field::round, {"rn"}, "rn");
    std::vector<Row> singles = rounded();
    singles.front().choices.push_back(flag(Field::sat));
    return with(
        singles,
        {{{types({f16, f16x2}), nearest, flag(Field::ftz), flag(Field::relu)}, {7, 8}},
         {{types({f16, f16x2}), nearest, flag(Field::ftz), Choice{Field::sat, {{1, 1}}, {}, true}}, {7, 8}},
         {{types({bf16, bf16x2}), nearest, flag(Field::relu)}, {7, 8}}});
}
Row approximate() { return {{types({f32}), Choice{Field::approx, {{1, 1}}, {}}, flag(Field::ftz)}, {7, 8}}; }
Row approximate_only() {
    return {{types({f32}), Choice{Field::approx, {{1, 1}}, 1}, flag(Field::ftz)}, {7, 8}};
}
Row approximate_single() {
    return {{only(f32), Choice{Field::approx, {{1, 1}}, 1}, flag(Field::ftz)}, {7, 8}};
}

/// slow: without .ftz.
Row approximate_double(bool slow) {
    Row out{{only(f64), Choice{Field::approx, {{1, 1}}, slow ? std::optional(1) : std::nullopt, !slow}},
            {7, 8}};
    if (!slow) out.choices.push_back(Choice{Field::ftz, {{1, 1}}, {}, true});
    return out;
}

Instruction function(std::string_view name, std::string_view summary, std::string_view section,
                     std::vector<Row> rows, std::string_view ptx, void (*run)(const Step&, Machine&)) {
    return {.name = name,
            .summary = summary,
            .section = section,
            .rows = std::move(rows),
            .operands = {out("d"), in("a")},
            .ptx = ptx,
            .work = Work::function,
            .run = run};
}

}  // namespace

std::span<const Instruction> float_family() {
    static const std::vector<Instruction> list{
        {.name = "fma",
         .summary = "d = a * b + c, rounded once",
         .section = "9.7.3.6",
         .rows = fma_rows(),
         .operands = {out("d"), in("a"), in("b"), in("c")},
         .ptx = "fma{.round}{.ftz}{.sat}{.relu}{.type} {%d}, {%a}, {%b}, {%c}",
         .work = Work::fused,
         .run = run_fma},
        function("rcp", "d = 1 / a; .approx of f64 has 20 bits", "9.7.3.13",
                 with(rounded(), {approximate(), approximate_double(false)}),
                 "rcp{.round}{.approx}{.ftz}{.type} {%d}, {%a}", run_gross_function<reciprocal>),
        function("sqrt", "d = square root of a", "9.7.3.15", with(rounded(), {approximate()}),
                 "sqrt{.round}{.approx}{.ftz}{.type} {%d}, {%a}", run_function<root>),
        function("rsqrt", "d = 1 / square root of a; .ftz of f64 has 20 bits", "9.7.3.16",
                 {approximate_only(), approximate_double(true), approximate_double(false)},
                 "rsqrt{.approx}{.ftz}{.type} {%d}, {%a}", run_reciprocal_root),
        function("ex2", "d = 2 to the power of a", "9.7.3.21",
                 with({approximate_single()}, approximate_halves(true)),
                 "ex2{.approx}{.ftz}{.type} {%d}, {%a}", run_function<power_of_two>),
        function("lg2", "d = binary logarithm of a", "9.7.3.20", {approximate_only()},
                 "lg2{.approx}{.ftz}{.type} {%d}, {%a}", run_function<binary_logarithm>),
        function("sin", "sine of a, in radians", "9.7.3.18", {approximate_only()},
                 "sin{.approx}{.ftz}{.type} {%d}, {%a}", run_function<sine>),
        function("cos", "cosine of a, in radians", "9.7.3.19", {approximate_only()},
                 "cos{.approx}{.ftz}{.type} {%d}, {%a}", run_function<cosine>),
        function("tanh", "hyperbolic tangent of a", "9.7.3.22",
                 with({{{only(f32), Choice{Field::approx, {{1, 1}}, 1}}, {7, 8}}}, approximate_halves(false)),
                 "tanh{.approx}{.type} {%d}, {%a}", run_function<hyperbolic_tangent>),
        {.name = "div.approx",
         .summary = "d = a / b, within 2 ulp for |b| from 2^-126 to 2^126",
         .section = "9.7.3.8",
         .rows = {{{types({f32}), flag(Field::ftz)}, {7, 8}}},
         .operands = {out("d"), in("a"), in("b")},
         .ptx = "div.approx{.ftz}{.type} {%d}, {%a}, {%b}",
         .run = run_quotient},
        {.name = "div.full",
         .summary = "d = a / b, within 2 ulp for all b",
         .section = "9.7.3.8",
         .rows = {{{types({f32}), flag(Field::ftz)}, {7, 8}}},
         .operands = {out("d"), in("a"), in("b")},
         .ptx = "div.full{.ftz}{.type} {%d}, {%a}, {%b}",
         .run = run_quotient},
        {.name = "copysign",
         .summary = "the magnitude of b with the sign of a",
         .section = "9.7.3.2",
         .rows = {{{types({f32, f64})}, {7, 8}}},
         .operands = {out("d"), in("a"), in("b")},
         .ptx = "copysign{.type} {%d}, {%a}, {%b}",
         .run = run_copysign},
        {.name = "testp",
         .summary = "whether a has a property of floats",
         .section = "9.7.3.1",
         .rows = {{{spelled_as(Field::property,
                               {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}),
                    types({f32, f64})},
                   {7, 8}}},
         .operands = {out("p", fixed<pred>), in("a")},
         .ptx = "testp{.property}{.type} {%p}, {%a}",
         .work = Work::logic,
         .run = run_testp},
    };
    return list;
}

}  // namespace wgrun::isa
