// Programs whose graph cannot come from the loops and branches of a script.
#include <random>

#include "flow/graph.hpp"
#include "tests/catch.hpp"
#include "tests/unit/check/kit.hpp"

using namespace kit;

TEST_CASE("graphs: what a loop with two entries lacks is found, and nothing else") {
    for (const bool fenced : {false, true}) {
        Ready k;
        Builder& b = k.builder();
        const int first = b.label(), second = b.label();
        const Reg middle = k.uniform(), again = k.uniform();
        b.jump(second, middle);
        b.place(first);
        k.zero(k.acc);
        const int written = k.line();
        b.place(second);
        if (fenced) k.fence();
        const int issued = k.go(Kernel::imm(1));
        k.commit();
        k.wait(0);
        b.jump(first, again);
        const Findings found = k.check();
        INFO(written << " " << issued);
        const bool missing = std::ranges::find(found, Found{"WG-FENCE-01", issued}) != found.end();
        CHECK(missing == !fenced);
    }
}

TEST_CASE("graphs: a register is unwritten where no way leads from a write to it") {
    std::mt19937 random(7);
    int irreducible = 0;
    for (int round = 0; round < 400; ++round) {
        const auto count = static_cast<BlockId>(2 + random() % 9);
        Kernel k;
        Builder& b = k.builder();
        const Reg n = k.n();
        std::vector<int> labels;
        std::vector<Reg> regs;
        for (BlockId id = 0; id < count; ++id) {
            labels.push_back(b.label());
            regs.push_back(b.reg(Type::u32));
        }
        // Each block reads its own register, and then writes others.
        std::vector<int> reads;
        std::vector<std::vector<BlockId>> writes(count), next(count);
        for (BlockId id = 0; id < count; ++id) {
            b.place(labels[id]);
            k.add(regs[id], Kernel::imm(1));
            reads.push_back(k.line());
            for (BlockId other = 0; other < count; ++other) {
                if (random() % count != 0) continue;
                k.set(regs[other], 3);
                writes[id].push_back(other);
            }
            const auto any = [&] { return static_cast<BlockId>(random() % count); };
            const auto kind = random() % 6;
            if (kind == 0 || id + 1 == count) {
                b.leave(Leave::kernel);
            } else if (kind == 1) {
                next[id] = {any()};
                b.jump(labels[next[id][0]]);
            } else {
                next[id] = {any(), id + 1};
                b.jump(labels[next[id][0]], k.compare("gt", n, Kernel::imm(static_cast<int>(id))));
            }
        }
        const Program program = b.finish();
        const flow::Graph graph(program);
        // The program has one block before these; it holds the parameter. Values from later iterations of a
        // loop are too late for the first one.
        const auto block_of = [](BlockId id) { return id + 1; };
        const auto again = [&](BlockId from, BlockId to, BlockId reader) {
            for (int loop = 0; loop < static_cast<int>(graph.loops().size()); ++loop)
                if (graph.loops()[static_cast<std::size_t>(loop)].header == block_of(to) &&
                    graph.inside(block_of(from), loop) && graph.inside(block_of(reader), loop))
                    return true;
            return false;
        };
        const auto reached = [&](BlockId from, bool behind, BlockId reader) {
            std::vector<bool> out(count);
            std::vector<BlockId> left{from};
            const auto follow = [&](BlockId id) {
                for (BlockId to : next[id])
                    if (!again(id, to, reader)) left.push_back(to);
            };
            if (behind) {
                left.clear();
                follow(from);
            }
            while (!left.empty()) {
                const BlockId id = left.back();
                left.pop_back();
                if (out[id]) continue;
                out[id] = true;
                follow(id);
            }
            return out;
        };
        Findings want;
        for (BlockId reader = 0; reader < count; ++reader) {
            const std::vector<bool> from_start = reached(0, false, reader);
            bool unwritten = graph.reachable(block_of(reader));
            for (BlockId id = 0; id < count; ++id)
                if (from_start[id] && std::ranges::find(writes[id], reader) != writes[id].end())
                    unwritten = unwritten && !reached(id, true, reader)[reader];
            if (unwritten) want.push_back({"WG-REG-01", reads[reader]});
        }
        irreducible += std::ranges::all_of(graph.loops(), &flow::Loop::natural) ? 0 : 1;
        Findings found;
        for (const Diagnostic& finding : check::check(program))
            if (finding.rule != "WG-SYNC-07")  // some of the loops have no end
                found.push_back({finding.rule, finding.where.line});
        INFO("round " << round);
        REQUIRE(found == want);
    }
    CHECK(irreducible > 20);
}
