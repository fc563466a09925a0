// Lanes of one warp: the others know what one of them did when they have reconverged (bar.warp.sync, or a
// barrier).
#include "async_script.hpp"
#include "sim/clocks.hpp"

using namespace wgrun;
using namespace wgrun::sim;

namespace {

constexpr int words = 128;  // bytes: one word a lane

struct LaneScript : AsyncScript {
    LaneScript() : AsyncScript(32) {
        own = address(buffer, thread, 4);
        last = is(31);
    }
    Reg is(int lane) { return (*this)(1, "setp_eq_u32", {thread, lane}); }
    /// Every lane writes its word.
    void fill(int number) { step(number, "st_shared_u32", {at(own), 7}); }
    void meet(int number) { step(number, "bar_warp_sync"); }

    const int buffer = builder.shared("buf", words, 128, std::nullopt);
    Reg own, last;
};

Mapped row() { return mapped({32}, {Dtype::u32, {32}}); }

}  // namespace

TEST_CASE("a lane overwrites what other lanes read: they meet before, else WG-RACE-01") {
    for (const bool met : {true, false})
        for (const int writer : {0, 5, 31}) {
            LaneScript k;
            k.fill(10);
            k.meet(11);
            k(12, "ld_shared_u32", {in_buffer(k.buffer)});
            if (met) k.meet(13);
            k.step(14, "st_shared_u32", {in_buffer(k.buffer), 8}, {k.is(writer)});
            const Program program = k.finish();
            expect(program, met ? Found{} : Found{{"WG-RACE-01", 14}});
            if (met) continue;
            const Diagnostic finding = run_with(program, 0).findings.at(0);
            CHECK_THAT(finding.message, ContainsSubstring("writes `buf`, which") &&
                                            ContainsSubstring("reads: nothing orders the two"));
            CHECK(finding.fix.ends_with("by bar.warp.sync or a barrier, after line 12 and before line 14"));
            REQUIRE(finding.notes.size() == 1);
            CHECK(finding.notes[0].where.line == 12);
            CHECK(finding.notes[0].message ==
                  (writer == 31 ? "read here by another lane of its warp" : "read here by thread 31"));
        }
}

TEST_CASE("a lane overwrites what it alone read, or what others read before they met") {
    LaneScript k;
    k.fill(10);
    k(11, "ld_shared_u32", {at(k.own)});
    k.step(12, "st_shared_u32", {at(k.own), 8});
    k.meet(13);
    k(14, "ld_shared_u32", {in_buffer(k.buffer)});
    k.meet(15);
    k(16, "ld_shared_u32", {in_buffer(k.buffer)}, {k.last});
    k.step(17, "st_shared_u32", {in_buffer(k.buffer), 9}, {k.last});
    expect(k.finish(), {});
}

TEST_CASE("of two lanes that read, each stands in the way of the other") {
    for (const int writer : {3, 4}) {
        LaneScript k;
        k.fill(10);
        k.meet(11);
        k(12, "ld_shared_u32", {in_buffer(k.buffer)}, {k.is(3)});
        k(13, "ld_shared_u32", {in_buffer(k.buffer)}, {k.is(4)});
        k.step(14, "st_shared_u32", {in_buffer(k.buffer), 9}, {k.is(writer)});
        expect(k.finish(), {{"WG-RACE-01", 14}});
    }
}

TEST_CASE("two lanes write one word in turn: they meet before the second, else WG-RACE-01") {
    for (const bool met : {true, false}) {
        LaneScript k;
        k.step(10, "st_shared_u32", {in_buffer(k.buffer), 1}, {k.first});
        k.step(11, "st_shared_u32", {in_buffer(k.buffer), 2}, {k.first});
        if (met) k.meet(12);
        k.step(13, "st_shared_u32", {in_buffer(k.buffer), 3}, {k.last});
        expect(k.finish(), met ? Found{} : Found{{"WG-RACE-01", 13}});
    }
}

TEST_CASE("bytes of a word that one lane reads and another writes are no race, the same byte is") {
    for (const int byte : {1, 2}) {
        LaneScript k;
        k.fill(10);
        k.meet(11);
        const Reg value = k.builder.reg(isa::Type::u16);
        k.step(1, "mov_u16", {value, 5});
        k(12, "ld_shared_u8", {in_buffer(k.buffer, 1)}, {k.first});
        k.step(13, "st_shared_u8", {in_buffer(k.buffer, byte), value}, {k.last});
        expect(k.finish(), byte == 1 ? Found{{"WG-RACE-01", 13}} : Found{});
    }
}

