#include "emit/lua_call.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "program/step.hpp"

namespace wgrun::emit {
namespace {

using isa::Field;
using isa::Form;
using isa::OperandRule;
using isa::Type;
using Kind = Operand::Kind;

std::string of_integer(std::int64_t value) {
    if (value == INT64_MIN) return "math.mininteger";
    constexpr std::int64_t small = 1 << 16;
    return value > small && value % 10 != 0 ? fmt::format("{:#x}", value) : fmt::format("{}", value);
}

std::string of_real(double value) {
    if (std::isinf(value)) return value < 0 ? "-math.huge" : "math.huge";
    std::string out = fmt::format("{}", value);
    if (out.find_first_of(".en") == std::string::npos) out += ".0";
    return out;
}

/// A builder with what the steps of the program name.
Builder surroundings(const Program& program) {
    Builder out("calls", program.block(), program.cluster(), {});
    for (const RegisterInfo& info : program.registers()) (void)out.reg(info.type);
    // Names of PTX may be none of a script's, and matter nothing here.
    int count = 0;
    const auto name = [&] { return fmt::format("n{}", ++count); };
    for (const Param& param : program.params()) {
        if (param.structure > 0)
            (void)out.structure(name(), param.structure, param.structure_align);
        else if (param.type == Type::tensormap)
            (void)out.tensor_map(name(), param.align());
        else
            (void)out.param(name(), param.type, param.pointee);
    }
    for (const SharedBuffer& buffer : program.shared())
        (void)out.shared(name(), buffer.bytes, buffer.align, {});
    return out;
}

}  // namespace

LuaCalls::LuaCalls(const Program& program, LuaSpelling spelling)
    : spelling_(std::move(spelling)), builder_(surroundings(program)) {}

/// Returns the operand as Lua writes it, and in `given` as the builder reads that.
std::optional<std::string> LuaCalls::written(const Operand& operand, Type type, Operand& given) const {
    given = operand;
    switch (operand.kind) {
        case Kind::reg: return fmt::format("{}{}", operand.negated ? "~" : "", spelling_.reg(operand.reg));
        case Kind::list: return spelling_.list(operand.list);
        case Kind::imm: {
            if (type == Type::pred) {  // -1 and 1 are true
                given = Operand::integer(operand.imm != 0 ? 1 : 0);
                return operand.imm != 0 ? "true" : "false";
            }
            if (type != Type::f32 && type != Type::f64) {
                given = Operand::integer(operand.imm);
                return of_integer(operand.imm);
            }
            const double real =
                type == Type::f32
                    ? static_cast<double>(std::bit_cast<float>(static_cast<std::int32_t>(operand.imm)))
                    : std::bit_cast<double>(operand.imm);
            if (std::isnan(real)) return {};
            given = Operand::number(real);
            return of_real(real);
        }
        case Kind::address:
            if (operand.reg) return spelling_.reg(operand.reg);
            if (operand.index < 0) return {};
            return spelling_.shared(operand.index);
        case Kind::shared: return spelling_.shared(operand.index);
        case Kind::param: return spelling_.param(operand.index);
        case Kind::number:
        case Kind::none: break;
    }
    return {};
}

std::optional<LuaCalls::Arguments> LuaCalls::arguments(const Step& step) const {
    Arguments out;
    for (std::size_t i = 0; i < step.op->operands.size(); ++i) {
        const OperandRule& rule = step.op->operands[i];
        const Operand& operand = step.operands[i];
        const bool address = !rule.by_name && (rule.kinds & OperandRule::address) != 0;
        if (address) {
            out.offsets.push_back(operand.offset);
            out.offset_names.push_back(of_integer(operand.offset));
        }
        if (!address && operand.offset != 0) return {};
        Operand& given = out.operands.emplace_back();
        if (rule.by_name && (operand.kind == Kind::none ||
                             (operand.kind == Kind::imm && rule.fallback && operand.imm == *rule.fallback)))
            continue;
        std::optional<std::string> text =
            written(operand, rule.type != nullptr ? rule.type(step.form) : Type::none, given);
        if (!text) return {};
        if (std::string named = spelling_.number(step, i); !named.empty())
            (address ? out.offset_names[out.offsets.size() - 1] : *text) = std::move(named);
        if (rule.by_name)
            out.options.push_back(fmt::format("{} = {}", rule.name, *text));
        else
            out.positional.push_back(*text);
    }
    if (std::ranges::any_of(out.offsets, [](std::int64_t offset) { return offset != 0; }))
        out.options.push_back(out.offsets.size() == 1
                                  ? fmt::format("offset = {}", out.offset_names[0])
                                  : fmt::format("offset = {{ {} }}", fmt::join(out.offset_names, ", ")));
    return out;
}

/// Returns whether the builder makes this step of these qualifiers and operands.
bool LuaCalls::makes(const Step& step, const Form& asked, const std::vector<Operand>& operands) {
    try {
        const Step made = complete_step(builder_, *step.op, asked, operands);
        if (!(made.form == step.form)) return false;
        for (std::size_t i = 0; i < made.operands.size(); ++i) {
            const Operand &one = made.operands[i], &other = step.operands[i];
            const bool none = other.kind == Kind::none;
            const OperandRule& rule = step.op->operands[i];
            if (none && (one.kind == Kind::none || (rule.fallback && one.imm == *rule.fallback))) continue;
            if (one.kind != other.kind || one.negated != other.negated || one.reg != other.reg ||
                one.list != other.list || one.index != other.index || one.offset != other.offset)
                return false;
            if (one.kind != Kind::imm || one.imm == other.imm) continue;
            // The same bits, whatever their sign.
            const int width = rule.type != nullptr ? isa::bits(rule.type(step.form)) : 64;
            const std::uint64_t mask = width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
            if (((static_cast<std::uint64_t>(one.imm) ^ static_cast<std::uint64_t>(other.imm)) & mask) != 0)
                return false;
        }
        return true;
    } catch (const Error&) {
        return false;
    }
}

std::optional<std::string> LuaCalls::call(const Step& step) {
    const std::string method = isa::method_of(*step.op, step.form);
    if (method.empty()) return {};
    std::optional<Arguments> arguments = this->arguments(step);
    if (!arguments) return {};
    Form asked = isa::parse_method(method).form;
    std::vector<std::string> fields;
    if (!makes(step, asked, arguments->operands)) {
        for (int i = 0; i < isa::field_count; ++i) {
            const auto field = static_cast<Field>(i);
            if (!step.form.has(field) || asked.has(field)) continue;
            const std::string text = isa::spelled(field, step.form.get(field));
            if (text.empty() && step.form.get(field) != 0) continue;
            asked.set(field, step.form.get(field));
            const bool number = isa::parse_value(field, std::to_string(step.form.get(field))) ==
                                std::optional(step.form.get(field));
            fields.push_back(number ? fmt::format("{} = {}", isa::to_string(field), step.form.get(field))
                                    : fmt::format("{} = \"{}\"", isa::to_string(field), text));
        }
        if (!makes(step, asked, arguments->operands)) return {};
    }
    std::ranges::move(arguments->options, std::back_inserter(fields));
    if (step.guard)
        fields.push_back(
            fmt::format("{} = {}", step.guard_negated ? "guard_not" : "guard", spelling_.reg(step.guard)));
    std::vector<std::string>& all = arguments->positional;
    if (!fields.empty()) all.push_back(fmt::format("{{ {} }}", fmt::join(fields, ", ")));
    return fmt::format("{}({})", method, fmt::join(all, ", "));
}

}  // namespace wgrun::emit
