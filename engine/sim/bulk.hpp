// The bulk-copy engine: copies in flight, and the groups that threads wait for (PTX ISA 9.7.9.25).
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "isa/bulk_copy.hpp"
#include "sim/tensor.hpp"

namespace wgrun::sim {

/// A copy in flight between global memory and one CTA, or between two CTAs. Its bytes move when it lands;
/// those that go to global memory are read some time earlier.
struct Copy {
    isa::BulkCopy::Direction direction;
    isa::BulkCopy::Reduction reduction;
    isa::Type type;  ///< of a linear reduction
    std::uint32_t pc;
    int issuer;     ///< thread of the cluster
    Tensor tensor;  ///< without a map: a linear copy
    Coordinates at;
    std::byte* global;             ///< of a linear copy
    std::uint64_t global_address;  ///< the same, as the kernel sees it
    std::uint32_t bytes;           ///< bytes that are moved
    std::uint32_t span;            ///< bytes of shared memory that they span: whole lines of a swizzle
    int cta;                       ///< rank of the CTA on the shared side; the destination of to_cluster
    std::uint32_t shared;          ///< address there
    int source_cta;                ///< of to_cluster
    std::uint32_t source;          ///< address there
    std::uint32_t mbarrier;        ///< offset in `cta`, of loads
    std::uint32_t serial;  ///< phase of that mbarrier; for stores, the number among those of the issuer
    std::vector<std::byte> read;  ///< by stores: what was read from shared memory; by st.async: its value
};

/// The bulk groups of one thread. Its copies are numbered from 1.
struct BulkGroups {
    int actor = 0;             ///< in Clocks: the number of a copy is its clock
    int writer = -1;           ///< the same for what the copies write, where that is watched
    std::uint32_t issued = 0;  ///< copies
    std::deque<std::uint32_t>
        committed;  ///< the last copy of each group that is not waited for (.read does not count)
};

}  // namespace wgrun::sim
