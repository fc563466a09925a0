// Instructions that no script can call and that the simulator does not run. Their effects are known, so that
// texts with them are checked; the rehearsal goes on over copies of pixels.
#include <fmt/format.h>

#include <deque>
#include <string>

#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/foreign.hpp"
#include "isa/machine.hpp"
#include "isa/mma.hpp"
#include "isa/tensor_copies.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;
using Direction = BulkCopy::Direction;

struct Text {
    std::string_view name, summary, section, ptx;
};

Instruction record(
    const Text& text, std::vector<Row> rows, std::vector<OperandRule> operands,
    void (*effects)(const Step&, Effects&) = nullptr,
    void (*run)(const Step&, Machine&) = [](const Step&, Machine&) { throw Unknown{}; }) {
    Instruction op;
    op.name = text.name;
    op.summary = text.summary;
    op.section = text.section;
    op.ptx = text.ptx;
    op.rows = std::move(rows);
    op.operands = std::move(operands);
    op.effects = effects;
    op.value = [](const Step&, const ValueOf&) { return Value{}; };
    op.run = run;
    return op;
}

std::vector<Row> always() { return {{{}, {8, 0}}}; }
OperandRule global_address(std::string_view name) {
    return {name, Access::in, Rule::address, fixed<u64>, nullptr, false, {}, {}};
}
OperandRule number(std::string_view name) {
    return {name, Access::in, Rule::imm, fixed<u32>, nullptr, false, {}, {}};
}
template <int count>
int registers(const Form&) {
    return count;
}
template <Type type, int count>
OperandRule list(std::string_view name, Access access = Access::in) {
    return {name, access, Rule::list, fixed<type>, registers<count>, false, {}, {}};
}

// --- im2col (PTX ISA 5.5.4) ----------------------------------------------------------------------------

int dims(const Form& form) { return form.get(Field::dim); }
int offsets(const Form& form) { return form.get(Field::dim) - 2; }

OperandRule tensor_map() { return {"map", Access::in, Rule::reg, fixed<u64>, nullptr, false, {}, {}}; }
OperandRule coordinates() { return {"coordinates", Access::in, Rule::list, fixed<s32>, dims, false, {}, {}}; }
OperandRule offset_list() { return {"offsets", Access::in, Rule::list, fixed<u16>, offsets, false, {}, {}}; }
OperandRule mask() {
    return {"mask", Access::in, Rule::reg | Rule::imm, fixed<u16>,      nullptr,
            true,   0,          Range{0, 0xFFFF},      Field::multicast};
}
std::vector<Row> im2col_rows(bool cast) {
    Row out{{Choice{Field::dim, {{3, 5}}, {}}, cache_hint()}, {8, 0}};
    if (cast) out.choices.push_back(flag(Field::multicast));
    return {std::move(out)};
}

