// st.async, red.async and cp.reduce.async.bulk: what is sent to another CTA of the cluster, and the mbarrier
// that counts it.
#include "async_script.hpp"

using namespace wgrun;
using namespace wgrun::sim;

namespace {

/// Two CTAs of one warp each; every lane stores to the other CTA, whose mbarrier `full` counts the bytes.
struct SendScript : AsyncScript {
    explicit SendScript(Mapped& out) : AsyncScript(32, {2, 1, 1}) {
        map = AsyncScript::map(out);
        rank = special("cluster_ctarank");
        const Reg other = (*this)(1, "xor_b32", {rank, 1});
        full = mbarriers("full", 1);
        tile = buffer("tile", 512);
        start = address(tile, thread, 16);
        there = (*this)(1, "mapa_u32", {start, other});
        full_there = (*this)(1, "mapa_u32", {in(full), other});
        init(2, full, {1});
        meet(4);
    }
    void meet(int number) {
        step(number, "barrier_cluster_arrive");
        step(number + 1, "barrier_cluster_wait");
    }
    void expect_bytes(int number, int bytes) {
        step(number, "mbarrier_arrive_expect_tx", {in_buffer(full), bytes}, {first});
    }
    /// The tile is written out as words: that of CTA c from element 128 * c on.
    void give_back(int number) {
        step(number, "fence_proxy_async");
        step(number + 1, "bar_sync", {0});
        const Reg column = (*this)(1, "mul_lo_s32", {rank, 128});
        step(number + 2, "cp_async_bulk_tensor_store_1d", {map, std::vector<Reg>{column}, in_buffer(tile)},
             {first});
        step(number + 3, "cp_async_bulk_commit_group", {}, {first});
        step(number + 4, "cp_async_bulk_wait_group", {0}, {first});
    }

    Reg map, rank, start, there, full_there;
    int full = 0, tile = 0;
};

Mapped words() { return mapped({256}, {Dtype::u32, {128}}); }

}  // namespace

TEST_CASE("values come to the other CTA, of every size") {
    for (const char* store : {"st_async_b32", "st_async_b64", "st_async_v2_b64", "st_async_v4_b32"}) {
        const std::string name(store);
        const int count = name.find("v4") != std::string::npos   ? 4
                          : name.find("v2") != std::string::npos ? 2
                                                                 : 1;
        const int size = name.ends_with("b64") ? 8 : 4;
        Mapped out = words();
        SendScript k(out);
        k.expect_bytes(10, 32 * size * count);
        std::vector<Reg> values;
        for (int i = 0; i < count; ++i) {
            const Reg value =
                k(1, "mad_lo_u32", {k.thread, 100, k(1, "mad_lo_u32", {k.rank, 10000, k.constant(i + 1)})});
            values.push_back(size == 8 ? k(1, "cvt_u64_u32", {value}) : value);
        }
        // What no lane stores is zero.
        k.step(11, "st_shared_v4_b32", {at(k.start), std::vector<Reg>(4, k.constant(0))});
        k.meet(12);
        k.step(14, store, {at(k.there), count == 1 ? Arg(values[0]) : Arg(values), at(k.full_there)});
        k.wait(15, in_buffer(k.full), 0);
        k.give_back(16);
        const Program program = k.finish();
        for (std::uint64_t seed = 0; seed < 12; ++seed) {
            const Outcome outcome = run_mapped(program, {&out}, seed, {2, 1, 1});
            INFO(store << " seed " << seed << '\n' << text_of(outcome));
            REQUIRE(outcome.findings.empty());
            for (int c = 0; c < 2; ++c)
                for (int t = 0; t < 32; ++t)
                    for (int w = 0; w < 4; ++w) {
                        const int i = w * 4 / size;
                        const bool sent = i < count && w * 4 % size == 0;
                        const int want = sent ? t * 100 + (1 - c) * 10000 + i + 1 : 0;
                        CHECK(out.at<std::int32_t>(512 * c + 16 * t + 4 * w) == want);
                    }
        }
    }
}

