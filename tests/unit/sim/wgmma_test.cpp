// wgmma, its groups, the memory that it reads, and the proxies: right orders give no finding, and each wrong
// one breaks its rule. Its registers: wgmma_registers_test.cpp.
#include "script.hpp"

using namespace wgrun;
using namespace wgrun::sim;

TEST_CASE("the producer's fence before the barrier orders generic writes before a wgmma") {
    MmaScript k;
    ready_tiles(k);
    k.whole_mma(20);
    expect(k.finish(), {});
}

TEST_CASE("so does the consumer's fence after the barrier") {
    MmaScript k;
    k.fill(10);
    k.step(11, "bar_sync", {0});
    k.step(12, "fence_proxy_async");
    k.whole_mma(20);
    expect(k.finish(), {});
}

TEST_CASE("no proxy fence, one of the wrong space, or one before the writes: WG-PROXY-01") {
    MmaScript k;
    SECTION("none") {
        k.fill(10);
        k.step(12, "bar_sync", {0});
    }
    SECTION("of the global space") {
        k.fill(10);
        isa::Form global;
        global.set(isa::Field::space, *isa::parse_value(isa::Field::space, "global"));
        k.add(11, *isa::find("fence.proxy.async"), global, {});
        k.step(12, "bar_sync", {0});
    }
    SECTION("before the writes") {
        k.step(9, "fence_proxy_async");
        k.fill(10);
        k.step(12, "bar_sync", {0});
    }
    k.whole_mma(20);
    const Program program = k.finish();
    expect(program, {{"WG-PROXY-01", 21}});

    const Diagnostic finding = run_with(program, 0).findings.at(0);
    CHECK(finding.message ==
          "the wgmma reads `A`, which thread 0 wrote through the generic proxy: no "
          "fence.proxy.async orders the two");
    CHECK(finding.fix.starts_with("a fence.proxy.async by the threads that access it, after line 10, "));
    REQUIRE(finding.notes.size() == 1);
    CHECK(finding.notes[0].where.line == 10);
    CHECK(finding.notes[0].message == "written here by thread 0");
}

TEST_CASE("a fence of one lane speaks for that lane's writes only") {
    MmaScript k;
    const Reg lane = k.special("laneid");
    const Reg elected = k(1, "setp_eq_u32", {lane, 0});
    SECTION("of all: WG-PROXY-01 for the others") {
        k.fill(10);
        k.step(11, "fence_proxy_async", {}, {elected});
        k.step(12, "bar_sync", {0});
        k.whole_mma(20);
        const Program program = k.finish();
        expect(program, {{"WG-PROXY-01", 21}});
        CHECK_THAT(run_with(program, 0).findings.at(0).message, ContainsSubstring("which thread 1 wrote"));
    }
    SECTION("of the writing lane: nothing") {
        k.step(8, "bar_sync", {0});
        for (int row = 0; row < 128; row += 32) {  // lane 0 of each warp writes for its whole warp
            k.step(10, "st_shared_v4_b32", {at(k.a_at, 16 * (row / 32)), MmaScript::four(k.ones)}, {elected});
            for (int i = 4; i < 32; i += 4)
                k.step(10, "st_shared_v4_b32", {at(k.a_at, 16 * (row / 32 + i)), MmaScript::four(k.ones)},
                       {elected});
        }
        const Reg first = k(1, "setp_eq_u32", {k.thread, 0});
        for (int i = 0; i < 16; ++i)
            k.step(10, "st_shared_v4_b32", {in_buffer(k.b, 16 * i), MmaScript::four(k.ones)}, {first});
        k.step(11, "fence_proxy_async", {}, {elected});
        k.step(12, "bar_sync", {0});
        k.whole_mma(20);
        expect(k.finish(), {});
    }
}

TEST_CASE("the producer's fence after the barrier comes too late for another warpgroup") {
    // Warps 4 to 7 write, fence and arrive; warps 0 to 3 multiply.
    for (const bool late : {false, true}) {
        MmaScript k(256);
        const Reg producer = k(1, "setp_ge_u32", {k.thread, 128});
        const Reg low = k(1, "and_b32", {k.thread, 127});
        const Reg to_a = k.address(k.a, low, 16), to_b = k.address(k.b, low, 16);
        const Reg few = k(1, "setp_lt_u32", {low, 16});
        k.begin_if(9, producer);
        k.step(10, "st_shared_v4_b32", {at(to_a), MmaScript::four(k.ones)});
        k.step(10, "st_shared_v4_b32", {at(to_b), MmaScript::four(k.ones)}, {few});
        if (!late) k.step(11, "fence_proxy_async");
        k.step(12, "bar_sync", {1, 256});
        if (late) k.step(13, "fence_proxy_async");
        k.builder.begin_else();
        k.step(19, "bar_sync", {1, 256});
        k.whole_mma(20);
        k.builder.end_if();
        expect(k.finish(), late ? Found{{"WG-PROXY-01", 21}} : Found{});
    }
}