void add_im2col(std::vector<Instruction>& out) {
    out.push_back(record(
        {"cp.async.bulk.tensor.im2col", "copies the pixels of a convolution to shared memory", "9.7.9.25.5.2",
         "cp.async.bulk.tensor{.dim}.shared::cluster.global.im2col.mbarrier::complete_tx::bytes{.multicast}"
         "{.cache} [{%d}], [{%map}, {%coordinates}], [{%mbarrier}], {%offsets}{,%mask}{,%policy}"},
        im2col_rows(true),
        {shared_address("d"), tensor_map(), coordinates(), shared_address("mbarrier"), offset_list(), mask(),
         cache_policy()},
        [](const Step& s, Effects& e) {
            e.bulk_copy({Direction::to_shared, &s.operands[0], nullptr, &s.operands[1]});
            e.counted(s.operands[3]);
        },
        [](const Step& s, Machine& m) { load_tensor(s, m, 5, Described::pixels); }));
    const auto stores = [](const Step& s, Effects& e) {
        e.bulk_copy({Direction::to_global, nullptr, &s.operands[2], &s.operands[0]});
    };
    const auto run_store = [](const Step& s, Machine& m) {
        store_tensor(s, m, BulkCopy::Reduction::none, Described::pixels);
    };
    out.push_back(record(
        {"cp.async.bulk.tensor.store.im2col", "copies pixels from shared memory to a tensor", "9.7.9.25.5.2",
         "cp.async.bulk.tensor{.dim}.global.shared::cta.im2col_no_offs.bulk_group{.cache} [{%map}, "
         "{%coordinates}], [{%a}]{,%policy}"},
        im2col_rows(false), {tensor_map(), coordinates(), shared_address("a"), cache_policy()}, stores,
        run_store));
    Instruction reduce =
        record({"cp.reduce.async.bulk.tensor.im2col", "reduces pixels of shared memory into a tensor",
                "9.7.9.25.5.3",
                "cp.reduce.async.bulk.tensor{.dim}.global.shared::cta{.op}.im2col_no_offs.bulk_group{.cache} "
                "[{%map}, {%coordinates}], [{%a}]{,%policy}"},
               im2col_rows(false), {tensor_map(), coordinates(), shared_address("a"), cache_policy()}, stores,
               run_store);
    reduce.rows.front().choices.push_back(
        reductions({"add", "min", "max", "inc", "dec", "and", "or", "xor"}));
    out.push_back(std::move(reduce));
    out.push_back(
        record({"cp.async.bulk.prefetch.tensor.im2col", "prefetches pixels into the L2 cache", "9.7.9.25.5.4",
                "cp.async.bulk.prefetch.tensor{.dim}.L2.global.im2col{.cache} [{%map}, {%coordinates}], "
                "{%offsets}{,%policy}"},
               im2col_rows(false), {tensor_map(), coordinates(), offset_list(), cache_policy()},
               [](const Step& s, Effects& e) {
                   e.bulk_copy({Direction::prefetch, nullptr, nullptr, &s.operands[0]});
               }));
}

// --- products of a warp (PTX ISA 9.7.14) ---------------------------------------------------------------

void multiplies(const Step& s, Effects& e) {
    e.multiply({&s.operands[0].list, &s.operands[1].list, &s.operands[2].list, &s.operands[3].list});
}

Instruction product(std::string_view ptx, std::vector<Row> rows, std::vector<OperandRule> operands) {
    Instruction out =
        record({"mma.sync.other", "a product of a warp in a shape that the simulator does not have",
                "9.7.14.5", ptx},
               std::move(rows), std::move(operands), multiplies);
    out.taken_by = Participants::warp;
    out.work = Work::products;
    return out;
}

/// The same of a shape and types that are written out: only the flag may be left out.
Instruction narrow_product(std::string_view shape, std::vector<OperandRule> operands) {
    static std::deque<std::string> texts;  // records have views
    texts.push_back(fmt::format("mma.sync.aligned.{} {{%d}}, {{%a}}, {{%b}}, {{%c}}", shape));
    const bool limited = shape.find("{.satfinite}") != std::string_view::npos;
    return product(texts.back(), limited ? std::vector<Row>{{{flag(Field::satfinite)}, {8, 0}}} : always(),
                   std::move(operands));
}

/// A sparse A has half of its K.
int sparse_a(const Form& form) { return 16 * form.get(Field::k) * bits(form.type(Field::a)) / 2048; }
int sparse_b(const Form& form) { return 8 * form.get(Field::k) * bits(form.type(Field::b)) / 1024; }
int sparse_d(const Form& form) { return 16 * 8 * bits(form.type(Field::d)) / 1024; }

OperandRule fragment(std::string_view name, Access access, Type (*type)(const Form&),
                     int (*count)(const Form&)) {
    return {name, access, Rule::list, type, count, false, {}, {}};
}

