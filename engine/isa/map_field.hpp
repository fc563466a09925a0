// The fields of a tensor map that tensormap.replace replaces (PTX ISA 9.7.9.26.1).
#pragma once

#include <cstdint>

namespace wgrun::isa {

enum class MapField : std::uint8_t {
    global_address,
    rank,            ///< less one
    box_dim,         ///< elements of one dimension, as the next three
    global_dim,      ///< elements
    global_stride,   ///< bytes
    element_stride,  ///< elements
    elemtype,        ///< numbers of tables, as the next three
    interleave_layout,
    swizzle_mode,
    fill_mode,
};

/// Bytes of a tensor map, and what its address in memory is a multiple of, at least.
inline constexpr int map_bytes = 128, map_align = 64;

}  // namespace wgrun::isa
