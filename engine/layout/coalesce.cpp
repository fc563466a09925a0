#include <fmt/format.h>

#include "layout/checked.hpp"
#include "layout/modes.hpp"

namespace wgrun {

Modes coalesced(std::span<const Layout::Mode> modes) {
    Modes out;
    out.reserve(modes.size());
    for (const Layout::Mode& mode : modes) {
        if (mode.shape == 1) continue;
        if (!out.empty() && checked_mul(out.back().shape, out.back().stride) == mode.stride)
            out.back().shape = checked_mul(out.back().shape, mode.shape);
        else
            out.push_back(mode);
    }
    return out;
}

Layout coalesce(const Layout& a) { return swizzled_like(a, from_modes(coalesced(a.leaves()))); }

Layout coalesce(const Layout& a, const IntTuple& profile) {
    if (profile.is_leaf()) return coalesce(a);
    if (profile.rank() > a.rank())
        throw ArgumentError(fmt::format("coalesce {} by {}: the profile has more modes than the layout",
                                        a.to_string(), profile.to_string()));
    std::vector<Layout> modes = top_modes(a);
    for (int i = 0; i < profile.rank(); ++i) {
        Layout& mode = modes[static_cast<std::size_t>(i)];
        mode = coalesce(mode, profile[i]);
    }
    return swizzled_like(a, Layout::join(std::move(modes)));
}

Layout flatten(const Layout& a) {
    if (a.shape().is_leaf()) return a;
    std::vector<IntTuple> shape;
    std::vector<IntTuple> stride;
    for (const auto& [extent, step] : a.leaves()) {
        shape.emplace_back(extent);
        stride.emplace_back(step);
    }
    return swizzled_like(a, {std::move(shape), std::move(stride)});
}

Layout filter(const Layout& a) {
    Modes kept;
    for (const Layout::Mode& mode : a.leaves())
        if (mode.stride != 0 && mode.shape != 1) kept.push_back(mode);
    return swizzled_like(a, from_modes(coalesced(kept)));
}

}  // namespace wgrun
