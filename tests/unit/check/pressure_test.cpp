// The estimate of registers: what counts, for how long, and what the assembler does without.
#include "check/pressure.hpp"

#include "tests/catch.hpp"
#include "tests/unit/check/kit.hpp"

using namespace kit;

namespace {

/// A kernel whose threads load and store values of global memory.
struct Values : Kernel {
    Values() {
        at = builder().reg(Type::u64);
        step("mov", type(Type::u64), {Operand::of(at), imm(0)});
        step("add", type(Type::u64), {Operand::of(at), Operand::of(at), imm(4)});  // written twice: it counts
    }
    Form global(Type t) { return type(t).set(Field::space, static_cast<int>(isa::Space::global)); }
    Reg load(Type t = Type::u32) { return value("ld", global(t), {Operand::address(at, 0)}); }
    void store(Reg reg, Type t = Type::u32) {
        step("st", global(t), {Operand::address(at, 0), Operand::of(reg)});
    }
    int most() { return check::Pressure(builder().finish()).most(); }

    Reg at;
    static constexpr int pointer = 2;  ///< registers of `at`
};

/// Two tiles, and the registers that a wgmma of N columns needs.
struct Products : Values {
    Products() {
        a = descriptor(buffer(tile()));
        b = descriptor(buffer(tile(256)));
    }
    void multiply(const std::vector<Reg>& acc, const Operand& scale_d = imm(0)) {
        mma(acc, a, b, scale_d, Form().set(Field::n, static_cast<int>(acc.size()) * 2));
        commit();
    }
    /// The estimate at each wgmma, in the order of the program.
    std::vector<int> needs() {
        const Program program = builder().finish();
        const check::Pressure pressure(program);
        std::vector<int> out;
        for_each_step(program, [&](const Step& step) {
            if (pressure.at(&step) != 0) out.push_back(pressure.at(&step));
        });
        return out;
    }
    Reg a, b;
};

constexpr int besides = 26;

}  // namespace

TEST_CASE("values count from where they are written to where they are read last") {
    const int count = GENERATE(1, 5, 40);
    Values k;
    std::vector<Reg> values;
    for (int i = 0; i < count; ++i) values.push_back(k.load());
    for (const Reg value : values) k.store(value);
    CHECK(k.most() == Values::pointer + count);
}

TEST_CASE("one after the other they share a register") {
    Values k;
    for (int i = 0; i < 40; ++i) k.store(k.load());
    CHECK(k.most() == Values::pointer + 1);
}

TEST_CASE("a 64-bit value fills two registers, a predicate none") {
    Values k;
    const Reg wide = k.load(Type::u64), narrow = k.load();
    std::vector<Reg> predicates;
    for (int i = 0; i < 6; ++i) predicates.push_back(k.compare("eq", narrow, Kernel::imm(i)));
    for (const Reg predicate : predicates) {
        k.guard(predicate);
        k.store(narrow);
    }
    k.guard({});
    k.store(wide, Type::u64);
    CHECK(k.most() == Values::pointer + 3);
}

TEST_CASE("what the assembler can compute later counts nothing") {
    Values k;
    const Reg thread = k.load();
    std::vector<Reg> alike, from_one, from_two;
    for (int i = 0; i < 8; ++i) alike.push_back(k.add(k.n(), Kernel::imm(i)));
    for (int i = 0; i < 8; ++i)
        from_one.push_back(k.add(k.add(thread, Operand::of(alike[0])), Kernel::imm(i)));
    SECTION("constants, parameters, and what one value gives") {
        for (int i = 0; i < 8; ++i) {
            k.store(alike[static_cast<std::size_t>(i)]);
            k.store(from_one[static_cast<std::size_t>(i)]);
        }
        CHECK(k.most() == Values::pointer + 1);
    }
    SECTION("but what two values give") {
        const Reg other = k.load();
        for (int i = 0; i < 8; ++i)
            from_two.push_back(k.add(from_one[static_cast<std::size_t>(i)], Operand::of(other)));
        for (const Reg value : from_two) k.store(value);
        CHECK(k.most() >= Values::pointer + 8);
    }
    SECTION("and what one gives that changes meanwhile") {
        k.increment(thread);
        for (int i = 0; i < 8; ++i) from_two.push_back(k.add(thread, Kernel::imm(i)));
        k.increment(thread);
        for (const Reg value : from_two) k.store(value);
        CHECK(k.most() >= Values::pointer + 8);
    }
}

