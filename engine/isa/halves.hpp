// Arithmetic of f16 and bf16, on the one value or the two values of a register. It is exact enough that the
// rounding to the type is the only rounding.
#pragma once

#include "isa/lanes.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// Returns whether the type is f16, bf16, f16x2 or bf16x2.
bool is_half(Type type);
/// Returns the rows that PTX has: only f16 and f16x2 take .ftz.
std::vector<Row> half_rows(bool rounded);

/// Converts a value of the type to a number and back. NaN becomes half_nan.
class HalfFormat {
  public:
    explicit HalfFormat(const Form& form) : HalfFormat(form.type(), form) {}
    /// The same for values of another type than the form's.
    HalfFormat(Type type, const Form& form);
    double number(std::uint16_t bits) const;
    std::uint16_t bits(double value) const;

  private:
    bool brain_;  ///< bf16
    bool flush_;  ///< .ftz
    bool limit_;  ///< .sat
};

/// Returns a + b, rounded to odd: a further rounding, to a format with half the digits, gives the same as a
/// single rounding (Boldo and Melquiond 2008).
double sum_to_odd(double a, double b);

/// Computes d = f(a, ...) on the bits of each half; `arity` sources follow the destination.
template <std::size_t arity, class F>
void map_half_bits(const Step& s, Machine& m, F f) {
    const auto one = [&](auto word) {
        using Word = decltype(word);
        std::array<Lanes<Word>, arity> in;
        for (std::size_t i = 0; i < arity; ++i) in[i] = read<Word>(m, s.operands[i + 1]);
        Lanes<Word> d;
        for (std::size_t l = 0; l < lanes; ++l) {
            std::uint32_t out = 0;
            for (unsigned shift = 0; shift < sizeof(Word) * 8; shift += 16) {
                std::array<std::uint16_t, arity> halves;
                for (std::size_t i = 0; i < arity; ++i)
                    halves[i] = static_cast<std::uint16_t>(in[i][l] >> shift);
                out |= std::uint32_t{std::apply(f, halves)} << shift;
            }
            d[l] = static_cast<Word>(out);
        }
        write_reg<Word>(m, s.operands[0].reg, d);
    };
    if (bits(s.form.type()) == 32)
        one(std::uint32_t{});
    else
        one(std::uint16_t{});
}

/// Computes d = f(a, ...) on numbers, and rounds the result to the type.
template <std::size_t arity, class F>
void map_halves(const Step& s, Machine& m, F f) {
    const HalfFormat format(s.form);
    map_half_bits<arity>(s, m, [&](auto... halves) { return format.bits(f(format.number(halves)...)); });
}

}  // namespace wgrun::isa
