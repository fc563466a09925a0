#include "ptx/operand_binding.hpp"

#include <bit>
#include <optional>

#include "isa/foreign.hpp"

namespace wgrun::ptx {
namespace {

using isa::Field;
using isa::Form;
using isa::Operand;
using isa::OperandRule;
using isa::Type;

/// Binds the nodes of a statement to the operands of a record.
class Binder {
  public:
    Binder(const Module& module, Names& names, bool loose, Reading& out)
        : module_(module),
          names_(names),
          op_(*out.op),
          form_(out.form),
          bound_(out.operands),
          results_(out.results),
          loose_(loose) {}

    /// Binds the operands of a line. `accept` decides at its end; if it refuses, other ways to bind what is
    /// optional are tried.
    bool bind(const Line& line, std::uint32_t first, const std::function<bool()>& accept) {
        accept_ = &accept;
        return bind(line.operands, 0, first, true);
    }

  private:
    /// Binds the patterns from `at` on to `node` and those after it.
    bool bind(const std::vector<Pattern>& patterns, std::size_t at, std::uint32_t node, bool whole = false) {
        if (at == patterns.size())
            return (node == nothing || (whole && is_hint(node))) && (!whole || (*accept_)());
        const Pattern& pattern = patterns[at];
        if (node != nothing && wanted(pattern)) {
            // What a pattern binds is undone where the rest does not fit without it.
            std::vector<Operand> bound;
            if (pattern.optional) bound = bound_;
            const Form form = form_;
            if (one(pattern, node) && bind(patterns, at + 1, module_.nodes[node].next, whole)) return true;
            if (!pattern.optional) return false;
            bound_ = std::move(bound);
            form_ = form;
        }
        return pattern.optional && bind(patterns, at + 1, node, whole);
    }

    /// An optional operand that a flag of the opcode announces is there exactly if the flag is.
    bool wanted(const Pattern& pattern) const {
        if (!pattern.optional || pattern.kind != Pattern::Kind::operand) return true;
        const OperandRule& rule = op_.operands[pattern.index];
        return !rule.flag || form_.get(*rule.flag, 0) != 0;
    }

    bool one(const Pattern& pattern, std::uint32_t index) {
        const Node& node = module_.nodes[index];
        switch (pattern.kind) {
            case Pattern::Kind::sink: return node.kind == Node::Kind::sink || keeps(node);
            case Pattern::Kind::number:
                return node.kind == Node::Kind::integer && node.value == pattern.number;
            case Pattern::Kind::field: {
                if (node.kind != Node::Kind::integer || node.value < INT32_MIN || node.value > INT32_MAX)
                    return false;
                form_.set(pattern.field, static_cast<int>(node.value));
                return true;
            }
            case Pattern::Kind::special: {
                const std::string_view name = module_.at(node.text);
                if (node.kind != Node::Kind::name || node.value != 0 || !name.starts_with('%')) return false;
                const auto value = isa::parse_value(Field::sreg, name.substr(1));
                if (!value) return false;
                form_.set(Field::sreg, *value);
                return true;
            }
            case Pattern::Kind::address:
                return node.kind == Node::Kind::address && bind(pattern.inside, 0, node.child);
            case Pattern::Kind::pair: {
                if (node.kind != Node::Kind::pair)
                    return pattern.inside[1].optional && one(pattern.inside[0], index);
                const std::uint32_t second = module_.nodes[node.child].next;
                return one(pattern.inside[0], node.child) && one(pattern.inside[1], second);
            }
            case Pattern::Kind::operand: return operand(pattern.index, node);
            case Pattern::Kind::local: {
                if (node.kind != Node::Kind::name || node.negated) return false;
                Operand found = names_.find(module_.at(node.text), node.value);
                if (found.kind != Operand::Kind::imm) return false;
                bound_[pattern.index] = std::move(found);
                return true;
            }
        }
        return false;
    }

    /// Returns whether the node is a result that the record throws away.
    bool keeps(const Node& node) {
        if (!loose_ || node.kind != Node::Kind::name || node.negated || node.value != 0) return false;
        const Operand found = names_.find(module_.at(node.text), 0);
        if (found.kind != Operand::Kind::reg) return false;
        results_.push_back(found.reg);
        return true;
    }

    /// Returns whether the node is a last operand that changes nothing but time: of a step that may wait, how
    /// long it suspends the thread (PTX ISA 9.7.13.15.16).
    bool is_hint(std::uint32_t node) const {
        return loose_ && op_.awaits == isa::Awaits::mbarrier && module_.nodes[node].next == nothing &&
               (module_.nodes[node].kind == Node::Kind::integer ||
                module_.nodes[node].kind == Node::Kind::name);
    }

    bool operand(std::size_t index, const Node& node) {
        const OperandRule& rule = op_.operands[index];
        // A result that nobody wants, and that the record can do without.
        if (node.kind == Node::Kind::sink && rule.access == isa::Access::out && rule.by_name) return true;
        std::optional<Operand> read = of(rule, node);
        if (!read) return false;
        Operand& bound = bound_[index];
        if (bound.kind != Operand::Kind::none)  // it stands in the text twice
            return bound.kind == read->kind && bound.reg == read->reg && bound.imm == read->imm;
        bound = std::move(*read);
        return true;
    }

