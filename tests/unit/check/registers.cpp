// WG-FENCE-01 and WG-REG-01: the state of registers when a wgmma uses them.
#include "tests/catch.hpp"
#include "tests/unit/check/kit.hpp"

using namespace kit;

TEST_CASE("a wgmma without any fence before it") {
    Ready k;
    const int mma = k.go();
    k.commit();
    k.wait(0);
    CHECK(k.check() == Findings{{"WG-FENCE-01", mma}});
    CHECK(k.diagnostics()[0].message == "no wgmma.fence comes before the first wgmma");
    CHECK(k.diagnostics()[0].fix == "k:wgmma_fence() before line " + std::to_string(mma));
    CHECK(k.diagnostics()[0].section == "9.7.15.7.1");
}

TEST_CASE("fence, wgmma, commit, wait, read is right") {
    Ready k;
    k.fence();
    k.go();
    k.commit();
    k.wait(0);
    k.read(k.acc[0]);
    CHECK(k.check() == Findings{});
}

TEST_CASE("a thread's access to an accumulator after the fence needs another fence") {
    const bool fenced = GENERATE(false, true), reads = GENERATE(false, true);
    Ready k;
    k.zero(k.acc);
    k.fence();
    const int access = reads ? k.read(k.acc[5]) : k.write(k.acc[5]);
    if (fenced) k.fence();
    const int mma = k.go(Kernel::imm(1));
    k.commit();
    k.wait(0);
    if (fenced) {
        CHECK(k.check() == Findings{});
    } else {
        CHECK(k.check() == Findings{{"WG-FENCE-01", mma}});
        REQUIRE(k.diagnostics()[0].notes.size() == 1);
        CHECK(k.diagnostics()[0].notes[0].where.line == access);
        CHECK(k.diagnostics()[0].notes[0].message == "accessed here");
    }
}

TEST_CASE("a fragment written after the fence needs another fence") {
    const bool fenced = GENERATE(false, true);
    Ready k;
    k.fence();
    const std::vector<Reg> fragment = k.fragment();
    if (fenced) k.fence();
    const int mma = k.mma(k.acc, fragment, k.db);
    k.commit();
    k.wait(0);
    CHECK(k.check() == (fenced ? Findings{} : Findings{{"WG-FENCE-01", mma}}));
}

TEST_CASE("registers that no wgmma uses need no fence") {
    Ready k;
    k.fence();
    const Reg other = k.constant(1);
    k.increment(other);
    k.go();
    k.commit();
    k.wait(0);
    CHECK(k.check() == Findings{});
}

TEST_CASE("successive wgmma of one shape share their accumulators without a fence") {
    Ready k;
    k.fence();
    k.go();
    k.go(Kernel::imm(1));
    k.commit();
    k.go(Kernel::imm(1));
    k.commit();
    k.wait(0);
    k.read(k.acc[0]);
    CHECK(k.check() == Findings{});
}

TEST_CASE("wgmma of another shape on the same accumulators needs a fence") {
    const bool fenced = GENERATE(false, true);
    Ready k;
    const std::vector<Reg> half(k.acc.begin(), k.acc.begin() + 16);
    k.fence();
    k.go();
    if (fenced) k.fence();
    const int narrow = k.mma(half, k.da, k.db, Kernel::imm(1));
    k.commit();
    k.wait(0);
    CHECK(k.check() == (fenced ? Findings{} : Findings{{"WG-FENCE-01", narrow}}));
}

TEST_CASE("two wgmma may read the same fragment without a fence between them") {
    Ready k;
    const std::vector<Reg> fragment = k.fragment(), other = k.accumulators();
    k.fence();
    k.mma(k.acc, fragment, k.db);
    k.mma(other, fragment, k.db);
    k.commit();
    k.wait(0);
    CHECK(k.check() == Findings{});
}

TEST_CASE("a fence on both arms of a branch is a fence, on one arm it is none") {
    const bool both = GENERATE(false, true);
    Ready k;
    k.branch(
        k.uniform(), [&] { k.fence(); },
        [&] {
            if (both) k.fence();
        });
    const int mma = k.go();
    k.commit();
    k.wait(0);
    CHECK(k.check() == (both ? Findings{} : Findings{{"WG-FENCE-01", mma}}));
}

