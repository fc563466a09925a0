// mbarrier objects: their life, their phases, what a wait makes known, and deadlocks.
#include "async_script.hpp"

using namespace wgrun;
using namespace wgrun::sim;

namespace {

Reg warp_is(AsyncScript& k, int warp) { return k(1, "setp_eq_u32", {k(1, "shr_u32", {k.thread, 5}), warp}); }
Reg thread_is(AsyncScript& k, int thread) { return k(1, "setp_eq_u32", {k.thread, thread}); }

}  // namespace

TEST_CASE("a wait for a phase makes known what came before the arrivals: else WG-RACE-01") {
    for (const bool waits : {true, false}) {
        AsyncScript k(64);
        const int full = k.mbarriers("full", 1), buffer = k.buffer("buf", 128);
        k.init(2, full, {32});
        const Reg lane = k.special("laneid");
        k.begin_if(10, warp_is(k, 0));
        k.step(11, "st_shared_u32", {at(k.address(buffer, lane, 4)), lane});
        k.step(12, "mbarrier_arrive", {in_buffer(full)});
        k.builder.begin_else();
        if (waits) k.wait(13, in_buffer(full), 0);
        k(14, "ld_shared_u32", {at(k.address(buffer, lane, 4))});
        k.builder.end_if();
        const Program program = k.finish();
        if (waits)
            expect_mapped(program, {}, {});
        else
            expect_some(program, {}, {{"WG-RACE-01", 11}, {"WG-RACE-01", 14}}, {{"WG-MEM-04", 14}});
    }
}

TEST_CASE("two warps hand a word to and fro through the phases of two mbarriers") {
    Mapped out = mapped({32}, {Dtype::u32, {32}});
    AsyncScript k(64);
    const Reg map = k.map(out);
    const int bars = k.mbarriers("bars", 2), buffer = k.buffer("buf", 128);
    k.init(2, bars, {1, 1});
    const Reg lane = k.special("laneid"), leads = k(1, "setp_eq_u32", {lane, 0});
    const Reg parity = k.constant(0), mine = k.address(buffer, lane, 4);
    k.begin_if(10, warp_is(k, 0));
    k.step(11, "st_shared_u32", {at(mine), 0});
    Reg counter = k.begin_loop(12, 9);
    k.step(13, "bar_warp_sync");
    k.step(13, "mbarrier_arrive", {in_buffer(bars, 0)}, {leads});
    k.wait(14, in_buffer(bars, 8), parity);
    Reg value = k(15, "ld_shared_u32", {at(mine)});
    k.step(15, "st_shared_u32", {at(mine), k(15, "add_u32", {value, value})});
    k.step(16, "xor_b32", {parity, parity, 1});
    k.end_loop(12, counter);
    k.step(17, "fence_proxy_async");
    k.step(17, "bar_warp_sync");
    k.store(18, map, {0}, in_buffer(buffer), {k.first});
    k.step(19, "cp_async_bulk_commit_group", {}, {k.first});
    k.step(19, "cp_async_bulk_wait_group", {0}, {k.first});
    k.builder.begin_else();
    counter = k.begin_loop(20, 9);
    k.wait(21, in_buffer(bars, 0), parity);
    value = k(22, "ld_shared_u32", {at(mine)});
    k.step(22, "st_shared_u32", {at(mine), k(22, "add_u32", {value, 1})});
    k.step(23, "bar_warp_sync");
    k.step(23, "mbarrier_arrive", {in_buffer(bars, 8)}, {leads});
    k.step(24, "xor_b32", {parity, parity, 1});
    k.end_loop(20, counter);
    k.builder.end_if();
    expect_mapped(k.finish(), {&out}, {});
    CHECK(out.at<std::uint32_t>(4 * 31) == 1022);  // nine times: add one, double
}

