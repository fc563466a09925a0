#include "check/symbolic/launch_numbers.hpp"

#include <memory>
#include <string_view>
#include <utility>

namespace wgrun::check::symbolic {
namespace {

std::optional<LaunchNumber::Factor> factor(const Accesses& of, Atom atom) {
    LaunchNumber::Factor out;
    if (const auto param = of.params.find(atom); param != of.params.end()) {
        out.param = param->second;
        return out;
    }
    const Definition& what = of.atoms[atom];
    constexpr std::string_view grid = "nctaid.";
    if (what.kind == Definition::Kind::number && what.name.size() == grid.size() + 1 &&
        what.name.starts_with(grid)) {
        out.dim = what.name.back() - 'x';
        return out;
    }
    if (what.kind != Definition::Kind::quotient || !what.parts[1].is_constant()) return std::nullopt;
    std::optional<LaunchNumber> dividend = launch_number(of, what.parts[0]);
    if (!dividend) return std::nullopt;
    out.dividend = std::make_shared<const LaunchNumber>(*std::move(dividend));
    out.divisor = what.parts[1].constant();
    return out;
}

}  // namespace

std::optional<LaunchNumber> launch_number(const Accesses& of, const Polynomial& number) {
    LaunchNumber out;
    for (const auto& [monomial, times] : number.terms()) {
        LaunchNumber::Term& term = out.terms.emplace_back(LaunchNumber::Term{times});
        for (const Atom atom : monomial) {
            const std::optional<LaunchNumber::Factor> its = factor(of, atom);
            if (!its) return std::nullopt;
            term.factors.push_back(*its);
        }
    }
    return out;
}

}  // namespace wgrun::check::symbolic
