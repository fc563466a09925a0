// The shared memory of a cluster's CTAs: which CTA an address belongs to (PTX ISA 5.1.7, mapa).
#pragma once

#include <cstddef>
#include <cstdint>

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

}  // namespace wgrun::machine
