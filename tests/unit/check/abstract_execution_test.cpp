// The warps of an abstract execution: which way they go, with which values, and which of them end.
#include "tests/catch.hpp"
#include "tests/unit/check/abstract_kit.hpp"

using namespace kit;

TEST_CASE("warps that meet at the same barriers come to the end") {
    Roles k(128);
    for (int i = 0; i < 5; ++i) k.bar_sync();
    const Execution out = k.execute();
    CHECK(out.complete);
    CHECK(out.findings == Findings{});
}

TEST_CASE("values that follow from special registers and parameters decide the way") {
    const auto [name, at] = GENERATE(table<std::string, int>({{"tid.x", 40},
                                                              {"laneid", 8},
                                                              {"ntid.x", 64},
                                                              {"nctaid.x", 6},
                                                              {"ctaid.x", 0},
                                                              {"nclusterid.x", 3}}));
    Roles k(64, {2, 1, 1});
    const Reg reached = k.compare("eq", k.special(name), Kernel::imm(at));
    // A barrier that expects more threads than there are: it is reported where it is reached.
    int told = 0;
    k.branch(reached, [&] { told = k.bar_sync(0, 1024); });
    INFO(name);
    CHECK(k.execute({6, 1, 1}).findings == Findings{{"WG-SYNC-02", told}});
}

TEST_CASE("an integer parameter has the value of the launch") {
    const int value = GENERATE(256, 257);
    Roles k;
    int told = 0;
    k.branch(k.compare("eq", k.n(), Kernel::imm(value)), [&] { told = k.bar_sync(0, 1024); });
    CHECK(k.execute().findings == (value == 256 ? Findings{{"WG-SYNC-02", told}} : Findings{}));
}

TEST_CASE("a warp whose way depends on memory leaves, and nothing is missed of it") {
    const bool known = GENERATE(false, true);
    Roles k;
    const Reg value = known ? k.n() : k.unknown();
    // One warp does not arrive at the barrier if the value is a different one.
    k.branch(
        k.warps(1, 1), [&] { k.branch(k.compare("eq", value, Kernel::imm(7)), [&] { k.bar_sync(0, 64); }); },
        [&] { k.bar_sync(0, 64); });
    const int last = k.line();
    const Execution out = k.execute();
    CHECK_FALSE(out.complete);
    CHECK(out.findings == (known ? Findings{{"WG-SYNC-02", last}} : Findings{}));
}

TEST_CASE("a step that synchronises with an unknown guard makes its warp leave") {
    Roles k;
    k.guard(k.compare("eq", k.unknown(), Kernel::imm(7)));
    k.bar_arrive(1, 64);
    k.guard({});
    k.bar_sync(2, 64);
    const Execution out = k.execute();
    CHECK_FALSE(out.complete);
    CHECK(out.findings == Findings{});
}

TEST_CASE("an mbarrier at an unknown place is nobody's fault") {
    const bool offset = GENERATE(false, true);
    Roles k;
    const int bars = k.memory("bars", 64);
    k.make(Roles::in(bars), 64);
    SECTION("by a step that knows nothing of its register") {
        k.arrive(Roles::at(k.unknown(), offset ? 8 : 0));
    }
    SECTION("or knows half of it") {
        k.arrive(Roles::at(k.add(k.unknown(), Kernel::imm(1024)), offset ? 8 : 0));
    }
    SECTION("and nor is a copy to one") {
        const Reg map = k.map({Dtype::f32, {32, 4}});
        k.once([&] { return k.load(Roles::at(k.unknown(), offset ? 128 : 0), map, Roles::in(bars)); });
    }
    const Execution out = k.execute();
    CHECK_FALSE(out.complete);
    CHECK(out.findings == Findings{});
}

TEST_CASE("a value becomes known again when it is written anew") {
    Roles k;
    const Reg value = k.unknown();
    k.step("mov", Kernel::type(Type::u32), {Operand::of(value), Kernel::imm(3)});
    int told = 0;
    k.branch(k.compare("eq", value, Kernel::imm(3)), [&] { told = k.bar_sync(0, 1024); });
    CHECK(k.execute().findings == Findings{{"WG-SYNC-02", told}});
}

TEST_CASE("lanes part and meet again") {
    Roles k(32);
    const int bars = k.memory("bars", 8);
    const int line = k.make(Roles::in(bars), 32);
    const Reg low = k.compare("lt", k.thread, Kernel::imm(10));
    k.branch(
        low, [&] { k.arrive(Roles::in(bars)); },
        [&] {
            k.branch(
                k.compare("lt", k.thread, Kernel::imm(20)), [&] { k.arrive(Roles::in(bars)); },
                [&] { k.arrive(Roles::in(bars)); });
        });
    k.wait_for(Roles::in(bars), 0);
    INFO(line);
    const Execution out = k.execute();
    CHECK(out.complete);
    CHECK(out.findings == Findings{});
}

