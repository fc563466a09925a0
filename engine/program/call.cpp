#include "wgrun/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "wgrun/nearest.hpp"

namespace wgrun {

using isa::Access;
using isa::Field;
using isa::Instruction;
using isa::OperandRule;

namespace {

bool is_address(const OperandRule& rule) { return !rule.by_name && (rule.kinds & OperandRule::address) != 0; }

/// The types of parameters that are no pointers.
constexpr std::array scalar_types{isa::Type::u8,  isa::Type::s8,  isa::Type::u16, isa::Type::s16,
                                  isa::Type::u32, isa::Type::s32, isa::Type::f32, isa::Type::u64,
                                  isa::Type::s64, isa::Type::f64};

/// The type of a list's registers: that of one of them, or what the form says.
isa::Type type_of_list(const Builder& builder, const Call& call, const OperandRule& rule,
                       const Operand& list) {
    for (const Reg reg : list.list)
        if (reg) return builder.type_of(reg);
    const bool typed = !takes_field(*call.op, Field::type) || call.form.has(Field::type);
    if (typed && rule.type != nullptr) return rule.type(call.form);
    throw ArgumentError(
        fmt::format("{}, operand {}: a list of numbers alone has no type", call.op->name, rule.name),
        "the type in the name, as in k:st_global_v4_f32");
}

}  // namespace

bool takes_field(const Instruction& op, Field field) {
    return std::any_of(op.rows.begin(), op.rows.end(),
                       [&](const isa::Row& row) { return row.find(field) != nullptr; });
}

bool takes_offset(const Instruction& op) { return addresses_of(op) > 0; }

std::vector<std::string_view> instruction_options(const Instruction& op) {
    std::vector<std::string_view> names{"guard", "guard_not"};
    if (takes_offset(op)) names.emplace_back("offset");
    for (int i = 0; i < isa::field_count; ++i)
        if (takes_field(op, static_cast<Field>(i))) names.push_back(isa::to_string(static_cast<Field>(i)));
    for (const OperandRule& rule : op.operands)
        if (rule.by_name) names.push_back(rule.name);
    return names;
}

std::size_t addresses_of(const Instruction& op) {
    return static_cast<std::size_t>(
        std::ranges::count_if(op.operands, [](const OperandRule& rule) { return is_address(rule); }));
}

const OperandRule* named_operand(const Instruction& op, std::string_view name) {
    for (const OperandRule& rule : op.operands)
        if (rule.by_name && rule.name == name) return &rule;
    return nullptr;
}

const Instruction& special_register(int sreg) {
    const Instruction& usual = *isa::find("special");
    const bool has_it = std::ranges::any_of(usual.rows, [&](const isa::Row& row) {
        const isa::Choice* choice = row.find(Field::sreg);
        return choice != nullptr && choice->allows(sreg);
    });
    return has_it ? usual : *isa::find("special.clock");
}

std::string unknown_option(const Instruction& op, std::string_view key) {
    const std::vector<std::string_view> legal = instruction_options(op);
    std::string list;
    for (std::string_view name : legal) list += (list.empty() ? "" : ", ") + std::string(name);
    return "unknown option `" + std::string(key) + "` of " + std::string(op.name) + nearest(key, legal) +
           " (legal: " + list + ")";
}

std::string illegal_qualifier(const Instruction& op, Field field, std::string_view got) {
    std::string legal;
    for (const isa::Row& row : op.rows)
        if (const isa::Choice* choice = row.find(field))
            for (int v : choice->values()) {
                const std::string text = isa::spelled(field, v);
                if (legal.size() < 80 && !text.empty() &&
                    (", " + legal + ",").find(", " + text + ",") == std::string::npos)
                    legal += (legal.empty() ? "" : ", ") + text;
            }
    return fmt::format("{}: option `{}`: {} is not legal (legal: {})", op.name, isa::to_string(field), got,
                       legal);
}

void place_operands(Call& call) {
    const Instruction& op = *call.op;
    std::vector<std::size_t> places, sources;
    std::size_t needed = 0;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        const OperandRule& rule = op.operands[i];
        if (rule.by_name) continue;
        places.push_back(i);
        if (rule.access == Access::out) continue;
        sources.push_back(i);
        if (!rule.fallback) ++needed;
    }
    const std::size_t given = call.positional.size();
    const bool without_destination = given >= needed && given <= sources.size();
    const std::vector<std::size_t>& where = without_destination ? sources : places;
    if (given > where.size() || given < needed) {
        std::string names, by_name;
        for (std::size_t i : places) names += (names.empty() ? "" : ", ") + std::string(op.operands[i].name);
        for (const OperandRule& rule : op.operands)
            if (rule.by_name) by_name += (by_name.empty() ? "" : ", ") + std::string(rule.name) + " =";
        if (given > where.size() && takes_offset(op) && call.positional.back().kind == Operand::Kind::number)
            by_name += by_name.empty() ? "offset =" : ", offset =";
        throw ArgumentError(std::string(op.name) + " takes " + (names.empty() ? "no operands" : names) +
                                (sources.size() < places.size() ? " (the destination may be left out)" : "") +
                                (by_name.empty() ? "" : ", and by name { " + by_name + " }") + "; " +
                                std::to_string(given) + " given",
                            std::string(op.summary));
    }
    for (std::size_t i = 0; i < given; ++i) call.operands[where[i]] = std::move(call.positional[i]);
    std::size_t address = 0;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        if (!is_address(op.operands[i])) continue;
        Operand& operand = call.operands[i];
        const std::int64_t offset = address < call.offsets.size() ? call.offsets[address] : 0;
        ++address;
        // [register + offset] or [buffer + offset]
        if (operand.kind == Operand::Kind::param) operand.offset = offset;
        if (operand.kind != Operand::Kind::reg && operand.kind != Operand::Kind::shared) continue;
        if (operand.kind == Operand::Kind::reg) operand.index = -1;
        operand.kind = Operand::Kind::address;
        operand.offset = offset;
    }
}

