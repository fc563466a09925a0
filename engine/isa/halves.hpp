// Arithmetic of f16 and bf16, one value or the two of a register: computed exactly enough that the rounding
// to the type is the only one.
#pragma once

#include "isa/lanes.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// f16, bf16, f16x2, bf16x2.
bool is_half(Type type);
/// As PTX has them: with .ftz f16 and f16x2, which the others do not take.
std::vector<Row> half_rows(bool rounded);

/// One value of the type, as a number and back. NaN becomes 0x7FFF, as the chip's arithmetic makes it.
class HalfFormat {
  public:
    explicit HalfFormat(const Form& form);
    double number(std::uint16_t bits) const;
    std::uint16_t bits(double value) const;

  private:
    bool brain_;  ///< bf16
    bool flush_;  ///< .ftz
};

/// a + b, rounded to odd: a further rounding to a format of half the digits is as if it were the only one
/// (Boldo and Melquiond 2008).
double sum_to_odd(double a, double b);

/// d = f(a, ...) on the bits of each half; `arity` sources follow the destination.
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

/// d = f(a, ...) on numbers, which is rounded to the type.
template <std::size_t arity, class F>
void map_halves(const Step& s, Machine& m, F f) {
    const HalfFormat format(s.form);
    map_half_bits<arity>(s, m, [&](auto... halves) { return format.bits(f(format.number(halves)...)); });
}

}  // namespace wgrun::isa