TEST_CASE("a loop goes round as often as its bound says") {
    const int arrivals = GENERATE(9, 10, 11);
    Roles k(32);
    const int bar = k.memory("bar", 8);
    k.make(Roles::in(bar), 10);
    k.loop(Kernel::imm(arrivals), [&](Reg) { k.once([&] { return k.arrive(Roles::in(bar)); }); });
    const int arrive = k.line() - 1;
    const int wait = k.wait_for(Roles::in(bar), 0);
    const Execution out = k.execute();
    if (arrivals == 9) CHECK(out.findings == Findings{{"WG-MBAR-05", wait}});
    if (arrivals == 10) CHECK(out.findings == Findings{});
    // The eleventh arrives in the next phase, for which no warp has waited.
    if (arrivals == 11) CHECK(out.findings == Findings{{"WG-MBAR-03", arrive}});
}

TEST_CASE("a way that is too long is given up") {
    Roles k(32);
    k.loop(Kernel::imm(1 << 20), [&](Reg) { k.bar_sync(); });
    const Execution out = k.execute();
    CHECK(out.gave_up);
    CHECK_FALSE(out.complete);
    CHECK(out.findings == Findings{});
}

TEST_CASE("of several faults those that break the law of the first are told") {
    Roles k(64);
    const int bar = k.memory("bar", 8);
    const int one = k.bar_sync(0, 1024), two = k.bar_sync(1, 1024);
    k.once([&] { return k.arrive(Roles::in(bar)); });
    const Program program = k.builder().finish();
    const check::Skeleton skeleton(program);
    check::AbstractExecution execution(program, skeleton, {{1, 1, 1}, {256}});
    execution.run();
    CHECK(reported_once(execution.faults()).size() == 3);
    const std::vector<Diagnostic> first = reported_once(execution.first_faults());
    REQUIRE(first.size() == 2);
    CHECK(first[0].where.line == one);
    CHECK(first[1].where.line == two);
    CHECK(execution.came_to(execution.faults().front().at));
    CHECK_FALSE(execution.came_to(nullptr));
}

TEST_CASE("who waits for ever because of a fault is no fault besides") {
    Roles k(96);
    int other = 0;
    k.branch(
        k.warps(0, 0), [&] { k.bar_sync(1, 64); },
        [&] {
            other = k.bar_arrive(1, 96);
            k.bar_sync(2, 96);
        });
    const Program program = k.builder().finish();
    const check::Skeleton skeleton(program);
    check::AbstractExecution execution(program, skeleton, {{1, 1, 1}, {256}});
    execution.run();
    CHECK(reported_once(execution.faults()).size() == 2);
    const std::vector<Diagnostic> first = reported_once(execution.first_faults());
    REQUIRE(first.size() == 1);
    CHECK(first[0].where.line == other);
}

TEST_CASE("what is found must come with all sizes of a launch") {
    const std::string cmp = GENERATE("gt", "ge");
    Roles k;
    int told = 0;
    // With n = 0 no warp arrives there: a fault for every other size, and one for large sizes only.
    k.branch(k.compare(cmp, k.n(), Kernel::imm(cmp == "gt" ? 100 : 1)), [&] { told = k.bar_sync(0, 1024); });
    // Sizes for which no warp reaches the place say nothing about it.
    CHECK(k.check() == Findings{{"WG-SYNC-02", told}});
}

TEST_CASE("a fault of some sizes alone is left to their launch") {
    Roles k(64);
    const int bar = k.memory("bar", 8);
    k.make(Roles::in(bar), 1);
    // The number of arrivals is the parameter; one is expected.
    k.loop([&](Reg) { k.once([&] { return k.arrive(Roles::in(bar)); }); });
    const int arrive = k.line() - 1;
    k.wait_for(Roles::in(bar), 0);
    Kernel& kernel = k;
    const Program program = kernel.builder().finish();
    CHECK(check::check(program).empty());
    const check::LaunchCheck of_launches(program);
    CHECK(of_launches.findings({{1, 1, 1}, {1}}).empty());
    const std::vector<Diagnostic> found = of_launches.findings({{1, 1, 1}, {5}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].rule == "WG-MBAR-03");
    CHECK(found[0].where.line == arrive);
}

TEST_CASE("a launch's check looks at what decides over barriers alone") {
    const auto relevant = [](bool waits) {
        Roles k(64);
        const int bar = k.memory("bar", 8);
        k.make(Roles::in(bar), 1);
        if (waits)
            k.loop([&](Reg) { k.once([&] { return k.arrive(Roles::in(bar)); }); });
        else
            k.once([&] { return k.arrive(Roles::in(bar)); });
        k.wait_for(Roles::in(bar), 0);
        Kernel& kernel = k;
        const Program program = kernel.builder().finish();
        return check::LaunchCheck(program).relevant({{3, 1, 1}, {5}}).params;
    };
    CHECK(relevant(true) == std::vector<std::int64_t>{5});
    CHECK(relevant(false) == std::vector<std::int64_t>{0});
}

// `check` compares with the same kernel on one line, of which every size comes to other steps.
TEST_CASE("sizes that do not come to a step say nothing of it") {
    Roles k(32);
    int wrong = 0;
    k.branch(k.compare("ge", k.n(), Kernel::imm(200)), [&] { wrong = k.bar_sync(1, 1024); });
    CHECK(k.check() == Findings{{"WG-SYNC-02", wrong}});
}