    std::optional<Operand> of(const OperandRule& rule, const Node& node) {
        switch (node.kind) {
            case Node::Kind::integer:
                if (rule.kinds & OperandRule::imm) return Operand::immediate(node.value);
                if (rule.kinds & OperandRule::address) return Operand::address({}, node.value);
                return in_register(rule, node.value);
            case Node::Kind::f32:
                if (!(rule.kinds & OperandRule::imm)) return {};
                return Operand::immediate(static_cast<std::int32_t>(node.value));
            case Node::Kind::f64: {
                if (!(rule.kinds & OperandRule::imm)) return {};
                const double real = std::bit_cast<double>(node.value);
                if (rule.type != nullptr && rule.type(form_) == Type::f32)
                    return Operand::immediate(std::bit_cast<std::int32_t>(static_cast<float>(real)));
                return Operand::immediate(node.value);
            }
            case Node::Kind::vector: return list(rule, node);
            case Node::Kind::name: return named(rule, node);
            case Node::Kind::sink:
                if (rule.access != isa::Access::out || rule.type == nullptr) return {};
                if (!(rule.kinds & OperandRule::reg)) return {};
                return Operand::of(names_.unused(isa::register_type(rule.type(form_))));
            default: return {};
        }
    }

    /// A number where the record takes a register alone.
    std::optional<Operand> in_register(const OperandRule& rule, std::int64_t value) {
        if (!loose_ || rule.access != isa::Access::in || rule.type == nullptr) return {};
        const Type type = isa::register_type(rule.type(form_));
        if (!(rule.kinds & OperandRule::reg) || type == Type::pred || type == Type::none) return {};
        return Operand::of(names_.constant(value, type));
    }

    std::optional<Operand> list(const OperandRule& rule, const Node& node) {
        if (!(rule.kinds & OperandRule::list)) return {};
        std::vector<isa::Reg> regs;
        for (std::uint32_t at = node.child; at != nothing; at = module_.nodes[at].next) {
            const Node& element = module_.nodes[at];
            const bool number = element.kind == Node::Kind::integer || element.kind == Node::Kind::f32;
            if (number && rule.access == isa::Access::in && rule.type != nullptr) {
                regs.push_back(names_.constant(element.value, isa::register_type(rule.type(form_))));
                continue;
            }
            if (element.kind == Node::Kind::sink && rule.access == isa::Access::out && rule.type != nullptr) {
                regs.push_back(names_.unused(isa::register_type(rule.type(form_))));
                continue;
            }
            if (element.kind != Node::Kind::name || element.negated) return {};
            const Operand found = names_.find(module_.at(element.text), element.value);
            if (found.kind != Operand::Kind::reg || element.value != 0) return {};
            regs.push_back(found.reg);
        }
        return Operand::of(std::move(regs));
    }

    /// A special register in place of another one, where PTX takes it: cvt.u64.u32 %rd1, %tid.x.
    std::optional<Operand> special(const OperandRule& rule, const Node& node) {
        const std::string_view name = module_.at(node.text);
        if (!loose_ || !name.starts_with('%') || node.value != 0 || rule.access != isa::Access::in) return {};
        const auto value = isa::parse_value(Field::sreg, name.substr(1));
        if (!value || !(rule.kinds & OperandRule::reg)) return {};
        const isa::Reg reg = names_.special(*value);
        return reg ? std::optional(Operand::of(reg)) : std::nullopt;
    }

    /// The address of a variable, where the record takes a register or another kind of address.
    std::optional<Operand> placed(const OperandRule& rule, const Operand& place) {
        if (!loose_ || rule.access != isa::Access::in || rule.type == nullptr) return {};
        const Type wanted = isa::register_type(rule.type(form_));
        if (wanted != Type::u32 && wanted != Type::u64 && wanted != Type::b32 && wanted != Type::b64)
            return {};
        if (place.kind == Operand::Kind::imm && isa::bits(wanted) != 64) return {};
        if (!(rule.kinds & (OperandRule::reg | OperandRule::address))) return {};
        const isa::Reg reg = names_.placed(place, wanted);
        return rule.kinds & OperandRule::address ? Operand::address(reg, 0) : Operand::of(reg);
    }

    std::optional<Operand> named(const OperandRule& rule, const Node& node) {
        Operand found = names_.find(module_.at(node.text), node.value);
        if (node.negated && found.kind != Operand::Kind::reg) return {};
        switch (found.kind) {
            case Operand::Kind::reg:
                if (rule.kinds & OperandRule::address && !node.negated)
                    return Operand::address(found.reg, node.value);
                if (!(rule.kinds & OperandRule::reg) || node.value != 0) return {};
                found.negated = node.negated;
                return found;
            case Operand::Kind::param:
                if (!(rule.kinds & OperandRule::param)) return {};
                // [param+8] is an address in the parameter space.
                if (!(rule.kinds & OperandRule::address) && found.offset != 0) return {};
                return found;
            case Operand::Kind::shared:
                if (rule.kinds & OperandRule::address) {
                    Operand address = Operand::address({}, found.offset);
                    address.index = found.index;
                    return address;
                }
                if (rule.kinds & OperandRule::shared) return found;
                return placed(rule, found);
            case Operand::Kind::imm: return placed(rule, found);
            case Operand::Kind::address:
                if (rule.kinds & OperandRule::address) return found;
                if (rule.kinds & OperandRule::reg) return Operand::of(found.reg);
                return {};
            default: break;
        }
        if (node.negated) return {};
        if (node.value == 0 && rule.kinds & OperandRule::list)
            if (std::vector<isa::Reg> vector = names_.components(module_.at(node.text)); !vector.empty())
                return Operand::of(std::move(vector));
        return special(rule, node);
    }

    const Module& module_;
    Names& names_;
    const isa::Instruction& op_;
    Form& form_;
    std::vector<Operand>& bound_;
    std::vector<isa::Reg>& results_;
    bool loose_;
    const std::function<bool()>* accept_ = nullptr;
};

}  // namespace

bool bind_operands(const Module& module, Names& names, bool loose, const Line& line, std::uint32_t first,
                   const std::function<bool()>& accept, Reading& out) {
    return Binder(module, names, loose, out).bind(line, first, accept);
}

}  // namespace wgrun::ptx
