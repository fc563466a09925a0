// Polynomials, atoms, what follows from conditions on them, and accesses that meet or do not.
#include <iostream>

#include "check/symbolic/apart.hpp"
#include "check/symbolic/extents.hpp"
#include "check/symbolic/groups.hpp"
#include "tests/catch.hpp"

using namespace wgrun;
using namespace wgrun::check::symbolic;

namespace {

/// Atoms of a launch: two sizes, CTAs and threads.
struct Launch {
    Accesses of;
    Solver solver{100'000'000};
    Polynomial n = number("n"), m = number("m");
    Polynomial cta = place("ctaid.x", {}), thread = place("tid.x", 127);

    Polynomial number(std::string name) {
        return Polynomial::of(
            of.atoms.atom({.kind = Definition::Kind::number, .name = std::move(name), .least = 1}));
    }
    Polynomial place(std::string name, std::optional<std::int64_t> most) {
        const Atom atom = of.atoms.atom(
            {.kind = Definition::Kind::place, .name = std::move(name), .least = 0, .most = most});
        of.places.push_back(atom);
        return Polynomial::of(atom);
    }
    Polynomial quotient(const Polynomial& a, const Polynomial& b) {
        return Polynomial::of(
            of.atoms.atom({.kind = Definition::Kind::quotient, .name = {}, .parts = {a, b}}));
    }
    Access store(Polynomial at, std::int64_t bytes = 4, std::vector<Formula> conditions = {}) {
        Access out;
        out.writes = true;
        out.param = 0;
        out.at = {std::move(at)};
        out.extent = {Polynomial(bytes)};
        out.conditions = std::move(conditions);
        return out;
    }
    Formula below(const Polynomial& a, const Polynomial& b) {
        return of.atoms.positive(b - a - Polynomial(1));
    }
    std::string meets(const Access& a, const Access& b) {
        std::set<std::string> flat;
        return meeting(solver, of, a, b, flat);
    }
    std::string meets(const Access& a) { return meets(a, a); }
};

bool lacks_solver() {
    if (!has_solver()) std::cout << "skipped: no isl\n";
    return !has_solver();
}

Polynomial times(std::int64_t factor, const Polynomial& of) { return Polynomial(factor) * of; }

}  // namespace

TEST_CASE("polynomials") {
    const Polynomial x = Polynomial::of(0), y = Polynomial::of(1);
    const Polynomial product = (x + y) * (x - y);
    CHECK(product == x * x - y * y);
    CHECK(product - product == Polynomial());
    CHECK_FALSE(product.is_linear());
    CHECK((times(6, x) + Polynomial(9)).divisor() == 3);
    CHECK((times(6, x) + Polynomial(9)).divisor(false) == 6);
    CHECK(product.with(0, y + Polynomial(2)) == times(4, y) + Polynomial(4));
    const auto [by_x, rest] = (x * y + times(3, x) + y).split(0);
    CHECK(by_x == y + Polynomial(3));
    CHECK(rest == y);
    Polynomial twice = x;
    twice.add(twice);
    CHECK(twice == times(2, x));
}

TEST_CASE("coefficients that do not fit") {
    const Polynomial x = Polynomial::of(0);
    CHECK_THROWS_AS(times(INT64_MAX, x) + x, TooLarge);
    CHECK_THROWS_AS(times(INT64_MAX, x) * Polynomial(2), TooLarge);
    CHECK_THROWS_AS(x * x * x * x * x, TooLarge);
}

TEST_CASE("bounds of atoms") {
    Launch k;
    const Atoms& atoms = k.of.atoms;
    CHECK(atoms.least(k.n) == 1);
    CHECK_FALSE(atoms.most(k.n));
    CHECK(atoms.least(times(-2, k.thread)) == -254);
    CHECK(atoms.most(times(-2, k.thread)) == 0);
    CHECK(atoms.most(k.quotient(k.thread, 32)) == 3);
    CHECK(atoms.least(k.n * k.thread) == 0);
    CHECK_FALSE(atoms.least(k.n - k.thread * k.n));
    CHECK(atoms.uniform(k.n * k.m));
    CHECK_FALSE(atoms.uniform(k.n * k.cta));
}

TEST_CASE("the text of polynomials") {
    Launch k;
    const Polynomial blocks = k.quotient(k.n + Polynomial(63), 64);
    CHECK(k.of.atoms.text(times(4, k.n * k.m) - Polynomial(4)) == "4 * n * m - 4");
    CHECK(k.of.atoms.text(times(-1, k.n)) == "-n");
    CHECK(k.of.atoms.text(times(512, blocks)) == "512 * ((n + 63) / 64)");
    CHECK(k.of.atoms.text(Polynomial()) == "0");
}

TEST_CASE("what follows from conditions") {
    if (lacks_solver()) return;
    Launch k;
    System system(k.solver, k.of.atoms);
    system.add(k.below(k.cta, k.n), 0);
    CHECK_FALSE(system.empty());
    CHECK(system.implies_positive(k.n - k.cta - Polynomial(1)));
    CHECK_FALSE(system.implies_positive(k.n - k.cta - Polynomial(2)));
    CHECK_FALSE(system.zeros({k.cta}).front());
    system.add(k.of.atoms.zero(k.n - Polynomial(1)), 0);
    CHECK(system.zeros({k.cta}).front());
    system.add(k.below(k.n, k.cta), 0);
    CHECK(system.empty());
}

TEST_CASE("what follows of factors from products") {
    if (lacks_solver()) return;
    Launch k;
    System system(k.solver, k.of.atoms);
    system.add_positive(k.n * k.m - k.cta * k.m - Polynomial(1));
    CHECK(system.implies_positive(k.n - k.cta - Polynomial(1)));
    CHECK_FALSE(system.implies_positive(k.n - k.cta - Polynomial(2)));
}