TEST_CASE("the life of an mbarrier: WG-MBAR-01") {
    AsyncScript k(32);
    const int bar = k.mbarriers("bar", 2);
    SECTION("used before init") {
        k.step(10, "mbarrier_arrive", {in_buffer(bar)}, {k.first});
        const Program program = k.finish();
        expect_mapped(program, {}, {{"WG-MBAR-01", 10}});
        CHECK(finding_of(program, {}, "WG-MBAR-01").message == "no mbarrier is initialised at `bar`");
    }
    SECTION("initialised twice") {
        k.step(10, "mbarrier_init", {in_buffer(bar), 1}, {k.first});
        k.step(11, "mbarrier_init", {in_buffer(bar), 1}, {k.first});
        const Program program = k.finish();
        expect_mapped(program, {}, {{"WG-MBAR-01", 11}});
        const Diagnostic finding = finding_of(program, {}, "WG-MBAR-01");
        CHECK(finding.message == "`bar` is initialised again without mbarrier.inval");
        REQUIRE(finding.notes.size() == 1);
        CHECK(finding.notes[0].where.line == 10);
    }
    SECTION("and again after inval, with a new count") {
        k.step(10, "mbarrier_init", {in_buffer(bar), 1}, {k.first});
        k.step(11, "mbarrier_inval", {in_buffer(bar)}, {k.first});
        k.step(12, "mbarrier_init", {in_buffer(bar), 2}, {k.first});
        k.step(13, "mbarrier_arrive", {in_buffer(bar), 2}, {k.first});
        k.step(13, "bar_warp_sync");
        k.wait(14, in_buffer(bar), 0);
        expect_mapped(k.finish(), {}, {});
    }
    SECTION("used after inval") {
        k.step(10, "mbarrier_init", {in_buffer(bar), 1}, {k.first});
        k.step(11, "mbarrier_inval", {in_buffer(bar)}, {k.first});
        k.step(12, "mbarrier_arrive", {in_buffer(bar)}, {k.first});
        expect_mapped(k.finish(), {}, {{"WG-MBAR-01", 12}});
    }
    SECTION("misaligned") {
        k.step(10, "mbarrier_init", {in_buffer(bar, 4), 1}, {k.first});
        const Program program = k.finish();
        expect_mapped(program, {}, {{"WG-MBAR-01", 10}});
        const Diagnostic finding = finding_of(program, {}, "WG-MBAR-01");
        CHECK(finding.message == "the mbarrier at `bar` + 4 is not aligned to 8 bytes");
        CHECK(finding.fix == "align = 8 for the buffer, and offsets that are multiples of 8");
    }
    SECTION("outside every buffer") {
        k.step(10, "mbarrier_init", {in_buffer(bar, 16), 1}, {k.first});
        expect_mapped(k.finish(), {}, {{"WG-MEM-03", 10}});
    }
}

TEST_CASE("to those who access its bytes as data an init is a write: WG-RACE-01") {
    const bool ordered = GENERATE(false, true);
    AsyncScript k(64);
    const int bar = k.mbarriers("bar", 1);
    const Reg second = k(1, "setp_eq_u32", {k.thread, 32});
    k.step(10, "st_shared_u32", {at(k.in(bar)), 7}, {second});
    if (ordered) k.step(11, "bar_sync", {0});
    k.step(12, "mbarrier_init", {in_buffer(bar), 1}, {k.first});
    if (ordered)
        expect_mapped(k.finish(), {}, {});
    else  // the other side is a store to an mbarrier
        expect_some(k.finish(), {}, {{"WG-RACE-01", 12}, {"WG-MBAR-04", 10}});
}

