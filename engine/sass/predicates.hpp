// What is known of predicates on a path of machine code: two instructions with opposite guards are not both
// executed, nor both left out.
#pragma once

#include <cstdint>
#include <vector>

#include "sass/graph.hpp"

namespace wgrun::sass {

/// Sets of predicates, a bit for each.
using PredicateSet = std::uint16_t;
constexpr PredicateSet bit_of(Predicate one) { return static_cast<PredicateSet>(1U << one); }

/// Predicates that hold, or do not, on a path.
struct Known {
    PredicateSet known = 0, value = 0;
    bool operator==(const Known&) const = default;

    /// What follows from the guard's holding, or its not holding.
    Known with(const Instruction& guarded, bool holds) const;
    /// Whether the guard may hold, or may not.
    bool allows(const Instruction& guarded, bool holds) const;
    Known without(PredicateSet gone) const {
        return {static_cast<PredicateSet>(known & ~gone), static_cast<PredicateSet>(value & known & ~gone)};
    }
};

/// The predicates that an instruction writes, or may.
PredicateSet written_predicates(const Instruction& instruction);

/// For each instruction the predicates whose value before it decides about an instruction of `deciding`:
/// those whose guards are looked at.
std::vector<PredicateSet> live_predicates(const Function& function, const Graph& graph,
                                          const std::vector<bool>& deciding);

}  // namespace wgrun::sass
