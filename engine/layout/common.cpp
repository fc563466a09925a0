// The common parts of two layouts, and the null space of one.
#include "layout/modes.hpp"

namespace wgrun {

Layout nullspace(const Layout& a) {
    refuse_swizzle(a, "null space");
    Modes out;
    std::int64_t index = 1;
    for (const auto& [extent, stride] : a.leaves()) {
        if (stride == 0 && extent != 1) out.push_back({extent, index});
        index *= extent;  // at most size()
    }
    return from_modes(out);
}

Layout max_common_layout(const Layout& a, const Layout& b) {
    const Layout inverse = right_inverse(b);
    const Layout common = coalesce(composition(a, inverse));
    const Layout::Mode first = common.leaves().front();
    if (first.stride != 1) return {};
    return composition(inverse, Layout(first.shape));
}

std::int64_t max_common_vector(const Layout& a, const Layout& b) {
    const Layout::Mode first = coalesce(composition(a, right_inverse(b))).leaves().front();
    return first.stride == 1 ? first.shape : 1;
}

}  // namespace wgrun
