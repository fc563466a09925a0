// wgmma: the asynchronous warpgroup matrix multiply, and the instructions that order it. PTX ISA 9.7.15.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "isa/counts.hpp"
#include "isa/families.hpp"
#include "isa/wgmma.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;

// --- the legal forms (9.7.15.5, 9.7.15.6, and what ptxas 13.0 accepts: the ISA's list of integer N
// stops at 224) ---

Choice n_float() { return {Field::n, {{8, 256, 8}}, {}}; }
Choice n_integer() { return {Field::n, {{8, 32, 8}, {48, 256, 16}}, {}}; }
Choice m64() { return among(Field::m, {64}, 64); }

Choice in_shared() { return spelled_as(Field::a_in, {"shared"}, "shared"); }
Choice in_registers() { return spelled_as(Field::a_in, {"registers"}); }
Choice scale_a() { return among(Field::scale_a, {-1, 1}, 1); }
Choice scale_b() { return among(Field::scale_b, {-1, 1}, 1); }
/// Which lanes provide metadata: 0 the first two of four, 1 the last two. 8-bit types need all four.
Choice pair_of_lanes() { return among(Field::sp_sel, {0, 1}, 0); }
Choice all_lanes() { return among(Field::sp_sel, {0}, 0); }
Choice trans_a() { return among(Field::trans_a, {0, 1}, 0); }
Choice trans_b() { return among(Field::trans_b, {0, 1}, 0); }

/// One group of types, dense or sparse. A sparse A doubles K and comes with a selector.
struct Family {
    std::vector<Type> d, a, b;
    int k;  ///< of a dense A
    bool transposes = false;
    PtxVersion version = {8, 0};
};

/// Adds rows for A in registers and in shared memory. Only 16-bit operands have transpose immediates, and
/// only for matrices in shared memory.
void add_rows(std::vector<Row>& rows, const Family& family, bool sparse) {
    for (const bool shared : {true, false}) {
        Row row{
            {m64(), family.d.front() == s32 ? n_integer() : n_float(),
             sparse ? among(Field::k, {2 * family.k}, 2 * family.k) : among(Field::k, {family.k}, family.k),
             types(Field::d, family.d), types(Field::a, family.a), types(Field::b, family.b),
             shared ? in_shared() : in_registers()},
            sparse ? std::max(family.version, PtxVersion{8, 2}) : family.version,
            only_hopper};
        const auto add = [&](const Choice& choice) { row.choices.push_back(choice); };
        const Type a = family.a.front();
        if (sparse) add(bits(a) == 8 ? all_lanes() : pair_of_lanes());
        if (is_float(a)) add(scale_a()), add(scale_b());
        if (a == b1) add(spelled_as(Field::op, {"and.popc"}));
        if (a == s8 || a == u8) add(flag(Field::satfinite));
        if (family.transposes && shared) add(trans_a());
        if (family.transposes) add(trans_b());
        rows.push_back(std::move(row));
    }
}

std::vector<Row> all_rows(bool sparse) {
    std::vector<Row> rows;
    const auto add = [&](const Family& family) { add_rows(rows, family, sparse); };
    add({{f16, f32}, {f16}, {f16}, 16, true});
    add({{f32}, {bf16}, {bf16}, 16, true});
    add({{f32}, {tf32}, {tf32}, 8});
    add({{f16, f32}, {e4m3, e5m2}, {e4m3, e5m2}, 32});
    add({{s32}, {s8}, {s8}, 32});
    add({{s32}, {u8}, {u8}, 32});
    add({{s32}, {s8}, {u8}, 32, false, {8, 4}});
    add({{s32}, {u8}, {s8}, 32, false, {8, 4}});
    if (!sparse) add({{s32}, {b1}, {b1}, 256});
    return rows;
}

// --- operands
// --------------------------------------------------------------------------------------------------