TEST_CASE("an init is made known by a barrier, to the copy engine by a fence as well: WG-MBAR-02") {
    Mapped x = mapped({32}, {Dtype::f32, {32}});
    for (const std::string how : {"fence.mbarrier_init", "fence.proxy.async", "no fence", "no barrier"}) {
        INFO(how);
        AsyncScript k(64);
        const Reg map = k.map(x);
        const int bar = k.mbarriers("bar", 1), tile = k.buffer("tile", 128);
        k.step(10, "mbarrier_init", {in_buffer(bar), 1}, {k.first});
        if (how == "fence.mbarrier_init") k.step(11, "fence_mbarrier_init", {}, {k.first});
        if (how == "fence.proxy.async") k.step(11, "fence_proxy_async", {}, {k.first});
        if (how != "no barrier") k.step(12, "bar_sync", {0});
        k.step(13, "mbarrier_arrive_expect_tx", {in_buffer(bar), 128}, {thread_is(k, 32)});
        k.load(14, in_buffer(tile), map, {0}, in_buffer(bar), {thread_is(k, 32)});
        k.wait(15, in_buffer(bar), 0);
        const Program program = k.finish();
        if (how == "no barrier") {
            // The second warp may also come before the init.
            expect_some(program, {&x}, {{"WG-MBAR-02", 13}, {"WG-MBAR-01", 13}},
                        {{"WG-MBAR-02", 14},
                         {"WG-MBAR-02", 15},
                         {"WG-MBAR-01", 14},
                         {"WG-MBAR-01", 15},
                         {"WG-MBAR-05", 15}});
            CHECK_THAT(finding_of(program, {&x}, "WG-MBAR-02").message,
                       ContainsSubstring("that the mbarrier `bar` is initialised"));
        } else if (how == "no fence") {
            expect_mapped(program, {&x}, {{"WG-MBAR-02", 14}});
            const Diagnostic finding = finding_of(program, {&x}, "WG-MBAR-02");
            CHECK_THAT(finding.message, ContainsSubstring("nothing tells the bulk-copy engine"));
            REQUIRE(finding.notes.size() == 1);
            CHECK(finding.notes[0].where.line == 10);
        } else {
            expect_mapped(program, {&x}, {});
        }
    }
}

TEST_CASE("arrivals are those that the phase expects: WG-MBAR-03") {
    SECTION("too many in one phase") {
        AsyncScript k(32);
        const int bar = k.mbarriers("bar", 1);
        k.init(2, bar, {4});
        k.step(10, "mbarrier_arrive", {in_buffer(bar), 5}, {k.first});
        const Program program = k.finish();
        expect_mapped(program, {}, {{"WG-MBAR-03", 10}});
        CHECK(finding_of(program, {}, "WG-MBAR-03").message ==
              "thread 0 arrives 5 times at `bar`, where 4 of 4 arrivals are still expected in phase 0");
    }
    SECTION("all lanes arrive where one is counted: the second falls into a phase that nobody waited for") {
        AsyncScript k(32);
        const int bar = k.mbarriers("bar", 1);
        k.init(2, bar, {1});
        k.step(10, "mbarrier_arrive", {in_buffer(bar)});
        const Program program = k.finish();
        expect_mapped(program, {}, {{"WG-MBAR-03", 10}});
        CHECK(finding_of(program, {}, "WG-MBAR-03").message ==
              "thread 1 arrives at phase 1 of `bar`, and has not waited for phase 0");
    }
    SECTION("and one warp more than is counted, under every schedule") {
        AsyncScript k(96);
        const int bar = k.mbarriers("bar", 1);
        k.init(2, bar, {2});
        const Reg lane = k.special("laneid");
        k.step(10, "mbarrier_arrive", {in_buffer(bar)}, {k(1, "setp_eq_u32", {lane, 0})});
        expect_mapped(k.finish(), {}, {{"WG-MBAR-03", 10}});
    }
}

