#include "flow/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "wgrun/cancellation.hpp"

namespace wgrun::flow {

Graph::Graph(const std::vector<BasicBlock>& blocks) : blocks_(&blocks) {
    number();
    std::vector<bool> exits(blocks.size());
    BlockId last = no_block;
    for (BlockId block = 0; block < blocks.size(); ++block)
        if (reachable(block) && blocks[block].end == BasicBlock::End::exit) exits[last = block] = true;
    post_dominators_ = post_dominators(exits);
    post_dominator_tree_ = Tree(post_dominators_);
    if (last != no_block) {
        exits.assign(blocks.size(), false);
        exits[last] = true;
    }
    reconvergences_ = post_dominators(std::move(exits));
    find_loops();
}

namespace {

/// A depth-first search. It is not recursive, since a kernel may have as many blocks as instructions.
struct Search {
    std::vector<BlockId> order;         ///< the blocks that it reaches, in reverse post-order
    std::vector<BlockId> entered;       ///< the same as it enters them
    std::vector<std::uint32_t> from;    ///< of each in `entered`, where it came from: a place there
    std::vector<std::uint32_t> number;  ///< of each block its place in `entered`
    static constexpr auto unreached = UINT32_MAX;

    /// From `first`, along successors(block, visit).
    template <class Successors>
    Search(std::size_t count, BlockId first, Successors successors) : number(count, unreached) {
        struct Visit {
            BlockId block;
            std::vector<BlockId> left;  ///< successors to visit, the last one first
        };
        std::vector<Visit> stack;
        const auto enter = [&](BlockId block, std::uint32_t parent) {
            number[block] = static_cast<std::uint32_t>(entered.size());
            entered.push_back(block);
            from.push_back(parent);
            stack.push_back({block, {}});
            successors(block, [&](BlockId to) { stack.back().left.push_back(to); });
        };
        enter(first, 0);
        while (!stack.empty()) {
            Visit& top = stack.back();
            if (top.left.empty()) {
                order.push_back(top.block);
                stack.pop_back();
                continue;
            }
            const BlockId to = top.left.back();
            top.left.pop_back();
            if (number[to] == unreached) enter(to, number[top.block]);
        }
        std::ranges::reverse(order);
    }
};

/// Of the blocks that have been linked to those above them, in the tree of a search: on the way up to the
/// first that is not, the one with the least semidominator. Ways that were gone are made shorter.
class Ways {
  public:
    explicit Ways(const std::vector<std::uint32_t>& semi)
        : semi_(semi), above_(semi.size()), least_(semi.size()) {
        for (std::uint32_t i = 0; i < semi.size(); ++i) above_[i] = least_[i] = i;
    }
    void link(std::uint32_t at, std::uint32_t to) { above_[at] = to; }
    std::uint32_t least(std::uint32_t at) {
        for (std::uint32_t up = at; above_[up] != above_[above_[up]]; up = above_[up]) way_.push_back(up);
        for (; !way_.empty(); way_.pop_back()) {
            const std::uint32_t low = way_.back(), next = above_[low];
            if (semi_[least_[next]] < semi_[least_[low]]) least_[low] = least_[next];
            above_[low] = above_[next];
        }
        return least_[at];
    }

