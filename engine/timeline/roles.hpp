// Which warps stand for which: a row of the timeline is a warp that does what others of its kind do, too.
#pragma once

#include <string>
#include <vector>

#include "timeline/cost.hpp"
#include "timeline/trace.hpp"

namespace wgrun::timeline {

struct Role {
    std::string name;  ///< "producer", "consumer 1", "warps 0 to 3"
    int warp = 0;      ///< of the first CTA: that stands for the role
    bool copies = false, multiplies = false;
};

struct Roles {
    std::vector<Role> list;
    std::vector<int> of_warp;  ///< by warp of the cluster: index in list; -1: it has ended before it did much
};

Roles roles_of(const Trace& trace, const Costs& costs);

}  // namespace wgrun::timeline
