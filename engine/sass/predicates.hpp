// What is known of predicates on a path of machine code: two instructions with opposite guards are not both
// executed, nor both left out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sass/graph.hpp"

namespace wgrun::sass {

/// Sets of predicates, a bit for each.
using PredicateSet = std::uint16_t;
constexpr PredicateSet bit_of(Predicate one) { return static_cast<PredicateSet>(1U << one); }

/// The predicates that an instruction writes, or may.
PredicateSet written_predicates(const Instruction& instruction);

/// Predicates that hold, or do not, on a path.
struct Known {
    PredicateSet known = 0, value = 0;

    /// Whether the guard may hold, or may not.
    bool allows(const Instruction& guarded, bool holds) const;
    Known with(PredicateSet some, bool hold) const {
        return {static_cast<PredicateSet>(known | some),
                static_cast<PredicateSet>(hold ? value | some : value & ~some)};
    }
    Known within(PredicateSet some) const {
        return {static_cast<PredicateSet>(known & some), static_cast<PredicateSet>(value & known & some)};
    }
};

/// How predicates flow through a function. deciding: the instructions whose guards are looked at; guards: by
/// instruction, the one whose guard it has.
class PredicateFlow {
  public:
    PredicateFlow(const Function& function, const Graph& graph, const std::vector<bool>& deciding,
                  const std::vector<Place>& guards);

    /// The predicates whose value before the instruction decides something that comes.
    PredicateSet live(Place at) const { return live_[at]; }
    /// What follows from the guard's holding, or its not holding: also of predicates that have its value.
    Known learn(Known known, Place at, bool holds) const;
    /// What is known behind the instruction, if it was executed or, of one whose guard is not looked at, may
    /// have been.
    Known after(Known known, Place at) const;

  private:
    void find_live(const Graph& graph, const std::vector<bool>& deciding);
    void find_values(const Graph& graph);

    const Function& function_;
    const std::vector<Place>& guards_;
    std::vector<PredicateSet> live_;
    /// By instruction and predicate: a number for the value before it. Equal numbers are one value.
    std::vector<std::array<std::uint32_t, predicates>> values_;
};

}  // namespace wgrun::sass
