#include "check/symbolic/system.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "check/symbolic/isl.hpp"

namespace wgrun::check::symbolic {

// --- what needs no solver -------------------------------------------------------------------------------

Polynomial System::in(int execution, const Polynomial& number) const {
    if (execution == 0) return number;
    return number.renamed(
        [&](Atom atom) { return same(atom) ? atom : atom + static_cast<Atom>(atoms_.size()); });
}

std::set<Atom> System::mentioned() {
    use_all();
    std::set<Atom> out;
    for (const auto& [monomial, unused] : variables_)
        for (const Atom atom : monomial) out.insert(base(atom));
    return out;
}

void System::use_all() {
    for (const auto* list : {&positive_, &zero_})
        for (const Polynomial& number : *list) use(number);
    for (const auto& [formula, execution] : formulas_) use(formula, execution);
}

/// Gives every product a variable, and says what its atoms are.
void System::use(const Polynomial& number) {
    for (const auto& [monomial, times] : number.terms())
        if (!monomial.empty() && variables_.try_emplace(monomial, static_cast<int>(variables_.size())).second)
            define(monomial);
}

void System::use(Formula formula, int execution) {
    atoms_.for_each_number(formula, [&](const Polynomial& number) { use(in(execution, number)); });
}

void System::define(const Monomial& monomial) {
    const auto least = [&](Atom of) { return atoms_.least(Polynomial::of(base(of))); };
    if (monomial.size() > 1) {
        // A product with a number above 0 is not less than without it.
        if (std::ranges::any_of(monomial, [&](Atom of) { return least(of).value_or(-1) < 0; })) return;
        Polynomial product;
        product.add(monomial, 1);
        defined_.push_back(product);
        for (std::size_t i = 0; i < monomial.size(); ++i) {
            Monomial rest = monomial;
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
            if (*least(monomial[i]) < 1) continue;
            Polynomial more = product;
            more.add(rest, -1);
            use(more);
            defined_.push_back(std::move(more));
        }
        return;
    }
    const Atom atom = monomial.front();
    define(atom, execution(atom));
    // What both executions have in common follows from the second one's numbers, too.
    if (same_.contains(atom)) define(atom, 1);
}

void System::define(Atom atom, int which) {
    const auto least = [&](Atom of) { return atoms_.least(Polynomial::of(base(of))); };
    const Definition& of = atoms_[base(atom)];
    const Polynomial self = Polynomial::of(atom);
    const auto holds = [&](Polynomial number) {
        use(number);
        defined_.push_back(std::move(number));
    };
    if (const auto bound = least(atom)) holds(self - Polynomial(*bound));
    if (of.most) holds(Polynomial(*of.most) - self);
    if (of.below) holds(in(which, *of.below) - self - Polynomial(1));
    if (of.kind == Definition::Kind::quotient) {
        const Polynomial rest = in(which, of.parts[0]) - self * in(which, of.parts[1]);
        holds(rest);
        holds(in(which, of.parts[1]) - rest - Polynomial(1));
    } else if (of.kind == Definition::Kind::choice) {
        use(of.condition, which);
        for (const Polynomial& part : of.parts) use(self - in(which, part));
        choices_.emplace_back(Formula(base(atom)), which);
    }
}

#ifdef WGRUN_ISL

// --- isl ------------------------------------------------------------------------------------------------

namespace {

constexpr std::array<unsigned long, 3> most_of_attempt{1UL << 10, 1UL << 12, 1UL << 14};

// isl's functions for a number take C's long, which has 32 bits in WebAssembly; those for its digits do not.
isl_val* integer(isl_ctx* context, std::int64_t number) {
    const auto bits = static_cast<std::uint64_t>(number);
    const std::uint64_t magnitude = number < 0 ? 0 - bits : bits;
    isl_val* value = isl().val_int_from_chunks(context, 1, sizeof magnitude, &magnitude);
    return number < 0 ? isl().val_neg(value) : value;
}

/// Frees the value. Nothing: it does not fit 64 bits.
std::optional<std::int64_t> taken(isl_val* value) {
    std::uint64_t magnitude = 0;
    const bool fits = isl().val_n_abs_num_chunks(value, sizeof magnitude) == 1 &&
                      isl().val_get_abs_num_chunks(value, sizeof magnitude, &magnitude) == isl_stat_ok &&
                      magnitude <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const bool is_zero = isl().val_sgn(value) == 0, is_negative = isl().val_sgn(value) < 0;
    isl().val_free(value);
    if (is_zero) return 0;
    if (!fits) return std::nullopt;
    return is_negative ? -static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
}

/// Parts of a union. Conditions by which there would be more are left out.
constexpr int most_parts = 32;

/// Both sets, or the first alone where that would be a union of too many.
isl_set* met(isl_set* set, isl_set* with) {
    if (isl().set_n_basic_set(set) * isl().set_n_basic_set(with) <= most_parts)
        return isl().set_intersect(set, with);
    isl().set_free(with);
    return set;
}

}  // namespace

Solver::Solver(unsigned long operations) : context_(isl().ctx_alloc()), left_(operations) {
    isl().options_set_on_error(context_, ISL_ON_ERROR_CONTINUE);
}
Solver::~Solver() { isl().ctx_free(context_); }
void Solver::begin(int attempt) const {
    const unsigned long most = std::min(left_, most_of_attempt.at(static_cast<std::size_t>(attempt)));
    left_ -= most;
    isl().ctx_reset_error(context_);
    isl().ctx_reset_operations(context_);
    // 0 is no limit.
    isl().ctx_set_max_operations(context_, std::max(most, 1UL));
}
void Solver::charge(unsigned long operations) const { left_ -= std::min(left_, operations); }
bool Solver::again(int attempt) const {
    return isl().ctx_last_error(context_) == isl_error_quota && left_ != 0 &&
           static_cast<std::size_t>(attempt) + 1 < most_of_attempt.size();
}
bool has_solver() { return open_isl() != nullptr; }

void System::FreeSet::operator()(isl_set* set) const { isl().set_free(set); }

/// Makes sets of the variables of a system: those that are the same in all of a launch are parameters.
class System::Rows {
  public:
    explicit Rows(const System& system) : system_(system) {
        unsigned counts[2] = {0, 0};
        for (const auto& [monomial, unused] : system.variables_) {
            const bool uniform = std::ranges::all_of(
                monomial, [&](Atom atom) { return system.atoms_.uniform(system.base(atom)); });
            places_[monomial] = {uniform, counts[uniform ? 1 : 0]++};
        }
        space_ = isl().space_set_alloc(system.solver_.context(), counts[1], counts[0]);
    }
    ~Rows() { isl().space_free(space_); }
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;

