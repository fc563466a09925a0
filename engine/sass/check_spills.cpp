// WG-SASS-09: spills, where, in which loops, and what they cost there.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sass/liveness.hpp"
#include "sass/registers.hpp"
#include "sass/report.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::sass {
namespace {

struct Spilled {
    std::size_t loads = 0, stores = 0;
    int bytes = 0;
    Place first = 0;
};

/// The instructions of a loop, its inner ones among them, reach so far.
Place last_of(const Graph& graph, Place loop) {
    Place out = loop;
    for (Place at = loop; at < graph.size(); ++at)
        if (graph.loop(at) == loop) out = at;
    return out;
}

}  // namespace

void check_spills(const Function& function, const Graph& graph, const Asked& asked, Report& report) {
    const bool own = std::ranges::any_of(asked.accesses, [](const Access& access) {
        return access.memory == Memory::local || access.memory == Memory::generic;
    });
    std::map<Place, Spilled> by_loop;
    for (Place at = 0; at < function.instructions.size(); ++at) {
        const Instruction& one = function.instructions[at];
        if (one.record->memory != Memory::local || !graph.reachable(at)) continue;
        // Where nvdisasm does not mark spills, what the program does not ask for is one.
        if (!one.spill && own) continue;
        Spilled& spilled = by_loop[graph.loop(at)];
        if (spilled.loads + spilled.stores == 0) spilled.first = at;
        (one.record->does == Does::load ? spilled.loads : spilled.stores) += 1;
        spilled.bytes += access_bytes(one);
    }
    for (const auto& [loop, spilled] : by_loop) {
        const bool inside = loop != graph.size();
        if (!inside && !report.known().performance) continue;
        const std::string what =
            fmt::format("{} and {} of spilled registers, {} bytes a thread", count_of(spilled.loads, "load"),
                        count_of(spilled.stores, "store"), spilled.bytes);
        // The L1 cache moves 128 bytes a cycle: 4 of each lane of a warp.
        const std::string where =
            inside ? fmt::format(
                         "in {} from 0x{:x} to 0x{:x}, each turn of which takes {} of the L1 cache for "
                         "each warp",
                         graph.depth(spilled.first) == 1
                             ? "a loop"
                             : fmt::format("{} nested loops", graph.depth(spilled.first)),
                         function.instructions[loop].address,
                         function.instructions[last_of(graph, loop)].address,
                         count_of(static_cast<std::size_t>((spilled.bytes + 3) / 4), "cycle"))
                   : "outside of loops";
        const int stack = stack_bytes(function);
        report.add(rules::WG_SASS_09, function.instructions[spilled.first].line, spilled.first,
                   fmt::format("{}, {}{}: the first is {}", what, where,
                               stack > 0 ? fmt::format(", of {} bytes of stack", stack) : "",
                               report.name(spilled.first)));
    }
}

}  // namespace wgrun::sass
