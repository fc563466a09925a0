#include "isa/membermask.hpp"

#include <algorithm>

#include "rules/lane_words.hpp"

namespace wgrun::isa {

OperandRule membermask(bool by_name) {
    constexpr std::int64_t whole_warp = -1;
    return {"membermask", Access::in, OperandRule::reg | OperandRule::imm, fixed<Type::u32>, nullptr, by_name,
            whole_warp,   {}};
}

const Operand* membermask_of(const Step& step) {
    static const std::string_view name = membermask(true).name;
    const auto rule = std::ranges::find(step.op->operands, name, &OperandRule::name);
    if (rule == step.op->operands.end()) return nullptr;
    return &step.operands[static_cast<std::size_t>(rule - step.op->operands.begin())];
}

Lanes<Mask> parties(const Step& step, Machine& machine) {
    const Lanes<Mask> masks = read<Mask>(machine, *membermask_of(step));
    const Mask active = machine.active(), existing = machine.existing();
    if (std::optional<rules::RuleMessage> wrong =
            rules::wrong_membermask(step.op->name, active, existing, masks))
        throw ArgumentError(rules::finding(rules::cited(std::move(*wrong), step.op->section), {}));
    Lanes<Mask> out{};
    for_each_lane(active, [&](std::size_t l) { out[l] = masks[l] & existing; });
    return out;
}

}  // namespace wgrun::isa
