// The state of an mbarrier that an arrival returns: opaque in PTX, here the object, the phase, and its
// pending arrivals.
#pragma once

#include <cstdint>
#include <optional>

#include "isa/warp.hpp"

namespace wgrun::isa {

using Tokens = PerLane<std::uint64_t>;

/// What a state says. Its highest bits are those of no number that is there by chance.
struct State {
    static constexpr int pending_bits = 20, place_bits = 15, phase_bits = 24;
    static constexpr std::uint64_t mark = 0b10110;

    std::uint32_t offset;   ///< of the object, from the start of the CTA's shared memory: a multiple of 8
    std::uint32_t phase;    ///< its lowest bits
    std::uint32_t pending;  ///< arrivals that were outstanding

    constexpr std::int64_t parity() const { return phase & 1; }
    /// Returns how many phases have completed since, of an object that is now in phase `current`.
    constexpr std::uint32_t age(std::uint32_t current) const {
        return (current - phase) & ((1U << phase_bits) - 1);
    }
};

constexpr std::uint64_t token(const State& state) {
    const std::uint32_t phase = state.phase & ((1U << State::phase_bits) - 1);
    return ((State::mark << State::phase_bits | phase) << State::place_bits | state.offset / 8)
               << State::pending_bits |
           state.pending;
}

/// Returns nothing for a number that token() has not given.
constexpr std::optional<State> state_of(std::uint64_t token) {
    const auto take = [&](int bits) {
        const auto out = static_cast<std::uint32_t>(token & ((std::uint64_t{1} << bits) - 1));
        token >>= bits;
        return out;
    };
    State out{};
    out.pending = take(State::pending_bits);
    out.offset = take(State::place_bits) * 8;
    out.phase = take(State::phase_bits);
    return token == State::mark ? std::optional(out) : std::nullopt;
}

}  // namespace wgrun::isa