Type accumulator_type(const Form& form) { return form.type(Field::d) == f16 ? f16x2 : form.type(Field::d); }
int accumulator_count(const Form& form) { return form.get(Field::n) / (form.type(Field::d) == f16 ? 4 : 2); }
/// Returns the number of registers of A: a descriptor, or four registers that hold a fragment.
int a_count(const Form& form) { return form.get(Field::a_in) == 0 ? 1 : 4; }
Type a_type(const Form& form) {
    if (form.get(Field::a_in) == 0) return u64;
    return is_float(form.type(Field::a)) ? f16x2 : b32;  // floats are packed bits too, never an f32
}

void infer_place_of_a(std::span<const Operand> operands, Form& form) {
    if (!form.has(Field::a_in)) form.set(Field::a_in, operands[1].kind == Operand::Kind::list ? 1 : 0);
}

constexpr std::size_t place_of_metadata = 3;  // in a sparse step

AsyncMma describe(const Step& s) {
    const Operand& a = s.operands[1];
    const bool fragment = a.kind == Operand::Kind::list, sparse = s.form.has(Field::sp_sel);
    const Operand& scale_d = s.operands.back();
    AsyncMma mma{};
    mma.accumulators = &s.operands[0].list;
    mma.a_fragment = fragment ? &a.list : nullptr;
    mma.a_descriptor = fragment ? nullptr : &a;
    mma.b_descriptor = &s.operands[2];
    mma.metadata = sparse ? &s.operands[place_of_metadata] : nullptr;
    mma.reads_accumulators = scale_d.kind != Operand::Kind::imm || scale_d.imm != 0;
    mma.rows_a = rows_of_a;
    mma.rows_b = s.form.get(Field::n);
    mma.element_bits_a = bits(s.form.type(Field::a));
    mma.element_bits_b = bits(s.form.type(Field::b));
    mma.k_bytes_b = s.form.get(Field::k) * mma.element_bits_b / 8;
    mma.k_bytes_a = sparse ? mma.k_bytes_b / 2 : mma.k_bytes_b;
    mma.a_mn_major = s.form.get(Field::trans_a, 0) == 1;
    mma.b_mn_major = s.form.get(Field::trans_b, 0) == 1;
    mma.same_shape_key = s.form.get(Field::n) * 1024 + s.form.get(Field::k);
    return mma;
}

OperandRule d_rule() {
    return {"d", Access::inout, Rule::list, accumulator_type, accumulator_count, false, {}, {}};
}
OperandRule a_rule() {
    return {"a", Access::in, Rule::reg | Rule::imm | Rule::list, a_type, a_count, false, {}, {}};
}
OperandRule b_rule() { return {"b", Access::in, Rule::reg | Rule::imm, fixed<u64>, nullptr, false, {}, {}}; }
OperandRule metadata_rule() { return {"sp_meta", Access::in, Rule::reg, fixed<b32>, nullptr, false, {}, {}}; }
OperandRule scale_d_rule() {
    return {"scale_d", Access::in, Rule::reg | Rule::imm, fixed<pred>, nullptr, true, 1, Range{0, 1}};
}

}  // namespace

bool is_accumulator(const Step& step, Reg reg) {
    if (!step.op->collective) return false;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        const Operand& operand = step.operands[i];
        if (step.op->operands[i].access == Access::inout &&
            std::ranges::find(operand.list, reg) != operand.list.end())
            return true;
    }
    return false;
}

