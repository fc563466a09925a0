#include "emit/lua_asm.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "diag/escape.hpp"
#include "emit/writer.hpp"
#include "isa/opaque.hpp"

namespace wgrun::emit {
namespace {

constexpr const char* no_effects = "\"none\"";
constexpr const char* all_effects = "{ \"reads\", \"writes\", \"barrier\" }";

const char* effects_of(const isa::Instruction& opaque) {
    if (&opaque == &isa::opaque(isa::Reach::registers)) return no_effects;
    if (&opaque == &isa::opaque(isa::Reach::memory)) return "{ \"reads\", \"writes\" }";
    return all_effects;
}

/// The registers of a text that is put together, each with one name.
class AsmNames {
  public:
    std::string operator()(Reg reg, bool written) {
        auto &to = written ? written_ : read_, &others = written ? read_ : written_;
        const auto same = [&](const auto& known) { return known.second == reg; };
        if (const auto known = std::ranges::find_if(to, same); known != to.end())
            return fmt::format("%{}", known->first);
        const auto other = std::ranges::find_if(others, same);
        to.emplace_back(other != others.end() ? other->first : fmt::format("a{}", to.size() + others.size()),
                        reg);
        return fmt::format("%{}", to.back().first);
    }
    void move_to(OpaqueText& text) {
        text.written = written_.size();
        text.registers = std::move(written_);
        std::ranges::move(read_, std::back_inserter(text.registers));
    }

  private:
    std::vector<std::pair<std::string, Reg>> written_, read_;
};

}  // namespace

std::string LuaAsm::text_of(const Step& step, const OpaqueText& text) {
    if (!text.text.starts_with("call")) return call(text, effects_of(*step.op), step);
    const bool library = step.op == &isa::opaque(isa::Reach::memory);
    remarks_.push_back(
        library ? fmt::format("line {}: a call of a function of CUDA is left out", step.where.line)
                : fmt::format("line {}: a call that is not followed is left out, and what it returns: "
                              "the script does not do what the text does",
                              step.where.line));
    return "-- left out: " + escape::comment(text.text.substr(0, text.text.find('\n')));
}

std::string LuaAsm::text_of(const Step& step) {
    OpaqueText text;
    bool whole = true;
    AsmNames name;
    text.text = isa::expand(
        step.op->ptx, step, [&](const Operand& operand, const isa::OperandRule& rule) -> std::string {
            const bool written = rule.access == isa::Access::out;
            const auto index = static_cast<std::size_t>(operand.index);
            switch (operand.kind) {
                case Operand::Kind::reg:
                    return fmt::format("{}{}", operand.negated ? "!" : "", name(operand.reg, written));
                case Operand::Kind::imm:
                    return literal(operand.imm, rule.type ? rule.type(step.form) : isa::Type::u32);
                case Operand::Kind::list: {
                    std::vector<std::string> all;
                    for (const Reg reg : operand.list) all.push_back(name(reg, written));
                    return fmt::format("{{{}}}", fmt::join(all, ", "));
                }
                case Operand::Kind::address:
                    if (operand.reg)
                        return operand.offset == 0
                                   ? name(operand.reg, false)
                                   : fmt::format("{}+{}", name(operand.reg, false), operand.offset);
                    if (operand.index < 0) return fmt::format("{}", operand.offset);
                    [[fallthrough]];
                case Operand::Kind::shared:
                    return fmt::format("{}+{}", shared_name,
                                       program_.shared()[index].offset + operand.offset);
                case Operand::Kind::param: return fmt::format("param_{}+{}", params_[index], operand.offset);
                default: whole = false; return "_";
            }
        });
    if (!whole)
        remarks_.push_back(fmt::format("line {}: {} is not translated", step.where.line, step.op->name));
    name.move_to(text);
    text.text = ended(text.text);
    return call(text, step.op->effects == nullptr ? no_effects : all_effects, step);
}

std::string LuaAsm::call(const OpaqueText& text, const std::string& effects, const Step& step) const {
    std::vector<std::string> parts{escape::lua_string(text.text)};
    std::map<std::string_view, std::string> operands;
    const auto middle = text.registers.begin() + static_cast<std::ptrdiff_t>(text.written);
    for (std::size_t i = 0; i < text.registers.size(); ++i) {
        const auto& [name, reg] = text.registers[i];
        const auto again = [&, &name = name](const auto& other) { return other.first == name; };
        if (i >= text.written && std::any_of(text.registers.begin(), middle, again)) continue;
        const bool both =
            i < text.written && (step.guard || std::any_of(middle, text.registers.end(), again));
        std::string& to = operands[i >= text.written ? "inputs" : both ? "inout" : "out"];
        to += fmt::format("{}{} = {}", to.empty() ? "" : ", ", name, registers_.name(reg));
    }
    for (const auto& [option, list] : operands) parts.push_back(fmt::format("{} = {{ {} }}", option, list));
    parts.push_back("effects = " + effects);
    if (text.text.starts_with(".pragma")) parts.emplace_back("meaning = function() end");
    if (step.guard)
        parts.push_back(
            fmt::format("guard = {}{}", step.guard_negated ? "~" : "", registers_.name(step.guard)));
    return fmt::format("k:asm {{ {} }}", fmt::join(parts, ", "));
}

}  // namespace wgrun::emit
