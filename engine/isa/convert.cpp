// cvt: between integers, floats and the packed pairs of 16 and 8 bits.
#include <cmath>

#include "isa/families.hpp"
#include "isa/lanes.hpp"
#include "number/number.hpp"

namespace wgrun::isa {
namespace {

using enum Type;

/// Returns any scalar as a double, exactly (64-bit integers are not converted to floats here).
Lanes<double> as_double(const Operand& operand, Type type, Machine& m) {
    Lanes<double> out;
    const auto take = [&]<class T>(T, auto convert) {
        const Lanes<T> a = read<T>(m, operand);
        for (std::size_t l = 0; l < lanes; ++l) out[l] = static_cast<double>(convert(a[l]));
    };
    const auto same = [](auto a) { return a; };
    switch (type) {
        case f16: take(std::uint16_t{}, [](std::uint16_t a) { return from_f16(a); }); break;
        case bf16: take(std::uint16_t{}, [](std::uint16_t a) { return from_bf16(a); }); break;
        case u8: take(std::uint8_t{}, same); break;
        case s8: take(std::int8_t{}, same); break;
        default: with_number(type, [&]<class T>(T) { take(T{}, same); });
    }
    return out;
}

Rounding rounding(const Form& form) {
    const std::string name = form.has(Field::round) ? spelled(Field::round, form.get(Field::round)) : "rn";
    return name == "rz" ? Rounding::rz : name == "rna" ? Rounding::rna : Rounding::rn;
}

IntegerRounding integer_rounding(const Form& form) {
    const std::string name = form.has(Field::round) ? spelled(Field::round, form.get(Field::round)) : "rzi";
    return name == "rni"   ? IntegerRounding::rni
           : name == "rmi" ? IntegerRounding::rmi
           : name == "rpi" ? IntegerRounding::rpi
                           : IntegerRounding::rzi;
}

/// Conversion to a float of 16 bits, tf32 or 8 bits, or one of a pair, with the form's rounding, overflow and
/// relu.
class Narrowing {
  public:
    Narrowing(Type to, const Form& form)
        : to_(to),
          relu_(form.get(Field::relu, 0) != 0),
          rounding_(rounding(form)),
          overflow_(form.get(Field::satfinite, 0) != 0 ? Overflow::satfinite : Overflow::nonfinite) {}

    std::uint32_t operator()(double value) const {
        if (relu_ && value <= 0) return 0;
        switch (to_) {
            case f16:
            case f16x2: return to_f16(value, rounding_, overflow_);
            case bf16:
            case bf16x2: return to_bf16(value, rounding_, overflow_);
            case e4m3x2: return to_e4m3(value, rounding_, overflow_);
            case e5m2x2: return to_e5m2(value, rounding_, overflow_);
            default: return to_tf32(value, rounding_, overflow_);
        }
    }

