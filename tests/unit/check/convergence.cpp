// WG-SYNC-01, -02, -03: which threads execute .aligned instructions.
#include "tests/catch.hpp"
#include "tests/unit/check/kit.hpp"

using namespace kit;

namespace {

void multiply(Ready& k) {
    k.fence();
    k.go();
    k.commit();
    k.wait(0);
}

}  // namespace

TEST_CASE("wgmma under a condition of the thread index") {
    Ready k(256);
    Reg condition;
    bool diverges = true;
    SECTION("one thread") { condition = k.compare("eq", k.tid(), Kernel::imm(0)); }
    SECTION("a lane") { condition = k.compare("eq", k.bit_and(k.tid(), 31), Kernel::imm(0)); }
    SECTION("one warp") { condition = k.compare("eq", k.shift_right(k.tid(), 5), Kernel::imm(0)); }
    SECTION("half a warpgroup") { condition = k.compare("lt", k.tid(), Kernel::imm(64)); }
    SECTION("the first warpgroup by its number") {
        condition = k.compare("eq", k.shift_right(k.tid(), 7), Kernel::imm(0));
        diverges = false;
    }
    SECTION("the first warpgroup by a division") {
        const Reg group = k.value("div", Kernel::type(Type::u32), {Operand::of(k.tid()), Kernel::imm(128)});
        condition = k.compare("eq", group, Kernel::imm(0));
        diverges = false;
    }
    SECTION("every thread") {
        condition = k.compare("lt", k.tid(), Kernel::imm(256));
        diverges = false;
    }
    SECTION("the first warpgroup by its threads") {
        condition = k.compare("lt", k.tid(), Kernel::imm(128));
        diverges = false;
    }
    SECTION("a parameter") {
        condition = k.uniform();
        diverges = false;
    }
    int branch = 0;
    const int before = k.line();
    branch = k.branch(condition, [&] { multiply(k); });
    CHECK(k.check() == (diverges ? Findings{{"WG-SYNC-01", before + 2}} : Findings{}));
    if (diverges) {
        CHECK_THAT(k.diagnostics()[0].message,
                   ContainsSubstring("all threads of the warpgroup execute wgmma.fence together"));
        CHECK(k.diagnostics()[0].notes[0].where.line == branch);
    }
}

TEST_CASE("a loop whose count depends on the thread") {
    const bool diverges = GENERATE(false, true);
    Ready k;
    const Reg limit = diverges ? k.add(k.tid(), Kernel::imm(1)) : k.n();
    int fence = 0;
    k.loop(Operand::of(limit), [&](Reg) {
        fence = k.line() + 1;
        multiply(k);
    });
    CHECK(k.check() == (diverges ? Findings{{"WG-SYNC-01", fence}} : Findings{}));
}

TEST_CASE("a guard that depends on the thread") {
    Ready k;
    k.fence();
    k.go();
    k.commit();
    const Reg condition = k.compare("lt", k.tid(), Kernel::imm(64));
    k.guard(condition);
    const int wait = k.wait(0);
    k.guard({});
    k.wait(0);
    CHECK(k.check() == Findings{{"WG-SYNC-01", wait}});
}

TEST_CASE("values that were chosen by a divergent branch diverge") {
    Ready k;
    const Reg flag = k.constant(0);
    k.branch(k.compare("lt", k.tid(), Kernel::imm(64)), [&] { k.set(flag, 1); });
    const Reg condition = k.compare("ne", flag, Kernel::imm(0));
    const int before = k.line();
    k.branch(condition, [&] { multiply(k); });
    CHECK(k.check() == Findings{{"WG-SYNC-01", before + 2}});
}

TEST_CASE("what a divergent loop leaves behind is left to the simulator") {
    Ready k;
    const Reg count = k.constant(0);
    k.loop(Operand::of(k.tid()), [&](Reg) { k.increment(count); });
    k.branch(k.compare("gt", count, Kernel::imm(8)), [&] { multiply(k); });
    CHECK(k.check() == Findings{});
}

