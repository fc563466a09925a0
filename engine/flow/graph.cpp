#include "flow/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "wgrun/cancellation.hpp"

namespace wgrun::flow {

Graph::Graph(const std::vector<BasicBlock>& blocks) : blocks_(&blocks) {
    number();
    find_dominators();
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

/// Reverse post-order from `first`, along successors(block, visit). It is not recursive, since a kernel may
/// have as many blocks as instructions.
template <class Successors>
std::vector<BlockId> reverse_post_order(std::size_t count, BlockId first, Successors successors) {
    struct Visit {
        BlockId block;
        std::vector<BlockId> left;  ///< successors to visit, the last one first
    };
    std::vector<BlockId> order;
    std::vector<bool> seen(count);
    std::vector<Visit> stack;
    const auto enter = [&](BlockId block) {
        seen[block] = true;
        stack.push_back({block, {}});
        successors(block, [&](BlockId to) { stack.back().left.push_back(to); });
    };
    enter(first);
    while (!stack.empty()) {
        Visit& top = stack.back();
        if (top.left.empty()) {
            order.push_back(top.block);
            stack.pop_back();
            continue;
        }
        const BlockId to = top.left.back();
        top.left.pop_back();
        if (!seen[to]) enter(to);
    }
    std::ranges::reverse(order);
    return order;
}

/// Immediate dominators of the blocks in `order`, a reverse post-order; the first block is its own.
template <class Predecessors>
std::vector<BlockId> immediate_dominators(std::size_t count, const std::vector<BlockId>& order,
                                          Predecessors predecessors) {
    std::vector<BlockId> place(count, no_block), above(count, no_block);
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<BlockId>(i);
    above[order.front()] = order.front();
    const auto meet = [&](BlockId a, BlockId b) {
        while (a != b) {
            while (place[a] > place[b]) a = above[a];
            while (place[b] > place[a]) b = above[b];
        }
        return a;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 1; i < order.size(); ++i) {
            Cancellation::poll();
            BlockId found = no_block;
            predecessors(order[i], [&](BlockId from) {
                if (above[from] == no_block) return;
                found = found == no_block ? from : meet(found, from);
            });
            changed = changed || above[order[i]] != found;
            above[order[i]] = found;
        }
    }
    return above;
}

}  // namespace

void Graph::number() {
    order_ = reverse_post_order(blocks().size(), 0, [&](BlockId block, auto visit) {
        blocks()[block].for_each_successor([&](BlockId to, int) { visit(to); });
    });
    place_.assign(blocks().size(), no_block);
    predecessors_.resize(blocks().size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
        place_[order_[i]] = static_cast<BlockId>(i);
        blocks()[order_[i]].for_each_successor(
            [&](BlockId to, int) { predecessors_[to].push_back(order_[i]); });
    }
}

void Graph::find_dominators() {
    dominators_ = immediate_dominators(blocks().size(), order_, [&](BlockId block, auto visit) {
        for (BlockId from : predecessors_[block]) visit(from);
    });
    dominators_[0] = no_block;
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
    const std::vector<BlockId> order =
        reverse_post_order(blocks().size() + 1, end, [&](BlockId block, auto visit) {
            if (block != end) {
                for (BlockId from : predecessors_[block]) visit(from);
                return;
            }
            for (BlockId from = 0; from < end; ++from)
                if (exits[from]) visit(from);
        });
    std::vector<BlockId> found =
        immediate_dominators(blocks().size() + 1, order, [&](BlockId block, auto visit) {
            blocks()[block].for_each_successor([&](BlockId to, int) {
                if (really[to] || !really[block]) visit(to);
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
