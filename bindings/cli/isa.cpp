// wgrun isa [NAME] [--n N] [--dtype TYPE]: the table of legal forms.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "bindings/cli/command.hpp"
#include "bindings/lua/doc_instruction.hpp"
#include "wgrun/nearest.hpp"

namespace wgrun::cli {
namespace isa_detail {
namespace {

using isa::Field;
using isa::Instruction;
using isa::OperandRule;

struct Options {
    std::string family;    ///< an instruction or the beginning of its name
    std::string dtype;     ///< forms with this type; empty: all
    std::optional<int> n;  ///< forms with this N
};

/// NAME itself, and the instructions that begin with "NAME.".
std::vector<const Instruction*> family_of(std::string_view name) {
    std::vector<const Instruction*> out;
    for (const Instruction* op : isa::all())
        if (name.empty() || op->name == name || (op->name.starts_with(name) && op->name[name.size()] == '.'))
            out.push_back(op);
    return out;
}

/// The completions of NAME up to the next dot: "wgmma" for "wgm", "mbarrier.arrive" for "mbarrier.a".
std::vector<std::string_view> completions(std::string_view name) {
    std::vector<std::string_view> out;
    for (const Instruction* op : isa::all()) {
        if (!op->name.starts_with(name)) continue;
        const std::string_view whole = op->name.substr(0, op->name.find('.', name.size()));
        if (std::ranges::find(out, whole) == out.end()) out.push_back(whole);
    }
    return out;
}

/// The instructions that NAME stands for: one, a family, an unambiguous beginning of either, or a method of
/// k. Throws ArgumentError that lists possible meanings.
std::vector<const Instruction*> asked_for(std::string_view name) {
    if (auto found = family_of(name); !found.empty()) return found;
    const std::vector<std::string_view> longer = completions(name);
    if (longer.size() == 1) return family_of(longer.front());
    if (!longer.empty())
        throw ArgumentError(
            fmt::format("`{}` is ambiguous: it is the beginning of {}", name, fmt::join(longer, ", ")));
    if (const isa::Spelling method = isa::parse_method(name.starts_with("k:") ? name.substr(2) : name);
        method.op)
        return {method.op};
    std::vector<std::string_view> names;
    for (const Instruction* op : isa::all()) {
        names.push_back(op->name);
        names.push_back(op->name.substr(0, op->name.find('.')));
    }
    // A form, of which one part is misspelt.
    const bool of_builder = name.starts_with("k:");
    const std::string near =
        nearest(name, names).empty() ? isa::nearest_method(of_builder ? name.substr(2) : name) : "";
    if (!near.empty())
        throw ArgumentError(fmt::format("there is no instruction `{}`: did you mean `{}{}`?", name,
                                        of_builder ? "k:" : "", near));
    throw ArgumentError(
        fmt::format("there is no instruction `{}`{} (wgrun isa lists them)", name, nearest(name, names)));
}

bool allows(const isa::Row& row, Field field, int value) {
    const isa::Choice* choice = row.find(field);
    return choice != nullptr && choice->allows(value);
}

bool fits(const isa::Row& row, std::optional<int> n, std::optional<isa::Type> type) {
    if (n && !allows(row, Field::n, *n)) return false;
    if (!type) return true;
    const auto fields = {Field::a, Field::b, Field::type, Field::from};
    return std::any_of(fields.begin(), fields.end(),
                       [&](Field field) { return allows(row, field, static_cast<int>(*type)); });
}

/// Of the types that instructions have.
std::string type_suggestion(std::string_view word) {
    std::vector<std::string_view> names;
    for (int i = 1; i <= static_cast<int>(isa::Type::f64); ++i)
        names.push_back(isa::to_string(static_cast<isa::Type>(i)));
    const std::string near = nearest(word, names);
    return near.empty() ? " (such as s8, bf16, f32)" : near;
}

std::string value_text(Field field, int value) {
    const std::string text = isa::spelled(field, value);
    return text.empty() ? std::to_string(value) : text;
}

std::string_view access_text(isa::Access access) {
    return access == isa::Access::in ? "in" : access == isa::Access::out ? "out" : "inout";
}

std::vector<std::string_view> kinds_of(const OperandRule& rule) {
    constexpr std::pair<unsigned, std::string_view> all[] = {
        {OperandRule::reg, "register"},    {OperandRule::list, "list"},
        {OperandRule::imm, "immediate"},   {OperandRule::address, "address"},
        {OperandRule::param, "parameter"}, {OperandRule::shared, "shared buffer"}};
    std::vector<std::string_view> out;
    for (const auto& [bit, name] : all)
        if (rule.kinds & bit) out.push_back(name);
    return out;
}

constexpr std::string_view participants[] = {"thread", "warp", "warpgroup", "cta", "cluster"};

std::string to_text(const Instruction& op, const std::vector<const isa::Row*>& rows) {
    std::string out = fmt::format("{}: {}\n", op.name, op.summary);
    out += fmt::format("  PTX ISA {}; executed by a {}\n", op.section,
                       participants[static_cast<std::size_t>(op.taken_by)]);
    for (const OperandRule& rule : op.operands)
        out += fmt::format("  operand {} ({}): {}\n", rule.name, access_text(rule.access),
                           fmt::join(kinds_of(rule), ", "));
    for (const isa::Row* row : rows) out += fmt::format("    {}\n", lua::form_text(*row));
    return out;
}

nlohmann::ordered_json to_object(const Instruction& op, const std::vector<const isa::Row*>& rows) {
    nlohmann::ordered_json out{{"name", op.name},
                               {"summary", op.summary},
                               {"section", op.section},
                               {"executed_by", participants[static_cast<std::size_t>(op.taken_by)]},
                               {"operands", nlohmann::ordered_json::array()},
                               {"forms", nlohmann::ordered_json::array()}};
    for (const OperandRule& rule : op.operands)
        out["operands"].push_back(
            {{"name", rule.name}, {"access", access_text(rule.access)}, {"kinds", kinds_of(rule)}});
    for (const isa::Row* row : rows) {
        nlohmann::ordered_json form;
        for (const isa::Choice& choice : row->choices) {
            nlohmann::ordered_json& values = form[std::string(isa::to_string(choice.field))];
            values = nlohmann::ordered_json::array();
            for (int value : choice.values()) values.push_back(value_text(choice.field, value));
        }
        form["min_ptx"] = fmt::format("{}.{}", row->min_ptx.major, row->min_ptx.minor);
        out["forms"].push_back(std::move(form));
    }
    return out;
}

int isa_table(const Request& request, const Options& options) {
    const auto refuse = [](const std::string& text) {
        remark(fmt::format("wgrun: {}", text));
        return Exit::usage;
    };
    std::optional<isa::Type> type;
    if (!options.dtype.empty()) {
        type = isa::parse_type(options.dtype);
        if (!type)
            return refuse(fmt::format("isa: `{}` is not a type of PTX{}", options.dtype,
                                      type_suggestion(options.dtype)));
    }
    std::vector<const Instruction*> found;
    try {
        found = asked_for(options.family);
    } catch (const ArgumentError& error) {
        return refuse(error.what());
    }
    const bool overview = options.family.empty() && !options.n && !type;
    std::string text;
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const Instruction* op : found) {
        std::vector<const isa::Row*> rows;
        for (const isa::Row& row : op->rows)
            if (fits(row, options.n, type)) rows.push_back(&row);
        if (rows.empty()) continue;
        json.push_back(to_object(*op, rows));
        text += overview ? fmt::format("{:<24} {}\n", op->name, op->summary) : to_text(*op, rows);
    }
    if (json.empty()) return refuse("isa: no legal form fits (wgrun isa NAME shows them all)");
    Results results(false);
    results.write(request.json ? json.dump(2) + "\n" : text);
    return results.finish() ? Exit::ok : Exit::failed;
}

Command::Run declare(Arguments& arguments) {
    const auto options = std::make_shared<Options>();
    arguments.option("NAME", options->family, "An instruction, or a beginning of its name: wgmma");
    arguments.option("--n", options->n, "Only forms with this N");
    arguments.option("--dtype", options->dtype, "Only forms with this type of A, B or a register");
    return [options](const Request& request) { return isa_table(request, *options); };
}

}  // namespace
}  // namespace isa_detail

const Command isa_command{"isa", "Print the legal forms of an instruction, or list all instructions",
                          Takes::nothing, isa_detail::declare};

}  // namespace wgrun::cli