TEST_CASE("bytes are those that are copied: WG-MBAR-03, or a deadlock that counts them") {
    Mapped x = mapped({64}, {Dtype::f32, {32}});
    AsyncScript k(64);
    const Reg map = k.map(x);
    const int bar = k.mbarriers("bar", 1), tile = k.buffer("tile", 256);
    k.init(2, bar, {1});
    SECTION("expected after the copies is legal") {
        k.load(11, in_buffer(tile), map, {0}, in_buffer(bar), {k.first});
        k.load(12, in_buffer(tile, 128), map, {32}, in_buffer(bar), {k.first});
        k.step(13, "mbarrier_expect_tx", {in_buffer(bar), 128}, {k.first});
        k.step(14, "mbarrier_arrive_expect_tx", {in_buffer(bar), 128}, {k.first});
        k.wait(15, in_buffer(bar), 0);
        k(16, "ld_shared_b32", {at(k.address(tile, k.thread, 4))});
        expect_mapped(k.finish(), {&x}, {});
    }
    SECTION("too few") {
        k.step(10, "mbarrier_arrive_expect_tx", {in_buffer(bar), 128}, {k.first});
        k.load(11, in_buffer(tile), map, {0}, in_buffer(bar), {k.first});
        k.load(12, in_buffer(tile, 128), map, {32}, in_buffer(bar), {k.first});
        k.wait(13, in_buffer(bar), 0);
        const Program program = k.finish();
        expect_some(program, {&x}, {{"WG-MBAR-03", 10}, {"WG-MBAR-05", 13}});
        CHECK_THAT(
            finding_of(program, {&x}, "WG-MBAR-03").message,
            ContainsSubstring("phase 0 of `bar` completes while 128 bytes of its copies are in flight"));
    }
    SECTION("too many") {
        k.step(10, "mbarrier_arrive_expect_tx", {in_buffer(bar), 256}, {k.first});
        k.load(11, in_buffer(tile), map, {0}, in_buffer(bar), {k.first});
        k.wait(13, in_buffer(bar), 0);
        const Program program = k.finish();
        expect_mapped(program, {&x}, {{"WG-MBAR-05", 13}});
        CHECK(
            finding_of(program, {&x}, "WG-MBAR-05").message ==
            "the kernel hangs: warps 0, 1 wait for phase 0 (parity 0) of the mbarrier `bar`: 1 of 1 arrivals "
            "has come, 128 bytes are outstanding");
    }
    SECTION("and nobody waits") {
        k.step(10, "mbarrier_arrive_expect_tx", {in_buffer(bar), 96}, {k.first});
        const Program program = k.finish();
        expect_mapped(program, {&x}, {{"WG-MBAR-03", 10}});
        CHECK(finding_of(program, {&x}, "WG-MBAR-03").message ==
              "the CTA ends in phase 0 of `bar`, which still expects 96 bytes");
    }
    SECTION("copies that nobody expects, and nobody waits for") {
        k.load(11, in_buffer(tile), map, {0}, in_buffer(bar), {k.first});
        const Program program = k.finish();
        expect_mapped(program, {&x}, {{"WG-MBAR-03", 11}, {"WG-TMA-03", 11}});
        CHECK(finding_of(program, {&x}, "WG-MBAR-03").message ==
              "the CTA ends in phase 0 of `bar`, which has not expected 128 bytes");
    }
    SECTION("an mbarrier that is ended too early: WG-MBAR-01") {
        k.step(10, "mbarrier_arrive_expect_tx", {in_buffer(bar), 128}, {k.first});
        k.load(11, in_buffer(tile), map, {0}, in_buffer(bar), {k.first});
        k.step(12, "mbarrier_inval", {in_buffer(bar)}, {k.first});
        const Program program = k.finish();
        expect_some(program, {&x}, {{"WG-MBAR-01", 12}, {"WG-TMA-03", 11}});
        CHECK(finding_of(program, {&x}, "WG-MBAR-01").message ==
              "`bar` is ended while 128 bytes that it counts are in flight");
    }
    SECTION("more than the tx-count holds") {
        k.step(10, "mbarrier_expect_tx", {in_buffer(bar), 1 << 19}, {k.first});
        k.step(11, "mbarrier_expect_tx", {in_buffer(bar), 1 << 19}, {k.first});
        k.step(12, "mbarrier_inval", {in_buffer(bar)}, {k.first});
        const Program program = k.finish();
        expect_mapped(program, {&x}, {{"WG-MBAR-03", 11}});
        CHECK(finding_of(program, {&x}, "WG-MBAR-03").message ==
              "the tx-count of `bar` becomes 1048576 bytes: it holds 1048575 at most");
    }
}

TEST_CASE("two phases go by while a warp waits for the first: WG-MBAR-06") {
    for (const bool meets : {false, true}) {
        AsyncScript k(64);
        const int full = k.mbarriers("full", 1);
        k.init(2, full, {32});
        k.begin_if(10, warp_is(k, 0));
        k.step(11, "mbarrier_arrive", {in_buffer(full)});
        k.wait(12, in_buffer(full), 0);
        if (meets) k.step(13, "bar_sync", {1, 64});
        k.step(14, "mbarrier_arrive", {in_buffer(full)});
        k.wait(15, in_buffer(full), 1);
        k.builder.begin_else();
        k.wait(16, in_buffer(full), 0);
        if (meets) k.step(17, "bar_sync", {1, 64});
        k.builder.end_if();
        const Program program = k.finish();
        if (meets) {
            expect_mapped(program, {}, {});
            continue;
        }
        int skipped = 0, in_time = 0;
        for (std::uint64_t seed = 0; seed < 48; ++seed) {
            const Outcome outcome = run_mapped(program, {}, seed);
            if (outcome.findings.empty()) {
                ++in_time;
                continue;
            }
            ++skipped;
            REQUIRE(found(outcome) == Found{{"WG-MBAR-06", 16}});
            CHECK(outcome.findings[0].message ==
                  "warp 1 waits for phase 0 (parity 0) of `full`, which is in phase 2 by now: phase 1 has "
                  "completed, and the warp has not waited for it");
            CHECK(outcome.findings[0].fix == "wait for each phase in turn: the parity of phase 1 is 1");
        }
        CHECK(skipped > 0);
        CHECK(in_time > 0);
    }
}

