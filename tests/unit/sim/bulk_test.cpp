// The bulk-copy engine: which waits are needed, and in which threads.
#include "async_script.hpp"

using namespace wgrun;
using namespace wgrun::sim;

namespace {

/// A tile of 128 words; each thread writes or reads one of them.
struct TileScript : AsyncScript {
    explicit TileScript(int threads = 128) : AsyncScript(threads) { mine = address(tile, thread, 4); }
    void write(int number) { step(number, "st_shared_u32", {at(mine), thread}); }
    void read(int number) { (*this)(number, "ld_shared_b32", {at(mine)}); }
    void commit(int number) { step(number, "cp_async_bulk_commit_group", {}, {first}); }

    const int tile = buffer("tile", 512);
    Reg mine;
};

const TensorBox row{Dtype::u32, {128}};

}  // namespace

TEST_CASE("a box lands in shared memory; its readers wait for the phase: WG-TMA-02") {
    Mapped x = mapped({128}, row), y = mapped({128}, row);
    for (const bool waits : {true, false}) {
        TileScript k;
        const Reg from = k.map(x), to = k.map(y);
        const int full = k.mbarriers("full", 1);
        k.init(2, full, {1});
        k.step(10, "mbarrier_arrive_expect_tx", {in_buffer(full), 512}, {k.first});
        k.load(11, in_buffer(k.tile), from, {0}, in_buffer(full), {k.first});
        if (waits) k.wait(12, in_buffer(full), 0);
        k.read(13);
        k.step(14, "bar_sync", {0});
        k.store(15, to, {0}, in_buffer(k.tile), {k.first});
        k.commit(16);
        k.step(17, "cp_async_bulk_wait_group", {0}, {k.first});
        const Program program = k.finish();
        if (waits) {
            // What a copy has written needs no proxy fence before another reads it.
            expect_mapped(program, {&x, &y}, {});
            CHECK(x.data == y.data);
        } else {
            // A warp may also read before the copy is issued. No thread waits: the copy is unfinished, too.
            expect_some(program, {&x, &y}, {{"WG-TMA-02", 13}, {"WG-RACE-01", 11}},
                        {{"WG-TMA-02", 15}, {"WG-MEM-04", 13}, {"WG-TMA-03", 11}});
            const Diagnostic finding = finding_of(program, {&x, &y}, "WG-TMA-02");
            CHECK_THAT(finding.message,
                       ContainsSubstring("reads `tile`") && ContainsSubstring("which the bulk copy writes"));
            REQUIRE(finding.notes.size() == 1);
            CHECK(finding.notes[0].where.line == 11);
        }
    }
}

TEST_CASE("a load over what was written or is read wants order, and over generic writes a proxy fence") {
    Mapped x = mapped({128}, row);
    for (const std::string how : {"all", "no fence", "no barrier"}) {
        INFO(how);
        TileScript k;
        const Reg from = k.map(x);
        const int full = k.mbarriers("full", 1);
        k.init(2, full, {1});
        k.write(10);
        if (how != "no fence") k.step(11, "fence_proxy_async");
        if (how != "no barrier") k.step(12, "bar_sync", {0});
        k.step(13, "mbarrier_arrive_expect_tx", {in_buffer(full), 512}, {k.first});
        k.load(14, in_buffer(k.tile), from, {0}, in_buffer(full), {k.first});
        k.wait(15, in_buffer(full), 0);
        k.read(16);
        const Program program = k.finish();
        if (how == "all") expect_mapped(program, {&x}, {});
        if (how == "no fence") {
            expect_mapped(program, {&x}, {{"WG-PROXY-01", 14}});
            CHECK_THAT(finding_of(program, {&x}, "WG-PROXY-01").message,
                       ContainsSubstring("the bulk copy overwrites `tile`, which thread 0 wrote through "
                                         "the generic proxy"));
        }
        if (how == "no barrier")
            expect_some(program, {&x}, {{"WG-RACE-01", 14}, {"WG-TMA-02", 10}}, {{"WG-RACE-01", 16}});
    }
}

TEST_CASE("a second load into a tile that others still read: WG-RACE-01, WG-PROXY-02") {
    Mapped x = mapped({128}, row);
    for (const std::string how : {"all", "fence of the issuer", "no fence", "nobody waits"}) {
        INFO(how);
        TileScript k;
        const Reg from = k.map(x);
        const int full = k.mbarriers("full", 1), empty = k.mbarriers("empty", 1);
        k.init(2, full, {1});
        k.init(5, empty, {128});
        for (int round = 0; round < 2; ++round) {
            if (round == 1) {
                k.step(20, "mbarrier_arrive", {in_buffer(empty)});
                if (how != "nobody waits") k.wait(21, in_buffer(empty), 0);
                if (how == "fence of the issuer") k.step(22, "fence_proxy_async", {}, {k.first});
            }
            k.step(10, "mbarrier_arrive_expect_tx", {in_buffer(full), 512}, {k.first});
            k.load(11, in_buffer(k.tile), from, {0}, in_buffer(full), {k.first});
            k.wait(12, in_buffer(full), round);
            k.read(13);
            if (how == "all") k.step(14, "fence_proxy_async", {});
        }
        const Program program = k.finish();
        if (how == "no fence")
            expect_mapped(program, {&x}, {{"WG-PROXY-02", 11}});
        else if (how != "nobody waits")
            expect_mapped(program, {&x}, {});
        else
            // A slow warp may even sleep through the phase that it waits for.
            expect_some(program, {&x},
                        {{"WG-RACE-01", 11}, {"WG-TMA-02", 13}, {"WG-MBAR-06", 12}, {"WG-PROXY-02", 11}});
    }
}

