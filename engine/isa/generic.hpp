// Generic addresses (PTX ISA 9.7.9.20): global ones as they are, and windows for the other spaces. A chip
// chooses where its windows are; these are at addresses that no global memory has, and the lower 32 bits of
// an address in a window are the address in its space.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "isa/peer_window.hpp"
#include "isa/warp.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::isa {

inline constexpr std::uint64_t shared_generic = std::uint64_t{0x5A00} << 48;
inline constexpr std::uint64_t local_generic = std::uint64_t{0x5B00} << 48;
inline constexpr std::uint64_t param_generic = std::uint64_t{0x5C00} << 48;
/// The address, in the local space, of the first byte that the program declares: null is no address of it.
inline constexpr std::uint64_t local_base = 256;
/// The address, in the parameter space, of a kernel's first parameter.
inline constexpr std::uint64_t param_base = 0x210;

/// Returns where a generic address points: to global, shared::cluster or local memory, or to parameters. The
/// CTA's own memory is part of shared::cluster.
constexpr Space space_of(std::uint64_t generic) {
    switch (generic >> 32 << 32) {
        case shared_generic: return Space::shared_cluster;
        case local_generic: return Space::local;
        case param_generic: return Space::param;
        default: return Space::global;
    }
}

/// Returns the address within its space.
constexpr std::uint64_t within_space(std::uint64_t generic) {
    return space_of(generic) == Space::global ? generic : generic & UINT32_MAX;
}

/// Returns the generic address of an address in that space.
constexpr std::uint64_t generic_of(Space space, std::uint64_t address) {
    switch (space) {
        case Space::shared:
        case Space::shared_cta:
        case Space::shared_cluster: return shared_generic | (address & UINT32_MAX);
        case Space::local: return local_generic | (address & UINT32_MAX);
        case Space::param: return param_generic | (address & UINT32_MAX);
        default: return address;
    }
}

/// Returns whether the step makes a generic address of memory that is not global, from one of its space.
bool makes_generic_of_own(const Step& step);

/// Returns the memory of which the step makes a wide address: local or shared, that of its thread or CTA.
/// Nothing: it makes no such address, or one of other memory.
std::optional<Space> own_space(const Step& step);

/// Calls f(space, lanes, addresses within it) for each space that generic addresses of `active` lanes point
/// to.
template <class F>
void for_each_space(const Addresses& generic, Mask active, F f) {
    for (const Space space : {Space::global, Space::shared_cluster, Space::local, Space::param}) {
        Addresses within = generic;
        Mask there = 0;
        for (Mask left = active; left != 0; left &= left - 1) {
            const auto lane = static_cast<std::size_t>(std::countr_zero(left));
            if (space_of(generic[lane]) != space) continue;
            there |= left & -left;
            within[lane] = within_space(generic[lane]);
        }
        if (there != 0) f(space, there, within);
    }
}

}  // namespace wgrun::isa
