// Timestamps as a timeline: who ran where, the clocks of SMs, phases, and what is in flight.
#include "timeline/measured.hpp"

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/script.hpp"

using namespace wgrun;
using namespace wgrun::timeline;
using isa::Field;
using isa::Form;
using isa::Type;
using Kind = Timeline::Kind;

using test::in_buffer, test::typed;

namespace {

/// A kernel of two warps: warp 1 copies, warp 0 multiplies. Its sites are numbered as below.
struct Script : test::Script {
    enum Site : std::uint32_t { empty, copy, full, product, products };

    Script() : test::Script(64) {
        const int bar = builder.shared("ring", 16, 8, {});
        const Reg X = add("ld.param", typed(Type::u64),
                          {{}, Operand::param(builder.param("X", Type::u64, Dtype::f32))});
        const Reg phase = add("mov", typed(Type::u32), {{}, Operand::number(1)});
        wait_for(in_buffer(bar, 8), Operand::of(phase));
        add("cp.async.bulk", {},
            {in_buffer(bar, 0),
             Operand::address(X, 0),
             Operand::number(16),
             in_buffer(bar, 0),
             Operand::number(0),
             {}});
        wait_for(in_buffer(bar, 0), Operand::of(phase));
        const Reg descriptor = add("mov", typed(Type::b64), {{}, Operand::integer(0)});
        add("wgmma.mma_async", Form().set(Field::n, 64).set(Field::a, Type::bf16).set(Field::b, Type::bf16),
            {Operand::of(builder.regs(Type::f32, 32)), Operand::of(descriptor), Operand::of(descriptor),
             Operand::number(0)});
        add("wgmma.commit_group", {}, {});
        add("wgmma.wait_group", {}, {Operand::number(1)});
    }
};

constexpr std::uint32_t shared = 1024;

ProfiledWarp warp(std::uint32_t cta, int number, int sm, std::uint64_t begin, std::uint64_t end,
                  std::vector<Timestamp> timestamps) {
    ProfiledWarp out;
    out.cta = {cta, 0, 0};
    out.warp = number;
    out.sm = sm;
    out.shared = shared;
    out.begin = begin;
    out.end = end;
    out.begin_ns = begin;
    out.end_ns = end;
    out.timestamps = std::move(timestamps);
    return out;
}

Timestamp at_mbarrier(std::uint32_t site, std::uint32_t offset, bool odd, std::uint64_t begin,
                      std::uint64_t end) {
    return {site, (shared + offset) | (odd ? timestamp_parity : 0), begin, end};
}

struct Run {
    const Program program = Script().finish();
    Timestamps timestamps;
    Run() { timestamps.sites = profiled(program).sites; }
    Measured measured(int clusters = 1) const { return timeline::measured(program, timestamps, clusters); }
};

std::vector<Timeline::Span> of_kind(const Measured& measured, Kind kind) {
    std::vector<Timeline::Span> out;
    std::ranges::copy_if(measured.schedule.spans, std::back_inserter(out),
                         [&](const Timeline::Span& span) { return span.kind == kind; });
    return out;
}

}  // namespace

