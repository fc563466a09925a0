#include "check/at_least_one.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "isa/algebra.hpp"
#include "isa/parameter_read.hpp"
#include "isa/registers.hpp"
#include "isa/special.hpp"

namespace wgrun::check {
namespace {

/// What sums, products and quotients of numbers of the launch are at least, which do not wrap around.
class Least final : public isa::UnknownAlgebra {
  public:
    using Term = isa::Term;
    using OfRegisters = std::map<std::uint32_t, std::int64_t>;

    explicit Least(const OfRegisters& known) : known_(known) {}
    std::optional<std::int64_t> at(Term term) const {
        return term == Term::unknown ? std::nullopt
                                     : std::optional(terms_[static_cast<std::size_t>(term)].least);
    }

  private:
    struct Of {
        std::int64_t least;
        bool exact = false;  ///< it is that
    };
    Term keep(Of of) {
        terms_.push_back(of);
        return static_cast<Term>(terms_.size() - 1);
    }
    const Of& get(Term term) const { return terms_[static_cast<std::size_t>(term)]; }
    Term of(const Operand& operand) override {
        if (operand.kind == Operand::Kind::imm) return constant(operand.imm);
        const auto known = operand.kind == Operand::Kind::reg ? known_.find(operand.reg.id) : known_.end();
        return known == known_.end() ? Term::unknown : keep({known->second});
    }
    Term number(const Operand& operand, isa::Type) override { return of(operand); }
    Term number(Term a, isa::Type) override { return a; }
    Term constant(std::int64_t value) override {
        constexpr std::int64_t most = 1 << 24;
        return value < 0 || value > most ? Term::unknown : keep({value, true});
    }
    Term sum(Term a, Term b, std::int64_t times) override {
        if (a == Term::unknown || b == Term::unknown || times != 1) return Term::unknown;
        return keep({get(a).least + get(b).least, get(a).exact && get(b).exact});
    }
    Term product(Term a, Term b) override {
        constexpr std::int64_t most = std::int64_t{1} << 30;
        if (a == Term::unknown || b == Term::unknown) return Term::unknown;
        const std::int64_t least = get(a).least * get(b).least;
        return least > most ? Term::unknown : keep({least, get(a).exact && get(b).exact});
    }
    Term quotient(Term a, Term b) override {
        if (a == Term::unknown || b == Term::unknown || !get(b).exact || get(b).least == 0)
            return Term::unknown;
        return keep({get(a).least / get(b).least, get(a).exact});
    }
    Term power_of_2(Term exponent) override {
        constexpr std::int64_t most = 24;
        if (exponent == Term::unknown || !get(exponent).exact || get(exponent).least > most)
            return Term::unknown;
        return keep({std::int64_t{1} << get(exponent).least, true});
    }

    const OfRegisters& known_;
    std::vector<Of> terms_;
};

/// Of the grid's sizes, which are multiples of the cluster's: at least that.
std::optional<std::int64_t> grid_size(isa::Special which, Dim3 cluster) {
    if (!isa::is_grid_size(which)) return std::nullopt;
    const std::array sizes{cluster.x, cluster.y, cluster.z};
    const auto dim = static_cast<std::size_t>(which) - static_cast<std::size_t>(isa::Special::nctaid_x);
    return dim < sizes.size() ? std::int64_t{sizes.at(dim)} : 1;
}

}  // namespace

std::set<std::uint32_t> at_least_one(const Program& program, const std::set<std::string>& params) {
    std::map<std::uint32_t, int> writes;
    for_each_step(program,
                  [&](const Step& step) { isa::for_each_written(step, [&](Reg reg) { ++writes[reg.id]; }); });
    Least::OfRegisters least;
    const auto least_of = [&](const Step& step, int bits) -> std::optional<std::int64_t> {
        if (const std::optional<isa::ParameterRead> read = isa::parameter_read(step)) {
            const Param& param = program.params()[static_cast<std::size_t>(read->parameter)];
            const bool whole = read->offset == 0 && 8 * read->bytes == bits;
            return whole && params.contains(param.name) ? std::optional(param.taken_least()) : std::nullopt;
        }
        if (step.form.has(isa::Field::sreg)) return grid_size(isa::special_of(step.form), program.cluster());
        Least algebra(least);
        return algebra.at(isa::meaning_of(step, algebra));
    };
    for (bool grew = true; grew;) {
        grew = false;
        for_each_step(program, [&](const Step& step) {
            Reg result;
            int results = 0;
            isa::for_each_written(step, [&](Reg reg) {
                result = reg;
                ++results;
            });
            if (results != 1 || step.guard || writes[result.id] != 1 || least.contains(result.id)) return;
            const isa::Type type = program.registers()[result.id].type;
            if (isa::is_float(type) || isa::bits(type) < 32) return;
            if (const auto its = least_of(step, isa::bits(type)))
                grew |= least.emplace(result.id, *its).second;
        });
    }
    std::set<std::uint32_t> out;
    for (const auto& [reg, its] : least)
        if (its >= 1) out.insert(reg);
    return out;
}

}  // namespace wgrun::check
