// The reductions of the bulk-copy engine on elements of global memory (PTX ISA 9.7.9.25.4.2).
#pragma once

#include <cstddef>
#include <cstdint>

#include "isa/bulk_copy.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::sim {

/// Computes to[i] = to[i] op from[i] for `count` elements. Floats are added with one rounding to nearest
/// even, subnormals of f32 too (tests/gpu/reductions.lua). Returns false, without effect, when the type has
/// no such reduction.
bool reduce(isa::BulkCopy::Reduction op, isa::Type type, std::byte* to, const std::byte* from,
            std::int64_t count);

}  // namespace wgrun::sim
