// Which launches a kernel's check refuses, and how long.
#include "kernel/kernel_checks.hpp"
#include "tests/catch.hpp"
#include "tests/unit/check/abstract_kit.hpp"
#include "wgrun/kernel.hpp"

using namespace kit;

// The number of arrivals is the parameter; one is expected.
TEST_CASE("sizes that were refused stay so after many others were right") {
    Roles k(64);
    const int bar = k.memory("bar", 8);
    k.make(Roles::in(bar), 1);
    k.loop([&](Reg) { k.once([&] { return k.arrive(Roles::in(bar)); }); });
    k.wait_for(Roles::in(bar), 0);
    kit::Kernel& kernel = k;
    const KernelSource source(kernel.builder().finish());
    KernelChecks checks(source, source.lower({}));
    const check::LaunchSizes wrong{{1, 1, 1}, {5}};
    CHECK_THROWS_AS(checks.require(wrong), CheckError);
    for (std::uint32_t grid = 1; grid <= 100; ++grid) checks.require({{grid, 1, 1}, {1}});
    CHECK_THROWS_AS(checks.require(wrong), CheckError);
}
