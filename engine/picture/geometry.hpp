// The places of everything in a picture, in pixels. What SVG and images draw is decided here, so that they
// agree, and tests can ask whether labels overlap and where arrows end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wgrun/picture.hpp"

namespace wgrun::geometry {

inline constexpr int advance = 7;  // of a character of the 11-pixel font
inline constexpr int line = 13;    // from a line of text to the next
inline constexpr int ascent = 9;   // of a line of text, above its base line
inline constexpr int margin = 12;  // around the whole
inline constexpr int swatch = 11;  // a side of the squares of the legend

enum class Anchor : unsigned char { start, middle, end };

/// A line of text; y is the base line.
struct Label {
    int x = 0;
    int y = 0;
    Anchor anchor = Anchor::start;
    std::string text;

    int width() const { return advance * static_cast<int>(text.size()); }
    int left() const {
        return anchor == Anchor::start ? x : anchor == Anchor::end ? x - width() : x - width() / 2;
    }
};

/// Three strokes from the edge of a cell outwards, along, and in to the edge of another.
struct Bracket {
    bool vertical = true;  ///< along the left edge of the grid, else along the upper one
    int from_x = 0;
    int from_y = 0;
    int to_x = 0;
    int to_y = 0;
    int lane = 0;  ///< x of the long stroke if vertical, else its y
    Label label;
};

struct GridPlan {
    const Grid* grid = nullptr;
    std::vector<int> column_x;  ///< left edges of the cells
    std::vector<int> row_y;     ///< upper edges
    int cell_width = 0;
    int cell_height = 0;
    std::vector<Label> titles;
    std::vector<Label> row_names;
    std::vector<Label> column_names;
    std::vector<Label> axes;  ///< the names of what rows and columns count
    std::vector<Label> frame_labels;
    std::vector<Bracket> arrows;
};

struct Swatch {
    int x = 0;
    int y = 0;  ///< of the upper edge
    int colour = 0;
    bool heat = false;
    Label label;
};

/// Refers to the grids of the picture that it was made of.
struct Plan {
    std::vector<GridPlan> grids;
    std::vector<Label> legend_titles;
    std::vector<Swatch> legend;
    int width = 0;
    int height = 0;
};

Plan plan(const Picture& picture);

/// The words of a cell.
std::vector<Label> word_labels(const GridPlan& plan, int row, int column);

/// What a frame surrounds.
struct Area {
    int x = 0;
    int y = 0;
    int width = 0;
    int height = 0;
};
Area area_of(const GridPlan& plan, const Grid::Frame& frame);

/// The words of a cell's text, which stand one below the other.
std::vector<std::string_view> words_of(std::string_view text);

/// Indices of rows (or columns) before which heavy frames leave a gap.
std::vector<bool> gaps(const Grid& grid, bool rows);

/// The legends of a picture, each once, with the keys whose colours occur.
std::vector<Grid::Legend> legends_of(const Picture& picture);

/// The places of the grids with -1 resolved: row and column of each.
struct Place {
    int row = 0;
    int column = 0;
};
std::vector<Place> places(const Picture& picture);

}  // namespace wgrun::geometry