TEST_CASE("values are combined in the other CTA") {
    struct Case {
        const char* op;
        std::uint32_t (*want)(std::uint32_t old, std::uint32_t sum, std::uint32_t most);
    };
    for (const Case& c : {Case{"add_u32", [](auto old, auto sum, auto) { return old + sum; }},
                          Case{"max_u32", [](auto old, auto, auto most) { return std::max(old, most); }},
                          Case{"or_b32", [](auto old, auto, auto) { return old | 31U; }}}) {
        Mapped out = words();
        SendScript k(out);
        k.expect_bytes(10, 32 * 4);
        k.step(11, "st_shared_v4_b32", {at(k.start), std::vector<Reg>(4, k.constant(64))});
        k.meet(12);
        // All lanes store to the same word: their order does not matter.
        const Reg place = k(1, "mapa_u32", {k.in(k.tile), k(1, "xor_b32", {k.rank, 1})});
        k.step(14, std::string("red_async_") + c.op, {at(place), k.thread, at(k.full_there)});
        k.wait(15, in_buffer(k.full), 0);
        k.give_back(16);
        const Program program = k.finish();
        for (std::uint64_t seed = 0; seed < 12; ++seed) {
            const Outcome outcome = run_mapped(program, {&out}, seed, {2, 1, 1});
            INFO(c.op << " seed " << seed << '\n' << text_of(outcome));
            REQUIRE(outcome.findings.empty());
            for (int cta = 0; cta < 2; ++cta)
                CHECK(out.at<std::uint32_t>(512 * cta) == c.want(64, 31 * 32 / 2, 31));
        }
    }
}

TEST_CASE("bulk copies reduce into another CTA, and no two of them race") {
    struct Case {
        const char* op;
        std::uint32_t (*want)(std::uint32_t old, std::uint32_t value);
    };
    for (const Case& c :
         {Case{"add_u32", [](auto old, auto value) { return old + 2 * value; }},
          Case{"min_s32", [](auto old, auto value) { return std::min(old, value); }},
          Case{"xor_b32", [](auto old, auto) { return old; }}, Case{"inc_u32", [](auto old, auto value) {
                                                                        for (int i = 0; i < 2; ++i)
                                                                            old = old >= value ? 0 : old + 1;
                                                                        return old;
                                                                    }}}) {
        Mapped out = words();
        SendScript k(out);
        const int from = k.buffer("from", 128);
        k.expect_bytes(10, 2 * 128);
        const Reg value = k(1, "mad_lo_u32", {k.thread, 5, k.rank});
        k.step(11, "st_shared_u32", {at(k.address(from, k.thread, 4)), value});
        k.step(11, "st_shared_v4_b32", {at(k.start), std::vector<Reg>(4, k.constant(64))});
        k.step(11, "fence_proxy_async");
        k.meet(12);
        const Reg place = k(1, "mapa_u32", {k.in(k.tile), k(1, "xor_b32", {k.rank, 1})});
        for (int twice = 0; twice < 2; ++twice)
            k.step(14, std::string("cp_reduce_async_bulk_cluster_") + c.op,
                   {at(place), in_buffer(from), 128, at(k.full_there)}, {k.first});
        k.wait(15, in_buffer(k.full), 0);
        k.give_back(16);
        k.meet(21);
        const Program program = k.finish();
        for (std::uint64_t seed = 0; seed < 12; ++seed) {
            const Outcome outcome = run_mapped(program, {&out}, seed, {2, 1, 1});
            INFO(c.op << " seed " << seed << '\n' << text_of(outcome));
            REQUIRE(outcome.findings.empty());
            for (std::uint32_t cta = 0; cta < 2; ++cta)
                for (std::uint32_t t = 0; t < 32; ++t)
                    CHECK(out.at<std::uint32_t>(512 * cta + 4 * t) == c.want(64, 5 * t + 1 - cta));
        }
    }
}

