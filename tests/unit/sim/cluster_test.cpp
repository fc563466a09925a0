// Clusters: addresses of other CTAs, the barrier of the cluster, multicast, the end of a CTA, register pools.
#include "async_script.hpp"

using namespace wgrun;
using namespace wgrun::sim;

namespace {

struct ClusterScript : AsyncScript {
    explicit ClusterScript(int threads = 32, Dim3 cluster = {2, 1, 1}) : AsyncScript(threads, cluster) {
        rank = special("cluster_ctarank");
    }
    /// Returns an address in the shared memory of the CTA of that rank.
    Reg remote(int buffer, Arg of) { return (*this)(1, "mapa_u32", {in(buffer), std::move(of)}); }
    Reg other() { return (*this)(1, "xor_b32", {rank, 1}); }
    void meet(int number) {
        step(number, "barrier_cluster_arrive");
        step(number + 1, "barrier_cluster_wait");
    }
    /// st and ld of 32 bits through the cluster's window.
    void st(int number, Arg to, Arg value, Guard guard = {}) {
        add(number, *isa::find("st"), window(), {std::move(to), std::move(value)}, guard);
    }
    void ld(int number, Arg from, Guard guard = {}) {
        add(number, *isa::find("ld"), window(), {std::move(from)}, guard);
    }
    static isa::Form window() {
        isa::Form form;
        form.set(isa::Field::space, static_cast<int>(isa::Space::shared_cluster));
        return form.set(isa::Field::type, isa::Type::u32);
    }
    Reg is(Arg value) { return (*this)(1, "setp_eq_u32", {rank, std::move(value)}); }

    Reg rank;
};

}  // namespace

TEST_CASE("every CTA of a cluster knows its place") {
    constexpr Dim3 grid{4, 6, 2}, size{2, 3, 1};
    Mapped out = mapped({16 * 48}, {Dtype::u32, {16}});
    AsyncScript k(32, size);
    const Reg map = k.map(out);
    const int buffer = k.buffer("buf", 128);
    const char* names[]{"ctaid.x",          "ctaid.y",          "ctaid.z",         "clusterid.x",
                        "clusterid.y",      "clusterid.z",      "nclusterid.x",    "nclusterid.y",
                        "nclusterid.z",     "cluster_ctaid.x",  "cluster_ctaid.y", "cluster_ctaid.z",
                        "cluster_nctaid.x", "cluster_nctaid.y", "cluster_ctarank", "cluster_nctarank"};
    for (int i = 0; i < 16; ++i)
        k.step(10, "st_shared_u32", {in_buffer(buffer, 4 * i), k.special(names[i])}, {k.first});
    k.step(11, "fence_proxy_async");
    const Reg x = k.special("ctaid.x"), y = k.special("ctaid.y"), z = k.special("ctaid.z");
    const Reg cta = k(1, "mad_lo_u32", {k(1, "mad_lo_u32", {z, 6, y}), 4, x});
    k.step(12, "cp_async_bulk_tensor_store_1d",
           {map, std::vector<Reg>{k(1, "mul_lo_s32", {cta, 16})}, in_buffer(buffer)}, {k.first});
    k.step(13, "cp_async_bulk_commit_group", {}, {k.first});
    k.step(14, "cp_async_bulk_wait_group", {0}, {k.first});
    const Outcome outcome = run_mapped(k.finish(), {&out}, 0, grid);
    INFO(text_of(outcome));
    REQUIRE(outcome.findings.empty());
    for (std::uint32_t i = 0; i < 48; ++i) {
        const std::uint32_t cx = i % 4, cy = i / 4 % 6, cz = i / 24;
        const std::uint32_t want[]{
            cx, cy, cz, cx / 2, cy / 3, cz, 2, 2, 2, cx % 2, cy % 3, 0, 2, 3, cx % 2 + 2 * (cy % 3), 6};
        for (std::uint32_t v = 0; v < 16; ++v) {
            INFO(names[v] << " of CTA " << i);
            REQUIRE(out.at<std::uint32_t>(4 * (16 * i + v)) == want[v]);
        }
    }
}

