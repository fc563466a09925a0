// Cuts of an abstract execution that stand for fewer turns of a loop.
#include "check/abstract/cut.hpp"

#include <utility>

#include "tests/catch.hpp"

using namespace wgrun::check::abstract;

namespace {

/// A warp that counts to a number n, in each turn by `step`, at a cut behind some turns or more.
struct Counting {
    Symbols symbols;
    int turns;
    wgrun::check::Interned<Values::Kept> kept;
    Cut cut;

    explicit Counting(std::int64_t turned, std::int64_t step = 1) {
        symbols.roots.emplace_back().least = 1;
        turns = variable(symbols.turn(0), Variable::repeated);
        cut.windows = {{turned * step + 1, unlimited, {{turns, step}}}, symbols.window(1)};
        counter(0, turned * step, {{turns, step}}, ~0U);
    }
    void counter(std::uint32_t slot, std::int64_t value, Form form, wgrun::isa::Mask lanes) {
        Values::Kept numbers;
        numbers.lanes.fill(static_cast<std::uint64_t>(value));
        cut.registers.push_back({0, slot, ~0U, Numbers(kept.the(numbers)), {std::move(form), lanes}});
    }
    /// By how much the counter may be less.
    std::int64_t less() const {
        const std::vector<Widening> all = lowerings(cut, symbols, {});
        return all.empty() ? 0 : all.front().registers.front().back;
    }
};

}  // namespace

TEST_CASE("a cut behind some turns stands for one turn") {
    CHECK(Counting(20).less() == 19);
    CHECK(Counting(20, 64).less() == 19 * 64);
    CHECK(Counting(1).less() == 0);
    CHECK(Counting(0).less() == 0);
}

TEST_CASE("all that goes with the turns goes back alike") {
    Counting down(20);
    down.counter(1, 5, {{down.turns, -1}}, ~0U);
    const std::vector<Widening> all = lowerings(down.cut, down.symbols, {});
    REQUIRE(all.size() == 1);
    REQUIRE(all[0].registers.size() == 2);
    CHECK(all[0].registers[0].back == 19);
    CHECK(all[0].registers[1].back == -19);
    REQUIRE(all[0].roots.size() == 1);
    CHECK(all[0].roots[0].back == 19);
}

TEST_CASE("the least of what goes with the turns bounds how many there are fewer") {
    Counting later(20);
    later.counter(1, 5, {{later.turns, 1}}, ~0U);
    CHECK(later.less() == 4);
}

TEST_CASE("a register that goes with the turns in some lanes alone stays, and so do the turns") {
    Counting some(20);
    some.counter(1, 30, {{some.turns, 1}}, 1);
    CHECK(lowerings(some.cut, some.symbols, {}).empty());
    // Whichever of the registers comes first.
    std::swap(some.cut.registers[0], some.cut.registers[1]);
    CHECK(lowerings(some.cut, some.symbols, {}).empty());
}
