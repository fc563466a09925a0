// What is found of a kernel before any launch, by running its first cluster with synthetic arguments.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "check/check.hpp"
#include "check/evidence.hpp"
#include "sim/sim.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/program.hpp"

namespace wgrun {

/// Returns the extents of a tensor of one box, dimension 0 first, whose rows can be those of a tensor map.
std::vector<std::int64_t> synthetic_extents(const TensorBox& box);

/// Returns the program with the numbers that a launch names in place of its parameters. Numbers that the
/// program uses as addresses stay parameters where the launch has a number for all: a text does not say which
/// they are.
Program with_numbers_of(const Program& program, const FoundIn& launch);

/// Runs a launch whose numbers are all `launch.others`, and so is memory, in which it has no tensors.
/// `limits` says what else is invented. Throws as sim::run.
sim::Outcome run_synthetic(const Program& program, const FoundIn& launch, sim::Synthetic limits);

/// Returns what a launch breaks that a finding names, on the simulator. The run ends where the contents of
/// memory would decide that the finding does not name; with `memory_decides` they are zeros. Of `by` wgrun.
std::vector<Diagnostic> found_again(const Program& program, check::Made made, const FoundIn& launch,
                                    bool memory_decides = false);

/// Returns what every launch of the program breaks: the simulator runs the first cluster as far as nothing
/// depends on the arguments, on the size of the grid, or on what is in memory. Nothing where the program has
/// instructions that the simulator does not know. Thread-safe; takes up to a tenth of a second.
/// observer: null, or who watches the run.
std::vector<Diagnostic> found_in_every_launch(const Program& program, check::Made made,
                                              sim::Observer* observer = nullptr);

/// Returns what is undecided, and breaks in launches with the numbers that its proofs came to, and with usual
/// ones: warnings, since the kernel may be meant for others. Thread-safe; takes up to some seconds.
std::vector<Diagnostic> found_with_sizes(const Program& program, const check::Evidence& evidence);

}  // namespace wgrun
