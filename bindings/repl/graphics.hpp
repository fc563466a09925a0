// Images in a terminal: how to query its support, and how to show an image.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "picture/raster.hpp"
#include "wgrun/timeline.hpp"

namespace wgrun::repl {

/// How a terminal accepts images.
enum class Graphics : unsigned char {
    kitty,   ///< kitty's graphics protocol
    iterm2,  ///< iTerm2's inline images
    sixel,
};

/// What the environment says about the terminal; empty if it says nothing.
struct TerminalNames {
    std::string term, program, lc_terminal;
    bool multiplexed = false;  ///< tmux or screen, unknown to other variables

    static TerminalNames of_environment();
};

/// The query for a terminal's abilities; its last question is one that every terminal answers. Empty for
/// terminals known not to show images, some of which would display the query.
std::string question(const TerminalNames& names);

/// A terminal's answers.
struct Answers {
    bool complete = false;  ///< the last question has been answered
    bool kitty = false;
    bool sixel = false;
    bool dark = false;  ///< its background is dark; false if it has not answered
    int cell_width = 0;
    int cell_height = 0;  ///< pixels; 0: it has not answered
    std::string typed;    ///< input that is not an answer: keys
};
/// `bytes` may end inside an answer.
Answers read_answers(std::string_view bytes);

/// The way to show images; nothing: the terminal shows none.
std::optional<Graphics> choose(const TerminalNames& names, const Answers& answers);

/// The text that makes the terminal show the image at the beginning of a line and go to the line below it.
std::string shown(const Image& image, Graphics graphics);

/// The area where images are shown, in pixels.
struct Canvas {
    Graphics graphics = Graphics::kitty;
    int width = 0;
    int height = 0;
    int cell_height = 0;  ///< of a character
    bool dark = false;
};

/// The picture, scaled to the letters of the terminal, or nothing if it does not fit.
std::optional<std::string> shown(const Picture& picture, const Canvas& canvas);
/// The same for a timeline, which is drawn as wide as the canvas and at most `timeline_width` pixels.
std::optional<std::string> shown(const Timeline& timeline, const Canvas& canvas);
inline constexpr int timeline_width = 1100;

}  // namespace wgrun::repl
