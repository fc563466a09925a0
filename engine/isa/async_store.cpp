// st.async and red.async: a thread writes to the shared memory of a CTA of its cluster and does not wait; an
// mbarrier there counts the bytes.
#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/lanes.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;

void run(const Step& s, Machine& m) {
    const int size = element_bytes(s.form);
    alignas(16) std::array<std::byte, std::size_t{lanes} * widest> data{};
    const Operand& value = s.operands[1];
    const auto put = [&](const Operand& part, std::size_t at, auto zero) {
        const auto values = read_some<decltype(zero)>(m, part);
        for (std::size_t l = 0; l < lanes; ++l)
            std::memcpy(data.data() + l * widest + at, &values[l], sizeof zero);
    };
    for (int i = 0; i < vec(s.form); ++i) {
        const Operand part =
            value.kind == Operand::Kind::list ? Operand::of(value.list[static_cast<std::size_t>(i)]) : value;
        if (size == 8)
            put(part, static_cast<std::size_t>(i * size), std::uint64_t{});
        else
            put(part, static_cast<std::size_t>(i * size), std::uint32_t{});
    }
    AsyncStore store;
    if (s.form.has(Field::op)) store.reduction = static_cast<BulkCopy::Reduction>(s.form.get(Field::op));
    store.type = s.form.type();
    store.bytes = size * vec(s.form);
    m.store_async(store, addresses_of<std::uint32_t>(m, s.operands[0]),
                  addresses_of<std::uint32_t>(m, s.operands[2]), data.data(), widest);
}

void effects(const Step& s, Effects& e) {
    e.memory({Space::shared_cluster, true, &s.operands[0], element_bytes(s.form) * vec(s.form)});
    e.counted(s.operands[2]);
}

Choice scalar() { return types({b32, u32, s32, f32, b64, u64, s64, f64}); }

}  // namespace

std::span<const Instruction> async_store_family() {
    static const std::vector<Instruction> list{
        {.name = "st.async",
         .summary =
             "stores values in a CTA of the cluster asynchronously; an mbarrier there counts the bytes",
         .section = "9.7.9.12",
         .rows = {{{scalar(), among(Field::vec, {1}, 1)}, {8, 1}},
                  {{scalar(), among(Field::vec, {2})}, {8, 1}},
                  {{types({b32, u32, s32, f32}), among(Field::vec, {4})}, {8, 1}}},
         .operands =
             {shared_address("a"),
              {"b", Access::in, Rule::reg | Rule::imm | Rule::list, typed<Field::type>, vec, false, {}, {}},
              shared_address("mbarrier")},
         .ptx = "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes{.vec}{.type} [{%a}], {%b}, "
                "[{%mbarrier}]",
         .effects = effects,
         .run = run},
        {.name = "red.async",
         .summary = "reduces a value into memory of a CTA of the cluster, asynchronously; an mbarrier there "
                    "counts the bytes",
         .section = "9.7.13.7",
         .rows = {{{reductions({"add"}), types({u32, s32, u64, s64})}, {8, 1}},
                  {{reductions({"min", "max"}), types({u32, s32})}, {8, 1}},
                  {{reductions({"inc", "dec"}), types({u32})}, {8, 1}},
                  {{reductions({"and", "or", "xor"}), types({b32})}, {8, 1}}},
         .operands = {shared_address("a"), in("b"), shared_address("mbarrier")},
         .ptx = "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes{.op}{.type} [{%a}], "
                "{%b}, "
                "[{%mbarrier}]",
         .atomic = true,
         .effects = effects,
         .run = run},
    };
    return list;
}

}  // namespace wgrun::isa
