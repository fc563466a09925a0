// What the chip is.
#include "wgrun/target.hpp"

#include "tests/catch.hpp"

using namespace wgrun;

TEST_CASE("what a CTA gets of an SM") {
    CHECK(sm_90a.cta_shared() == 232448);
    CHECK(sm_90a.sm_warps() == 64);
    CHECK(sm_90a.warps_of(1) == 1);
    CHECK(sm_90a.warps_of(33) == 2);
    CHECK(sm_90a.registers_at_entry(384) == 168);
    CHECK(sm_90a.registers_at_entry(128) == 248);
    CHECK(sm_90a.registers_to_use(128) == 255);
    CHECK(sm_90a.registers_to_use(1024) == 64);
}

TEST_CASE("how many CTAs an SM holds, and what keeps more out") {
    const Target::Residents small = sm_90a.residents(32, 0, 16);
    CHECK(small.by_ctas == 32);
    CHECK(small.by_threads == 64);
    CHECK(small.by_shared == 228);
    CHECK(small.by_registers == 128);
    CHECK(small.least() == 32);
    // Registers come in units of 8 a thread, threads in whole warps.
    CHECK(sm_90a.residents(384, 0, 161).by_registers == 1);
    CHECK(sm_90a.residents(384, 0, 160).by_registers == 1);
    CHECK(sm_90a.residents(128, 0, 65).by_registers == 7);
    CHECK(sm_90a.residents(33, 0, 0).by_threads == 32);
    CHECK(sm_90a.residents(128, sm_90a.cta_shared(), 0).least() == 1);
    CHECK(sm_90a.residents(128, sm_90a.cta_shared() + 1, 0).by_shared == 0);
}
