// WG-PERF-06: waits that only keep the next wgmma from starting.
#include "tests/catch.hpp"
#include "tests/unit/check/kit.hpp"

using namespace kit;

namespace {

/// One wgmma in a group of its own; returns the line of the wait.
int batch(Ready& k, int pending, const std::vector<Reg>& registers, const Operand& scale_d = Kernel::imm(0)) {
    k.fence();
    k.mma(registers, k.da, k.db, scale_d);
    k.commit();
    return k.wait(pending);
}

}  // namespace

TEST_CASE("nothing needs the first of two batches before the second: WG-PERF-06") {
    const bool same = GENERATE(true, false);
    Ready k;
    const std::vector<Reg> second = k.accumulators();
    const int wait = batch(k, 0, k.acc);
    k.constant(3);
    const int next = batch(k, 0, same ? k.acc : second) - 2;
    k.read(k.acc[0]);
    CHECK(k.performance() == Findings{{"WG-PERF-06", wait}});
    const Diagnostic& finding = k.diagnostics()[0];
    CHECK(finding.message ==
          "the tensor cores run dry here: nothing between this wait and the next wgmma needs it");
    CHECK(finding.notes.at(0).where.line == next);
    CHECK(finding.severity == Severity::note);
}

TEST_CASE("what comes between two batches may need the first") {
    const std::string what =
        GENERATE("one pending", "read", "written", "barrier", "store", "fence", "other shape");
    INFO(what);
    Ready k;
    const Reg to = k.of_thread(k.address(k.a, 4096));
    batch(k, what == "one pending" ? 1 : 0, k.acc);
    if (what == "read") k.read(k.acc[5]);
    if (what == "written") k.write(k.acc[5]);
    if (what == "barrier") k.bar();
    if (what == "store") k.store(to);
    if (what == "fence") k.proxy();
    std::vector<Reg> next = k.acc;
    if (what == "other shape") next.resize(16);
    batch(k, 0, next);
    CHECK(k.performance() == Findings{});
}

TEST_CASE("a wait at the end of a loop stands before the next turn") {
    const std::string what = GENERATE("none", "read", "one arm");
    INFO(what);
    Ready k;
    k.zero(k.acc);
    const Reg some = k.uniform();
    int wait = 0;
    k.loop([&](Reg) {
        wait = batch(k, 0, k.acc, Kernel::imm(1));
        if (what == "read") k.read(k.acc[0]);
        if (what == "one arm") k.branch(some, [&] { k.read(k.acc[0]); });
    });
    k.read(k.acc[0]);
    CHECK(k.performance() == (what == "none" ? Findings{{"WG-PERF-06", wait}} : Findings{}));
}
