// What follows from the graph that the blocks of a program are: where the lanes of a warp reconverge, loops,
// and what decides which blocks run, whatever the constructs were that the script wrote.
// Cytron, Ferrante, Rosen, Wegman and Zadeck 1991; dominators after
// Cooper, Harvey and Kennedy 2001.
#pragma once

#include <cstdint>
#include <vector>

#include "wgrun/program.hpp"

namespace wgrun::flow {

/// A natural loop: its header dominates all of it, and every iteration begins there.
struct NaturalLoop {
    BlockId header = no_block;
    std::vector<BlockId> blocks;  ///< those of inner loops too, in the order of the text
    int parent = -1;              ///< the loop around it; -1: none
};

/// Whether a block runs depends on which way the end of `block` goes.
struct Dependence {
    BlockId block = no_block;
    int arm = 0;  ///< 0: taken, 1: otherwise
    bool operator==(const Dependence&) const = default;
};

/// Points to the blocks that it was made from. Never changed once made; any thread may read it.
class Graph {
  public:
    explicit Graph(const Program& program) : Graph(program.blocks()) {}
    explicit Graph(const std::vector<BasicBlock>& blocks);

    /// In the order of the text; the kernel begins with the first.
    const std::vector<BasicBlock>& blocks() const { return *blocks_; }
    /// Those that can be reached, in reverse post-order: but for loops, each after all that lead to it.
    const std::vector<BlockId>& order() const { return order_; }
    bool reachable(BlockId block) const { return place_[block] != no_block; }
    /// Those that can be reached.
    const std::vector<BlockId>& predecessors(BlockId block) const { return predecessors_[block]; }

    /// The last block, besides itself, that is on every way to `block`; no_block for the first one.
    BlockId dominator(BlockId block) const { return dominators_[block]; }
    bool dominates(BlockId above, BlockId below) const;
    /// The first block, besides itself, that is on every way from `block` to the end of the kernel; no_block:
    /// the ways end apart.
    BlockId post_dominator(BlockId block) const { return post_dominators_[block]; }
    /// Where lanes that part at the end of `block` are together again: its post-dominator, but for ways that
    /// end earlier than the kernel's text does. no_block: they are not.
    BlockId reconvergence(BlockId block) const { return reconvergences_[block]; }

    /// Outer loops before inner ones.
    const std::vector<NaturalLoop>& loops() const { return loops_; }
    int innermost_loop(BlockId block) const { return loop_of_[block]; }  ///< index; -1: in none
    /// Has every loop a single entry? Those that have more are not in loops().
    bool reducible() const { return reducible_; }

    /// What decides directly whether the block runs.
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
    std::vector<NaturalLoop> loops_;
    std::vector<int> loop_of_;
    std::vector<std::vector<Dependence>> dependences_;
    bool reducible_ = true;
};

}  // namespace wgrun::flow
