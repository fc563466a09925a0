#include "bindings/lua/doc_instruction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "bindings/lua/trace.hpp"
#include "wgrun/operand_meaning.hpp"

namespace wgrun::lua {
namespace {

using isa::Access;
using isa::Choice;
using isa::Field;
using isa::Form;
using isa::Instruction;
using isa::Operand;
using isa::OperandRule;
using isa::Row;

constexpr std::string_view participants[] = {"thread", "warp", "warpgroup", "CTA", "cluster"};

std::string value_text(Field field, int value) {
    const std::string text = isa::spelled(field, value);
    return text.empty() ? std::to_string(value) : text;
}

/// The preferred value in examples: f32 where that is legal, N = 64.
int sample_value(const Choice& choice) {
    using enum isa::Type;
    for (const isa::Type type : {f32, b32, u32, bf16})
        if ((choice.field == Field::type || choice.field == Field::d || choice.field == Field::a ||
             choice.field == Field::b) &&
            choice.allows(static_cast<int>(type)))
            return static_cast<int>(type);
    if (choice.field == Field::n && choice.allows(64)) return 64;
    return choice.allowed.front().lo;
}

/// The qualifiers that a call must give to get a form of the row, and no others.
Form sample_form(const Row& row) {
    Form form;
    for (const Choice& choice : row.choices) {
        const bool single =
            choice.allowed.size() == 1 && choice.allowed.front().lo == choice.allowed.front().hi;
        if (!choice.fallback && (choice.asked || !single)) form.set(choice.field, sample_value(choice));
    }
    return form;
}

/// "shared::cluster" as spelt in a method's name.
std::string as_token(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == ':' && out.ends_with('_')) continue;
        out += c == '.' || c == ':' ? '_' : c;
    }
    return out;
}

/// The method's name with the qualifiers of `form`, in the order of PTX, except those that a name cannot
/// contain.
std::string method_with(const Instruction& op, const Form& form, Form& spelled) {
    std::string name = as_token(op.name);
    for (std::size_t at = op.ptx.find("{."); at != std::string_view::npos; at = op.ptx.find("{.", at + 1)) {
        const std::size_t close = op.ptx.find('}', at);
        const auto field = isa::parse_field(op.ptx.substr(at + 2, close - at - 2));
        if (!field || !form.has(*field)) continue;
        const std::string token = as_token(isa::spelled(*field, form.get(*field)));
        if (token.empty()) continue;
        const std::string longer = fmt::format("{}_{}", name, token);
        Form wanted = spelled;
        wanted.set(*field, form.get(*field));
        const isa::Spelling read = isa::parse_method(longer);
        if (read.op != &op || read.form != wanted) continue;
        name = longer;
        spelled = wanted;
    }
    return name;
}

/// Whether an operand that is given by name is required.
bool is_required(const OperandRule& rule) {
    return rule.by_name && rule.access == Access::in && !rule.fallback && !rule.flag;
}

std::string sample_argument(const OperandRule& rule) {
    if (rule.kinds == OperandRule::imm)
        return std::to_string(rule.fallback.value_or(rule.imm_range ? rule.imm_range->lo : 0));
    if (rule.kinds == OperandRule::list && rule.count == nullptr) return "{ " + std::string(rule.name) + " }";
    return std::string(rule.name);
}

