// Barriers of the CTA and of the cluster in an abstract execution, and what the end of a CTA means for its
// peers: WG-SYNC-02, -04, -05.
#include "tests/catch.hpp"
#include "tests/unit/check/abstract_kit.hpp"

using namespace kit;

// --- barriers of the CTA -------------------------------------------------------------------------------

TEST_CASE("a barrier counts whole warps, and no more than there are") {
    const auto [threads, message] = GENERATE(table<int, std::string>(
        {{0, ""},
         {64, ""},
         {33, "barrier 1 of 33 threads: there are barriers 0 to 15, and they count multiples of 32 threads"},
         {96, "barrier 1 waits for 96 threads, and the CTA has 64"}}));
    Roles k;
    const Reg count = k.constant(threads);
    const int line = k.step("bar.sync", {}, {Kernel::imm(1), Operand::of(count)});
    const Execution out = k.execute();
    INFO(threads);
    CHECK(out.message() == message);
    CHECK(out.findings == (message.empty() ? Findings{} : Findings{{"WG-SYNC-02", line}}));
}

TEST_CASE("there are sixteen of them") {
    const int id = GENERATE(15, 16);
    Roles k;
    const Reg number = k.constant(id);
    const int line = k.step("bar.sync", {}, {Operand::of(number), Kernel::imm(0)});
    CHECK(k.execute().findings == (id == 15 ? Findings{} : Findings{{"WG-SYNC-02", line}}));
}

TEST_CASE("those who meet name the same number") {
    Roles k(96);
    int one = 0, two = 0;
    k.branch(
        k.warps(0, 0), [&] { one = k.bar_sync(1, 64); }, [&] { two = k.bar_sync(1, 96); });
    const Execution out = k.execute();
    REQUIRE(!out.findings.empty());
    CHECK(out.findings[0] == Found{"WG-SYNC-02", two});
    CHECK(out.message() == "barrier 1 of 96 threads: others wait at it for 64");
    CHECK(out.full[0].notes.at(0).where.line == one);
}

TEST_CASE("bar.arrive counts and does not wait") {
    const bool again = GENERATE(false, true);
    Roles k;
    k.branch(
        k.warps(0, 0),
        [&] {
            k.bar_arrive(1, 64);
            if (again) k.bar_sync(1, 64);  // fills both places: the other warp is not needed
        },
        [&] {
            k.bar_sync(2, 32);
            if (!again) k.bar_sync(1, 64);
        });
    const Execution out = k.execute();
    CHECK(out.complete);
    CHECK(out.findings == Findings{});
}

TEST_CASE("two groups of warps use two barriers, or one in turn") {
    const bool two = GENERATE(false, true);
    Roles k(128);
    for (int i = 0; i < 4; ++i)
        k.branch(
            k.warps(0, 1), [&] { k.bar_sync(1, 64); }, [&] { k.bar_sync(two ? 2 : 1, 64); });
    const Execution out = k.execute();
    CHECK(out.complete == true);
    CHECK(out.findings == Findings{});
}

// --- the cluster ---------------------------------------------------------------------------------------

TEST_CASE("each warp arrives once and waits once") {
    const std::string how = GENERATE("in turn", "twice", "no arrival");
    Roles k(32, {2, 1, 1});
    int line = 0;
    if (how != "no arrival") k.cluster_arrive();
    if (how == "twice") line = k.cluster_arrive();
    const int wait = k.cluster_wait();
    if (how == "no arrival") line = wait;
    const Execution out = k.execute({2, 1, 1});
    INFO(how);
    CHECK(out.findings == (how == "in turn" ? Findings{} : Findings{{"WG-SYNC-04", line}}));
    if (how == "twice") CHECK(out.message() == "warp 0 of CTA 0 arrives again without barrier.cluster.wait");
    if (how == "no arrival")
        CHECK(out.message() == "warp 0 of CTA 0 waits, and has not arrived at the barrier of the cluster");
}

TEST_CASE("a warp that has ended counts as one that has arrived") {
    Roles k(64, {2, 1, 1});
    k.branch(k.warps(0, 0), [&] { k.cluster_sync(); });
    const Execution out = k.execute({2, 1, 1});
    CHECK(out.complete);
    CHECK(out.findings == Findings{});
}

