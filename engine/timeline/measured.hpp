// Timestamps laid out as a timeline: the same rows and spans as those of the model.
#pragma once

#include "timeline/roles.hpp"
#include "timeline/schedule.hpp"
#include "timeline/timestamps.hpp"
#include "timeline/trace.hpp"

namespace wgrun::timeline {

/// What was recorded, in the form of the simulator's recorder and of the scheduler. The first rows are those
/// of `roles`, of the first CTA and of those that ran in its place; then products and copies in flight; then
/// `others`, of other CTAs.
struct Measured {
    Trace trace;  ///< of the first cluster
    Roles roles;
    Schedule schedule;
    std::vector<Timeline::Row> others;
    double ghz = 0, microseconds = 0;
    int ctas = 0, shown = 0;
};

/// Throws ArgumentError if nothing was recorded of the first CTA.
Measured measured(const Program& program, const Timestamps& timestamps, int clusters);

}  // namespace wgrun::timeline