/// The Lua call with the fewest arguments, and the PTX that it becomes.
void add_example(const Instruction& op, Entry& entry) {
    const Form asked = sample_form(op.rows.front());
    const Form form = sample_form_of(op);
    Form spelled;
    const std::string method = method_with(op, asked, spelled);

    std::vector<std::string> arguments, options, results;
    isa::Step step;
    step.op = &op;
    step.form = form;
    for (const OperandRule& rule : op.operands) {
        Operand& operand = step.operands.emplace_back();
        if (rule.by_name ? !is_required(rule) : rule.access == Access::in && rule.fallback) continue;
        operand.kind = Operand::Kind::reg;
        if (rule.by_name) {
            options.push_back(fmt::format("{} = {}", rule.name, sample_argument(rule)));
            continue;
        }
        if (rule.access == Access::out)
            results.emplace_back(rule.name);
        else
            arguments.push_back(sample_argument(rule));
    }
    for (int i = 0; i < isa::field_count; ++i) {
        const auto field = static_cast<Field>(i);
        if (!asked.has(field) || spelled.has(field)) continue;
        const std::string value = value_text(field, asked.get(field));
        const bool number =
            !value.empty() &&
            (std::isdigit(static_cast<unsigned char>(value.front())) != 0 || value.front() == '-') &&
            value.find_first_not_of("0123456789-") == std::string::npos;
        options.push_back(
            fmt::format("{} = {}", isa::to_string(field), number ? value : "\"" + value + "\""));
    }
    if (!options.empty()) arguments.push_back(fmt::format("{{ {} }}", fmt::join(options, ", ")));
    static constexpr std::array<std::string_view, 3> keywords{"and", "or", "not"};
    if (std::ranges::find(keywords, method) != keywords.end()) {
        arguments.insert(arguments.begin(), "k");
        entry.example = fmt::format("k[\"{}\"]({})", method, fmt::join(arguments, ", "));
    } else {
        entry.example = fmt::format("k:{}({})", method, fmt::join(arguments, ", "));
    }
    if (!results.empty())
        entry.example = fmt::format("local {} = {}", fmt::join(results, ", "), entry.example);

    entry.ptx =
        isa::expand(op.ptx, step, [&](const Operand& operand, const OperandRule& rule) -> std::string {
            if (operand.kind == Operand::Kind::none && rule.fallback) return std::to_string(*rule.fallback);
            if (rule.kinds == OperandRule::imm) return sample_argument(rule);
            const int count = rule.count != nullptr ? rule.count(form) : 1;
            if (rule.count == nullptr || (rule.kinds & OperandRule::list) == 0) return std::string(rule.name);
            if (count == 1) return std::string(rule.name);
            std::vector<std::string> names;
            for (int i = 0; i < count; ++i) {
                if (count > 4 && i == 2) {
                    names.emplace_back("...");
                    i = count - 1;
                }
                names.push_back(fmt::format("{}{}", rule.name, i));
            }
            return fmt::format("{{{}}}", fmt::join(names, ", "));
        });
}

/// "u32", or empty where the type depends on the form.
std::string common_type(const Instruction& op, const OperandRule& rule) {
    if (rule.type == nullptr) return "";
    std::string common;
    for (const Row& row : op.rows) {
        const Form form = isa::resolve(op, sample_form(row));
        const std::string type(isa::to_string(rule.type(form)));
        if (!common.empty() && type != common) return "";
        common = type;
    }
    // The forms of one row may still differ in the type.
    for (const Row& row : op.rows)
        for (const Choice& choice : row.choices)
            if ((choice.field == Field::type || choice.field == Field::d) && choice.values().size() > 1) {
                Form other = sample_form(row);
                for (const int value : choice.values()) {
                    other.set(choice.field, value);
                    bool legal = true;
                    Form form;
                    try {
                        form = isa::resolve(op, other);
                    } catch (const Error&) {
                        legal = false;
                    }
                    if (legal && isa::to_string(rule.type(form)) != common) return "";
                }
            }
    return common;
}

