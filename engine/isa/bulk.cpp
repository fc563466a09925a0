// The bulk-copy engine: tensors through tensor maps, and linear copies.
#include "isa/lanes.hpp"
#include "isa/tensor_copies.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;
using Direction = BulkCopy::Direction;

Choice tensor_dims() { return {Field::dim, {{1, 5}}, {}}; }

OperandRule size() {
    return {"size", Access::in, Rule::reg | Rule::imm,        fixed<u32>, nullptr,
            false,  {},         Range{16, (1 << 20) - 16, 16}};
}

// Reads a lane's operands into its copy.
void set_shared(BulkCopy& copy, const Addresses& at, std::size_t lane) {
    copy.shared = static_cast<std::uint32_t>(at[lane]);
    copy.known.shared = at.knows(lane);
}
void set_mbarrier(BulkCopy& copy, const Addresses& at, std::size_t lane) {
    copy.mbarrier = static_cast<std::uint32_t>(at[lane]);
    copy.known.mbarrier = at.knows(lane);
}
void set_bytes(BulkCopy& copy, const Counts& bytes, std::size_t lane) {
    copy.bytes = static_cast<std::uint32_t>(bytes[lane]);
    copy.known.bytes = bytes.knows(lane);
}
void set_multicast(BulkCopy& copy, const Counts& mask, std::size_t lane) {
    copy.multicast = static_cast<std::uint16_t>(mask[lane]);
    copy.known.multicast = mask.knows(lane);
}

void set_reduction(BulkCopy& copy, const Form& form) {
    copy.reduction = reduction_of(form);
    copy.type = form.type();
}

/// Returns the coordinates of every lane, or the offsets; T is the type of their registers.
template <class T>
std::array<Counts, 5> coordinates_of(const Operand& operand, Machine& m) {
    std::array<Counts, 5> out{};
    const std::span<const Reg> regs =
        operand.kind == Operand::Kind::list ? std::span(operand.list) : std::span(&operand.reg, 1);
    for (std::size_t d = 0; d < regs.size(); ++d) out[d] = counts_of<T>(m, Operand::of(regs[d]));
    return out;
}

/// Issues one copy for each active lane: the common part, completed by `fill`.
template <class Fill>
void issue(Machine& m, BulkCopy copy, Fill fill) {
    for_each_lane(m.active(), [&](std::size_t lane) {
        copy.lane = static_cast<int>(lane);
        fill(copy, lane);
        m.bulk_copy(copy);
    });
}

template <class Fill>
void issue_tensor(const Step& s, Machine& m, BulkCopy copy, const Operand& map, const Operand& place,
                  Moved moved, Fill fill) {
    const Addresses maps = addresses_of<std::uint64_t>(m, map);
    const std::array<Counts, 5> at = coordinates_of<std::int32_t>(place, m);
    std::array<Counts, 5> offsets{};
    if (moved.offsets != nullptr) offsets = coordinates_of<std::uint16_t>(*moved.offsets, m);
    copy.dims = dims(s.form);
    copy.pixels = moved.pixels;
    issue(m, copy, [&](BulkCopy& one, std::size_t lane) {
        one.tensor_map = maps[lane];
        one.known.tensor_map = maps.knows(lane);
        for (std::size_t d = 0; d < 5; ++d) one.coordinates[d] = static_cast<std::int32_t>(at[d][lane]);
        for (std::size_t d = 0; d < one.offsets.size(); ++d)
            one.offsets[d] = static_cast<std::uint16_t>(offsets[d][lane]);
        fill(one, lane);
    });
}

void run_tensor_load(const Step& s, Machine& m) { load_tensor(s, m, 4, {}); }

template <bool reduces>
void run_tensor_store(const Step& s, Machine& m) {
    BulkCopy::Reduction reduction = BulkCopy::Reduction::none;
    if constexpr (reduces) reduction = reduction_of(s.form);
    store_tensor(s, m, reduction, {});
}

void run_tensor_prefetch(const Step& s, Machine& m) { prefetch_tensor(s, m, {}); }

void run_load(const Step& s, Machine& m) {
    const Addresses to = addresses_of<std::uint32_t>(m, s.operands[0]);
    const Addresses from = addresses_of<std::uint64_t>(m, s.operands[1]);
    const Counts bytes = counts_of<std::uint32_t>(m, s.operands[2]);
    const Addresses barrier = addresses_of<std::uint32_t>(m, s.operands[3]);
    const Counts cast = counts_of<std::uint16_t>(m, s.operands[4]);
    issue(m, {}, [&](BulkCopy& copy, std::size_t lane) {
        set_shared(copy, to, lane);
        copy.global = from[lane];
        set_bytes(copy, bytes, lane);
        set_mbarrier(copy, barrier, lane);
        set_multicast(copy, cast, lane);
    });
}