  private:
    Type to_;
    bool relu_;
    Rounding rounding_;
    Overflow overflow_;
};

template <class T, class F>
void put(const Step& s, Machine& m, const Lanes<double>& from, F convert) {
    Lanes<T> d;
    for (std::size_t l = 0; l < lanes; ++l) d[l] = convert(from[l]);
    write_reg(m, s.operands[0].reg, d);
}

/// Converts float to integer. A NaN of binary64 becomes the highest bit alone, even where one of binary32
/// becomes 0.
template <class T>
void put_integers(const Step& s, Machine& m, const Lanes<double>& from, Dtype to,
                  T (*convert)(double, IntegerRounding)) {
    const bool wide_source = s.form.type(Field::from) == f64;
    const IntegerRounding rounding = integer_rounding(s.form);
    put<T>(s, m, from, [&](double v) {
        return wide_source && std::isnan(v) ? static_cast<T>(nan_from_f64(to, v)) : convert(v, rounding);
    });
}

/// Converts float or small integer to float, and float to integer.
void run_through_double(const Step& s, Machine& m, Type to, Type from) {
    const Lanes<double> a = as_double(s.operands[1], from, m);
    switch (to) {
        case f16:
        case bf16:
        case tf32: return put<std::uint32_t>(s, m, a, Narrowing(to, s.form));
        case f32: return put<float>(s, m, a, [](double v) { return static_cast<float>(v); });
        case f64: return put<double>(s, m, a, [](double v) { return v; });
        case s32: return put_integers<std::int32_t>(s, m, a, Dtype::s32, to_s32);
        case u32: return put_integers<std::uint32_t>(s, m, a, Dtype::u32, to_u32);
        case s64: return put_integers<std::int64_t>(s, m, a, Dtype::s64, to_s64);
        case u64: return put_integers<std::uint64_t>(s, m, a, Dtype::u64, to_u64);
        default: return;
    }
}

void run_between_integers(const Step& s, Machine& m, Type to, Type from) {
    // The conversion goes through 64 bits: extended by the source's sign, cut to the destination.
    Lanes<std::uint64_t> wide{};
    const auto take = [&]<class T>(T) {
        const Lanes<T> a = read<T>(m, s.operands[1]);
        for (std::size_t l = 0; l < lanes; ++l)
            wide[l] = static_cast<std::uint64_t>(static_cast<std::int64_t>(a[l]));
    };
    if (from == u8)
        take(std::uint8_t{});
    else if (from == s8)
        take(std::int8_t{});
    else
        with_integer(from, take);
    if (bits(to) == 64) return write_reg(m, s.operands[0].reg, wide);
    Lanes<std::uint32_t> d;
    const std::uint32_t mask = bits(to) == 16 ? 0xFFFF : bits(to) == 8 ? 0xFF : 0xFFFFFFFF;
    for (std::size_t l = 0; l < lanes; ++l) d[l] = static_cast<std::uint32_t>(wide[l]) & mask;
    write_reg(m, s.operands[0].reg, d);
}

/// Returns two 16-bit floats in 32 bits, or two of 8 bits in 16: the upper one comes first.
std::uint32_t paired(Type type, std::uint32_t upper, std::uint32_t lower) {
    return upper << bits(type) / 2 | lower;
}

/// Returns the exact value of one half of a pair.
double half_of_pair(Type type, std::uint32_t half) {
    const auto byte = static_cast<std::uint8_t>(half);
    return type == e4m3x2   ? from_e4m3(byte)
           : type == e5m2x2 ? from_e5m2(byte)
                            : from_f16(static_cast<std::uint16_t>(half));
}

/// Converts pair to pair: the halves keep their places.
void run_between_pairs(const Step& s, Machine& m, Type to, Type from) {
    const Lanes<std::uint32_t> a = read<std::uint32_t>(m, s.operands[1]);
    const int width = bits(from) / 2;
    const std::uint32_t mask = (1U << width) - 1;
    Lanes<std::uint32_t> d;
    const Narrowing narrowed(to, s.form);
    for (std::size_t l = 0; l < lanes; ++l)
        d[l] = paired(to, narrowed(half_of_pair(from, a[l] >> width & mask)),
                      narrowed(half_of_pair(from, a[l] & mask)));
    write_reg(m, s.operands[0].reg, d);
}

void run_cvt(const Step& s, Machine& m) {
    const Type to = s.form.type(), from = s.form.type(Field::from);
    if (from == f16x2 || from == e4m3x2 || from == e5m2x2) return run_between_pairs(s, m, to, from);
    if (!is_float(to) && !is_float(from)) return run_between_integers(s, m, to, from);
    if (bits(from) == 64 &&
        !is_float(from)) {  // a double cannot hold every 64-bit integer: convert in one step
        with_integer(from, [&]<class T>(T) {
            if (to == f32)
                map1<float, T>(s, m, [](T a) { return static_cast<float>(a); });
            else
                map1<double, T>(s, m, [](T a) { return static_cast<double>(a); });
        });
        return;
    }
    run_through_double(s, m, to, from);
}

/// cvt.rn.bf16x2.f32 d, a, b: a becomes the upper half, b the lower one (PTX ISA 9.7.9.21).
void run_cvt_pair(const Step& s, Machine& m) {
    const Lanes<float> a = read<float>(m, s.operands[1]), b = read<float>(m, s.operands[2]);
    const Type to = s.form.type();
    Lanes<std::uint32_t> d;
    const Narrowing narrowed(to, s.form);
    for (std::size_t l = 0; l < lanes; ++l) d[l] = paired(to, narrowed(a[l]), narrowed(b[l]));
    write_reg(m, s.operands[0].reg, d);
}

/// Conversions between integers of 32 and 64 bits preserve addresses and constants.
Value value_cvt(const Step& s, const ValueOf& of) {
    const Type to = s.form.type(), from = s.form.type(Field::from);
    const Value a = of(s.operands[1]);
    Value out = joined(s, of);
    if (is_float(to) || is_float(from) || bits(to) < 32 || bits(from) < 32) return out;
    out.buffer = a.buffer;
    out.is_descriptor = a.is_descriptor;
    if (a.offset && *a.offset >= 0 && *a.offset <= INT32_MAX) out.offset = a.offset;
    if (const auto constant = plain(a))
        out.constant = wrapped(to, number_of(from, *constant));
    else if (a.constant && *a.constant >= 0 && *a.constant <= 1 << 30)
        out.constant = a.constant;
    return out;
}

Choice to(std::initializer_list<Type> list) { return types(Field::type, list); }
Choice from(std::initializer_list<Type> list) { return types(Field::from, list); }

Choice nearest() { return spelled_as(Field::round, {"rn"}, "rn"); }
Choice nearest_or_zero() { return spelled_as(Field::round, {"rn", "rz"}, "rn"); }
Choice relu() { return flag(Field::relu); }
Choice satfinite() { return among(Field::satfinite, {1}); }

}  // namespace

std::span<const Instruction> convert_family() {
    static const std::vector<Instruction> list{
        {.name = "cvt",
         .summary = "converts a value to another type",
         .section = "9.7.9.21",
         .rows = {{{to({u16, s16, u32, s32, u64, s64}), from({u8, s8, u16, s16, u32, s32, u64, s64})},
                   {7, 8}},
                  {{nearest_or_zero(), relu(), to({f16, bf16}), from({f32})}, {7, 8}},
                  {{nearest_or_zero(), relu(), satfinite(), to({f16, bf16}), from({f32})}, {8, 1}},
                  {{spelled_as(Field::round, {"rna"}, "rna"), to({tf32}), from({f32})}, {7, 8}},
                  {{spelled_as(Field::round, {"rna"}, "rna"), satfinite(), to({tf32}), from({f32})}, {8, 1}},
                  {{spelled_as(Field::round, {"rn", "rz"}), relu(), to({tf32}), from({f32})}, {7, 8}},
                  {{nearest(), relu(), satfinite(), to({e4m3x2, e5m2x2}), from({f16x2})}, {8, 0}},
                  {{nearest(), relu(), to({f16x2}), from({e4m3x2, e5m2x2})}, {8, 0}},
                  {{to({f32}), from({f16, bf16})}, {7, 8}},
                  {{to({f64}), from({f32})}, {7, 8}},
                  {{spelled_as(Field::round, {"rn"}, "rn"), to({f32}), from({f64})}, {7, 8}},
                  {{spelled_as(Field::round, {"rn"}, "rn"), to({f32, f64}), from({u32, s32, u64, s64})},
                   {7, 8}},
                  {{spelled_as(Field::round, {"rni", "rzi", "rmi", "rpi"}, "rzi"), to({u32, s32, u64, s64}),
                    from({f32, f64})},
                   {7, 8}}},
         .operands = {out("d"), in("a", typed<Field::from>, OperandRule::reg)},
         .ptx = "cvt{.round}{.relu}{.satfinite}{.type}{.from} {%d}, {%a}",
         .work = Work::logic,
         .infer = nullptr,
         .value = value_cvt,
         .run = run_cvt},
        {.name = "cvt.pair",
         .summary = "converts two f32 into one packed pair; the first goes to the upper half",
         .section = "9.7.9.21",
         .rows = {{{nearest_or_zero(), relu(), to({f16x2, bf16x2}), from({f32})}, {7, 8}},
                  {{nearest_or_zero(), relu(), satfinite(), to({f16x2, bf16x2}), from({f32})}, {8, 1}},
                  {{nearest(), relu(), satfinite(), to({e4m3x2, e5m2x2}), from({f32})}, {8, 0}}},
         .operands = {out("d"), in("a", typed<Field::from>), in("b", typed<Field::from>)},
         .ptx = "cvt{.round}{.relu}{.satfinite}{.type}{.from} {%d}, {%a}, {%b}",
         .work = Work::logic,
         .run = run_cvt_pair},
    };
    return list;
}

}  // namespace wgrun::isa
