// What is found of a kernel before any launch, by running its first cluster with arguments that are made up.
#pragma once

#include <cstdint>
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

/// What the integers among the arguments are in the launch of races_with_numbers(): more than a CTA has
/// threads, so that those that begin with a test of a size get past it.
inline constexpr std::uint64_t made_up_number = 1024;

/// Returns the races in shared memory of one CTA in a launch whose numbers are made_up_number, or 1 where
/// they have 8 bits, as far as nothing depends on what is in memory. A kernel may be meant for other numbers:
/// where the run shows anything else but races, which such numbers may cause, and where a structure or a
/// tensor map among the parameters hides numbers, it returns nothing. Thread-safe; takes up to a tenth of a
/// second.
std::vector<Diagnostic> races_with_numbers(const Program& program);

}  // namespace wgrun
