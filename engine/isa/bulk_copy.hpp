// Work that the executing thread passes to an engine: bulk copies, and stores to another CTA.
#pragma once

#include <array>
#include <cstdint>

#include "wgrun/form.hpp"

namespace wgrun::isa {

/// One copy by the bulk-copy engine (PTX ISA 9.7.9.25).
struct BulkCopy {
    enum class Direction : std::uint8_t { to_shared, to_global, to_cluster, prefetch };
    enum class Reduction : std::uint8_t { none, add, min, max, inc, dec, bit_and, bit_or, bit_xor };
    /// Bytes: what sizes and addresses of linear copies, and addresses of boxes in shared memory, are
    /// multiples of.
    static constexpr std::uint32_t unit = 16, box_align = 128;
    Direction direction = Direction::to_shared;
    Reduction reduction = Reduction::none;      ///< of to_global and to_cluster
    Type type = Type::none;                     ///< of a linear reduction; a tensor map has its own
    int lane = 0;                               ///< the lane that issues it
    int dims = 0;                               ///< of the tensor; 0: a linear copy
    std::uint64_t tensor_map = 0;               ///< its address
    std::array<std::int32_t, 5> coordinates{};  ///< elements, the contiguous dimension first
    bool pixels = false;                        ///< of an im2col map (PTX ISA 5.5.4)
    std::array<std::uint16_t, 3> offsets{};     ///< im2colOffsets: added to each pixel, W first
    std::uint64_t global = 0;                   ///< address, of a linear copy
    std::uint32_t shared = 0;                   ///< address; of the other CTA for to_cluster's destination
    std::uint32_t source = 0;                   ///< address in the CTA's own shared memory, of to_cluster
    std::uint32_t bytes = 0;                    ///< of a linear copy
    std::uint32_t mbarrier = 0;                 ///< address, of to_shared and to_cluster
    std::uint16_t multicast = 0;                ///< bit i: to the CTA of rank i as well; 0: the executing one
    /// Which of these values are known: all of them, except in an abstract execution, and in a run with
    /// synthetic arguments.
    struct Known {
        bool tensor_map = true, shared = true, bytes = true, mbarrier = true, multicast = true;
        bool coordinates = true, source = true;
    } known;
};

/// What st.async and red.async do in the memory of another CTA of the cluster (PTX ISA 9.7.9.12, 9.7.13.7).
struct AsyncStore {
    BulkCopy::Reduction reduction = BulkCopy::Reduction::none;
    Type type = Type::none;  ///< of the reduction
    int bytes = 0;           ///< per lane: 4, 8 or 16
};

}  // namespace wgrun::isa