TEST_CASE("readers of another warp do not hide those of one's own") {
    // Both warps read; warp 1 tells warp 0, whose last lane then overwrites what its other lanes read.
    for (const bool met : {true, false}) {
        Script k(64);
        const Reg tid = k.tid();
        const int buffer = k.buffer("buf", 16);
        k.step(10, "st_shared_u32", {in_buffer(buffer), 7}, {k(1, "setp_eq_u32", {tid, 0})});
        k.step(11, "bar_sync", {0});
        const Reg low = k(1, "setp_lt_u32", {tid, 32});
        k.begin_if(12, low, true);
        k(13, "ld_shared_u32", {in_buffer(buffer)});
        k.step(14, "bar_arrive", {1, 64});
        k.builder.end_if();
        k.begin_if(15, low);
        k.step(16, "bar_sync", {1, 64});
        k(17, "ld_shared_u32", {in_buffer(buffer)});
        if (met) k.step(18, "bar_warp_sync");
        k.step(19, "st_shared_u32", {in_buffer(buffer), 8}, {k(1, "setp_eq_u32", {tid, 31})});
        k.builder.end_if();
        expect(k.finish(), met ? Found{} : Found{{"WG-RACE-01", 19}});
    }
}

TEST_CASE("lanes that meet at a barrier, or wait for a phase at which all arrived, have met") {
    for (const std::string how : {"barrier", "phase"}) {
        INFO(how);
        LaneScript k;
        const int bar = k.mbarriers("bar", 1);
        k.init(2, bar, {32});
        k.fill(10);
        k.meet(11);
        k(12, "ld_shared_u32", {in_buffer(k.buffer)});
        if (how == "barrier") {
            k.step(13, "bar_sync", {0});
        } else {
            k.step(13, "mbarrier_arrive", {in_buffer(bar)});
            k.wait(14, in_buffer(bar), 0);
        }
        k.step(15, "st_shared_u32", {in_buffer(k.buffer), 8}, {k.first});
        expect(k.finish(), {});
    }
}

TEST_CASE("atomics of several lanes on one word need no meeting") {
    LaneScript k;
    k.fill(10);
    k.meet(11);
    k(12, "atom_shared_add_u32", {in_buffer(k.buffer), 1});
    k(13, "atom_shared_add_u32", {in_buffer(k.buffer), 1});
    expect(k.finish(), {});
}

TEST_CASE("one lane copies over what others read or wrote, when they have met: else WG-RACE-01") {
    for (const std::string before : {"read", "write"})
        for (const bool met : {true, false}) {
            INFO(before << met);
            Mapped x = row();
            LaneScript k;
            const Reg from = k.map(x);
            const int full = k.mbarriers("full", 1);
            k.init(2, full, {1});
            k.fill(10);
            if (before == "read") {
                k.meet(11);
                k(12, "ld_shared_u32", {at(k.own)});
            }
            k.step(13, "fence_proxy_async");
            if (met) k.meet(14);
            k.step(15, "mbarrier_arrive_expect_tx", {in_buffer(full), words}, {k.first});
            k.load(16, in_buffer(k.buffer), from, {0}, in_buffer(full), {k.first});
            k.wait(17, in_buffer(full), 0);
            expect_mapped(k.finish(), {&x}, met ? Found{} : Found{{"WG-RACE-01", 16}});
        }
}

TEST_CASE("one lane stores what others wrote, when they have met: else WG-RACE-01") {
    for (const bool met : {true, false}) {
        Mapped x = row();
        LaneScript k;
        const Reg to = k.map(x);
        k.fill(10);
        k.step(11, "fence_proxy_async");
        if (met) k.meet(12);
        k.store(13, to, {0}, in_buffer(k.buffer), {k.first});
        k.step(14, "cp_async_bulk_commit_group", {}, {k.first});
        k.step(15, "cp_async_bulk_wait_group", {0}, {k.first});
        const Program program = k.finish();
        const Outcome outcome = expect_mapped(program, {&x}, met ? Found{} : Found{{"WG-RACE-01", 13}});
        if (!met)
            CHECK(outcome.findings.at(0).fix.ends_with(
                "after line 10, then bar.warp.sync or a barrier, before line 13"));
    }
}

TEST_CASE("cp.async over what other lanes read, when they have met: else WG-RACE-01") {
    for (const bool met : {true, false}) {
        LaneScript k;
        k.builder.param("x", isa::Type::u64, Dtype::u32);
        const Reg from = k(1, "ld_param_u64", {Operand::param(0)});
        k.fill(10);
        k.meet(11);
        k(12, "ld_shared_u32", {in_buffer(k.buffer)});
        if (met) k.meet(13);
        k.step(14, "cp_async_cg", {in_buffer(k.buffer), at(from)}, {k.first});
        k.step(15, "cp_async_wait_all");
        std::vector<std::byte> data(16);
        const GlobalBuffer x{data.data(), 16, 4096};
        const Outcome outcome = run_with(k.finish(), 0, {&x, 1});
        INFO(text_of(outcome));
        CHECK(found(outcome) == (met ? Found{} : Found{{"WG-RACE-01", 14}}));
    }
}

