// fma, and the functions of one float: rcp, sqrt, rsqrt, ex2, lg2.
#include <cmath>
#include <limits>

#include "isa/families.hpp"
#include "isa/lanes.hpp"

namespace wgrun::isa {
namespace {

using enum Type;

void run_fma(const Step& s, Machine& m) {
    if (s.form.type() == f32)
        map3<float, float, float>(s, m, [](float a, float b, float c) { return std::fma(a, b, c); });
    else
        map3<double, double, double>(s, m, [](double a, double b, double c) { return std::fma(a, b, c); });
}

/// .ftz: a subnormal counts as zero of its sign.
float flushed(float a) { return std::abs(a) < std::numeric_limits<float>::min() ? std::copysign(0.F, a) : a; }

/// A function of one float. The .approx forms are computed here to binary32 precision: closer than the
/// chip's.
template <double (*f)(double)>
void run_function(const Step& s, Machine& m) {
    if (s.form.get(Field::ftz, 0) == 1)
        map1<float, float>(s, m, [](float a) { return flushed(static_cast<float>(f(flushed(a)))); });
    else if (s.form.type() == f32)
        map1<float, float>(s, m, [](float a) { return static_cast<float>(f(a)); });
    else
        map1<double, double>(s, m, [](double a) { return f(a); });
}

double reciprocal(double a) { return 1 / a; }
double root(double a) { return std::sqrt(a); }
double reciprocal_root(double a) { return 1 / std::sqrt(a); }
double power_of_two(double a) { return std::exp2(a); }
double binary_logarithm(double a) { return std::log2(a); }

Row rounded() { return {{types({f32, f64}), spelled_as(Field::round, {"rn"}, "rn")}, {7, 8}}; }
Row approximate() { return {{types({f32}), Choice{Field::approx, {{1, 1}}, {}}, flag(Field::ftz)}, {7, 8}}; }
Row approximate_only() {
    return {{types({f32}), Choice{Field::approx, {{1, 1}}, 1}, flag(Field::ftz)}, {7, 8}};
}

Instruction function(std::string_view name, std::string_view summary, std::string_view section,
                     std::vector<Row> rows, std::string_view ptx, void (*run)(const Step&, Machine&)) {
    return {.name = name,
            .summary = summary,
            .section = section,
            .rows = std::move(rows),
            .operands = {out("d"), in("a")},
            .ptx = ptx,
            .run = run};
}

/// Made when they are first asked for.
const std::vector<Instruction>& records() {
    static const std::vector<Instruction> list{
        {.name = "fma",
         .summary = "d = a * b + c, rounded once",
         .section = "9.7.3.6",
         .rows = {rounded()},
         .operands = {out("d"), in("a"), in("b"), in("c")},
         .ptx = "fma{.round}{.type} {%d}, {%a}, {%b}, {%c}",
         .run = run_fma},
        function("rcp", "d = 1 / a", "9.7.3.13", {rounded(), approximate()},
                 "rcp{.round}{.approx}{.ftz}{.type} {%d}, {%a}", run_function<reciprocal>),
        function("sqrt", "d = square root of a", "9.7.3.16", {rounded(), approximate()},
                 "sqrt{.round}{.approx}{.ftz}{.type} {%d}, {%a}", run_function<root>),
        function("rsqrt", "d = 1 / square root of a", "9.7.3.17", {approximate_only()},
                 "rsqrt{.approx}{.ftz}{.type} {%d}, {%a}", run_function<reciprocal_root>),
        function("ex2", "d = 2 to the power of a", "9.7.3.21", {approximate_only()},
                 "ex2{.approx}{.ftz}{.type} {%d}, {%a}", run_function<power_of_two>),
        function("lg2", "d = binary logarithm of a", "9.7.3.20", {approximate_only()},
                 "lg2{.approx}{.ftz}{.type} {%d}, {%a}", run_function<binary_logarithm>),
    };
    return list;
}

}  // namespace

std::span<const Instruction> float_family() { return records(); }

}  // namespace wgrun::isa