  private:
    const std::vector<std::uint32_t>& semi_;
    std::vector<std::uint32_t> above_, least_, way_;
};

/// Immediate dominators of the blocks that the search has reached; the first block has none. In time that is
/// proportional to the edges, but for a logarithm (Lengauer and Tarjan 1979).
template <class Predecessors>
std::vector<BlockId> immediate_dominators(const Search& search, Predecessors predecessors) {
    const auto count = static_cast<std::uint32_t>(search.entered.size());
    std::vector<std::uint32_t> semi(count), above(count);
    for (std::uint32_t i = 0; i < count; ++i) semi[i] = i;
    Ways ways(semi);
    std::vector<std::vector<std::uint32_t>> dominated(count);  // by their semidominators
    for (std::uint32_t at = count; at-- > 1;) {
        Cancellation::poll();
        predecessors(search.entered[at], [&](BlockId block) {
            const std::uint32_t from = search.number[block];
            if (from != Search::unreached) semi[at] = std::min(semi[at], semi[ways.least(from)]);
        });
        dominated[semi[at]].push_back(at);
        const std::uint32_t parent = search.from[at];
        ways.link(at, parent);
        for (const std::uint32_t below : std::exchange(dominated[parent], {})) {
            const std::uint32_t least = ways.least(below);
            above[below] = semi[least] < parent ? least : parent;
        }
    }
    std::vector<BlockId> out(search.number.size(), no_block);
    for (std::uint32_t at = 1; at < count; ++at) {
        if (above[at] != semi[at]) above[at] = above[above[at]];
        out[search.entered[at]] = search.entered[above[at]];
    }
    return out;
}

}  // namespace

void Graph::number() {
    const Search search(blocks().size(), 0, [&](BlockId block, auto visit) {
        blocks()[block].for_each_successor([&](BlockId to, int) { visit(to); });
    });
    order_ = search.order;
    place_.assign(blocks().size(), no_block);
    predecessors_.resize(blocks().size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
        place_[order_[i]] = static_cast<BlockId>(i);
        blocks()[order_[i]].for_each_successor(
            [&](BlockId to, int) { predecessors_[to].push_back(order_[i]); });
    }
    dominators_ = immediate_dominators(search, [&](BlockId block, auto visit) {
        for (BlockId from : predecessors_[block]) visit(from);
    });
    dominator_tree_ = Tree(dominators_);
}

/// As dominators, but from the end: all `exits` lead to one more block. Of blocks that never reach an exit,
/// the last ones count as exits, but not for blocks before them that may reach a real one.
std::vector<BlockId> Graph::post_dominators(std::vector<bool> exits) const {
    const auto end = static_cast<BlockId>(blocks().size());
    std::vector<bool> ends(blocks().size());
    const auto reach = [&](BlockId exit) {
        std::vector<BlockId> left{exit};
        ends[exit] = true;
        while (!left.empty()) {
            const BlockId block = left.back();
            left.pop_back();
            for (BlockId from : predecessors_[block])
                if (!ends[from]) {
                    ends[from] = true;
                    left.push_back(from);
                }
        }
    };
    for (BlockId block = 0; block < end; ++block)
        if (exits[block]) reach(block);
    const std::vector<bool> really = ends;
    for (auto block = order_.rbegin(); block != order_.rend(); ++block)
        if (!ends[*block]) {
            exits[*block] = true;
            reach(*block);
        }
    const auto counts = [&](BlockId from, BlockId to) { return really[to] || !really[from]; };
    const Search search(blocks().size() + 1, end, [&](BlockId block, auto visit) {
        for (BlockId from = 0; block == end && from < end; ++from)
            if (exits[from]) visit(from);
        if (block == end) return;
        for (BlockId from : predecessors_[block])
            if (counts(from, block)) visit(from);
    });
    std::vector<BlockId> found = immediate_dominators(search, [&](BlockId block, auto visit) {
        blocks()[block].for_each_successor([&](BlockId to, int) {
            if (counts(block, to)) visit(to);
        });
        if (exits[block]) visit(end);
    });
    found.resize(blocks().size());
    std::ranges::replace(found, end, no_block);
    return found;
}

void Graph::refuse_depth(BlockId header) const {
    const BasicBlock& block = blocks()[header];
    throw ArgumentError(
        plain_error(fmt::format("this loop is inside {} others: loops may be nested {} deep", max_loop_depth,
                                max_loop_depth),
                    "fewer loops inside each other; jumps back and forth between labels count, too",
                    block.steps.empty() ? block.label.where ? block.label.where : block.where
                                        : block.steps.front().where));
}

/// The strongly connected components and, inside each, those of the rest without its header. In reverse
/// post-order an edge between two components goes forward: the first block of a component is its header, and
/// the others are the blocks from which a path leads there (Bourdoncle 1993: a weak topological ordering).
void Graph::find_loops() {
    struct Part {
        std::vector<BlockId> blocks;  ///< in reverse post-order
        int loop;                     ///< the loop around them
        int depth;                    ///< the number of loops around them
    };
    constexpr std::size_t done = SIZE_MAX;
    loop_of_.assign(blocks().size(), no_loop);
    std::vector<Part> parts{{order_, no_loop, 0}};
    std::vector<std::size_t> part_of(blocks().size(), 0);
    for (std::size_t part = 0; part < parts.size(); ++part) {
        const std::vector<BlockId> among = std::move(parts[part].blocks);
        for (BlockId header : among) {
            if (part_of[header] != part) continue;
            Cancellation::poll();
            bool again = false;
            std::vector<BlockId> inside, left{header};
            part_of[header] = parts.size();
            while (!left.empty()) {
                const BlockId block = left.back();
                left.pop_back();
                inside.push_back(block);
                for (BlockId from : predecessors_[block]) {
                    again = again || from == header;
                    if (part_of[from] != part) continue;
                    part_of[from] = parts.size();
                    left.push_back(from);
                }
            }
            part_of[header] = done;
            if (inside.size() == 1 && !again) continue;
            if (parts[part].depth == max_loop_depth) refuse_depth(header);
            Loop loop{header, inside, parts[part].loop};
            std::ranges::sort(loop.blocks);
            for (BlockId block : inside) {
                loop_of_[block] = static_cast<int>(loops_.size());
                loop.natural = loop.natural && dominates(header, block);
            }
            std::erase(inside, header);
            std::ranges::sort(inside, {}, [&](BlockId block) { return place_[block]; });
            parts.push_back({std::move(inside), static_cast<int>(loops_.size()), parts[part].depth + 1});
            loops_.push_back(std::move(loop));
        }
    }
}

bool Graph::inside(BlockId block, int loop) const {
    int at = loop_of_[block];
    while (at != no_loop && at != loop) at = loops_[static_cast<std::size_t>(at)].parent;
    return at == loop;
}

}  // namespace wgrun::flow
