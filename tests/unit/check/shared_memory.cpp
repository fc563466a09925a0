// WG-PROXY-01, WG-RACE-01, WG-RACE-02: shared memory between threads and wgmma.
#include "tests/catch.hpp"
#include "tests/unit/check/kit.hpp"

using namespace kit;

namespace {

/// All threads fill both operands; the rest is up to the test.
struct Filled : Ready {
    explicit Filled(int threads = 128) : Ready(threads) {
        to_a = of_thread(address(a));
        to_b = of_thread(address(b));
    }
    void finish() {
        commit();
        wait(0);
    }
    Reg to_a, to_b;
};

}  // namespace

TEST_CASE("write, proxy fence, barrier, wgmma is right, and so is write, barrier, proxy fence, wgmma") {
    const bool fence_first = GENERATE(false, true);
    const std::string space = GENERATE("shared::cta", "shared::cluster");
    Filled k;
    k.store(k.to_a);
    k.store(k.to_b);
    if (fence_first) k.proxy(space);
    k.bar();
    if (!fence_first) k.proxy(space);
    k.fence();
    k.go();
    k.finish();
    CHECK(k.check() == Findings{});
}

TEST_CASE("a barrier is no proxy fence") {
    Filled k;
    const int a = k.store(k.to_a), b = k.store(k.to_b);
    k.bar();
    k.fence();
    const int mma = k.go();
    k.finish();
    CHECK(k.check() == Findings{{"WG-PROXY-01", mma}});
    const Diagnostic& finding = k.diagnostics()[0];
    CHECK(finding.message ==
          "the wgmma reads `A`, which was written through the generic proxy, with no fence.proxy.async in "
          "between");
    CHECK(finding.fix.starts_with("a fence.proxy.async by the threads that access it, after line " +
                                  std::to_string(a)));
    CHECK(finding.section == "9.7.15.4");
    REQUIRE(finding.notes.size() == 2);
    CHECK(finding.notes[0].where.line == a);
    CHECK(finding.notes[1].where.line == b);
}

TEST_CASE("a proxy fence before the write, or of the global space, is none") {
    const bool global = GENERATE(false, true);
    Filled k;
    int fence = 0;
    if (!global) fence = k.proxy();
    k.store(k.to_b);
    if (global) fence = k.proxy("global");
    k.bar();
    k.fence();
    const int mma = k.go();
    k.finish();
    CHECK(k.check() == Findings{{"WG-PROXY-01", mma}});
    REQUIRE(k.diagnostics()[0].notes.size() == 2);
    CHECK(k.diagnostics()[0].notes[1].where.line == fence);
    CHECK(k.diagnostics()[0].notes[1].message == "this fence.proxy.async does not order it");
}

TEST_CASE("a proxy fence is no barrier") {
    Filled k;
    const int write = k.store(k.to_b);
    k.proxy();
    k.fence();
    const int mma = k.go();
    k.finish();
    CHECK(k.check() == Findings{{"WG-RACE-01", mma}});
    CHECK(k.diagnostics()[0].message ==
          "the wgmma reads `B`, which was written by other warps, with no barrier in between");
    CHECK(k.diagnostics()[0].fix.ends_with(" or by an mbarrier, after line " + std::to_string(write) +
                                           " and before line " + std::to_string(mma)));
}

TEST_CASE("neither fence nor barrier are two findings") {
    Filled k;
    k.store(k.to_b);
    k.fence();
    const int mma = k.go();
    k.finish();
    CHECK(k.check() == Findings{{"WG-PROXY-01", mma}, {"WG-RACE-01", mma}});
}

TEST_CASE("each warp may write its own rows of A without a barrier") {
    Filled k;
    k.store(k.to_a);
    k.proxy();
    k.fence();
    k.go();
    k.finish();
    CHECK(k.check() == Findings{});
}

TEST_CASE("a write by one warp that fences it itself") {
    Filled k;
    k.branch(k.compare("lt", k.tid(), Kernel::imm(32)), [&] {
        k.store(k.to_b);
        k.proxy();
    });
    k.bar();
    k.fence();
    k.go();
    k.finish();
    CHECK(k.check() == Findings{});
}