TEST_CASE("a fence in a loop that may run no time at all is not enough") {
    Ready k;
    k.loop([&](Reg) { k.fence(); });
    const int mma = k.go();
    k.commit();
    k.wait(0);
    CHECK(k.check() == Findings{{"WG-FENCE-01", mma}});
}

TEST_CASE("a fence in a loop of four iterations is enough") {
    Ready k;
    k.loop(Kernel::imm(4), [&](Reg) { k.fence(); });
    k.go();
    k.commit();
    k.wait(0);
    CHECK(k.check() == Findings{});
}

TEST_CASE("an access at the end of an iteration reaches the wgmma of the next") {
    const bool fenced = GENERATE(false, true);
    Ready k;
    k.zero(k.acc);
    k.fence();
    int mma = 0;
    k.loop([&](Reg) {
        if (fenced) k.fence();
        mma = k.go(Kernel::imm(1));
        k.commit();
        k.wait(0);
        k.write(k.acc[0]);
    });
    CHECK(k.check() == (fenced ? Findings{} : Findings{{"WG-FENCE-01", mma}}));
}

TEST_CASE("a fence under the condition of the access is not missed") {
    // if (n > 3) write the accumulator; if (n > 3) fence
    Ready k;
    k.zero(k.acc);
    k.fence();
    const Reg condition = k.uniform();
    k.branch(condition, [&] { k.write(k.acc[0]); });
    k.branch(condition, [&] { k.fence(); });
    k.go(Kernel::imm(1));
    k.commit();
    k.wait(0);
    CHECK(k.check() == Findings{});
}

TEST_CASE("a loop under a condition of its own limit is taken to run") {
    // if (n > 3) { for (i < n) fence; wgmma }
    Ready k;
    k.branch(k.uniform(), [&] {
        k.loop([&](Reg) { k.fence(); });
        k.go();
        k.commit();
        k.wait(0);
    });
    CHECK(k.check() == Findings{});
}

TEST_CASE("a condition that is tested again goes the same way") {
    Ready k;
    const Reg condition = k.uniform();
    k.branch(
        condition, [&] { k.fence(); },
        [&] {
            k.branch(condition, [&] {
                k.go();
                k.commit();
            });
        });
    k.wait(0);
    CHECK(k.check() == Findings{});
}

TEST_CASE("a fence in every second iteration") {
    Ready k;
    k.zero(k.acc);
    k.fence();
    int mma = 0;
    k.loop([&](Reg i) {
        k.write(k.acc[0]);
        k.branch(k.compare("ne", k.bit_and(i, 1), Kernel::imm(0)), [&] { k.fence(); });
        mma = k.go(Kernel::imm(1));
        k.commit();
        k.wait(0);
    });
    CHECK(k.check() == Findings{{"WG-FENCE-01", mma}});
}

TEST_CASE("an unwritten register is reported where it is read") {
    Kernel k;
    const Reg reg = k.builder().reg(Type::f32);
    const int read = k.read(reg);
    CHECK(k.check() == Findings{{"WG-REG-01", read}});
    CHECK(k.diagnostics()[0].message == "a register is read that nothing has written on any path to here");
}

TEST_CASE("a register written on one path only is left to the simulator") {
    Kernel k;
    const Reg reg = k.builder().reg(Type::f32);
    k.branch(k.uniform(), [&] { k.write(reg); });
    k.read(reg);
    CHECK(k.check() == Findings{});
}

TEST_CASE("a register written at the end of a loop and read at its beginning") {
    Kernel k;
    const Reg reg = k.builder().reg(Type::f32);
    int read = 0;
    k.loop([&](Reg) {
        read = k.read(reg);
        k.write(reg);
    });
    CHECK(k.check() == Findings{{"WG-REG-01", read}});
}

TEST_CASE("accumulators must be written unless scale-d is 0") {
    Ready k;
    k.fence();
    const int mma = k.go(Kernel::imm(1));
    k.commit();
    k.wait(0);
    CHECK(k.check() == Findings{{"WG-REG-01", mma}});
}

TEST_CASE("with scale-d = (i > 0) the first iteration does not read the accumulators") {
    const bool known = GENERATE(false, true);
    Ready k;
    k.loop(known ? Kernel::imm(4) : Operand::of(k.n()), [&](Reg i) {
        const Reg later = k.compare("gt", i, Kernel::imm(0));
        k.fence();
        k.go(Operand::of(later));
        k.commit();
        k.wait(0);
    });
    k.read(k.acc[0]);
    CHECK(k.check() == Findings{});
}
