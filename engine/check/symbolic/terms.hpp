// What the registers of a thread are, as polynomials and conditions: the meaning of each instruction
// (isa/algebra.hpp) in terms of atoms.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "check/symbolic/atoms.hpp"
#include "check/symbolic/touches.hpp"
#include "isa/algebra.hpp"
#include "isa/special.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check::symbolic {

/// Whether a number is not below 0 where these conditions hold. False: it is not known.
using Positive = std::function<bool(const Polynomial&, std::span<const Formula>)>;

/// What is known of a register.
struct Content {
    std::optional<Polynomial> number{};
    std::optional<Formula> truth{};
    bool operator==(const Content&) const = default;
};
using Registers = std::vector<Content>;  ///< by slot

class Terms final : public isa::Algebra {
  public:
    /// Of the registers that have slots. Both outlive it.
    Terms(const Program& program, Atoms& atoms, const Indexed& slots, Positive positive);

    /// What the next steps compute with: registers, the conditions under which a thread comes here, and the
    /// loops around them.
    void at(Registers& registers, std::span<const Formula> conditions, std::vector<Atom> turns, int loop);
    /// Executes a step.
    void execute(const Step& step);

    /// The operand of the step that was executed last, before its results: an address with its offset.
    Content content(const Operand& operand);
    Content content(Reg reg);
    /// The content as a number of that type, which lies in the type's range.
    Content number_of(const Content& content, isa::Type type);
    /// Whether the number may lie outside of that range.
    bool wraps(const Polynomial& number, std::int64_t least, std::int64_t most) const;
    /// Numbers of the last steps that were taken not to be more than what 32 bits hold; hands them over.
    std::map<Polynomial, std::int64_t> taken_narrow() { return std::exchange(narrow_, {}); }
    /// Whether the step is executed.
    Formula guard(const Step& step);
    /// Some content of that register, which a loop or a branch decides.
    Content unknown(Reg reg, std::string name, int key);
    /// Whether the number is the same in all turns of the loop and of those in it.
    bool stays(const Polynomial& number, const std::function<bool(int)>& in_loop) const;
    Atom turn(int loop, Where where);

    const std::vector<Atom>& places() const { return places_; }
    const std::map<Atom, int>& params() const { return params_; }
    /// Places in dimensions of the grid that no step has asked for, where clusters have one CTA, and their
    /// sizes' names.
    std::map<Atom, std::string> unread();

    isa::Term of(const Operand& operand) override;
    isa::Term number(const Operand& operand, isa::Type type) override;
    isa::Term number(isa::Term a, isa::Type type) override;
    isa::Term constant(std::int64_t value) override { return give(Polynomial(value)); }
    isa::Term sum(isa::Term a, isa::Term b, std::int64_t times) override;
    isa::Term product(isa::Term a, isa::Term b) override;
    isa::Term quotient(isa::Term a, isa::Term b) override;
    isa::Term power_of_2(isa::Term exponent) override;
    isa::Term bitwise(unsigned table, isa::Term a, isa::Term b, isa::Type type) override;
    isa::Term compare(isa::Compared how, isa::Term a, isa::Term b) override;
    isa::Term select(isa::Term condition, isa::Term a, isa::Term b) override;
    isa::Term in_lane(const Operand& operand, int lane) override;
    isa::Term elected() override;

  private:
    const Polynomial* integer(isa::Term term) const;
    /// The number is one of that type, which is taken to hold it; see taken_narrow().
    void note(const Polynomial& number, isa::Type type);
    std::optional<Formula> truth(isa::Term term) const;
    isa::Term give(Content content);
    isa::Term give(Polynomial number) { return give(Content{std::move(number), {}}); }
    isa::Term give(Formula truth) { return give(Content{{}, truth}); }

    static std::int64_t most_of(isa::Type type);  ///< as an unsigned number
    Atom born(Definition definition);
    void read(isa::Special which);
    Polynomial special(isa::Special which);
    Polynomial place(const std::string& name, std::int64_t size);
    Polynomial size_of_grid(int dim);
    Polynomial place_in_grid(int dim);
    Polynomial thread() const { return thread_; }
    bool at_least(const Polynomial& number, std::int64_t least);
    Polynomial divided(const Polynomial& a, const Polynomial& b);
    Polynomial modulo(const Polynomial& a, std::int64_t size) {
        return a - Polynomial(size) * divided(a, size);
    }
    std::optional<Polynomial> masked(const Polynomial& a, std::int64_t mask);
    std::optional<Polynomial> moved(const Polynomial& number, int lane);
    std::optional<Formula> moved(Formula formula, int lane);
    std::optional<Polynomial> moved(Atom atom, int lane);
    Content function(const Step& step, Reg result);
    Content* slot(Reg reg);

    const Program& program_;
    Atoms& atoms_;
    const Indexed& slots_;
    Positive positive_;
    Registers* registers_ = nullptr;
    std::span<const Formula> conditions_;
    std::vector<Atom> turns_;
    int loop_ = -1;
    const Step* step_ = nullptr;
    std::map<const Step*, int> numbers_;  ///< of steps, in the order of their first execution
    std::vector<Content> terms_;          ///< of the current step
    std::map<Polynomial, std::int64_t> narrow_;
    std::map<Atom, int> births_;  ///< in which loop an atom came up
    std::vector<Atom> places_;
    std::set<int> read_dims_;
    std::map<Atom, int> params_;
    Polynomial thread_;  ///< the number of the thread in its CTA
};

}  // namespace wgrun::check::symbolic
