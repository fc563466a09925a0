// The bits of a value that are the same whenever a step computes it. They bound it, and say what it is modulo
// powers of two.
//
// Sums and products as in H. Vishwanathan et al., "Sound, Precise, and Fast Abstract Interpretation with
// Tristate Numbers", CGO 2022.
#pragma once

#include <cstdint>
#include <optional>

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// Of a register of at most 64 bits; those beyond its width are 0. The default: nothing is known.
struct KnownBits {
    std::uint64_t ones = 0;                ///< the bits known to be 1
    std::uint64_t unknown = ~UINT64_C(0);  ///< those that may be either; the others are 0
    bool operator==(const KnownBits&) const = default;

    static KnownBits of(std::uint64_t value) { return {value, 0}; }
    std::uint64_t least() const { return ones; }
    std::uint64_t greatest() const { return ones | unknown; }
    bool has(std::uint64_t value) const { return (value & ~unknown) == ones; }
    /// Returns the value, if all its bits are known.
    std::optional<std::uint64_t> value() const { return unknown == 0 ? std::optional(ones) : std::nullopt; }
    /// Returns what is known of a value that is one of the two.
    KnownBits joined(KnownBits other) const {
        const std::uint64_t any = unknown | other.unknown | (ones ^ other.ones);
        return {ones & ~any, any};
    }
    /// Returns the lower bits, the others 0.
    KnownBits cut(int width) const {
        const std::uint64_t mask = width >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << width) - 1;
        return {ones & mask, unknown & mask};
    }
    /// Returns what all bits above the lower `width` are, if they repeat the highest of these.
    KnownBits extended(int width) const {
        const auto extend = [width](std::uint64_t bits) {
            return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << (64 - width)) >>
                                              (64 - width));
        };
        return {extend(ones), extend(unknown)};
    }
};

KnownBits operator+(KnownBits a, KnownBits b);
KnownBits operator-(KnownBits a, KnownBits b);
KnownBits operator*(KnownBits a, KnownBits b);
KnownBits operator&(KnownBits a, KnownBits b);
KnownBits operator|(KnownBits a, KnownBits b);
KnownBits operator^(KnownBits a, KnownBits b);

/// Returns what is known of a value that is `greatest` at most.
KnownBits up_to(std::uint64_t greatest);

/// Returns which relations (as 1: less, 2: equal, 4: greater) two numbers of the type may have.
unsigned possible_relations(Type type, KnownBits a, KnownBits b);

/// Returns what is known of the step's destination, from what is known of registers. Nothing where its record
/// does not say.
KnownBits known_bits(const Step& step, const std::function<KnownBits(Reg)>& of);

}  // namespace wgrun::isa
