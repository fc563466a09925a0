// mma.sync: the matrix products of one warp, with operands and result in registers.
#include "isa/mma.hpp"

#include "isa/families.hpp"

namespace wgrun::isa {
namespace {

using enum Type;

int dense_b_count(const Form& form) {
    return mma::registers(mma::columns * form.get(Field::k), form.type(Field::b));
}
int dense_a_count(const Form& form) {
    return mma::registers(form.get(Field::m) * form.get(Field::k), form.type(Field::a));
}
int dense_d_count(const Form& form) {
    return mma::registers(form.get(Field::m) * mma::columns, form.type(Field::d));
}

void run_dense(const Step& s, Machine& m) {
    if (s.form.type(Field::d) == f64) return mma::multiply_doubles(s, m);
    mma::multiply(s, m, mma::read_factors(s, m, s.form.get(Field::k)));
}

/// The last one of the legal k is the default.
Row dense_form(Choice rows, std::initializer_list<Type> d, std::initializer_list<Type> a,
               std::initializer_list<int> k, std::vector<Choice> tail = {}, PtxVersion min_ptx = {7, 8}) {
    Row row{{std::move(rows), among(Field::n, {mma::columns}), among(Field::k, k, *(k.end() - 1)),
             types(Field::d, d), types(Field::a, a), types(Field::b, a)},
            min_ptx};
    row.choices.insert(row.choices.end(), tail.begin(), tail.end());
    return row;
}
Choice m16() { return among(Field::m, {16}); }
/// D of 8 rows is that of the instructions before mma.sync had 16: it must be named.
Choice m8() { return {Field::m, {{8, 8}}, {}, true}; }
Choice counts_of_bits() { return spelled_as(Field::op, {"and.popc", "xor.popc"}); }

}  // namespace

std::span<const Instruction> mma_family() {
    static const std::vector<Instruction> list{
        {.name = "mma.sync",
         .summary = "D = A * B + C of a warp, 16 x 8 or 8 x 8, with all operands in registers",
         .section = "9.7.14.5.14",
         .rows = {dense_form(m16(), {f16, f32}, {f16}, {8, 16}), dense_form(m16(), {f32}, {bf16}, {8, 16}),
                  dense_form(m16(), {f32}, {tf32}, {4, 8}),
                  dense_form(m16(), {f32}, {e4m3, e5m2}, {32}, {}, {8, 4}),
                  dense_form(m16(), {f64}, {f64}, {4, 8, 16}), dense_form(m8(), {f64}, {f64}, {4}),
                  dense_form(m16(), {s32}, {s8, u8}, {16, 32}, {flag(Field::satfinite)}),
                  dense_form(m8(), {s32}, {s8, u8}, {16}, {flag(Field::satfinite)}),
                  dense_form(m16(), {s32}, {s4, u4}, {32, 64}, {flag(Field::satfinite)}),
                  dense_form(m8(), {s32}, {s4, u4}, {32}, {flag(Field::satfinite)}),
                  dense_form(m16(), {s32}, {b1}, {128, 256}, {counts_of_bits()}),
                  dense_form(m8(), {s32}, {b1}, {128}, {counts_of_bits()})},
         .operands = {mma::fragment("d", Access::out, mma::d_type, dense_d_count),
                      mma::fragment("a", Access::in, mma::a_type, dense_a_count),
                      mma::fragment("b", Access::in, mma::b_type, dense_b_count),
                      mma::fragment("c", Access::in, mma::d_type, dense_d_count)},
         .ptx =
             "mma.sync.aligned.m{m}n{n}k{k}.row.col{.satfinite}{.d}{.a}{.b}{.d}{.op} {%d}, {%a}, {%b}, {%c}",
         .taken_by = Participants::warp,
         .work = Work::products,
         .effects = mma::multiplies,
         .value = [](const Step&, const ValueOf&) { return Value{}; },  // each lane has different elements
         .run = run_dense},
    };
    return list;
}

}  // namespace wgrun::isa
