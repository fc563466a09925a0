// The places of everything in the picture of a timeline, in pixels: SVG and images are drawn from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "picture/geometry.hpp"
#include "wgrun/timeline.hpp"

namespace wgrun::timeline {

/// 0xRRGGBB on light and on dark surroundings.
struct Tone {
    std::uint32_t light, dark;
};
inline constexpr Tone text_tone{0x222222, 0xdddddd}, line_tone{0xdddddd, 0x444444},
    paper_tone{0xffffff, 0x16181c};

inline constexpr int kind_count = 10;

/// A kind of span in pictures.
struct KindStyle {
    Tone tone;
    const char* meaning;  ///< in the legend
};
const KindStyle& style_of(Timeline::Kind kind);

struct Drawing {
    struct Box {
        double x, y, width, height;
        Timeline::Kind kind;
        std::string tip;  ///< empty in the legend
    };
    struct Line {
        double x, top, bottom;
    };
    struct Text {
        geometry::Label label;
        bool bold = false;
    };
    int width = 0, height = 0;
    std::vector<Line> lines;
    std::vector<Box> boxes;
    std::vector<Text> texts;
};

/// Timelines one below the other, those in units of time on one scale, `width` pixels wide (at least 320).
/// They show the cycles `from` to `to`; 0: to the end. The legend has the kinds of spans that occur.
Drawing draw(std::span<const Timeline> timelines, double from, double to, int width);

}  // namespace wgrun::timeline
