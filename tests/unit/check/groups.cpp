// WG-GROUP-01, -02, -03, -05: commit, wait, and what may be accessed meanwhile.
#include "tests/catch.hpp"
#include "tests/unit/check/kit.hpp"

using namespace kit;

TEST_CASE("an accumulator is read before the wait") {
    Ready k;
    k.fence();
    const int mma = k.go();
    k.commit();
    const int read = k.read(k.acc[3]);
    k.read(k.acc[4]);
    k.wait(0);
    CHECK(k.check() == Findings{{"WG-GROUP-01", read}});
    const Diagnostic& finding = k.diagnostics()[0];
    CHECK(finding.message == "an accumulator of a wgmma is read while the wgmma may still run");
    CHECK(finding.fix == "k:wgmma_wait_group(0) before line " + std::to_string(read));
    CHECK(finding.section == "9.7.15.7.3");
    REQUIRE(finding.notes.size() == 1);
    CHECK(finding.notes[0].where.line == mma);
    CHECK(finding.notes[0].message == "issued here");
}

TEST_CASE("an A fragment is written before the wait") {
    const bool waited = GENERATE(false, true);
    Ready k;
    const std::vector<Reg> fragment = k.fragment();
    k.fence();
    k.mma(k.acc, fragment, k.db);
    k.commit();
    if (waited) k.wait(0);
    const int write = k.step("mov", Kernel::type(Type::b32), {Operand::of(fragment[2]), Kernel::imm(1)});
    k.wait(0);
    CHECK(k.check() == (waited ? Findings{} : Findings{{"WG-GROUP-01", write}}));
    if (!waited)
        CHECK(k.diagnostics()[0].message ==
              "a register of the A fragment of a wgmma is written while the wgmma may still run");
}

TEST_CASE("a fragment in flight is read by another wgmma, but not made its accumulator") {
    const bool as_accumulator = GENERATE(false, true);
    Ready k;
    const std::vector<Reg> fragment = k.fragment();
    k.fence();
    k.mma(k.acc, fragment, k.db);
    k.commit();
    const std::vector<Reg> second = k.accumulators();
    Form half;
    half.set(Field::d, Type::f16).set(Field::a, Type::f16).set(Field::b, Type::f16).set(Field::n, 16);
    const int next =
        as_accumulator ? k.mma(fragment, k.da, k.db, Kernel::imm(0), half) : k.mma(second, fragment, k.db);
    k.commit();
    k.wait(0);
    CHECK(k.check() == (as_accumulator ? Findings{{"WG-GROUP-01", next}} : Findings{}));
}

TEST_CASE("wait_group N covers all groups but the N youngest") {
    const int pending = GENERATE(0, 1, 2);
    Ready k;
    const std::vector<Reg> second = k.accumulators(), third = k.accumulators();
    k.fence();
    k.go();
    k.commit();
    k.mma(second, k.da, k.db);
    k.commit();
    k.mma(third, k.da, k.db);
    k.commit();
    k.wait(pending);
    const int oldest = k.read(k.acc[0]);
    const int middle = k.read(second[0]);
    const int youngest = k.read(third[0]);
    const Findings found = k.check();
    CHECK(found.size() == (pending == 0 ? 0 : pending == 1 ? 1 : 2));
    if (pending == 1) CHECK(found[0] == Found{"WG-GROUP-01", youngest});
    if (pending == 2) {
        CHECK(found[0] == Found{"WG-GROUP-01", middle});
        CHECK(k.diagnostics()[0].fix == "k:wgmma_wait_group(1) before line " + std::to_string(middle));
    }
    (void)oldest;
}

TEST_CASE("an empty group counts") {
    Ready k;
    k.fence();
    k.go();
    k.commit();
    k.commit();
    k.wait(1);
    k.read(k.acc[0]);
    CHECK(k.check() == Findings{});
}

TEST_CASE("a wgmma that is never committed") {
    const bool read = GENERATE(false, true), waits = GENERATE(false, true);
    Ready k;
    k.fence();
    const int mma = k.go();
    if (waits) k.wait(0);
    const int access = read ? k.read(k.acc[0]) : 0;
    if (read && !waits) {
        CHECK(k.check() == Findings{{"WG-GROUP-01", access}});
        CHECK(k.diagnostics()[0].fix ==
              "k:wgmma_commit_group() and k:wgmma_wait_group(0) before line " + std::to_string(access));
    } else {
        CHECK(k.check() == Findings{{"WG-GROUP-02", mma}});
        CHECK(k.diagnostics()[0].fix ==
              (waits ? "k:wgmma_commit_group() after line "
                     : "k:wgmma_commit_group() and k:wgmma_wait_group(0) after line ") +
                  std::to_string(mma));
        CHECK(k.diagnostics()[0].notes.size() == (read ? 2 : 0));
    }
}

