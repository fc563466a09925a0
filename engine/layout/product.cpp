#include <fmt/format.h>

#include <algorithm>

#include "layout/checked.hpp"
#include "layout/modes.hpp"
#include "layout/unzip.hpp"

namespace wgrun {
namespace {

Layout product(const Layout& a, const Layout& b) {
    refuse_swizzle(b, "product with");
    const Layout plain = a.unswizzled();
    const Layout rest = complement(plain, checked_mul(plain.size(), b.cosize()));
    return swizzled_like(a, join(plain, composition(rest, b)));
}

/// The modes of `a`, padded with 1:0 to `rank` modes.
Layout padded(const Layout& a, int rank) {
    std::vector<Layout> modes = top_modes(a);
    modes.resize(static_cast<std::size_t>(rank));
    return Layout::join(std::move(modes));
}

/// (blocks, tiles) -> ((block_0, tile_0), (block_1, tile_1), ...), or with `raked` the tiles first.
IntTuple zipped(const IntTuple& both, bool raked) {
    std::vector<IntTuple> out;
    for (int i = 0; i < both[0].rank(); ++i) {
        std::vector<IntTuple> pair;
        pair.push_back(both[raked ? 1 : 0][i]);
        pair.push_back(both[raked ? 0 : 1][i]);
        out.emplace_back(std::move(pair));
    }
    return out;
}

Layout interleaved(const Layout& a, const Layout& b, bool raked) {
    refuse_swizzle(b, "product with");
    const int rank = std::max(a.rank(), b.rank());
    const Layout both = product(padded(a, rank), padded(b, rank));
    return swizzled_like(a, {zipped(both.shape(), raked), zipped(both.stride(), raked)});
}

void assign(const IntTuple& shape, const IntTuple& order,
            std::vector<std::pair<std::int64_t, std::int64_t>>& out) {
    if (order.is_leaf()) {
        if (!shape.is_leaf())
            throw ArgumentError(
                fmt::format("order {} is not nested like shape {}", order.to_string(), shape.to_string()));
        out.emplace_back(order.value(), shape.value());
        return;
    }
    if (shape.is_leaf() || shape.rank() != order.rank())
        throw ArgumentError(
            fmt::format("order {} is not nested like shape {}", order.to_string(), shape.to_string()));
    for (int i = 0; i < shape.rank(); ++i) assign(shape[i], order[i], out);
}

IntTuple rebuild(const IntTuple& shape, std::span<const std::int64_t>& leaves) {
    if (shape.is_leaf()) {
        const std::int64_t value = leaves.front();
        leaves = leaves.subspan(1);
        return value;
    }
    std::vector<IntTuple> modes;
    for (const IntTuple& mode : shape.modes()) modes.push_back(rebuild(mode, leaves));
    return modes;
}

}  // namespace

Layout logical_product(const Layout& a, const Tiling& b) {
    if (const auto* layout = std::get_if<Layout>(&b)) return product(a, *layout);
    return by_mode(a, std::get<Tiler>(b), "logical_product", Beyond::kept, product);
}

Layout zipped_product(const Layout& a, const Tiling& b) {
    return unzip(logical_product(a, b), b, "zipped_product");
}

Layout tiled_product(const Layout& a, const Tiling& b) {
    return unpack(unzip(logical_product(a, b), b, "tiled_product"), false);
}

Layout flat_product(const Layout& a, const Tiling& b) {
    return unpack(unzip(logical_product(a, b), b, "flat_product"), true);
}

Layout blocked_product(const Layout& a, const Layout& b) { return interleaved(a, b, false); }

Layout raked_product(const Layout& a, const Layout& b) { return interleaved(a, b, true); }

Layout ordered_layout(const IntTuple& shape, const IntTuple& order) {
    std::vector<std::pair<std::int64_t, std::int64_t>> leaves;  // (rank in the order, extent)
    assign(shape, order, leaves);
    std::vector<std::size_t> sorted(leaves.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = i;
    std::ranges::stable_sort(sorted, {}, [&](std::size_t i) { return leaves[i].first; });
    std::vector<std::int64_t> strides(leaves.size());
    std::int64_t stride = 1;
    for (const std::size_t i : sorted) {
        strides[i] = leaves[i].second == 1 ? 0 : stride;
        stride = checked_mul(stride, leaves[i].second);
    }
    std::span<const std::int64_t> rest = strides;
    return {shape, rebuild(shape, rest)};
}

Layout tile_to_shape(const Layout& a, const IntTuple& shape, const std::optional<IntTuple>& order) {
    const int rank = shape.rank();
    const auto refuse = [&](const std::string& why) {
        throw ArgumentError(
            fmt::format("tile_to_shape of {} to {}: {}", a.to_string(), shape.to_string(), why));
    };
    if (a.rank() > rank) refuse("the layout has more modes than the shape");
    const Layout block = padded(a, rank);
    std::vector<IntTuple> counts;
    for (int i = 0; i < rank; ++i) {
        const std::int64_t extent = shape[i].product();
        const std::int64_t tile = block.mode(i).size();
        if (extent < 1 || extent % tile != 0)
            refuse(fmt::format("extent {} of mode {} is not a multiple of the layout's {}", extent, i, tile));
        counts.emplace_back(extent / tile);
    }
    const IntTuple repeats(std::move(counts));
    const Layout arrangement = order ? ordered_layout(repeats, *order) : Layout(repeats);
    return swizzled_like(a, interleaved(block, arrangement, false));
}

}  // namespace wgrun