TEST_CASE("a fence by one warp does not cover the writes of all") {
    Filled k;
    k.store(k.to_b);
    k.branch(k.compare("lt", k.tid(), Kernel::imm(32)), [&] { k.proxy(); });
    k.bar();
    k.fence();
    const int mma = k.go();
    k.finish();
    CHECK(k.check() == Findings{{"WG-PROXY-01", mma}});
}

TEST_CASE("writes and fences under equal conditions belong together") {
    Filled k;
    const Reg condition = k.compare("lt", k.tid(), Kernel::imm(64));
    k.branch(condition, [&] { k.store(k.to_b); });
    k.branch(condition, [&] { k.proxy(); });
    k.bar();
    k.fence();
    k.go();
    k.finish();
    CHECK(k.check() == Findings{});
}

TEST_CASE("a guarded write counts as a write, a guarded fence not as a fence") {
    const bool guard_fence = GENERATE(false, true);
    Filled k;
    const Reg condition = k.compare("lt", k.tid(), Kernel::imm(64));
    if (!guard_fence) k.guard(condition);
    k.store(k.to_b);
    k.guard(guard_fence ? condition : Reg{});
    if (guard_fence) k.proxy();
    k.guard({});
    k.bar();
    k.fence();
    const int mma = k.go();
    k.finish();
    CHECK(k.check() == Findings{{"WG-PROXY-01", mma}});
}

TEST_CASE("a fence at the top of the loop covers the writes of the iteration before") {
    const bool at_top = GENERATE(false, true);
    Filled k;
    k.zero(k.acc);
    k.loop([&](Reg) {
        if (at_top) k.store(k.to_b);
        k.proxy();
        k.bar();
        k.fence();
        k.go(Kernel::imm(1));
        k.commit();
        k.wait(0);
        k.bar();
        if (!at_top) {
            k.store(k.to_b);
            k.bar();
        }
    });
    CHECK(k.check() == Findings{});
}

TEST_CASE("a k loop without a proxy fence") {
    Filled k;
    k.zero(k.acc);
    int mma = 0;
    k.loop([&](Reg) {
        k.bar();
        k.store(k.to_b);
        k.bar();
        k.fence();
        mma = k.go(Kernel::imm(1));
        k.commit();
        k.wait(0);
    });
    CHECK(k.check() == Findings{{"WG-PROXY-01", mma}});
}

TEST_CASE("a tile is overwritten before the wait") {
    const bool operand_a = GENERATE(false, true);
    Filled k;
    k.fence();
    const int mma = k.go();
    k.commit();
    const int write = k.store(operand_a ? k.to_a : k.to_b);
    k.wait(0);
    CHECK(k.check() == Findings{{"WG-RACE-02", write}});
    const Diagnostic& finding = k.diagnostics()[0];
    CHECK(finding.message == std::string("`") + (operand_a ? 'A' : 'B') +
                                 "` is written while a wgmma may still read it as operand " +
                                 (operand_a ? 'A' : 'B'));
    CHECK(finding.fix == "k:wgmma_wait_group(0) and k:bar_sync(0) before line " + std::to_string(write));
    REQUIRE(finding.notes.size() == 1);
    CHECK(finding.notes[0].where.line == mma);
}

TEST_CASE("after the wait a barrier must follow before B is overwritten where another warpgroup reads it") {
    const bool operand_a = GENERATE(false, true), barrier = GENERATE(false, true);
    const int threads = GENERATE(128, 256);
    Filled k(threads);
    k.fence();
    k.go();
    k.commit();
    k.wait(0);
    if (barrier) k.bar();
    const int write = k.store(operand_a ? k.to_a : k.to_b);
    const bool wrong = threads == 256 && !operand_a && !barrier;
    CHECK(k.check() == (wrong ? Findings{{"WG-RACE-02", write}} : Findings{}));
    if (wrong) CHECK(k.diagnostics()[0].fix == "k:bar_sync(0) before line " + std::to_string(write));
}

