// The operations that red, atom, red.async and the bulk-copy engine combine with memory.
#pragma once

#include <cstdint>

#include "isa/bulk_copy.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// Returns whether elements of the type have that operation; false for `none`.
bool can_combine(BulkCopy::Reduction operation, Type type);

/// Returns the new value in place of `old`. The bits of each value are the lowest ones. flushes: sums of f32
/// neither take nor give subnormals, as in global memory (PTX ISA 9.7.13.5).
std::uint64_t combined(BulkCopy::Reduction operation, Type type, bool flushes, std::uint64_t old,
                       std::uint64_t value);

}  // namespace wgrun::isa