TEST_CASE("a grid is made of whole clusters") {
    ClusterScript k(32, {2, 1, 1});
    const Program program = k.finish();
    try {
        run_mapped(program, {}, 0, {3, 1, 1});
        FAIL("accepted");
    } catch (const ArgumentError& error) {
        CHECK(std::string(error.what()) == "grid {3, 1, 1} is not made of clusters of {2, 1, 1}");
    }
}

TEST_CASE("a CTA reads what another wrote, after the barrier of the cluster: else WG-RACE-01") {
    for (const std::string how : {"met", "not met", "met relaxed", "not met at the end"}) {
        INFO(how);
        ClusterScript k;
        const int buffer = k.buffer("buf", 128);
        const Reg mine = k.address(buffer, k.thread, 4);
        const Reg theirs = k(1, "mad_lo_u32", {k.thread, 4, k.remote(buffer, k.other())});
        k.meet(5);  // both run
        k.st(10, at(theirs), k.thread);
        if (how == "met relaxed") {
            isa::Form form;
            form.set(isa::Field::sem, isa::parse_value(isa::Field::sem, "relaxed").value());
            k.add(11, *isa::find("barrier.cluster.arrive"), form, {});
            k.step(12, "barrier_cluster_wait");
        } else if (how != "not met") {
            k.meet(11);
        }
        k(13, "ld_shared_u32", {at(mine)});
        if (how == "not met at the end") k.ld(14, at(theirs));
        const Program program = k.finish();
        if (how == "met") {
            expect_mapped(program, {}, {}, {4});
        } else if (how == "not met at the end") {
            expect_mapped(program, {}, {{"WG-SYNC-05", 14}}, {4});
            CHECK_THAT(finding_of(program, {}, "WG-SYNC-05", {4}).message,
                       ContainsSubstring("which has ended") || ContainsSubstring("may have ended"));
        } else {
            expect_some(program, {}, {{"WG-RACE-01", 13}, {"WG-RACE-01", 10}},
                        {{"WG-MEM-04", 13}, {"WG-SYNC-05", 10}}, {2});
            const Diagnostic finding = finding_of(program, {}, "WG-RACE-01", {2});
            CHECK_THAT(finding.message,
                       ContainsSubstring(" of CTA (0, 0, 0)") && ContainsSubstring(" of CTA (1, 0, 0)"));
        }
    }
}

TEST_CASE("addresses of the cluster want shared::cluster and a rank of it: WG-SYNC-05") {
    ClusterScript k;
    const int buffer = k.buffer("buf", 128);
    SECTION("as an address of the CTA") {
        k.step(10, "st_shared_u32", {at(k.remote(buffer, 1)), 0});
        k.meet(11);
        const Program program = k.finish();
        expect_mapped(program, {}, {{"WG-SYNC-05", 10}}, {2});
        CHECK_THAT(finding_of(program, {}, "WG-SYNC-05", {2}).message,
                   ContainsSubstring("an address of the cluster's shared memory, as one of its own CTA"));
    }
    SECTION("of a rank that is not there, if it is used") {
        const Reg far = k.remote(buffer, 2);
        k.step(9, "mov_u32", {far, far});
        k.st(10, at(far), 0, {k.first});
        const Program program = k.finish();
        expect_mapped(program, {}, {{"WG-SYNC-05", 10}}, {2});
        CHECK_THAT(finding_of(program, {}, "WG-SYNC-05", {2}).message,
                   ContainsSubstring("of CTA 2 of a cluster of 2"));
    }
    SECTION("plain addresses are those of the CTA itself, in both spaces") {
        k.st(10, in_buffer(buffer), 5, {k.first});
        k(11, "ld_shared_u32", {in_buffer(buffer)}, {k.first});
        k.ld(12, at(k.remote(buffer, k.rank)), {k.first});
        expect_mapped(k.finish(), {}, {}, {2});
    }
}

