// A tree over the blocks of a graph: of dominators, or of post-dominators.
#pragma once

#include <vector>

#include "wgrun/program.hpp"

namespace wgrun::flow {

/// Answers in constant time which block is above which. It is immutable; any thread may read it.
class Tree {
  public:
    Tree() = default;
    /// The parent of each block; no_block: it stands below the root, which is no block, or it is the root's
    /// own.
    explicit Tree(const std::vector<BlockId>& parents);

    /// Whether `above` is on the way from `below` to the root; each block is above itself, no_block above
    /// all.
    bool is_above(BlockId above, BlockId below) const {
        return above == no_block ||
               (below != no_block && first_[above] <= first_[below] && first_[below] < end_[above]);
    }
    /// The number of blocks on the way to the root; 0 for no_block.
    std::uint32_t depth(BlockId block) const { return block == no_block ? 0 : depth_[block]; }
    /// Blocks are numbered so that those below one, and itself, have the numbers from first() to before
    /// end().
    std::uint32_t first(BlockId block) const { return first_[block]; }
    std::uint32_t end(BlockId block) const { return end_[block]; }
    std::size_t size() const { return first_.size(); }

  private:
    std::vector<std::uint32_t> first_, end_, depth_;
};

}  // namespace wgrun::flow
