#include "check/register_requests.hpp"

#include <algorithm>
#include <vector>

#include "flow/graph.hpp"

namespace wgrun::check {

bool requests_once(const Outline& outline) {
    const flow::Graph& graph = outline.graph();
    const auto requests = [&](BlockId id) {
        return std::ranges::count_if(graph.blocks()[id].steps, [](const Step& step) {
            return step.op->awaits == isa::Awaits::registers;
        });
    };
    bool any = false;
    for (const BlockId from : graph.order()) {
        const auto here = requests(from);
        if (here > 1) return false;
        if (here == 0) continue;
        any = true;
        std::vector<BlockId> next;
        std::vector<bool> seen(graph.blocks().size(), false);
        const auto come_to = [&](BlockId id, int) {
            if (!seen[id]) next.push_back(id);
            seen[id] = true;
        };
        graph.blocks()[from].for_each_successor(come_to);
        while (!next.empty()) {
            const BlockId at = next.back();
            next.pop_back();
            if (requests(at) > 0) return false;
            graph.blocks()[at].for_each_successor(come_to);
        }
    }
    return any;
}

}  // namespace wgrun::check