TEST_CASE("a phase that is known of lets a wait through, and the bytes are not there: WG-MBAR-06") {
    for (const int parity : {0, 1}) {
        Mapped in = mapped({32}, {Dtype::u32, {32}});
        AsyncScript k(32);
        const Reg map = k.map(in);
        const int full = k.mbarriers("full", 1), buffer = k.buffer("buf", 128);
        const Reg mine = k.address(buffer, k.thread, 4);
        k.init(2, full, {1});
        for (int round = 0; round < 2; ++round) {
            k.step(10, "mbarrier_arrive_expect_tx", {in_buffer(full), 128}, {k.first});
            k.load(11, in_buffer(buffer), map, {0}, in_buffer(full), {k.first});
            k.wait(12 + round, in_buffer(full), round == 0 ? 0 : parity);
            k(14 + round, "ld_shared_u32", {at(mine)});
            k.step(16, "fence_proxy_async");
            k.step(16, "bar_warp_sync");
        }
        const Outcome outcome =
            expect_mapped(k.finish(), {&in}, parity == 1 ? Found{} : Found{{"WG-MBAR-06", 13}});
        if (parity == 1) continue;
        CHECK(outcome.findings[0].message ==
              "phase 0 of `full`, which the warp has waited for before, lets the wait with parity 0 "
              "through: phase 1 is in progress");
        CHECK(outcome.findings[0].notes.at(0).where.line == 15);
    }
}

TEST_CASE("a parity is 0 or 1: WG-MBAR-06") {
    AsyncScript k(32);
    const int full = k.mbarriers("full", 1);
    k.init(2, full, {32});
    const Reg parity = k.constant(0);
    for (int phase = 0; phase < 3; ++phase) {
        k.step(10, "mbarrier_arrive", {in_buffer(full)});
        k.wait(11, in_buffer(full), parity);
        k.step(12, "add_u32", {parity, parity, 1});
    }
    const Outcome outcome = expect_mapped(k.finish(), {}, {{"WG-MBAR-06", 11}});
    CHECK(outcome.findings[0].message == "thread 0 waits for `full` with parity 2: it is 0 or 1");
}

TEST_CASE("the bytes of a live mbarrier belong to it: WG-MBAR-04") {
    AsyncScript k(32);
    const int bar = k.mbarriers("bar", 2);
    k.init(2, bar, {1});
    SECTION("stores") {
        k.step(10, "st_shared_u32", {in_buffer(bar, 4), 0}, {k.first});
        const Program program = k.finish();
        expect_mapped(program, {}, {{"WG-MBAR-04", 10}});
        CHECK(finding_of(program, {}, "WG-MBAR-04").message ==
              "thread 0 stores to `bar` + 4, inside the mbarrier `bar`");
    }
    SECTION("loads of its neighbour's are fine, and all after inval") {
        k.step(10, "st_shared_u32", {in_buffer(bar, 8), 0}, {k.first});
        k.step(11, "mbarrier_inval", {in_buffer(bar)}, {k.first});
        k.step(12, "st_shared_u32", {in_buffer(bar), 0}, {k.first});
        k(13, "ld_shared_u32", {in_buffer(bar)}, {k.first});
        expect_mapped(k.finish(), {}, {});
    }
}

