// Chooses the picture of an object.
#include <fmt/format.h>

#include <algorithm>

#include "wgrun/diagnostic.hpp"
#include "wgrun/picture.hpp"

namespace wgrun {
namespace {

const BankConflicts& worst(const std::vector<BankConflicts>& all) {
    return *std::ranges::max_element(all, {}, &BankConflicts::degree);
}

PictureView chosen(PictureView view, std::int64_t elements) {
    if (view != PictureView::automatic) return view;
    return elements > most_elements ? PictureView::overview : PictureView::elements;
}

std::string_view name_of(PictureView view) { return view_names()[static_cast<std::size_t>(view)]; }

}  // namespace

std::span<const std::string_view> view_names() {
    static constexpr std::string_view names[]{"auto",  "offsets",   "bytes",   "chunks",
                                              "banks", "conflicts", "overview"};
    return names;
}

Picture picture_of(const Layout& layout, const Viewing& viewing) {
    const int bits = viewing.element_bits;
    const PictureView view = chosen(viewing.view, layout.size());
    if (view != PictureView::elements && view != PictureView::overview && bits == 0)
        throw ArgumentError(
            fmt::format("picture: view = \"{}\" of a layout needs byte offsets, and the layout "
                        "counts elements",
                        name_of(view)),
            "name the element type: dtype = \"bf16\"");
    switch (view) {
        case PictureView::bytes: return {byte_grid(layout, bits)};
        case PictureView::chunks: return chunk_grids(layout, bits);
        case PictureView::banks:
            return {grid_of(viewing.access ? bank_conflicts(layout, bits, *viewing.access)
                                           : worst(bank_conflicts(layout, bits)))};
        case PictureView::conflicts:
            if (viewing.access) return {conflict_map(layout, bits, *viewing.access)};
            return conflict_maps(layout, bits);
        case PictureView::overview: return {overview(layout)};
        case PictureView::automatic:
        case PictureView::elements: break;
    }
    const int of_16_bytes = bits > 0 ? 128 / bits : 8;
    return {grid_of(layout, viewing.chunk > 0 ? viewing.chunk : of_16_bytes)};
}

Picture picture_of(const Tile& tile, const Viewing& viewing) {
    switch (chosen(viewing.view, std::int64_t{tile.mn()} * tile.k())) {
        case PictureView::bytes: return {grid_of(tile, true)};
        case PictureView::chunks: return chunk_grids(tile);
        case PictureView::banks:
            return {grid_of(viewing.access ? bank_conflicts(tile, *viewing.access)
                                           : worst(bank_conflicts(tile)))};
        case PictureView::conflicts:
            if (viewing.access) return {conflict_map(tile, *viewing.access)};
            return conflict_maps(tile);
        case PictureView::overview: return {overview(tile)};
        case PictureView::automatic:
        case PictureView::elements: break;
    }
    return {grid_of(tile)};
}

Picture picture_of(const Fragment& fragment, const Viewing& viewing) {
    const PictureView view = chosen(viewing.view, std::int64_t{fragment.rows} * fragment.columns);
    if (view == PictureView::overview) return {overview(fragment)};
    if (view != PictureView::elements)
        throw ArgumentError(
            fmt::format("picture: a fragment is in registers and has no view of {}", name_of(view)),
            "view = \"offsets\" (thread and value of each element) or \"overview\"");
    return {grid_of(fragment)};
}

}  // namespace wgrun