    isl_set* universe() const { return isl().set_universe(isl().space_copy(space_)); }
    isl_set* none() const { return isl().set_empty(isl().space_copy(space_)); }

    /// Where the number is 0, or not below 0.
    isl_set* half(const Polynomial& number, bool is_zero) const {
        return isl().set_add_constraint(universe(), constraint(number, is_zero));
    }
    isl_constraint* constraint(const Polynomial& number, bool is_zero) const {
        isl_local_space* local = isl().local_space_from_space(isl().space_copy(space_));
        isl_constraint* row =
            is_zero ? isl().constraint_alloc_equality(local) : isl().constraint_alloc_inequality(local);
        for (const auto& [monomial, times] : number.terms()) {
            isl_val* value = integer(system_.solver_.context(), times);
            if (monomial.empty()) {
                row = isl().constraint_set_constant_val(row, value);
                continue;
            }
            const auto& [uniform, place] = places_.at(monomial);
            row = isl().constraint_set_coefficient_val(row, uniform ? isl_dim_param : isl_dim_set,
                                                       static_cast<int>(place), value);
        }
        return row;
    }

    /// Where the condition holds, or, negated, does not.
    isl_set* of(Formula formula, int execution, bool inverse = false) const {
        const Condition& condition = system_.atoms_[formula];
        using enum Condition::Kind;
        const Polynomial number = system_.in(execution, condition.number);
        switch (condition.kind) {
            case yes: return inverse ? none() : universe();
            case positive: return half(inverse ? Polynomial(-1) - number : number, false);
            case open:
            case zero:
                if (inverse == (condition.kind == open)) return half(number, true);
                return isl().set_union(half(number - Polynomial(1), false),
                                       half(Polynomial(-1) - number, false));
            case Condition::Kind::negated: return of(condition.parts.front(), execution, !inverse);
            case Condition::Kind::all:
            case any: {
                const bool intersects = (condition.kind == Condition::Kind::all) != inverse;
                isl_set* out = intersects ? universe() : none();
                for (const Formula part : condition.parts) {
                    isl_set* one = of(part, execution, inverse);
                    out = intersects ? met(out, one) : isl().set_union(out, one);
                }
                return out;
            }
        }
        return universe();
    }