Described describe_operand(const Instruction& op, const OperandRule& rule) {
    Described out;
    out.name = rule.name;
    std::vector<std::string> types, words;
    const std::string type = common_type(op, rule);
    const std::string of = type.empty() ? "" : type + " ";
    const auto add = [&](unsigned kind, const char* lua, const std::string& text) {
        if ((rule.kinds & kind) == 0) return;
        if (std::ranges::find(types, lua) == types.end()) types.emplace_back(lua);
        if (!text.empty()) words.push_back(text);
    };
    const bool address = (rule.kinds & OperandRule::address) != 0;
    add(OperandRule::address, "reg", "an address in a register, with `offset` bytes added");
    add(OperandRule::address, "shared", "a shared buffer");
    if (!address) add(OperandRule::reg, "reg", "a " + of + "register");
    add(OperandRule::list, "table", "");
    add(OperandRule::list, "regs",
        rule.count != nullptr ? "a list of " + of + "registers" : "a list of registers");
    add(OperandRule::imm, "number",
        rule.imm_range ? fmt::format("an integer from {} to {}", rule.imm_range->lo, rule.imm_range->hi)
                       : "a number");
    if (rule.imm_range && rule.imm_range->lo == 0 && rule.imm_range->hi == 1)
        add(OperandRule::imm, "boolean", "");
    add(OperandRule::shared, "shared", address ? "" : "a shared buffer");
    add(OperandRule::param, "integer", "the index of a parameter");
    out.type = fmt::format("{}", fmt::join(types, "|"));
    out.meaning = isa::operand_meaning(op, rule);
    out.text = fmt::format("{}: {}", out.meaning, fmt::join(words, ", or "));
    if (rule.access == Access::inout) out.text += "; read and written";
    if (rule.fallback) {
        out.optional = true;
        out.fallback = std::to_string(*rule.fallback);
    }
    return out;
}

/// The legal values over all rows: `"rn"`, `"rz"`; of many numbers "8, 16, ..., 256".
std::string legal_values(const Instruction& op, Field field) {
    std::vector<int> values;
    for (const Row& row : op.rows)
        if (const Choice* choice = row.find(field))
            for (const int value : choice->values())
                if (std::ranges::find(values, value) == values.end()) values.push_back(value);
    if (values.size() > 8 &&
        isa::spelled(field, values.front()).find_first_not_of("0123456789") == std::string::npos)
        return fmt::format("{} to {}", *std::ranges::min_element(values), *std::ranges::max_element(values));
    std::vector<std::string> texts;
    for (const int value : values) {
        const std::string text = isa::spelled(field, value);
        texts.push_back(text.empty() ? std::to_string(value) : text);
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

/// Whether the qualifier is either present or absent, such as .nc.
bool is_flag(const Instruction& op, Field field) {
    if (!isa::spelled(field, 0).empty() || isa::spelled(field, 1).empty()) return false;
    return std::ranges::all_of(op.rows, [&](const Row& row) {
        const Choice* choice = row.find(field);
        return choice == nullptr ||
               std::ranges::all_of(choice->values(), [](int v) { return v == 0 || v == 1; });
    });
}

Described describe_qualifier(const Instruction& op, Field field) {
    Described out;
    out.name = isa::to_string(field);
    out.optional = true;
    const bool flag = is_flag(op, field);
    const std::string legal = legal_values(op, field);
    const bool number = legal.find_first_not_of("0123456789-, to.") == std::string::npos;
    out.type = flag ? "boolean" : number ? "integer" : "string";
    out.text = isa::summary(field);
    if (!flag) out.text += ": " + legal;
    bool needed = false, common = true;
    std::optional<int> fallback;
    for (const Row& row : op.rows)
        if (const Choice* choice = row.find(field)) {
            const bool single =
                choice->allowed.size() == 1 && choice->allowed.front().lo == choice->allowed.front().hi;
            needed = needed || (!choice->fallback && !single);
            common = common && choice->fallback && (!fallback || fallback == choice->fallback);
            fallback = choice->fallback;
        }
    if (common && fallback && *fallback != Form::absent) {
        const std::string value = value_text(field, *fallback);
        out.fallback = flag ? (*fallback != 0 ? "true" : "false") : number ? value : "\"" + value + "\"";
    }
    out.optional = !needed;
    return out;
}

Described described(std::string name, std::string type, std::string text) {
    return {.name = std::move(name),
            .type = std::move(type),
            .fallback = {},
            .optional = true,
            .text = std::move(text)};
}

Entry entry_of(const Instruction& op) {
    Entry entry;
    entry.kind = MemberKind::instruction;
    entry.owner = "k";
    entry.member = as_token(op.name);
    entry.name = instruction_name(op);
    entry.section = op.section;
    entry.executed_by = participants[static_cast<std::size_t>(op.taken_by)];
    entry.text = op.summary;
    entry.text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(entry.text[0])));
    if (entry.text.starts_with("D = ") || entry.text.starts_with("P = ")) entry.text[0] = op.summary[0];
    entry.text += '.';
    for (const OperandRule& rule : op.operands) {
        if (rule.by_name) continue;
        Described operand = describe_operand(op, rule);
        if (rule.access == Access::out) {
            const bool list = rule.count != nullptr && (rule.kinds & OperandRule::list) != 0;
            entry.results.push_back({.name = {},
                                     .type = list && (rule.kinds & OperandRule::reg) == 0 ? "regs"
                                             : list                                       ? "reg|regs"
                                                                                          : "reg",
                                     .fallback = {},
                                     .optional = false,
                                     .text = fmt::format("`{}`, {}", operand.name, operand.meaning)});
            operand.optional = true;
            operand.text += "; by default a new one";
        }
        entry.params.push_back(std::move(operand));
    }
    entry.params.push_back({.name = "options",
                            .type = "table",
                            .fallback = {},
                            .optional = true,
                            .text = "qualifiers and operands by name"});
    entry.options.push_back(
        described("guard", "reg", "a predicate: the instruction is executed by the threads where it holds"));
    entry.options.push_back(
        described("guard_not", "reg",
                  "a predicate: the instruction is executed by the threads where it does not hold"));
    if (takes_offset(op))
        entry.options.push_back({.name = "offset",
                                 .type = "integer",
                                 .fallback = "0",
                                 .optional = true,
                                 .text = "bytes that are added to the address"});
    for (int i = 0; i < isa::field_count; ++i)
        if (takes_field(op, static_cast<Field>(i)))
            entry.options.push_back(describe_qualifier(op, static_cast<Field>(i)));
    for (const OperandRule& rule : op.operands)
        if (rule.by_name) {
            entry.options.push_back(describe_operand(op, rule));
            entry.options.back().optional = !is_required(rule);
        }
    const auto is_parameter = [](const OperandRule& rule) { return rule.kinds == OperandRule::param; };
    if (std::ranges::any_of(op.operands, is_parameter))
        entry.see = {"k:param", "k:tensor_map"};  // which emit the instruction
    else
        add_example(op, entry);
    for (const Row& row : op.rows) entry.forms.push_back(form_text(row));
    return entry;
}

}  // namespace