void place_numbers(Call& call, Builder& builder, const Instruction& mov) {
    if (call.numbers.empty()) return;
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
        Operand& operand = call.operands[i];
        const OperandRule& rule = call.op->operands[i];
        if (operand.kind != Operand::Kind::list || operand.index < 0) continue;
        auto number = static_cast<std::size_t>(std::exchange(operand.index, -1));
        for (Reg& reg : operand.list) {
            if (reg) continue;
            if (rule.access != Access::in)
                throw ArgumentError(
                    fmt::format("{}, operand {}: a number is no destination", call.op->name, rule.name));
            isa::Form form;
            form.set(Field::type, static_cast<int>(type_of_list(builder, call, rule, operand)));
            reg = builder.add(mov, form, {Operand(), call.numbers[number++]}).operands.front().reg;
        }
    }
}

void check_pointee(const Call& call, const Pointees& pointees) {
    if (!call.form.has(Field::type) || call.form.has(Field::vec)) return;
    const auto type = static_cast<isa::Type>(call.form.get(Field::type));
    if (type != isa::Type::f32 && type != isa::Type::f64) return;
    for (const Operand& operand : call.operands) {
        if (operand.kind != Operand::Kind::address || !operand.reg) continue;
        const auto found = pointees.find(operand.reg.id);
        if (found == pointees.end()) continue;
        const std::string_view elements = to_string(found->second), wanted = isa::to_string(type);
        if (elements == wanted || (found->second == Dtype::tf32 && type == isa::Type::f32)) continue;
        const bool atomic = call.op->atomic, loads = call.op->operands.front().access == Access::out;
        std::string fix;
        if (atomic)
            fix = fmt::format("an address of {} elements", wanted);
        else if (found->second == Dtype::bf16 || found->second == Dtype::f16)
            fix = loads ? fmt::format("k:cvt_f32_{}(k:ld_global_b16(address)) gives the value", elements)
                        : fmt::format("k:st_global_b16(address, k:cvt_rn_{}_f32(x))", elements);
        throw ArgumentError(fmt::format("{}: the address is that of {} elements, and {} are {}",
                                        call.op->name, elements, wanted,
                                        atomic  ? "combined with"
                                        : loads ? "loaded"
                                                : "stored"),
                            fix);
    }
}

ParamType param_type(std::string_view text) {
    ParamType out;
    std::string_view rest = text;
    if (rest.starts_with("const ")) out.constant = true, rest.remove_prefix(6);
    if (rest.ends_with('*')) {
        rest.remove_suffix(1);
        out.pointee = dtype_named(rest);
        return out;
    }
    const auto type = isa::parse_type(rest);
    if (out.constant || !type || std::ranges::find(scalar_types, *type) == scalar_types.end())
        throw ArgumentError("parameter type `" + std::string(text) +
                            "`: expected a pointer such as `const bf16*` or `f32*`, or u32, s32, f32, u64, "
                            "s64, f64, u16, s16, u8, "
                            "s8");
    out.type = *type;
    return out;
}

}  // namespace wgrun