TEST_CASE("no barrier: WG-RACE-01 at the wgmma") {
    MmaScript k;
    k.fill(10);
    k.step(11, "fence_proxy_async");
    k.whole_mma(20);
    const Program program = k.finish();
    expect(program, {{"WG-RACE-01", 21}});
    CHECK_THAT(run_with(program, 0).findings.at(0).message, ContainsSubstring("nothing orders the two"));
}

TEST_CASE("each warp reads its own rows of A, and all of B") {
    // Warp w writes rows 16w to 16w + 15 of A itself; warp 0 writes B.
    MmaScript k;
    const Reg row = k(1, "and_b32", {k.thread, 15}), warp = k(1, "shr_u32", {k.thread, 5});
    const Reg half = k(1, "and_b32", {k(1, "shr_u32", {k.thread, 4}), 1});
    const Reg to = k(1, "mad_lo_u32", {half, 1024, k(1, "mad_lo_u32", {warp, 256, k.address(k.a, row, 16)})});
    k.fill_b(10);
    k.step(11, "fence_proxy_async");
    SECTION("B is met by all: nothing to order for A") {
        k.step(12, "bar_sync", {0});
        k.step(13, "st_shared_v4_b32", {at(to), MmaScript::four(k.ones)});
        k.step(14, "fence_proxy_async");
        k.whole_mma(20);
        expect(k.finish(), {});
    }
    SECTION("a barrier leaves warp 3 out") {
        k.step(13, "st_shared_v4_b32", {at(to), MmaScript::four(k.ones)});
        k.step(14, "fence_proxy_async");
        k.begin_if(15, k(1, "setp_lt_u32", {k.thread, 96}));
        k.step(16, "bar_sync", {1, 96});
        k.builder.end_if();
        k.whole_mma(20);
        const Program program = k.finish();
        expect(program, {{"WG-RACE-01", 21}});
        CHECK(run_with(program, 0).findings.at(0).message ==
              "the wgmma reads `B`, which thread 0 wrote: nothing orders the two");
    }
}

TEST_CASE("two tiles: one is refilled while the wgmma reads the other") {
    for (const bool same : {false, true}) {
        MmaScript k;
        const int a2 = k.buffer("A2", 2048);
        const Reg a2_at = k.address(a2, k.thread, 16);
        ready_tiles(k);
        k.step(20, "wgmma_fence");
        k.mma(21);
        k.step(22, "wgmma_commit_group");
        k.step(23, "st_shared_v4_b32", {at(same ? k.a_at : a2_at), MmaScript::four(k.ones)});
        k.step(24, "wgmma_wait_group", {0});
        const Program program = k.finish();
        expect(program, same ? Found{{"WG-RACE-02", 23}} : Found{});
        if (same) {
            const Diagnostic finding = run_with(program, 0).findings.at(0);
            CHECK_THAT(finding.message, ContainsSubstring("which the wgmma of warp") &&
                                            ContainsSubstring("may still be reading"));
            CHECK(finding.notes.at(0).where.line == 21);
        }
    }
}

TEST_CASE("a tile may be overwritten by its waiters, and by those they have met") {
    MmaScript k(256);
    const Reg consumer = k(1, "setp_lt_u32", {k.thread, 128});
    const Reg low = k(1, "and_b32", {k.thread, 127});
    const Reg to_a = k.address(k.a, low, 16);
    k.fill_a(10, {consumer});
    k.fill_b(10);
    k.step(11, "fence_proxy_async");
    k.step(12, "bar_sync", {0});
    const auto consume = [&](bool wait) {
        k.step(20, "wgmma_fence");
        k.mma(21);
        k.step(22, "wgmma_commit_group");
        if (wait) k.step(23, "wgmma_wait_group", {0});
    };
    SECTION("met after the wait") {
        k.begin_if(19, consumer);
        consume(true);
        k.step(24, "bar_sync", {1, 256});
        k.builder.begin_else();
        k.step(30, "bar_sync", {1, 256});
        k.step(31, "st_shared_v4_b32", {at(to_a), MmaScript::four(k.ones)});
        k.builder.end_if();
        expect(k.finish(), {});
    }
    SECTION("met without the wait") {
        k.begin_if(19, consumer);
        consume(false);
        k.step(24, "bar_sync", {1, 256});
        k.step(25, "wgmma_wait_group", {0});
        k.builder.begin_else();
        k.step(30, "bar_sync", {1, 256});
        k.step(31, "st_shared_v4_b32", {at(to_a), MmaScript::four(k.ones)});
        k.builder.end_if();
        expect(k.finish(), {{"WG-RACE-02", 31}});
    }
}

TEST_CASE(
    "a warp waits for its warpgroup: where another one reads B, too, a barrier comes before B is written") {
    for (const int groups : {1, 2}) {
        for (const bool met : {true, false}) {
            MmaScript k(128 * groups);
            const Reg first = k(2, "setp_lt_u32", {k.thread, 128});
            k.fill_a(10, {first});
            k.fill_b(10);
            k.step(11, "fence_proxy_async");
            k.step(12, "bar_sync", {0});
            k.whole_mma(20);
            if (met) k.step(24, "bar_sync", {0});
            k.fill_b(25);
            const Program program = k.finish();
            const bool wrong = groups == 2 && !met;
            int before = 0;
            for (std::uint64_t seed = 0; seed < 24 && wrong; ++seed) {
                // The write may also come before the other warpgroup's wgmma has begun.
                const Found got = found(run_with(program, seed));
                CHECK(got.size() == 1);
                before += got == Found{{"WG-RACE-02", 25}};
            }
            CHECK((before > 0) == wrong);
            if (!wrong) expect(program, {});
        }
    }
}

