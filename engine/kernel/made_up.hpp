// What is found of a kernel before any launch, by running its first cluster with arguments that are made up.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "check/check.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/program.hpp"

namespace wgrun {
namespace sim {
class Observer;
}

/// Returns what every launch of the program breaks: the simulator runs the first cluster as far as nothing
/// depends on the arguments, on the size of the grid, or on what is in memory. Nothing where the program has
/// instructions that the simulator does not know. Thread-safe; takes up to a tenth of a second.
/// observer: null, or who watches the run. ended: becomes the place where it depends on them; untouched if it
/// does not.
std::vector<Diagnostic> found_in_every_launch(const Program& program, check::Made made,
                                              sim::Observer* observer = nullptr,
                                              EndOfRunAhead* ended = nullptr);

/// Returns what the first of so many clusters breaks in a launch whose parameters are these numbers, as far
/// as nothing depends on what is in memory: with a note that names them. Thread-safe; takes up to a tenth of
/// a second.
std::vector<Diagnostic> found_in_launch(const Program& program, std::span<const std::int64_t> numbers,
                                        std::uint32_t clusters);

}  // namespace wgrun
