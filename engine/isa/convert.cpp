// cvt: between integers, floats and the packed pairs of 16 and 8 bits.
#include <algorithm>
#include <bit>
#include <cmath>

#include "isa/algebra.hpp"
#include "isa/families.hpp"
#include "isa/foreign.hpp"
#include "isa/known_bits.hpp"
#include "isa/lanes.hpp"
#include "isa/rounded.hpp"
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

std::string rounding_name(const Form& form, std::string_view fallback) {
    return form.has(Field::round) ? spelled(Field::round, form.get(Field::round)) : std::string(fallback);
}

/// Directed roundings begin with the one towards zero.
Rounding rounding(const Form& form) {
    const std::string name = rounding_name(form, "rn");
    if (name == "rm" || name == "rp") return Rounding::rz;
    return name == "rz" ? Rounding::rz : name == "rna" ? Rounding::rna : Rounding::rn;
}

IntegerRounding integer_rounding(const Form& form) {
    const std::string name = rounding_name(form, "rzi");
    return name == "rni"   ? IntegerRounding::rni
           : name == "rmi" ? IntegerRounding::rmi
           : name == "rpi" ? IntegerRounding::rpi
                           : IntegerRounding::rzi;
}

bool rounds_to_integers(const Form& form) { return rounding_name(form, "rn").ends_with('i'); }

/// Conversion to a float of 16 bits, tf32 or 8 bits, or one of a pair, with the form's rounding, overflow and
/// relu.
class Narrowing {
  public:
    Narrowing(Type to, const Form& form)
        : to_(to),
          relu_(form.get(Field::relu, 0) != 0),
          rounding_(rounding(form)),
          overflow_(form.get(Field::satfinite, 0) != 0 ? Overflow::satfinite : Overflow::nonfinite),
          saturates_(form.get(Field::sat, 0) != 0),
          down_(rounding_name(form, "rn") == "rm"),
          up_(rounding_name(form, "rn") == "rp") {}

    std::uint32_t operator()(double value) const {
        if (saturates_) value = saturated(value);
        if (relu_ && value <= 0) return 0;
        const std::uint32_t bits = nearby(value);
        // Away from zero the next number is the next pattern of bits, and infinity the one after the largest.
        const bool away = (down_ && value < 0) || (up_ && value > 0);
        return away && !std::isinf(value) && exact(bits) != value ? bits + 1 : bits;
    }

  private:
    double exact(std::uint32_t bits) const {
        const auto half = static_cast<std::uint16_t>(bits);
        return to_ == f16 ? from_f16(half) : from_bf16(half);
    }