void run_prefetch(const Step& s, Machine& m) {
    const Addresses from = addresses_of<std::uint64_t>(m, s.operands[0]);
    const Counts bytes = counts_of<std::uint32_t>(m, s.operands[1]);
    BulkCopy copy;
    copy.direction = Direction::prefetch;
    issue(m, copy, [&](BulkCopy& one, std::size_t lane) {
        one.global = from[lane];
        set_bytes(one, bytes, lane);
    });
}

template <bool reduces>
void run_to_cluster(const Step& s, Machine& m) {
    const Addresses to = addresses_of<std::uint32_t>(m, s.operands[0]);
    const Addresses from = addresses_of<std::uint32_t>(m, s.operands[1]);
    const Counts bytes = counts_of<std::uint32_t>(m, s.operands[2]);
    const Addresses barrier = addresses_of<std::uint32_t>(m, s.operands[3]);
    BulkCopy copy;
    copy.direction = Direction::to_cluster;
    if constexpr (reduces) set_reduction(copy, s.form);
    issue(m, copy, [&](BulkCopy& one, std::size_t lane) {
        set_shared(one, to, lane);
        one.source = static_cast<std::uint32_t>(from[lane]);
        one.known.source = from.knows(lane);
        set_bytes(one, bytes, lane);
        set_mbarrier(one, barrier, lane);
    });
}

template <bool reduces>
void run_store(const Step& s, Machine& m) {
    const Addresses to = addresses_of<std::uint64_t>(m, s.operands[0]);
    const Addresses from = addresses_of<std::uint32_t>(m, s.operands[1]);
    const Counts bytes = counts_of<std::uint32_t>(m, s.operands[2]);
    BulkCopy copy;
    copy.direction = Direction::to_global;
    if constexpr (reduces) set_reduction(copy, s.form);
    issue(m, copy, [&](BulkCopy& one, std::size_t lane) {
        one.global = to[lane];
        set_shared(one, from, lane);
        set_bytes(one, bytes, lane);
    });
}

void to_shared_effects(const Step& s, Effects& e) {
    e.bulk_copy({Direction::to_shared, &s.operands[0], nullptr, &s.operands[1], nullptr});
    e.counted(s.operands[3]);
}

void to_global_effects(const Step& s, Effects& e) {
    e.bulk_copy({Direction::to_global, nullptr, &s.operands[1], &s.operands[0], nullptr});
}

void to_cluster_effects(const Step& s, Effects& e) {
    e.bulk_copy({Direction::to_cluster, &s.operands[0], &s.operands[1]});
    e.counted(s.operands[3]);
}

void prefetch_effects(const Step& s, Effects& e) {
    e.bulk_copy({Direction::prefetch, nullptr, nullptr, &s.operands[0], nullptr});
}

}  // namespace

void tensor_load_effects(const Step& s, Effects& e) {
    e.bulk_copy({Direction::to_shared, &s.operands[0], nullptr, &s.operands[1], &s.operands[2]});
    e.counted(s.operands[3]);
}

void tensor_store_effects(const Step& s, Effects& e) {
    e.bulk_copy({Direction::to_global, nullptr, &s.operands[2], &s.operands[0], &s.operands[1]});
}

void tensor_prefetch_effects(const Step& s, Effects& e) {
    e.bulk_copy({Direction::prefetch, nullptr, nullptr, &s.operands[0], &s.operands[1]});
}

void load_tensor(const Step& s, Machine& m, std::size_t mask, Moved moved) {
    const Addresses to = addresses_of<std::uint32_t>(m, s.operands[0]);
    const Addresses barrier = addresses_of<std::uint32_t>(m, s.operands[3]);
    const Counts cast = counts_of<std::uint16_t>(m, s.operands[mask]);
    issue_tensor(s, m, {}, s.operands[1], s.operands[2], moved, [&](BulkCopy& copy, std::size_t lane) {
        set_shared(copy, to, lane);
        set_mbarrier(copy, barrier, lane);
        set_multicast(copy, cast, lane);
    });
}

void store_tensor(const Step& s, Machine& m, BulkCopy::Reduction reduction, Moved moved) {
    BulkCopy copy;
    copy.direction = Direction::to_global;
    copy.reduction = reduction;
    const Addresses from = addresses_of<std::uint32_t>(m, s.operands[2]);
    issue_tensor(s, m, copy, s.operands[0], s.operands[1], moved,
                 [&](BulkCopy& one, std::size_t lane) { set_shared(one, from, lane); });
}