void add_products(std::vector<Instruction>& out) {
    out.push_back(
        product("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d}, {%a}, {%b}, {%c}", always(),
                {list<f64, 2>("d", Access::out), list<f64, 1>("a"), list<f64, 1>("b"), list<f64, 2>("c")}));
    out.push_back(
        product("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%d}, {%a}, {%b}, {%c}", always(),
                {list<f64, 4>("d", Access::out), list<f64, 2>("a"), list<f64, 1>("b"), list<f64, 4>("c")}));
    out.push_back(
        product("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%d}, {%a}, {%b}, {%c}", always(),
                {list<f64, 4>("d", Access::out), list<f64, 4>("a"), list<f64, 2>("b"), list<f64, 4>("c")}));
    out.push_back(
        product("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%d}, {%a}, {%b}, {%c}", always(),
                {list<f64, 4>("d", Access::out), list<f64, 8>("a"), list<f64, 4>("b"), list<f64, 4>("c")}));
    out.push_back(
        product("mma.sync.aligned.m8n8k16.row.col{.satfinite}.s32{.a}{.b}.s32 {%d}, {%a}, {%b}, {%c}",
                {{{flag(Field::satfinite), types(Field::a, {s8, u8}), types(Field::b, {s8, u8})}, {8, 0}}},
                {list<s32, 2>("d", Access::out), list<b32, 1>("a"), list<b32, 1>("b"), list<s32, 2>("c")}));
    // Integers of 4 bits and of one; their names are no Type, either.
    for (const std::string_view ptx :
         {"m8n8k32.row.col{.satfinite}.s32.s4.s4.s32", "m8n8k32.row.col{.satfinite}.s32.s4.u4.s32",
          "m8n8k32.row.col{.satfinite}.s32.u4.s4.s32", "m8n8k32.row.col{.satfinite}.s32.u4.u4.s32",
          "m8n8k128.row.col.s32.b1.b1.s32.xor.popc", "m8n8k128.row.col.s32.b1.b1.s32.and.popc"})
        out.push_back(narrow_product(
            ptx, {list<s32, 2>("d", Access::out), list<b32, 1>("a"), list<b32, 1>("b"), list<s32, 2>("c")}));
    for (const std::string_view ptx :
         {"m16n8k32.row.col{.satfinite}.s32.s4.s4.s32", "m16n8k32.row.col{.satfinite}.s32.s4.u4.s32",
          "m16n8k32.row.col{.satfinite}.s32.u4.s4.s32", "m16n8k32.row.col{.satfinite}.s32.u4.u4.s32",
          "m16n8k128.row.col.s32.b1.b1.s32.xor.popc", "m16n8k128.row.col.s32.b1.b1.s32.and.popc"})
        out.push_back(narrow_product(
            ptx, {list<s32, 4>("d", Access::out), list<b32, 2>("a"), list<b32, 1>("b"), list<s32, 4>("c")}));
    for (const std::string_view ptx :
         {"m16n8k64.row.col{.satfinite}.s32.s4.s4.s32", "m16n8k64.row.col{.satfinite}.s32.s4.u4.s32",
          "m16n8k64.row.col{.satfinite}.s32.u4.s4.s32", "m16n8k64.row.col{.satfinite}.s32.u4.u4.s32",
          "m16n8k256.row.col.s32.b1.b1.s32.xor.popc", "m16n8k256.row.col.s32.b1.b1.s32.and.popc"})
        out.push_back(narrow_product(
            ptx, {list<s32, 4>("d", Access::out), list<b32, 4>("a"), list<b32, 2>("b"), list<s32, 4>("c")}));
    // Volta's: four products of a quarter of the warp each.
    for (const std::string_view layouts : {"row.row", "row.col", "col.row", "col.col"}) {
        const auto of_quarters = [&](std::string_view types, std::vector<OperandRule> operands) {
            out.push_back(narrow_product(fmt::format("m8n8k4.{}.{}", layouts, types), std::move(operands)));
        };
        of_quarters("f16.f16.f16.f16", {list<b32, 4>("d", Access::out), list<b32, 2>("a"), list<b32, 2>("b"),
                                        list<b32, 4>("c")});
        of_quarters("f32.f16.f16.f16", {list<f32, 8>("d", Access::out), list<b32, 2>("a"), list<b32, 2>("b"),
                                        list<b32, 4>("c")});
        of_quarters("f32.f16.f16.f32", {list<f32, 8>("d", Access::out), list<b32, 2>("a"), list<b32, 2>("b"),
                                        list<f32, 8>("c")});
    }
    const auto row = [](const std::vector<Type>& d, const std::vector<Type>& a, std::initializer_list<int> k,
                        std::vector<Choice> more = {}) {
        Row out{{types(Field::d, d), types(Field::a, a), types(Field::b, a), among(Field::k, k)}, {8, 0}};
        out.choices.insert(out.choices.end(), more.begin(), more.end());
        return out;
    };
    const std::vector<Row> sparse{row({f16, f32}, {f16}, {16, 32}), row({f32}, {bf16}, {16, 32}),
                                  row({f32}, {tf32}, {8, 16}), row({f32}, {e4m3, e5m2}, {64}),
                                  row({s32}, {s8, u8}, {32, 64}, {flag(Field::satfinite)})};
    const std::vector<OperandRule> operands{fragment("d", Access::out, mma::d_type, sparse_d),
                                            fragment("a", Access::in, mma::a_type, sparse_a),
                                            fragment("b", Access::in, mma::b_type, sparse_b),
                                            fragment("c", Access::in, mma::d_type, sparse_d),
                                            in("metadata", fixed<b32>, Rule::reg),
                                            number("selector")};
    for (const std::string_view ptx :
         {"mma.sp.sync.aligned.m16n8k{k}.row.col{.satfinite}{.d}{.a}{.b}{.d} {%d}, {%a}, {%b}, {%c}, "
          "{%metadata}, {%selector}",
          "mma.sp::ordered_metadata.sync.aligned.m16n8k{k}.row.col{.satfinite}{.d}{.a}{.b}{.d} {%d}, {%a}, "
          "{%b}, {%c}, {%metadata}, {%selector}"})
        out.push_back(product(ptx, sparse, operands));
}