TEST_CASE("measured: rows are roles, waits have barriers and phases, copies last until somebody knows") {
    Run run;
    REQUIRE(run.timestamps.sites.size() == 5);
    run.timestamps.warps = {warp(0, 1, 7, 1000, 2000,
                                 {at_mbarrier(Script::empty, 8, true, 1000, 1001),
                                  at_mbarrier(Script::copy, 0, false, 1010, 1020),
                                  at_mbarrier(Script::empty, 8, false, 1100, 1500),
                                  at_mbarrier(Script::copy, 0, false, 1510, 1520)}),
                            warp(0, 0, 7, 1000, 2100,
                                 {at_mbarrier(Script::full, 0, false, 1005, 1300),
                                  {Script::product, 0, 1310, 1320},
                                  {Script::products, 0, 1320, 1330},
                                  at_mbarrier(Script::full, 0, true, 1340, 1800),
                                  {Script::product, 0, 1810, 1820},
                                  {Script::products, 0, 1820, 1900}})};
    const Measured measured = run.measured();
    REQUIRE(measured.roles.list.size() == 2);
    CHECK(measured.roles.list[0].name == "consumer");
    CHECK(measured.roles.list[1].name == "producer");
    CHECK(measured.schedule.cycles == 1100);
    CHECK(measured.shown == 1);

    const auto arrivals = of_kind(measured, Kind::arrivals), copies = of_kind(measured, Kind::copies);
    REQUIRE(arrivals.size() == 2);
    CHECK(arrivals[0].what == "ring[1]");  // the phase before the first
    CHECK(arrivals[1].what == "ring[1], phase 0");
    CHECK(arrivals[1].begin == 100);
    CHECK(arrivals[1].end == 500);
    REQUIRE(copies.size() == 2);
    CHECK(copies[0].what == "ring[0], phase 0");
    CHECK(copies[1].what == "ring[0], phase 1");
    const auto flights = of_kind(measured, Kind::flight);
    REQUIRE(flights.size() == 2);
    CHECK(flights[0].what == "ring[0], phase 0");
    CHECK(flights[0].begin == 10);
    CHECK(flights[0].end == 300);
    CHECK(flights[1].what == "ring[0], phase 1");
    CHECK(flights[1].end == 800);
    CHECK(flights[0].where.line == 6);
    // At most one group runs on after each wait: the first one ends with the second wait.
    const auto products = of_kind(measured, Kind::product);
    REQUIRE(products.size() == 2);
    CHECK(products[0].begin == 310);
    CHECK(products[0].end == 900);
    CHECK(products[1].end == 1100);
    CHECK(measured.schedule.tensor_busy == 2 * 32);  // m64n64k16: N / 2 cycles
}

TEST_CASE("measured: CTAs that follow on an SM, and those that ran beside the first") {
    Run run;
    run.timestamps.warps = {warp(0, 0, 3, 1000, 2000, {}), warp(132, 0, 3, 1100, 2500, {}),
                            warp(264, 0, 3, 2010, 3000, {}), warp(300, 0, 3, 2600, 3500, {}),
                            warp(400, 0, 3, 3050, 4000, {})};
    const Measured measured = run.measured();
    CHECK(measured.ctas == 5);
    CHECK(measured.shown == 3);  // 0, 264 and 400
    CHECK(measured.schedule.cycles == 3000);
    std::vector<double> begins;
    for (const Timeline::Span& span : of_kind(measured, Kind::work)) begins.push_back(span.begin);
    CHECK(begins == std::vector<double>{0, 1010, 2050});
}

TEST_CASE("measured: the clocks of SMs are brought together by the clock that all share") {
    Run run;
    constexpr double ghz = 1.5;
    constexpr std::uint64_t ahead = 5'000'000'000;
    const auto on = [&](std::uint32_t cta, int sm, std::uint64_t begin_ns, std::uint64_t end_ns,
                        std::uint64_t offset) {
        // The shared clock advances in steps of 32 ns.
        const auto clock = [&](std::uint64_t ns) {
            return offset + static_cast<std::uint64_t>(static_cast<double>(ns) * ghz);
        };
        ProfiledWarp out = warp(cta, 0, sm, clock(begin_ns), clock(end_ns), {});
        out.begin_ns = begin_ns / 32 * 32;
        out.end_ns = end_ns / 32 * 32;
        return out;
    };
    run.timestamps.warps = {on(0, 1, 100'000, 140'000, 0), on(1, 2, 101'000, 141'000, ahead)};
    const Measured measured = run.measured(2);
    CHECK(std::abs(measured.ghz - ghz) < 0.002);
    REQUIRE(measured.others.size() == measured.roles.list.size());
    CHECK(measured.others.front().name == "cta 1 " + measured.roles.list.front().name);
    const auto work = of_kind(measured, Kind::work);
    REQUIRE(work.size() == 2);
    CHECK(work[0].begin == 0);
    CHECK(std::abs(work[1].begin - 1500) < 64);
    CHECK(std::abs(measured.microseconds - 40) < 0.1);
}

TEST_CASE("measured: nothing of the first CTA") {
    Run run;
    run.timestamps.warps = {warp(5, 0, 3, 1000, 2000, {})};
    CHECK_THROWS_AS(run.measured(), ArgumentError);
}
