#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "wgrun/diagnostic.hpp"
#include "wgrun/layout.hpp"
#include "wgrun/tile.hpp"

namespace wgrun {
namespace {

/// The index of a name in `names`, which is the enumerator. `what` names it in messages.
template <std::size_t N>
int index_of(std::string_view name, const std::array<std::string_view, N>& names, std::string_view what) {
    for (std::size_t i = 0; i < N; ++i)
        if (names[i] == name) return static_cast<int>(i);
    std::string list;
    for (std::string_view n : names) list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", n);
    throw ArgumentError(fmt::format("unknown {} \"{}\"{}", what, name, nearest(name, names)),
                        "one of " + list);
}

constexpr std::array<std::string_view, 2> major_names{"K", "MN"};
constexpr std::array<std::string_view, 2> order_names{"MN", "K"};
constexpr std::array<std::string_view, 4> mode_names{"none", "32B", "64B", "128B"};

int log2_exact(std::int64_t factor, std::string_view what) {
    if (factor < 1 || (factor & (factor - 1)) != 0)
        throw ArgumentError(fmt::format("{} {} by {}: the factor must be a power of two", what,
                                        what == "upcast" ? "of a swizzle" : "a swizzle", factor));
    int log = 0;
    while ((std::int64_t{1} << log) < factor) ++log;
    return log;
}

}  // namespace

std::string_view to_string(Major major) { return major_names[static_cast<std::size_t>(major)]; }
std::string_view to_string(AtomOrder order) { return order_names[static_cast<std::size_t>(order)]; }
std::string_view to_string(SwizzleMode mode) { return mode_names[static_cast<std::size_t>(mode)]; }

Major parse_major(std::string_view name) {
    return static_cast<Major>(index_of(name, major_names, "major-ness"));
}
AtomOrder parse_atom_order(std::string_view name) {
    return static_cast<AtomOrder>(index_of(name, order_names, "atom order"));
}
SwizzleMode parse_swizzle_mode(std::string_view name) {
    return static_cast<SwizzleMode>(index_of(name, mode_names, "swizzle"));
}

int encoding(SwizzleMode mode) { return (4 - static_cast<int>(mode)) % 4; }
int width(SwizzleMode mode) { return 16 << static_cast<int>(mode); }
Swizzle byte_swizzle(SwizzleMode mode) { return {static_cast<int>(mode), 4, 3}; }

Swizzle::Swizzle(int bits, int base, int shift) : bits_(bits), base_(base), shift_(shift) {
    const auto refuse = [&](std::string_view why) {
        throw ArgumentError(fmt::format("Swizzle<{},{},{}>: {}", bits, base, shift, why));
    };
    if (bits < 0) refuse("the number of bits B must be at least 0");
    if (base < 0) refuse("the base M must be at least 0");
    // In 64 bits, because a shift of INT_MIN has no magnitude in 32.
    const std::int64_t magnitude = std::abs(std::int64_t{shift});
    if (magnitude < bits) refuse("|S| must be at least B, so that source and target bits do not overlap");
    if (bits + std::int64_t{base} + magnitude > 62) refuse("the bits reach beyond bit 61");
    source_ = ((std::int64_t{1} << bits) - 1) << (base + (shift > 0 ? shift : 0));
}

Swizzle Swizzle::upcast(int factor) const {
    const int log = log2_exact(factor, "upcast");
    if (log <= base_) return {bits_, base_ - log, shift_};
    // The lowest bits of source and target lie inside the new unit.
    const int lost = log - base_;
    if (lost >= bits_) return {0, 0, shift_};
    return {bits_ - lost, 0, shift_};
}

Swizzle Swizzle::downcast(int factor) const {
    return {bits_, base_ + log2_exact(factor, "downcast"), shift_};
}

std::string Swizzle::to_string() const { return fmt::format("Swizzle<{},{},{}>", bits_, base_, shift_); }

}  // namespace wgrun
