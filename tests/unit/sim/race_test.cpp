// Generic accesses to shared memory: what barriers order, and what they do not.
#include "script.hpp"

using namespace wgrun;
using namespace wgrun::sim;

TEST_CASE("a barrier orders a write and the read of another warp; without it: WG-RACE-01") {
    for (const bool met : {true, false}) {
        Script k(64);
        const Reg tid = k.tid();
        const int buffer = k.buffer("buf", 256);
        const Reg here = k.address(buffer, tid, 4), there = k.address(buffer, k(1, "xor_b32", {tid, 32}), 4);
        k.step(10, "st_shared_u32", {at(here), tid});
        if (met) k.step(11, "bar_sync", {0});
        k(12, "ld_shared_u32", {at(there)});
        const Program program = k.finish();
        if (met) {
            expect(program, {});
            continue;
        }
        for (std::uint64_t seed = 0; seed < 24; ++seed) {
            // A warp that reads before the other has written finds nothing there.
            const Outcome outcome = run_with(program, seed);
            const Found all = found(outcome);
            CHECK((all.count({"WG-RACE-01", 12}) == 1 || all.count({"WG-RACE-01", 10}) == 1));
            for (const auto& [rule, line] : all) CHECK((rule == "WG-RACE-01" || rule == "WG-MEM-04"));
        }
        const Diagnostic finding = run_with(program, 0).findings.back();
        CHECK(finding.rule == "WG-RACE-01");
        CHECK_THAT(finding.message,
                   ContainsSubstring("`buf`") && ContainsSubstring("nothing orders the two"));
        CHECK(finding.notes.size() == 1);
    }
}

TEST_CASE("two warps that write one word: WG-RACE-01, even the same value") {
    Script k(64);
    const int buffer = k.buffer("buf", 256);
    k.step(10, "st_shared_u32", {in_buffer(buffer), 7}, {k(1, "setp_eq_u32", {k.special("laneid"), 0})});
    expect(k.finish(), {{"WG-RACE-01", 10}});
}

TEST_CASE("of two warps that write one value it is said so, of half a word too") {
    Script k(64);
    const int buffer = k.buffer("buf", 256);
    const Reg value = k.builder.reg(isa::Type::u16);
    k.step(1, "mov_u16", {value, 5});
    k.step(10, "st_shared_u16", {in_buffer(buffer, 2), value},
           {k(1, "setp_eq_u32", {k.special("laneid"), 0})});
    const Program program = k.finish();
    expect(program, {{"WG-RACE-01", 10}});
    CHECK_THAT(run_with(program, 0).findings.at(0).message, ContainsSubstring("with the same value"));
}

TEST_CASE("a write after the reads of others wants a barrier") {
    for (const bool met : {true, false}) {
        Script k(128);
        const Reg tid = k.tid();
        const int buffer = k.buffer("buf", 512);
        const Reg first = k(1, "setp_eq_u32", {tid, 0});
        k.step(10, "st_shared_u32", {in_buffer(buffer), 7}, {first});
        k.step(11, "bar_sync", {0});
        k(12, "ld_shared_u32", {in_buffer(buffer)});
        if (met) k.step(13, "bar_sync", {0});
        k.step(14, "st_shared_u32", {in_buffer(buffer), 8}, {first});
        const Program program = k.finish();
        if (met)
            expect(program, {});
        else
            expect_either(program, "WG-RACE-01", {12, 14});
    }
}

TEST_CASE("every reader must be met, not only the last one") {
    // Warps 0 to 3 read; warps 0 to 2 meet warp 0, which then writes.
    Script k(128);
    const Reg tid = k.tid();
    const int buffer = k.buffer("buf", 16);
    const Reg first = k(1, "setp_eq_u32", {tid, 0}), three = k(1, "setp_lt_u32", {tid, 96});
    k.step(10, "st_shared_u32", {in_buffer(buffer), 7}, {first});
    k.step(11, "bar_sync", {0});
    k(12, "ld_shared_u32", {in_buffer(buffer)});
    k.begin_if(13, three);
    k.step(14, "bar_sync", {1, 96});
    k.step(15, "st_shared_u32", {in_buffer(buffer), 8}, {first});
    k.builder.end_if();
    expect_either(k.finish(), "WG-RACE-01", {12, 15});
}

