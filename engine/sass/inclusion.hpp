// Whether each order of events that machine code may have is one that the program may have.
#pragma once

#include <optional>
#include <vector>

#include "sass/events.hpp"

namespace wgrun::sass {

/// A set of events of the program.
using EventSet = std::vector<std::uint64_t>;

/// An event of machine code with another argument than the step at its line has: another barrier.
struct Differs {
    EventId machine, program;
    std::size_t argument;
    bool operator==(const Differs&) const = default;
};

/// Where machine code leaves the program: behind `before` (of machine code) it goes on with `machine`, while
/// the program would go on with one of `expected`.
struct Departure {
    EventId machine, before;
    std::vector<EventId> at, expected;  ///< of the program
};

struct Inclusion {
    std::optional<Departure> departure;
    std::vector<Differs> differs;
    bool gave_up = false;  ///< there were too many states
    /// By event of machine code: those of the program whose image it is.
    std::vector<std::vector<EventId>> matched;
    std::vector<bool> covered;  ///< by event of the program: it has an image
};

/// Follows all paths of machine code, each with the events of the program that it may stand at. An event
/// whose line has such a step is the image of that step alone, but for those without lines of their own.
Inclusion compare(const EventGraph& machine, const EventGraph& program);

/// Whether the event may be the image of that of the program.
bool fits(const Event& machine, const Event& program);

}  // namespace wgrun::sass