    isl_set* chosen(Atom atom, int execution) const {
        const Definition& definition = system_.atoms_[atom];
        const Polynomial self = system_.in(execution, Polynomial::of(atom));
        isl_set* out = none();
        for (int i = 0; i < 2; ++i) {
            isl_set* one =
                half(self - system_.in(execution, definition.parts[static_cast<std::size_t>(i)]), true);
            out = isl().set_union(out, isl().set_intersect(one, of(definition.condition, execution, i == 1)));
        }
        return out;
    }

    /// By what a row bounds a variable from above, in terms of the parameters; nothing: it does not.
    std::optional<Polynomial> bound(isl_constraint* row, int variable) const {
        const std::int64_t times =
            taken(isl().constraint_get_coefficient_val(row, isl_dim_set, variable)).value_or(0);
        // times * variable + rest >= 0
        if (times >= 0) return std::nullopt;
        const std::optional<std::int64_t> constant = taken(isl().constraint_get_constant_val(row));
        if (!constant) return std::nullopt;
        Polynomial out(*constant / -times);
        for (const auto& [monomial, at] : places_) {
            const auto place = static_cast<int>(at.second);
            const std::optional<std::int64_t> coefficient = taken(
                isl().constraint_get_coefficient_val(row, at.first ? isl_dim_param : isl_dim_set, place));
            if (!coefficient || *coefficient % times != 0 || (*coefficient != 0 && !at.first))
                return std::nullopt;
            out.add(monomial, *coefficient / -times);
        }
        return out;
    }

    std::pair<bool, unsigned> place(const Monomial& monomial) const { return places_.at(monomial); }

  private:
    const System& system_;
    isl_space* space_;
    std::map<Monomial, std::pair<bool, unsigned>> places_;
};

System::Set System::build(const std::vector<Polynomial>& more) {
    if (solver_.exhausted()) return {};
    use_all();
    for (const Polynomial& number : more) use(number);
    const Rows rows(*this);
    isl_set* out = rows.universe();
    const auto add = [&](const Polynomial& number, bool is_zero) {
        out = isl().set_add_constraint(out, rows.constraint(number, is_zero));
    };
    for (const Polynomial& number : defined_) add(number, false);
    for (const Polynomial& number : positive_) add(number, false);
    for (const Polynomial& number : zero_) add(number, true);
    for (const auto& [formula, execution] : formulas_) out = met(out, rows.of(formula, execution));
    for (const auto& [choice, execution] : choices_)
        out = met(out, rows.chosen(static_cast<Atom>(choice), execution));
    const auto parts = static_cast<std::size_t>(std::max(isl().set_n_basic_set(out), 1));
    // An operation takes longer in a wider tableau.
    constexpr std::size_t usual = 32;
    const std::size_t width = variables_.size();
    solver_.charge(parts * width * (width + defined_.size()) * (1 + width / usual * width / usual));
    return Set(out);
}

bool System::empty() {
    return solver_.ask([&] {
        const Set set = build({});
        return set && isl().set_is_empty(set.get()) == isl_bool_true;
    });
}

/// Whether it is below 0 wherever all conditions hold.
bool System::nothing_in(const Polynomial& positive) {
    return solver_.ask([&] {
        const Set set = build({positive});
        if (!set) return false;
        const Rows rows(*this);
        const Set part(isl().set_intersect(isl().set_copy(set.get()), rows.half(positive, false)));
        return part && isl().set_is_empty(part.get()) == isl_bool_true;
    });
}

std::vector<bool> System::zeros(const std::vector<Polynomial>& candidates) {
    return solver_.ask([&] { return find_zeros(candidates); });
}

std::vector<bool> System::find_zeros(const std::vector<Polynomial>& candidates) {
    std::vector<bool> out(candidates.size(), false);
    const Set set = build(candidates);
    if (!set) return out;
    isl_set* hull = isl().set_from_basic_set(isl().set_affine_hull(isl().set_copy(set.get())));
    const Rows rows(*this);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        isl_set* zero = rows.half(candidates[i], true);
        out[i] = hull != nullptr && isl().set_is_subset(hull, zero) == isl_bool_true;
        isl().set_free(zero);
    }
    isl().set_free(hull);
    return out;
}