TEST_CASE("the tile is overwritten at the start of the next iteration") {
    const bool waits = GENERATE(false, true), barrier = GENERATE(false, true);
    const int threads = GENERATE(128, 256);
    Filled k(threads);
    k.zero(k.acc);
    int write = 0;
    k.loop([&](Reg) {
        write = k.store(k.to_b);
        k.proxy();
        k.bar();
        k.fence();
        k.go(Kernel::imm(1));
        k.commit();
        if (waits) k.wait(0);
        if (barrier) k.bar();
    });
    k.wait(0);
    const bool right = waits && (barrier || threads == 128);
    CHECK(k.check() == (right ? Findings{} : Findings{{"WG-RACE-02", write}}));
}

TEST_CASE("the tile is overwritten in an inner loop of the next iteration") {
    Filled k;
    k.zero(k.acc);
    int write = 0;
    const Reg m =
        k.value("ld.param", Kernel::type(Type::u32), {Operand::param(k.builder().param("m", Type::u32, {}))});
    k.loop([&](Reg) {
        k.loop(Operand::of(m), [&](Reg) { write = k.store(k.to_b); });
        k.proxy();
        k.bar();
        k.fence();
        k.go(Kernel::imm(1));
        k.commit();
    });
    k.wait(0);
    CHECK(k.check() == Findings{{"WG-RACE-02", write}});
}

TEST_CASE("two stages in turn: one is filled while the other is read") {
    const int pending = GENERATE(0, 1);
    const bool same = GENERATE(false, true);
    Kernel k;
    const int a = k.buffer(tile()), b = k.buffer(tile(), 2);
    const int bytes = tile().bytes();
    const Reg da = k.descriptor(a);
    const Reg to_b[2]{k.of_thread(k.address(b)), k.of_thread(k.address(b, bytes))};
    const Descriptor fields = tile().descriptor(0);
    const Reg db[2]{k.descriptor_at(k.address(b), fields), k.descriptor_at(k.address(b, bytes), fields)};
    const std::vector<Reg> acc = k.accumulators();
    k.zero(acc);
    k.fence();
    int write = 0;
    k.loop([&](Reg) {
        k.mma(acc, da, db[0], Kernel::imm(1));
        k.commit();
        write = k.store(to_b[same ? 0 : 1]);
        k.proxy();
        k.wait(pending);
        k.bar();
        k.mma(acc, da, db[1], Kernel::imm(1));
        k.commit();
        k.wait(0);
        k.bar();
    });
    k.wait(0);
    CHECK(k.check() == (same ? Findings{{"WG-RACE-02", write}} : Findings{}));
}

TEST_CASE("a ring of stages indexed at run time is left to the simulator") {
    Kernel k;
    const int a = k.buffer(tile()), b = k.buffer(tile(), 4);
    const Reg da = k.descriptor(a);
    const std::vector<Reg> acc = k.accumulators();
    const Descriptor fields = tile().descriptor(0);
    k.zero(acc);
    k.loop([&](Reg i) {
        const Reg start = k.shift_left(k.bit_and(i, 3), 13);
        const Reg base = k.add(k.address(b), Operand::of(start));
        k.fence();
        k.mma(acc, da, k.descriptor_at(base, fields), Kernel::imm(1));
        k.commit();
        k.store(k.add(base, Kernel::imm(8192)));
        k.wait(1);
    });
    k.wait(0);
    CHECK(k.check() == Findings{});
}

TEST_CASE("producer and consumer roles meet at barriers") {
    Kernel k(256);
    const int a = k.buffer(tile()), b = k.buffer(tile());
    const Reg da = k.descriptor(a), db = k.descriptor(b), to_b = k.of_thread(k.address(b));
    const std::vector<Reg> acc = k.accumulators();
    k.zero(acc);
    const Reg role = k.compare("lt", k.tid(), Kernel::imm(128));
    const auto named = [&](int id) { k.step("bar.sync", {}, {Kernel::imm(id), Kernel::imm(256)}); };
    k.branch(
        role,
        [&] {
            k.loop([&](Reg) {
                k.store(to_b);
                k.proxy();
                named(1);
                named(2);
            });
        },
        [&] {
            k.loop([&](Reg) {
                named(1);
                k.fence();
                k.mma(acc, da, db, Kernel::imm(1));
                k.commit();
                k.wait(0);
                named(2);
            });
        });
    CHECK(k.check() == Findings{});
}