TEST_CASE("a deadlock names who waits, for which phase, and what is missing: WG-MBAR-05") {
    AsyncScript k(160);
    const int bar = k.mbarriers("bar", 2);
    k.init(2, bar, {3, 1});
    const Reg lane = k.special("laneid"), leads = k(1, "setp_eq_u32", {lane, 0});
    SECTION("an arrival is missing") {
        k.begin_if(10, k(1, "setp_lt_u32", {k.thread, 64}));
        k.step(11, "mbarrier_arrive", {in_buffer(bar)}, {leads});
        k.builder.begin_else();
        k.begin_if(12, k(1, "setp_lt_u32", {k.thread, 128}));
        k.wait(13, in_buffer(bar), 0);
        k.builder.begin_else();
        k.wait(14, in_buffer(bar, 8), 0);
        k.builder.end_if();
        k.builder.end_if();
        const Program program = k.finish();
        expect_mapped(program, {}, {{"WG-MBAR-05", 13}});
        const Diagnostic finding = finding_of(program, {}, "WG-MBAR-05");
        CHECK(finding.message ==
              "the kernel hangs: warps 2, 3 wait for phase 0 (parity 0) of the mbarrier `bar`: 2 of "
              "3 arrivals have come, 0 bytes are outstanding");
        REQUIRE(finding.notes.size() == 4);
        CHECK(finding.notes[0].where.line == 2);
        CHECK(finding.notes[0].message == "initialised here with 3 arrivals");
        CHECK(finding.notes[1].message == "the last arrival");
        CHECK(finding.notes[2].where.line == 14);
        CHECK(finding.notes[2].message ==
              "warp 4 waits for phase 0 (parity 0) of the mbarrier `bar` + 8: 0 of 1 "
              "arrivals have come, 0 bytes are outstanding");
        CHECK(finding.notes[3].message == "warps 0, 1 ended");
    }
    SECTION("the parity is never turned: the wait itself is at fault, WG-MBAR-06") {
        k.begin_if(10, warp_is(k, 0));
        k.step(11, "mbarrier_arrive", {in_buffer(bar, 8)}, {leads});
        k.wait(12, in_buffer(bar, 8), 0);
        k.step(13, "mbarrier_arrive", {in_buffer(bar, 8)}, {leads});
        k.wait(14, in_buffer(bar, 8), 0);
        k.builder.end_if();
        const Program program = k.finish();
        expect_mapped(program, {}, {{"WG-MBAR-06", 14}});
    }
}

TEST_CASE("a warp that only looks goes on when nothing happens any more") {
    AsyncScript k(32);
    const int bar = k.mbarriers("bar", 1);
    k.init(2, bar, {1});
    const Reg counter = k.begin_loop(10, 50);
    k(11, "mbarrier_test_wait_parity", {in_buffer(bar), 0});
    k.end_loop(10, counter);
    expect_mapped(k.finish(), {}, {});
}

TEST_CASE("a wait may return early: who does not loop reads too soon under some schedule") {
    AsyncScript k(64);
    const int full = k.mbarriers("full", 1), buffer = k.buffer("buf", 128);
    k.init(2, full, {32});
    const Reg lane = k.special("laneid");
    k.begin_if(10, warp_is(k, 0));
    k.step(11, "st_shared_u32", {at(k.address(buffer, lane, 4)), lane});
    k.step(12, "mbarrier_arrive", {in_buffer(full)});
    k.builder.begin_else();
    k(13, "mbarrier_try_wait_parity", {in_buffer(full), 0});
    k(14, "ld_shared_u32", {at(k.address(buffer, lane, 4))});
    k.builder.end_if();
    const Program program = k.finish();
    int caught = 0;
    for (std::uint64_t seed = 0; seed < 64; ++seed) caught += !run_mapped(program, {}, seed).findings.empty();
    CHECK(caught > 0);
    CHECK(caught < 64);
}

TEST_CASE("more mbarriers than can be followed are refused, not confused") {
    AsyncScript k(32);
    const int bars = k.mbarriers("bars", 1024);
    k.step(10, "mbarrier_init", {at(k.address(bars, k.thread, 8)), 1});
    const Reg counter = k.begin_loop(11, 31);
    const Reg next = k(12, "mad_lo_u32", {counter, 32, k.thread});
    k.step(13, "mbarrier_init", {at(k.address(bars, k(12, "add_u32", {next, 32}), 8)), 1});
    k.end_loop(11, counter);
    const Program program = k.finish();
    const Outcome outcome = run_mapped(program, {}, 0);
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].where.line == 13);
    CHECK_THAT(outcome.findings[0].message, ContainsSubstring("the simulator follows at most 1024"));
}
