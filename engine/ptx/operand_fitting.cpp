// From operands that are bound to those of an instruction whose form is complete.
#include "isa/foreign.hpp"
#include "ptx/operand_binding.hpp"

namespace wgrun::ptx {
namespace {

using isa::Field;
using isa::Form;
using isa::Operand;
using isa::OperandRule;
using isa::Type;

/// Returns whether addresses of the space may have 32 bits.
bool short_addresses(const Form& form) {
    if (!form.has(Field::space)) return false;
    const auto space = static_cast<isa::Space>(form.get(Field::space));
    return space != isa::Space::global && space != isa::Space::generic;
}

/// Gives operands that the text leaves out what stands for them. Returns false where one has to be there.
bool fill_in(const isa::Instruction& op, std::vector<Operand>& operands, Names& names) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const OperandRule& rule = op.operands[i];
        if (operands[i].kind != Operand::Kind::none) continue;
        if (rule.by_name && rule.name.starts_with(isa::condition_code)) {
            operands[i] = Operand::of(names.condition_code());
            continue;
        }
        if (rule.access == isa::Access::out ? !rule.by_name : !rule.fallback) return false;
        if (rule.access != isa::Access::out) operands[i] = Operand::immediate(*rule.fallback);
    }
    return true;
}

/// Fits bound operands to a form that is complete: their types and counts, and the widths of registers.
class Fitter {
  public:
    Fitter(const isa::Instruction& op, const Form& form, Names& names)
        : op_(op), form_(form), names_(names) {}

    /// Returns false where the operand is none of that rule.
    bool fit(const OperandRule& rule, Operand& operand) {
        const int count = rule.count != nullptr ? rule.count(form_) : 1;
        const bool takes_list =
            (rule.kinds & OperandRule::list) != 0 && (count > 1 || !(rule.kinds & OperandRule::reg));
        switch (operand.kind) {
            case Operand::Kind::list:
                if (static_cast<int>(operand.list.size()) != count || !fit_list(rule, operand.list))
                    return false;
                if (!takes_list) operand = Operand::of(operand.list.front());
                return true;
            case Operand::Kind::reg:
                if (takes_list || !agrees(rule, operand.reg)) return false;
                operand.reg = fitted(rule, operand.reg);
                return true;
            case Operand::Kind::address: return rule.type == nullptr || fit_address(rule, operand);
            case Operand::Kind::imm: return !takes_list;
            case Operand::Kind::param: return rule.type == nullptr || is_parameter(rule, operand);
            default: return true;
        }
    }

  private:
    bool agrees(const OperandRule& rule, isa::Reg reg) const {
        if (rule.type == nullptr) return true;
        const Type have = names_.type_of(reg), want = rule.type(form_);
        if (isa::agrees(have, want)) return true;
        const Type in_register = isa::register_type(want);
        return op_.widens && have != Type::pred && in_register != Type::pred &&
               isa::bits(have) > isa::bits(in_register);
    }

    /// A register that is wider than the operand: its low bits are read, and the result is extended to it.
    isa::Reg fitted(const OperandRule& rule, isa::Reg reg) {
        constexpr int stored_alike = 32;  // what has no more bits has them in the same place
        if (rule.type == nullptr) return reg;
        const Type want = isa::register_type(rule.type(form_));
        const int have = isa::bits(names_.type_of(reg)), wanted = isa::bits(want);
        const bool narrow = have > stored_alike && wanted <= stored_alike;
        if (rule.access == isa::Access::in) return narrow ? names_.converted(reg, Type::u32) : reg;
        const bool is_signed = isa::is_signed(form_.type());
        return narrow || (is_signed && have > wanted) ? names_.extended(reg, want, is_signed) : reg;
    }

    bool fit_list(const OperandRule& rule, std::vector<isa::Reg>& list) {
        for (const isa::Reg reg : list)
            if (!agrees(rule, reg)) return false;
        for (isa::Reg& reg : list) reg = fitted(rule, reg);
        return true;
    }

    /// A register of the other width is converted; without a register an address has 32 bits.
    bool fit_address(const OperandRule& rule, Operand& address) {
        const Type want = rule.type(form_);
        const int wanted = isa::bits(want);
        if (!address.reg) return wanted != 64;
        const int width = isa::bits(names_.type_of(address.reg));
        if ((wanted == 32 && width == 64) || (wanted == 64 && width == 32 && short_addresses(form_)))
            address.reg = names_.converted(address.reg, want);
        else if (!agrees(rule, address.reg))
            return false;
        return true;
    }

    /// A structure may hold a map; of its numbers, the first is one at an address.
    bool is_parameter(const OperandRule& rule, const Operand& param) const {
        if (rule.type(form_) == Type::tensormap) return names_.is_map(param.index);
        return (rule.kinds & OperandRule::address) || !names_.is_structure(param.index);
    }

    const isa::Instruction& op_;
    const Form& form_;
    Names& names_;
};

}  // namespace

bool complete(const isa::Instruction& op, Form& form, std::vector<Operand>& operands, Names& names) {
    if (!fill_in(op, operands, names)) return false;
    if (op.infer != nullptr) op.infer(operands, form);
    try {
        form = isa::resolve(op, form);
    } catch (const ArgumentError&) {
        return false;
    }
    Fitter fitter(op, form, names);
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (!fitter.fit(op.operands[i], operands[i])) return false;
    return true;
}

}  // namespace wgrun::ptx
