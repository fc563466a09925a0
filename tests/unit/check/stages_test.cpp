// What wgmma reads and copies overwrite in an abstract execution (WG-RACE-02, WG-TMA-02), and copies that are
// unfinished when a CTA ends (WG-TMA-03).
#include "tests/catch.hpp"
#include "tests/unit/check/abstract_kit.hpp"

using namespace kit;

namespace {

const TensorBox box{Dtype::bf16, {64, 64}, SwizzleMode::b128};

/// One tile, which a producer fills and a warpgroup multiplies by itself.
struct Stage : Roles {
    explicit Stage(int threads = 160) : Roles(threads) {
        tile = buffer(kit::tile());
        full = memory("full", 8);
        empty = memory("empty", 8);
        of_tile = map(box);
        bytes = kit::tile().bytes();
    }
    void barriers(int released_by) {
        once([&] { return init(in(full), 1); });
        once([&] { return init(in(empty), released_by); });
        once([&] { return announce(); });
        bar_sync();
    }
    int fill() {
        expect(in(full), bytes);
        return load(in(tile), of_tile, in(full));
    }
    int multiply() {
        if (!d) d = descriptor(tile);
        fence();
        return mma(acc.empty() ? acc = accumulators() : acc, d, d);
    }
    int tile = 0, full = 0, empty = 0;
    std::int64_t bytes = 0;
    Reg of_tile, d;
    std::vector<Reg> acc;
};

}  // namespace

TEST_CASE("wgmma waits for the copy that fills its tile") {
    const bool waits = GENERATE(false, true), copy_first = GENERATE(false, true);
    Stage k(256);
    k.barriers(1);
    // The last warp that arrives at the barrier of barriers() is the first to continue.
    const int group = copy_first ? 0 : 4, producer = copy_first ? 255 : 0;
    int mma = 0, copy = 0;
    k.branch(
        k.warps(group, group + 3),
        [&] {
            if (waits) k.wait_for(Roles::in(k.full), 0);
            mma = k.multiply();
            k.commit();
            k.wait(0);
        },
        [&] {
            k.branch(k.compare("eq", k.thread, Kernel::imm(producer)), [&] {
                copy = k.fill();
                k.wait_for(Roles::in(k.full), 0);
            });
        });
    const Execution out = k.execute();
    if (waits) {
        CHECK(out.complete);
        CHECK(out.findings == Findings{});
        return;
    }
    // Another warp has made the mbarrier known, but no warp has waited for its phase.
    REQUIRE(!out.findings.empty());
    CHECK(out.findings[0] == Found{"WG-TMA-02", mma});
    CHECK(out.message() ==
          (copy_first ? "the wgmma of warp 0 reads `A`, which a bulk copy writes: nothing orders the two"
                      : "the wgmma reads `A`, and nothing makes it wait for the copy that fills it"));
    CHECK(out.full[0].notes.at(0).where.line == copy);
}

TEST_CASE("a stage is refilled when the wgmma that read it has been waited for") {
    const std::string how = GENERATE("waited", "not waited", "not told", "one group left");
    Stage k;
    k.barriers(4);
    int refill = 0, mma = 0;
    k.branch(
        k.warps(0, 3),
        [&] {
            const Reg leads = k.compare("eq", k.bit_and(k.thread, 31), Kernel::imm(0));
            const auto release = [&] {
                k.guard(leads);
                k.arrive(Roles::in(k.empty));
                k.guard({});
            };
            k.wait_for(Roles::in(k.full), 0);
            mma = k.multiply();
            k.commit();
            if (how == "waited") k.wait(0);
            if (how == "one group left") k.wait(1);
            release();
            k.wait_for(Roles::in(k.full), 1);
            k.wait(0);
        },
        [&] {
            k.branch(k.compare("eq", k.thread, Kernel::imm(128)), [&] {
                k.fill();
                if (how != "not told") k.wait_for(Roles::in(k.empty), 0);
                k.wait_for(Roles::in(k.full), 0);
                refill = k.fill();
                k.wait_for(Roles::in(k.full), 1);
            });
        });
    const Execution out = k.execute();
    INFO(how);
    if (how == "waited") {
        CHECK(out.complete);
        CHECK(out.findings == Findings{});
    } else {
        REQUIRE(!out.findings.empty());
        CHECK(out.findings[0].rule == (how == "not told" ? out.findings[0].rule : "WG-RACE-02"));
        if (how == "not told") return;  // which of the two is told depends on who comes first
        CHECK(out.findings[0].line == refill);
        CHECK_THAT(out.message(), ContainsSubstring("the copy overwrites `A`, which the wgmma of warp"));
        CHECK(out.full[0].notes.at(0).where.line == mma);
        REQUIRE(out.full[0].remedies.size() == 1);
        CHECK(text_of(out.full[0].remedies[0][0]) == "wgmma_wait_group(0)\n");
    }
}