TEST_CASE("choices and truths in systems") {
    if (lacks_solver()) return;
    Launch k;
    const Formula first = k.below(k.thread, 64);
    const Polynomial chosen = Polynomial::of(k.of.atoms.atom({.kind = Definition::Kind::choice,
                                                              .name = {},
                                                              .parts = {k.thread, k.thread - Polynomial(64)},
                                                              .condition = first}));
    System system(k.solver, k.of.atoms);
    CHECK(system.implies_positive(chosen));
    CHECK(system.implies_positive(Polynomial(63) - chosen));
    CHECK_FALSE(system.implies_positive(Polynomial(62) - chosen));
    System other(k.solver, k.of.atoms);
    other.add(k.of.atoms.either(k.of.atoms.negated(first), k.below(k.thread, 5)), 0);
    CHECK_FALSE(other.implies_positive(Polynomial(4) - k.thread));
    other.add(first, 0);
    CHECK(other.implies_positive(Polynomial(4) - k.thread));
}

TEST_CASE("want of operations is no answer") {
    if (lacks_solver()) return;
    Launch k;
    const Solver little(1);
    System system(little, k.of.atoms);
    system.add(k.below(k.cta, k.n), 0);
    CHECK_FALSE(system.implies_positive(k.n - k.cta - Polynomial(1)));
    CHECK(little.exhausted());
}

TEST_CASE("accesses that meet") {
    if (lacks_solver()) return;
    Launch k;
    const Polynomial index = times(128, k.cta) + k.thread;
    CHECK(k.meets(k.store(times(4, index))).empty());
    // What does not begin at a multiple of its size traps.
    CHECK(k.meets(k.store(times(4, index), 8)).empty());
    CHECK(k.meets(k.store(times(4, k.thread))) == "ctaid.x");
    CHECK_FALSE(k.meets(k.store(times(4, times(127, k.cta) + k.thread))).empty());
    // Rows of n elements.
    const Polynomial element = times(4, k.cta * k.n + k.thread);
    CHECK_FALSE(k.meets(k.store(element)).empty());
    CHECK(k.meets(k.store(element, 4, {k.below(k.thread, k.n)})).empty());
    CHECK_FALSE(k.meets(k.store(element, 4, {k.below(k.thread, k.n + Polynomial(1))})).empty());
    // Halves of what the other writes.
    CHECK_FALSE(k.meets(k.store(times(8, index), 8), k.store(times(8, index) + Polynomial(8), 4)).empty());
    CHECK(k.meets(k.store(times(8, index), 8), k.store(times(8, index) + Polynomial(4), 4)).empty());
}

TEST_CASE("copies of one thread are in no order") {
    if (lacks_solver()) return;
    Launch k;
    Access copy = k.store(times(4096, k.cta), 1024, {k.of.atoms.zero(k.thread)});
    copy.later = true;
    CHECK(k.meets(copy).empty());
    CHECK(k.meets(copy, k.store(times(4096, k.cta), 4, copy.conditions)) == "one thread");
    copy.turns = {k.of.atoms.atom({.kind = Definition::Kind::place, .name = "turn", .least = 0})};
    CHECK(k.meets(copy) == "turn");
    copy.at.front() = copy.at.front() + times(1024, Polynomial::of(copy.turns.front()));
    CHECK_FALSE(k.meets(copy).empty());
    copy.conditions.push_back(k.below(Polynomial::of(copy.turns.front()), 4));
    CHECK(k.meets(copy).empty());
}

TEST_CASE("series of accesses are one, with an index") {
    Launch k;
    std::vector<Access> list;
    for (const std::int64_t at : {0, 16, 32, 48})
        list.push_back(k.store(times(64, k.thread) + Polynomial(at)));
    list.push_back(k.store(times(64, k.thread) + Polynomial(56), 8));
    const std::vector<Access> joined = grouped(k.of.atoms, list);
    REQUIRE(joined.size() == 2);
    REQUIRE(joined[0].turns.size() == 1);
    const Atom index = joined[0].turns.front();
    CHECK(joined[0].at.front() == times(64, k.thread) + times(16, Polynomial::of(index)));
    CHECK(k.of.atoms.most(Polynomial::of(index)) == 3);
    CHECK(joined[1].at == list[4].at);
    list[1].strong = 4;  // it is of another kind
    CHECK(grouped(k.of.atoms, list).size() > 2);
}

TEST_CASE("how long memory has to be") {
    if (lacks_solver()) return;
    Launch k;
    Extents extents;
    const auto bytes = [&] { return k.of.atoms.text(extents.bytes.at(0).front()); };
    const Polynomial index = times(128, k.cta) + k.thread;
    CHECK(add_extent(k.solver, k.of, k.store(times(4, index), 4, {k.below(index, k.n)}), extents).empty());
    CHECK(bytes() == "4 * n");
    CHECK_FALSE(add_extent(k.solver, k.of, k.store(times(4, index)), extents).empty());
    CHECK_FALSE(add_extent(k.solver, k.of, k.store(times(4, index) - Polynomial(4)), extents).empty());
    CHECK_FALSE(add_extent(k.solver, k.of, k.store(times(4, k.thread), 8), extents).empty());
    CHECK(extents.multiples.empty());
    const Access rows = k.store(times(4, k.cta * k.n), 8, {k.below(k.cta, k.m)});
    CHECK(add_extent(k.solver, k.of, rows, extents).empty());
    CHECK(extents.multiples.at(k.n) == 2);
}
