// Analyses of the control-flow graph of a program's blocks: where the lanes of a warp
// reconverge, loops, and what decides which blocks run, independent of the script's constructs.
// Cytron, Ferrante, Rosen, Wegman and Zadeck 1991; dominators after Cooper, Harvey and Kennedy
// 2001.
#pragma once

#include <cstdint>
#include <vector>

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

/// Whether a block runs depends on the direction of the branch at the end of `block`.
struct Dependence {
    BlockId block = no_block;
    int arm = 0;  ///< 0: taken, 1: not taken
    bool operator==(const Dependence&) const = default;
};

/// Points to the blocks that it was made from. It is immutable; any thread may read it.
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
    bool dominates(BlockId above, BlockId below) const;
    /// The first block, besides itself, on every path from `block` to the end of the kernel; no_block: the
    /// paths end in different blocks.
    BlockId post_dominator(BlockId block) const { return post_dominators_[block]; }
    /// Where lanes that diverge at the end of `block` reconverge: its post-dominator, ignoring paths that end
    /// before the end of the kernel's text. no_block: they do not.
    BlockId reconvergence(BlockId block) const { return reconvergences_[block]; }

    /// The loops, outer ones before inner ones.
    const std::vector<Loop>& loops() const { return loops_; }
    int innermost_loop(BlockId block) const { return loop_of_[block]; }  ///< index; no_loop: in none
    bool inside(BlockId block, int loop) const;

    /// The branches that directly decide whether the block runs.
    const std::vector<Dependence>& dependences(BlockId block) const { return dependences_[block]; }

  private:
    void number();
    void find_dominators();
    std::vector<BlockId> post_dominators(std::vector<bool> exits) const;
    void find_loops();
    void find_dependences();

    const std::vector<BasicBlock>* blocks_;
    std::vector<BlockId> order_, place_;  ///< place_: in order_; no_block: cannot be reached
    std::vector<std::vector<BlockId>> predecessors_;
    std::vector<BlockId> dominators_, post_dominators_, reconvergences_;
    std::vector<Loop> loops_;
    std::vector<int> loop_of_;
    std::vector<std::vector<Dependence>> dependences_;
};

}  // namespace wgrun::flow
