// What limits a kernel, in words.
#pragma once

#include "timeline/roles.hpp"
#include "timeline/schedule.hpp"

namespace wgrun::timeline {

/// Sentences, the most important one first. The schedule's `spans` are those of the timeline.
std::vector<std::string> verdict(const Timeline& timeline, const std::vector<int>& barriers,
                                 const Trace& trace, const Roles& roles);

}  // namespace wgrun::timeline
