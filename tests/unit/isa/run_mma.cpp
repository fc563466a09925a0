// mma.sync against nested loops over whole matrices; fragments are those of the PTX ISA's formulas, and of
// wgrun/fragment.hpp.
#include <algorithm>
#include <cmath>
#include <random>

#include "isa/foreign.hpp"
#include "number/number.hpp"
#include "tests/catch.hpp"
#include "tests/forms.hpp"
#include "tests/unit/isa/bench.hpp"
#include "tests/unit/isa/warp_product.hpp"
#include "wgrun/fragment.hpp"

using namespace bench;

namespace {

const isa::Instruction& record() { return *isa::find("mma.sync"); }

/// The formulas of 9.7.14.5.1 to 13: where element i of a lane is, of group g = lane / 4 and t = lane % 4.
struct Formulas {
    int bits, m, k;
    int (*row_of_a)(int g, int i);
    int (*column_of_a)(int t, int i);
    int (*row_of_b)(int t, int i);
};
constexpr Formulas formulas[] = {
    {64, 8, 4, [](int g, int) { return g; }, [](int t, int) { return t; }, [](int t, int) { return t; }},
    {64, 16, 4, [](int g, int i) { return i == 0 ? g : g + 8; }, [](int t, int) { return t; },
     [](int t, int) { return t; }},
    {64, 16, 8, [](int g, int i) { return i == 0 || i == 2 ? g : g + 8; },
     [](int t, int i) { return i < 2 ? t : t + 4; }, [](int t, int i) { return i == 0 ? t : t + 4; }},
    {64, 16, 16, [](int g, int i) { return i % 2 == 0 ? g : g + 8; },
     [](int t, int i) { return i % 2 == 0 ? i * 2 + t : i * 2 - 2 + t; },
     [](int t, int i) { return t + i * 4; }},
    {32, 16, 4, [](int g, int i) { return i == 0 ? g : g + 8; }, [](int t, int) { return t; },
     [](int t, int) { return t; }},
    {32, 16, 8, [](int g, int i) { return i == 0 || i == 2 ? g : g + 8; },
     [](int t, int i) { return i < 2 ? t : t + 4; }, [](int t, int i) { return i == 0 ? t : t + 4; }},
    {16, 16, 8, [](int g, int i) { return i < 2 ? g : g + 8; }, [](int t, int i) { return t * 2 + (i & 1); },
     [](int t, int i) { return t * 2 + i; }},
    {16, 16, 16, [](int g, int i) { return i < 2 || (i >= 4 && i < 6) ? g : g + 8; },
     [](int t, int i) { return i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8; },
     [](int t, int i) { return i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8; }},
    {8, 8, 16, [](int g, int) { return g; }, [](int t, int i) { return t * 4 + i; },
     [](int t, int i) { return t * 4 + i; }},
    {8, 16, 16, [](int g, int i) { return i < 4 ? g : g + 8; }, [](int t, int i) { return t * 4 + (i & 3); },
     [](int t, int i) { return t * 4 + i; }},
    {8, 16, 32, [](int g, int i) { return i < 4 || (i >= 8 && i < 12) ? g : g + 8; },
     [](int t, int i) { return i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16; },
     [](int t, int i) { return i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16; }},
    {4, 8, 32, [](int g, int) { return g; }, [](int t, int i) { return t * 8 + i; },
     [](int t, int i) { return t * 8 + i; }},
    {4, 16, 32, [](int g, int i) { return i < 8 ? g : g + 8; }, [](int t, int i) { return t * 8 + (i & 7); },
     [](int t, int i) { return t * 8 + i; }},
    {4, 16, 64, [](int g, int i) { return i < 8 || (i >= 16 && i < 24) ? g : g + 8; },
     [](int t, int i) { return i < 16 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32; },
     [](int t, int i) { return i < 8 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32; }},
    {1, 8, 128, [](int g, int) { return g; }, [](int t, int i) { return t * 32 + i; },
     [](int t, int i) { return t * 32 + i; }},
    {1, 16, 128, [](int g, int i) { return i < 32 ? g : g + 8; },
     [](int t, int i) { return t * 32 + (i & 31); }, [](int t, int i) { return t * 32 + i; }},
    {1, 16, 256, [](int g, int i) { return i < 32 || (i >= 64 && i < 96) ? g : g + 8; },
     [](int t, int i) { return i < 64 ? t * 32 + (i & 31) : t * 32 + (i & 31) + 128; },
     [](int t, int i) { return i < 32 ? t * 32 + (i & 31) : t * 32 + (i & 31) + 128; }},
};

const Formulas& formulas_of(int bits, int m, int k) {
    for (const Formulas& one : formulas)
        if (one.bits == bits && one.m == m && one.k == k) return one;
    FAIL("no formulas of m" << m << "k" << k << " of " << bits << " bits");
    return formulas[0];
}

Form asked(Type d, Type a, Type b, int k) {
    return Form().set(Field::d, d).set(Field::a, a).set(Field::b, b).set(Field::k, k);
}

}  // namespace

