// Analyses of the control-flow graph of a program's blocks: where the lanes of a warp
// reconverge, loops, and what decides which blocks run, independent of the script's constructs.
// Cytron, Ferrante, Rosen, Wegman and Zadeck 1991; dominators after Cooper, Harvey and Kennedy
// 2001.
#pragma once

#include <cstdint>
#include <vector>

#include "flow/tree.hpp"
#include "wgrun/program.hpp"

namespace wgrun::flow {

/// Blocks from each of which a path leads back to itself.
struct Loop {
    BlockId header = no_block;    ///< the first of them in reverse post-order
    std::vector<BlockId> blocks;  ///< including those of inner loops, in text order
    int parent = -1;              ///< the enclosing loop; no_loop: none
    bool natural = true;          ///< the header dominates all of it, so every iteration begins there
};
inline constexpr int no_loop = -1;

/// How deep loops may be nested: what is computed of each block may take as many steps as loops are around
/// it.
inline constexpr int max_loop_depth = 256;

/// Points to the blocks that it was made from. It is immutable; any thread may read it. The constructor
/// throws ArgumentError for loops that are nested more than max_loop_depth deep.
class Graph {
  public:
    explicit Graph(const Program& program) : Graph(program.blocks()) {}
    explicit Graph(const std::vector<BasicBlock>& blocks);

    /// The blocks in text order; the kernel begins with the first.
    const std::vector<BasicBlock>& blocks() const { return *blocks_; }
    /// The reachable blocks in reverse post-order: except in loops, each after all its predecessors.
    const std::vector<BlockId>& order() const { return order_; }
    bool reachable(BlockId block) const { return place_[block] != no_block; }
    /// The reachable blocks.
    const std::vector<BlockId>& predecessors(BlockId block) const { return predecessors_[block]; }

    /// The last block, besides itself, on every path to `block`; no_block for the first block.
    BlockId dominator(BlockId block) const { return dominators_[block]; }
    bool dominates(BlockId above, BlockId below) const {
        return above != no_block && dominator_tree_.is_above(above, below);
    }
    /// The first block, besides itself, on every path from `block` to the end of the kernel; no_block: the
    /// paths end in different blocks.
    BlockId post_dominator(BlockId block) const { return post_dominators_[block]; }
    const Tree& post_dominator_tree() const { return post_dominator_tree_; }
    /// Where lanes that diverge at the end of `block` reconverge: its post-dominator, ignoring paths that end
    /// before the end of the kernel's text. no_block: they do not.
    BlockId reconvergence(BlockId block) const { return reconvergences_[block]; }

    /// The loops, outer ones before inner ones.
    const std::vector<Loop>& loops() const { return loops_; }
    int innermost_loop(BlockId block) const { return loop_of_[block]; }  ///< index; no_loop: in none
    bool inside(BlockId block, int loop) const;

  private:
    void number();
    std::vector<BlockId> post_dominators(std::vector<bool> exits) const;
    void find_loops();
    [[noreturn]] void refuse_depth(BlockId header) const;

    const std::vector<BasicBlock>* blocks_;
    std::vector<BlockId> order_, place_;  ///< place_: in order_; no_block: cannot be reached
    std::vector<std::vector<BlockId>> predecessors_;
    std::vector<BlockId> dominators_, post_dominators_, reconvergences_;
    Tree dominator_tree_, post_dominator_tree_;
    std::vector<Loop> loops_;
    std::vector<int> loop_of_;
};

}  // namespace wgrun::flow