void prefetch_tensor(const Step& s, Machine& m, Moved moved) {
    BulkCopy copy;
    copy.direction = Direction::prefetch;
    issue_tensor(s, m, copy, s.operands[0], s.operands[1], moved, [](BulkCopy&, std::size_t) {});
}

std::span<const Instruction> bulk_family() {
    static const std::vector<Instruction> list{
        {.name = "cp.async.bulk.tensor",
         .summary =
             "copies a box of a tensor to shared memory, of several CTAs with a mask; an mbarrier counts "
             "the bytes",
         .section = "9.7.9.25.5.2",
         .rows = {{{tensor_dims(), flag(Field::multicast), cache_hint()}, {8, 0}}},
         .operands = {shared_address("d"), tensor_map(), coordinates(), shared_address("mbarrier"),
                      receivers(), cache_policy()},
         .ptx = "cp.async.bulk.tensor{.dim}.shared::cluster.global.mbarrier::complete_tx::bytes{.multicast}"
                "{.cache} [{%d}], [{%map}, {%coordinates}], [{%mbarrier}]{,%mask}{,%policy}",
         .effects = tensor_load_effects,
         .run = run_tensor_load},
        {.name = "cp.async.bulk.tensor.store",
         .summary = "copies a box from shared memory to a tensor, in a bulk group",
         .section = "9.7.9.25.5.2",
         .rows = {{{tensor_dims(), cache_hint()}, {8, 0}}},
         .operands = {tensor_map(), coordinates(), shared_address("a"), cache_policy()},
         .ptx = "cp.async.bulk.tensor{.dim}.global.shared::cta.bulk_group{.cache} [{%map}, {%coordinates}], "
                "[{%a}]{,%policy}",
         .effects = tensor_store_effects,
         .run = run_tensor_store<false>},
        {.name = "cp.reduce.async.bulk.tensor",
         .summary =
             "reduces a box of shared memory into a tensor, in a bulk group; the tensor map has the type",
         .section = "9.7.9.25.5.3",
         .rows = {{{tensor_dims(), reductions({"add", "min", "max", "inc", "dec", "and", "or", "xor"}),
                    cache_hint()},
                   {8, 0}}},
         .operands = {tensor_map(), coordinates(), shared_address("a"), cache_policy()},
         .ptx = "cp.reduce.async.bulk.tensor{.dim}.global.shared::cta{.op}.bulk_group{.cache} [{%map}, "
                "{%coordinates}], [{%a}]{,%policy}",
         .effects = tensor_store_effects,
         .run = run_tensor_store<true>},
        {.name = "cp.async.bulk.prefetch.tensor",
         .summary = "prefetches a box of a tensor into the L2 cache",
         .section = "9.7.9.25.5.4",
         .rows = {{{tensor_dims(), cache_hint()}, {8, 0}}},
         .operands = {tensor_map(), coordinates(), cache_policy()},
         .ptx = "cp.async.bulk.prefetch.tensor{.dim}.L2.global{.cache} [{%map}, {%coordinates}]{,%policy}",
         .effects = tensor_prefetch_effects,
         .run = run_tensor_prefetch},
        {.name = "prefetch.tensormap",
         .summary = "prefetches a tensor map for later bulk tensor copies",
         .section = "9.7.9.15",
         .rows = {{{}, {8, 0}}},
         .operands = {tensor_map()},
         .ptx = "prefetch.tensormap [{%map}]",
         .effects = [](const Step&, Effects& e) { e.prefetch(); },
         .run = [](const Step&, Machine&) {}},
        {.name = "cp.async.bulk",
         .summary = "copies bytes from global to shared memory; an mbarrier counts them",
         .section = "9.7.9.25.4.1",
         .rows = {{{flag(Field::multicast), cache_hint()}, {8, 0}}},
         .operands = {shared_address("d"), wide_address("a"), size(), shared_address("mbarrier"), receivers(),
                      cache_policy()},
         .ptx =
             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{.multicast}{.cache} [{%d}], "
             "[{%a}], {%size}, [{%mbarrier}]{,%mask}{,%policy}",
         .effects = to_shared_effects,
         .run = run_load},
        {.name = "cp.async.bulk.prefetch",
         .summary = "prefetches bytes of global memory into the L2 cache",
         .section = "9.7.9.25.4.3",
         .rows = {{{cache_hint()}, {8, 0}}},
         .operands = {wide_address("a"), size(), cache_policy()},
         .ptx = "cp.async.bulk.prefetch.L2.global{.cache} [{%a}], {%size}{,%policy}",
         .effects = prefetch_effects,
         .run = run_prefetch},
        {.name = "cp.async.bulk.cluster",
         .summary = "copies bytes from this CTA's shared memory to another's, whose mbarrier counts them",
         .section = "9.7.9.25.4.1",
         .rows = {{{}, {8, 0}}},
         .operands = {shared_address("d"), shared_address("a"), size(), shared_address("mbarrier")},
         .ptx = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [{%d}], [{%a}], "
                "{%size}, "
                "[{%mbarrier}]",
         .effects = to_cluster_effects,
         .run = run_to_cluster<false>},
        {.name = "cp.reduce.async.bulk.cluster",
         .summary = "reduces bytes of this CTA's shared memory into another's, whose mbarrier counts them",
         .section = "9.7.9.25.4.2",
         .rows = {{{reductions({"add"}), types({u32, s32, u64})}, {8, 0}},
                  {{reductions({"min", "max"}), types({u32, s32})}, {8, 0}},
                  {{reductions({"inc", "dec"}), types({u32})}, {8, 0}},
                  {{reductions({"and", "or", "xor"}), types({b32})}, {8, 0}}},
         .operands = {shared_address("d"), shared_address("a"), size(), shared_address("mbarrier")},
         .ptx = "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes{.op}{.type} "
                "[{%d}], [{%a}], {%size}, [{%mbarrier}]",
         .effects = to_cluster_effects,
         .run = run_to_cluster<true>},
        {.name = "cp.async.bulk.store",
         .summary = "copies bytes from shared to global memory, in a bulk group",
         .section = "9.7.9.25.4.1",
         .rows = {{{cache_hint()}, {8, 0}}},
         .operands = {wide_address("d"), shared_address("a"), size(), cache_policy()},
         .ptx = "cp.async.bulk.global.shared::cta.bulk_group{.cache} [{%d}], [{%a}], {%size}{,%policy}",
         .effects = to_global_effects,
         .run = run_store<false>},
        {.name = "cp.reduce.async.bulk",
         .summary = "reduces bytes of shared memory into global memory, in a bulk group",
         .section = "9.7.9.25.4.2",
         .rows = {{{reductions({"add"}), types({u32, s32, u64, f32, f64}), cache_hint()}, {8, 0}},
                  {{reductions({"add"}), among(Field::noftz, {1}), types({f16, bf16}), cache_hint()}, {8, 0}},
                  {{reductions({"min", "max"}), types({u32, s32, u64, s64, f16, bf16}), cache_hint()},
                   {8, 0}},
                  {{reductions({"inc", "dec"}), types({u32}), cache_hint()}, {8, 0}},
                  {{reductions({"and", "or", "xor"}), types({b32, b64}), cache_hint()}, {8, 0}}},
         .operands = {wide_address("d"), shared_address("a"), size(), cache_policy()},
         .ptx =
             "cp.reduce.async.bulk.global.shared::cta.bulk_group{.cache}{.op}{.noftz}{.type} [{%d}], [{%a}], "
             "{%size}{,%policy}",
         .effects = to_global_effects,
         .run = run_store<true>},
        {.name = "cp.async.bulk.commit_group",
         .summary = "commits the thread's bulk copies since the last commit to a new bulk group",
         .section = "9.7.9.25.6",
         .rows = {{{}, {8, 0}}},
         .ptx = "cp.async.bulk.commit_group",
         .effects = [](const Step&, Effects& e) { e.commit_bulk(); },
         .run = [](const Step&, Machine& m) { m.bulk_commit(); }},
        {.name = "cp.async.bulk.wait_group",
         .summary =
             "waits until at most n of the thread's newest groups run; with read, until their sources are "
             "read",
         .section = "9.7.9.25.6",
         .rows = {{{flag(Field::read)}, {8, 0}}},
         .operands = {{"n", Access::in, Rule::imm, fixed<u32>, nullptr, false, {}, Range{0, INT32_MAX}}},
         .ptx = "cp.async.bulk.wait_group{.read} {%n}",
         .effects =
             [](const Step& s, Effects& e) {
                 e.wait_bulk(static_cast<int>(s.operands[0].imm), s.form.get(Field::read) != 0);
             },
         .run =
             [](const Step& s, Machine& m) {
                 m.bulk_wait(static_cast<int>(s.operands[0].imm), s.form.get(Field::read) != 0);
             }},
    };
    return list;
}

}  // namespace wgrun::isa
