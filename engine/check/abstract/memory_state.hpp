// What of shared memory's bytes belongs to the state of an abstract execution: who has accessed each of them.
//
// Of two states that are the same otherwise, one covers the other if it has all accesses of the other that
// what follows may meet, and less is known of each of them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "isa/warp.hpp"

namespace wgrun::check::abstract {

struct Encoded;

/// An access to bytes of shared memory.
struct MemoryAccess {
    /// by_thread: cp.async, until its thread has waited for it. settled: all that follows comes after it.
    enum class Kind : std::uint8_t { none, settled, generic, copy, product, store, by_thread };
    Kind kind = Kind::none;
    bool over = true;     ///< product and store: it has been waited for
    int actor = 0;        ///< the warp; copy: the mbarrier
    int group = 0;        ///< product: the first warp of its warpgroup
    isa::Mask lanes = 0;  ///< 0: all lanes of the warp have met after it
    /// Of a store that is not over its number, of a product that of the first one of its group.
    std::uint32_t clock = 0;
    /// product: by which of its waits each warp of the warpgroup has waited for it; 0: it has not.
    std::array<std::uint32_t, isa::warps_of_group> waited{};
    bool operator==(const MemoryAccess&) const = default;
};

/// Bytes [lo, hi) that were accessed alike: who wrote them, and who has read them after that.
struct MemoryBytes {
    std::uint32_t lo, hi;
    MemoryAccess written;
    std::vector<MemoryAccess> read;
};

/// The bytes of a CTA that somebody has accessed, in the order of addresses.
using MemoryOfCta = std::vector<MemoryBytes>;

/// Whether every fault that the accesses of `special` may lead to, those of `general` lead to, too. Numbers
/// of what runs count back from the last one.
bool memory_covers(const Encoded& general, const Encoded& special);

}  // namespace wgrun::check::abstract