TEST_CASE("the barrier of the cluster: arrive and wait take turns: WG-SYNC-04") {
    ClusterScript k;
    SECTION("as often as one likes") {
        for (int i = 0; i < 5; ++i) k.meet(10);
        expect_mapped(k.finish(), {}, {}, {4});
    }
    SECTION("two arrivals") {
        k.step(10, "barrier_cluster_arrive");
        k.step(11, "barrier_cluster_arrive");
        k.step(12, "barrier_cluster_wait");
        const Program program = k.finish();
        expect_mapped(program, {}, {{"WG-SYNC-04", 11}}, {2});
        CHECK(finding_of(program, {}, "WG-SYNC-04", {2}).message ==
              "warp 0 arrives again without barrier.cluster.wait");
    }
    SECTION("a wait alone") {
        k.step(10, "barrier_cluster_wait");
        expect_mapped(k.finish(), {}, {{"WG-SYNC-04", 10}}, {2});
    }
    SECTION("one CTA does not come") {
        // The warp that has ended counts as arrived: what hangs is the one that waits for something else.
        const int bar = k.mbarriers("bar", 1);
        k.init(2, bar, {1});
        k.begin_if(10, k.is(0));
        k.meet(11);
        k.builder.begin_else();
        k.wait(13, in_buffer(bar), 0);
        k.builder.end_if();
        const Program program = k.finish();
        expect_mapped(program, {}, {{"WG-MBAR-05", 13}}, {2});
        const Diagnostic finding = finding_of(program, {}, "WG-MBAR-05", {2});
        CHECK_THAT(finding.message, ContainsSubstring("warp 0 of CTA 1 of the cluster waits for phase 0"));
        REQUIRE(finding.notes.size() == 2);
        CHECK(finding.notes[1].message ==
              "warp 0 of CTA 0 of the cluster waits at the barrier of the cluster: 1 of 2 warps has arrived");
    }
    SECTION("those that have ended are not waited for") {
        k.begin_if(10, k.is(0));
        k.meet(11);
        k.builder.end_if();
        expect_mapped(k.finish(), {}, {}, {2});
    }
}

TEST_CASE("a multicast lands in every CTA of the mask, and signals each one's mbarrier") {
    Mapped x = mapped({64}, {Dtype::u32, {32}}), y = mapped({128}, {Dtype::u32, {64}});
    for (const std::string how : {"all", "no announcement", "no meeting at the end", "mask too wide"}) {
        INFO(how);
        ClusterScript k;
        const Reg from = k.map(x), to = k.map(y);
        const int tile = k.buffer("tile", 256), full = k.mbarriers("full", 1);
        k.step(2, "mbarrier_init", {in_buffer(full), 1}, {k.first});
        if (how != "no announcement") k.step(3, "fence_mbarrier_init", {}, {k.first});
        k.meet(4);
        k.step(10, "mbarrier_arrive_expect_tx", {in_buffer(full), 256}, {k.first});
        // Each CTA loads its half for both.
        const Reg half = k.builder.reg(isa::Type::s32);
        k.step(1, "mul_lo_s32", {half, k.rank, 32});
        const Reg place = k(1, "mad_lo_u32", {k.rank, 128, k.in(tile)});
        k.step(11, "cp_async_bulk_tensor_1d",
               {at(place), from, std::vector<Reg>{half}, in_buffer(full), how == "mask too wide" ? 7 : 3},
               {k.first});
        k.wait(12, in_buffer(full), 0);
        k(13, "ld_shared_u32", {at(k.address(tile, k.thread, 4))});
        const Reg column = k.builder.reg(isa::Type::s32);
        k.step(1, "mul_lo_s32", {column, k.rank, 64});
        k.step(14, "cp_async_bulk_tensor_store_1d", {to, std::vector<Reg>{column}, in_buffer(tile)},
               {k.first});
        k.step(15, "cp_async_bulk_commit_group", {}, {k.first});
        k.step(16, "cp_async_bulk_wait_group", {0}, {k.first});
        if (how != "no meeting at the end") k.meet(17);
        const Program program = k.finish();
        if (how == "no announcement") {
            expect_mapped(program, {&x, &y}, {{"WG-MBAR-02", 11}}, {2});
        } else if (how == "mask too wide") {
            expect_some(program, {&x, &y}, {{"WG-SYNC-05", 11}}, {{"WG-MBAR-05", 12}, {"WG-MEM-04", 14}},
                        {2});
        } else {
            // A CTA that waits for all its bytes may end: both halves have landed by then.
            expect_mapped(program, {&x, &y}, {}, {2});
            CHECK(std::equal(x.data.begin(), x.data.end(), y.data.begin()));
            CHECK(std::equal(x.data.begin(), x.data.end(), y.data.begin() + 256));
        }
    }
}

