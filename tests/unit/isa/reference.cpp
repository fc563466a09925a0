#include "tests/unit/isa/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bench {
namespace {

__extension__ using Int = __int128;
__extension__ using Natural = unsigned __int128;
__extension__ using Quad = __float128;

int width(Type type) { return isa::bits(type); }

Raw cut(Type type, Natural value) {
    return width(type) == 64 ? static_cast<Raw>(value)
                             : static_cast<Raw>(value) & ((Raw{1} << width(type)) - 1);
}

Int integer(Type type, Raw raw) {
    const Raw value = cut(type, raw);
    const bool negative = isa::is_signed(type) && (value >> (width(type) - 1) & 1U);
    return static_cast<Int>(value) - (negative ? Int{1} << width(type) : Int{0});
}

/// A binary format of 1 + exponent + mantissa bits, its value.
double decoded(Raw raw, int exponent_bits, int mantissa_bits) {
    const int exponent = static_cast<int>(raw >> mantissa_bits & ((Raw{1} << exponent_bits) - 1));
    const double mantissa = static_cast<double>(raw & ((Raw{1} << mantissa_bits) - 1));
    const double sign = raw >> (exponent_bits + mantissa_bits) & 1U ? -1 : 1;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    if (exponent == (1 << exponent_bits) - 1)
        return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
    const double steps = exponent == 0 ? mantissa : mantissa + std::ldexp(1, mantissa_bits);
    return sign * std::ldexp(steps, std::max(exponent, 1) - bias - mantissa_bits);
}

double real(Type type, Raw raw) {
    switch (type) {
        case Type::f16: return decoded(raw, 5, 10);
        case Type::bf16: return decoded(raw, 8, 7);
        case Type::tf32: return decoded(raw >> 13, 8, 10);
        case Type::f32: return std::bit_cast<float>(static_cast<std::uint32_t>(raw));
        default: return std::bit_cast<double>(raw);
    }
}

Raw bits_of(Type type, Quad value) {
    if (type == Type::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    return std::bit_cast<Raw>(static_cast<double>(value));
}

/// x * y + z so that a further rounding is the only one: what does not fit 113 bits shows in the last of
/// them.
Quad fused(Quad x, Quad y, Quad z) {
    const Quad p = x * y;  // 106 bits at most
    const Quad sum = p + z;
    const Quad back = sum - p;
    const Quad error = (p - (sum - back)) + (z - back);
    if (sum - sum != 0 || error == 0 || sum == 0) return sum;
    auto bits = std::bit_cast<Natural>(sum);
    if ((error < 0) != (sum < 0)) --bits;  // towards zero
    return std::bit_cast<Quad>(bits | 1);
}

/// Returns `value` in a small format, rounded as the mode says.
Raw encoded(double value, int exponent_bits, int mantissa_bits, const std::string& round) {
    const Raw sign = static_cast<Raw>(std::signbit(value)) << (exponent_bits + mantissa_bits);
    const Raw infinity = ((Raw{1} << exponent_bits) - 1) << mantissa_bits;
    if (std::isnan(value)) return infinity | 1;
    if (std::isinf(value)) return sign | infinity;
    if (value == 0) return sign;
    const double magnitude = std::abs(value);
    const int least = 2 - (1 << (exponent_bits - 1));
    const int exponent = std::max(std::ilogb(magnitude), least);
    double steps = std::ldexp(magnitude, mantissa_bits - exponent);
    steps = round == "rz"    ? std::floor(steps)
            : round == "rna" ? std::floor(steps + 0.5)
                             : std::nearbyint(steps);
    // The leading one of a normal number counts the exponent up by one, and so does a carry.
    const Raw out = (static_cast<Raw>(exponent - least) << mantissa_bits) + static_cast<Raw>(steps);
    if (out >= infinity) return sign | (round == "rz" ? infinity - 1 : infinity);
    return sign | out;
}

/// e4m3 has no infinities: the last exponent is one of numbers, up to 448.
Raw encoded_e4m3(double value) {
    const Raw sign = std::signbit(value) ? 0x80 : 0;
    if (std::isnan(value)) return 0x7F;
    const double magnitude = std::min(std::abs(value), 448.0);
    if (magnitude < 256) return sign | (encoded(magnitude, 4, 3, "rn") & 0x7F);
    return sign | (0x70 + static_cast<Raw>(std::nearbyint(magnitude / 32)));
}

double decoded_e4m3(Raw raw) {
    if ((raw & 0x7F) == 0x7F) return std::numeric_limits<double>::quiet_NaN();
    if ((raw & 0x78) != 0x78) return decoded(raw, 4, 3);
    return (raw & 0x80 ? -32.0 : 32.0) * static_cast<double>(8 + (raw & 7));
}

Raw to_integer(Type to, Type from, double value, const std::string& round) {
    if (std::isnan(value)) return from == Type::f64 || width(to) == 64 ? Raw{1} << (width(to) - 1) : 0;
    value = round == "rni"   ? std::nearbyint(value)
            : round == "rmi" ? std::floor(value)
            : round == "rpi" ? std::ceil(value)
                             : std::trunc(value);
    const Int most = (Int{1} << (width(to) - (isa::is_signed(to) ? 1 : 0))) - 1;
    const Int least = isa::is_signed(to) ? -most - 1 : 0;
    if (value >= std::ldexp(1, 100)) return cut(to, static_cast<Natural>(most));
    if (value <= -std::ldexp(1, 100)) return cut(to, static_cast<Natural>(least));
    return cut(to, static_cast<Natural>(std::clamp(static_cast<Int>(value), least, most)));
}

std::string spelling(const Form& form, Field field) {
    return form.has(field) ? isa::spelled(field, form.get(field)) : "";
}

/// Returns `value` as half of a pair, or alone.
Raw narrow(const Form& form, Type to, double value) {
    const std::string round = spelling(form, Field::round);
    if (form.get(Field::relu, 0) == 1 && !std::isnan(value)) value = value > 0 ? value : 0.0;
    const bool clamps = form.get(Field::satfinite, 0) == 1;
    const auto small = [&](int exponent_bits, int mantissa_bits) {
        const Raw infinity = ((Raw{1} << exponent_bits) - 1) << mantissa_bits;
        const Raw out = encoded(value, exponent_bits, mantissa_bits, round);
        return clamps && (out & ((Raw{1} << (exponent_bits + mantissa_bits)) - 1)) == infinity &&
                       !std::isnan(value)
                   ? out - 1
                   : out;
    };
    switch (to) {
        case Type::f16:
        case Type::f16x2: return small(5, 10);
        case Type::bf16:
        case Type::bf16x2: return small(8, 7);
        case Type::e4m3x2: return encoded_e4m3(value);
        case Type::e5m2x2: return std::isnan(value) ? 0x7F : small(5, 2);
        default: return small(8, 10) << 13;
    }
}

Raw convert_pair(const Form& form, double upper, double lower) {
    const Type to = form.type();
    return narrow(form, to, upper) << width(to) / 2 | narrow(form, to, lower);
}

Raw convert(const Form& form, Raw a) {
    const Type to = form.type(), from = form.type(Field::from);
    const std::string round = spelling(form, Field::round);
    if (from == Type::f16x2) return convert_pair(form, real(Type::f16, a >> 16), real(Type::f16, a & 0xFFFF));
    if (from == Type::e4m3x2) return convert_pair(form, decoded_e4m3(a >> 8), decoded_e4m3(a & 0xFF));
    if (from == Type::e5m2x2) return convert_pair(form, decoded(a >> 8, 5, 2), decoded(a & 0xFF, 5, 2));
    if (!isa::is_float(from)) {
        const Int value = integer(from, a);
        return isa::is_float(to) ? bits_of(to, static_cast<Quad>(value))
                                 : cut(to, static_cast<Natural>(value));
    }
    const double value = real(from, a);
    switch (to) {
        case Type::f16:
        case Type::bf16:
        case Type::tf32: return narrow(form, to, value);
        case Type::f32:
        case Type::f64: return bits_of(to, value);
        default: return to_integer(to, from, value, round);
    }
}

double flushed(Type type, double value) {
    const double least = type == Type::f16 ? 0x1p-14 : type == Type::f64 ? 0x1p-1022 : 0x1p-126;
    return std::abs(value) < least ? std::copysign(0.0, value) : value;
}

/// Returns an operand as a number.
double source(const Form& form, Type type, Raw a) {
    const double value = real(type, a);
    return form.get(Field::ftz, 0) == 1 ? flushed(type, value) : value;
}

Raw compare(const Form& form, Raw a, Raw b) {
    const Type type = form.type();
    std::string cmp = spelling(form, Field::cmp);
    bool less = false, equal = false;
    if (isa::is_float(type)) {
        const double x = source(form, type, a), y = source(form, type, b);
        const bool unordered = std::isnan(x) || std::isnan(y);
        if (cmp == "num" || cmp == "nan") return unordered == (cmp == "nan");
        if (unordered) return cmp.size() == 3;  // equ, neu, ltu, leu, gtu, geu
        cmp.resize(2);
        less = x < y, equal = x == y;
    } else {
        less = integer(type, a) < integer(type, b), equal = integer(type, a) == integer(type, b);
    }
    if (cmp == "eq") return equal;
    if (cmp == "ne") return !equal;
    if (cmp == "lt" || cmp == "lo") return less;
    if (cmp == "le" || cmp == "ls") return less || equal;
    if (cmp == "gt" || cmp == "hi") return !less && !equal;
    return !less;
}

/// Returns `q` as a float or a double, rounded as the mode says.
template <class T>
T rounded(Quad q, const std::string& mode) {
    const T near = static_cast<T>(q);
    const Quad back = near;
    if (std::isnan(near) || back == q || mode.empty() || mode == "rn") return near;
    const bool above = back > q;
    if (mode == "rz") return above == (q > 0) ? std::nextafter(near, T{0}) : near;
    if (mode == "rm") return above ? std::nextafter(near, -std::numeric_limits<T>::infinity()) : near;
    return above ? near : std::nextafter(near, std::numeric_limits<T>::infinity());
}

/// Returns `q` as a double whose last bit is odd where it is not exact.
double odd(Quad q) {
    const auto near = static_cast<double>(q);
    if (!std::isfinite(near) || Quad{near} == q || (std::bit_cast<Raw>(near) & 1U) != 0) return near;
    return std::nextafter(near, Quad{near} < q ? HUGE_VAL : -HUGE_VAL);
}

/// Returns the bits of `q` in the form's type, rounded and flushed as it says; a NaN of halves is 0x7FFF.
Raw finished(const Form& form, Type type, Quad q) {
    std::string mode = spelling(form, Field::round);
    if (mode == "contract") mode = "rn";  // by itself; only an assembler may fuse it with another
    const bool flush = form.get(Field::ftz, 0) == 1;
    if (form.get(Field::sat, 0) == 1) q = !(q > 0) ? Quad{0} : q > 1 ? Quad{1} : q;
    if (type == Type::f16 || type == Type::bf16) {
        const double value = odd(q);
        if (std::isnan(value)) return 0x7FFF;
        const Raw out = type == Type::f16 ? encoded(value, 5, 10, "rn") : encoded(value, 8, 7, "rn");
        return flush && (out & 0x7C00) == 0 ? out & 0x8000 : out;
    }
    if (type == Type::f32) {
        const auto value = rounded<float>(q, mode);
        return std::bit_cast<std::uint32_t>(flush ? static_cast<float>(flushed(type, value)) : value);
    }
    const auto value = rounded<double>(q, mode);
    return std::bit_cast<Raw>(flush ? flushed(type, value) : value);
}

/// Returns the smaller float: a number is preferred to a NaN, and -0 is below +0.
Raw smaller(Type type, Raw a, Raw b, bool greater) {
    const double x = real(type, a), y = real(type, b);
    if (std::isnan(x)) return b;
    if (std::isnan(y)) return a;
    const bool a_first = x < y || (x == y && std::signbit(x));
    return a_first != greater ? a : b;
}

Raw product(const Form& form, Raw a, Raw b, Raw c) {
    const Type type = form.type();
    const std::string half = spelling(form, Field::half);
    const Int x = integer(type, a), y = integer(type, b);
    if (form.get(Field::sat, 0) == 1)
        return cut(type, static_cast<Natural>(
                             std::clamp((x * y >> 32) + integer(type, c), Int{INT32_MIN}, Int{INT32_MAX})));
    if (half == "wide") {
        const Natural wide = static_cast<Natural>(x * y) + c;
        return width(type) == 32 ? static_cast<Raw>(wide) : static_cast<Raw>(wide) & 0xFFFFFFFF;
    }
    // An unsigned product of 64-bit numbers needs all 128 bits, a signed one 127 and the sign.
    const Natural whole = isa::is_signed(type) ? static_cast<Natural>(x * y)
                                               : static_cast<Natural>(x) * static_cast<Natural>(y);
    return cut(type, (half == "hi" ? whole >> width(type) : whole) + c);
}

/// Returns the sum of x and y. If it is zero, its sign depends on the mode.
Quad sum(const Form& form, Quad x, Quad y, Quad z) {
    const Quad out = fused(x, y, z);
    const Quad p = x * y;
    const bool opposite =
        std::signbit(static_cast<double>(p)) != std::signbit(static_cast<double>(z)) || p != 0;
    return out == 0 && p + z == 0 && opposite && spelling(form, Field::round) == "rm" ? -Quad{0} : out;
}

Raw divide(Type type, Raw a, Raw b, bool rest) {
    const Int x = integer(type, a), y = integer(type, b);
    if (y == 0) return rest ? cut(type, a) : cut(type, ~Natural{0});  // what the chip gives
    return cut(type, static_cast<Natural>(rest ? x % y : x / y));
}

/// Returns the root of a double in any rounding: the nearest one, or its neighbour on the other side of the
/// true one.
double root(double x, const std::string& mode) {
    const double near = std::sqrt(x);
    if (!std::isfinite(near) || mode.empty() || mode == "rn") return near;
    const Quad square = Quad{near} * near;
    if (square > x && mode != "rp") return std::nextafter(near, 0.0);
    if (square < x && mode == "rp") return std::nextafter(near, HUGE_VAL);
    return near;
}

Raw function(std::string_view name, const Form& form, Type type, Raw a) {
    const double x = source(form, type, a);
    if (name == "rcp") return finished(form, type, Quad{1} / x);
    if (name == "sqrt" && type == Type::f64) return bits_of(type, root(x, spelling(form, Field::round)));
    double y = 0;
    if (name == "sqrt") y = std::sqrt(x);
    if (name == "rsqrt") y = 1 / std::sqrt(x);
    if (name == "ex2") y = std::exp2(x);
    if (name == "lg2") y = std::log2(x);
    if (name == "sin") y = std::sin(x);
    if (name == "cos") y = std::cos(x);
    if (name == "tanh") y = std::tanh(x);
    return finished(form, type, y);
}

Raw arithmetic(std::string_view name, const Form& form, Type type, Raw a, Raw b, Raw c) {
    if (isa::is_float(type)) {
        const Quad x = source(form, type, a), y = source(form, type, b), z = source(form, type, c);
        if (name == "add") return finished(form, type, sum(form, x, 1, y));
        if (name == "sub") return finished(form, type, sum(form, x, 1, -y));
        if (name == "mul") return finished(form, type, x * y);
        if (name.starts_with("div")) return finished(form, type, x / y);
        const Raw sign = Raw{1} << (width(type) - 1);
        if (name == "copysign") return (a & sign) | (b & ~sign);
        if (name == "fma") {
            const Quad out = sum(form, x, y, z);
            return finished(form, type, form.get(Field::relu, 0) == 1 && out <= 0 ? Quad{0} : out);
        }
        if (name == "neg") return finished(form, type, -x);
        return finished(form, type, std::abs(static_cast<double>(x)));
    }
    const Int x = integer(type, a), y = integer(type, b);
    if (form.get(Field::sat, 0) == 1) {
        const Int exact = name == "add" ? x + y : x - y;
        return cut(type, static_cast<Natural>(std::clamp(exact, Int{INT32_MIN}, Int{INT32_MAX})));
    }
    if (name == "add") return cut(type, static_cast<Natural>(x + y));
    if (name == "sub") return cut(type, static_cast<Natural>(x - y));
    if (name == "neg") return cut(type, static_cast<Natural>(-x));
    return cut(type, static_cast<Natural>(x < 0 ? -x : x));
}

Raw bitwise(std::string_view name, const Form& form, Raw a, Raw b) {
    const Type type = form.type();
    if (name == "and") return cut(type, a & b);
    if (name == "or") return cut(type, a | b);
    if (name == "xor") return cut(type, a ^ b);
    if (name == "not") return cut(type, ~a);
    const int by = static_cast<int>(std::min<Raw>(b & 0xFFFFFFFF, 64));
    if (name == "shl") return cut(type, static_cast<Natural>(a) << by);
    return cut(type, static_cast<Natural>(integer(type, a) >> by));
}

/// All ones, or the number 1.
Raw yes(Type type) {
    if (type == Type::f32) return 0x3F800000;
    if (type == Type::f16) return 0x3C00;
    if (type == Type::bf16) return 0x3F80;
    return cut(type, ~Natural{0});
}

constexpr std::array names{"setp.bool",
                           "set",
                           "slct",
                           "add",
                           "sub",
                           "mul",
                           "mad",
                           "div",
                           "rem",
                           "min",
                           "max",
                           "neg",
                           "abs",
                           "fma",
                           "rcp",
                           "sqrt",
                           "rsqrt",
                           "ex2",
                           "lg2",
                           "and",
                           "or",
                           "xor",
                           "not",
                           "shl",
                           "shr",
                           "setp",
                           "selp",
                           "cvt",
                           "cvt.pair",
                           "mov",
                           "cvta.to.global",
                           "sin",
                           "cos",
                           "tanh",
                           "div.full",
                           "div.approx",
                           "copysign",
                           "min.NaN",
                           "max.NaN"};

/// min, max, min.NaN, max.NaN of floats.
Raw extreme(std::string_view name, const Form& form, Type type, Raw a, Raw b) {
    if (form.get(Field::xorsign, 0) == 1) {
        const Raw sign = Raw{1} << (width(type) - 1);
        const Form plain = Form(form).set(Field::xorsign, 0);
        const Raw magnitude = extreme(name, plain, type, a & ~sign, b & ~sign);
        return std::isnan(real(type, magnitude)) ? magnitude : magnitude | ((a ^ b) & sign);
    }
    const bool nan_a = std::isnan(real(type, a)), nan_b = std::isnan(real(type, b));
    const bool nan = name.ends_with("NaN") ? nan_a || nan_b : nan_a && nan_b;
    if (nan) return finished(form, type, std::numeric_limits<double>::quiet_NaN());
    if (form.get(Field::ftz, 0) == 1) {
        if (!nan_a) a = finished(form, type, real(type, a));
        if (!nan_b) b = finished(form, type, real(type, b));
    }
    return smaller(type, a, b, name.starts_with("max"));
}

/// Returns one value of the form; of f16x2 and bf16x2, one half.
Raw single(std::string_view name, const Form& form, Type type, Raw a, Raw b, Raw c) {
    if (name.starts_with("min") || name.starts_with("max")) return extreme(name, form, type, a, b);
    for (std::string_view f : {"rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh"})
        if (name == f) return function(name, form, type, a);
    return arithmetic(name, form, type, a, b, c);
}

}  // namespace

bool has_reference(std::string_view name) {
    const std::array<Raw, 4> any{};
    isa::Form form;
    form.set(Field::type, Type::u32).set(Field::a, Type::u32).set(Field::b, Type::u32).set(Field::half, 0);
    return std::find(names.begin(), names.end(), name) != names.end() ||
           reference_of_bits(name, form, any).has_value();
}

Raw reference(std::string_view name, const Form& form, std::span<const Raw> in) {
    if (const auto of_bits = reference_of_bits(name, form, in)) return *of_bits;
    const Type type = form.type();
    const Raw a = in[0], b = in.size() > 1 ? in[1] : 0, c = in.size() > 2 ? in[2] : 0;
    if (name == "mov" || name == "cvta.to.global") return cut(type, a);
    if (name == "cvt") return convert(form, a);
    if (name == "cvt.pair") return convert_pair(form, real(Type::f32, a), real(Type::f32, b));
    if (name == "setp") return compare(form, a, b);
    if (name == "setp.bool") {
        const Raw holds = compare(form, a, b);
        const std::string how = spelling(form, Field::combine);
        return how == "and" ? holds & c : how == "or" ? holds | c : holds ^ c;
    }
    if (name == "set")
        return compare(Form(form).set(Field::type, form.type(Field::from)), a, b) != 0 ? yes(type) : 0;
    if (name == "slct") {
        const Type of_c = form.type(Field::from);
        const bool first = of_c == Type::s32 ? integer(of_c, c) >= 0 : source(form, of_c, c) >= 0;
        return cut(type, first ? a : b);
    }
    if (name == "selp") return c & 1U ? cut(type, a) : cut(type, b);
    if ((name == "mul" || name == "mad") && !isa::is_float(type)) return product(form, a, b, c);
    if (name == "rem" || (name == "div" && !isa::is_float(type))) return divide(type, a, b, name == "rem");
    const bool packed = type == Type::f16x2 || type == Type::bf16x2;
    if (packed && name != "mov") {
        const Type half = type == Type::f16x2 ? Type::f16 : Type::bf16;
        return single(name, form, half, a >> 16, b >> 16, c >> 16) << 16 |
               single(name, form, half, a & 0xFFFF, b & 0xFFFF, c & 0xFFFF);
    }
    if (isa::is_float(type)) return single(name, form, type, a, b, c);
    if (name == "min" || name == "max")
        return (integer(type, a) < integer(type, b)) == (name == "min") ? cut(type, a) : cut(type, b);
    for (std::string_view f : {"and", "or", "xor", "not", "shl", "shr"})
        if (name == f) return bitwise(name, form, a, b);
    return arithmetic(name, form, type, a, b, c);
}

bool same(Type type, Raw got, Raw want, bool approximate) {
    if (got == want) return true;
    if (type == Type::f16x2 || type == Type::bf16x2) {
        const Type half = type == Type::f16x2 ? Type::f16 : Type::bf16;
        return same(half, got & 0xFFFF, want & 0xFFFF, approximate) &&
               same(half, got >> 16, want >> 16, approximate);
    }
    if (!isa::is_float(type)) return false;
    const double x = real(type, got), y = real(type, want);
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    // A function of f16 or bf16 may come out on the other side of a tie.
    // Of binary64 the approximations have 20 bits.
    const double part = type == Type::f16    ? 0x1p-10
                        : type == Type::bf16 ? 0x1p-7
                        : type == Type::f64  ? 0x1p-19
                                             : 0x1p-21;
    return approximate && std::abs(x - y) <= std::abs(y) * part;
}

}  // namespace bench
