// What is combined with memory in one operation: by red, atom, red.async and the bulk-copy engine.
#pragma once

#include <cstdint>

#include "isa/bulk_copy.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// Is there such an operation on elements of the type? `none` is none.
bool can_combine(BulkCopy::Reduction operation, Type type);

/// What takes the place of `old`. The bits of each value are the lowest ones. flushes: sums of f32 neither
/// take nor give subnormals, as in global memory (PTX ISA 9.7.13.5).
std::uint64_t combined(BulkCopy::Reduction operation, Type type, bool flushes, std::uint64_t old,
                       std::uint64_t value);

}  // namespace wgrun::isa
