// The bulk-copy engine: what it moves, and what must be waited for.
#include "async_script.hpp"

using namespace wgrun;
using namespace wgrun::sim;

TEST_CASE("a box of a tensor lands in shared memory; its readers wait for the phase: WG-TMA-02") {
    Mapped x = mapped({32, 16}, {Dtype::f32, {16, 8}});
    Mapped y = mapped({16, 8}, {Dtype::f32, {16, 8}});
    for (const bool waits : {true, false}) {
        AsyncScript k;
        const Reg from = k.map(x), to = k.map(y);
        const int tile = k.buffer("tile", 512), out = k.buffer("out", 512), full = k.mbarriers("full", 1);
        k.init(2, full, {1});
        k.step(10, "mbarrier_arrive_expect_tx", {in_buffer(full), 512}, {k.first});
        k.load(11, in_buffer(tile), from, {16, 8}, in_buffer(full), {k.first});
        if (waits) k.wait(12, in_buffer(full), 0);
        const Reg value = k(13, "ld_shared_b32", {at(k.address(tile, k.thread, 4))});
        k.step(14, "st_shared_b32", {at(k.address(out, k.thread, 4)), value});
        k.step(15, "fence_proxy_async");
        k.step(16, "bar_sync", {0});
        k.store(17, to, {0, 0}, in_buffer(out), {k.first});
        k.step(18, "cp_async_bulk_commit_group", {}, {k.first});
        k.step(19, "cp_async_bulk_wait_group", {0}, {k.first});
        const Program program = k.finish();
        if (waits) {
            expect_mapped(program, {&x, &y}, {});
            for (std::int64_t row = 0; row < 8; ++row)
                for (std::int64_t column = 0; column < 16; ++column)
                    REQUIRE(y.at<std::uint32_t>(4 * (16 * row + column)) ==
                            x.at<std::uint32_t>(4 * (32 * (row + 8) + 16 + column)));
        } else {
            // A warp may also read before the copy is issued. Nobody waits at all: it is unfinished, too.
            expect_some(program, {&x, &y}, {{"WG-TMA-02", 13}, {"WG-RACE-01", 11}},
                        {{"WG-MEM-04", 13}, {"WG-TMA-03", 11}});
            const Diagnostic finding = finding_of(program, {&x, &y}, "WG-TMA-02");
            CHECK_THAT(finding.message, ContainsSubstring("reads `tile` + ") &&
                                            ContainsSubstring("which the bulk copy writes"));
            REQUIRE(finding.notes.size() == 1);
            CHECK(finding.notes[0].where.line == 11);
        }
    }
}
