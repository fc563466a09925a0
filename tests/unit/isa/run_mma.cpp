// mma.sync against three nested loops over the fragments of wgrun/fragment.hpp.
#include <algorithm>
#include <cmath>
#include <random>

#include "number/number.hpp"
#include "tests/catch.hpp"
#include "tests/forms.hpp"
#include "tests/unit/isa/bench.hpp"
#include "wgrun/fragment.hpp"

using namespace bench;

namespace {

constexpr int rows = 16, columns = 8;

Dtype dtype(Type type) { return dtype_named(isa::to_string(type)); }

/// A rows x columns matrix of small integers, which every type holds exactly.
struct Matrix {
    int columns;
    std::vector<double> values;
    double& at(int row, int column) { return values[static_cast<std::size_t>(row * columns + column)]; }
};

Matrix matrix(Dtype type, int rows, int columns, std::mt19937& random) {
    Matrix out{columns, std::vector<double>(static_cast<std::size_t>(rows * columns))};
    const int span = type == Dtype::b1 ? 2 : 9, least = type == Dtype::b1 || type == Dtype::u8 ? 0 : -4;
    for (double& value : out.values) value = least + static_cast<int>(random() % static_cast<unsigned>(span));
    return out;
}

/// Registers that hold the matrix as the fragment says; `per_register` values in each.
std::vector<Reg> put(Machine& m, const Fragment& fragment, Dtype type, int per_register, Matrix& from) {
    std::vector<Reg> out;
    for (int r = 0; r < fragment.values() / per_register; ++r) {
        Lanes words{};
        for (int lane = 0; lane < lanes; ++lane) {
            std::vector<double> values;
            for (int j = 0; j < per_register; ++j) {
                const auto [row, column] = fragment.at(lane, r * per_register + j);
                values.push_back(from.at(row, column));
            }
            std::uint32_t word = 0;
            encode(type, values, std::as_writable_bytes(std::span(&word, 1)));
            words[static_cast<std::size_t>(lane)] = word;
        }
        out.push_back(m.put(Type::b32, words));
    }
    return out;
}

double got(Machine& m, const std::vector<Reg>& d, Dtype type, int row, int column) {
    const int per_register = 32 / bits(type);
    const auto [lane, value] = mma_sync_c().owner(row, column);
    const auto word = static_cast<std::uint32_t>(
        m.get(d[static_cast<std::size_t>(value / per_register)])[static_cast<std::size_t>(lane)]);
    std::vector<double> values(static_cast<std::size_t>(per_register));
    decode(type, std::as_bytes(std::span(&word, 1)), std::span(values));
    return values[static_cast<std::size_t>(value % per_register)];
}

Form asked(Type d, Type a, Type b, int k) {
    return Form().set(Field::d, d).set(Field::a, a).set(Field::b, b).set(Field::k, k);
}

}  // namespace

TEST_CASE("mma.sync multiplies what its fragments say: every form") {
    std::mt19937 random{17};
    int forms = 0;
    for (const Form& form : wgrun::test::forms_of(*isa::find("mma.sync"))) {
        INFO(wgrun::test::spelled(form));
        ++forms;
        const Dtype a = dtype(form.type(Field::a)), b = dtype(form.type(Field::b)),
                    d = dtype(form.type(Field::d));
        const int k = form.get(Field::k);
        const bool differs =
            form.has(Field::op) && isa::spelled(Field::op, form.get(Field::op)) == "xor.popc";
        Machine m;
        Matrix ma = matrix(a, rows, k, random), mb = matrix(b, columns, k, random),
               mc = matrix(d, rows, columns, random);
        const std::vector<Reg> ra = put(m, mma_sync_a(a, k), a, 32 / bits(a), ma),
                               rb = put(m, mma_sync_b(b, k), b, 32 / bits(b), mb),
                               rc = put(m, mma_sync_c(), d, 32 / bits(d), mc);
        std::vector<Reg> rd;
        for (std::size_t i = 0; i < rc.size(); ++i) rd.push_back(m.put(Type::b32, {}));
        // As many registers as the record asks for.
        const isa::Instruction& op = *isa::find("mma.sync");
        CHECK(op.operands[1].count(form) == static_cast<int>(ra.size()));
        CHECK(op.operands[2].count(form) == static_cast<int>(rb.size()));
        CHECK(op.operands[3].count(form) == static_cast<int>(rc.size()));
        const isa::Step s =
            step("mma.sync", form, {Operand::of(rd), Operand::of(ra), Operand::of(rb), Operand::of(rc)});
        s.op->run(s, m);
        for (int row = 0; row < rows; ++row)
            for (int column = 0; column < columns; ++column) {
                double want = mc.at(row, column);
                for (int i = 0; i < k; ++i)
                    want += differs ? ma.at(row, i) != mb.at(column, i) : ma.at(row, i) * mb.at(column, i);
                REQUIRE(got(m, rd, d, row, column) == want);
            }
    }
    CHECK(forms == 2 * 2 + 2 + 2 + 4 + 16 + 4);
}

