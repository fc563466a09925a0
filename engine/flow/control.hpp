// What decides whether blocks run. Lists for each block would be as long as the square of the kernel: in a
// loop with n jumps back to its beginning a block depends on all those behind it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "flow/graph.hpp"

namespace wgrun::flow {

/// The arms of branches that decide whether blocks run, each of which is taken out once. One thread uses it
/// at a time.
class Control {
  public:
    /// Of all arms, or of those with this number: 0 is the one that is taken.
    explicit Control(const Graph& graph, int only_arm = both);
    static constexpr int both = -1;

    /// Calls visit(branch, arm) for each arm at the end of the block `branch` that directly decides whether
    /// `block` runs and has not been visited before.
    template <class Visit>
    void take(BlockId block, Visit visit) {
        const Tree& tree = graph_->post_dominator_tree();
        for (std::uint32_t place;
             (place = find(tree.first(block), tree.end(block), tree.depth(block))) != none;) {
            const Arm arm = arms_[place];
            remove(place);
            visit(arm.branch, arm.number);
        }
    }

  private:
    /// An arm decides about its first block and all of that block's post-dominators that are deeper than
    /// `above`.
    struct Arm {
        std::uint32_t first;  ///< number of its first block in the tree
        std::uint32_t above;  ///< depth of the block at which the decision is over
        BlockId branch;
        int number;
    };
    static constexpr std::uint32_t none = UINT32_MAX;

    /// A place in arms_ of one whose first block has a number from `begin` to before `end`, and above <
    /// depth.
    std::uint32_t find(std::uint32_t begin, std::uint32_t end, std::uint32_t depth) const;
    void remove(std::uint32_t place);

    const Graph* graph_;
    std::vector<Arm> arms_;  ///< ordered by `first`
    std::vector<std::uint32_t>
        least_;  ///< of `above`: a binary tree over arms_, whose leaves are its last half
    std::size_t leaves_ = 1;
};

}  // namespace wgrun::flow
