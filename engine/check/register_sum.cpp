#include "check/register_sum.hpp"

#include <vector>

#include "isa/algebra.hpp"

namespace wgrun::check {
namespace {

class RegisterSums final : public isa::UnknownAlgebra {
  public:
    using Term = isa::Term;
    RegisterSum at(Term term) const {
        return term == Term::unknown ? RegisterSum() : sums_[static_cast<std::size_t>(term)];
    }

  private:
    Term keep(RegisterSum sum) {
        sums_.push_back(sum);
        return static_cast<Term>(sums_.size() - 1);
    }
    Term of(const Operand& operand) override {
        if (operand.reg) return keep({operand.reg, 1, 0});
        return operand.kind == Operand::Kind::imm ? constant(operand.imm) : Term::unknown;
    }
    Term constant(std::int64_t value) override { return keep({{}, 0, value}); }
    Term sum(Term a, Term b, std::int64_t times) override {
        if (a == Term::unknown || b == Term::unknown) return Term::unknown;
        const RegisterSum left = at(a), right = at(b);
        if (left.other || right.other) return Term::unknown;
        if (left.times != 0 && right.times != 0)
            return left.times == 1 && right.times * times == 1
                       ? keep({left.reg, 1, left.constant + times * right.constant, right.reg})
                       : Term::unknown;
        return keep({left.times != 0 ? left.reg : right.reg, left.times + times * right.times,
                     left.constant + times * right.constant});
    }

    std::vector<RegisterSum> sums_;
};

}  // namespace

RegisterSum sum_of(const Step& step) {
    RegisterSums algebra;
    return algebra.at(isa::meaning_of(step, algebra));
}

}  // namespace wgrun::check