TEST_CASE("mma.sync multiplies what its fragments say: every form") {
    std::mt19937 random{17};
    int forms = 0;
    for (const Form& form : wgrun::test::forms_of(record())) {
        INFO(wgrun::test::spelled(form));
        ++forms;
        const Type a = form.type(Field::a), b = form.type(Field::b), d = form.type(Field::d);
        const int m = form.get(Field::m), k = form.get(Field::k);
        const Formulas& at = formulas_of(isa::bits(a), m, k);
        const bool differs =
            form.has(Field::op) && isa::spelled(Field::op, form.get(Field::op)) == "xor.popc";
        Machine machine;
        Matrix ma = small_integers(a, m, k, random), mb = small_integers(b, k, 8, random),
               mc = small_integers(d, m, 8, random);
        const std::vector<Reg> ra = put(
                                   machine, a, m * k, ma,
                                   [&](int lane, int i) {
                                       return Place{at.row_of_a(lane / 4, i), at.column_of_a(lane % 4, i)};
                                   }),
                               rb = put(machine, b, k * 8, mb,
                                        [&](int lane, int i) {
                                            return Place{at.row_of_b(lane % 4, i), lane / 4};
                                        }),
                               rc = put(machine, d, m * 8, mc, place_of_c);
        std::vector<Reg> rd;
        for (std::size_t i = 0; i < rc.size(); ++i)
            rd.push_back(machine.put(d == Type::f64 ? Type::b64 : Type::b32, {}));
        CHECK(record().operands[1].count(form) == static_cast<int>(ra.size()));
        CHECK(record().operands[2].count(form) == static_cast<int>(rb.size()));
        CHECK(record().operands[3].count(form) == static_cast<int>(rc.size()));
        const isa::Step s =
            step("mma.sync", form, {Operand::of(rd), Operand::of(ra), Operand::of(rb), Operand::of(rc)});
        s.op->run(s, machine);
        const Matrix got = get(machine, rd, d, m, 8, place_of_c);
        for (int row = 0; row < m; ++row)
            for (int column = 0; column < 8; ++column) {
                double want = mc.at(row, column);
                for (int i = 0; i < k; ++i)
                    want += differs ? ma.at(row, i) != mb.at(i, column) : ma.at(row, i) * mb.at(i, column);
                REQUIRE(got.at(row, column) == want);
            }
    }
    CHECK(forms == 2 * 2 + 2 + 2 + 4 + 3 + 1 + 16 + 8 + 16 + 8 + 4 + 2);
}