std::string form_text(const Row& row) {
    std::string out;
    for (const Choice& choice : row.choices) {
        std::string values;
        for (const isa::Range& range : choice.allowed) {
            const int count = (range.hi - range.lo) / range.step + 1;
            if (!values.empty()) values += ' ';
            if (count > 3) {
                values += fmt::format("{}..{}", value_text(choice.field, range.lo),
                                      value_text(choice.field, range.hi));
                if (range.step != 1) values += fmt::format("/{}", range.step);
                continue;
            }
            for (int i = 0; i < count; ++i)
                values +=
                    fmt::format("{}{}", i ? " " : "", value_text(choice.field, range.lo + i * range.step));
        }
        const bool several = choice.values().size() > 1;
        out += fmt::format("{}={}{}{} ", isa::to_string(choice.field), several ? "{" : "", values,
                           several ? "}" : "");
    }
    return out + fmt::format(" PTX {}.{}", row.min_ptx.major, row.min_ptx.minor);
}

Form sample_form_of(const Instruction& op) { return isa::resolve(op, sample_form(op.rows.front())); }

std::string instruction_name(const Instruction& op) { return "k:" + as_token(op.name); }

const std::vector<Entry>& instruction_entries() {
    static const std::vector<Entry> entries = [] {
        std::vector<Entry> out;
        for (const Instruction* op : isa::all()) out.push_back(entry_of(*op));
        return out;
    }();
    return entries;
}

}  // namespace wgrun::lua
