#include <fmt/format.h>

#include "layout/modes.hpp"
#include "layout/unzip.hpp"

namespace wgrun {
namespace {

Layout divide(const Layout& a, const Layout& b) {
    refuse_swizzle(b, "division by");
    std::vector<std::int64_t> extents;
    for (const Layout::Mode& mode : coalesced(a.leaves())) extents.push_back(mode.shape);
    return composition(a, join(b, complement_within(b, extents)));
}

}  // namespace

Layout logical_divide(const Layout& a, const Tiling& b) {
    if (const auto* layout = std::get_if<Layout>(&b)) return divide(a, *layout);
    return by_mode(a, std::get<Tiler>(b), "logical_divide", Beyond::kept, divide);
}

Layout zipped_divide(const Layout& a, const Tiling& b) {
    return unzip(logical_divide(a, b), b, "zipped_divide");
}

Layout tiled_divide(const Layout& a, const Tiling& b) {
    return unpack(unzip(logical_divide(a, b), b, "tiled_divide"), false);
}

Layout flat_divide(const Layout& a, const Tiling& b) {
    return unpack(unzip(logical_divide(a, b), b, "flat_divide"), true);
}

}  // namespace wgrun
