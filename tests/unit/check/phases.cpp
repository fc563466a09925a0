// WG-MBAR-06: which warp waits for which phase of an mbarrier.
#include "tests/catch.hpp"
#include "tests/unit/check/kit.hpp"

using namespace kit;

namespace {

struct Phases : Kernel {
    explicit Phases(int arrivals, int threads = 64) : Kernel(threads) {
        object = Operand::address({}, 0);
        object.index = builder().shared("full", 8, 8, {});
        first = compare("lt", tid(), imm(32));
        guard(compare("eq", tid(), imm(0)));
        step("mbarrier.init", {}, {object, imm(arrivals)});
        guard({});
        bar();
    }
    int arrive() { return step("mbarrier.arrive", {}, {object, imm(1)}); }
    /// Waits in a loop of one line.
    int wait(int parity) {
        builder().at(Where::at("k.lua", line() + 1));
        builder().begin_loop();
        const Reg done = value("mbarrier.try_wait.parity", {}, {object, imm(parity)});
        const int at = line();
        builder().loop_condition(value("not", type(Type::pred), {Operand::of(done)}));
        builder().end_loop();
        return at;
    }

    Operand object;
    Reg first;
};

}  // namespace

TEST_CASE("two phases go by while a warp waits for the first") {
    const bool meets = GENERATE(false, true);
    Phases k(32);
    int late = 0;
    k.branch(
        k.first,
        [&] {
            k.arrive();
            k.wait(0);
            if (meets) k.step("bar.sync", {}, {Kernel::imm(1), Kernel::imm(64)});
            k.arrive();
            k.wait(1);
        },
        [&] {
            late = k.wait(0);
            if (meets) k.step("bar.sync", {}, {Kernel::imm(1), Kernel::imm(64)});
        });
    CHECK(k.check() == (meets ? Findings{} : Findings{{"WG-MBAR-06", late}}));
    if (meets) return;
    const Diagnostic& found = k.diagnostics()[0];
    CHECK(found.message ==
          "warp 1 waits for phase 0 (parity 0) of `full`, which is in phase 2 by now: phase 1 has completed, "
          "and the warp has not waited for it");
    CHECK(found.fix == "wait for each phase in turn: the parity of phase 1 is 1");
}

TEST_CASE("a wait for a phase that the warp has waited for lets it arrive too early") {
    const int parity = GENERATE(0, 1);
    Phases k(64);
    k.arrive();
    k.wait(0);
    k.arrive();
    const int wait = k.wait(parity);
    const int arrival = k.arrive();
    k.wait(0);
    CHECK(k.check() == (parity == 1 ? Findings{} : Findings{{"WG-MBAR-06", wait}}));
    if (parity == 1) return;
    const Diagnostic& found = k.diagnostics()[0];
    CHECK(found.message ==
          "phase 0 of `full`, which the warp has waited for before, lets the wait with parity "
          "0 through: phase 1 is in progress");
    CHECK(found.fix == "turn the parity from phase to phase: that of phase 1 is 1");
    CHECK(found.notes.at(0).where.line == arrival + 1);  // where it shows
}

TEST_CASE("a fresh mbarrier is waited for with parity 1 once") {
    Phases k(32);
    int wait = 0;
    k.branch(k.first, [&] {
        k.wait(1);
        k.arrive();
        wait = k.wait(1);
        k.arrive();
    });
    CHECK(k.check() == Findings{{"WG-MBAR-06", wait}});
    CHECK(
        k.diagnostics()[0].message ==
        "warp 0 waits with parity 1 for `full` as for a fresh mbarrier, which is in phase 1 by now: phase 0 "
        "has completed, and the warp has not waited for it");
}

TEST_CASE("a phase may be waited for again, by those who know of it and by others") {
    Phases k(64);
    k.arrive();
    k.branch(k.first, [&] { k.wait(0); });
    k.bar();
    k.wait(0);
    k.wait(0);
    k.arrive();
    k.wait(1);
    CHECK(k.check() == Findings{});
}