TEST_CASE("one lane tells another warp of what all lanes did, when they have met: else WG-RACE-01") {
    for (const bool met : {true, false}) {
        AsyncScript k(64);
        const int bar = k.mbarriers("bar", 1), buffer = k.builder.shared("buf", words, 128, std::nullopt);
        k.init(2, bar, {1});
        const Reg lane = k.special("laneid"), own = k.address(buffer, lane, 4);
        k.begin_if(10, k(1, "setp_lt_u32", {k.thread, 32}));
        k.step(11, "st_shared_u32", {at(own), 7});
        if (met) k.step(12, "bar_warp_sync");
        k.step(13, "mbarrier_arrive", {in_buffer(bar)}, {k.first});
        k.builder.begin_else();
        k.wait(14, in_buffer(bar), 0);
        k(15, "ld_shared_u32", {at(own)});
        k.builder.end_if();
        const Program program = k.finish();
        expect(program, met ? Found{} : Found{{"WG-RACE-01", 15}});
        if (!met)
            CHECK(run_with(program, 0).findings.at(0).fix ==
                  "the lanes have to meet after line 11, before one of them tells of the whole warp");
    }
}

TEST_CASE("a fence.proxy.async is its lane's until the lanes meet: WG-PROXY-01") {
    for (const bool met : {true, false})
        for (const int fencing : {0, 7}) {
            Mapped x = row();
            LaneScript k;
            const Reg to = k.map(x);
            k.fill(10);
            k.meet(11);
            k.step(12, "fence_proxy_async", {}, {k.is(fencing)});
            if (met) k.meet(13);
            k.store(14, to, {0}, in_buffer(k.buffer), {k.first});
            k.step(15, "cp_async_bulk_commit_group", {}, {k.first});
            k.step(16, "cp_async_bulk_wait_group", {0}, {k.first});
            expect_mapped(k.finish(), {&x}, met || fencing == 0 ? Found{} : Found{{"WG-PROXY-01", 14}});
        }
}

TEST_CASE("of lanes that have learned something together, the one that fences is ahead of the others") {
    constexpr Lanes both{6, UINT32_MAX}, one{2, UINT32_MAX}, all{UINT32_MAX, UINT32_MAX};
    Clocks clocks(2);
    const int place = clocks.add_place();
    const std::uint32_t written = clocks.now(1);
    clocks.release(1, place, all);
    clocks.acquire(0, place, both);
    clocks.proxy_fence(0, one, machine::ProxyFence({}));
    const auto published = [&](int lane) { return clocks.of(0, lane).published[isa::lanes]; };
    CHECK(published(1) == written);
    CHECK(published(2) == 0);
    CHECK(clocks.of(0, 2).seen[1] == written);
    clocks.meet(0, all);
    CHECK(published(2) == written);
    CHECK(published(3) == written);
}

TEST_CASE("an mbarrier that one lane makes is known to the others when they have met: WG-MBAR-02") {
    for (const bool met : {true, false})
        for (const int user : {0, 7}) {
            LaneScript k;
            const int bar = k.mbarriers("bar", 1);
            k.step(10, "mbarrier_init", {in_buffer(bar), 1}, {k.first});
            if (met) k.meet(11);
            k.step(12, "mbarrier_arrive", {in_buffer(bar)}, {k.is(user)});
            const Program program = k.finish();
            expect(program, met || user == 0 ? Found{} : Found{{"WG-MBAR-02", 12}});
            if (met || user == 0) continue;
            const Diagnostic finding = run_with(program, 0).findings.at(0);
            CHECK(finding.message == "nothing tells thread 7 that the mbarrier `bar` is initialised");
            REQUIRE(finding.notes.size() == 1);
            CHECK(finding.notes[0].where.line == 10);
        }
}

TEST_CASE(
    "a relaxed arrival at the cluster's barrier tells all lanes of what one has announced, and no more") {
    for (const bool announced : {true, false}) {
        AsyncScript k(32, {2, 1, 1});
        const int bar = k.mbarriers("bar", 1);
        k.step(10, "mbarrier_init", {in_buffer(bar), 32}, {k.first});
        if (announced) k.step(11, "fence_mbarrier_init", {}, {k.first});
        isa::Form relaxed;
        relaxed.set(isa::Field::sem, isa::parse_value(isa::Field::sem, "relaxed").value());
        k.add(12, *isa::find("barrier.cluster.arrive"), relaxed, {});
        k.step(13, "barrier_cluster_wait");
        k.step(14, "mbarrier_arrive", {in_buffer(bar)});
        expect_mapped(k.finish(), {}, announced ? Found{} : Found{{"WG-MBAR-02", 14}}, {2});
    }
}