TEST_CASE("a value of one arm of a branch does not count in the other") {
    Values k;
    const Reg condition = k.compare("gt", k.load(), Kernel::imm(0));
    const auto arm = [&](int count) {
        return [&k, count] {
            std::vector<Reg> values;
            for (int i = 0; i < count; ++i) values.push_back(k.load());
            for (const Reg value : values) k.store(value);
        };
    };
    k.branch(condition, arm(10), arm(20));
    CHECK(k.most() == Values::pointer + 20);
}

TEST_CASE("a value that the next iteration reads is alive in the whole loop") {
    const bool read = GENERATE(false, true);
    Values k;
    const Reg carried = k.load();
    k.loop([&](Reg) {
        std::vector<Reg> values;
        for (int i = 0; i < 10; ++i) values.push_back(k.load());
        for (const Reg value : values) k.store(value);
        if (read) k.store(carried);
        k.step("ld", k.global(Type::u32), {Operand::of(carried), Operand::address(k.at, 0)});
    });
    const int most = k.most();
    INFO(most);
    CHECK(most >= Values::pointer + 10 + (read ? 1 : 0));
    CHECK(most <= Values::pointer + 10 + (read ? 2 : 1));  // and the loop's counter
}

TEST_CASE("a wgmma wants 26 registers besides its operands") {
    const int n = GENERATE(8, 64, 256);
    Products k;
    const std::vector<Reg> acc = k.accumulators(n);
    k.fence();
    k.multiply(acc);
    k.wait(0);
    k.store(acc[0], Type::f32);
    CHECK(k.needs() == std::vector{n / 2 + besides});
}

TEST_CASE("accumulators count until they are waited for") {
    const int pending = GENERATE(0, 1);
    Products k;
    const std::vector<Reg> first = k.accumulators(128), second = k.accumulators(128);
    k.fence();
    k.multiply(first);
    if (pending == 0) k.wait(0);
    k.multiply(second);
    k.wait(pending);
    k.wait(0);
    // No step reads them.
    CHECK(k.needs() ==
          (pending == 0 ? std::vector{64 + besides, 64 + besides} : std::vector{64 + besides, 128}));
}

TEST_CASE("accumulators that nothing has been written to yet count nothing") {
    Products k;
    const std::vector<Reg> first = k.accumulators(128), second = k.accumulators(128);
    k.fence();
    k.multiply(first);
    k.wait(0);
    k.multiply(second, Operand::of(k.uniform()));  // may read what it holds
    k.wait(0);
    for (const Reg reg : first) k.store(reg, Type::f32);
    for (const Reg reg : second) k.store(reg, Type::f32);
    const std::vector<int> needs = k.needs();
    REQUIRE(needs.size() == 2);
    CHECK(needs[0] == 64 + besides);
    CHECK(needs[1] == Values::pointer + 128);
}

TEST_CASE("a fragment counts until the wgmma that reads it is waited for") {
    Products k;
    const std::vector<Reg> acc = k.accumulators(16);
    std::vector<std::vector<Reg>> fragments(10);
    for (auto& fragment : fragments)
        for (int i = 0; i < 4; ++i) fragment.push_back(k.load(Type::b32));
    k.fence();
    for (const auto& fragment : fragments) k.mma(acc, fragment, k.b, Kernel::imm(1));
    k.commit();
    k.wait(0);
    CHECK(k.needs() == std::vector<int>(10, 8 + 40));
}

TEST_CASE("loops within loops do not take for ever") {
    Values k;
    std::function<void(int)> nest = [&](int depth) {
        if (depth == 0) return k.store(k.load());
        k.loop([&](Reg) { nest(depth - 1); });
    };
    nest(30);
    CHECK(k.most() > 0);
}

TEST_CASE("what is read before it is written does not take for ever") {
    const int registers = GENERATE(1, 2, 3);
    Values k;
    std::vector<Reg> round;
    for (int i = 0; i < registers; ++i) round.push_back(k.builder().reg(Type::u32));
    k.loop([&](Reg) {
        for (std::size_t i = 0; i < round.size(); ++i)
            k.step("add", Kernel::type(Type::u32),
                   {Operand::of(round[i]), Operand::of(round[(i + 1) % round.size()]), Kernel::imm(1)});
    });
    for (const Reg reg : round) k.store(reg);
    CHECK(k.most() >= Values::pointer + 1);
}
