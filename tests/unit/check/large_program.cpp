// A program of two thousand steps (make bench measures the time of checks).
#include "tests/catch.hpp"
#include "tests/unit/check/kit.hpp"

using namespace kit;

TEST_CASE("a program of 2000 steps gives no finding") {
    Kernel k;
    const int a = k.buffer(tile(64, 64)), b = k.buffer(tile(256, 64));
    const Reg to_a = k.of_thread(k.address(a)), to_b = k.of_thread(k.address(b));
    std::vector<Reg> da, db;
    for (int kstep = 0; kstep < 4; ++kstep) {
        da.push_back(k.descriptor(a, kstep));
        db.push_back(k.descriptor(b, kstep));
    }
    const std::vector<Reg> acc = k.accumulators(256);
    k.zero(acc);
    k.loop([&](Reg) {
        for (int i = 0; i < 590; ++i) k.store(k.add(i % 2 ? to_a : to_b, Kernel::imm(4 * i)));
        k.proxy();
        k.bar();
        k.fence();
        for (std::size_t kstep = 0; kstep < 4; ++kstep) k.mma(acc, da[kstep], db[kstep], Kernel::imm(1));
        k.commit();
        k.wait(0);
        k.bar();
    });
    for (int i = 0; i < 128; ++i) {
        k.guard(k.compare("lt", k.add(k.n(), Kernel::imm(i)), Kernel::imm(77)));
        k.read(acc[static_cast<std::size_t>(i)]);
        k.guard({});
    }
    REQUIRE(k.line() > 1800);
    CHECK(check::check(k.builder().finish()).empty());
}
