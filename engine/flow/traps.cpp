#include "flow/traps.hpp"

#include <algorithm>

#include "isa/effects.hpp"

namespace wgrun::flow {

bool traps(const isa::Step& step) {
    struct Listener final : isa::Effects {
        bool heard = false;
        void trap() override { heard = true; }
    } listener;
    isa::visit_effects(step, listener);
    return listener.heard;
}

std::vector<bool> trapping(const Graph& graph) {
    std::vector<bool> out(graph.blocks().size());
    std::vector<BlockId> left = graph.order();
    while (!left.empty()) {
        const BlockId id = left.back();
        left.pop_back();
        if (out[id]) continue;
        const BasicBlock& block = graph.blocks()[id];
        const auto follows = [&](BlockId next) { return next == no_block || out[next]; };
        out[id] = std::ranges::any_of(block.steps,
                                      [](const isa::Step& step) { return !step.guard && traps(step); }) ||
                  (block.taken != no_block && follows(block.taken) && follows(block.otherwise));
        if (out[id]) left.insert(left.end(), graph.predecessors(id).begin(), graph.predecessors(id).end());
    }
    return out;
}

}  // namespace wgrun::flow