TEST_CASE("a commit after the wait does not help a wgmma that is read between them") {
    Ready k;
    k.fence();
    const int mma = k.go();
    k.wait(0);
    k.read(k.acc[0]);
    k.commit();
    CHECK(k.check() == Findings{{"WG-GROUP-02", mma}});
}

TEST_CASE("a wait for an older group leaves an uncommitted wgmma alone") {
    Ready k;
    const std::vector<Reg> second = k.accumulators();
    k.fence();
    k.go();
    k.commit();
    k.mma(second, k.da, k.db);
    k.wait(0);
    k.read(k.acc[0]);
    k.commit();
    k.wait(0);
    k.read(second[0]);
    CHECK(k.check() == Findings{});
}

TEST_CASE("wait_group counts to 7") {
    const int pending = GENERATE(7, 8, 100);
    Ready k;
    const int wait = k.wait(pending);
    CHECK(k.check() == (pending == 7 ? Findings{} : Findings{{"WG-GROUP-03", wait}}));
    if (pending > 7) CHECK(k.diagnostics()[0].severity == Severity::warning);
}

TEST_CASE("wait_group 8 covers what wait_group 7 covers") {
    Ready k;
    k.fence();
    k.go();
    for (int i = 0; i < 8; ++i) k.commit();
    const int wait = k.wait(8);
    k.read(k.acc[0]);
    CHECK(k.check() == Findings{{"WG-GROUP-03", wait}});
}

TEST_CASE("a wait on both arms is a wait, on one arm it is none") {
    const bool both = GENERATE(false, true);
    Ready k;
    k.fence();
    k.go();
    k.commit();
    k.branch(
        k.uniform(), [&] { k.wait(0); },
        [&] {
            if (both) k.wait(0);
        });
    const int read = k.read(k.acc[0]);
    CHECK(k.check() == (both ? Findings{} : Findings{{"WG-GROUP-01", read}}));
}

TEST_CASE("an access under the condition of the wait is right") {
    Ready k;
    k.fence();
    k.go();
    k.commit();
    const Reg condition = k.uniform();
    k.branch(condition, [&] { k.wait(0); });
    k.branch(condition, [&] { k.read(k.acc[0]); });
    k.wait(0);
    CHECK(k.check() == Findings{});
}

TEST_CASE("a wait inside a loop that may run no time at all") {
    Ready k;
    k.fence();
    k.go();
    k.commit();
    k.loop([&](Reg) { k.wait(0); });
    const int read = k.read(k.acc[0]);
    CHECK(k.check() == Findings{{"WG-GROUP-01", read}});
}

namespace {

/// Two accumulators in turn: while one is computed, the other is read.
Findings double_buffered(int pending, bool drained, int* inner, int* outer) {
    Ready k;
    const std::vector<Reg> other = k.accumulators();
    k.fence();
    k.go();
    k.commit();
    k.loop([&](Reg) {
        k.fence();
        k.mma(other, k.da, k.db);
        k.commit();
        k.wait(pending);
        *inner = k.read(k.acc[0]);
        k.fence();
        k.go();
        k.commit();
        k.wait(pending);
        k.read(other[0]);
    });
    if (drained) k.wait(0);
    *outer = k.read(k.acc[0]);
    return k.check();
}

}  // namespace

TEST_CASE("two accumulators in turn with wait_group 1 across the back edge") {
    int inner = 0, outer = 0;
    CHECK(double_buffered(1, true, &inner, &outer) == Findings{});
    const Findings undrained = double_buffered(1, false, &inner, &outer);
    CHECK(undrained == Findings{{"WG-GROUP-01", outer}});
    const Findings late = double_buffered(2, true, &inner, &outer);
    REQUIRE_FALSE(late.empty());
    CHECK(late[0] == Found{"WG-GROUP-01", inner});
}

TEST_CASE("the accumulator is read at the start of the next iteration") {
    const int pending = GENERATE(0, 1);
    Ready k;
    k.zero(k.acc);
    int read = 0;
    k.loop([&](Reg) {
        read = k.read(k.acc[0]);
        k.fence();
        k.go(Kernel::imm(1));
        k.commit();
        k.wait(pending);
    });
    k.wait(0);
    CHECK(k.check() == (pending == 0 ? Findings{} : Findings{{"WG-GROUP-01", read}}));
}