TEST_CASE("a load into a tile that a wgmma may still read: WG-RACE-02") {
    for (const bool waits : {true, false}) {
        Mapped x = mapped({128}, row);
        AsyncScript k;
        const Reg from = k.map(x);
        const int a = k.buffer("A", 2048), b = k.buffer("B", 512), full = k.mbarriers("full", 1);
        k.init(2, full, {1});
        const Reg zero = k.constant(0);
        k.step(5, "st_shared_v4_b32", {at(k.address(a, k.thread, 16)), std::vector<Reg>(4, zero)});
        k.step(5, "st_shared_b32", {at(k.address(b, k.thread, 4)), zero});
        k.step(6, "fence_proxy_async");
        k.step(7, "bar_sync", {0});
        isa::Form form;
        using isa::Field, isa::Type;
        form.set(Field::n, 8).set(Field::d, Type::f32).set(Field::a, Type::bf16).set(Field::b, Type::bf16);
        const auto descriptor = [&](int buffer, int mn) {
            const Tile tile({Dtype::bf16, mn, 16, Major::k, SwizzleMode::none, AtomOrder::mn});
            return static_cast<std::int64_t>(
                tile.descriptor(1024 + static_cast<std::uint32_t>(k.builder.shared_buffer(buffer).offset))
                    .encode());
        };
        const std::vector<Reg> acc = k.builder.regs(Type::f32, 4);
        k.step(10, "wgmma_fence");
        k.add(11, *isa::find("wgmma.mma_async"), form, {acc, descriptor(a, 64), descriptor(b, 8), 0});
        k.step(12, "wgmma_commit_group");
        if (waits) k.step(13, "wgmma_wait_group", {0});
        k.step(14, "bar_sync", {0});
        k.step(15, "mbarrier_arrive_expect_tx", {in_buffer(full), 512}, {k.first});
        k.load(16, in_buffer(b), from, {0}, in_buffer(full), {k.first});
        k.wait(17, in_buffer(full), 0);
        k.step(18, "wgmma_wait_group", {0});
        const Program program = k.finish();
        expect_mapped(program, {&x}, waits ? Found() : Found{{"WG-RACE-02", 16}});
        if (waits) continue;
        CHECK_THAT(
            finding_of(program, {&x}, "WG-RACE-02").message,
            ContainsSubstring("the bulk copy writes `B`") && ContainsSubstring("may still be reading"));
    }
}

TEST_CASE("the source of a store is written, fenced and met before: WG-MEM-04, WG-PROXY-01, WG-RACE-01") {
    Mapped y = mapped({128}, row);
    for (const std::string how : {"all", "nothing written", "no fence", "no barrier"}) {
        INFO(how);
        TileScript k;
        const Reg to = k.map(y);
        if (how != "nothing written") k.write(10);
        if (how != "no fence") k.step(11, "fence_proxy_async");
        if (how != "no barrier") k.step(12, "bar_sync", {0});
        k.store(13, to, {0}, in_buffer(k.tile), {k.first});
        k.commit(14);
        k.step(15, "cp_async_bulk_wait_group", {0}, {k.first});
        const Program program = k.finish();
        if (how == "all") {
            expect_mapped(program, {&y}, {});
            for (std::uint32_t i = 0; i < 128; ++i) REQUIRE(y.at<std::uint32_t>(4 * i) == i);
        } else if (how == "no barrier") {
            expect_some(program, {&y}, {{"WG-RACE-01", 13}, {"WG-RACE-03", 10}}, {{"WG-MEM-04", 13}});
        } else {
            expect_mapped(program, {&y}, {{how == "no fence" ? "WG-PROXY-01" : "WG-MEM-04", 13}});
        }
    }
}