TEST_CASE("one warp may release for its warpgroup") {
    Stage k;
    k.barriers(1);
    k.branch(
        k.warps(0, 3),
        [&] {
            k.wait_for(Roles::in(k.full), 0);
            k.multiply();
            k.commit();
            k.wait(0);
            k.once([&] { return k.arrive(Roles::in(k.empty)); });
            k.wait_for(Roles::in(k.full), 1);
        },
        [&] {
            k.branch(k.compare("eq", k.thread, Kernel::imm(128)), [&] {
                k.fill();
                k.wait_for(Roles::in(k.empty), 0);
                k.fill();
                k.wait_for(Roles::in(k.full), 1);
            });
        });
    CHECK(k.execute().findings == Findings{});
}

TEST_CASE("a CTA waits for what comes to its memory before it ends") {
    const bool waits = GENERATE(false, true);
    Stage k(32);
    k.barriers(1);
    k.once([&] { return k.expect(Roles::in(k.full), k.bytes); });
    const int copy = k.once([&] { return k.load(Roles::in(k.tile), k.of_tile, Roles::in(k.full)); });
    if (waits) k.wait_for(Roles::in(k.full), 0);
    const Execution out = k.execute();
    CHECK(out.findings == (waits ? Findings{} : Findings{{"WG-TMA-03", copy}}));
    if (!waits)
        CHECK(out.message() == "the CTA ends, and nothing has waited for the mbarrier that counts this copy");
}

TEST_CASE("and for what is read of it") {
    const std::string how = GENERATE("nothing", "commit", "wait 1", "wait 0", "wait 0 with another group");
    Stage k(32);
    int last = 0;
    k.branch(k.first, [&] {
        last = k.store_box(k.of_tile, Roles::in(k.tile));
        if (how == "nothing") return;
        k.commit_stores();
        if (how == "wait 0 with another group") {
            k.store_box(k.of_tile, Roles::in(k.tile));
            k.commit_stores();
        }
        if (how == "wait 1") k.wait_stores(1);
        if (how.starts_with("wait 0")) k.wait_stores(0);
    });
    const Execution out = k.execute();
    INFO(how);
    CHECK(out.findings == (how.starts_with("wait 0") ? Findings{} : Findings{{"WG-TMA-03", last}}));
    if (!out.full.empty()) CHECK(out.full[0].remedies.size() == 2);
}

TEST_CASE("the thread that issued the stores waits for them") {
    const int waiter = GENERATE(0, 1);
    Stage k(32);
    const int store = k.once([&] { return k.store_box(k.of_tile, Roles::in(k.tile)); });
    k.once([&] { return k.commit_stores(); });
    k.guard(k.compare("eq", k.thread, Kernel::imm(waiter)));
    k.wait_stores(0);
    k.guard({});
    CHECK(k.execute().findings == (waiter == 0 ? Findings{} : Findings{{"WG-TMA-03", store}}));
}

TEST_CASE("the last two of three groups may be left, and no more") {
    const int pending = GENERATE(0, 1, 2, 3);
    Stage k(32);
    std::vector<int> stores;
    k.branch(k.first, [&] {
        for (int i = 0; i < 3; ++i) {
            stores.push_back(k.store_box(k.of_tile, Roles::in(k.tile)));
            k.commit_stores();
        }
        k.wait_stores(pending);
    });
    const Execution out = k.execute();
    // The newest unfinished copy is reported.
    CHECK(out.findings == (pending == 0 ? Findings{} : Findings{{"WG-TMA-03", stores[2]}}));
}