    std::uint32_t nearby(double value) const {
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

    Type to_;
    bool relu_;
    Rounding rounding_;
    Overflow overflow_;
    bool saturates_, down_, up_;
};

template <class T, class F>
void put(const Step& s, Machine& m, const Lanes<double>& from, F convert) {
    Lanes<T> d;
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): s8 is a number
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

/// Rounds floats to integers that stay floats: cvt.rni.f32.f32.
double integral(double value, IntegerRounding rounding) {
    switch (rounding) {
        case IntegerRounding::rni: return std::nearbyint(value);
        case IntegerRounding::rmi: return std::floor(value);
        case IntegerRounding::rpi: return std::ceil(value);
        default: return std::trunc(value);
    }
}

/// Puts floats of 32 or 64 bits, rounded, flushed and limited as the form says.
template <class T>
void put_floats(const Step& s, Machine& m, const Lanes<double>& from) {
    const bool flushes = s.form.get(Field::ftz, 0) != 0, limits = s.form.get(Field::sat, 0) != 0;
    const auto convert = [&] {
        put<T>(s, m, from, [&](double v) {
            T out = static_cast<T>(v);
            if (flushes) out = flushed(out);
            return settled(limits ? saturated(out) : out);
        });
    };
    if (rounds_to_integers(s.form))
        convert();
    else
        with_rounding(s.form, convert);
}

/// Converts to float, and float to integer, from exact values, or from such that round to the same.
void run_from_double(const Step& s, Machine& m, Type to, Lanes<double> a) {
    if (s.form.get(Field::ftz, 0) != 0 && s.form.type(Field::from) == f32)
        for (double& v : a) v = flushed(static_cast<float>(v));
    if (is_float(to) && rounds_to_integers(s.form))
        for (double& v : a) v = integral(v, integer_rounding(s.form));
    switch (to) {
        case f16:
        case bf16:
        case tf32: return put<std::uint32_t>(s, m, a, Narrowing(to, s.form));
        case f32: return put_floats<float>(s, m, a);
        case f64: return put_floats<double>(s, m, a);
        case s8:
            return put<std::int32_t>(s, m, a, [&](double v) { return to_s8(v, integer_rounding(s.form)); });
        case u8:
            return put<std::uint32_t>(s, m, a, [&](double v) { return to_u8(v, integer_rounding(s.form)); });
        case s16:
            return put<std::int32_t>(s, m, a, [&](double v) {
                return std::clamp(to_s32(v, integer_rounding(s.form)), INT16_MIN, INT16_MAX);
            });
        case u16:
            return put<std::uint32_t>(s, m, a, [&](double v) {
                return std::min<std::uint32_t>(to_u32(v, integer_rounding(s.form)), UINT16_MAX);
            });
        case s32: return put_integers<std::int32_t>(s, m, a, Dtype::s32, to_s32);
        case u32: return put_integers<std::uint32_t>(s, m, a, Dtype::u32, to_u32);
        case s64: return put_integers<std::int64_t>(s, m, a, Dtype::s64, to_s64);
        case u64: return put_integers<std::uint64_t>(s, m, a, Dtype::u64, to_u64);
        default: return;
    }
}

/// Returns an integer, extended to 64 bits, limited to the range of `to`.
std::uint64_t limited(std::uint64_t value, bool is_signed, Type to) {
    const int width = bits(to);
    const bool negative = is_signed && static_cast<std::int64_t>(value) < 0;
    const std::uint64_t most = isa::is_signed(to) ? (std::uint64_t{1} << (width - 1)) - 1
                               : width == 64      ? UINT64_MAX
                                                  : (std::uint64_t{1} << width) - 1;
    if (!negative) return std::min(value, most);
    if (!isa::is_signed(to)) return 0;
    return static_cast<std::uint64_t>(
        std::max(static_cast<std::int64_t>(value), -static_cast<std::int64_t>(most) - 1));
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
    if (s.form.get(Field::sat, 0) != 0)
        for (std::uint64_t& v : wide) v = limited(v, is_signed(from), to);
    if (bits(to) == 64) return write_reg(m, s.operands[0].reg, wide);
    // A register is at least as wide as 16 bits: shorter values are extended.
    Lanes<std::uint32_t> d;
    const std::uint32_t mask = bits(to) == 16 ? 0xFFFF : bits(to) == 8 ? 0xFF : 0xFFFFFFFF;
    for (std::size_t l = 0; l < lanes; ++l)
        d[l] = to == s8 ? static_cast<std::uint32_t>(std::int32_t{static_cast<std::int8_t>(wide[l])})
                        : static_cast<std::uint32_t>(wide[l]) & mask;
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

/// Returns integers of 64 bits as doubles that every float of fewer bits rounds as it does the integers: what
/// a double cannot hold is cut off, and makes its last bit odd. For a destination of 64 bits they are rounded
/// at once.
Lanes<double> sticky(const Step& s, Machine& m, Type from) {
    Lanes<double> out;
    const bool final = s.form.type() == f64;
    with_integer(from, [&]<class T>(T) {
        const Lanes<T> a = read<T>(m, s.operands[1]);
        if (final)
            return with_rounding(s.form, [&] {
                for (std::size_t l = 0; l < lanes; ++l) out[l] = static_cast<double>(a[l]);
            });
        for (std::size_t l = 0; l < lanes; ++l) {
            const bool negative = std::is_signed_v<T> && a[l] < 0;
            const auto value = static_cast<std::uint64_t>(a[l]);
            const std::uint64_t size = negative ? 0 - value : value;
            const int cut = std::max(0, static_cast<int>(std::bit_width(size)) - 53);
            const bool rest = (size & ((std::uint64_t{1} << cut) - 1)) != 0;
            const auto kept = static_cast<double>((size >> cut | (rest ? 1 : 0)) << cut);
            out[l] = negative ? -kept : kept;
        }
    });
    return out;
}

void run_cvt(const Step& s, Machine& m) {
    const Type to = s.form.type(), from = s.form.type(Field::from);
    if (from == f16x2 || from == e4m3x2 || from == e5m2x2) return run_between_pairs(s, m, to, from);
    if (!is_float(to) && !is_float(from)) return run_between_integers(s, m, to, from);
    if (bits(from) == 64 && !is_float(from)) return run_from_double(s, m, to, sticky(s, m, from));
    run_from_double(s, m, to, as_double(s.operands[1], from, m));
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
/// Of integers: the source, extended and cut.
KnownBits bits_of_cvt(const Step& s, const BitsOf& of) {
    const Type to = s.form.type(), from = s.form.type(Field::from);
    if (is_float(to) || is_float(from)) return {};
    const KnownBits a = of(s.operands[1]).cut(bits(from));
    return (is_signed(from) ? a.extended(bits(from)) : a).cut(bits(to));
}

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

Choice toward(std::string_view fallback) {
    return spelled_as(Field::round, {"rn", "rz", "rm", "rp"}, fallback);
}
Choice to_integers(std::string_view fallback) {
    return spelled_as(Field::round, {"rni", "rzi", "rmi", "rpi"}, fallback);
}
Choice flushes() { return flag(Field::ftz); }
Choice limits() { return flag(Field::sat); }
Choice asked(Choice choice) {
    choice.asked = true;
    return choice;
}

/// Adds rows with .ftz, which only conversions from or to binary32 have, and without.
void add(std::vector<Row>& rows, std::vector<Choice> choices, std::initializer_list<Type> destinations,
         std::initializer_list<Type> sources) {
    const auto row = [&](const std::vector<Type>& left, const std::vector<Type>& right, bool flush) {
        if (left.empty() || right.empty()) return;
        Row out{choices, {7, 8}};
        if (flush) out.choices.push_back(flushes());
        out.choices.push_back(types(Field::type, left));
        out.choices.push_back(types(Field::from, right));
        rows.push_back(std::move(out));
    };
    const auto without = [](std::initializer_list<Type> list) {
        std::vector<Type> out;
        std::ranges::copy_if(list, std::back_inserter(out), [](Type type) { return type != f32; });
        return out;
    };
    if (std::ranges::find(destinations, f32) != destinations.end()) row({f32}, sources, true);
    if (std::ranges::find(sources, f32) != sources.end()) row(without(destinations), {f32}, true);
    row(without(destinations), without(sources), false);
}

std::vector<Row> general_rows() {
    const auto integers = {u8, s8, u16, s16, u32, s32, u64, s64};
    const auto wider = {u16, s16, u32, s32, u64, s64};
    std::vector<Row> out{{{limits(), to(integers), from(integers)}, {7, 8}}};
    // Upwards a conversion is exact, downwards it rounds. With bf16 there is no .sat, but a rounding without
    // effect.
    add(out, {limits()}, {f32}, {f16});
    add(out, {optional(toward({}))}, {f32, f64}, {bf16});
    add(out, {limits()}, {f64}, {f16, f32});
    add(out, {toward("rn"), limits()}, {f32}, {f64});
    add(out, {toward("rn"), limits()}, {f32, f64, f16}, integers);
    add(out, {toward("rn")}, {bf16}, wider);
    add(out, {toward("rn"), limits()}, {f16}, {f32, f64});
    add(out, {toward("rn")}, {bf16}, {f32, f64, f16});
    add(out, {toward("rn")}, {f16}, {bf16});
    add(out, {to_integers("rzi"), limits()}, integers, {f32, f64, f16});
    add(out, {to_integers("rzi")}, wider, {bf16});
    // Between floats of one type: rounded to an integer, or limited.
    add(out, {asked(to_integers({}))}, {bf16}, {bf16});
    for (const Type type : {f16, f32, f64}) {
        add(out, {asked(to_integers({})), limits()}, {type}, {type});
        add(out, {asked(among(Field::sat, {1}))}, {type}, {type});
    }
    return out;
}

/// Integers of 32 bits and more keep their values, in as many bits.
Shape shape_of_cvt(const Form& form) {
    const Type from = form.type(Field::from), to = form.type();
    const bool integers = !is_float(from) && !is_float(to) && bits(from) >= 32 && bits(to) >= bits(from);
    return integers ? Shape::polynomial : Shape::other;
}

Term meaning_of_cvt(const Step& s, Algebra& in) {
    const Type from = s.form.type(Field::from), to = s.form.type();
    if (is_float(from) || is_float(to)) return Term::unknown;
    return bits(to) <= bits(from) && bits(to) >= 32 ? in.of(s.operands[1])
                                                    : in.number(in.number(s.operands[1], from), to);
}

}  // namespace

const Instruction& general_conversion() {
    static const Instruction record = [] {
        Instruction op;
        op.name = "cvt.general";
        op.summary = "converts a value to another type, with .sat, .ftz and every rounding";
        op.section = "9.7.9.21";
        op.rows = general_rows();
        op.operands = {out("d"), in("a", typed<Field::from>, OperandRule::reg)};
        op.ptx = "cvt{.round}{.ftz}{.sat}{.type}{.from} {%d}, {%a}";
        op.widens = true;
        op.work = Work::logic;
        op.run = run_cvt;
        return op;
    }();
    return record;
}

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
                  {{nearest(), relu(), satfinite(), to({e4m3x2, e5m2x2}), from({f16x2})}, {7, 8}},
                  {{nearest(), relu(), to({f16x2}), from({e4m3x2, e5m2x2})}, {7, 8}},
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
         .widens = true,
         .work = Work::logic,
         .infer = nullptr,
         .value = value_cvt,
         .known_bits = bits_of_cvt,
         .shape = shape_of_cvt,
         .meaning = meaning_of_cvt,
         .run = run_cvt},
        {.name = "cvt.pair",
         .summary = "converts two f32 into one packed pair; the first goes to the upper half",
         .section = "9.7.9.21",
         .rows = {{{nearest_or_zero(), relu(), to({f16x2, bf16x2}), from({f32})}, {7, 8}},
                  {{nearest_or_zero(), relu(), satfinite(), to({f16x2, bf16x2}), from({f32})}, {8, 1}},
                  {{nearest(), relu(), satfinite(), to({e4m3x2, e5m2x2}), from({f32})}, {7, 8}}},
         .operands = {out("d"), in("a", typed<Field::from>), in("b", typed<Field::from>)},
         .ptx = "cvt{.round}{.relu}{.satfinite}{.type}{.from} {%d}, {%a}, {%b}",
         .widens = true,
         .work = Work::logic,
         .run = run_cvt_pair},
    };
    return list;
}

}  // namespace wgrun::isa