TEST_CASE("the source of a store is overwritten when the thread that issued it has waited: WG-RACE-03") {
    Mapped y = mapped({128}, row);
    for (const std::string how : {"wait", "read", "by another thread", "no wait", "no barrier",
                                  "not committed", "the group before"}) {
        INFO(how);
        TileScript k;
        const Reg to = k.map(y), other = k(1, "setp_eq_u32", {k.thread, 32});
        isa::Form read;
        if (how == "read") read.set(isa::Field::read, 1);
        k.write(10);
        k.step(11, "fence_proxy_async");
        k.step(12, "bar_sync", {0});
        k.store(13, to, {0}, in_buffer(k.tile), {k.first});
        if (how != "not committed") k.commit(14);
        if (how != "no wait")
            k.add(15, *isa::find("cp.async.bulk.wait_group"), read, {how == "the group before" ? 1 : 0},
                  {how == "by another thread" ? other : k.first});
        if (how != "no barrier") k.step(16, "bar_sync", {0});
        k.write(17);
        k.commit(18);
        k.step(19, "cp_async_bulk_wait_group", {0}, {k.first});
        const Program program = k.finish();
        if (how == "wait" || how == "read") {
            expect_mapped(program, {&y}, {});
        } else if (how == "no barrier") {
            // The other warps may also write before the copy is issued.
            expect_some(program, {&y}, {{"WG-RACE-03", 17}, {"WG-RACE-01", 13}});
        } else {
            expect_mapped(program, {&y}, {{"WG-RACE-03", 17}});
            const Diagnostic finding = finding_of(program, {&y}, "WG-RACE-03");
            CHECK_THAT(finding.message,
                       ContainsSubstring("which the bulk copy of line 13 may still be reading"));
            REQUIRE(finding.notes.size() == 1);
            CHECK(finding.notes[0].where.line == 13);
        }
    }
}

TEST_CASE("groups complete in order: wait_group leaves the youngest running") {
    Mapped y = mapped({256}, {Dtype::u32, {128}});
    for (const int pending : {0, 1}) {
        TileScript k;
        const Reg to = k.map(y);
        const int second = k.buffer("second", 512);
        k.write(10);
        k.step(10, "st_shared_u32", {at(k.address(second, k.thread, 4)), k.thread});
        k.step(11, "fence_proxy_async");
        k.step(12, "bar_sync", {0});
        k.store(13, to, {0}, in_buffer(k.tile), {k.first});
        k.commit(14);
        k.store(15, to, {128}, in_buffer(second), {k.first});
        k.commit(16);
        k.step(17, "cp_async_bulk_wait_group", {pending}, {k.first});
        k.step(18, "bar_sync", {0});
        k.write(19);
        k.step(20, "st_shared_u32", {at(k.address(second, k.thread, 4)), 0});
        k.step(21, "cp_async_bulk_wait_group", {0}, {k.first});
        expect_mapped(k.finish(), {&y}, pending == 0 ? Found() : Found{{"WG-RACE-03", 20}});
    }
}

TEST_CASE("a CTA waits for its copies before it ends: WG-TMA-03") {
    Mapped x = mapped({128}, row);
    SECTION("a store that is committed only") {
        TileScript k;
        const Reg to = k.map(x);
        k.write(10);
        k.step(11, "fence_proxy_async");
        k.step(12, "bar_sync", {0});
        k.store(13, to, {0}, in_buffer(k.tile), {k.first});
        k.commit(14);
        const Program program = k.finish();
        expect_mapped(program, {&x}, {{"WG-TMA-03", 13}});
        CHECK_THAT(finding_of(program, {&x}, "WG-TMA-03").message,
                   ContainsSubstring("nothing has waited for this copy to read its shared memory"));
    }
    SECTION("a load") {
        TileScript k;
        const Reg from = k.map(x);
        const int full = k.mbarriers("full", 1);
        k.init(2, full, {1});
        k.step(10, "mbarrier_arrive_expect_tx", {in_buffer(full), 512}, {k.first});
        k.load(11, in_buffer(k.tile), from, {0}, in_buffer(full), {k.first});
        const Program program = k.finish();
        expect_mapped(program, {&x}, {{"WG-TMA-03", 11}});
        CHECK_THAT(finding_of(program, {&x}, "WG-TMA-03").message,
                   ContainsSubstring("nothing has waited for the mbarrier that counts this copy"));
    }
}

TEST_CASE("every lane that issues makes a copy of its own: two write the same bytes") {
    Mapped x = mapped({128}, row);
    TileScript k(32);
    const Reg from = k.map(x);
    const int full = k.mbarriers("full", 1);
    k.init(2, full, {1});
    const Reg two = k(1, "setp_lt_u32", {k.thread, 2});
    k.step(10, "mbarrier_arrive_expect_tx", {in_buffer(full), 1024}, {k.first});
    k.load(11, in_buffer(k.tile), from, {0}, in_buffer(full), {two});
    k.wait(12, in_buffer(full), 0);
    const Program program = k.finish();
    expect_mapped(program, {&x}, {{"WG-TMA-02", 11}});
    CHECK_THAT(finding_of(program, {&x}, "WG-TMA-02").message,
               ContainsSubstring("the bulk copy writes `tile`, which the bulk copy writes"));
}
