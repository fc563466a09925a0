// Every format against a reference that knows nothing of bits: a sorted list of the values of all encodings,
// searched for the neighbours of the value to be rounded.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "number/number.hpp"
#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"

using namespace wgrun;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

struct Reference {
    std::string name;
    int exponent_bits, mantissa_bits;
    bool has_infinity;
    int padding;
    std::vector<double>
        values{};  // of the finite encodings without sign, and of the one that would come next

    Reference(std::string name, int exponent_bits, int mantissa_bits, bool has_infinity, int padding)
        : name(std::move(name)),
          exponent_bits(exponent_bits),
          mantissa_bits(mantissa_bits),
          has_infinity(has_infinity),
          padding(padding) {
        const int bias = (1 << (exponent_bits - 1)) - 1;
        for (int exponent = 0; exponent < 1 << exponent_bits; ++exponent)
            for (int mantissa = 0; mantissa < 1 << mantissa_bits; ++mantissa) {
                const int significand = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
                values.push_back(std::ldexp(significand, std::max(exponent, 1) - bias - mantissa_bits));
            }
        const std::size_t nonfinite = has_infinity ? std::size_t{1} << mantissa_bits : 1;
        values.resize(values.size() - nonfinite + 1);
    }

    std::uint32_t max_finite() const { return static_cast<std::uint32_t>(values.size()) - 2; }
    std::uint32_t sign_bit() const { return 1U << (exponent_bits + mantissa_bits); }
    std::uint32_t canonical_nan() const { return (sign_bit() - 1) << padding; }

    std::uint32_t round(double value, Rounding rounding, Overflow overflow) const {
        const std::uint32_t sign = std::signbit(value) ? sign_bit() : 0;
        const double magnitude = std::fabs(value);
        std::uint32_t code = 0;
        if (magnitude == inf) {
            code = max_finite() + 1;
        } else {
            const auto above = std::upper_bound(values.begin(), values.end(), magnitude);
            code = static_cast<std::uint32_t>(above - values.begin()) - 1;
            if (code > max_finite()) {
                code = rounding == Rounding::rz ? max_finite() : max_finite() + 1;
            } else {
                const double middle = (values[code] + values[code + 1]) / 2;
                const bool tie_up = rounding == Rounding::rna || code % 2 == 1;
                if (rounding != Rounding::rz && (magnitude > middle || (magnitude == middle && tie_up)))
                    ++code;
            }
        }
        if (code > max_finite() && overflow == Overflow::satfinite) code = max_finite();
        return (sign | code) << padding;
    }
};

/// The functions under test, behind one signature.
struct Subject {
    Reference reference;
    std::uint32_t (*encode)(double, Rounding, Overflow);
    float (*decode)(std::uint32_t);
    std::vector<std::uint32_t> (*bulk)(const std::vector<float>&, Rounding, Overflow);
    std::vector<float> (*bulk_decode)(const std::vector<std::uint32_t>&);
};

template <class Bits, auto to, auto from, auto bulk_to, auto bulk_from>
Subject subject(Reference reference) {
    return {std::move(reference),

            [](double v, Rounding r, Overflow o) { return std::uint32_t{to(v, r, o)}; },
            [](std::uint32_t bits) { return from(static_cast<Bits>(bits)); },
            [](const std::vector<float>& values, Rounding r, Overflow o) {
                std::vector<Bits> bits(values.size());
                bulk_to(values, bits, r, o);
                return std::vector<std::uint32_t>(bits.begin(), bits.end());
            },
            [](const std::vector<std::uint32_t>& wide) {
                std::vector<Bits> bits(wide.begin(), wide.end());
                std::vector<float> values(wide.size());
                bulk_from(bits, values);
                return values;
            }};
}

template <class Bits>
using To = Bits (*)(double, Rounding, Overflow);
template <class Bits>
using BulkTo = void (*)(std::span<const float>, std::span<Bits>, Rounding, Overflow);
template <class Bits>
using From = float (*)(Bits);
template <class Bits>
using BulkFrom = void (*)(std::span<const Bits>, std::span<float>);