// --- memory of several GPUs (PTX ISA 9.7.9.12 to 14) ---------------------------------------------------

int accessed(const Form& form) { return vec(form) * bits(form.type()) / 8; }
Type in_register(const Form& form) { return register_type(form.type()); }
OperandRule values(std::string_view name, Access access) {
    return {name, access, Rule::reg | Rule::list, in_register, vec, false, {}, {}};
}
Choice orders(std::initializer_list<std::string_view> strong) { return optional(in_all_scopes(strong)); }

std::vector<Row> multimem_rows(const Choice& order, bool combines) {
    std::vector<Row> out;
    const auto add = [&](const std::vector<Type>& type, std::initializer_list<int> sizes) {
        Row row{{order, types(type),
                 sizes.size() == 1 ? among(Field::vec, sizes, *sizes.begin()) : among(Field::vec, sizes)},
                {8, 1}};
        if (combines) row.choices.push_back(reductions({"add", "min", "max", "and", "or", "xor"}));
        out.push_back(std::move(row));
    };
    add({u32, s32, u64, s64, b32, b64, f32, f64, f16x2, bf16x2}, {1});
    add({f32, f16, bf16, f16x2, bf16x2}, {2, 4, 8});
    return out;
}

void add_multimem(std::vector<Instruction>& out) {
    out.push_back(record({"multimem.ld_reduce", "reduces the values of all GPUs at an address", "9.7.9.13",
                          "multimem.ld_reduce{.sem}.global{.op}{.vec}{.type} {%d}, [{%a}]"},
                         multimem_rows(orders({"relaxed", "acquire"}), true),
                         {values("d", Access::out), global_address("a")}, [](const Step& s, Effects& e) {
                             e.memory({Space::global, false, &s.operands[1], accessed(s.form)});
                         }));
    out.push_back(record({"multimem.ld_reduce.wide", "reduces with sums in binary32", "9.7.9.13",
                          "multimem.ld_reduce{.sem}.global{.op}.acc::f32{.vec}{.type} {%d}, [{%a}]"},
                         multimem_rows(orders({"relaxed", "acquire"}), true),
                         {values("d", Access::out), global_address("a")}, [](const Step& s, Effects& e) {
                             e.memory({Space::global, false, &s.operands[1], accessed(s.form)});
                         }));
    const auto writes = [](const Step& s, Effects& e) {
        e.memory({Space::global, true, &s.operands[0], accessed(s.form)});
    };
    out.push_back(record({"multimem.st", "stores to an address on all GPUs", "9.7.9.13",
                          "multimem.st{.sem}.global{.vec}{.type} [{%a}], {%b}"},
                         multimem_rows(orders({"relaxed", "release"}), false),
                         {global_address("a"), values("b", Access::in)}, writes));
    Instruction reduce = record({"multimem.red", "reduces into an address on all GPUs", "9.7.9.13",
                                 "multimem.red{.sem}.global{.op}{.vec}{.type} [{%a}], {%b}"},
                                multimem_rows(orders({"relaxed", "release"}), true),
                                {global_address("a"), values("b", Access::in)}, writes);
    reduce.atomic = true;
    out.push_back(std::move(reduce));
}

