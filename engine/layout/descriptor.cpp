#include <fmt/format.h>

#include <array>

#include "wgrun/count_of.hpp"
#include "wgrun/rules.hpp"
#include "wgrun/tile.hpp"

namespace wgrun {
namespace {

constexpr std::uint32_t reach = 1U << 18;  // bytes that a 14-bit field of 16-byte units spans

std::uint64_t field(std::string_view name, std::uint32_t bytes) {
    if (bytes % 16 != 0)
        throw rules::refusal(
            rules::WG_DESC_01,
            fmt::format("matrix descriptor: {} {} is not a multiple of 16 bytes", name, bytes));
    if (bytes >= reach)
        throw rules::refusal(
            rules::WG_DESC_01,
            fmt::format("matrix descriptor: {} {} does not fit in 14 bits of 16-byte units", name, bytes),
            "at most 262128 bytes");
    return bytes >> 4;
}

// By the field's value: none 0, 128B 1, 64B 2, 32B 3.
constexpr std::array by_field{SwizzleMode::none, SwizzleMode::b128, SwizzleMode::b64, SwizzleMode::b32};

/// Byte strides of the canonical layouts in 16-byte units: a line is a row (K-major) or a k (MN-major); 8
/// lines make a group; a span is the units that lie side by side in a line of an atom.
struct Strides {
    std::uint32_t line;
    std::uint32_t group;
    std::uint32_t span_units;
    std::uint32_t span;
};

Strides strides(const Descriptor& d, Major major) {
    const bool plain = d.swizzle == SwizzleMode::none;
    const auto line = static_cast<std::uint32_t>(width(d.swizzle));
    if (major == Major::k) {
        if (plain) return {.line = 16, .group = d.sbo, .span_units = 1, .span = d.lbo};
        // A K step of 32 bytes stays inside the swizzled line and never comes to LBO. The 64 bytes of a
        // sparse B do with a 32-byte swizzle, and an H200 then goes on at LBO, though the PTX ISA calls it
        // unused.
        return {.line = line, .group = d.sbo, .span_units = line / 16, .span = d.lbo};
    }
    if (plain) return {.line = 16, .group = d.lbo, .span_units = 1, .span = d.sbo};
    return {.line = line, .group = d.sbo, .span_units = line / 16, .span = d.lbo};
}

/// A base offset says in which 128-byte row of the 1024-byte pattern the first row lies; the swizzle counts
/// rows from there.
std::uint32_t physical(const Descriptor& d, std::uint32_t address) {
    const std::uint32_t shifted = address - (d.base_offset << 7);
    return address ^ (swizzled(d.swizzle, shifted) ^ shifted);
}

}  // namespace

std::uint64_t Descriptor::encode() const {
    if (base_offset > 7)
        throw rules::refusal(
            rules::WG_DESC_01,
            fmt::format("matrix descriptor: base offset {} does not fit in 3 bits", base_offset));
    return field("start address", start) | field("leading dimension byte offset", lbo) << 16 |
           field("stride dimension byte offset", sbo) << 32 | std::uint64_t{base_offset} << 49 |
           static_cast<std::uint64_t>(encoding(swizzle)) << 62;
}

Descriptor Descriptor::decode(std::uint64_t bits) {
    struct Unused {
        int first, last;
    };
    for (const auto [first, last] : {Unused{14, 15}, {30, 31}, {46, 48}, {52, 61}}) {
        const std::uint64_t value = bits >> first & ((1ULL << (last - first + 1)) - 1);
        if (value != 0)
            throw rules::refusal(
                rules::WG_DESC_01,
                fmt::format("matrix descriptor 0x{:016x}: bits {}-{} are unused and must be 0, but hold {}",
                            bits, first, last, value),
                "mask addresses to 18 bits and shift them right by 4 before packing");
    }
    const auto bytes = [&](int first) { return static_cast<std::uint32_t>(bits >> first & 0x3FFF) << 4; };
    return {.start = bytes(0),
            .lbo = bytes(16),
            .sbo = bytes(32),
            .base_offset = static_cast<std::uint32_t>(bits >> 49 & 7),
            .swizzle = by_field[bits >> 62]};
}

std::uint32_t walk(const Descriptor& d, Major major, int element_bits, int row, int k) {
    const Strides s = strides(d, major);
    const auto along = static_cast<std::uint32_t>(major == Major::k ? k : row);
    const auto line = static_cast<std::uint32_t>(major == Major::k ? row : k);
    const std::uint32_t byte = along * static_cast<std::uint32_t>(element_bits) / 8;
    const std::uint32_t unit = byte / 16;
    const std::uint32_t address = d.start + line % 8 * s.line + line / 8 * s.group +
                                  unit % s.span_units * 16 + unit / s.span_units * s.span;
    return physical(d, address) + byte % 16;
}

void walk_units(const Descriptor& d, Major major, int lines, int units, std::span<std::uint32_t> out) {
    if (lines < 0 || units < 0 ||
        out.size() != static_cast<std::size_t>(lines) * static_cast<std::size_t>(units))
        throw ArgumentError(fmt::format("walk_units: {} of {} units {} not fill {}", count_of(lines, "line"),
                                        units, lines == 1 ? "does" : "do",
                                        count_of(out.size(), "address", "addresses")));
    const Strides s = strides(d, major);
    std::size_t i = 0;
    for (std::uint32_t line = 0; line < static_cast<std::uint32_t>(lines); ++line) {
        const std::uint32_t first = d.start + line % 8 * s.line + line / 8 * s.group;
        const std::size_t end = i + static_cast<std::size_t>(units);
        for (std::uint32_t span = first; i < end; span += s.span)
            for (std::uint32_t unit = 0; unit < s.span_units && i < end; ++unit)
                out[i++] = physical(d, span + unit * 16);
    }
}

}  // namespace wgrun
