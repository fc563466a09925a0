// What a kernel of others does with the bytes of its one array in shared memory: which of them are mbarriers,
// of which ring, and which a wgmma reads.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "wgrun/program.hpp"

namespace wgrun {

struct Recognised {
    std::vector<std::string> things;   ///< "ring_1: 4 mbarriers ...", "matrix_1: ..."
    std::map<int, std::string> lines;  ///< what the step of a line names: "ring_1[2]"
};

/// Returns what a run of the first cluster with arguments that are made up comes to, as far as it comes
/// (made_up.hpp).
Recognised recognised(const Program& program);

}  // namespace wgrun
