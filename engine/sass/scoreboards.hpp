// What an instruction waits for: the instructions of which a scoreboard counts the results, or the sources.
#pragma once

#include <vector>

#include "sass/graph.hpp"

namespace wgrun::sass {

/// An instruction that waits, and one that it may wait for.
struct Awaited {
    Place by, of;
    int scoreboard;
    int cycles;  ///< at least so many are issued from `of` on until `by` may be: what hides a latency
};

/// In the order of `by`. Of instructions without encodings nothing is known.
std::vector<Awaited> scoreboard_waits(const Function& function, const Graph& graph);

/// The innermost loops that have products; where there are none, the innermost loops of all. By their heads,
/// in the order of the text.
std::vector<Place> main_loops(const Function& function, const Graph& graph);

}  // namespace wgrun::sass
