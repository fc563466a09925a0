#include "layout/unzip.hpp"

#include <fmt/format.h>

#include "layout/modes.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun {

Layout by_mode(const Layout& a, const Tiler& tiler, std::string_view name,
               Layout (*operation)(const Layout&, const Layout&)) {
    if (static_cast<int>(tiler.size()) > a.rank())
        throw ArgumentError(fmt::format("{} of {}: the tiler has {} modes, the layout {}", name,
                                        a.to_string(), tiler.size(), a.rank()),
                            "at most one tiler mode for each mode of the layout");
    std::vector<Layout> modes = top_modes(a);
    for (std::size_t i = 0; i < tiler.size(); ++i)
        if (tiler[i]) modes[i] = operation(modes[i], *tiler[i]);
    return swizzled_like(a, join(modes));
}

Layout unzip(const Layout& divided, const Tiling& tiling, std::string_view name) {
    const auto* tiler = std::get_if<Tiler>(&tiling);
    if (tiler == nullptr) return divided;
    std::vector<Layout> tiles;
    std::vector<Layout> rests;
    for (int i = 0; i < divided.rank(); ++i) {
        const Layout mode = divided.mode(i);
        if (i >= static_cast<int>(tiler->size())) {
            rests.push_back(mode);
            continue;
        }
        if (mode.shape().is_leaf() || mode.rank() != 2)
            throw ArgumentError(fmt::format("{} of mode {} = {}: `_` leaves no tile and no rest to regroup",
                                            name, i, mode.to_string()),
                                "name a tile for this mode (its whole extent, if it is not to be divided)");
        tiles.push_back(mode.mode(0));
        rests.push_back(mode.mode(1));
    }
    return swizzled_like(divided, join(std::array{join(tiles), join(rests)}));
}

Layout unpack(const Layout& zipped, bool both) {
    std::vector<Layout> out;
    for (int i = 0; i < zipped.rank(); ++i) {
        const Layout mode = zipped.mode(i);
        if ((i == 0 && !both) || mode.rank() == 1) {
            out.push_back(mode);
            continue;
        }
        for (const Layout& inner : top_modes(mode)) out.push_back(inner);
    }
    return swizzled_like(zipped, join(out));
}

}  // namespace wgrun