TEST_CASE("a relaxed arrival tells nobody anything but of announced mbarriers") {
    const std::string sem = GENERATE("", "relaxed");
    const bool announced = GENERATE(false, true);
    Roles k(32, {2, 1, 1});
    const int bar = k.memory("bar", 8);
    const Reg here = k.address_of(bar), rank = k.special("cluster_ctarank");
    const Reg other = k.value("xor", Kernel::type(Type::b32), {Operand::of(rank), Kernel::imm(1)});
    const Reg there = k.peer(here, Operand::of(other));
    k.once([&] { return k.init(Roles::in(bar), 1); });
    if (announced) k.once([&] { return k.announce(); });
    k.step("bar.warp.sync");
    k.cluster_arrive(sem);
    k.cluster_wait();
    const int arrive = k.once([&] { return k.arrive(Roles::at(there), 1, "shared::cluster"); });
    k.wait_for(Roles::in(bar), 0);
    k.cluster_sync();
    const Execution out = k.execute({2, 1, 1});
    INFO(sem << announced);
    if (sem.empty() || announced)
        CHECK(out.findings == Findings{});
    else
        CHECK(out.findings.front() == Found{"WG-MBAR-02", arrive});
}

TEST_CASE("the memory of a peer is there until it has ended") {
    const std::string how = GENERATE("met", "not met", "met before");
    Roles k(32, {2, 1, 1});
    const int bar = k.memory("bar", 8);
    const Reg here = k.address_of(bar), rank = k.special("cluster_ctarank");
    k.make(Roles::in(bar), 1);
    k.cluster_sync();
    int line = 0;
    k.branch(k.compare("eq", rank, Kernel::imm(1)), [&] {
        const Reg there = k.peer(here, Kernel::imm(0));
        line = k.once([&] { return k.arrive(Roles::at(there), 1, "shared::cluster"); });
    });
    if (how == "met") k.cluster_sync();
    const Execution out = k.execute({2, 1, 1});
    INFO(how);
    CHECK(out.findings == (how == "met" ? Findings{} : Findings{{"WG-SYNC-05", line}}));
    if (how == "not met") {
        REQUIRE(out.full[0].remedies.size() == 1);
        CHECK(text_of(out.full[0].remedies[0][0]) == "barrier_cluster_arrive()\nbarrier_cluster_wait()\n");
    }
}

TEST_CASE("a peer whose arrival is waited for has not gone on too early") {
    Roles k(32, {2, 1, 1});
    const int bar = k.memory("bar", 8);
    const Reg here = k.address_of(bar), rank = k.special("cluster_ctarank");
    k.make(Roles::in(bar), 1);
    k.cluster_sync();
    k.branch(
        k.compare("eq", rank, Kernel::imm(1)),
        [&] {
            const Reg there = k.peer(here, Kernel::imm(0));
            k.once([&] { return k.arrive(Roles::at(there), 1, "shared::cluster"); });
        },
        [&] { k.wait_for(Roles::in(bar), 0); });
    const Execution out = k.execute({2, 1, 1});
    CHECK(out.complete);
    CHECK(out.findings == Findings{});
}

TEST_CASE("a rank of the cluster") {
    const int rank = GENERATE(0, 1, 2, 15);
    Roles k(32, {2, 1, 1});
    const int bar = k.memory("bar", 8);
    const Reg here = k.address_of(bar);
    k.make(Roles::in(bar), 2);
    k.cluster_sync();
    const Reg there = k.peer(here, Kernel::imm(rank));
    const int line = k.once([&] { return k.arrive(Roles::at(there), 1, "shared::cluster"); });
    k.cluster_sync();
    const Execution out = k.execute({2, 1, 1});
    INFO(rank);
    CHECK(out.findings == (rank < 2 ? Findings{} : Findings{{"WG-SYNC-05", line}}));
    if (rank >= 2)
        CHECK_THAT(out.message(), ContainsSubstring("accesses shared memory of CTA " + std::to_string(rank) +
                                                    " of a cluster of 2"));
}

TEST_CASE("a CTA initialises mbarriers of its own") {
    const int rank = GENERATE(0, 2);
    Roles k(32, {2, 1, 1});
    const int bar = k.memory("bar", 8);
    const Reg there = k.peer(k.address_of(bar), Kernel::imm(rank));
    const int line = k.once([&] { return k.init(Roles::at(there), 1); });
    const Execution out = k.execute({2, 1, 1});
    CHECK(out.findings == Findings{{"WG-SYNC-05", line}});
    CHECK_THAT(out.message(), rank == 0 ? ContainsSubstring("as one of its own CTA")
                                        : ContainsSubstring("CTA 2 of a cluster of 2"));
}
