#include "check/drawn_numbers.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "check/pointees.hpp"
#include "isa/effects.hpp"
#include "isa/halves.hpp"
#include "isa/known_bits.hpp"
#include "isa/order.hpp"
#include "isa/registers.hpp"

namespace wgrun::check {
namespace {

/// The accesses of a step to memory.
struct AccessesOf final : isa::Effects {
    explicit AccessesOf(const Step& step) { isa::visit_effects(step, *this); }
    void memory(const isa::MemoryAccess& access) override { all.push_back(access); }
    void bulk_copy(const isa::BulkAccess& copy) override {
        if (copy.direction == isa::BulkCopy::Direction::to_global) copied_to = copy.global;
    }
    void counted(const Operand&) override { later = true; }
    void change_map() override { anywhere = true; }
    void unknown() override { anywhere = true; }
    std::vector<isa::MemoryAccess> all;
    const Operand* copied_to = nullptr;
    bool later = false;  ///< an mbarrier counts what it brings
    bool anywhere = false;
};

/// Whether an atomic operation raises a number of 32 bits by a constant.
bool raises(const Step& step, const Operand* address) {
    if (!step.op->atomic || !step.form.has(isa::Field::op) ||
        step.form.get(isa::Field::op) != static_cast<int>(isa::BulkCopy::Reduction::add))
        return false;
    const auto value = static_cast<std::size_t>(address - step.operands.data()) + 1;
    const isa::Type type = step.form.type();
    return value < step.operands.size() && step.operands[value].kind == Operand::Kind::imm &&
           step.operands[value].imm >= 1 && step.operands[value].imm <= DrawnNumbers::most_added &&
           isa::bits(type) == 32 && !isa::is_float(type);
}

bool is_number(const Operand& operand, const Program& program) {
    if (operand.kind == Operand::Kind::imm) return true;
    if (operand.kind != Operand::Kind::reg || !operand.reg) return false;
    const isa::Type type = program.registers()[operand.reg.id].type;
    return isa::bits(type) == 32 && !isa::is_float(type);
}

/// Whether a load of at most 32 bits leaves an integer in the register.
bool holds_number(const Operand& operand, const Program& program) {
    if (operand.kind != Operand::Kind::reg || !operand.reg) return false;
    const isa::Type type = program.registers()[operand.reg.id].type;
    return (isa::bits(type) == 32 || isa::bits(type) == 16) && !isa::is_float(type);
}

using Constants = std::vector<std::optional<std::int32_t>>;

/// By register of 32 bits: the constant that the only step gives it which writes it.
Constants constants(const Program& program) {
    Constants out(program.registers().size());
    std::vector<bool> written(out.size());
    for_each_step(program, [&](const Step& step) {
        isa::for_each_written(step, [&](isa::Reg reg) {
            std::optional<std::uint64_t> value;
            if (!written[reg.id] && !step.guard)
                value = isa::known_bits(step, [](isa::Reg) { return isa::KnownBits(); }).value();
            out[reg.id] = value ? std::optional(static_cast<std::int32_t>(*value)) : std::nullopt;
            written[reg.id] = true;
        });
    });
    return out;
}

/// By register: whether it is computed of numbers that are no integers.
std::vector<bool> of_floats(const Program& program) {
    std::vector<bool> out(program.registers().size());
    for (bool grew = true; grew;) {
        grew = false;
        for_each_step(program, [&](const Step& step) {
            bool any = step.form.has(isa::Field::type) &&
                       (isa::is_float(step.form.type()) || isa::is_half(step.form.type()));
            isa::for_each_read(step, [&](isa::Reg reg) { any |= out[reg.id]; });
            if (!any) return;
            isa::for_each_written(step, [&](isa::Reg reg) {
                if (out[reg.id] || program.registers()[reg.id].type == isa::Type::pred) return;
                out[reg.id] = grew = true;
            });
        });
    }
    return out;
}

/// What a weak store of 32 bits, or of a vector of constants, stores; nothing where it is none.
std::vector<Operand> stored(const Step& step, const Program& program, const Constants& constants,
                            const std::vector<bool>& floats) {
    const AccessesOf its(step);
    if (step.op->atomic || its.later || its.all.size() != 1 || !its.all.front().write ||
        isa::order_of(step).strong)
        return {};
    const bool plain = step.operands.size() >= 2 && its.all.front().address == step.operands.data();
    if (!plain) return {};
    const Operand& value = step.operands[1];
    std::vector<Operand> out;
    if (value.kind == Operand::Kind::list) {
        for (const isa::Reg reg : value.list) {
            if (!constants[reg.id]) return {};
            out.push_back(Operand::immediate(*constants[reg.id]));
        }
    } else if (is_number(value, program) && (!value.reg || !floats[value.reg.id])) {
        out.push_back(value);
    }
    return its.all.front().bytes == 4 * static_cast<int>(out.size()) ? out : std::vector<Operand>();
}

}  // namespace

DrawnNumbers drawn_numbers(const Program& program, Made made) {
    const std::vector<int> of = pointees(program, made);
    const Constants constants = check::constants(program);
    const std::vector<bool> floats = of_floats(program);
    DrawnNumbers out;
    const auto param_of = [&](const Operand& address) {
        return address.kind == Operand::Kind::param ? address.index
               : address.reg                        ? of[address.reg.id]
                                                    : from_none;
    };
    for_each_step(program, [&](const Step& step) {
        if (step.op->effects == nullptr || step.operands.empty()) return;
        if (std::vector<Operand> numbers = stored(step, program, constants, floats); !numbers.empty())
            out.stores.emplace(&step, std::move(numbers));
        if (step.op->operands.front().access != isa::Access::out ||
            !holds_number(step.operands.front(), program))
            return;
        const std::vector<isa::MemoryAccess> all = AccessesOf(step).all;
        if (all.empty() || all.front().bytes > 4) return;
        const isa::MemoryAccess& access = all.front();
        if (step.op->atomic && access.space == isa::Space::global && access.bytes == 4) {
            if (const int param = param_of(*access.address); param >= 0) {
                out.draws.emplace(&step, DrawnNumbers::Draw{param, access.address->reg});
                out.changes[param];
            }
        } else if (!step.op->atomic && all.size() == 1 && !access.write &&
                   access.space == isa::Space::shared && !isa::order_of(step).strong) {
            out.loads.insert(&step);
        }
    });
    for_each_step(program, [&](const Step& step) {
        const AccessesOf its(step);
        const auto changes = [&](int param) {
            for (auto& [one, steps] : out.changes)
                if (one == param || param < 0) steps.push_back(&step);
        };
        if (its.anywhere) changes(from_several);
        if (its.copied_to != nullptr) changes(param_of(*its.copied_to));
        for (const isa::MemoryAccess& access : its.all)
            if (access.write && (access.space == isa::Space::global || access.space == isa::Space::generic) &&
                !raises(step, access.address))
                changes(param_of(*access.address));
    });
    return out;
}

}  // namespace wgrun::check
