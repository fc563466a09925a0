// When no warp of an abstract execution can continue: which warps are reported to wait, for what, and when
// nothing is reported: WG-MBAR-05, WG-SYNC-02, -04.
#include "tests/catch.hpp"
#include "tests/unit/check/abstract_kit.hpp"

using namespace kit;

TEST_CASE("a phase that never completes") {
    const int parity = GENERATE(0, 1);
    Roles k(32);
    const int bar = k.memory("bar", 8);
    const int made = k.make(Roles::in(bar), 2);
    const int arrive = k.once([&] { return k.arrive(Roles::in(bar)); });
    const int wait = k.wait_for(Roles::in(bar), parity);
    const Execution out = k.execute();
    if (parity == 1) {  // the phase before the first counts as complete
        CHECK(out.complete);
        return;
    }
    CHECK(out.findings == Findings{{"WG-MBAR-05", wait}});
    CHECK(out.message() ==
          "the kernel hangs: warp 0 waits for phase 0 (parity 0) of the mbarrier `bar`: 1 of 2 arrivals has "
          "come, 0 "
          "bytes are outstanding");
    CHECK(out.full[0].fix.starts_with("1 arrival comes of the 2 that mbarrier.init names: "));
    REQUIRE(out.full[0].notes.size() == 2);
    CHECK(out.full[0].notes[0].where.line == made);
    CHECK(out.full[0].notes[0].message == "initialised here with 2 arrivals");
    CHECK(out.full[0].notes[1].where.line == arrive);
}

TEST_CASE("the wrong parity") {
    Roles k(32);
    const int bar = k.memory("bar", 8);
    k.make(Roles::in(bar), 1);
    k.once([&] { return k.arrive(Roles::in(bar)); });
    k.wait_for(Roles::in(bar), 0);
    const int wait = k.wait_for(Roles::in(bar), 1);
    const Execution out = k.execute();
    CHECK(out.findings == Findings{{"WG-MBAR-05", wait}});
    CHECK_THAT(out.message(),
               ContainsSubstring("waits for phase 1 (parity 1) of the mbarrier `bar`: 0 of 1 arrivals"));
}

TEST_CASE("a barrier that not all come to") {
    Roles k(96);
    int line = 0;
    k.branch(k.warps(0, 1), [&] { line = k.bar_sync(0, 96); });
    const Execution out = k.execute();
    CHECK(out.findings == Findings{{"WG-SYNC-02", line}});
    CHECK(out.message() == "the kernel hangs: warp 0 waits at barrier 0: 64 of 96 threads have arrived");
    CHECK(out.full[0].notes.back().message == "1 of 3 warps has ended");
}

TEST_CASE("a barrier of the cluster that not all come to") {
    Roles k(32, {2, 1, 1});
    const int bar = k.memory("bar", 8);
    k.make(Roles::in(bar), 1);
    const Reg rank = k.special("cluster_ctarank");
    int cluster = 0, wait = 0;
    k.branch(
        k.compare("eq", rank, Kernel::imm(0)),
        [&] {
            k.cluster_arrive();
            cluster = k.cluster_wait();
        },
        [&] { wait = k.wait_for(Roles::in(bar), 0); });
    const Execution out = k.execute({2, 1, 1});
    // An mbarrier at which no warp has arrived is a likelier cause than a barrier at which warps wait.
    REQUIRE(out.findings.size() == 1);
    CHECK(out.findings[0] == Found{"WG-MBAR-05", wait});
    INFO(cluster);
}

TEST_CASE("two warps wait for each other") {
    Roles k(64);
    const int one = k.memory("one", 8), two = k.memory("two", 8);
    k.once([&] { return k.init(Roles::in(one), 32); });
    k.once([&] { return k.init(Roles::in(two), 32); });
    k.once([&] { return k.announce(); });
    k.bar_sync();
    const bool crossed = GENERATE(false, true);
    int first = 0, second = 0;
    k.branch(
        k.warps(0, 0),
        [&] {
            if (!crossed) k.arrive(Roles::in(one));
            first = k.wait_for(Roles::in(two), 0);
            if (crossed) k.arrive(Roles::in(one));
        },
        [&] {
            second = k.wait_for(Roles::in(one), 0);
            k.arrive(Roles::in(two));
        });
    const Execution out = k.execute();
    CHECK(out.findings == (crossed ? Findings{{"WG-MBAR-05", first}} : Findings{}));
    CHECK(out.complete == !crossed);
    INFO(second);
}

TEST_CASE("an mbarrier whose phase has begun is blamed before one that nobody came to") {
    Roles k(64);
    const int idle = k.memory("idle", 8), begun = k.memory("begun", 8);
    k.once([&] { return k.init(Roles::in(idle), 1); });
    k.once([&] { return k.init(Roles::in(begun), 2); });
    k.once([&] { return k.announce(); });
    k.bar_sync();
    int blamed = 0;
    k.branch(
        k.warps(0, 0), [&] { k.wait_for(Roles::in(idle), 0); },
        [&] {
            k.guard(k.compare("eq", k.thread, Kernel::imm(32)));
            k.arrive(Roles::in(begun));
            k.guard({});
            blamed = k.wait_for(Roles::in(begun), 0);
        });
    CHECK(k.execute().findings == Findings{{"WG-MBAR-05", blamed}});
}

TEST_CASE("nothing is said where a warp has left that might help") {
    const std::string what = GENERATE("mbarrier", "barrier", "cluster");
    Roles k(64, {1, 1, 1});
    const int bar = k.memory("bar", 8);
    k.make(Roles::in(bar), 1);
    k.branch(
        k.warps(0, 0),
        [&] {
            if (what == "mbarrier") k.wait_for(Roles::in(bar), 0);
            if (what == "barrier") k.bar_sync(1, 64);
            if (what == "cluster") k.cluster_sync();
        },
        [&] {
            k.branch(k.compare("eq", k.unknown(), Kernel::imm(0)), [&] {
                if (what == "mbarrier") k.arrive(Roles::in(bar));
                if (what == "barrier") k.bar_sync(1, 64);
                if (what == "cluster") k.cluster_sync();
            });
        });
    const Execution out = k.execute();
    INFO(what);
    CHECK_FALSE(out.complete);
    CHECK(out.findings == Findings{});
}

TEST_CASE("lanes of a warp that take the other arm may go on while these wait") {
    Roles k(32);
    const int bar = k.memory("bar", 8);
    k.make(Roles::in(bar), 1);
    // Lane 0 waits for lane 1, which arrives in the other arm: the machine chooses the order of the arms.
    k.branch(
        k.first, [&] { k.wait_for(Roles::in(bar), 0); },
        [&] {
            k.guard(k.compare("eq", k.thread, Kernel::imm(1)));
            k.arrive(Roles::in(bar));
            k.guard({});
        });
    CHECK(k.execute().findings == Findings{});
}

TEST_CASE("a wait that tests and goes on is no hang") {
    Roles k(32);
    const int bar = k.memory("bar", 8);
    k.make(Roles::in(bar), 1);
    k.value("mbarrier.test_wait.parity", {}, {Roles::in(bar), Kernel::imm(0)});
    const Execution out = k.execute();
    CHECK(out.complete);
    CHECK(out.findings == Findings{});
}
