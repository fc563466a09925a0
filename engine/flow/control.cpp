#include "flow/control.hpp"

#include <algorithm>

namespace wgrun::flow {

Control::Control(const Graph& graph, int only_arm) : graph_(&graph) {
    const Tree& tree = graph.post_dominator_tree();
    for (const BlockId id : graph.order()) {
        const BasicBlock& block = graph.blocks()[id];
        if (block.end != BasicBlock::End::branch) continue;
        block.for_each_successor([&](BlockId to, int arm) {
            const BlockId over = graph.post_dominator(id);
            if (to == over || (only_arm != both && arm != only_arm)) return;
            // The post-dominator of a block from which some paths never end need not be one of its arms.
            const std::uint32_t above = tree.is_above(over, to) ? tree.depth(over) : 0;
            arms_.push_back({tree.first(to), above, id, arm});
        });
    }
    std::ranges::sort(arms_, {}, &Arm::first);
    while (leaves_ < arms_.size()) leaves_ *= 2;
    least_.assign(2 * leaves_, none);
    for (std::size_t i = 0; i < arms_.size(); ++i) least_[leaves_ + i] = arms_[i].above;
    for (std::size_t i = leaves_; i-- > 1;) least_[i] = std::min(least_[2 * i], least_[2 * i + 1]);
}

std::uint32_t Control::find(std::uint32_t begin, std::uint32_t end, std::uint32_t depth) const {
    const auto place = [&](std::uint32_t number) {
        return static_cast<std::size_t>(std::ranges::lower_bound(arms_, number, {}, &Arm::first) -
                                        arms_.begin());
    };
    // The nodes that cover the places from left to right; below one of them is the least.
    for (std::size_t left = place(begin) + leaves_, right = place(end) + leaves_; left < right;
         left /= 2, right /= 2) {
        for (std::size_t node : {left % 2 == 1 ? left++ : 0, right % 2 == 1 ? --right : 0}) {
            if (node == 0 || least_[node] >= depth) continue;
            while (node < leaves_) node = least_[2 * node] < depth ? 2 * node : 2 * node + 1;
            return static_cast<std::uint32_t>(node - leaves_);
        }
    }
    return none;
}

void Control::remove(std::uint32_t place) {
    std::size_t node = leaves_ + place;
    least_[node] = none;
    while ((node /= 2) > 0) least_[node] = std::min(least_[2 * node], least_[2 * node + 1]);
}

}  // namespace wgrun::flow
