#include "ptx/read.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>

#include "isa/foreign.hpp"

namespace wgrun::ptx {
namespace {

using isa::Field;
using isa::Form;
using isa::Operand;
using isa::OperandRule;
using isa::Step;
using isa::Type;

// --- opcodes -------------------------------------------------------------------------------------------

/// Calls found(form) for each way in which the opcode fits the parts from `part` on.
template <class Found>
void match_opcode(const Template& text, const std::vector<OpcodePart>& parts, std::size_t part,
                  std::string_view rest, const Form& form, const Found& found) {
    if (part == parts.size()) {
        if (rest.empty()) found(form);
        return;
    }
    const OpcodePart& here = parts[part];
    if (!here.text.empty()) {
        if (rest.starts_with(here.text))
            match_opcode(text, parts, part + 1, rest.substr(here.text.size()), form, found);
        return;
    }
    const auto& spellings = text.spellings[static_cast<std::size_t>(here.field)];
    if (!here.dotted || rest.starts_with('.')) {
        const std::string_view word = rest.substr(here.dotted ? 1 : 0);
        for (const Spelling& spelling : spellings) {
            if (!word.starts_with(spelling.text)) continue;
            const std::string_view after = word.substr(spelling.text.size());
            const bool ends = after.empty() || after[0] == '.' || !here.dotted;
            // A number is not cut in two.
            const bool cut = !here.dotted && !after.empty() && after[0] >= '0' && after[0] <= '9';
            if (!ends || cut || form.get(here.field, spelling.value) != spelling.value) continue;
            match_opcode(text, parts, part + 1, after, Form(form).set(here.field, spelling.value), found);
        }
    }
    if (here.dotted) match_opcode(text, parts, part + 1, rest, form, found);
}

/// Splits an opcode at its dots: "L2::cache_hint" is one word.
std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('.'), text.size());
        if (end > 0) out.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

/// Compares opcodes whose qualifiers stand in another order than the record's: assemblers take any. Those
/// that the record spells out, and those of the same field, such as the types of cvt, stay in order.
class AnyOrder {
  public:
    AnyOrder(const Template& text, std::string_view opcode) : text_(text), words_(words_of(opcode)) {
        used_.resize(words_.size());
    }

    /// Calls found(form) for each way in which all words of the opcode fit.
    template <class Found>
    void match(const Found& found) {
        constexpr std::size_t most_words = 16;
        if (words_.size() <= most_words) part(0, 0, Form(), found);
    }

  private:
    template <class Found>
    void part(std::size_t at, std::size_t literal, const Form& form, const Found& found) {
        constexpr int most_steps = 20'000;
        if (++steps_ > most_steps) return;
        const std::vector<OpcodePart>& parts = text_.lines.front().opcode;
        if (at == parts.size()) {
            if (std::ranges::find(used_, false) == used_.end()) found(form);
            return;
        }
        const OpcodePart& here = parts[at];
        if (!here.text.empty()) {
            take(words_of(here.text), literal, true,
                 [&](std::size_t end) { part(at + 1, end, form, found); });
            return;
        }
        // A place inside a word, as in m64n{n}k16: such opcodes have one order.
        if (!here.dotted) return;
        for (const Spelling& spelling : text_.spellings[static_cast<std::size_t>(here.field)])
            if (form.get(here.field, spelling.value) == spelling.value)
                take(words_of(spelling.text), 0, false, [&](std::size_t) {
                    part(at + 1, literal, Form(form).set(here.field, spelling.value), found);
                });
        part(at + 1, literal, form, found);
    }

    /// Takes the first of the words that are left which are these, from `begin` on, and calls then(end of
    /// them). ordered: one after the other.
    template <class Then>
    void take(const std::vector<std::string_view>& wanted, std::size_t begin, bool ordered,
              const Then& then) {
        std::vector<std::size_t> taken;
        for (const std::string_view word : wanted) {
            std::size_t at = begin;
            while (at < words_.size() && (used_[at] || words_[at] != word)) ++at;
            if (at == words_.size()) break;
            used_[at] = true;
            taken.push_back(at);
            if (ordered) begin = at + 1;
        }
        if (taken.size() == wanted.size()) then(begin);
        for (const std::size_t i : taken) used_[i] = false;
    }

    const Template& text_;
    std::vector<std::string_view> words_;
    std::vector<bool> used_;
    int steps_ = 0;
};

// --- operands ------------------------------------------------------------------------------------------

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
            const auto bound = pattern.optional ? std::optional(bound_) : std::nullopt;
            const Form form = form_;
            if (one(pattern, node) && bind(patterns, at + 1, module_.nodes[node].next, whole)) return true;
            if (!pattern.optional) return false;
            bound_ = *bound;
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
        std::optional<Operand> read = of(op_.operands[index], node);
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
                return {};
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
            default: return node.negated ? std::nullopt : special(rule, node);
        }
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

/// Returns whether addresses of the space may have 32 bits.
bool short_addresses(const Form& form) {
    if (!form.has(Field::space)) return false;
    const auto space = static_cast<isa::Space>(form.get(Field::space));
    return space != isa::Space::global && space != isa::Space::generic;
}

