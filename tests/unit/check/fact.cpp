// Facts, and the values on which they depend.
#include "check/fact.hpp"

#include "check/exact.hpp"
#include "tests/catch.hpp"

using namespace wgrun;
using namespace wgrun::check;
using Kind = check::Fact::Kind;

namespace {
const Decision on_n{1, 4, roots::param(0), false, false};
const Decision on_m{5, 6, roots::param(1), false, false};
const Decision on_n_again{7, 8, roots::param(0), false, false};
const Decision inner{2, 3, roots::param(1), false, false};
const Decision loop{10, 12, roots::loop(10) | roots::param(0), true, false};
}  // namespace

TEST_CASE("what holds on both ways holds behind them") {
    CHECK(join(check::Fact::always(), check::Fact::always(), on_n) == check::Fact::always());
    CHECK(join(check::Fact{}, {}, on_n).kind == Kind::absent);
}

TEST_CASE("what holds on one way depends on the condition") {
    const check::Fact fact = join(check::Fact::always(), {}, on_n);
    CHECK(fact.kind == Kind::conditional);
    CHECK(fact.first == 1);
    CHECK(fact.inputs == roots::param(0));
    CHECK(fact.arm == 0);
    check::Fact other = fact;
    other.arm = 1;
    CHECK(join({}, check::Fact::always(), on_n) == other);
}

TEST_CASE("independent conditions add up, conditions of one input cast doubt") {
    const check::Fact fact = join(check::Fact::always(), {}, on_n);
    const check::Fact both = join(fact, {}, on_m);
    CHECK(both.kind == Kind::conditional);
    CHECK(both.inputs == (roots::param(0) | roots::param(1)));
    CHECK(both.first == 1);
    CHECK(both.last == 5);
    CHECK(join(fact, {}, on_n_again).kind == Kind::doubtful);
    CHECK(join(fact, fact, on_n_again) == fact);
}

TEST_CASE("an inner condition is a part of the outer one") {
    const check::Fact fact = join(join(check::Fact::always(), {}, inner), {}, on_n);
    CHECK(fact.kind == Kind::conditional);
    CHECK(fact.first == 1);
}

TEST_CASE("iterations of a loop are one decision, a decision within it is another") {
    const check::Fact fact = join({}, check::Fact::always(), loop);
    CHECK(join({}, fact, loop) == fact);
    const Decision within{11, 12, roots::loop(10), false, false};
    CHECK(join({}, join(check::Fact::always(), {}, within), loop).kind == Kind::doubtful);
}

TEST_CASE("a condition that may have one outcome only casts doubt") {
    Decision decision = on_m;
    decision.doubtful = true;
    CHECK(join(check::Fact::always(), {}, decision).kind == Kind::doubtful);
    CHECK(join(check::Fact::always(), check::Fact::always(), decision) == check::Fact::always());
}

TEST_CASE("exact values: over which threads they are the same") {
    const auto of_threads = [](int threads, auto f) {
        std::vector<std::int64_t> values;
        for (int t = 0; t < threads; ++t) values.push_back(f(t));
        return Exact(values);
    };
    CHECK(Exact(7).spread() == isa::Uniform::grid);
    CHECK(of_threads(256, [](int) { return 7; }) == Exact(7));
    CHECK(of_threads(256, [](int t) { return t / 128; }).spread() == isa::Uniform::warpgroup);
    CHECK(of_threads(256, [](int t) { return t / 32; }).spread() == isa::Uniform::warp);
    CHECK(of_threads(256, [](int t) { return t < 100; }).spread() == isa::Uniform::thread);
    CHECK(of_threads(96, [](int t) { return t; }).range() == std::pair<std::int64_t, std::int64_t>(0, 95));
    CHECK_FALSE(Exact().known());
}

TEST_CASE("exact values: chosen thread by thread") {
    const Exact condition(std::vector<std::int64_t>{1, 0, 1});
    const Exact chosen = Exact::choose(condition, 5, Exact(std::vector<std::int64_t>{7, 8, 9}));
    CHECK(chosen == Exact(std::vector<std::int64_t>{5, 8, 5}));
    CHECK(Exact::choose(condition, 5, 5) == Exact(5));
    CHECK(Exact::choose(1, 5, 6) == Exact(5));
    CHECK_FALSE(Exact::choose(condition, 5, {}).known());
}
