// Pictures in pixels, beside the plan that SVG is drawn from, too.
#include "picture/raster.hpp"

#include <algorithm>
#include <set>

#include "picture/font.hpp"
#include "picture/geometry.hpp"
#include "picture/palette.hpp"
#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"

using namespace wgrun;

namespace {

const Tile tile({Dtype::bf16, 16, 64, Major::k, SwizzleMode::b128, AtomOrder::mn});

/// Pixels of `colour` in a box.
int count(const Image& image, int x, int y, int width, int height, std::uint32_t colour) {
    int out = 0;
    for (int row = y; row < y + height; ++row)
        for (int column = x; column < x + width; ++column) out += image.at(column, row) == colour ? 1 : 0;
    return out;
}

/// The characters whose pixels are those at the place of the label.
std::string read(const Image& image, const geometry::Label& label, std::uint32_t ink) {
    std::string out;
    for (int i = 0; i < static_cast<int>(label.text.size()); ++i) {
        const int left = label.left() + i * geometry::advance;
        const auto same = [&](const Glyph& glyph) {
            for (int row = 0; row < 13; ++row)
                for (int column = 0; column < glyph_width; ++column) {
                    const bool set = image.at(left + column, label.y - glyph_ascent + row) == ink;
                    if (set != ((glyph[static_cast<std::size_t>(row)] >> (6 - column) & 1) != 0))
                        return false;
                }
            return true;
        };
        const auto found = std::ranges::find_if(font, same);
        out += found == font.end() ? '\1' : static_cast<char>(' ' + (found - font.begin()));
    }
    return out;
}

}  // namespace

TEST_CASE("an image has the cells of its picture, in their colours and with their words") {
    for (const bool dark : {false, true}) {
        const Picture picture = chunk_grids(tile);
        const Image image = to_image(picture, dark);
        const geometry::Plan plan = geometry::plan(picture);
        CHECK(image.width == plan.width);
        CHECK(image.height == plan.height);
        CHECK(image.pixels.size() ==
              static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height));
        const auto ink = [&](Ink which) {
            const auto& shade = ink_palette[static_cast<std::size_t>(which)];
            return dark ? shade.dark : shade.light;
        };
        CHECK(image.at(0, 0) == ink(Ink::paper));
        for (const geometry::GridPlan& p : plan.grids) {
            for (int row = 0; row < p.grid->rows; ++row)
                for (int column = 0; column < p.grid->columns; ++column) {
                    const Grid::Cell& cell = p.grid->at(row, column);
                    const Shade& shade = shade_of(p.grid->heat, cell.colour);
                    const int x = p.column_x[static_cast<std::size_t>(column)];
                    const int y = p.row_y[static_cast<std::size_t>(row)];
                    CHECK(count(image, x, y, p.cell_width, p.cell_height, dark ? shade.dark : shade.light) >
                          p.cell_width * p.cell_height / 2);
                    for (const geometry::Label& word : geometry::word_labels(p, row, column))
                        CHECK(read(image, word, ink(Ink::text)) == word.text);
                }
            for (const geometry::Label& name : p.row_names)
                CHECK(read(image, name, ink(Ink::faint)) == name.text);
            for (const geometry::Bracket& arrow : p.arrows) {
                CHECK(image.at(arrow.lane, (arrow.from_y + arrow.to_y) / 2) == ink(Ink::arrow));
                CHECK(image.at(arrow.to_x - 2, arrow.to_y) == ink(Ink::arrow));
            }
            for (const Grid::Frame& frame : p.grid->frames) {
                const geometry::Area area = geometry::area_of(p, frame);
                const std::uint32_t edge = image.at(area.x + area.width, area.y + 5);
                // A heavy one may lie over a thin one.
                CHECK((edge == ink(Ink::heavy_frame) || (!frame.heavy && edge == ink(Ink::frame))));
            }
        }
    }
}

TEST_CASE("an enlarged image has each pixel several times") {
    const Picture picture{overview(tile)};
    const Image image = to_image(picture);
    const Image large = to_image(picture, false, 3);
    CHECK(extent_of(picture).width == image.width);
    CHECK(extent_of(picture).height == image.height);
    REQUIRE(large.width == 3 * image.width);
    REQUIRE(large.height == 3 * image.height);
    bool same = true;
    for (int y = 0; y < large.height; ++y)
        for (int x = 0; x < large.width; ++x) same = same && large.at(x, y) == image.at(x / 3, y / 3);
    CHECK(same);
    CHECK_THROWS_AS(to_image(picture, false, 0), ArgumentError);
}

TEST_CASE("conflicts have their own colours, and every letter has a shape of its own") {
    const Image image =
        to_image(conflict_maps(Tile({Dtype::bf16, 64, 64, Major::k, SwizzleMode::none, AtomOrder::mn})));
    std::set<std::uint32_t> seen;
    for (const std::uint8_t pixel : image.pixels) seen.insert(image.palette[pixel]);
    CHECK(std::ranges::any_of(heat_palette, [&](const Shade& shade) { return seen.contains(shade.light); }));
    for (const auto* letters : {&font, &bold_font})
        CHECK(std::set(letters->begin(), letters->end()).size() == 95);
}
