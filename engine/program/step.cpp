#include "program/step.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "isa/counts.hpp"
#include "isa/pairs.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {
namespace {

using isa::Access;
using isa::Field;
using isa::Form;
using isa::Instruction;
using isa::OperandRule;
using isa::Type;
using Kind = Operand::Kind;

[[noreturn]] void refuse(const Instruction& op, const OperandRule& rule, const std::string& what,
                         std::string fix = {}) {
    ArgumentError error = rules::refusal(
        rules::WG_FORM_02, std::string(op.name) + ", operand " + std::string(rule.name) + ": " + what,
        std::move(fix));
    error.finding().section = op.section;
    throw error;
}

std::string an(Type type) {
    const std::string name(isa::to_string(type));
    return (name[0] == 's' || name[0] == 'f' ? "an " : "a ") + name;
}

bool some_row_allows(const Instruction& op, Field field, Type type) {
    return std::any_of(op.rows.begin(), op.rows.end(), [&](const isa::Row& row) {
        const isa::Choice* choice = row.find(field);
        return choice && choice->allows(static_cast<int>(type));
    });
}

/// Returns the type that an instruction takes for a register of type `declared`: that type, or one of the
/// same width.
std::optional<Type> nearest_type(const Instruction& op, Field field, Type declared) {
    if (some_row_allows(op, field, declared)) return declared;
    constexpr std::array by_preference{Type::b16, Type::b32, Type::b64, Type::s16, Type::s32, Type::s64,
                                       Type::u16, Type::u32, Type::u64, Type::f32, Type::f64, Type::f16};
    for (Type type : by_preference)
        if (isa::agrees(declared, type) && some_row_allows(op, field, type)) return type;
    return std::nullopt;
}

/// Throws for a b16 register, which usually holds a bf16 or f16 element that integer arithmetic would take
/// for an integer. Types are inferred only from bits of 32 and 64, such as addresses and descriptors.
[[noreturn]] void refuse_bits(const Instruction& op, const OperandRule& rule, Field field, Type type) {
    std::string fix = "k:cvt_f32_bf16(x) or k:cvt_f32_f16(x) gives the value of a bf16 or f16 element";
    if (field == Field::type)
        fix += fmt::format("; k:{}_{}(...) treats the bits as an integer", op.name, isa::to_string(type));
    refuse(op, rule, "a b16 register holds bits, which are not converted to a number", fix);
}

/// Sets `type` and `from` according to the registers whose rules depend on them.
void infer_types(const Builder& builder, const Instruction& op, std::span<const Operand> operands,
                 Form& form) {
    for (Field field : {Field::from, Field::type}) {
        if (form.has(field) ||
            !std::any_of(op.rows.begin(), op.rows.end(), [&](const auto& row) { return row.find(field); }))
            continue;
        // A rule depends on this field if its type changes with the field alone.
        Form one, other;
        one.set(field, Type::u32);
        other.set(field, Type::f64);
        // Sources take precedence over destinations: of `setp p, a, b`, only a and b count.
        const OperandRule* unfit = nullptr;
        Type unfit_type = Type::none;
        for (Access access : {Access::in, Access::inout, Access::out}) {
            for (std::size_t i = 0; i < operands.size() && !form.has(field); ++i) {
                const OperandRule& rule = op.operands[i];
                if (rule.access != access || operands[i].kind != Kind::reg || !rule.type) continue;
                if (rule.kinds & OperandRule::address) continue;
                if (rule.type(one) == rule.type(other)) continue;
                const Type declared = builder.type_of(operands[i].reg);
                const auto type = nearest_type(op, field, declared);
                if (type && declared == Type::b16 && *type != Type::b16 && !isa::is_float(*type))
                    refuse_bits(op, rule, field, *type);
                if (type)
                    form.set(field, *type);
                else if (!unfit)
                    unfit = &rule, unfit_type = declared;
            }
        }
        if (unfit && !form.has(field))
            refuse(op, *unfit, "takes no register of type " + std::string(isa::to_string(unfit_type)));
    }
}

/// Returns the type of a register as cvt spells it: bits count as unsigned.
std::string convertible(Type type) {
    if (isa::is_float(type)) return std::string(isa::to_string(type));
    const bool is_signed = type == Type::s16 || type == Type::s32 || type == Type::s64;
    return fmt::format("{}{}", is_signed ? 's' : 'u', isa::bits(type));
}

/// Returns whether k:NAME is an instruction with all of its qualifiers.
bool is_legal(const std::string& name) {
    const isa::Spelling spelling = isa::parse_method(name);
    if (spelling.op == nullptr) return false;
    try {
        isa::resolve(*spelling.op, spelling.form);
        return true;
    } catch (const Error&) {
        return false;
    }
}

/// Describes how to turn a register of type `have` into one of type `want`; empty: unknown.
std::string conversion(Type have, Type want) {
    if (have == Type::pred) return "k:selp(1, 0, p) makes a number of a predicate";
    if (want == Type::pred) return "r:ne(0), r:lt(n) and the like give predicates";
    if (isa::bits(have) < 16 || isa::bits(want) < 16) return {};
    if (have == Type::b16 && want == Type::f32)
        return "k:cvt_f32_bf16(x) or k:cvt_f32_f16(x) gives the value of a bf16 or f16 element";
    if (have == Type::f32 && want == Type::b16)
        return "k:cvt_rn_bf16_f32(x) or k:cvt_rn_f16_f32(x) gives the bits of the rounded value";
    const bool from_float = isa::is_float(have), to_float = isa::is_float(want);
    const bool widens = from_float && to_float && isa::bits(have) < isa::bits(want);
    const std::string_view round = from_float && !to_float ? "rzi_" : to_float && !widens ? "rn_" : "";
    const auto call = [&](std::string_view rounding, Type to, Type from) {
        return fmt::format("cvt_{}{}_{}", rounding, convertible(to), convertible(from));
    };
    if (is_legal(call(round, want, have)))
        return fmt::format("k:{}(x) converts the value", call(round, want, have));
    // Integers of 16 bits are converted to and from floats through 32 bits.
    const Type between = from_float ? Type::s32 : Type::u32;
    const std::string first = call(from_float ? round : "", between, have);
    const std::string second = call(to_float ? round : "", want, between);
    if (!is_legal(first) || !is_legal(second)) return {};
    return fmt::format("k:{}(k:{}(x)) converts the value", second, first);
}

void check_register(const Builder& builder, const Instruction& op, const OperandRule& rule, Reg reg,
                    Type wanted) {
    const Type declared = builder.type_of(reg);
    const bool destination = rule.access == Access::out && &rule == op.operands.data();
    if (!isa::agrees(declared, wanted))
        refuse(op, rule,
               "register of type " + std::string(isa::to_string(declared)) + " where " +
                   an(isa::register_type(wanted)) + " register is expected",
               destination ? "the destination comes first, or is left out: the result is then a new register"
                           : conversion(declared, isa::register_type(wanted)));
}

std::string kinds_text(unsigned kinds) {
    constexpr std::array<std::string_view, 6> names{"a register", "a list of registers", "a number",
                                                    "an address", "a parameter",         "a shared buffer"};
    std::string out;
    for (std::size_t i = 0; i < names.size(); ++i)
        if (kinds >> i & 1U) out += (out.empty() ? "" : " or ") + std::string(names[i]);
    return out;
}

unsigned kind_bit(Kind kind) {
    switch (kind) {
        case Kind::reg: return OperandRule::reg;
        case Kind::list: return OperandRule::list;
        case Kind::imm: return OperandRule::imm;
        case Kind::address: return OperandRule::address;
        case Kind::param: return OperandRule::param;
        case Kind::shared: return OperandRule::shared;
        case Kind::number: return OperandRule::imm;
        case Kind::none: break;
    }
    return 0;
}

/// Converts a literal to the bits of `type`.
void settle_number(const Instruction& op, const OperandRule& rule, Operand& operand, Type type) {
    const double real = operand.real;
    if (type == Type::f32) {
        if (std::isfinite(real) && std::abs(real) > std::numeric_limits<float>::max())
            refuse(op, rule, fmt::format("{} does not fit f32", real));
        operand = Operand::immediate(std::bit_cast<std::int32_t>(static_cast<float>(real)));
    } else if (type == Type::f64) {
        operand = Operand::immediate(std::bit_cast<std::int64_t>(real));
    } else if (isa::is_float(type)) {
        refuse(op, rule,
               "PTX has no " + std::string(isa::to_string(type)) +
                   " literals; convert an f32 register with cvt");
    } else if (isa::is_pair(type)) {
        refuse(op, rule,
               "PTX has no " + std::string(isa::to_string(type)) +
                   " literals; pack two numbers of 16 bits into a register with mov");
    } else if (static_cast<double>(operand.imm) == real) {
        operand = Operand::immediate(operand.imm);
    } else if (real != std::trunc(real) || std::abs(real) >= 0x1p63) {
        refuse(op, rule,
               "an integer of type " + std::string(isa::to_string(type)) + " is expected, not " +
                   fmt::format("{}", real));
    } else {
        operand = Operand::immediate(static_cast<std::int64_t>(real));
    }
}

void check_immediate(const Instruction& op, const OperandRule& rule, const Operand& operand, Type type) {
    if (rule.imm_range) {
        const isa::Range& range = *rule.imm_range;
        if (operand.imm < range.lo || operand.imm > range.hi || (operand.imm - range.lo) % range.step != 0) {
            std::string legal = std::to_string(range.lo) + " to " + std::to_string(range.hi);
            if (range.hi == INT32_MAX) legal = std::to_string(range.lo) + " or more";
            if (range.step > 1) legal += " in steps of " + std::to_string(range.step);
            refuse(op, rule, std::to_string(operand.imm) + " is out of range (legal: " + legal + ")");
        }
        return;
    }
    if (isa::is_float(type) || isa::bits(type) >= 64) return;
    const int width = isa::bits(type);
    const std::int64_t least = type == Type::pred ? 0 : -(std::int64_t{1} << (width - 1));
    if (operand.imm < least || operand.imm >= std::int64_t{1} << width)
        refuse(op, rule, std::to_string(operand.imm) + " does not fit " + std::string(isa::to_string(type)));
}

/// Checks an address: a register of the space's width, or a shared buffer in a shared space, plus a 32-bit
/// offset in bytes.
void check_address(const Builder& builder, const Instruction& op, const OperandRule& rule,
                   const Operand& operand, Type type) {
    if (operand.reg)
        check_register(builder, op, rule, operand.reg, type);
    else if (isa::bits(type) == 64)
        refuse(op, rule, "a shared buffer is no address in global memory; use the shared space");
    if (operand.offset < INT32_MIN || operand.offset > INT32_MAX)
        refuse(op, rule, "offset " + std::to_string(operand.offset) + " does not fit 32 bits");
}

/// Checks the address of a shared buffer used as a value.
void check_shared(const Instruction& op, const OperandRule& rule, Type type) {
    if (isa::is_float(type) || isa::bits(type) < 32)
        refuse(op, rule,
               "the address of a shared buffer is an integer of 32 or 64 bits, not " +
                   std::string(isa::to_string(type)));
}

/// Returns the bytes that a load gives, by its destination.
std::int64_t loaded_bytes(const Instruction& op, const Form& form) {
    const OperandRule& to = op.operands.front();
    return std::int64_t{isa::bits(to.type(form))} / 8 * (to.count ? to.count(form) : 1);
}

void check_param(const Builder& builder, const Instruction& op, const OperandRule& rule, const Form& form,
                 const Operand& operand, Type type) {
    const Param& param = builder.param_info(operand.index);
    // What takes its address takes any.
    if (rule.type == nullptr) return;
    if (rule.kinds & OperandRule::address) {
        const std::int64_t bytes = loaded_bytes(op, form);
        if (operand.offset < 0 || operand.offset > param.bytes() - bytes)
            refuse(op, rule,
                   fmt::format("{} at offset {} do not lie in parameter `{}`, which has {}",
                               count_of(bytes, "byte"), operand.offset, param.name, param.bytes()));
        return;
    }
    if (param.type != type && !isa::agrees(isa::register_type(param.type), type))
        refuse(op, rule,
               "parameter `" + param.name + "` is of type " + std::string(isa::to_string(param.type)) +
                   ", not " + std::string(isa::to_string(type)));
}

std::string several(int count) { return std::to_string(count) + " registers are"; }

/// Returns the declared type of a destination that is not given: bits computed from an integer stay an
/// integer, so that `(tid & 31):lt(8)` needs no conversion.
Type destination_type(const Builder& builder, std::span<const Operand> operands, Type type) {
    if (type != Type::b16 && type != Type::b32 && type != Type::b64) return type;
    for (const Operand& operand : operands) {
        if (operand.kind != Kind::reg) continue;
        const Type declared = builder.type_of(operand.reg);
        return isa::agrees(declared, type) && !isa::is_float(declared) ? declared : type;
    }
    return type;
}

void check_length(const Instruction& op, const OperandRule& rule, const Form& form, const Operand& operand) {
    const int count = rule.count ? rule.count(form) : 1;
    if (static_cast<int>(operand.list.size()) == count) return;
    const bool takes_list = count > 1 || !(rule.kinds & OperandRule::reg);
    refuse(op, rule,
           (takes_list ? several(count) : "one register is") + " expected, not " +
               std::to_string(operand.list.size()) + isa::why_count(rule, form));
}

/// A number in a new register, where the instruction takes no immediate.
Reg in_register(Builder& builder, Type type, const Operand& number) {
    Form form;
    form.set(Field::type, static_cast<int>(type));
    const Reg out = builder.reg(type);
    builder.add(*isa::find("mov"), form, {Operand::of(out), number});
    return out;
}

void complete_operand(Builder& builder, const Instruction& op, const OperandRule& rule, const Form& form,
                      std::span<const Operand> operands, Operand& operand) {
    const Type type = rule.type ? rule.type(form) : Type::none;
    const int count = rule.count ? rule.count(form) : 1;
    const bool takes_list =
        (rule.kinds & OperandRule::list) && (count > 1 || !(rule.kinds & OperandRule::reg));
    if (operand.kind == Kind::none) {
        if (rule.access == Access::out && rule.by_name) return;  // an unwanted result
        if (rule.access == Access::out)
            operand = takes_list ? Operand::of(builder.regs(type, count))
                                 : Operand::of(builder.reg(destination_type(builder, operands, type)));
        else if (rule.fallback)
            operand = Operand::immediate(*rule.fallback);
        else
            refuse(op, rule, "is missing");
        return;
    }
    const unsigned kinds = takes_list ? unsigned{OperandRule::list} : rule.kinds;
    const bool is_number = operand.kind == Kind::imm || operand.kind == Kind::number;
    if (is_number && rule.access == Access::in && kinds == OperandRule::reg && type != Type::none &&
        type != Type::pred)
        operand = Operand::of(in_register(builder, isa::register_type(type), operand));
    if (!(kinds & kind_bit(operand.kind))) {
        const std::string expected = takes_list ? several(count) : kinds_text(kinds) + " is";
        refuse(op, rule,
               expected + " expected, not " + kinds_text(kind_bit(operand.kind)) +
                   (takes_list ? isa::why_count(rule, form) : ""),
               operand.kind != Kind::shared ? ""
               : op.collective              ? "k:descriptor(buffer) is the descriptor of the buffer's tile"
                                            : "k:address(buffer) is its address in a register");
    }
    if (operand.kind == Kind::number) settle_number(op, rule, operand, type);
    switch (operand.kind) {
        case Kind::reg:
            check_register(builder, op, rule, operand.reg, type);
            if (operand.negated && rule.access != Access::in)
                refuse(op, rule, "a destination cannot be a negated predicate");
            break;
        case Kind::list:
            check_length(op, rule, form, operand);
            for (Reg reg : operand.list) check_register(builder, op, rule, reg, type);
            if (!takes_list) operand = Operand::of(operand.list.front());
            break;
        case Kind::address: check_address(builder, op, rule, operand, type); break;
        case Kind::imm: check_immediate(op, rule, operand, type); break;
        case Kind::shared: check_shared(op, rule, type); break;
        case Kind::param: check_param(builder, op, rule, form, operand, type); break;
        default: break;
    }
}

/// Registers that an instruction writes as a list must be distinct: otherwise the ISA leaves the result
/// undefined.
void check_distinct(const Instruction& op, const OperandRule& rule, const Operand& operand) {
    if (rule.access == Access::in || operand.kind != Kind::list) return;
    std::vector<std::uint32_t> ids;
    for (Reg reg : operand.list) ids.push_back(reg.id);
    std::sort(ids.begin(), ids.end());
    if (std::adjacent_find(ids.begin(), ids.end()) != ids.end())
        refuse(op, rule, "a register stands in the list twice");
}

/// Sets the flags of the operands that are given; a number equal to the fallback counts as not given.
void infer_flags(const Instruction& op, std::span<const Operand> operands, Form& form) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const OperandRule& rule = op.operands[i];
        const bool left_out =
            operands[i].kind == Kind::none || (operands[i].kind == Kind::number && rule.fallback &&
                                               operands[i].real == static_cast<double>(*rule.fallback));
        if (rule.flag && (!left_out || form.has(*rule.flag))) form.set(*rule.flag, left_out ? 0 : 1);
    }
}

}  // namespace

void check_extent(const Instruction& op, const OperandRule& rule, const Form& form, const Operand& operand) {
    if (operand.kind == Kind::list) check_length(op, rule, form, operand);
    if (operand.kind == Kind::imm && rule.imm_range)
        check_immediate(op, rule, operand, rule.type ? rule.type(form) : Type::none);
}

Step complete_step(Builder& builder, const Instruction& op, Form asked, std::vector<Operand> operands) {
    operands.resize(op.operands.size());
    if (op.infer) op.infer(operands, asked);
    infer_flags(op, operands, asked);
    infer_types(builder, op, operands, asked);
    Step step;
    step.op = &op;
    step.form = isa::resolve(op, asked);
    for (std::size_t i = 0; i < operands.size(); ++i) {
        complete_operand(builder, op, op.operands[i], step.form, operands, operands[i]);
        check_distinct(op, op.operands[i], operands[i]);
    }
    step.operands = std::move(operands);
    return step;
}

}  // namespace wgrun