TEST_CASE("the fragments of mma.sync that scripts ask for are those of the formulas") {
    for (const Type type : {Type::f16, Type::tf32, Type::e4m3, Type::s8, Type::b1})
        for (const int halves : {1, 2}) {
            const int k = halves * 128 / isa::bits(type);
            const Formulas& at = formulas_of(isa::bits(type), 16, k);
            const Dtype dtype = dtype_named(isa::to_string(type));
            const Fragment a = mma_sync_a(dtype, k), b = mma_sync_b(dtype, k);
            for (int lane = 0; lane < lanes; ++lane) {
                for (int i = 0; i < a.values(); ++i)
                    REQUIRE(a.at(lane, i) ==
                            Fragment::Place{at.row_of_a(lane / 4, i), at.column_of_a(lane % 4, i)});
                for (int i = 0; i < b.values(); ++i)
                    REQUIRE(b.at(lane, i) == Fragment::Place{lane / 4, at.row_of_b(lane % 4, i)});
                for (int i = 0; i < 4; ++i) {
                    const Place place = place_of_c(lane, i);
                    REQUIRE(mma_sync_c().at(lane, i) == Fragment::Place{place.row, place.column});
                }
            }
        }
}

TEST_CASE("mma.sync: D may be C") {
    Machine m;
    std::mt19937 random{18};
    Matrix ma = small_integers(Type::bf16, 16, 16, random), mb = small_integers(Type::bf16, 16, 8, random),
           mc = small_integers(Type::f32, 16, 8, random);
    const Formulas& at = formulas_of(16, 16, 16);
    const Operand a = Operand::of(put(m, Type::bf16, 256, ma,
                                      [&](int lane, int i) {
                                          return Place{at.row_of_a(lane / 4, i), at.column_of_a(lane % 4, i)};
                                      })),
                  b = Operand::of(put(m, Type::bf16, 128, mb,
                                      [&](int lane, int i) {
                                          return Place{at.row_of_b(lane % 4, i), lane / 4};
                                      })),
                  c = Operand::of(put(m, Type::f32, 128, mc, place_of_c));
    const isa::Step s = step("mma.sync", asked(Type::f32, Type::bf16, Type::bf16, 16), {c, a, b, c});
    CHECK(s.form.get(Field::m) == 16);
    s.op->run(s, m);
    double want = mc.at(9, 3);
    for (int i = 0; i < 16; ++i) want += ma.at(9, i) * mb.at(i, 3);
    CHECK(get(m, c.list, Type::f32, 16, 8, place_of_c).at(9, 3) == want);
}

TEST_CASE("mma.sync: s32 sums wrap, or saturate where asked") {
    for (const auto& [a_type, b_type, k, ones, products] :
         {std::tuple{Type::s8, Type::u8, 32, 0x01010101U, 32}, {Type::u4, Type::s4, 64, 0x11111111U, 64}})
        for (const bool saturate : {false, true}) {
            Machine m;
            Lanes all{}, great{};
            all.fill(ones);
            great.fill(INT32_MAX - 3);
            const std::vector<Reg> a(4, m.put(Type::b32, all)), b(2, m.put(Type::b32, all));
            std::vector<Reg> d, c(4, m.put(Type::s32, great));
            for (int i = 0; i < 4; ++i) d.push_back(m.put(Type::s32, {}));
            const isa::Step s =
                step("mma.sync", asked(Type::s32, a_type, b_type, k).set(Field::satfinite, saturate),
                     {Operand::of(d), Operand::of(a), Operand::of(b), Operand::of(c)});
            s.op->run(s, m);
            for (Reg reg : d)
                CHECK(m.get(reg)[7] == (saturate ? Raw{INT32_MAX}
                                                 : Raw{static_cast<std::uint32_t>(INT32_MAX) - 3 +
                                                       static_cast<unsigned>(products)}));
        }
}

namespace {

/// Row 0 of A times column 0 of B, on a machine that adds in some way. pairs: the products' factors.
float sum_of(Type type, const isa::Numerics& numerics, float c,
             const std::vector<std::pair<double, double>>& pairs) {
    Machine m;
    m.sums = numerics;
    const int k = 256 / isa::bits(type);
    const Formulas& at = formulas_of(isa::bits(type), 16, k);
    Matrix a(16, k), b(k, 8), mc(16, 8);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        a.at(0, static_cast<int>(i)) = pairs[i].first;
        b.at(static_cast<int>(i), 0) = pairs[i].second;
    }
    mc.at(0, 0) = c;
    const std::vector<Reg> ra = put(m, type, 16 * k, a,
                                    [&](int lane, int i) {
                                        return Place{at.row_of_a(lane / 4, i), at.column_of_a(lane % 4, i)};
                                    }),
                           rb = put(m, type, k * 8, b,
                                    [&](int lane, int i) {
                                        return Place{at.row_of_b(lane % 4, i), lane / 4};
                                    }),
                           rc = put(m, Type::f32, 128, mc, place_of_c);
    const isa::Step s = step("mma.sync", asked(Type::f32, type, type, k),
                             {Operand::of(rc), Operand::of(ra), Operand::of(rb), Operand::of(rc)});
    s.op->run(s, m);
    return static_cast<float>(get(m, rc, Type::f32, 16, 8, place_of_c).at(0, 0));
}

}  // namespace

