// Objects as figures of text, cut to a size that a person can see at once.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "bindings/repl/graphics.hpp"
#include "wgrun/kernel.hpp"
#include "wgrun/picture.hpp"

namespace wgrun::repl {

/// How values are shown. Ends of lines count in characters of ASCII.
struct View {
    int columns = 80;                                 ///< of the terminal, at least 20
    bool colour = false;                              ///< backgrounds of pictures
    std::function<std::optional<Canvas>()> canvas{};  ///< where images are shown; empty: nowhere
};

/// The upper left corner of `grid` that fits, and a line that says what is omitted.
std::string figure(const Grid& grid, const View& view);

/// A summary of a kernel in a few lines: threads, parameters, shared memory, instructions.
std::string summary(const Program& program);

}  // namespace wgrun::repl
