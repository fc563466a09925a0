// The memory order that a form asks for, and what a step waits for.
#include "isa/order.hpp"

#include <algorithm>
#include <array>

#include "isa/effects.hpp"

namespace wgrun::isa {

namespace {

constexpr std::array<std::string_view, 4> scopes{"cta", "cluster", "gpu", "sys"};

/// Returns the bytes of an element, of which a packed type has two.
int unit_of(Type type) {
    const bool packed = to_string(type).ends_with("x2");
    return bits(type) / 8 / (packed ? 2 : 1);
}

}  // namespace

std::string_view name_of(Scope scope) { return scopes[static_cast<std::size_t>(scope)]; }

MemoryOrder order_of(const Step& step) {
    MemoryOrder out;
    const int sem = step.form.get(Field::sem, -1);
    const std::string name = sem < 0 ? "" : spelled(Field::sem, sem);
    if (name.empty() && !step.op->atomic) return out;
    out.strong = true;
    if (step.form.has(Field::type)) out.unit = unit_of(step.form.type());
    // Atomics without an order are relaxed.gpu; volatile is relaxed.sys (PTX ISA 9.7.9.8, 9.7.13.5).
    out.scope = name.empty() ? Scope::gpu : Scope::sys;
    for (std::string_view rest = name; !rest.empty();) {
        const std::string_view word = rest.substr(0, rest.find('.'));
        rest.remove_prefix(std::min(word.size() + 1, rest.size()));
        const bool both = word == "acq_rel" || word == "sc";
        out.acquire |= both || word == "acquire";
        out.release |= both || word == "release";
        if (const auto* scope = std::ranges::find(scopes, word); scope != scopes.end())
            out.scope = static_cast<Scope>(scope - scopes.begin());
    }
    return out;
}

MemoryOrder arrival_order(const Step& step) {
    MemoryOrder out = order_of(step);
    out.release |= !out.strong;
    return out;
}

Awaits awaited_by(const Step& step) {
    if (step.op->awaits != Awaits::nothing) return step.op->awaits;
    const auto gives = [](const OperandRule& rule) { return rule.access == Access::out; };
    const auto accesses = [](const OperandRule& rule) { return (rule.kinds & OperandRule::address) != 0; };
    const bool looks = order_of(step).strong && std::ranges::any_of(step.op->operands, gives) &&
                       std::ranges::any_of(step.op->operands, accesses);
    return looks ? Awaits::memory : Awaits::nothing;
}

bool keeps_to_registers(const Step& step) {
    if (awaited_by(step) != Awaits::nothing) return false;
    const auto reads = [](const OperandRule& rule) { return rule.access == Access::in; };
    // Some special registers, such as the clocks, change from one read to the next.
    return std::ranges::all_of(step.op->operands, reads) ||
           (step.op->effects == nullptr && !step.form.has(Field::sreg));
}

bool asynchronous(const Step& step) {
    struct Listener final : Effects {
        bool heard = false;
        void issue_mma(const AsyncMma&) override { heard = true; }
        void copy_async(const AsyncCopy&) override { heard = true; }
        void arrive_copies(const Operand&) override { heard = true; }
        void bulk_copy(const BulkAccess&) override { heard = true; }
        void counted(const Operand&) override { heard = true; }
    } listener;
    visit_effects(step, listener);
    return listener.heard;
}

}  // namespace wgrun::isa