#define WGRUN_SUBJECT(name, bits, ...)                                                       \
    subject<bits, static_cast<To<bits>>(to_##name), static_cast<From<bits>>(from_##name),    \
            static_cast<BulkTo<bits>>(to_##name), static_cast<BulkFrom<bits>>(from_##name)>( \
        Reference(#name, __VA_ARGS__))

const std::vector<Subject>& subjects() {
    static const std::vector<Subject> all{
        WGRUN_SUBJECT(f16, std::uint16_t, 5, 10, true, 0), WGRUN_SUBJECT(bf16, std::uint16_t, 8, 7, true, 0),
        WGRUN_SUBJECT(tf32, std::uint32_t, 8, 10, true, 13),
        WGRUN_SUBJECT(e4m3, std::uint8_t, 4, 3, false, 0), WGRUN_SUBJECT(e5m2, std::uint8_t, 5, 2, true, 0)};
    return all;
}

std::vector<Rounding> roundings(const Reference& reference) {
    if (reference.padding > 0) return {Rounding::rn, Rounding::rz, Rounding::rna};
    return {Rounding::rn, Rounding::rz};
}

/// Every finite value, the midpoint to its upper neighbour, and what lies just beside them, with both signs.
template <class Float>
std::vector<Float> rounding_cases(const Reference& reference) {
    const Float top = std::numeric_limits<Float>::infinity();
    std::vector<Float> cases{top, -top, std::numeric_limits<Float>::max(),
                             std::numeric_limits<Float>::denorm_min(),
                             -std::numeric_limits<Float>::denorm_min()};
    for (std::size_t i = 0; i + 1 < reference.values.size(); ++i) {
        const double low = reference.values[i];
        for (const double exact : {low, (low + reference.values[i + 1]) / 2}) {
            const auto value = static_cast<Float>(exact);
            if (static_cast<double>(value) != exact) FAIL("the reference is not exact");
            for (const Float v : {value, std::nextafter(value, top), std::nextafter(value, -top)}) {
                cases.push_back(v);
                cases.push_back(-v);
            }
        }
    }
    return cases;
}

struct Failures {
    std::size_t count = 0;
    std::string first;

    void expect(std::uint32_t got, std::uint32_t want, double value) {
        if (got == want) return;
        if (count++ == 0) {
            std::ostringstream text;
            text << std::hexfloat << value << std::hex << ": got " << got << ", want " << want;
            first = text.str();
        }
    }
};

}  // namespace

TEST_CASE("decoding gives every encoding's value exactly") {
    for (const Subject& subject : subjects()) {
        const Reference& r = subject.reference;
        INFO(r.name);
        Failures failures;
        for (std::uint32_t code = 0; code < r.sign_bit(); ++code)
            for (const std::uint32_t sign : {0U, r.sign_bit()}) {
                const std::uint32_t bits = (sign | code) << r.padding;
                const float got = subject.decode(bits);
                if (code <= r.max_finite()) {
                    const auto want = static_cast<float>(sign ? -r.values[code] : r.values[code]);
                    failures.expect(std::bit_cast<std::uint32_t>(got), std::bit_cast<std::uint32_t>(want),
                                    bits);
                } else if (r.has_infinity && code == r.max_finite() + 1) {
                    failures.expect(got == (sign ? -inf : inf), 1, bits);
                } else {
                    failures.expect(std::isnan(got), 1, bits);
                }
            }
        INFO(failures.first);
        CHECK(failures.count == 0);
    }
}

TEST_CASE("encoding what was decoded gives the same bits") {
    for (const Subject& subject : subjects()) {
        const Reference& r = subject.reference;
        INFO(r.name);
        Failures failures;
        for (std::uint32_t code = 0; code < r.sign_bit(); ++code) {
            if (code > r.max_finite() + (r.has_infinity ? 1 : 0)) continue;  // NaN
            for (const std::uint32_t sign : {0U, r.sign_bit()}) {
                const std::uint32_t bits = (sign | code) << r.padding;
                const float value = subject.decode(bits);
                failures.expect(subject.encode(value, Rounding::rn, Overflow::nonfinite), bits, value);
            }
        }
        INFO(failures.first);
        CHECK(failures.count == 0);
    }
}

TEST_CASE("values, midpoints and their neighbours round as the reference says") {
    for (const Subject& subject : subjects()) {
        const Reference& r = subject.reference;
        const auto singles = rounding_cases<float>(r);
        const auto doubles = rounding_cases<double>(r);
        for (const Rounding rounding : roundings(r))
            for (const Overflow overflow : {Overflow::nonfinite, Overflow::satfinite}) {
                INFO(r.name << " rounding " << int(rounding) << " overflow " << int(overflow));
                Failures failures;
                const auto bulk = subject.bulk(singles, rounding, overflow);
                for (std::size_t i = 0; i < singles.size(); ++i) {
                    const std::uint32_t want = r.round(singles[i], rounding, overflow);
                    failures.expect(bulk[i], want, singles[i]);
                    failures.expect(subject.encode(singles[i], rounding, overflow), want, singles[i]);
                }
                for (const double value : doubles)
                    failures.expect(subject.encode(value, rounding, overflow),
                                    r.round(value, rounding, overflow), value);
                INFO(failures.first);
                CHECK(failures.count == 0);
            }
    }
}

TEST_CASE("random bits of binary32 and binary64 round as the reference says") {
    std::mt19937_64 random(1);
    for (const Subject& subject : subjects()) {
        const Reference& r = subject.reference;
        std::vector<float> singles;
        std::vector<double> doubles;
        while (singles.size() < 100'000) {
            const float single = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
            if (!std::isnan(single)) singles.push_back(single);
            // Half of the doubles in binary32's range of exponents, where the formats' values are.
            std::uint64_t bits = random();
            if (bits & 1) bits = (bits & ~(0x7FFULL << 52)) | ((1023 - 150 + bits % 300) << 52);
            const auto wide = std::bit_cast<double>(bits);
            if (!std::isnan(wide)) doubles.push_back(wide);
        }
        for (const Rounding rounding : roundings(r))
            for (const Overflow overflow : {Overflow::nonfinite, Overflow::satfinite}) {
                INFO(r.name << " rounding " << int(rounding) << " overflow " << int(overflow));
                Failures failures;
                const auto bulk = subject.bulk(singles, rounding, overflow);
                for (std::size_t i = 0; i < singles.size(); ++i)
                    failures.expect(bulk[i], r.round(singles[i], rounding, overflow), singles[i]);
                for (const double value : doubles)
                    failures.expect(subject.encode(value, rounding, overflow),
                                    r.round(value, rounding, overflow), value);
                INFO(failures.first);
                CHECK(failures.count == 0);
            }
    }
}

TEST_CASE("any NaN becomes the canonical one, with and without .satfinite") {
    for (const Subject& subject : subjects()) {
        const Reference& r = subject.reference;
        INFO(r.name);
        for (const std::uint32_t bits : {0x7FC00000U, 0xFFC00000U, 0x7FFFFFFFU, 0x7F800001U, 0xFFABCDEFU}) {
            const float nan = std::bit_cast<float>(bits);
            for (const Rounding rounding : {Rounding::rn, Rounding::rz})
                for (const Overflow overflow : {Overflow::nonfinite, Overflow::satfinite}) {
                    CHECK(subject.encode(nan, rounding, overflow) == r.canonical_nan());
                    CHECK(subject.bulk({nan}, rounding, overflow)[0] == r.canonical_nan());
                }
        }
    }
    CHECK(to_f16(std::nanf("")) == 0x7FFF);
    CHECK(to_bf16(std::nanf("")) == 0x7FFF);
    CHECK(to_e4m3(std::nanf("")) == 0x7F);
    CHECK(to_e5m2(std::nanf("")) == 0x7F);
    CHECK(to_tf32(std::nanf("")) == 0x7FFFE000);
}

TEST_CASE("what an H200 keeps of a NaN") {
    CHECK(nan_from_f64(Dtype::f16, std::bit_cast<double>(0x7FF0000000000001)) == 0x7E00);
    CHECK(nan_from_f64(Dtype::f16, std::bit_cast<double>(0x7FFFFFFFFFFFFFFF)) == 0x7FFF);
    CHECK(nan_from_f64(Dtype::f16, std::bit_cast<double>(0xFFF8000000000000)) == 0xFE00);
    CHECK(nan_from_f64(Dtype::bf16, std::bit_cast<double>(0x7FF0000000000001)) == 0x7FC0);
    CHECK(nan_from_f64(Dtype::bf16, std::bit_cast<double>(0x7FFFFFFFFFFFFFFF)) == 0x7FFF);
    CHECK(nan_from_f64(Dtype::bf16, std::bit_cast<double>(0xFFF8000000000000)) == 0xFFC0);
    CHECK_THROWS_WITH(nan_from_f64(Dtype::e4m3, 0), "a NaN from f64 to e4m3: f16, bf16 or an integer type");

    const auto rna = [](std::uint32_t bits) {
        const float value = std::bit_cast<float>(bits);
        to_tf32(std::span(&value, 1), std::span(&bits, 1), Rounding::rna);
        return bits;
    };
    CHECK(rna(0x7FC9BE50) == 0x7FC9A000);
    CHECK(rna(0xFFFFFFFF) == 0xFFFFE000);
    CHECK(rna(0x7F800FFF) == 0x7F800000);
    CHECK(to_tf32(std::bit_cast<float>(0xFFC9BE50), Rounding::rna, Overflow::satfinite) == 0x7FFFE000);

    CHECK(std::bit_cast<std::uint32_t>(from_bf16(0xFFC1)) == 0xFFC10000);
    CHECK(std::bit_cast<std::uint32_t>(from_f16(0xFE01)) == 0x7FFFFFFF);
    CHECK(std::bit_cast<std::uint32_t>(from_e4m3(0xFF)) == 0x7FFFFFFF);
    CHECK(std::bit_cast<std::uint32_t>(from_e5m2(0xFD)) == 0x7FFFFFFF);
}

TEST_CASE("landmarks of the formats") {
    CHECK(to_f16(1.0F) == 0x3C00);
    CHECK(to_f16(65504.0F) == 0x7BFF);
    CHECK(to_f16(65519.99F) == 0x7BFF);
    CHECK(to_f16(65520.0F) == 0x7C00);
    CHECK(to_f16(65520.0F, Rounding::rz) == 0x7BFF);
    CHECK(to_f16(-inf, Rounding::rz) == 0xFC00);
    CHECK(to_f16(-inf, Rounding::rn, Overflow::satfinite) == 0xFBFF);
    CHECK(to_bf16(1.0F) == 0x3F80);
    CHECK(to_bf16(std::numeric_limits<float>::max()) == 0x7F80);
    CHECK(to_e4m3(448.0F) == 0x7E);
    CHECK(to_e4m3(464.0F) == 0x7E);
    CHECK(to_e4m3(464.5F) == 0x7F);
    CHECK(to_e4m3(-1e30F) == 0xFF);
    CHECK(to_e4m3(-1e30F, Rounding::rn, Overflow::satfinite) == 0xFE);
    CHECK(to_e5m2(57344.0F) == 0x7B);
    CHECK(to_e5m2(61440.0F) == 0x7C);
    CHECK(to_e5m2(61440.0F, Rounding::rn, Overflow::satfinite) == 0x7B);
    CHECK(to_tf32(1.0F + 0x1p-11F) == 0x3F800000);
    CHECK(to_tf32(1.0F + 0x1p-11F, Rounding::rna) == 0x3F802000);
    CHECK(from_tf32(0x3F801FFF) == 1.0F);
    // 1 + 2^-11 + 2^-40 lies above the midpoint; rounding to binary32 first would put it on the midpoint.
    CHECK(to_f16(1.0 + 0x1p-11 + 0x1p-40) == 0x3C01);
    CHECK(to_bf16(1.0 + 0x1p-8 + 0x1p-40) == 0x3F81);
}

TEST_CASE("all bulk decodings equal the single ones") {
    for (const Subject& subject : subjects()) {
        const Reference& r = subject.reference;
        INFO(r.name);
        std::vector<std::uint32_t> codes;
        for (std::uint32_t code = 0; code < 2 * r.sign_bit(); ++code) codes.push_back(code << r.padding);
        const auto values = subject.bulk_decode(codes);
        Failures failures;
        for (std::size_t i = 0; i < codes.size(); ++i)
            failures.expect(std::bit_cast<std::uint32_t>(values[i]),
                            std::bit_cast<std::uint32_t>(subject.decode(codes[i])), codes[i]);
        INFO(failures.first);
        CHECK(failures.count == 0);
    }
}

TEST_CASE("what number formats refuse") {
    CHECK_THROWS_WITH(to_f16(1.0F, Rounding::rna), "rounding .rna exists for tf32 only");
    CHECK_THROWS_AS(to_e4m3(1.0, Rounding::rna), ArgumentError);
    std::vector<float> values(3);
    std::vector<std::uint16_t> bits(2);
    CHECK_THROWS_WITH(to_bf16(values, bits), "3 values against 2 encodings");
    CHECK_THROWS_WITH(from_bf16(bits, values), "3 values against 2 encodings");
}