TEST_CASE("mma.sync: D may be C") {
    Machine m;
    std::mt19937 random{18};
    Matrix ma = matrix(Dtype::bf16, rows, 16, random), mb = matrix(Dtype::bf16, columns, 16, random),
           mc = matrix(Dtype::f32, rows, columns, random);
    const Operand a = Operand::of(put(m, mma_sync_a(Dtype::bf16, 16), Dtype::bf16, 2, ma)),
                  b = Operand::of(put(m, mma_sync_b(Dtype::bf16, 16), Dtype::bf16, 2, mb)),
                  c = Operand::of(put(m, mma_sync_c(), Dtype::f32, 1, mc));
    const isa::Step s = step("mma.sync", asked(Type::f32, Type::bf16, Type::bf16, 16), {c, a, b, c});
    CHECK(s.form.get(Field::m) == 16);
    s.op->run(s, m);
    double want = mc.at(9, 3);
    for (int i = 0; i < 16; ++i) want += ma.at(9, i) * mb.at(3, i);
    CHECK(got(m, c.list, Dtype::f32, 9, 3) == want);
}

TEST_CASE("mma.sync: s32 sums wrap, or saturate where asked") {
    for (bool saturate : {false, true}) {
        Machine m;
        Lanes ones{}, great{};
        ones.fill(0x01010101);
        great.fill(INT32_MAX - 3);
        const std::vector<Reg> a(4, m.put(Type::b32, ones)), b(2, m.put(Type::b32, ones));
        std::vector<Reg> d, c(4, m.put(Type::s32, great));
        for (int i = 0; i < 4; ++i) d.push_back(m.put(Type::s32, {}));
        const isa::Step s =
            step("mma.sync", asked(Type::s32, Type::s8, Type::u8, 32).set(Field::satfinite, saturate),
                 {Operand::of(d), Operand::of(a), Operand::of(b), Operand::of(c)});
        s.op->run(s, m);
        for (Reg reg : d)
            CHECK(m.get(reg)[7] ==
                  (saturate ? Raw{INT32_MAX} : Raw{static_cast<std::uint32_t>(INT32_MAX) - 3 + 32}));
    }
}

TEST_CASE("mma.sync: sums of floats are rounded once, to the type of D") {
    // Column 0 of B and row 0 of A: 2^12 - 2^12 in the first two products, then 1/4096.
    for (Type d : {Type::f32, Type::f16}) {
        Machine m;
        Lanes a{}, b{};
        a[0] = b[0] = to_f16(64) | std::uint32_t{to_f16(64)} << 16;
        b[0] ^= 0x80000000U;
        a[1] = b[1] = to_f16(1.0 / 64);
        const Reg zero = m.put(Type::b32, {});
        const std::vector<Reg> fa{m.put(Type::b32, a), zero}, fb{m.put(Type::b32, b)};
        std::vector<Reg> c(d == Type::f32 ? 4 : 2, zero), out;
        for (std::size_t i = 0; i < c.size(); ++i) out.push_back(m.put(Type::b32, {}));
        const isa::Step s = step("mma.sync", asked(d, Type::f16, Type::f16, 8),
                                 {Operand::of(out), Operand::of(fa), Operand::of(fb), Operand::of(c)});
        s.op->run(s, m);
        CHECK(got(m, out, dtype(d), 0, 0) == 1.0 / 4096);
        CHECK(got(m, out, dtype(d), 0, 1) == 0);
    }
}

TEST_CASE("mma.sync has no other forms") {
    const isa::Instruction& op = *isa::find("mma.sync");
    CHECK_THROWS_WITH(isa::resolve(op, asked(Type::f32, Type::bf16, Type::bf16, 32)),
                      "mma.sync: k=32 is not legal for d=f32, a=bf16, b=bf16 (legal: 8, 16)");
    CHECK_THROWS_WITH(isa::resolve(op, asked(Type::f16, Type::bf16, Type::bf16, 16)),
                      "mma.sync: d=f16 is not legal for a=bf16, b=bf16 (legal: f32)");
    CHECK(
        isa::resolve(op, Form().set(Field::d, Type::f32).set(Field::a, Type::e4m3).set(Field::b, Type::e5m2))
            .get(Field::k) == 32);
}