TEST_CASE("mma.sync: sums of floats are rounded once, or added as the chip adds") {
    const isa::Numerics exact, chip{isa::Numerics::Model::h200, {}};
    const double tiny = 0x1p-13;
    // 1 - 1 + 2^-26, wherever the third is; as wgmma: 25 bits below the largest exponent.
    for (const Type type : {Type::f16, Type::bf16}) {
        CHECK(sum_of(type, exact, 0, {{1, 1}, {1, -1}, {tiny, tiny}}) == 0x1p-26F);
        CHECK(sum_of(type, chip, 0, {{1, 1}, {1, -1}, {tiny, tiny}}) == 0);
        CHECK(sum_of(type, chip, 0, {{1, 1}, {1, -1}, {tiny, 2 * tiny}}) == 0x1p-25F);
        CHECK(sum_of(type, chip, 0x1p-26F, {{1, 1}, {1, -1}}) == 0);
    }
    CHECK(sum_of(Type::tf32, chip, 0, {{1, 1}, {1, -1}, {tiny, tiny}}) == 0);
    // 8-bit floats are two products of f16, and C is added last: it takes part in no alignment.
    CHECK(sum_of(Type::e5m2, chip, 0x1p-26F, {{1, 1}, {1, -1}}) == 0x1p-26F);
    CHECK(sum_of(Type::e5m2, chip, 0, {{1, 1}, {1, -1}, {0, 0}, {0x1p-13, 0x1p-13}}) == 0x1p-26F);
    CHECK(sum_of(Type::e5m2, chip, 0, {{1, 1}, {0x1p-13, 0x1p-13}, {0, 0}, {1, -1}}) == 0);
}

TEST_CASE("mma.sync of f64 is a chain of fma from C on") {
    Machine m;
    // 2^53 + 1 + 1: the first sum is rounded to 2^53, and so is the second; the other way round it is not.
    const auto run = [&](double c, std::array<double, 4> of_a) {
        Lanes a{}, b{}, cs{};
        for (std::size_t t = 0; t < 4; ++t) {
            a[t] = std::bit_cast<Raw>(of_a[t]);
            b[t] = std::bit_cast<Raw>(1.0);
        }
        cs[0] = std::bit_cast<Raw>(c);
        const std::vector<Reg> d{m.put(Type::f64, {}), m.put(Type::f64, {})},
            rc{m.put(Type::f64, cs), m.put(Type::f64, {})};
        const isa::Step s = step("mma.sync", asked(Type::f64, Type::f64, Type::f64, 4).set(Field::m, 8),
                                 {Operand::of(d), Operand::of(std::vector{m.put(Type::f64, a)}),
                                  Operand::of(std::vector{m.put(Type::f64, b)}), Operand::of(rc)});
        s.op->run(s, m);
        return std::bit_cast<double>(m.get(d[0])[0]);
    };
    CHECK(run(0x1p53, {1, 1, 0, 0}) == 0x1p53);
    CHECK(run(1, {1, 0x1p53, 0, 0}) == 0x1p53 + 2);
    CHECK(run(0, {0x1p53, 1, 1, 0}) == 0x1p53);
    CHECK(run(0, {0, 1, 1, 0x1p53}) == 0x1p53 + 2);
}

TEST_CASE("mma.sync: a NaN of the sums is the chip's") {
    CHECK(std::bit_cast<std::uint32_t>(sum_of(Type::bf16, {}, 0, {{HUGE_VAL, 1}, {HUGE_VAL, -1}})) ==
          0x7FFFFFFF);
}

