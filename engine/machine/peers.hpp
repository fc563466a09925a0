// The shared memory of a cluster's CTAs: which CTA an address belongs to (PTX ISA 5.1.7, mapa), and to which
// CTAs a copy goes (9.7.9.25).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "isa/bulk_copy.hpp"
#include "isa/peer_window.hpp"

namespace wgrun::machine {

/// The target of an address of the shared window.
struct SharedPlace {
    enum class Whose : std::uint8_t {
        own,      ///< in the executing CTA
        peer,     ///< in another CTA of the cluster
        nobodys,  ///< in a CTA that the cluster does not have
    };
    Whose whose;
    std::uint32_t rank;     ///< of that CTA, in the cluster
    std::uint64_t address;  ///< as that CTA sees it
};

/// own: the rank of the executing CTA, in a cluster of `ctas`.
constexpr SharedPlace locate(std::uint64_t address, std::uint32_t own, std::size_t ctas) {
    using Whose = SharedPlace::Whose;
    const std::uint64_t window = isa::window_of(address);
    if (window == 0) return {Whose::own, own, address};
    if (window > ctas) return {Whose::nobodys, static_cast<std::uint32_t>(window - 1), address};
    const auto rank = static_cast<std::uint32_t>(window - 1);
    return {rank == own ? Whose::own : Whose::peer, rank, address & isa::peer_window};
}

/// Calls visit(address of the bytes, address of the mbarrier that counts them) for each CTA that the copy
/// goes to: both have the same offsets in all of them. Stops at a rank that the cluster does not have, and
/// returns it.
template <class Visit>
std::optional<std::uint32_t> for_each_target(const isa::BulkCopy& copy, std::size_t ctas, Visit visit) {
    if (copy.multicast == 0) visit(std::uint64_t{copy.shared}, std::uint64_t{copy.mbarrier});
    for (std::uint32_t left = copy.multicast; left != 0; left &= left - 1) {
        const auto rank = static_cast<std::uint32_t>(std::countr_zero(left));
        if (rank >= ctas) return rank;
        visit(std::uint64_t{isa::peer_address(copy.shared, rank)},
              std::uint64_t{isa::peer_address(copy.mbarrier, rank)});
    }
    return std::nullopt;
}

}  // namespace wgrun::machine
