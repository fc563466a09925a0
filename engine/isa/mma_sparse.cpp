// mma.sp: products of a warp with a sparse A, of which half of the elements are stored (PTX ISA 9.7.14.6).
#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/lanes.hpp"
#include "isa/mma.hpp"
#include "isa/sparse.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;

constexpr int sparse_rows_of_d = 16;

int stored_of(const Form& form) { return form.get(Field::k) / 2; }
int sparse_a_count(const Form& form) {
    return mma::registers(sparse_rows_of_d * stored_of(form), form.type(Field::a));
}
int sparse_b_count(const Form& form) {
    return mma::registers(mma::columns * form.get(Field::k), form.type(Field::b));
}
int sparse_d_count(const Form& form) {
    return mma::registers(sparse_rows_of_d * mma::columns, form.type(Field::d));
}

/// Beside 8-bit floats the assembler refuses an f32.
Type metadata_type(const Form& form) {
    const Type a = form.type(Field::a);
    return is_float(a) && bits(a) == 8 ? f16x2 : b32;
}

/// Reads the metadata: a lane's word has eight codes, and `given` lanes of four have a word, which the
/// selector names. 8-bit types: lane p of them has the chunks 8(p/2) .. of row l/4 + 8(p%2). Wider ones: the
/// chunks 4p .. of rows l/4 (lower half) and 8 below (upper half).
void read_sparse_metadata(const Step& s, Machine& m, bool increasing, mma::Factors& f) {
    const Type a = s.form.type(Field::a);
    const bool narrow = bits(a) == 8;
    const int chunks_of_row = a == tf32 ? f.stored : f.stored / 2, given = chunks_of_row / 4;
    const Lanes<std::uint32_t> words = read<std::uint32_t>(m, s.operand("sp_meta"));
    Chunks chunks(a, f.k_of_a, f.rows, f.stored, increasing);
    for (int l = 0; l < lanes; ++l) {
        if (l % 4 / given != s.form.get(Field::sp_sel)) continue;
        const int p = l % 4 % given;
        for (int i = 0; i < 8; ++i) {
            const unsigned code = words[static_cast<std::size_t>(l)] >> 4 * i & 15U;
            if (narrow)
                chunks.put(l / 4 + 8 * (p % 2), 8 * (p / 2) + i, code);
            else
                chunks.put(l / 4 + 8 * (i / 4), 4 * p + i % 4, code);
        }
    }
}

template <bool increasing>
void effects_of_sparse_mma(const Step& s, Effects& e) {
    e.multiply({&s.operands[0].list, &s.operands[1].list, &s.operands[2].list, &s.operands[3].list,
                &s.operand("sp_meta"), increasing});
}

template <bool increasing>
void run_sparse_mma(const Step& s, Machine& m) {
    mma::Factors factors = mma::read_factors(s, m, stored_of(s.form));
    read_sparse_metadata(s, m, increasing, factors);
    mma::multiply(s, m, factors);
}

/// The rows of types: of the shorter K and of the longer one, of which a word of metadata holds more or less,
/// so that there are fewer lanes to choose from.
std::vector<Row> sparse_rows(PtxVersion version) {
    std::vector<Row> out;
    const auto add = [&](const std::vector<Type>& d, const std::vector<Type>& a, int k, int selectors,
                         bool limits = false) {
        Row row{{among(Field::m, {sparse_rows_of_d}), among(Field::n, {mma::columns}), among(Field::k, {k}),
                 types(Field::d, d), types(Field::a, a), types(Field::b, a),
                 Choice{Field::sp_sel, {{0, selectors - 1}}, 0}},
                std::max(version,
                         is_float(a.front()) && bits(a.front()) == 8 ? PtxVersion{8, 4} : PtxVersion{7, 8})};
        if (limits) row.choices.push_back(flag(Field::satfinite));
        out.push_back(std::move(row));
    };
    add({f16, f32}, {f16}, 32, 2);
    add({f16, f32}, {f16}, 16, 4);
    add({f32}, {bf16}, 32, 2);
    add({f32}, {bf16}, 16, 4);
    add({f32}, {tf32}, 16, 2);
    add({f32}, {tf32}, 8, 4);
    add({f32}, {e4m3, e5m2}, 64, 1);
    add({s32}, {s8, u8}, 64, 1, true);
    add({s32}, {s8, u8}, 32, 2, true);
    return out;
}

Instruction sparse_product(std::string_view name, std::string_view summary, std::string_view text,
                           PtxVersion version, void (*effects)(const Step&, Effects&),
                           void (*run)(const Step&, Machine&)) {
    return {.name = name,
            .summary = summary,
            .section = "9.7.14.6.3",
            .rows = sparse_rows(version),
            .operands = {mma::fragment("d", Access::out, mma::d_type, sparse_d_count),
                         mma::fragment("a", Access::in, mma::a_type, sparse_a_count),
                         mma::fragment("b", Access::in, mma::b_type, sparse_b_count),
                         mma::fragment("c", Access::in, mma::d_type, sparse_d_count),
                         in("sp_meta", metadata_type, Rule::reg)},
            .ptx = text,
            .taken_by = Participants::warp,
            .work = Work::products,
            .effects = effects,
            .value = [](const Step&, const ValueOf&) { return Value{}; },
            .run = run};
}

}  // namespace

std::span<const Instruction> sparse_mma_family() {
    static const std::vector<Instruction> list{
        sparse_product(
            "mma.sp.sync",
            "D = A * B + C of a warp with a sparse A: half of its elements are stored, and metadata tells "
            "which",
            "mma.sp.sync.aligned.m{m}n{n}k{k}.row.col{.satfinite}{.d}{.a}{.b}{.d} {%d}, {%a}, {%b}, {%c}, "
            "{%sp_meta}, {sp_sel}",
            {7, 8}, effects_of_sparse_mma<false>, run_sparse_mma<false>),
        sparse_product(
            "mma.sp.ordered_metadata.sync",
            "D = A * B + C of a warp with a sparse A, in whose metadata indices increase",
            "mma.sp::ordered_metadata.sync.aligned.m{m}n{n}k{k}.row.col{.satfinite}{.d}{.a}{.b}{.d} {%d}, "
            "{%a}, {%b}, {%c}, {%sp_meta}, {sp_sel}",
            {8, 5}, effects_of_sparse_mma<true>, run_sparse_mma<true>),
    };
    return list;
}

}  // namespace wgrun::isa
