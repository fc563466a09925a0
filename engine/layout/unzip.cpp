#include "layout/unzip.hpp"

#include <fmt/format.h>

#include "layout/modes.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun {

Layout by_mode(const Layout& a, const Tiler& tiler, std::string_view name,
               Layout (*operation)(const Layout&, const Layout&)) {
    if (static_cast<int>(tiler.size()) > a.rank())
        throw ArgumentError(fmt::format("{} of {}: the tiler has {}, the layout {}", name, a.to_string(),
                                        count_of(tiler.size(), "mode"), a.rank()),
                            "at most one tiler mode for each mode of the layout");
    std::vector<Layout> modes = top_modes(a);
    for (std::size_t i = 0; i < tiler.size(); ++i)
        if (tiler[i]) modes[i] = operation(modes[i], *tiler[i]);
    return swizzled_like(a, Layout::join(std::move(modes)));
}

namespace {

IntTuple regroup(const IntTuple& modes, std::size_t tiles) {
    std::vector<IntTuple> out;
    std::vector<IntTuple> tile;
    std::vector<IntTuple> rest;
    for (std::size_t i = 0; i < modes.modes().size(); ++i) {
        const IntTuple& mode = modes.modes()[i];
        if (i < tiles) tile.push_back(mode[0]);
        rest.push_back(i < tiles ? mode[1] : mode);
    }
    out.emplace_back(std::move(tile));
    out.emplace_back(std::move(rest));
    return out;
}

IntTuple unpacked(const IntTuple& zipped, bool both) {
    std::vector<IntTuple> out;
    for (int i = 0; i < zipped.rank(); ++i) {
        const IntTuple& mode = zipped[i];
        if ((i == 0 && !both) || mode.rank() == 1)
            out.push_back(mode);
        else
            out.insert(out.end(), mode.modes().begin(), mode.modes().end());
    }
    return out;
}

}  // namespace

Layout unzip(Layout divided, const Tiling& tiling, std::string_view name) {
    const auto* tiler = std::get_if<Tiler>(&tiling);
    if (tiler == nullptr) return divided;
    for (int i = 0; i < static_cast<int>(tiler->size()); ++i)
        if (const IntTuple& mode = divided.shape()[i]; mode.is_leaf() || mode.rank() != 2)
            throw ArgumentError(fmt::format("{} of mode {} = {}: `_` leaves no tile and no rest to regroup",
                                            name, i, divided.mode(i).to_string()),
                                "give a tile for this mode: its whole extent, if it is not to be divided");
    return swizzled_like(divided,
                         {regroup(divided.shape(), tiler->size()), regroup(divided.stride(), tiler->size())});
}

Layout unpack(const Layout& zipped, bool both) {
    return swizzled_like(zipped, {unpacked(zipped.shape(), both), unpacked(zipped.stride(), both)});
}

}  // namespace wgrun
