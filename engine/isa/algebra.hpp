// What instructions compute of integers: a record states it in an algebra, which is the listener's:
// polynomials of variables, sets of integers. Proofs about all values of a register are made of it.
#pragma once

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// An integer or a truth value of an algebra, which only it can read. A truth value is the integer 0 or 1.
enum class Term : int { unknown = -1 };

enum class Compared : std::uint8_t { eq, ne, lt, le, gt, ge };

/// All functions give Term::unknown for sources of which nothing is known, as far as the result depends on
/// them.
class Algebra {
  public:
    virtual ~Algebra() = default;

    /// The operand of the current step: an integer whose low bits are those of the register. It may lie
    /// outside of the register's range; sums, products and low halves do not mind.
    virtual Term of(const Operand& operand) = 0;
    /// The operand as a number of that type, which lies in the type's range.
    virtual Term number(const Operand& operand, Type type) = 0;
    /// The low half of an integer, as a number of that type.
    virtual Term number(Term a, Type type) = 0;

    virtual Term constant(std::int64_t value) = 0;
    virtual Term sum(Term a, Term b, std::int64_t times = 1) = 0;  ///< a + times * b
    virtual Term product(Term a, Term b) = 0;
    /// Rounded down; unknown unless b is above 0.
    virtual Term quotient(Term a, Term b) = 0;
    virtual Term power_of_2(Term exponent) = 0;  ///< unknown below 0
    /// Each bit of the result is bit 2x + y of the table, where x and y are the bits of a and b at its place.
    virtual Term bitwise(unsigned table, Term a, Term b, Type type) = 0;
    virtual Term compare(Compared how, Term a, Term b) = 0;
    virtual Term select(Term condition, Term a, Term b) = 0;

    /// What the operand is in another lane of the warp, which executes the step, too.
    virtual Term in_lane(const Operand& operand, int lane) = 0;
    /// Whether the thread is the one that its warp elects here.
    virtual Term elected() = 0;
};

/// An algebra in which nothing is known. Others start from it.
class UnknownAlgebra : public Algebra {
  public:
    Term of(const Operand& /*operand*/) override { return Term::unknown; }
    Term number(const Operand& /*operand*/, Type /*type*/) override { return Term::unknown; }
    Term number(Term /*a*/, Type /*type*/) override { return Term::unknown; }
    Term constant(std::int64_t /*value*/) override { return Term::unknown; }
    Term sum(Term /*a*/, Term /*b*/, std::int64_t /*times*/) override { return Term::unknown; }
    Term product(Term /*a*/, Term /*b*/) override { return Term::unknown; }
    Term quotient(Term /*a*/, Term /*b*/) override { return Term::unknown; }
    Term power_of_2(Term /*exponent*/) override { return Term::unknown; }
    Term bitwise(unsigned /*table*/, Term /*a*/, Term /*b*/, Type /*type*/) override { return Term::unknown; }
    Term compare(Compared /*how*/, Term /*a*/, Term /*b*/) override { return Term::unknown; }
    Term select(Term /*condition*/, Term /*a*/, Term /*b*/) override { return Term::unknown; }
    Term in_lane(const Operand& /*operand*/, int /*lane*/) override { return Term::unknown; }
    Term elected() override { return Term::unknown; }
};

inline constexpr unsigned table_and = 0b1000, table_or = 0b1110, table_xor = 0b0110;

/// What the step gives to the first register that it writes, modulo the register's width.
inline Term meaning_of(const Step& step, Algebra& in) {
    return step.op->meaning == nullptr ? Term::unknown : step.op->meaning(step, in);
}

}  // namespace wgrun::isa
