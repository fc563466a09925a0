#include "check/global_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "check/symbolic/apart.hpp"
#include "check/symbolic/extents.hpp"
#include "check/symbolic/groups.hpp"
#include "check/symbolic/limits.hpp"

namespace wgrun::check {
namespace {

using namespace symbolic;

/// Inequalities, each proved once.
class Inequalities {
  public:
    Inequalities(const Solver& solver, Atoms& atoms) : solver_(solver), atoms_(atoms) {}

    bool operator()(const Polynomial& number, std::span<const Formula> conditions) {
        const std::pair question(number, key_of(conditions));
        const auto [at, added] = found_.try_emplace(question, false);
        if (!added) return at->second;
        const bool holds = by_choice(number, key_of(conditions)) || by_solver(number, conditions);
        return found_.at(question) = holds;
    }

    /// Those that hold under the conditions.
    std::vector<Polynomial> under(const std::vector<Formula>& conditions) const {
        std::vector<Polynomial> out;
        for (const auto& [question, holds] : found_)
            if (holds && std::ranges::all_of(question.second, [&](Formula condition) {
                    return std::ranges::find(conditions, condition) != conditions.end();
                }))
                out.push_back(question.first);
        return out;
    }

  private:
    static std::vector<Formula> key_of(std::span<const Formula> conditions) {
        return {conditions.begin(), conditions.end()};
    }

    bool by_solver(const Polynomial& number, std::span<const Formula> conditions) {
        System system(solver_, atoms_);
        for (const Formula condition : conditions) system.add(condition, 0);
        // That a quotient is not below 0, a product alone may show.
        for (const Atom atom : number.atoms())
            if (const Definition of = atoms_[atom];
                of.kind == Definition::Kind::quotient && !of.parts[1].is_constant())
                if (const Polynomial alone = Polynomial::of(atom);
                    number != alone && holds(alone, conditions))
                    system.add_positive(alone);
        return system.implies_positive(number);
    }

    /// It holds whichever number is chosen.
    bool by_choice(const Polynomial& number, std::vector<Formula> conditions) {
        for (const Atom atom : number.atoms()) {
            const Definition of = atoms_[atom];
            if (of.kind != Definition::Kind::choice) continue;
            const Formula otherwise = atoms_.negated(of.condition);
            conditions.push_back(of.condition);
            if (!holds(number.with(atom, of.parts[0]), conditions)) return false;
            conditions.back() = otherwise;
            return holds(number.with(atom, of.parts[1]), conditions);
        }
        return false;
    }
    bool holds(const Polynomial& number, std::span<const Formula> conditions) {
        const auto least = atoms_.least(number);
        return (least && *least >= 0) || (*this)(number, conditions);
    }

    const Solver& solver_;
    Atoms& atoms_;
    std::map<std::pair<Polynomial, std::vector<Formula>>, bool> found_;
};

class GlobalMemory {
  public:
    GlobalMemory(const Outline& outline, const Budget& budget, Gaps& gaps, Dim3 grid)
        : program_(outline.program()),
          gaps_(gaps),
          budget_(budget),
          solver_(budget.questions()),
          inequalities_(solver_, accesses_.atoms),
          grid_(grid) {
        find_accesses(
            outline,
            [this](const Polynomial& number, std::span<const Formula> conditions) {
                return inequalities_(number, conditions);
            },
            accesses_);
        for (Access& access : accesses_.list) access.facts = inequalities_.under(access.conditions);
        accesses_.list = grouped(accesses_.atoms, std::move(accesses_.list));
    }

    GlobalMemoryProof run() {
        GlobalMemoryProof out;
        if (accesses_.lost) {
            for (const Property property : {Property::global_races, Property::bounds})
                gaps_.add(property, *accesses_.lost, "a loop that has several entries is not followed",
                          std::string(run_it));
            return out;
        }
        races();
        out.extents = bounds();
        out.flat = std::move(flat_);
        solver_.keep(budget_.questions() / 4);  // a bound that is not found makes a limit less exact alone
        out.limits = limits(solver_, accesses_, [this](const std::vector<Formula>& conditions) {
            return inequalities_.under(conditions);
        });
        std::set<int> pointers;
        for (const Access& access : accesses_.list) pointers.insert(access.param);
        for (const auto& [atom, index] : accesses_.params)
            if (accesses_.atoms[atom].least && !pointers.contains(index) &&
                program_.params()[static_cast<std::size_t>(index)].type != isa::Type::tensormap)
                out.numbers.push_back(accesses_.atoms[atom].name);
        return out;
    }

