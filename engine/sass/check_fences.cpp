// WG-SASS-05: what a fence.proxy.async is made of.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sass/report.hpp"

namespace wgrun::sass {
namespace {

/// Of global memory alone a proxy fence takes no memory barrier.
bool needs_barrier(const Asked& asked, int line) {
    return std::ranges::any_of(asked.graph.events, [line](const Event& event) {
        return event.does == Does::proxy_fence && event.line == line && event.orders != Memory::global;
    });
}

/// A fence of the view of global memory alone takes the place of none of shared memory.
void check_views(const Function& function, const Graph& graph, const Asked& asked, Report& report) {
    for (Place at = 0; at < function.instructions.size(); ++at) {
        const Instruction& one = function.instructions[at];
        if (!graph.reachable(at) || one.never() || one.record->does != Does::proxy_fence) continue;
        if (one.has("G") && needs_barrier(asked, one.line))
            report.add(rules::WG_SASS_05, one.line, at,
                       fmt::format("{} orders global memory alone, the {} of the program shared memory",
                                   report.name(at), name_of(Does::proxy_fence)));
    }
}

/// A proxy fence is a memory barrier and a fence of the view that the copy engine has.
void check_barriers(const Function& function, const Graph& graph, const Asked& asked, Report& report) {
    std::map<int, std::pair<int, Place>> barriers;  // fences less barriers, by line
    for (Place at = 0; at < function.instructions.size(); ++at) {
        const Instruction& one = function.instructions[at];
        if (!graph.reachable(at) || one.never() || !needs_barrier(asked, one.line)) continue;
        auto& [count, first] = barriers[one.line];
        if (one.record->does == Does::proxy_fence) ++count, first = at;
        if (one.record->does == Does::fence) --count;
    }
    for (const auto& [line, found] : barriers)
        if (found.first > 0)
            report.add(rules::WG_SASS_05, line, found.second,
                       fmt::format("the memory barrier before {} is missing", report.name(found.second)));
}

}  // namespace

void check_fences(const Function& function, const Graph& graph, const Asked& asked, Report& report) {
    check_barriers(function, graph, asked, report);
    check_views(function, graph, asked, report);
}

}  // namespace wgrun::sass