TEST_CASE("mma.sync has no other forms") {
    CHECK_THROWS_WITH(isa::resolve(record(), asked(Type::f32, Type::bf16, Type::bf16, 32)),
                      "mma.sync: k=32 is not legal for d=f32, a=bf16, b=bf16 (legal: 8, 16)");
    CHECK_THROWS_WITH(isa::resolve(record(), asked(Type::f16, Type::bf16, Type::bf16, 16)),
                      "mma.sync: d=f16 is not legal for a=bf16, b=bf16 (legal: f32)");
    CHECK(isa::resolve(record(),
                       Form().set(Field::d, Type::f32).set(Field::a, Type::e4m3).set(Field::b, Type::e5m2))
              .get(Field::k) == 32);
    // Eight rows must be asked for.
    CHECK(isa::resolve(record(), asked(Type::f64, Type::f64, Type::f64, 4)).get(Field::m) == 16);
    CHECK(isa::resolve(record(), asked(Type::f64, Type::f64, Type::f64, 4).set(Field::m, 8)).get(Field::m) ==
          8);
}

TEST_CASE("Volta's mma.sync: four products of a quarter of the warp each") {
    std::mt19937 random{19};
    CHECK(isa::quad_mma_family().size() == 12);
    for (const isa::Instruction& op : isa::quad_mma_family()) {
        INFO(op.ptx);
        const bool a_by_rows = op.ptx.find("k4.row.") != std::string_view::npos,
                   b_by_columns = op.ptx.find(".col.f") != std::string_view::npos;
        const Type d = op.ptx.find("f16.f16.f16.f16") != std::string_view::npos || op.ptx.find("k4") == 0
                           ? Type::f16
                           : Type::f32,
                   c = op.operands[3].count({}) == 4 ? Type::f16 : Type::f32;
        CHECK(op.operands[0].count({}) == (d == Type::f16 ? 4 : 8));
        Machine m;
        // The quarters' matrices, one below the other.
        Matrix a = small_integers(Type::f16, 32, 4, random), b = small_integers(Type::f16, 16, 8, random),
               mc = small_integers(c, 32, 8, random);
        const auto quarter = [](int lane) { return lane % 16 / 4; };
        const auto at_a = [&](int lane, int i) {
            const int first = 8 * quarter(lane), high = lane < 16 ? 0 : 4;
            return a_by_rows ? Place{first + lane % 4 + high, i} : Place{first + i % 4 + high, lane % 4};
        };
        const auto at_b = [&](int lane, int i) {
            const int first = 4 * quarter(lane), high = lane < 16 ? 0 : 4;
            return b_by_columns ? Place{first + i, lane % 4 + high} : Place{first + lane % 4, i + high};
        };
        const auto at_d = [&](Type type) {
            return [quarter, type](int lane, int i) {
                const int first = 8 * quarter(lane), high = lane < 16 ? 0 : 4;
                if (type == Type::f16) return Place{first + lane % 4 + high, i};
                return Place{first + (lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)};
            };
        };
        const std::vector<Reg> ra = put(m, Type::f16, 128, a, at_a), rb = put(m, Type::f16, 128, b, at_b),
                               rc = put(m, c, 256, mc, at_d(c));
        std::vector<Reg> rd;
        for (int i = 0; i < op.operands[0].count({}); ++i) rd.push_back(m.put(Type::b32, {}));
        isa::Step s;
        s.op = &op;
        s.operands = {Operand::of(rd), Operand::of(ra), Operand::of(rb), Operand::of(rc)};
        op.run(s, m);
        const Matrix got = get(m, rd, d, 32, 8, at_d(d));
        for (int row = 0; row < 32; ++row)
            for (int column = 0; column < 8; ++column) {
                double want = mc.at(row, column);
                for (int i = 0; i < 4; ++i) want += a.at(row, i) * b.at(row / 8 * 4 + i, column);
                REQUIRE(got.at(row, column) == want);
            }
    }
}
