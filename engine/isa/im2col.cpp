// Copies of pixels, the columns of a convolution as a product of matrices (PTX ISA 5.5.4).
#include "isa/tensor_copies.hpp"

namespace wgrun::isa {
namespace {

using enum Type;

int moved_dims(const Form& form) { return dims(form) - 2; }

Choice tensor_dims() { return {Field::dim, {{3, 5}}, {}}; }

OperandRule offsets() {
    return {"offsets", Access::in, OperandRule::list, fixed<u16>, moved_dims, false, {}, {}};
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
                      receivers(), cache_policy()},
         .ptx = "cp.async.bulk.tensor{.dim}.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
                "{.multicast}{.cache} [{%d}], [{%map}, {%coordinates}], [{%mbarrier}], "
                "{%offsets}{,%mask}{,%policy}",
         .effects = tensor_load_effects,
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
         .effects = tensor_store_effects,
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
         .effects = tensor_store_effects,
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
         .effects = tensor_prefetch_effects,
         .run =
             [](const Step& s, Machine& m) {
                 prefetch_tensor(s, m, {true, &s.operands[2]});
             }},
    };
    return list;
}

}  // namespace wgrun::isa
