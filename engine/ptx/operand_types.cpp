#include "ptx/operand_types.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "ptx/nearest_forms.hpp"
#include "ptx/opcode.hpp"

namespace wgrun::ptx {
namespace {

using isa::Form;
using isa::OperandRule;
using isa::Type;

using Wrong = std::optional<std::string>;

/// The types of registers that may stand where an instruction wants `type`.
std::string registers_for(Type type, bool widens) {
    constexpr std::array all{Type::pred, Type::b16, Type::u16, Type::s16, Type::f16, Type::b32, Type::u32,
                             Type::s32,  Type::f32, Type::b64, Type::u64, Type::s64, Type::f64, Type::b128};
    std::vector<std::string> out;
    for (const Type one : all)
        if (isa::agrees(one, type)) out.push_back(fmt::format(".{}", isa::to_string(one)));
    return fmt::format("{}{}", fmt::join(out, ", "), widens ? ", or wider" : "");
}

/// Judges the operands of a statement by those of a record.
class Judge {
  public:
    Judge(const Module& module, Names& names, const Template& text, const Form& form)
        : module_(module), names_(names), op_(*text.op), line_(text.lines.front()), form_(form) {}

    /// Returns the first wrong operand, and which one it is.
    std::optional<std::pair<std::size_t, std::string>> first_wrong(std::uint32_t node) const {
        std::size_t at = 0;
        for (const Pattern& pattern : line_.operands) {
            if (pattern.optional && !announced(pattern)) continue;
            // What stands behind the last operand is counted elsewhere.
            if (node == nothing) return {};
            if (Wrong wrong = of(pattern, module_.nodes[node])) return {{at, std::move(*wrong)}};
            node = module_.nodes[node].next;
            ++at;
        }
        return {};
    }

  private:
    bool announced(const Pattern& pattern) const {
        if (pattern.kind != Pattern::Kind::operand) return false;
        const OperandRule& rule = op_.operands[pattern.index];
        return rule.flag && form_.get(*rule.flag, 0) != 0;
    }

    Wrong of(const Pattern& pattern, const Node& node) const {
        switch (pattern.kind) {
            case Pattern::Kind::address: return address(node);
            case Pattern::Kind::pair: {
                if (node.kind != Node::Kind::pair)
                    return pattern.inside[1].optional ? of(pattern.inside[0], node) : "is no pair, a|b";
                const Node& first = module_.nodes[node.child];
                if (Wrong wrong = of(pattern.inside[0], first)) return wrong;
                return of(pattern.inside[1], module_.nodes[first.next]);
            }
            case Pattern::Kind::operand: return operand(op_.operands[pattern.index], node);
            default: return {};
        }
    }

    /// What the node is, if it is the name of a register.
    Type type_of(const Node& node) const {
        if (node.kind != Node::Kind::name) return Type::none;
        const isa::Operand found = names_.find(module_.at(node.text), node.value);
        return found.kind == isa::Operand::Kind::reg ? names_.type_of(found.reg) : Type::none;
    }

    Wrong address(const Node& node) const {
        if (node.kind != Node::Kind::address)
            return node.kind == Node::Kind::vector || type_of(node) != Type::none
                       ? Wrong("is no address in brackets")
                       : Wrong();
        const Node& first = module_.nodes[node.child];
        if (first.next != nothing) return {};  // ptxas takes any register for the address of a tensor map
        const Type type = type_of(first);
        if (type == Type::pred || isa::is_float(type) || type == Type::b128)
            return fmt::format(
                "has an address in a register of .{} (legal: .b32, .u32, .s32, .b64, .u64, .s64)",
                isa::to_string(type));
        return {};
    }

    Wrong operand(const OperandRule& rule, const Node& node) const {
        constexpr unsigned in_memory = OperandRule::address | OperandRule::param;
        if (rule.type == nullptr || rule.kinds & in_memory) return {};
        const Type wanted = rule.type(form_);
        if (wanted == Type::none) return {};
        const bool is_list = (rule.kinds & OperandRule::list) != 0;
        if (node.kind == Node::Kind::address) return "is an address in brackets";
        if (node.kind == Node::Kind::vector) return is_list ? list(rule, wanted, node) : "is a list";
        const Type type = type_of(node);
        if (type == Type::none) return {};
        if (is_list && rule.count != nullptr && rule.count(form_) > 1)
            return fmt::format("is one register (legal: {} in braces)", rule.count(form_));
        return is_list && !(rule.kinds & OperandRule::reg) ? Wrong() : of_type(type, wanted);
    }

    Wrong list(const OperandRule& rule, Type wanted, const Node& node) const {
        int count = 0;
        for (std::uint32_t at = node.child; at != nothing; at = module_.nodes[at].next, ++count)
            if (const Type type = type_of(module_.nodes[at]); type != Type::none)
                if (Wrong wrong = of_element(type, wanted)) return wrong;
        if (rule.count == nullptr || rule.count(form_) == count) return {};
        return fmt::format("has {} elements (legal: {})", count, rule.count(form_));
    }

    /// ptxas takes registers of any kind in a list whose first one agrees.
    Wrong of_element(Type type, Type wanted) const {
        return isa::bits(type) == isa::bits(isa::register_type(wanted)) ? Wrong() : of_type(type, wanted);
    }

    Wrong of_type(Type type, Type wanted) const {
        constexpr int least = 16;  // what narrower registers may hold is not judged
        if (isa::agrees(type, wanted) || isa::bits(type) < least) return {};
        const Type narrow = isa::register_type(wanted);
        const bool extends = op_.widens && type != Type::pred && narrow != Type::pred &&
                             isa::bits(type) > isa::bits(narrow) && !isa::is_float(type);
        if (extends) return {};
        return fmt::format("is in a register of .{} (legal: {})", isa::to_string(type),
                           registers_for(wanted, op_.widens));
    }

    const Module& module_;
    Names& names_;
    const isa::Instruction& op_;
    const Line& line_;
    const Form& form_;
};

}  // namespace

std::optional<std::string> wrong_operand(const Module& module, Names& names, const Statement& statement,
                                         const std::string& opcode) {
    constexpr std::array<std::string_view, 5> ordinals{"first", "second", "third", "fourth", "fifth"};
    std::optional<std::pair<std::size_t, std::string>> out;
    bool taken = false;
    for (const Template* text : templates(std::string_view(opcode).substr(0, opcode.find('.')))) {
        match(*text, opcode, [&](const Form& read) {
            if (taken || text->lines.size() > 1) return void(taken = true);
            try {
                const Form form = isa::resolve(*text->op, read);
                auto wrong = Judge(module, names, *text, form).first_wrong(statement.operands);
                taken = !wrong;
                if (wrong && (!out || wrong->first > out->first)) out = std::move(wrong);
            } catch (const ArgumentError&) {
                taken = true;  // qualifiers among the operands
            }
        });
    }
    if (taken || !out || out->first >= ordinals.size()) return {};
    return fmt::format("the {} operand of {} {}", ordinals[out->first], module.at(statement.name),
                       out->second);
}

}  // namespace wgrun::ptx