TEST_CASE("a k loop with its first iteration peeled") {
    const bool drained = GENERATE(false, true);
    Ready k;
    k.fence();
    k.go();
    k.commit();
    k.loop([&](Reg) {
        k.fence();
        k.go(Kernel::imm(1));
        k.commit();
        k.wait(1);
    });
    if (drained) k.wait(0);
    const int read = k.read(k.acc[0]);
    CHECK(k.check() == (drained ? Findings{} : Findings{{"WG-GROUP-01", read}}));
}

TEST_CASE("a wait that the first iteration skips is not missed") {
    // if (i > 0) wait_group 0 before the accumulator is touched
    const bool known = GENERATE(false, true);
    Ready k;
    k.zero(k.acc);
    k.loop(known ? Kernel::imm(6) : Operand::of(k.n()), [&](Reg i) {
        k.branch(k.compare("gt", i, Kernel::imm(0)), [&] { k.wait(0); });
        k.write(k.acc[0]);
        k.fence();
        k.go(Kernel::imm(1));
        k.commit();
    });
    k.wait(0);
    CHECK(k.check() == Findings{});
}

TEST_CASE("a wait in an inner loop whose count has nothing to do with the outer one") {
    Ready k;
    k.zero(k.acc);
    int read = 0;
    k.loop([&](Reg) {
        k.fence();
        k.go(Kernel::imm(1));
        k.commit();
        k.loop(Kernel::imm(2), [&](Reg) { k.bar(); });
        read = k.read(k.acc[0]);
        k.wait(0);
    });
    CHECK(k.check() == Findings{{"WG-GROUP-01", read}});
}

TEST_CASE("findings come in the order of the script, each rule and place once") {
    Ready k;
    const int mma = k.go();  // no fence
    k.commit();
    const int read = k.read(k.acc[0]);
    const int wait = k.wait(9);
    CHECK(k.check() == Findings{{"WG-FENCE-01", mma}, {"WG-GROUP-01", read}, {"WG-GROUP-03", wait}});
}

TEST_CASE("loops nested many times over end") {
    Ready k;
    std::function<void(int)> nest = [&](int depth) {
        if (depth == 0) {
            k.fence();
            k.go();
            k.commit();
        } else {
            k.loop([&](Reg) { nest(depth - 1); });
        }
    };
    nest(24);
    k.wait(0);
    CHECK(k.check().empty());
}

TEST_CASE("every group is waited for before the kernel ends") {
    const int pending = GENERATE(0, 1, 2);
    Ready k;
    const std::vector<Reg> second = k.accumulators();
    k.fence();
    const int mma = k.go();
    const int first_group = k.commit();
    k.mma(second, k.da, k.db);
    const int second_group = k.commit();
    k.wait(pending);
    Findings want;
    if (pending > 1) want.push_back({"WG-GROUP-05", first_group});
    if (pending > 0) want.push_back({"WG-GROUP-05", second_group});
    CHECK(k.check() == want);
    if (pending < 2) return;
    const Diagnostic& finding = k.diagnostics()[0];
    CHECK(finding.message == "the kernel ends, and no wgmma.wait_group has waited for this wgmma-group");
    CHECK(finding.fix == "the warpgroup has to wait for it (wgmma.wait_group 0) before the kernel ends");
    CHECK(finding.notes.at(0).where.line == mma);
}

TEST_CASE("a loop that keeps a group pending leaves one") {
    const bool drained = GENERATE(false, true);
    Ready k;
    const std::vector<Reg> second = k.accumulators();
    int last = 0;
    k.fence();
    k.loop([&](Reg) {
        k.go();
        k.commit();
        k.mma(second, k.da, k.db);
        last = k.commit();
        k.wait(1);
    });
    if (drained) k.wait(0);
    CHECK(k.check() == (drained ? Findings{} : Findings{{"WG-GROUP-05", last}}));
}

TEST_CASE("empty groups need no wait, and a wait that may not come is left to the simulator") {
    const bool empty = GENERATE(false, true);
    Ready k;
    const Reg some = k.uniform(), others = k.compare("gt", k.n(), Kernel::imm(5));
    k.branch(some, [&] {
        if (empty) return void(k.commit());
        k.fence();
        k.go();
        k.commit();
    });
    if (!empty) k.branch(others, [&] { k.wait(0); });
    CHECK(k.check() == Findings{});
}