TEST_CASE("a stage of another CTA is refilled when its readers have released it") {
    Mapped x = mapped({64}, {Dtype::u32, {32}});
    for (const std::string how : {"all", "no release"}) {
        INFO(how);
        // CTA 0 fills a tile of CTA 1 twice; CTA 1 reads it, and releases it at an mbarrier of CTA 0.
        ClusterScript k;
        const Reg from = k.map(x);
        const int tile = k.buffer("tile", 128), full = k.mbarriers("full", 1),
                  empty = k.mbarriers("empty", 1);
        k.step(2, "mbarrier_init", {in_buffer(full), 1}, {k.first});
        k.step(2, "mbarrier_init", {in_buffer(empty), 32}, {k.first});
        k.step(3, "fence_mbarrier_init", {}, {k.first});
        k.meet(4);
        k.begin_if(10, k.is(0));
        for (int round = 0; round < 2; ++round) {
            if (round == 1 && how == "all") k.wait(11, in_buffer(empty), 0);
            k.step(12, "cp_async_bulk_tensor_1d",
                   {at(k.remote(tile, 1)), from, std::vector<Reg>{k(1, "mov_s32", {round * 32})},
                    at(k.remote(full, 1))},
                   {k.first});
        }
        k.builder.begin_else();
        for (int round = 0; round < 2; ++round) {
            k.step(13, "mbarrier_arrive_expect_tx", {in_buffer(full), 128}, {k.first});
            k.wait(14, in_buffer(full), round);
            k(15, "ld_shared_u32", {at(k.address(tile, k.thread, 4))});
            k.step(18, "fence_proxy_async", {});
            isa::Form form;
            form.set(isa::Field::space, static_cast<int>(isa::Space::shared_cluster));
            k.add(16, *isa::find("mbarrier.arrive"), form, {at(k.remote(empty, 0))});
        }
        k.builder.end_if();
        k.meet(17);
        const Program program = k.finish();
        if (how == "all")
            expect_mapped(program, {&x}, {}, {2});
        else
            expect_some(program, {&x}, {{"WG-MBAR-03", 12}, {"WG-TMA-02", 12}},
                        {{"WG-RACE-01", 12},
                         {"WG-TMA-02", 15},
                         {"WG-MBAR-03", 13},
                         {"WG-MBAR-05", 14},
                         {"WG-MBAR-03", 16},
                         {"WG-TMA-03", 12}},
                        {2});
    }
}

