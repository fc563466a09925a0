// Instructions that no script can call and that the simulator does not run: those of several GPUs. Their
// effects are known, so that texts with them are checked.
#include "isa/effects.hpp"
#include "isa/families.hpp"
#include "isa/foreign.hpp"
#include "isa/machine.hpp"
#include "isa/order.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Rule = OperandRule;

struct Text {
    std::string_view name, summary, section, ptx;
};

Instruction record(const Text& text, std::vector<Row> rows, std::vector<OperandRule> operands,
                   void (*effects)(const Step&, Effects&)) {
    Instruction op;
    op.name = text.name;
    op.summary = text.summary;
    op.section = text.section;
    op.ptx = text.ptx;
    op.rows = std::move(rows);
    op.operands = std::move(operands);
    op.effects = effects;
    op.value = [](const Step&, const ValueOf&) { return Value{}; };
    op.run = [](const Step&, Machine&) { throw Unknown{}; };
    return op;
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
    const auto reads = [](const Step& s, Effects& e) {
        e.memory({Space::global, false, &s.operands[1], accessed(s.form)});
    };
    const auto writes = [](const Step& s, Effects& e) {
        e.memory({Space::global, true, &s.operands[0], accessed(s.form)});
    };
    out.push_back(record({"multimem.ld_reduce", "reduces the values of all GPUs at an address", "9.7.9.13",
                          "multimem.ld_reduce{.sem}.global{.op}{.vec}{.type} {%d}, [{%a}]"},
                         multimem_rows(orders({"relaxed", "acquire"}), true),
                         {values("d", Access::out), wide_address("a")}, reads));
    out.push_back(record({"multimem.ld_reduce.wide", "reduces with sums in binary32", "9.7.9.13",
                          "multimem.ld_reduce{.sem}.global{.op}.acc::f32{.vec}{.type} {%d}, [{%a}]"},
                         multimem_rows(orders({"relaxed", "acquire"}), true),
                         {values("d", Access::out), wide_address("a")}, reads));
    out.push_back(record({"multimem.st", "stores to an address on all GPUs", "9.7.9.13",
                          "multimem.st{.sem}.global{.vec}{.type} [{%a}], {%b}"},
                         multimem_rows(orders({"relaxed", "release"}), false),
                         {wide_address("a"), values("b", Access::in)}, writes));
    Instruction reduce = record({"multimem.red", "reduces into an address on all GPUs", "9.7.9.13",
                                 "multimem.red{.sem}.global{.op}{.vec}{.type} [{%a}], {%b}"},
                                multimem_rows(orders({"relaxed", "release"}), true),
                                {wide_address("a"), values("b", Access::in)}, writes);
    reduce.atomic = true;
    out.push_back(std::move(reduce));
}

// --- fences for some accesses alone (PTX ISA 9.7.13.4) -------------------------------------------------

MemoryOrder of_cluster() {
    MemoryOrder out;
    out.strong = out.acquire = out.release = true;
    out.scope = Scope::cluster;
    return out;
}

/// A fence that orders less than the one that it runs as: what it leaves out is not followed, and nothing is
/// proved where it stands. proxy: between the proxies, of that space.
template <Space space, bool proxy>
Instruction restricted(std::string_view text, PtxVersion version) {
    Instruction op;
    op.name = text;
    op.summary = "a fence that orders accesses to shared memory alone";
    op.section = "9.7.13.4";
    op.ptx = text;
    op.rows = {{{}, version}};
    op.effects = [](const Step&, Effects& e) {
        if (proxy)
            e.proxy_fence(space);
        else
            e.fence(), e.await_arrivals();
        e.unknown();
    };
    op.run = [](const Step&, Machine& m) {
        if (proxy)
            m.proxy_fence(space);
        else
            m.fence(of_cluster());
    };
    return op;
}

void add_restricted_fences(std::vector<Instruction>& out) {
    constexpr PtxVersion first{8, 6};
    using enum Space;
    out.push_back(restricted<shared, false>("fence.acquire.sync_restrict::shared::cluster.cluster", first));
    out.push_back(restricted<shared, false>("fence.release.sync_restrict::shared::cta.cluster", first));
    out.push_back(restricted<shared_cluster, true>(
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", first));
    out.push_back(restricted<shared_cta, true>(
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", first));
    out.push_back(restricted<shared_cluster, true>(
        "fence.proxy.async::generic.release.sync_restrict::shared::cluster::read.cluster", {9, 4}));
}

}  // namespace

std::span<const Instruction> unsimulated_family() {
    static const std::vector<Instruction> all = [] {
        std::vector<Instruction> out;
        add_multimem(out);
        add_restricted_fences(out);
        return out;
    }();
    return all;
}

}  // namespace wgrun::isa
