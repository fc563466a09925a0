#include "picture/geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "picture/palette.hpp"
#include "tests/catch.hpp"

using namespace wgrun;
using namespace wgrun::geometry;

namespace {

struct Box {
    std::string what;
    int left, top, right, bottom;
};

Box box_of(const Label& label) {
    return {label.text, label.left(), label.y - ascent, label.left() + label.width(), label.y + 2};
}

bool overlap(const Box& a, const Box& b) {
    return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

Box cell_box(const GridPlan& p, int row, int column) {
    const int x = p.column_x[static_cast<std::size_t>(column)];
    const int y = p.row_y[static_cast<std::size_t>(row)];
    return {p.grid->at(row, column).text, x, y, x + p.cell_width, y + p.cell_height};
}

/// All labels outside the cells, and the cells themselves.
std::vector<Box> boxes_of(const Plan& plan) {
    std::vector<Box> out;
    for (const GridPlan& p : plan.grids) {
        for (const auto* labels : {&p.titles, &p.row_names, &p.column_names, &p.frame_labels})
            for (const Label& label : *labels) out.push_back(box_of(label));
        for (const Bracket& arrow : p.arrows) out.push_back(box_of(arrow.label));
        for (int row = 0; row < p.grid->rows; ++row)
            for (int column = 0; column < p.grid->columns; ++column) out.push_back(cell_box(p, row, column));
    }
    for (const Label& label : plan.legend_titles) out.push_back(box_of(label));
    for (const Swatch& s : plan.legend) {
        out.push_back({"swatch", s.x, s.y, s.x + swatch, s.y + swatch});
        out.push_back(box_of(s.label));
    }
    return out;
}

void check_overlaps(const Plan& plan) {
    std::vector<Box> boxes = boxes_of(plan);
    std::ranges::sort(boxes, {}, &Box::top);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        INFO("`" << boxes[i].what << "` at " << boxes[i].left << ", " << boxes[i].top);
        CHECK(boxes[i].left >= 0);
        CHECK(boxes[i].top >= 0);
        CHECK(boxes[i].right <= plan.width);
        CHECK(boxes[i].bottom <= plan.height);
        for (std::size_t j = i + 1; j < boxes.size() && boxes[j].top < boxes[i].bottom; ++j) {
            INFO("and `" << boxes[j].what << "` at " << boxes[j].left << ", " << boxes[j].top);
            CHECK_FALSE(overlap(boxes[i], boxes[j]));
        }
    }
}

/// Words stay inside their cells.
void check_words(const GridPlan& p) {
    for (const Grid::Cell& cell : p.grid->cells) {
        const std::vector<std::string_view> words = words_of(cell.text);
        CHECK(static_cast<int>(words.size()) * line <= p.cell_height);
        for (const std::string_view word : words)
            CHECK(static_cast<int>(word.size()) * advance <= p.cell_width);
    }
}

/// Where strokes of arrows are, apart from their ends at cells.
void check_strokes(const Plan& plan) {
    for (const GridPlan& p : plan.grids)
        for (const Bracket& a : p.arrows) {
            const Box stroke = a.vertical ? Box{"stroke", a.lane, std::min(a.from_y, a.to_y), a.lane + 1,
                                                std::max(a.from_y, a.to_y)}
                                          : Box{"stroke", std::min(a.from_x, a.to_x), a.lane,
                                                std::max(a.from_x, a.to_x), a.lane + 1};
            for (const Box& box : boxes_of(plan)) {
                INFO(a.label.text << " through `" << box.what << "`");
                CHECK_FALSE(overlap(stroke, box));
            }
        }
}

void check_picture(const Picture& picture) {
    const Plan made = plan(picture);
    check_overlaps(made);
    check_strokes(made);
    for (const GridPlan& p : made.grids) check_words(p);
}

Tile bf16(int mn, int k, Major major, SwizzleMode swizzle, AtomOrder order = AtomOrder::mn) {
    return Tile({Dtype::bf16, mn, k, major, swizzle, order});
}

const std::vector<SwizzleMode> swizzles{SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64,
                                        SwizzleMode::b128};

double luminance(std::uint32_t colour) {
    double out = 0;
    const double weights[]{0.0722, 0.7152, 0.2126};
    for (int i = 0; i < 3; ++i) {
        const double c = static_cast<double>(colour >> (8 * i) & 255) / 255;
        out += weights[i] * (c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
    }
    return out;
}

double contrast(std::uint32_t a, std::uint32_t b) {
    const double x = luminance(a) + 0.05;
    const double y = luminance(b) + 0.05;
    return std::max(x, y) / std::min(x, y);
}

}  // namespace

TEST_CASE("labels of a picture overlap neither each other nor cells nor arrows") {
    for (const SwizzleMode swizzle : swizzles)
        for (const Major major : {Major::k, Major::mn})
            for (const AtomOrder order : {AtomOrder::mn, AtomOrder::k})
                for (const int wide : {64, 128}) {
                    const Tile tile = major == Major::k ? bf16(16, wide, major, swizzle, order)
                                                        : bf16(wide, 16, major, swizzle, order);
                    INFO(to_string(major) << " " << to_string(swizzle) << " " << wide);
                    check_picture(chunk_grids(tile));
                    check_picture({grid_of(tile, true)});
                    check_picture({overview(tile)});
                    check_picture(conflict_maps(tile));
                }
    check_picture({overview(wgmma_d(Dtype::f32, 256))});
    check_picture({grid_of(wgmma_d(Dtype::f32, 16))});
    check_picture({overview(Layout::parse("(1000,1000):(1000,1)"))});
    check_picture(mma_picture("m64n16k16", Dtype::bf16));
    check_picture(mma_picture("m64n256k32", Dtype::e4m3));
    check_picture(mma_picture("m16n8k4", Dtype::tf32));
}

TEST_CASE("arrows start and end at the chunks that LBO and SBO are between") {
    for (const SwizzleMode swizzle : swizzles)
        for (const Major major : {Major::k, Major::mn}) {
            const Tile tile =
                major == Major::k ? bf16(16, 128, major, swizzle) : bf16(128, 16, major, swizzle);
            const Picture picture = chunk_grids(tile);
            const Plan made = plan(picture);
            int lbo = 0, sbo = 0;
            for (std::size_t g = 0; g < picture.size(); ++g) {
                const GridPlan& p = made.grids[g];
                REQUIRE(p.arrows.size() == p.grid->arrows.size());
                for (const Bracket& arrow : p.arrows) {
                    INFO(arrow.label.text << " in " << p.grid->title);
                    // The cell whose edge the head touches, and the one with the dot.
                    int from = -1, to = -1;
                    for (int row = 0; row < p.grid->rows; ++row)
                        for (int column = 0; column < p.grid->columns; ++column) {
                            const Box box = cell_box(p, row, column);
                            const auto touches = [&](int x, int y) {
                                return arrow.vertical ? x == box.left && y > box.top && y < box.bottom
                                                      : y == box.top && x > box.left && x < box.right;
                            };
                            const int number = std::stoi(p.grid->at(row, column).text);
                            if (touches(arrow.from_x, arrow.from_y)) from = number;
                            if (touches(arrow.to_x, arrow.to_y)) to = number;
                        }
                    CHECK(from == 0);
                    REQUIRE(to > 0);
                    // Chunks are numbered line after line; where is the one at the head?
                    const int units = (major == Major::k ? tile.k() : tile.mn()) / 8;
                    const int along = to % units * 8;
                    const int byte =
                        major == Major::k ? tile.offset(to / units, along) : tile.offset(along, to / units);
                    CHECK_THAT(arrow.label.text, ContainsSubstring(fmt::format(" {} bytes", byte)));
                    if (arrow.label.text.starts_with("LBO")) {
                        CHECK(byte == tile.lbo());
                        ++lbo;
                    }
                    if (arrow.label.text.starts_with("SBO")) {
                        CHECK(byte == tile.sbo());
                        ++sbo;
                    }
                }
            }
            CHECK(sbo == 2);
            CHECK(lbo == (major == Major::k && swizzle != SwizzleMode::none ? 0 : 2));
        }
}

TEST_CASE("rows of A and D, and columns of B and D, are in line") {
    for (const char* shape : {"m64n16k16", "m64n128k16", "m16n8k16"}) {
        const Picture picture = mma_picture(shape, Dtype::bf16);
        const Plan made = plan(picture);
        CHECK(made.grids[0].column_x == made.grids[2].column_x);
        CHECK(made.grids[1].row_y == made.grids[2].row_y);
        CHECK(made.grids[0].row_y.back() < made.grids[2].row_y.front());
        CHECK(made.grids[1].column_x.back() < made.grids[2].column_x.front());
    }
}

TEST_CASE("text on colours can be read, in light and in dark surroundings") {
    for (const bool heat : {false, true})
        for (int i = 0; i < 8; ++i) {
            INFO((heat ? "heat " : "colour ") << i);
            CHECK(contrast(shade_of(heat, i).light, 0x111111) > 4.5);
            CHECK(contrast(shade_of(heat, i).dark, 0xf2f5f8) > 4.5);
        }
}
