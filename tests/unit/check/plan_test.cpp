// What the checker finds in a program before it follows its paths.
#include "check/plan.hpp"

#include "tests/catch.hpp"
#include "tests/unit/check/kit.hpp"

using namespace kit;

TEST_CASE("registers are live where they are read before they are written again") {
    Kernel k;
    const Reg before = k.constant(1), condition = k.compare("lt", k.n(), k.imm(4));
    const Reg dead = k.constant(2);
    k.step("mov", Kernel::type(Type::u32), {Operand::of(dead), k.imm(3)});
    k.branch(condition, [&] { k.shift_right(before, 1); });
    const Program program = k.builder().finish();
    const check::Plan plan(program, check::Made::by_author);
    const BlockId inside = program.blocks()[0].taken == 1 ? 1 : program.blocks()[0].otherwise;
    CHECK(plan.live(inside).has(before.id));
    CHECK_FALSE(plan.live(inside).has(dead.id));
    CHECK_FALSE(plan.live(inside).has(condition.id));
    CHECK_FALSE(plan.live(0).has(before.id));  // it is written first
    CHECK_FALSE(plan.live(2).has(before.id));  // it is not read any more
}

TEST_CASE("a guarded step does not end what its destination held") {
    Kernel k;
    const Reg value = k.constant(1), condition = k.compare("lt", k.n(), k.imm(4));
    k.branch(condition, [&] {
        k.guard(condition);
        k.step("mov", Kernel::type(Type::u32), {Operand::of(value), k.imm(3)});
        k.guard({});
    });
    k.shift_right(value, 1);
    const Program program = k.builder().finish();
    const check::Plan plan(program, check::Made::by_author);
    CHECK(plan.live(1).has(value.id));
    CHECK(plan.live(2).has(value.id));
}

TEST_CASE("equal values are one") {
    check::Interned<check::Known> pool;
    check::Known one, two;
    one.written = two.written = true;
    one.exact = 5;
    two.exact = 6;
    CHECK(pool.the(one) == pool.the(one));
    CHECK(pool.the(one) != pool.the(two));
    check::RegisterValues values(40, pool);
    const check::RegisterValues copy = values;
    values.set(20, one);
    CHECK_FALSE(copy[20].written);
    CHECK(values[20].constant() == 5);
    values.set(20, check::Known());
    CHECK(values == copy);
}