/// Completes what the text leaves out, and checks that the operands are of the kinds and types that the
/// record takes. Returns whether they are.
bool complete(const isa::Instruction& op, Form& form, std::vector<Operand>& operands, Names& names) {
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
    if (op.infer != nullptr) op.infer(operands, form);
    try {
        form = isa::resolve(op, form);
    } catch (const ArgumentError&) {
        return false;
    }
    const auto agrees = [&](const OperandRule& rule, isa::Reg reg) {
        if (rule.type == nullptr) return true;
        const Type have = names.type_of(reg), want = rule.type(form);
        if (isa::agrees(have, want)) return true;
        const Type in_register = isa::register_type(want);
        return op.widens && have != Type::pred && in_register != Type::pred &&
               isa::bits(have) > isa::bits(in_register);
    };
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const OperandRule& rule = op.operands[i];
        Operand& operand = operands[i];
        const int count = rule.count != nullptr ? rule.count(form) : 1;
        const bool takes_list =
            (rule.kinds & OperandRule::list) != 0 && (count > 1 || !(rule.kinds & OperandRule::reg));
        if (operand.kind == Operand::Kind::list) {
            if (static_cast<int>(operand.list.size()) != count) return false;
            for (const isa::Reg reg : operand.list)
                if (!agrees(rule, reg)) return false;
            if (!takes_list) operand = Operand::of(operand.list.front());
        } else if (operand.kind == Operand::Kind::reg) {
            if (takes_list || !agrees(rule, operand.reg)) return false;
        } else if (operand.kind == Operand::Kind::address) {
            const bool typed = operand.reg && rule.type != nullptr;
            const int wanted = typed ? isa::bits(rule.type(form)) : 0;
            const int width = typed ? isa::bits(names.type_of(operand.reg)) : 0;
            if ((wanted == 32 && width == 64) || (wanted == 64 && width == 32 && short_addresses(form)))
                operand.reg = names.converted(operand.reg, rule.type(form));
            else if (typed && !agrees(rule, operand.reg))
                return false;
            if (!operand.reg && rule.type != nullptr && isa::bits(rule.type(form)) == 64) return false;
        } else if (operand.kind == Operand::Kind::imm && takes_list) {
            return false;
        }
    }
    return true;
}

}  // namespace

/// The templates that fit the opcode. They are the same wherever it stands, so each opcode is compared once.
const std::vector<Reader::Candidate>& Reader::candidates(const Statement& statement) {
    const std::string_view written = module_.at(statement.name);
    const auto known = seen_.find(written);
    if (known != seen_.end()) return known->second;
    std::vector<Candidate>& out = seen_[written];
    const std::string exact = module_.opcode(statement), usual = usual_spelling(exact);
    for (const std::string* opcode : {&exact, &usual}) {
        if (opcode == &usual && usual == exact) break;
        for (const Template* text : templates(std::string_view(*opcode).substr(0, opcode->find('.'))))
            match_opcode(*text, text->lines.front().opcode, 0, *opcode, Form(), [&](const Form& form) {
                out.push_back({text, form});
            });
    }
    if (!out.empty()) return out;
    for (const Template* text : templates(std::string_view(usual).substr(0, usual.find('.'))))
        AnyOrder(*text, usual).match([&](const Form& form) { out.push_back({text, form}); });
    return out;
}

bool Reader::fits(const Candidate& candidate, std::uint32_t statement, std::uint32_t last, Names& names,
                  bool loose, Reading& out) {
    const Template& text = *candidate.text;
    out.op = text.op;
    out.form = candidate.form;
    out.operands.assign(text.op->operands.size(), {});
    out.results.clear();
    out.statements = static_cast<std::uint32_t>(text.lines.size());
    if (last - statement < out.statements) return false;
    Binder binder(module_, names, loose, out);
    for (std::uint32_t i = 0; i < out.statements; ++i) {
        const Statement& here = module_.statements[statement + i];
        const Line& line = text.lines[i];
        if (i > 0) {
            const Statement& first = module_.statements[statement];
            if (here.kind != Statement::Kind::instruction ||
                module_.at(here.guard) != module_.at(first.guard) ||
                here.guard_negated != first.guard_negated)
                return false;
            bool same = false;
            const Form before = out.form;
            match_opcode(text, line.opcode, 0, module_.opcode(here), before, [&](const Form& form) {
                if (!same) out.form = form;
                same = true;
            });
            if (!same) return false;
        }
        const bool last_line = i + 1 == out.statements;
        const auto accept = [&] {
            if (!last_line) return true;
            Form form = out.form;
            std::vector<Operand> operands = out.operands;
            if (!complete(*text.op, form, operands, names)) return false;
            out.form = form;
            out.operands = std::move(operands);
            return true;
        };
        if (!binder.bind(line, here.operands, accept)) return false;
    }
    return true;
}

namespace {

/// Returns the opcode that the record prints for the reading.
std::string printed_opcode(const Reading& reading) {
    Step step;
    step.op = reading.op;
    step.form = reading.form;
    const std::string_view text = reading.op->ptx;
    return isa::expand(text.substr(0, text.find_first_of(" ;")), step,
                       [](const Operand&, const OperandRule&) { return std::string(); });
}

}  // namespace

/// Several records may fit, as those do that differ in a qualifier with a default: the one that prints the
/// same text is meant, or else the first.
Reading Reader::read(std::uint32_t statement, std::uint32_t last, Names& names) {
    const std::vector<Candidate>& all = candidates(module_.statements[statement]);
    for (const bool loose : {false, true}) {
        Reading first;
        for (const Candidate& candidate : all) {
            Reading out;
            if (!fits(candidate, statement, last, names, loose, out)) continue;
            if (all.size() == 1 || printed_opcode(out) == module_.opcode(module_.statements[statement]))
                return out;
            if (first.op == nullptr) first = std::move(out);
        }
        if (first.op != nullptr) return first;
    }
    return {};
}

}  // namespace wgrun::ptx