TEST_CASE("bytes go from one CTA's shared memory to another's") {
    Mapped y = mapped({64}, {Dtype::u32, {32}});
    for (const bool fenced : {true, false}) {
        ClusterScript k;
        const Reg to = k.map(y);
        const int tile = k.buffer("tile", 128), got = k.buffer("got", 128), full = k.mbarriers("full", 1);
        k.step(2, "mbarrier_init", {in_buffer(full), 1}, {k.first});
        k.step(3, "fence_mbarrier_init", {}, {k.first});
        k.meet(4);
        const Reg value = k(1, "mad_lo_u32", {k.rank, 100, k.thread});
        k.step(10, "st_shared_u32", {at(k.address(tile, k.thread, 4)), value});
        if (fenced) k.step(11, "fence_proxy_async");
        k.step(12, "bar_sync", {0});
        k.step(13, "mbarrier_arrive_expect_tx", {in_buffer(full), 128}, {k.first});
        k.step(14, "cp_async_bulk_cluster",
               {at(k.remote(got, k.other())), in_buffer(tile), 128, at(k.remote(full, k.other()))},
               {k.first});
        k.wait(15, in_buffer(full), 0);
        const Reg column = k.builder.reg(isa::Type::s32);
        k.step(1, "mul_lo_s32", {column, k.rank, 32});
        k.step(16, "cp_async_bulk_tensor_store_1d", {to, std::vector<Reg>{column}, in_buffer(got)},
               {k.first});
        k.step(17, "cp_async_bulk_commit_group", {}, {k.first});
        k.step(18, "cp_async_bulk_wait_group", {0}, {k.first});
        k.meet(19);
        expect_mapped(k.finish(), {&y}, fenced ? Found() : Found{{"WG-PROXY-01", 14}}, {2});
        if (fenced)
            for (std::uint32_t t = 0; t < 64; ++t)
                REQUIRE(y.at<std::uint32_t>(4 * t) == (t < 32 ? 100 + t : t - 32));
    }
}

TEST_CASE("registers move between warpgroups of a CTA, never more than it has") {
    const auto run_pools = [](int threads, std::vector<int> wanted) {
        AsyncScript k(threads);
        for (std::size_t g = 0; g < wanted.size(); ++g) {
            k.begin_if(10, k(1, "setp_eq_u32", {k(1, "shr_u32", {k.thread, 7}), static_cast<int>(g)}));
            // 384 threads enter with 168 registers each.
            k.step(20 + static_cast<int>(g), wanted[g] < 168 ? "setmaxnreg_dec" : "setmaxnreg_inc",
                   {wanted[g]});
            k.builder.end_if();
        }
        return k.finish();
    };
    expect_mapped(run_pools(384, {40, 232, 232}), {}, {});
    expect_mapped(run_pools(384, {24, 240, 240}), {}, {});
    const Program greedy = run_pools(384, {40, 240, 240});
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const Outcome outcome = run_mapped(greedy, {}, seed);
        INFO(text_of(outcome));
        REQUIRE(outcome.findings.size() == 1);
        CHECK(outcome.findings[0].rule == "WG-REG-02");
        CHECK_THAT(outcome.findings[0].message,
                   ContainsSubstring("the kernel hangs: ") &&
                       ContainsSubstring("for 240 registers a thread: it has 168"));
    }
    AsyncScript k(384);
    const Reg first = k(1, "setp_lt_u32", {k.thread, 128});
    k.begin_if(9, first);
    k.step(9, "setmaxnreg_inc", {168});
    k.builder.end_if();
    k.begin_if(10, k(10, "setp_ge_u32", {k.thread, 128}));
    k.step(10, "setmaxnreg_inc", {160});
    k.builder.end_if();
    const Program fewer = k.finish();
    expect_mapped(fewer, {}, {{"WG-REG-02", 10}});
    CHECK(finding_of(fewer, {}, "WG-REG-02").message ==
          "setmaxnreg.inc to 160 registers a thread, which has 168");
}

TEST_CASE("the same seed gives the same run of clusters") {
    ClusterScript k(64);
    const int buffer = k.buffer("buf", 16);
    k.st(10, at(k.remote(buffer, 0)), k.thread, {k.first});
    k.meet(11);
    const Program program = k.finish();
    std::set<std::string> texts;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const Outcome one = run_mapped(program, {}, seed, {8}), two = run_mapped(program, {}, seed, {8});
        CHECK(one.steps == two.steps);
        CHECK(text_of(one) == text_of(two));
        texts.insert(text_of(one));
    }
    CHECK(texts.size() > 1);
}
