// Conditions on atoms, and what follows from them: sets of integers of the library isl, in which each product
// of atoms is a variable of its own.
//
// Of products isl is told their signs, and that they are not less than without a factor above 0. Where it
// finds no inequality, a common factor is tried: x * d > -d means x >= 0.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "check/symbolic/atoms.hpp"
#include "wgrun/cancellation.hpp"

struct isl_ctx;
struct isl_set;

namespace wgrun::check::symbolic {

/// isl's memory, and how much it may compute: numbers of operations, so that answers do not depend on time. A
/// question gets few, and up to 16 times as many where these do not suffice.
class Solver {
  public:
    /// operations: for all questions together.
    explicit Solver(unsigned long operations);
    ~Solver();
    Solver(const Solver&) = delete;
    Solver& operator=(const Solver&) = delete;
    bool exhausted() const { return left_ == 0; }
    isl_ctx* context() const { return context_; }
    /// Calls question(), again with more operations where they have not sufficed, and returns its last
    /// answer.
    template <class Question>
    auto ask(Question question) const {
        for (int attempt = 0;; ++attempt) {
            Cancellation::poll();
            begin(attempt);
            auto answer = question();
            if (!again(attempt)) return answer;
        }
    }

    /// Counts operations that isl does not.
    void charge(unsigned long operations) const;
    /// There are no more than that for what follows.
    void keep(unsigned long operations) const { left_ = std::min(left_, operations); }

  private:
    void begin(int attempt) const;
    bool again(int attempt) const;

    isl_ctx* context_;
    mutable unsigned long left_;
};

/// Whether isl was found, and its headers when this program was built; without it every answer is "not
/// known".
bool has_solver();

/// One or two executions of a thread, whose atoms are different variables unless they are the same in all of
/// a launch, or shown to be equal.
class System {
  public:
    System(const Solver& solver, const Atoms& atoms) : solver_(solver), atoms_(atoms) {}

    /// The second execution's atom is the first one's.
    void unify(Atom atom) { same_.insert(atom); }
    bool same(Atom atom) const { return atoms_.uniform(atom) || same_.contains(atom); }
    /// The number in the first (0) or the second (1) execution.
    Polynomial in(int execution, const Polynomial& number) const;

    // Numbers and conditions of the system: in() of theirs.
    void add_positive(Polynomial number) { positive_.push_back(std::move(number)); }
    void add_zero(Polynomial number) { zero_.push_back(std::move(number)); }
    void add(Formula formula, int execution) { formulas_.emplace_back(formula, execution); }

    /// The number is one that questions are asked about.
    void mention(const Polynomial& number) { use(number); }
    /// The atoms of all conditions, in the first execution.
    std::set<Atom> mentioned();

    /// Nothing satisfies all conditions.
    bool empty();
    bool implies_positive(const Polynomial& number);
    /// Those of the candidates that are 0 whatever else is.
    std::vector<bool> zeros(const std::vector<Polynomial>& candidates);
    /// A bound of the number, in terms of what is the same in all of a launch; nothing: there is none, or
    /// none that is the same for all launches.
    std::vector<Polynomial> upper_bounds(const Polynomial& number);

  private:
    struct FreeSet {
        void operator()(isl_set* set) const;
    };
    using Set = std::unique_ptr<isl_set, FreeSet>;
    class Rows;

    Atom base(Atom of) const { return of % static_cast<Atom>(atoms_.size()); }
    int execution(Atom of) const { return of / static_cast<Atom>(atoms_.size()); }
    void use_all();
    void use(const Polynomial& number);
    void use(Formula formula, int execution);
    void define(const Monomial& monomial);
    void define(Atom atom, int which);  ///< by the numbers of that execution
    Set build(const std::vector<Polynomial>& more);
    bool nothing_in(const Polynomial& positive);
    std::vector<bool> find_zeros(const std::vector<Polynomial>& candidates);
    std::vector<Polynomial> find_upper_bounds(const Polynomial& number);

    const Solver& solver_;
    const Atoms& atoms_;
    std::set<Atom> same_;
    std::vector<Polynomial> positive_, zero_;
    std::vector<std::pair<Formula, int>> formulas_;
    std::map<Monomial, int> variables_;             ///< of isl, by product
    std::vector<Polynomial> defined_;               ///< what products and atoms are: not below 0
    std::vector<std::pair<Formula, int>> choices_;  ///< the same
};

}  // namespace wgrun::check::symbolic
