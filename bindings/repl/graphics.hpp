// Images in a terminal: how it is asked which it shows, and how it is told to show one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "layout/raster.hpp"

namespace wgrun::repl {

/// How a terminal takes images.
enum class Graphics : unsigned char {
    kitty,   ///< kitty's graphics protocol
    iterm2,  ///< iTerm2's inline images
    sixel,
};

/// What the environment says of the terminal; empty where it says nothing.
struct TerminalNames {
    std::string term, program, lc_terminal;
    bool multiplexed = false;  ///< tmux or screen, which other variables may not know of

    static TerminalNames of_environment();
};

/// What asks a terminal for its abilities: the last question is one that every terminal answers. Empty for
/// those that are known to have no images, some of which would show the question.
std::string question(const TerminalNames& names);

/// What a terminal said.
struct Answers {
    bool complete = false;  ///< the last question has been answered
    bool kitty = false;
    bool sixel = false;
    bool dark = false;  ///< its background; false where it has not said
    int cell_width = 0;
    int cell_height = 0;  ///< pixels; 0: it has not said
    std::string typed;    ///< what is no answer: keys
};
/// `bytes` may end inside an answer.
Answers read_answers(std::string_view bytes);

/// Nothing: the terminal shows no images.
std::optional<Graphics> choose(const TerminalNames& names, const Answers& answers);

/// What makes the terminal show the image at the beginning of a line and go to the line below it.
std::string shown(const Image& image, Graphics graphics);

/// Where images are shown, in pixels.
struct Canvas {
    Graphics graphics = Graphics::kitty;
    int width = 0;
    int height = 0;
    int cell_height = 0;  ///< of a character
    bool dark = false;
};

/// The picture as large as letters of the terminal make it, or nothing where that is more than fits.
std::optional<std::string> shown(const Picture& picture, const Canvas& canvas);

}  // namespace wgrun::repl