std::vector<Polynomial> System::upper_bounds(const Polynomial& number) {
    return solver_.ask([&] { return find_upper_bounds(number); });
}

std::vector<Polynomial> System::find_upper_bounds(const Polynomial& number) {
    // A variable that is the number; its maximum in terms of the parameters.
    std::vector<Polynomial> out;
    const Set set = build({number});
    if (!set) return out;
    const Rows rows(*this);
    isl_set* with = isl().set_add_dims(isl().set_copy(set.get()), isl_dim_set, 1);
    const auto last = static_cast<int>(isl().set_dim(with, isl_dim_set)) - 1;
    isl_local_space* local = isl().local_space_from_space(isl().set_get_space(with));
    isl_constraint* row = isl().constraint_alloc_equality(local);
    row = isl().constraint_set_coefficient_si(row, isl_dim_set, last, -1);
    for (const auto& [monomial, times] : number.terms()) {
        isl_val* value = integer(solver_.context(), times);
        if (monomial.empty()) {
            row = isl().constraint_set_constant_val(row, value);
            continue;
        }
        const auto [uniform, place] = rows.place(monomial);
        row = isl().constraint_set_coefficient_val(row, uniform ? isl_dim_param : isl_dim_set,
                                                   static_cast<int>(place), value);
    }
    with = isl().set_add_constraint(with, row);
    // Without whole numbers in between: a bound that may be greater than the least one.
    if (last > 0) with = isl().set_eliminate(with, isl_dim_set, 0, static_cast<unsigned>(last));
    struct Found {
        const Rows& rows;
        int variable;
        std::vector<Polynomial>& list;
    } found{rows, last, out};
    const auto in_part = [](isl_basic_set* part, void* user) {
        const isl_stat done = isl().basic_set_foreach_constraint(
            part,
            [](isl_constraint* row, void* of) {
                auto& into = *static_cast<Found*>(of);
                if (auto bound = into.rows.bound(row, into.variable);
                    bound && std::ranges::find(into.list, *bound) == into.list.end())
                    into.list.push_back(*std::move(bound));
                isl().constraint_free(row);
                return isl_stat_ok;
            },
            user);
        isl().basic_set_free(part);
        return done;
    };
    if (with != nullptr) isl().set_foreach_basic_set(with, in_part, &found);
    isl().set_free(with);
    return out;
}

#else

Solver::Solver(unsigned long operations) : context_(nullptr), left_(operations) {}
Solver::~Solver() = default;
void Solver::begin(int) const {}
void Solver::charge(unsigned long) const {}
bool Solver::again(int) const { return false; }
bool has_solver() { return false; }
void System::FreeSet::operator()(isl_set*) const {}
System::Set System::build(const std::vector<Polynomial>&) { return {}; }
bool System::empty() { return false; }
bool System::nothing_in(const Polynomial&) { return false; }
std::vector<bool> System::zeros(const std::vector<Polynomial>& candidates) {
    return std::vector<bool>(candidates.size(), false);
}
std::vector<Polynomial> System::upper_bounds(const Polynomial&) { return {}; }

#endif

bool System::implies_positive(const Polynomial& number) {
    if (number.is_constant() && number.constant() >= 0) return true;
    if (nothing_in(Polynomial(-1) - number)) return true;
    // d * number > -d, where d is above 0.
    use_all();
    std::set<Atom> factors;
    for (const auto& [monomial, unused] : variables_)
        if (monomial.size() > 1)
            for (const Atom atom : monomial)
                if (atoms_.uniform(base(atom)) && atoms_.least(Polynomial::of(base(atom))).value_or(0) >= 1)
                    factors.insert(atom);
    const auto with = [&](const Polynomial& factor) {
        return nothing_in(Polynomial(0) - number * factor - factor);
    };
    if (std::ranges::any_of(factors, [&](Atom factor) { return with(Polynomial::of(factor)); })) return true;
    // What a quotient was divided by is above 0, too.
    for (const Atom atom : number.atoms())
        if (const Definition& of = atoms_[base(atom)]; of.kind == Definition::Kind::quotient &&
                                                       !of.parts[1].is_constant() &&
                                                       with(in(execution(atom), of.parts[1])))
            return true;
    return false;
}

}  // namespace wgrun::check::symbolic