TEST_CASE("neighbouring bytes and halves of a word do not disturb each other") {
    for (const char* store : {"st_shared_u8", "st_shared_u16"}) {
        const int size = store[11] == '8' ? 1 : 2;
        Script k(64);
        const Reg tid = k.tid();
        const int buffer = k.buffer("buf", 128);
        // Thread t writes element t / 32 + 2 * (t % 32): every word has bytes of both warps.
        const Reg lane = k(1, "and_b32", {tid, 31}), warp = k(1, "shr_u32", {tid, 5});
        const Reg index = k(1, "mad_lo_u32", {lane, 2, warp});
        const Reg value = k.builder.reg(isa::Type::u16);
        k.step(1, "mov_u16", {value, 5});
        k.step(10, store, {at(k.address(buffer, index, size)), value});
        k.step(11, "bar_sync", {0});
        k(12, "ld_shared_u8", {at(k.address(buffer, tid, 1))});
        expect(k.finish(), {});
    }
}

TEST_CASE("halves of one word written by two warps and read whole: each writer counts") {
    for (const bool met : {true, false}) {
        Script k(96);
        const Reg tid = k.tid();
        const int buffer = k.buffer("buf", 16);
        const Reg value = k.builder.reg(isa::Type::u16);
        k.step(1, "mov_u16", {value, 5});
        k.step(10, "st_shared_u16", {in_buffer(buffer, 0), value}, {k(1, "setp_eq_u32", {tid, 0})});
        k.step(11, "st_shared_u16", {in_buffer(buffer, 2), value}, {k(1, "setp_eq_u32", {tid, 32})});
        const Reg some = k(1, "setp_lt_u32", {tid, 64});
        if (met) {
            k.step(12, "bar_sync", {0});
            k(13, "ld_shared_u32", {in_buffer(buffer)}, {k(1, "setp_eq_u32", {tid, 0})});
            expect(k.finish(), {});
        } else {
            k.step(12, "bar_sync", {1, 64}, {some});
            k.step(13, "bar_sync", {2, 64}, {k(1, "setp_ge_u32", {tid, 32})});
            k(14, "ld_shared_u32", {in_buffer(buffer)}, {k(1, "setp_eq_u32", {tid, 64})});
            k.step(15, "st_shared_u16", {in_buffer(buffer, 0), value}, {k(1, "setp_eq_u32", {tid, 0})});
            // Warp 2 has met warp 1 after both writes, and so knows of warp 0's first; not of its second.
            expect_either(k.finish(), "WG-RACE-01", {14, 15});
        }
    }
}

TEST_CASE("lanes that write one word in one step: the same value or WG-RACE-01") {
    Script k(32);
    const Reg lane = k.special("laneid");
    const int buffer = k.buffer("buf", 16);
    SECTION("the same") {
        k.step(10, "st_shared_u32", {in_buffer(buffer), 7});
        expect(k.finish(), {});
    }
    SECTION("different ones") {
        k.step(10, "st_shared_u32", {in_buffer(buffer, 4), lane});
        const Program program = k.finish();
        expect(program, {{"WG-RACE-01", 10}});
        CHECK(run_with(program, 0).findings.at(0).message ==
              "threads 0 and 1 write different values to `buf` + 4 in one step");
    }
    SECTION("different steps") {
        const Reg i = k.begin_loop(9, 3);
        k.step(10, "st_shared_u32", {in_buffer(buffer), i});
        k.end_loop(9, i);
        expect(k.finish(), {});
    }
}

TEST_CASE("a barrier of two warps orders these two only, and what they knew goes along") {
    // 0 writes and meets 1; 1 meets 2; 2 reads: ordered through warp 1.
    Script k(96);
    const Reg tid = k.tid();
    const int buffer = k.buffer("buf", 16);
    k.step(10, "st_shared_u32", {in_buffer(buffer), 7}, {k(1, "setp_eq_u32", {tid, 0})});
    k.step(11, "bar_sync", {1, 64}, {k(1, "setp_lt_u32", {tid, 64})});
    k.step(12, "bar_sync", {2, 64}, {k(1, "setp_ge_u32", {tid, 32})});
    k(13, "ld_shared_u32", {in_buffer(buffer)}, {k(1, "setp_ge_u32", {tid, 64})});
    expect(k.finish(), {});
}

TEST_CASE("without detection the machine runs the same and says nothing of races") {
    Script k(64);
    const int buffer = k.buffer("buf", 16);
    k.step(10, "st_shared_u32", {in_buffer(buffer), k.tid()},
           {k(1, "setp_eq_u32", {k.special("laneid"), 0})});
    const Program program = k.finish();
    SimulatedLaunch launch;
    launch.detect_races = false;
    CHECK(run(program, launch).findings.empty());
    launch.detect_races = true;
    CHECK_FALSE(run(program, launch).findings.empty());
}
