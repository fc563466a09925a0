#include "layout/unzip.hpp"

#include <fmt/format.h>

#include "layout/modes.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun {

Layout by_mode(const Layout& a, const Tiler& tiler, std::string_view name, Beyond beyond,
               Layout (*operation)(const Layout&, const Layout&)) {
    if (static_cast<int>(tiler.size()) > a.rank())
        throw ArgumentError(fmt::format("{} of {} by mode: the tiler has {}, the layout {}", name,
                                        a.to_string(), count_of(tiler.size(), "mode"), a.rank()),
                            "at most one tiler mode for each mode of the layout");
    std::vector<Layout> modes = top_modes(a);
    if (beyond == Beyond::dropped) modes.resize(tiler.size());
    for (std::size_t i = 0; i < tiler.size(); ++i) {
        if (const auto* tile = std::get_if<Layout>(&tiler[i].what))
            modes[i] = operation(modes[i], *tile);
        else if (const auto* inside = std::get_if<Tiler>(&tiler[i].what))
            modes[i] = by_mode(modes[i], *inside, name, beyond, operation);
    }
    return swizzled_like(a, Layout::join(std::move(modes)));
}

namespace {

/// Refuses modes that are not (tile, rest).
void check_pairs(const Layout& divided, const Tiler& tiler, std::string_view name) {
    for (int i = 0; i < static_cast<int>(tiler.size()); ++i) {
        const Layout mode = divided.mode(i);
        if (const auto* inside = std::get_if<Tiler>(&tiler[static_cast<std::size_t>(i)].what))
            check_pairs(mode, *inside, name);
        else if (mode.shape().is_leaf() || mode.rank() != 2)
            throw ArgumentError(fmt::format("{} of mode {} = {}: `_` leaves no tile and no rest to regroup",
                                            name, i, mode.to_string()),
                                "give a tile for this mode: its whole extent, if it is not to be divided");
    }
}

/// Shapes or strides as (tiles, rests).
IntTuple regroup(const IntTuple& modes, const Tiler& tiler) {
    std::vector<IntTuple> out;
    std::vector<IntTuple> tile;
    std::vector<IntTuple> rest;
    for (std::size_t i = 0; i < modes.modes().size(); ++i) {
        const IntTuple& mode = modes.modes()[i];
        if (i >= tiler.size()) {
            rest.push_back(mode);
            continue;
        }
        const auto* inside = std::get_if<Tiler>(&tiler[i].what);
        const IntTuple pair = inside != nullptr ? regroup(mode, *inside) : mode;
        tile.push_back(pair[0]);
        rest.push_back(pair[1]);
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
    check_pairs(divided, *tiler, name);
    return swizzled_like(divided, {regroup(divided.shape(), *tiler), regroup(divided.stride(), *tiler)});
}

Layout unpack(const Layout& zipped, bool both) {
    return swizzled_like(zipped, {unpacked(zipped.shape(), both), unpacked(zipped.stride(), both)});
}

}  // namespace wgrun
