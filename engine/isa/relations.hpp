// The relation that a comparison asks for.
#pragma once

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// The relation of two numbers, as bits; a comparison is the set of relations for which it holds.
enum Relation : unsigned { less = 1, equal = 2, greater = 4, unordered = 8 };

template <class T>
Relation relation(T a, T b) {
    return a < b ? less : a == b ? equal : a > b ? greater : unordered;
}

/// Returns the set of relations of a form with a comparison, Field::cmp (PTX ISA 9.3.1).
unsigned relations_of(const Form& form);

/// Of the same comparison with its sources in the other order.
constexpr unsigned turned(unsigned relations) {
    return (relations & (equal | unordered)) | ((relations & less) != 0 ? greater : 0U) |
           ((relations & greater) != 0 ? less : 0U);
}

}  // namespace wgrun::isa