TEST_CASE("conditions that depend on more than the thread index are left to the simulator") {
    // The first warpgroups of a grid have work: (ctaid.x * 256 + tid.x) / 128 < n.
    Ready k(256);
    Form form;
    form.set(Field::sreg, *isa::parse_value(Field::sreg, "ctaid.x"));
    const Reg first = k.shift_left(k.value("special", form, {}), 8);
    const Reg group = k.shift_right(k.add(k.tid(), Operand::of(first)), 7);
    k.branch(k.compare("lt", group, Operand::of(k.n())), [&] { multiply(k); });
    CHECK(k.check() == Findings{});
}

TEST_CASE("a branch chooses thread by thread") {
    const bool diverges = GENERATE(false, true);
    Ready k;
    const Reg flag = k.constant(1);
    k.branch(k.compare("lt", k.tid(), Kernel::imm(64)), [&] { k.set(flag, diverges ? 0 : 2); });
    const Reg condition = k.compare("gt", flag, Kernel::imm(0));
    const int before = k.line();
    k.branch(condition, [&] { multiply(k); });
    CHECK(k.check() == (diverges ? Findings{{"WG-SYNC-01", before + 2}} : Findings{}));
}

TEST_CASE("a condition that was loaded is left to the simulator") {
    Ready k;
    Form form = Kernel::type(Type::u32);
    form.set(Field::space, static_cast<int>(isa::Space::shared));
    const int flags = k.builder().shared("flags", 512, 16, {});
    const Reg where = k.of_thread(k.address(flags));
    const Reg flag = k.value("ld", form, {Operand::address(where, 0)});
    k.branch(k.compare("ne", flag, Kernel::imm(0)), [&] { multiply(k); });
    CHECK(k.check() == Findings{});
}

TEST_CASE("a barrier within a part of a warp") {
    const bool others_end = GENERATE(false, true);  // then the barrier waits for nobody else
    Kernel k;
    const Reg condition = k.compare("lt", k.tid(), Kernel::imm(16));
    int bar = 0;
    k.branch(condition, [&] { bar = k.bar(); });
    if (!others_end) k.compare("lt", k.tid(), Kernel::imm(1));
    CHECK(k.check() == (others_end ? Findings{} : Findings{{"WG-SYNC-01", bar}}));
}

TEST_CASE("a barrier of the CTA that some warps go around") {
    // Without a number, it waits for the threads that have not ended.
    const int threads = GENERATE(0, 256);
    const bool both = GENERATE(false, true);
    Kernel k(256);
    const auto bar = [&] { return k.step("bar.sync", {}, {Kernel::imm(0), Kernel::imm(threads)}); };
    const Reg condition = k.compare("lt", k.tid(), Kernel::imm(128));
    int line = 0;
    k.branch(
        condition, [&] { line = bar(); },
        [&] {
            if (both) bar();
        });
    const bool completes = both || threads == 0;
    CHECK(k.check() == (completes ? Findings{} : Findings{{"WG-SYNC-02", line}}));
    if (!completes)
        CHECK_THAT(k.diagnostics().at(0).message,
                   ContainsSubstring("warp 0 waits at barrier 0: 128 of 256 threads have arrived"));
}

TEST_CASE("a named barrier of the threads that are there") {
    Kernel k(256);
    k.branch(k.compare("lt", k.tid(), Kernel::imm(128)), [&] {
        k.step("bar.sync", {}, {Kernel::imm(1), Kernel::imm(128)});
    });
    CHECK(k.check() == Findings{});
}

TEST_CASE("a CTA that is no whole number of warpgroups") {
    const int threads = GENERATE(64, 160, 128);
    Ready k(threads);
    const int fence = k.line() + 1;
    multiply(k);
    CHECK(k.check() == (threads == 128 ? Findings{} : Findings{{"WG-SYNC-03", fence}}));
    if (threads == 160) CHECK(k.diagnostics()[0].fix == "threads = 256");
}

TEST_CASE("a warpgroup and a producer warp") {
    Ready k(160);
    k.branch(k.compare("lt", k.tid(), Kernel::imm(128)), [&] { multiply(k); });
    CHECK(k.check() == Findings{});
}
