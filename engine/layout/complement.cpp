#include <fmt/format.h>

#include <algorithm>

#include "layout/checked.hpp"
#include "layout/modes.hpp"

namespace wgrun {
namespace {

/// Extents of a compact shape after its first `taken` elements are divided off, mode by mode as CuTe does.
Modes rest_of(std::span<const std::int64_t> target, std::int64_t taken) {
    Modes out;
    std::int64_t stride = taken;
    for (const std::int64_t extent : target) {
        const std::int64_t left = ceil_div(extent, taken);
        out.push_back({left, stride});
        stride = checked_mul(stride, left);
        taken = ceil_div(taken, extent);
    }
    return out;
}

}  // namespace

Layout complement(const Layout& a) { return complement(a, a.cosize()); }

Layout complement(const Layout& a, const IntTuple& target) {
    const std::vector<std::int64_t> extents = target.leaves();
    for (const std::int64_t extent : extents)
        if (extent < 1)
            throw ArgumentError(
                fmt::format("complement: target {}: extents must be at least 1", target.to_string()));
    return complement_within(a, extents);
}

Layout complement_within(const Layout& a, std::span<const std::int64_t> target) {
    refuse_swizzle(a, "complement");
    Modes modes;
    for (const Layout::Mode& mode : coalesced(a.leaves()))
        if (mode.stride != 0) modes.push_back(mode);
    modes = coalesced(modes);
    std::ranges::stable_sort(modes, {}, &Layout::Mode::stride);
    Modes out;
    std::int64_t filled = 1;  // offsets below it are covered by `a` and `out` together
    for (const auto& [extent, stride] : modes) {
        if (stride < 0)
            throw ArgumentError(fmt::format("complement of {}: stride {} is negative", a.to_string(), stride),
                                "strides of at least 1");
        if (stride < filled)
            throw ArgumentError(fmt::format("complement of {}: mode {}:{} overlaps the modes below it, which "
                                            "reach {} (not injective)",
                                            a.to_string(), extent, stride, filled),
                                "a layout that maps every index to an offset of its own");
        out.push_back({stride / filled, filled});
        filled = checked_mul(stride, extent);
    }
    const Modes rest = rest_of(target, filled);
    out.insert(out.end(), rest.begin(), rest.end());
    return from_modes(coalesced(out));
}

}  // namespace wgrun
