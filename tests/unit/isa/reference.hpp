// The scalar instructions, implemented a second time: integers as 128-bit numbers that are cut to the type,
// floats in 113-bit precision that is rounded once.
#pragma once

#include <span>

#include "tests/unit/isa/bench.hpp"

namespace bench {

/// Returns the result's bits for one lane. `in` has the bits of the sources.
Raw reference(std::string_view name, const Form& form, std::span<const Raw> in);

/// Returns the type of operand `place` (0: the destination).
inline Type type_of(const isa::Instruction& op, const Form& form, std::size_t place) {
    return op.operands[place].type(form);
}

/// Returns whether the bits are equal; floats may also be two NaN, or close numbers for the approximate
/// functions.
bool same(Type type, Raw got, Raw want, bool approximate);

/// Returns the result of an instruction of isa/bits.cpp; nothing for others.
std::optional<Raw> reference_of_bits(std::string_view name, const Form& form, std::span<const Raw> in);

/// Returns whether reference() computes `name`.
bool has_reference(std::string_view name);

}  // namespace bench
