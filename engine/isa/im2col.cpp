// Copies of pixels, the columns of a convolution as a product of matrices (PTX ISA 5.5.4).
#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/tensor_copies.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;
using Direction = BulkCopy::Direction;

int dims(const Form& form) { return form.get(Field::dim); }
int moved_dims(const Form& form) { return form.get(Field::dim) - 2; }

Choice tensor_dims() { return {Field::dim, {{3, 5}}, {}}; }

OperandRule tensor_map() { return {"map", Access::in, Rule::reg, fixed<u64>, nullptr, false, {}, {}}; }
OperandRule coordinates() { return {"coordinates", Access::in, Rule::list, fixed<s32>, dims, false, {}, {}}; }
OperandRule offsets() { return {"offsets", Access::in, Rule::list, fixed<u16>, moved_dims, false, {}, {}}; }
OperandRule mask() {
    return {"mask", Access::in, Rule::reg | Rule::imm, fixed<u16>,      nullptr,
            true,   0,          Range{0, 0xFFFF},      Field::multicast};
}

void stores(const Step& s, Effects& e) {
    e.bulk_copy({Direction::to_global, nullptr, &s.operands[2], &s.operands[0], &s.operands[1]});
}

}  // namespace

std::span<const Instruction> im2col_family() {
    static const std::vector<Instruction> list{
        {.name = "cp.async.bulk.tensor.im2col",
         .summary =
             "copies the pixels of a convolution to shared memory, of several CTAs with a mask; an mbarrier "
             "counts the bytes",
         .section = "9.7.9.25.5.2",
         .rows = {{{tensor_dims(), flag(Field::multicast), cache_hint()}, {8, 0}}},
         .operands = {shared_address("d"), tensor_map(), coordinates(), shared_address("mbarrier"), offsets(),
                      mask(), cache_policy()},
         .ptx = "cp.async.bulk.tensor{.dim}.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
                "{.multicast}{.cache} [{%d}], [{%map}, {%coordinates}], [{%mbarrier}], "
                "{%offsets}{,%mask}{,%policy}",
         .effects =
             [](const Step& s, Effects& e) {
                 e.bulk_copy({Direction::to_shared, &s.operands[0], nullptr, &s.operands[1], &s.operands[2]});
                 e.counted(s.operands[3]);
             },
         .run =
             [](const Step& s, Machine& m) {
                 load_tensor(s, m, 5, {true, &s.operands[4]});
             }},
        {.name = "cp.async.bulk.tensor.store.im2col",
         .summary = "copies pixels from shared memory to a tensor, in a bulk group",
         .section = "9.7.9.25.5.2",
         .rows = {{{tensor_dims(), cache_hint()}, {8, 0}}},
         .operands = {tensor_map(), coordinates(), shared_address("a"), cache_policy()},
         .ptx = "cp.async.bulk.tensor{.dim}.global.shared::cta.im2col_no_offs.bulk_group{.cache} [{%map}, "
                "{%coordinates}], [{%a}]{,%policy}",
         .effects = stores,
         .run =
             [](const Step& s, Machine& m) {
                 store_tensor(s, m, BulkCopy::Reduction::none, {true, nullptr});
             }},
        {.name = "cp.reduce.async.bulk.tensor.im2col",
         .summary = "reduces pixels of shared memory into a tensor, in a bulk group; the tensor map has the "
                    "type",
         .section = "9.7.9.25.5.3",
         .rows = {{{tensor_dims(), reductions({"add", "min", "max", "inc", "dec", "and", "or", "xor"}),
                    cache_hint()},
                   {8, 0}}},
         .operands = {tensor_map(), coordinates(), shared_address("a"), cache_policy()},
         .ptx = "cp.reduce.async.bulk.tensor{.dim}.global.shared::cta{.op}.im2col_no_offs.bulk_group{.cache} "
                "[{%map}, {%coordinates}], [{%a}]{,%policy}",
         .effects = stores,
         .run =
             [](const Step& s, Machine& m) {
                 store_tensor(s, m, reduction_of(s.form), {true, nullptr});
             }},
        {.name = "cp.async.bulk.prefetch.tensor.im2col",
         .summary = "prefetches pixels of a tensor into the L2 cache",
         .section = "9.7.9.25.5.4",
         .rows = {{{tensor_dims(), cache_hint()}, {8, 0}}},
         .operands = {tensor_map(), coordinates(), offsets(), cache_policy()},
         .ptx = "cp.async.bulk.prefetch.tensor{.dim}.L2.global.im2col{.cache} [{%map}, {%coordinates}], "
                "{%offsets}{,%policy}",
         .effects =
             [](const Step& s, Effects& e) {
                 e.bulk_copy({Direction::prefetch, nullptr, nullptr, &s.operands[0], &s.operands[1]});
             },
         .run =
             [](const Step& s, Machine& m) {
                 prefetch_tensor(s, m, {true, &s.operands[2]});
             }},
    };
    return list;
}

}  // namespace wgrun::isa
