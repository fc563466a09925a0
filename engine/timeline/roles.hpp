// Roles of warps: a row of the timeline is one warp that stands for others that do the same.
#pragma once

#include <string>
#include <vector>

#include "timeline/cost.hpp"
#include "timeline/trace.hpp"

namespace wgrun::timeline {

struct Role {
    std::string name;  ///< "producer", "consumer 1", "warps 0 to 3"
    int warp = 0;      ///< the warp of the first CTA that stands for the role
    bool copies = false, multiplies = false;
};

struct Roles {
    std::vector<Role> list;
    std::vector<int> of_warp;  ///< by warp of the cluster: index in list; -1: the warp did too little
};

Roles roles_of(const Trace& trace, const Costs& costs);

}  // namespace wgrun::timeline