TEST_CASE("a reducing bulk copy races with other accesses, wants a fence, and its bytes are expected") {
    enum class Lacks : std::uint8_t { nothing, fence, meeting, wait, bytes };
    using enum Lacks;
    for (const Lacks lacks : {nothing, fence, meeting, wait, bytes}) {
        Mapped out = words();
        SendScript k(out);
        const int from = k.buffer("from", 512);
        k.expect_bytes(10, lacks == bytes ? 256 : 512);
        for (const Reg start : {k.start, k.address(from, k.thread, 16)})
            k.step(11, "st_shared_v4_b32", {at(start), std::vector<Reg>(4, k.thread)});
        if (lacks != fence) k.step(12, "fence_proxy_async");
        if (lacks != meeting) k.meet(13);
        const Reg place = k(1, "mapa_u32", {k.in(k.tile), k(1, "xor_b32", {k.rank, 1})});
        k.step(15, "cp_reduce_async_bulk_cluster_add_u32",
               {at(place), in_buffer(from), 512, at(k.full_there)}, {k.first});
        if (lacks == wait) k(16, "ld_shared_u32", {at(k.start)});
        k.wait(17, in_buffer(k.full), 0);
        k.meet(18);
        const Program program = k.finish();
        INFO(static_cast<int>(lacks));
        switch (lacks) {
            case nothing: expect_mapped(program, {&out}, {}, {2, 1, 1}); break;
            case fence: expect_mapped(program, {&out}, {{"WG-PROXY-01", 15}}, {2, 1, 1}); break;
            case meeting:
                expect_some(program, {&out}, {{"WG-RACE-01", 15}},
                            {{"WG-TMA-02", 11}, {"WG-MEM-04", 15}, {"WG-SYNC-05", 15}}, {2, 1, 1});
                break;
            case wait: expect_mapped(program, {&out}, {{"WG-TMA-02", 16}}, {2, 1, 1}); break;
            case bytes:
                expect_some(program, {&out}, {{"WG-MBAR-03", 10}, {"WG-MBAR-03", 15}, {"WG-MBAR-05", 17}},
                            {{"WG-TMA-03", 15}, {"WG-SYNC-05", 15}}, {2, 1, 1});
        }
    }
}

TEST_CASE("what st.async brings is read only after a wait for its mbarrier") {
    Mapped out = words();
    SendScript k(out);
    k.expect_bytes(10, 32 * 4);
    k.step(11, "st_async_b32", {at(k.there), k.thread, at(k.full_there)});
    k.meet(12);
    k(20, "ld_shared_u32", {at(k.start)});
    k.wait(21, in_buffer(k.full), 0);
    const Program program = k.finish();
    expect_mapped(program, {&out}, {{"WG-TMA-02", 20}}, {2, 1, 1});
    CHECK_THAT(finding_of(program, {&out}, "WG-TMA-02", {2, 1, 1}).message,
               ContainsSubstring("which the st.async writes"));
}

TEST_CASE("the bytes of st.async are expected, and waited for before the CTA ends") {
    for (const int expected : {64, 128}) {
        Mapped out = words();
        SendScript k(out);
        k.expect_bytes(10, expected);
        k.meet(11);
        k.step(13, "st_async_b32", {at(k.there), k.thread, at(k.full_there)});
        if (expected == 64) k.wait(14, in_buffer(k.full), 0);
        const Program program = k.finish();
        if (expected == 128)
            expect_some(program, {&out}, {{"WG-TMA-03", 13}}, {{"WG-SYNC-05", 13}, {"WG-MBAR-03", 10}},
                        {2, 1, 1});
        else
            expect_some(program, {&out},
                        {{"WG-MBAR-03", 13}, {"WG-MBAR-03", 10}, {"WG-TMA-03", 13}, {"WG-MBAR-05", 14}},
                        {{"WG-SYNC-05", 13}}, {2, 1, 1});
    }
}

TEST_CASE("st.async writes through the generic proxy") {
    for (const bool fenced : {true, false}) {
        Mapped out = words();
        SendScript k(out);
        k.expect_bytes(10, 32 * 16);
        k.step(11, "st_async_v4_b32", {at(k.there), std::vector<Reg>(4, k.thread), at(k.full_there)});
        k.wait(12, in_buffer(k.full), 0);
        if (fenced) k.step(13, "fence_proxy_async");
        const Reg column = k(1, "mul_lo_s32", {k.rank, 128});
        k.step(14, "cp_async_bulk_tensor_store_1d", {k.map, std::vector<Reg>{column}, in_buffer(k.tile)},
               {k.first});
        k.step(15, "cp_async_bulk_commit_group", {}, {k.first});
        k.step(16, "cp_async_bulk_wait_group", {0}, {k.first});
        expect_mapped(k.finish(), {&out}, fenced ? Found{} : Found{{"WG-PROXY-01", 14}}, {2, 1, 1});
    }
}

TEST_CASE("addresses of st.async are aligned, and beside their mbarrier") {
    for (const bool misaligned : {true, false}) {
        Mapped out = words();
        SendScript k(out);
        k.step(11, "st_async_b32",
               {at(k.there, misaligned ? 2 : 0), k.thread, misaligned ? at(k.full_there) : in_buffer(k.full)},
               {k.first});
        k.meet(12);
        expect_some(k.finish(), {&out}, {{misaligned ? "WG-MEM-02" : "WG-TMA-01", 11}}, {}, {2, 1, 1});
    }
}
