// WG-SASS-09: spills, where, and in which loops.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sass/registers.hpp"
#include "sass/report.hpp"

namespace wgrun::sass {

void check_spills(const Function& function, const Graph& graph, const Asked& asked, Report& report) {
    std::set<int> local;  // lines that ask for accesses to local memory
    bool generic = false;
    for (const Access& access : asked.accesses) {
        if (access.memory == Memory::local) local.insert(access.line);
        generic = generic || access.memory == Memory::generic;
    }
    struct Spilled {
        int loads = 0, stores = 0, bytes = 0;
        Place first = 0;
    };
    std::map<int, Spilled> by_depth;
    for (Place at = 0; at < function.instructions.size(); ++at) {
        const Instruction& one = function.instructions[at];
        if (one.record->memory != Memory::local || !graph.reachable(at)) continue;
        // Where nvdisasm does not mark spills, what the program does not ask for is one.
        if (!one.spill && (generic || !local.empty())) continue;
        Spilled& spilled = by_depth[graph.depth(at)];
        if (spilled.loads + spilled.stores == 0) spilled.first = at;
        (one.record->does == Does::load ? spilled.loads : spilled.stores) += 1;
        spilled.bytes += access_bytes(one);
    }
    for (const auto& [depth, spilled] : by_depth) {
        if (depth == 0) continue;
        report.add(rules::WG_SASS_09, function.instructions[spilled.first].line, spilled.first,
                   fmt::format("{} and {} of spilled registers, {} bytes a thread, in {}: the first is {}",
                               fmt::format("{} load{}", spilled.loads, spilled.loads == 1 ? "" : "s"),
                               fmt::format("{} store{}", spilled.stores, spilled.stores == 1 ? "" : "s"),
                               spilled.bytes, depth == 1 ? "a loop" : fmt::format("{} nested loops", depth),
                               report.name(spilled.first)));
    }
}

}  // namespace wgrun::sass
