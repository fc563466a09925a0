// What the bulk-copy engine does to elements of global memory when it reduces (PTX ISA 9.7.9.25.4.2).
#pragma once

#include <cstddef>
#include <cstdint>

#include "isa/bulk_copy.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::sim {

/// to[i] = to[i] op from[i] for `count` elements. Floats are added with one rounding to nearest even, and f32
/// without subnormals. False, and nothing is done, when there is no such reduction of the type.
bool reduce(isa::BulkCopy::Reduction op, isa::Type type, std::byte* to, const std::byte* from,
            std::int64_t count);

}  // namespace wgrun::sim