std::span<const Instruction> wgmma_family() {
    static const std::vector<Instruction> list{
        {.name = "wgmma.fence",
         .summary = "orders earlier register accesses of the warpgroup before its later wgmma",
         .section = "9.7.15.7.1",
         .rows = {{{}, {8, 0}, only_hopper}},
         .operands = {},
         .ptx = "wgmma.fence.sync.aligned",
         .taken_by = Participants::warpgroup,
         .effects = [](const Step&, Effects& e) { e.order_registers(); },
         .run = [](const Step&, Machine& m) { m.order_registers(); }},
        {.name = "wgmma.mma_async",
         .summary =
             "D = A * B + D of a warpgroup, asynchronously: D and maybe A in registers, B in shared memory",
         .section = "9.7.15.5.2",
         .rows = all_rows(false),
         .operands = {d_rule(), a_rule(), b_rule(), scale_d_rule()},
         .ptx = "wgmma.mma_async.sync.aligned.m{m}n{n}k{k}{.satfinite}{.d}{.a}{.b}{.op} {%d}, {%a}, {%b}, "
                "{%scale_d}"
                "{,scale_a}{,scale_b}{,trans_a}{,trans_b}",
         .taken_by = Participants::warpgroup,
         .collective = true,
         .infer = infer_place_of_a,
         .effects = [](const Step& s, Effects& e) { e.issue_mma(describe(s)); },
         .run = [](const Step& s, Machine& m) { run_mma(s, describe(s), m); }},
        {.name = "wgmma.mma_async.sp",
         .summary = "the same with a sparse A: half of its elements are stored, and metadata tells which",
         .section = "9.7.15.6.3",
         .rows = all_rows(true),
         .operands = {d_rule(), a_rule(), b_rule(), metadata_rule(), scale_d_rule()},
         .ptx = "wgmma.mma_async.sp.sync.aligned.m{m}n{n}k{k}{.satfinite}{.d}{.a}{.b} {%d}, {%a}, {%b}, "
                "{%sp_meta}, {sp_sel}, {%scale_d}{,scale_a}{,scale_b}{,trans_a}{,trans_b}",
         .taken_by = Participants::warpgroup,
         .collective = true,
         .infer = infer_place_of_a,
         .effects = [](const Step& s, Effects& e) { e.issue_mma(describe(s)); },
         .run = [](const Step& s, Machine& m) { run_mma(s, describe(s), m); }},
        {.name = "wgmma.commit_group",
         .summary = "commits all uncommitted wgmma of the warp to a new wgmma-group",
         .section = "9.7.15.7.2",
         .rows = {{{}, {8, 0}, only_hopper}},
         .operands = {},
         .ptx = "wgmma.commit_group.sync.aligned",
         .taken_by = Participants::warpgroup,
         .effects = [](const Step&, Effects& e) { e.commit_mma(); },
         .run = [](const Step&, Machine& m) { m.commit_mma(); }},
        {.name = "wgmma.wait_group",
         .summary = "waits until at most N of the most recent wgmma-groups are pending",
         .section = "9.7.15.7.3",
         .rows = {{{}, {8, 0}, only_hopper}},
         .operands = {{"n", Access::in, Rule::imm, fixed<u32>, nullptr, false, {}, Range{0, INT32_MAX}}},
         .ptx = "wgmma.wait_group.sync.aligned {%n}",
         .taken_by = Participants::warpgroup,
         .effects = [](const Step& s, Effects& e) { e.wait_mma(static_cast<int>(s.operands[0].imm)); },
         .run = [](const Step& s, Machine& m) { m.wait_mma(static_cast<int>(s.operands[0].imm)); }},
    };
    return list;
}

std::string_view instead_of(const Instruction& op, Field field) {
    const bool transposes = field == Field::trans_a || field == Field::trans_b;
    if (!transposes || op.taken_by != Participants::warpgroup) return {};
    return "no transpose immediates: both matrices are K-major. Of 16-bit elements alone a matrix may be "
           "MN-major in "
           "shared memory; others are transposed where they are written there";
}

std::string why_count(const OperandRule& rule, const Form& form) {
    if (rule.count != accumulator_count) return {};
    const int n = form.get(Field::n), elements = 64 * n;
    const std::string_view type = to_string(form.type(Field::d));
    return fmt::format(
        ": m64n{}k{}: the 64 x {} = {} {} elements are shared by the 128 threads of a warpgroup, {} each{}",
        n, form.get(Field::k), n, elements, type, elements / 128,
        form.type(Field::d) == f16 ? ", two in a register" : "");
}

}  // namespace wgrun::isa