  private:
    void race(Where where, std::string reason) {
        gaps_.add(Property::global_races, where, std::move(reason), std::string(run_it));
    }

    void races() {
        const auto& list = accesses_.list;
        if (std::ranges::none_of(list, &Access::writes)) return;
        std::set<int> written;
        for (const Access& access : list) {
            if (access.writes) written.insert(access.param);
            if (access.param < 0) return race(access.where, "which memory it accesses is not known");
        }
        for (std::size_t i = 0; i < list.size(); ++i)
            for (std::size_t j = i; j < list.size(); ++j) {
                const Access &a = list[i], &b = list[j];
                if (a.param != b.param || !written.contains(a.param)) continue;
                if ((!a.writes && !b.writes) || (a.strong != 0 && a.strong == b.strong)) continue;
                if (!compare(a, b)) return;
            }
    }

    bool compare(const Access& a, const Access& b) {
        const std::string& name = program_.params()[static_cast<std::size_t>(a.param)].name;
        for (const Access* access : {&a, &b})
            if (!access->known)
                return race(access->where, fmt::format("where in {} it accesses is not known", name)), false;
        std::string meets;
        try {
            meets = meeting(solver_, accesses_, a, b, flat_);
        } catch (const TooLarge&) {
            meets = "addresses that are too long";
        }
        if (solver_.exhausted())
            return gaps_.add(Property::global_races, a.where,
                             "the budget is spent: its address is compared with too many", Budget::more),
                   false;
        if (meets.empty()) return !is_of_one_cta(b.where, name);
        race(b.where,
             a.where == b.where
                 ? fmt::format("two executions of it may meet in {}: for all sizes that is open ({})", name,
                               meets)
                 : fmt::format("it may meet line {} in {}: for all sizes that is open ({})", a.where.line,
                               name, meets));
        return false;
    }

    /// A kernel that does not ask which CTA it is may be meant for one alone, or does not know better.
    /// Dimensions y and z are taken to have one where the grid is not given.
    bool is_of_one_cta(Where where, std::string_view name) {
        const auto open = [&](std::string_view dim, std::uint32_t given) {
            return flat_.contains(fmt::format("nctaid.{}", dim)) && (given != 0 ? given != 1 : dim == "x");
        };
        if (!open("x", grid_.x) && !open("y", grid_.y) && !open("z", grid_.z)) return false;
        gaps_.add(Property::global_races, where,
                  fmt::format("the kernel does not ask which CTA it is: those of a grid meet in {}", name),
                  grid_.x != 0 ? std::string(run_it) : "--grid 1 decides it for one");
        return true;
    }

    std::string bounds() {
        Extents extents;
        for (const Access& access : accesses_.list) {
            if (access.param >= 0 && program_.params()[static_cast<std::size_t>(access.param)].box) continue;
            std::string reason = "which memory it accesses is not known";
            if (access.known && access.param >= 0) reason = add_extent(solver_, accesses_, access, extents);
            if (reason.empty()) continue;
            gaps_.add(Property::bounds, access.where, std::move(reason), std::string(run_it));
            return "";
        }
        return extents.text(accesses_.atoms, program_);
    }

    const Program& program_;
    Gaps& gaps_;
    const Budget& budget_;
    const Solver solver_;
    Accesses accesses_;
    Inequalities inequalities_;
    std::set<std::string> flat_;
    Dim3 grid_;  ///< 0: any
};

}  // namespace

GlobalMemoryProof prove_global_memory(const Outline& outline, const Budget& budget, Gaps& gaps, Dim3 grid) {
    if (has_solver()) return GlobalMemory(outline, budget, gaps, grid).run();
    for (const Property property : {Property::global_races, Property::bounds})
        gaps.add(property, outline.program().where(), "the library isl is not installed (libisl23)",
                 std::string(run_it));
    return {};
}

}  // namespace wgrun::check
