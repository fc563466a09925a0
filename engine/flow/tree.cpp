#include "flow/tree.hpp"

namespace wgrun::flow {

Tree::Tree(const std::vector<BlockId>& parents)
    : first_(parents.size()), end_(parents.size()), depth_(parents.size()) {
    const std::size_t count = parents.size();
    // Children as lists: the first one of each block, and the next one of the same parent. The last are the
    // root's.
    std::vector<BlockId> child(count + 1, no_block), sibling(count, no_block);
    for (auto block = static_cast<BlockId>(count); block-- > 0;) {
        BlockId& head = child[parents[block] == no_block ? count : parents[block]];
        sibling[block] = head;
        head = block;
    }
    // Not recursive: a tree may be as deep as a kernel is long.
    std::uint32_t number = 0;
    BlockId at = child[count];
    while (at != no_block) {
        const BlockId parent = parents[at];
        first_[at] = number++;
        depth_[at] = parent == no_block ? 1 : depth_[parent] + 1;
        BlockId next = child[at];
        while (next == no_block && at != no_block) {
            end_[at] = number;
            next = sibling[at];
            if (next == no_block) at = parents[at];
        }
        at = next;
    }
}

}  // namespace wgrun::flow
