// What one step of a program does besides computing, as its record says.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sass/events.hpp"
#include "sass/program_values.hpp"

namespace wgrun::sass {

/// Each in the order of the step's effects; places, blocks and guards are those of the caller.
struct StepEvents {
    std::vector<Event> events;
    std::vector<Event> waits, orders;  ///< wgmma.wait_group, wgmma.fence
    std::vector<Access> accesses;
};

/// Whether the guard of a step never holds. known: registers that always have one value.
bool never_executes(const Step& step, const std::map<std::uint32_t, std::int64_t>& known);

StepEvents events_of(const Step& step, const std::map<std::uint32_t, std::int64_t>& known,
                     const ProgramValues& values);

}  // namespace wgrun::sass
