// The parts of the layout algebra: flat lists of leaf modes, and layouts composed of layouts.
#pragma once

#include <span>
#include <vector>

#include "wgrun/layout.hpp"

namespace wgrun {

/// Levels of parentheses that a layout may have: recursion over them stays shallow.
inline constexpr int max_nesting = 64;

using Modes = std::vector<Layout::Mode>;

/// No mode: 1:0; one: a leaf; several: a flat tuple.
Layout from_modes(std::span<const Layout::Mode> modes);

/// Layout::join of two.
Layout join(Layout a, Layout b);

/// The top-level modes of `a`; a leaf is its own single mode.
std::vector<Layout> top_modes(const Layout& a);

/// `result` under the swizzle and offset of `a`: every operation works on the layout below the swizzle.
Layout swizzled_like(const Layout& a, Layout result);

/// Throws ArgumentError if `a` has a swizzle; `operation` is for the message.
void refuse_swizzle(const Layout& a, std::string_view operation);

/// complement(a, target) for a target given by the extents of its leaves.
Layout complement_within(const Layout& a, std::span<const std::int64_t> target);

/// Adjacent modes merged wherever the offsets go on evenly; modes of extent 1 dropped.
Modes coalesced(std::span<const Layout::Mode> modes);

}  // namespace wgrun
