// The picture of a timeline: what SVG and images draw.
#include "timeline/drawing.hpp"

#include <algorithm>
#include <set>

#include "tests/catch.hpp"
#include "timeline/raster.hpp"

using namespace wgrun;
using namespace wgrun::timeline;
using Kind = Timeline::Kind;

namespace {

/// A warp that works and then waits for copies, and the tensor core.
Timeline example() {
    Timeline out;
    out.kernel = "example";
    out.rows = {{"consumer", 0, true, Kind::work}, {"tensor core", -1, true, Kind::product}};
    out.spans = {{0, Kind::work, 0, 100, "", {}},
                 {0, Kind::copies, 100, 400, "full[0], phase 0", {}},
                 {1, Kind::product, 400, 1000, "m64n64k16", {}}};
    out.cycles = 1000;
    out.verdict = {
        "consumer waits for full stages (full) 75 % of the time (example.lua:12): the time that a "
        "copy takes is the limit: more stages would hide it"};
    return out;
}

std::vector<std::string> texts(const Drawing& drawing) {
    std::vector<std::string> out;
    for (const auto& [label, bold] : drawing.texts) out.push_back(label.text);
    return out;
}

bool has(const Drawing& drawing, std::string_view text) {
    return std::ranges::any_of(texts(drawing), [&](const std::string& one) { return one == text; });
}

}  // namespace

TEST_CASE("the axis has a unit, and the legend the kinds of spans that occur") {
    Timeline timeline = example();
    const Drawing drawing = draw(std::span(&timeline, 1), 0, 0, 1100);
    CHECK(has(drawing, "cycles"));
    CHECK(has(drawing, "executes"));
    CHECK(has(drawing, "waits for full stages (copies)"));
    CHECK(has(drawing, "products"));
    CHECK_FALSE(has(drawing, "waits for loads"));
    // A part of the time has the kinds of that part.
    CHECK_FALSE(has(draw(std::span(&timeline, 1), 500, 900, 1100), "executes"));
    timeline.source = Timeline::Source::steps;
    CHECK(has(draw(std::span(&timeline, 1), 0, 0, 1100), "steps"));
}

TEST_CASE("everything lies within the picture, however narrow it is") {
    const Timeline timeline = example();
    for (const int width : {1, 320, 500, 1100}) {
        INFO(width);
        const Drawing drawing = draw(std::span(&timeline, 1), 0, 0, width);
        CHECK(drawing.width == std::max(width, 320));
        for (const auto& [label, bold] : drawing.texts) {
            INFO(label.text);
            CHECK(label.left() >= 0);
            CHECK(label.left() + label.width() <= drawing.width);
            CHECK(label.y <= drawing.height);
        }
        for (const Drawing::Box& box : drawing.boxes) {
            CHECK(box.x >= 0);
            CHECK(box.x + box.width <= drawing.width);
            CHECK(box.y + box.height <= drawing.height);
        }
    }
}

TEST_CASE("an image has the colours of its surroundings, and each span its own") {
    const Timeline timeline = example();
    const Image light = to_image(timeline, 500), dark = to_image(timeline, 500, true);
    CHECK(light.at(0, 0) == 0xffffff);
    CHECK(dark.at(0, 0) == paper_tone.dark);
    std::set<std::uint32_t> seen;
    for (const std::uint8_t pixel : light.pixels) seen.insert(light.palette[pixel]);
    for (const Kind kind : {Kind::work, Kind::copies, Kind::product})
        CHECK(seen.contains(style_of(kind).tone.light));
    CHECK_FALSE(seen.contains(style_of(Kind::loads).tone.light));
    const Image large = to_image(timeline, 500, false, 2);
    CHECK(large.width == 2 * light.width);
    CHECK(large.height == 2 * light.height);
}