TEST_CASE("a loop over two stages with wait_group 1 releases a stage one iteration late") {
    // Stage i is refilled in iteration i + 1 (right: its group is waited for) or at once (wrong).
    for (const bool early : {false, true}) {
        MmaScript k;
        const int a2 = k.buffer("A2", 2048);
        const Reg to[2]{k.a_at, k.address(a2, k.thread, 16)};
        ready_tiles(k);
        k.step(12, "st_shared_v4_b32", {at(to[1]), MmaScript::four(k.ones)});
        k.step(12, "fence_proxy_async");
        k.step(12, "bar_sync", {0});
        k.step(13, "wgmma_fence");
        const Reg i = k.begin_loop(20, 5);
        for (int stage = 0; stage < 2; ++stage) {
            k.step(21, "wgmma_fence");
            k.mma(22, k.accumulators, k.descriptor(stage == 0 ? k.a : a2), stage);
            k.step(23, "wgmma_commit_group");
            k.step(24, "wgmma_wait_group", {early ? 2 : 1});
            k.step(25, "bar_sync", {0});
            // The stage of the step before: its group is now waited for, unless two may be pending.
            k.step(26, "st_shared_v4_b32", {at(to[1 - stage]), MmaScript::four(k.ones)});
            k.step(27, "fence_proxy_async");
            k.step(28, "bar_sync", {0});
        }
        k.end_loop(20, i);
        k.step(29, "wgmma_wait_group", {0});
        expect(k.finish(), early ? Found{{"WG-RACE-02", 26}} : Found{});
    }
}

TEST_CASE("a descriptor that leads outside every buffer: WG-DESC-03") {
    MmaScript k;
    ready_tiles(k);
    k.step(20, "wgmma_fence");
    const auto outside = k.descriptor(k.a).imm + (4096 >> 4);
    k.mma(21, k.accumulators, outside);
    k.step(22, "wgmma_commit_group");
    k.step(90, "wgmma_wait_group", {0});
    const Program program = k.finish();
    expect(program, {{"WG-DESC-03", 21}});
    CHECK_THAT(run_with(program, 0).findings.at(0).message, ContainsSubstring("read byte 4096"));
}

TEST_CASE("what a record refuses while it runs is a finding at its line") {
    MmaScript k;
    ready_tiles(k);
    k.step(20, "wgmma_fence");
    k.mma(21, k.accumulators, k.descriptor(k.a).imm | std::int64_t{1} << 14);  // an unused bit
    k.step(22, "wgmma_commit_group");
    k.step(90, "wgmma_wait_group", {0});
    const Outcome outcome = run_with(k.finish(), 0);
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].where.line == 21);
}

// The sanitizers show whether the missing warps are left alone.
TEST_CASE("a wait_group is nothing special in a CTA of fewer warps than a warpgroup") {
    const int threads = GENERATE(1, 32, 96, 160);
    Script k(threads);
    k.step(10, "wgmma_commit_group");
    k.step(11, "wgmma_wait_group", {0});
    expect(k.finish(), {});
}

TEST_CASE("wgmma in half a warpgroup, or reached by three of its warps") {
    SECTION("64 threads") {
        MmaScript k(64);
        k.step(20, "wgmma_fence");
        k.mma(21);
        k.step(22, "wgmma_commit_group");
        k.step(90, "wgmma_wait_group", {0});
        expect(k.finish(), {{"WG-SYNC-03", 21}});
    }
    SECTION("three warps") {
        MmaScript k;
        ready_tiles(k);
        const Reg some = k(1, "setp_lt_u32", {k.thread, 96});
        k.begin_if(19, some);
        k.whole_mma(20);
        k.builder.end_if();
        const Program program = k.finish();
        expect(program, {{"WG-SYNC-01", 20}});
        CHECK(run_with(program, 0).findings.at(0).message ==
              "wgmma.fence is executed by some warps of the warpgroup of warps 0 to 3, and warp 3 ends "
              "without it: all must execute it together");
    }
    SECTION("lanes of a warp") {
        MmaScript k;
        ready_tiles(k);
        k.step(20, "wgmma_fence", {}, {k(1, "setp_lt_u32", {k.special("laneid"), 16})});
        k.mma(21);
        k.step(22, "wgmma_commit_group");
        k.step(90, "wgmma_wait_group", {0});
        const Program program = k.finish();
        expect(program, {{"WG-SYNC-01", 20}});
        CHECK_THAT(run_with(program, 0).findings.at(0).message,
                   ContainsSubstring("wgmma.fence is executed by 16 of the 32 lanes of warp"));
    }
}
