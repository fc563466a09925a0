// The control-flow graph: random graphs, compared with the definitions of its properties.
#include "flow/graph.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "flow/control.hpp"
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

/// The branches and arms that decide whether a block runs.
std::set<std::pair<BlockId, int>> dependences_of(const Graph& graph, BlockId block) {
    std::set<std::pair<BlockId, int>> out;
    Control control(graph);
    control.take(block, [&](BlockId branch, int arm) { REQUIRE(out.emplace(branch, arm).second); });
    control.take(block, [](BlockId, int) { FAIL("an arm is taken out once"); });
    return out;
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
            // Post-dominators are defined of blocks that can reach an end, whatever others do.
            if (!ends(blocks, a, no_block)) continue;
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
        std::map<BlockId, std::set<std::pair<BlockId, int>>> dependences;
        for (BlockId b = 0; b < blocks.size(); ++b)
            if (graph.reachable(b)) dependences[b] = dependences_of(graph, b);
        const auto post_dominates = [&](BlockId above, BlockId below) {
            return above == below || !ends(blocks, below, above);
        };
        for (BlockId a = 0; a < blocks.size(); ++a) {
            if (!graph.reachable(a) || blocks[a].end != End::branch) continue;
            blocks[a].for_each_successor([&](BlockId to, int arm) {
                for (BlockId b = 0; b < blocks.size(); ++b) {
                    if (!graph.reachable(b)) continue;
                    const bool depends = post_dominates(b, to) && (b == a || !post_dominates(b, a));
                    REQUIRE(dependences[b].contains({a, arm}) == depends);
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
    CHECK(dependences_of(graph, 4) == std::set<std::pair<BlockId, int>>{{0, 1}, {1, 1}});
    // A loop that never ends has no place to meet at.
    const std::vector<BasicBlock> forever_blocks{branch(1, 2), jump(1), leave()};
    const Graph forever(forever_blocks);
    CHECK(forever.reconvergence(0) == 2);
    CHECK(dependences_of(forever, 2).empty());  // of all ways that end
    const std::vector<BasicBlock> only_blocks{jump(0)};
    const Graph only(only_blocks);
    CHECK(only.reconvergence(0) == no_block);
}

TEST_CASE("an arm that has been taken out for one block is not there for another") {
    // do { 0: if (a) continue; 1: } while (b); 2
    const std::vector<BasicBlock> blocks{branch(0, 1), branch(0, 2), leave()};
    const Graph graph(blocks);
    Control control(graph), not_taken(graph, 1);
    std::set<BlockId> found;
    const auto note = [&](BlockId branch, int) { CHECK(found.insert(branch).second); };
    control.take(1, note);
    CHECK(found == std::set<BlockId>{1});
    control.take(0, note);
    CHECK(found == std::set<BlockId>{0, 1});
    not_taken.take(0, note);
    CHECK(found.size() == 2);
}

TEST_CASE("graphs of many blocks take time and memory in proportion") {
    constexpr BlockId many = 100000;
    // A loop whose blocks each may begin the next iteration: they depend on all behind them. Endless loops:
    // none of them reaches the end.
    std::vector<BasicBlock> continues, endless;
    for (BlockId i = 0; i < many; ++i) continues.push_back(branch(0, i + 1));
    continues.push_back(leave());
    for (BlockId i = 0; i < many; ++i) {
        endless.push_back(branch(2 * i + 1, i + 1 < many ? 2 * i + 2 : 2 * many));
        endless.push_back(jump(2 * i + 1));
    }
    endless.push_back(leave());
    const Graph loop(continues), forever(endless);
    CHECK(loop.post_dominator(0) == 1);
    CHECK(forever.loops().size() == many);
    std::size_t arms = 0;
    Control control(loop);
    for (BlockId i = 0; i < many; ++i) control.take(i, [&](BlockId, int) { ++arms; });
    CHECK(arms == many);
}

TEST_CASE("loops may be nested max_loop_depth deep") {
    const auto nest = [](int depth) {
        std::vector<BasicBlock> blocks;
        for (int i = 0; i < depth; ++i) blocks.push_back(jump(static_cast<BlockId>(i + 1)));
        for (int i = 0; i < depth; ++i)
            blocks.push_back(
                branch(static_cast<BlockId>(depth - 1 - i), static_cast<BlockId>(depth + i + 1)));
        blocks.push_back(leave());
        return blocks;
    };
    const std::vector<BasicBlock> most = nest(max_loop_depth), more = nest(max_loop_depth + 1),
                                  deep = nest(50000);
    CHECK(Graph(most).loops().size() == max_loop_depth);
    CHECK_THROWS_AS(Graph(more), ArgumentError);
    CHECK_THROWS_AS(Graph(deep), ArgumentError);
}