// --- what changes time alone, and small things ---------------------------------------------------------

void add_others(std::vector<Instruction>& out) {
    const auto waits = [](const Step&, Effects& e) { e.pause(); };
    const auto fetches = [](const Step&, Effects& e) { e.prefetch(); };
    out.push_back(record({"pmevent", "counts an event of a profiler", "9.7.19", "pmevent {%event}"}, always(),
                         {number("event")}, waits));
    out.push_back(record({"pmevent.mask", "counts events of a profiler", "9.7.19", "pmevent.mask {%events}"},
                         always(), {number("events")}, waits));
    out.push_back(record({"prefetch.param.tensormap", "prefetches a tensor map", "9.7.9.15",
                          "prefetch.param.tensormap [{%map}]"},
                         always(), {global_address("map")}, fetches));
    out.push_back(record({"prefetch.const.tensormap", "prefetches a tensor map", "9.7.9.15",
                          "prefetch.const.tensormap [{%map}]"},
                         always(), {global_address("map")}, fetches));
    out.push_back(
        record({"prefetch.local", "prefetches local memory", "9.7.9.15", "prefetch.local{.level} [{%a}]"},
               {{{spelled_as(Field::level, {"L1", "L2"})}, {7, 8}}}, {global_address("a")}, fetches));
    for (const std::string_view ptx : {"testp.finite{.type} {%p}, {%a}", "testp.infinite{.type} {%p}, {%a}",
                                       "testp.number{.type} {%p}, {%a}", "testp.notanumber{.type} {%p}, {%a}",
                                       "testp.normal{.type} {%p}, {%a}", "testp.subnormal{.type} {%p}, {%a}"})
        out.push_back(record({"testp", "tests a property of a float", "9.7.3.1", ptx},
                             {{{types({f32, f64})}, {7, 8}}},
                             {::wgrun::isa::out("p", fixed<pred>), in("a")}));
    // The names of such types are no Type: they belong to the opcode.
    for (const std::string_view ptx :
         {"add.u16x2 {%d}, {%a}, {%b}", "add.s16x2 {%d}, {%a}, {%b}", "min.u16x2 {%d}, {%a}, {%b}",
          "min.s16x2 {%d}, {%a}, {%b}", "max.u16x2 {%d}, {%a}, {%b}", "max.s16x2 {%d}, {%a}, {%b}",
          "min.relu.s16x2 {%d}, {%a}, {%b}", "max.relu.s16x2 {%d}, {%a}, {%b}",
          "min.relu.s32 {%d}, {%a}, {%b}", "max.relu.s32 {%d}, {%a}, {%b}"})
        out.push_back(record({"packed.integers", "of integers of 16 bits, two in a register", "9.7.1", ptx},
                             always(),
                             {::wgrun::isa::out("d", fixed<b32>), in("a", fixed<b32>), in("b", fixed<b32>)}));
    out.push_back(record(
        {"mul24", "the product of numbers of 24 bits", "9.7.1.5", "mul24{.half}{.type} {%d}, {%a}, {%b}"},
        {{{spelled_as(Field::half, {"lo", "hi"}), types({u32, s32})}, {7, 8}}},
        {::wgrun::isa::out("d"), in("a"), in("b")}));
    out.push_back(record({"mad24", "a product of numbers of 24 bits, and a sum", "9.7.1.6",
                          "mad24{.half}{.type} {%d}, {%a}, {%b}, {%c}"},
                         {{{spelled_as(Field::half, {"lo", "hi"}), types({u32, s32})}, {7, 8}}},
                         {::wgrun::isa::out("d"), in("a"), in("b"), in("c")}));
}

}  // namespace

std::span<const Instruction> unsimulated_family() {
    static const std::vector<Instruction> all = [] {
        std::vector<Instruction> out;
        add_im2col(out);
        add_products(out);
        add_multimem(out);
        add_others(out);
        return out;
    }();
    return all;
}

}  // namespace wgrun::isa
