// The control-flow graph: random graphs, compared with the definitions of its properties.
#include "flow/graph.hpp"

#include <algorithm>
#include <random>

#include "tests/catch.hpp"

using namespace wgrun;
using namespace wgrun::flow;

namespace {

using End = BasicBlock::End;

BasicBlock jump(BlockId to) {
    BasicBlock block;
    block.end = End::jump;
    block.taken = to;
    return block;
}
BasicBlock branch(BlockId taken, BlockId otherwise) {
    BasicBlock block;
    block.end = End::branch;
    block.taken = taken;
    block.otherwise = otherwise;
    return block;
}
BasicBlock leave() { return {}; }

/// The blocks that can be reached from `from` without going through `without`.
std::vector<bool> reached(const std::vector<BasicBlock>& blocks, BlockId from, BlockId without) {
    std::vector<bool> out(blocks.size());
    std::vector<BlockId> left;
    if (from != without) left.push_back(from);
    while (!left.empty()) {
        const BlockId block = left.back();
        left.pop_back();
        if (out[block]) continue;
        out[block] = true;
        blocks[block].for_each_successor([&](BlockId to, int) {
            if (to != without) left.push_back(to);
        });
    }
    return out;
}

bool ends(const std::vector<BasicBlock>& blocks, BlockId from, BlockId without) {
    const std::vector<bool> reaches = reached(blocks, from, without);
    for (BlockId block = 0; block < blocks.size(); ++block)
        if (reaches[block] && blocks[block].end == End::exit) return true;
    return false;
}

std::vector<BasicBlock> random_blocks(std::mt19937& random) {
    const auto count = 1 + random() % 12;
    std::vector<BasicBlock> blocks;
    for (std::size_t i = 0; i < count; ++i) {
        const auto any = [&] { return static_cast<BlockId>(random() % count); };
        const auto kind = random() % 5;
        blocks.push_back(kind == 0 ? leave() : kind < 3 ? jump(any()) : branch(any(), any()));
    }
    return blocks;
}

}  // namespace

TEST_CASE("dominators and post-dominators of random graphs are on every way") {
    std::mt19937 random(1);
    for (int round = 0; round < 3000; ++round) {
        const std::vector<BasicBlock> blocks = random_blocks(random);
        const Graph graph(blocks);
        const std::vector<bool> reachable = reached(blocks, 0, no_block);
        for (BlockId a = 0; a < blocks.size(); ++a) {
            REQUIRE(graph.reachable(a) == reachable[a]);
            if (!reachable[a]) continue;
            const std::vector<bool> without_a = reached(blocks, 0, a);
            for (BlockId b = 0; b < blocks.size(); ++b)
                if (reachable[b]) REQUIRE(graph.dominates(a, b) == !without_a[b]);
            // Post-dominators are defined where every block can reach an end.
            bool all_end = true;
            for (BlockId b = 0; b < blocks.size(); ++b) all_end &= !reachable[b] || ends(blocks, b, no_block);
            if (!all_end) continue;
            std::vector<bool> above(blocks.size());
            for (BlockId at = graph.post_dominator(a); at != no_block; at = graph.post_dominator(at))
                above[at] = true;
            for (BlockId b = 0; b < blocks.size(); ++b)
                if (b != a && reachable[b]) REQUIRE(above[b] == !ends(blocks, a, b));
        }
    }
}

TEST_CASE("a block depends on an arm that leads to it for sure, of a branch that may go past it") {
    std::mt19937 random(2);
    for (int round = 0; round < 3000; ++round) {
        const std::vector<BasicBlock> blocks = random_blocks(random);
        const Graph graph(blocks);
        bool all_end = true;
        for (BlockId b = 0; b < blocks.size(); ++b)
            all_end &= !graph.reachable(b) || ends(blocks, b, no_block);
        if (!all_end) continue;
        const auto post_dominates = [&](BlockId above, BlockId below) {
            return above == below || !ends(blocks, below, above);
        };
        for (BlockId a = 0; a < blocks.size(); ++a) {
            if (!graph.reachable(a) || blocks[a].end != End::branch) continue;
            blocks[a].for_each_successor([&](BlockId to, int arm) {
                for (BlockId b = 0; b < blocks.size(); ++b) {
                    if (!graph.reachable(b)) continue;
                    const auto& found = graph.dependences(b);
                    const bool depends = post_dominates(b, to) && (b == a || !post_dominates(b, a));
                    REQUIRE((std::ranges::find(found, Dependence{a, arm}) != found.end()) == depends);
                }
            });
        }
    }
}

TEST_CASE("loops: their headers, what is inside, and which are inside others") {
    // for (0) { 1; for (2) { 3 }; 4 } 5
    const std::vector<BasicBlock> graph_blocks{jump(1), branch(2, 6), jump(3), branch(4, 5),
                                               jump(3), jump(1),      leave()};
    const Graph graph(graph_blocks);
    REQUIRE(graph.loops().size() == 2);
    CHECK(std::ranges::all_of(graph.loops(), &Loop::natural));
    CHECK(graph.loops()[0].header == 1);
    CHECK(graph.loops()[0].blocks == std::vector<BlockId>{1, 2, 3, 4, 5});
    CHECK(graph.loops()[0].parent == -1);
    CHECK(graph.loops()[1].header == 3);
    CHECK(graph.loops()[1].blocks == std::vector<BlockId>{3, 4});
    CHECK(graph.loops()[1].parent == 0);
    CHECK(graph.innermost_loop(4) == 1);
    CHECK(graph.innermost_loop(5) == 0);
    CHECK(graph.innermost_loop(6) == -1);
    // There are two ways into a loop: its header is the block that is reached first, but it does not dominate
    // the rest.
    const std::vector<BasicBlock> irreducible_blocks{branch(1, 2), jump(2), branch(1, 3), leave()};
    const Graph irreducible(irreducible_blocks);
    REQUIRE(irreducible.loops().size() == 1);
    CHECK_FALSE(irreducible.loops()[0].natural);
    CHECK(irreducible.loops()[0].blocks == std::vector<BlockId>{1, 2});
}

TEST_CASE("ways that end early do not keep others from meeting again") {
    // 0: if (a) { 1: if (b) 2: exit; 3 } 4
    const std::vector<BasicBlock> graph_blocks{branch(1, 4), branch(2, 3), leave(), jump(4), leave()};
    const Graph graph(graph_blocks);
    CHECK(graph.post_dominator(0) == no_block);
    CHECK(graph.reconvergence(0) == 4);
    CHECK(graph.reconvergence(1) == 3);
    CHECK(graph.dependences(4) == std::vector<Dependence>{{0, 1}, {1, 1}});
    // A loop that never ends has no place to meet at.
    const std::vector<BasicBlock> forever_blocks{branch(1, 2), jump(1), leave()};
    const Graph forever(forever_blocks);
    CHECK(forever.reconvergence(0) == 2);
    CHECK(forever.dependences(2).empty());  // of all ways that end
    const std::vector<BasicBlock> only_blocks{jump(0)};
    const Graph only(only_blocks);
    CHECK(only.reconvergence(0) == no_block);
}
