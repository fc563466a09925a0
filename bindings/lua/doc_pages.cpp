// Documentation as pages: Markdown for docs/, annotations for the Lua language server.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <stdexcept>

#include "bindings/lua/docs.hpp"

namespace wgrun::lua {
namespace {

/// Calls visit(line) for each line of the text.
void each_line(std::string_view text, const std::function<void(std::string_view)>& visit) {
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        visit(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

// --- Markdown ------------------------------------------------------------------------------------------

constexpr std::string_view printed =
    "Printed by `wgrun help --markdown docs` from the descriptions beside each definition.\n";

std::string in_cell(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        if (c == '<') {
            out += "&lt;";
            continue;
        }
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

std::string code(std::string_view text) { return text.empty() ? "" : fmt::format("`{}`", text); }

/// Prose for Markdown, in which < does not begin HTML.
std::string prose(std::string_view text) {
    std::string out;
    bool quoted = false;
    for (const char c : text) {
        if (c == '`') quoted = !quoted;
        out += c == '<' && !quoted ? std::string("&lt;") : std::string(1, c);
    }
    return out;
}

std::string table(std::string_view title, const std::vector<Described>& list) {
    if (list.empty()) return "";
    std::string out = fmt::format("\n| {} | type | default | |\n|---|---|---|---|\n", title);
    for (const Described& one : list)
        out +=
            fmt::format("| {} | {} | {} | {} |\n", in_cell(code(one.name)), in_cell(code(one.type)),
                        one.fallback.empty() ? (one.optional ? "optional" : "") : in_cell(code(one.fallback)),
                        in_cell(one.text));
    return out;
}

/// Whether it is a function of a table of the module ("wg.sparse.compress").
bool is_nested(const Entry& entry) { return entry.owner.starts_with("wg."); }

/// A nested function without "wg.".
std::string title_of(const Entry& entry) { return is_nested(entry) ? entry.name.substr(3) : entry.member; }

/// The page with the members of the type or table, and the description of a name.
std::string page_of(const Entry& entry) {
    if (entry.kind == MemberKind::type) return entry.name;
    return entry.kind == MemberKind::instruction ? "instructions" : is_nested(entry) ? "wg" : entry.owner;
}

/// The families of instructions: what stands in one section of the PTX ISA.
struct Family {
    std::string_view section;
    std::string_view title;
};
constexpr Family families[] = {
    {"9.7.1.", "Integer arithmetic"},
    {"9.7.3.", "Floating point"},
    {"9.7.6.", "Comparison and selection"},
    {"9.7.7.", "Comparison of half precision"},
    {"9.7.8.", "Logic and shift"},
    {"9.7.9.", "Data movement and conversion"},
    {"9.7.9.25.", "Asynchronous copies"},
    {"9.7.9.26.", "Tensor maps"},
    {"9.7.13.", "Synchronisation and communication"},
    {"9.7.13.15.", "Mbarriers"},
    {"9.7.14.", "Matrix instructions of a warp"},
    {"9.7.15.", "Matrix instructions of a warpgroup"},
    {"9.7.19.", "Miscellaneous"},
    {"10", "Special registers"},
};

/// The family of an instruction: the longest section that its own one is in.
const Family& family_of(const Entry& entry) {
    const Family* found = nullptr;
    for (const Family& family : families)
        if (entry.section.starts_with(family.section)) found = &family;
    if (found == nullptr) throw std::logic_error(fmt::format("no family has section {}", entry.section));
    return *found;
}

/// The anchor of a heading, or of the heading above an instruction.
std::string anchor(const Entry& entry) {
    std::string out(entry.kind == MemberKind::instruction ? std::string(family_of(entry).title)
                                                          : title_of(entry));
    std::erase(out, '.');
    std::ranges::transform(out, out.begin(), [](unsigned char c) {
        return c == ' ' ? '-' : static_cast<char>(std::tolower(c));
    });
    return out;
}

std::string link(const Documentation& docs, const std::string& name, std::string_view folder) {
    const Entry* entry = docs.find(name);
    if (entry == nullptr) return code(name);
    const std::string mark = entry->kind == MemberKind::type ? "" : fmt::format("#{}", anchor(*entry));
    return fmt::format("[`{}`]({}{}.md{})", entry->name, folder, page_of(*entry), mark);
}

std::string block(std::string_view text) { return fmt::format("\n```lua\n{}\n```\n", text); }

std::string section(const Documentation& docs, const Entry& entry) {
    std::string out = fmt::format("\n### {}\n", title_of(entry));
    out += block(entry.signature());
    if (!entry.text.empty()) out += fmt::format("\n{}\n", prose(entry.text));
    std::vector<Described> params;
    for (const Described& param : entry.params)
        if (param.name != "options" || entry.options.empty()) params.push_back(param);
    out += table("argument", params) + table("option", entry.options);
    if (entry.kind != MemberKind::field) {
        std::vector<std::string> results;
        for (const Described& result : entry.results)
            results.push_back(code(result.type) +
                              (result.text.empty() ? "" : fmt::format(" {}", prose(result.text))));
        if (!results.empty()) out += fmt::format("\nReturns {}.\n", fmt::join(results, "; "));
    }
    out += table("field", entry.fields);
    if (!entry.raises.empty()) out += fmt::format("\nRaises {}\n", prose(entry.raises));
    if (!entry.example.empty()) out += block(entry.example);
    std::vector<std::string> see;
    for (const std::string& name : entry.see) see.push_back(link(docs, name, ""));
    if (!see.empty()) out += fmt::format("\nSee {}.\n", fmt::join(see, ", "));
    return out;
}

/// A row of the table of a family.
std::string row(const Entry& entry) {
    Entry shown = entry;
    std::erase_if(shown.options, [](const Described& option) { return option.name.starts_with("guard"); });
    const auto quoted = [](std::string_view text) {
        std::string out;
        for (const char c : text) out += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
        return code(out);
    };
    std::string operands;
    for (const auto* list : {&entry.params, &entry.options})
        for (const Described& operand : *list)
            if (!operand.meaning.empty())
                operands += fmt::format("{}{}: {}", operands.empty() ? "<br>" : "; ", code(operand.name),
                                        in_cell(operand.meaning));
    return fmt::format("| {} | {}{} | {} | {} |\n", quoted(shown.signature()), in_cell(entry.text), operands,
                       quoted(entry.ptx), entry.section);
}

std::string list(const Documentation& docs, const std::vector<const Entry*>& entries,
                 std::string_view folder) {
    std::string out;
    for (const Entry* entry : entries)
        out += fmt::format("- {}: {}\n", link(docs, entry->name, folder), prose(entry->summary()));
    return out;
}

std::vector<const Entry*> members_of_kind(const Documentation& docs, std::string_view owner,
                                          bool instructions) {
    std::vector<const Entry*> out;
    for (const Entry* entry : docs.members(owner))
        if ((entry->kind == MemberKind::instruction) == instructions) out.push_back(entry);
    return out;
}

std::string type_page(const Documentation& docs, const Entry& type) {
    std::string out = fmt::format("# {}\n\n{}\n{}\n", type.name, printed, prose(type.text));
    out += table("field", type.fields);
    if (!type.example.empty()) out += block(type.example);
    std::vector<std::string> see;
    for (const std::string& name : type.see) see.push_back(link(docs, name, ""));
    if (!see.empty()) out += fmt::format("\nSee {}.\n", fmt::join(see, ", "));
    const auto members = members_of_kind(docs, type.name, false);
    if (!members.empty()) out += fmt::format("\n{}", list(docs, members, ""));
    if (type.name == "k") out += "\nEvery instruction is a method too: [instructions](instructions.md).\n";
    for (const Entry* member : members) out += section(docs, *member);
    return out;
}

// --- LuaLS ---------------------------------------------------------------------------------------------

constexpr std::string_view reserved[] = {
    "and", "break", "do",  "else", "elseif", "end",    "false",  "for",  "function", "goto",  "if",
    "in",  "local", "nil", "not",  "or",     "repeat", "return", "then", "true",     "until", "while"};

bool is_reserved(std::string_view word) { return std::ranges::find(reserved, word) != std::end(reserved); }

std::string annotated_type(const Documentation& docs, std::string_view type, std::string_view table);

/// "function(i: reg, at):reg" as "fun(i: wgrun.reg, at: any): wgrun.reg"; an argument called k is the
/// builder.
std::string annotated_function(const Documentation& docs, std::string_view type) {
    const auto open = type.find('('), close = type.rfind(')');
    if (open == std::string_view::npos || close == std::string_view::npos) return "function";
    std::string_view rest = type.substr(open + 1, close - open - 1);
    std::vector<std::string> arguments;
    while (!rest.empty()) {
        const auto end = std::min(rest.find(','), rest.size());
        std::string_view one = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        one = one.substr(std::min(one.find_first_not_of(' '), one.size()));
        const auto colon = one.find(": ");
        const std::string_view name = one.substr(0, colon);
        const std::string_view known = colon != std::string_view::npos ? one.substr(colon + 2)
                                       : name == "k"                   ? name
                                                                       : "any";
        arguments.push_back(fmt::format("{}: {}", name, annotated_type(docs, known, "")));
    }
    const std::string_view result = type.substr(close + 1);  // ":reg"
    return fmt::format("fun({}){}{}", fmt::join(arguments, ", "), result.empty() ? "" : ": ",
                       result.empty() ? "" : annotated_type(docs, result.substr(1), ""));
}

/// "integer|reg" with the names that the annotations have: wgrun.reg. `table` is the class of an option
/// table.
std::string annotated_type(const Documentation& docs, std::string_view type, std::string_view table) {
    std::string out;
    int depth = 0;
    std::string word;
    const auto close = [&] {
        if (word.empty()) return;
        if (!out.empty()) out += '|';
        const Entry* known = docs.find(word);
        if (word.starts_with("function"))
            out += annotated_function(docs, word);
        else if (word == "table" && !table.empty())
            out += table;
        else if (word.starts_with("integer["))  // the server knows no ranges
            out += "integer";
        else if (known != nullptr && known->kind == MemberKind::type && known->name == word)
            out += fmt::format("wgrun.{}", word);
        else
            out += word;
        word.clear();
    };
    for (const char c : type) {
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c == '|' && depth == 0 && !word.starts_with("function("))
            close();
        else
            word += c;
    }
    close();
    return out;
}

std::string one_line(std::string_view text) {
    std::string out(text);
    std::ranges::replace(out, '\n', ' ');
    return out.empty() ? out : fmt::format(" {}", out);
}

/// "wgrun.wg.tile" and its fields; nested tables likewise. All qualifiers of an instruction are optional,
/// since its name may spell them.
std::string option_class(const Documentation& docs, const Entry& entry, std::string_view inner = "") {
    std::string name = fmt::format("wgrun.{}{}{}", entry.name, inner.empty() ? "" : ".", inner);
    std::ranges::replace(name, ':', '.');
    std::string out, nested;
    out = fmt::format("---@class {}.options\n", name);
    const std::string prefix = inner.empty() ? std::string() : fmt::format("{}.", inner);
    for (const Described& option : entry.options) {
        if (!option.name.starts_with(prefix)) continue;
        const std::string key = option.name.substr(prefix.size());
        if (key.find('.') != std::string::npos) continue;
        const bool has_keys = std::ranges::any_of(
            entry.options, [&](const Described& o) { return o.name.starts_with(option.name + "."); });
        if (has_keys) nested += option_class(docs, entry, option.name);
        const std::string table = has_keys ? fmt::format("wgrun.{}.{}.options", entry.name, option.name) : "";
        std::string type = annotated_type(docs, option.type, table);
        std::ranges::replace(type, ':', has_keys ? '.' : ':');
        out += fmt::format("---@field {}{} {}{}\n", is_reserved(key) ? fmt::format("[\"{}\"]", key) : key,
                           option.optional || entry.kind == MemberKind::instruction ? "?" : "", type,
                           one_line(option.text));
    }
    return nested + out + "\n";
}

/// The class of the table that a function returns, with its fields.
std::string result_class(const Documentation& docs, const Entry& entry, const std::string& name) {
    std::string out = fmt::format("---@class {}\n", name);
    for (const Described& field : entry.fields)
        out += fmt::format("---@field {}{} {}{}\n", field.name, field.optional ? "?" : "",
                           annotated_type(docs, field.type, ""), one_line(field.text));
    return out + "\n";
}

std::string function_annotation(const Documentation& docs, const Entry& entry, std::string_view variable) {
    std::string out, table;
    // The fields are those of the last table among the results.
    const auto fields_of =
        entry.fields.empty()
            ? entry.results.rend()
            : std::ranges::find(entry.results.rbegin(), entry.results.rend(), "table", &Described::type);
    std::string result_table;
    if (fields_of != entry.results.rend()) {
        result_table = fmt::format("wgrun.{}.result", entry.name);
        std::ranges::replace(result_table, ':', '.');
        out += result_class(docs, entry, result_table);
    }
    if (!entry.options.empty()) {
        out += option_class(docs, entry);
        table = fmt::format("wgrun.{}.options", entry.name);
        std::ranges::replace(table, ':', '.');
    }
    each_line(entry.text, [&](std::string_view line) { out += fmt::format("---{}\n", line); });
    std::vector<std::string> names, typed;
    const bool named = std::ranges::find(entry.params, "options", &Described::name) != entry.params.end();
    for (const Described& param : entry.params) {
        const std::string name = is_reserved(param.name) ? param.name + "_" : param.name;
        const std::string_view keys = named && param.name != "options" ? "" : std::string_view(table);
        names.push_back(name);
        typed.push_back(
            fmt::format("{}{}: {}", name, param.optional ? "?" : "", annotated_type(docs, param.type, keys)));
    }
    // A destination that may be left out comes first: LuaLS has such calls as overloads.
    const bool leaves_out = entry.kind == MemberKind::instruction && !entry.results.empty();
    for (std::size_t i = 0; i < entry.params.size(); ++i) {
        const std::string_view type = std::string_view(typed[i]).substr(typed[i].find(": ") + 2);
        out += fmt::format("---@param {}{} {}{}\n", names[i],
                           entry.params[i].optional && !(leaves_out && i == 0) ? "?" : "", type,
                           one_line(entry.params[i].text));
    }
    if (leaves_out) {
        typed.front() = "self: wgrun.k";
        out += fmt::format("---@overload fun({}): {}\n", fmt::join(typed, ", "),
                           annotated_type(docs, entry.results.front().type, ""));
    }
    for (const Described& result : entry.results)
        out += fmt::format("---@return {}{}{}\n",
                           annotated_type(docs, result.type,
                                          fields_of != entry.results.rend() && &result == &*fields_of
                                              ? std::string_view(result_table)
                                              : ""),
                           result.optional ? "?" : "",
                           result.text.empty() ? "" : fmt::format(" #{}", one_line(result.text)));
    const bool method = entry.kind == MemberKind::method || entry.kind == MemberKind::instruction;
    if (is_reserved(entry.member)) {
        names.insert(names.begin(), "self");
        out +=
            fmt::format("{}[\"{}\"] = function({}) end\n\n", variable, entry.member, fmt::join(names, ", "));
    } else {
        out += fmt::format("function {}{}{}({}) end\n\n", variable, method ? ":" : ".", entry.member,
                           fmt::join(names, ", "));
    }
    return out;
}

std::string field_annotation(const Documentation& docs, const Entry& entry) {
    const std::string type = entry.results.empty() ? "any" : annotated_type(docs, entry.results[0].type, "");
    const bool optional = !entry.results.empty() && entry.results[0].optional;
    return fmt::format("---@field {}{} {}{}\n", entry.member, optional ? "?" : "", type,
                       one_line(entry.text));
}

/// The annotations of a type: its class with fields and operators, then its methods.
std::string class_annotation(const Documentation& docs, const Entry& type) {
    std::string out, methods;
    each_line(type.text, [&](std::string_view line) { out += fmt::format("---{}\n", line); });
    out += fmt::format("---@class wgrun.{}\n", type.name);
    for (const Described& field : type.fields)
        out += fmt::format("---@field {}{} {}{}\n", field.name, field.optional ? "?" : "",
                           annotated_type(docs, field.type, ""), one_line(field.text));
    if (type.name == "k")
        out +=
            "---@field [string] fun(self: wgrun.k, ...): any  an instruction with its qualifiers: "
            "ld_global_v4_b32\n";
    for (const Operator& one : type.operators) {
        const std::string operand = annotated_type(docs, one.operand, "");
        const std::string result = annotated_type(docs, one.result, "");
        if (one.name == "index")
            out += fmt::format("---@field [{}] {}\n", operand, result);
        else if (one.name == "call")
            out += fmt::format("---@overload fun(...: {}): {}\n", operand, result);
        else
            out += fmt::format("---@operator {}{}: {}\n", one.name,
                               operand.empty() ? "" : fmt::format("({})", operand), result);
    }
    for (const Entry* member : members_of_kind(docs, type.name, false)) {
        if (member->kind == MemberKind::field)
            out += field_annotation(docs, *member);
        else
            methods += function_annotation(docs, *member, type.name);
    }
    return out + fmt::format("local {} = {{}}\n\n", type.name) + methods;
}

constexpr std::string_view meta_head =
    "---@meta\n-- Printed by `wgrun help --annotations meta`, for the Lua language server.\n\n";

}  // namespace

std::vector<Page> markdown_pages(const Documentation& docs) {
    std::vector<Page> pages;
    const auto functions = docs.members("wg");
    const auto nested = docs.nested();
    const auto instructions = members_of_kind(docs, "k", true);
    std::string index = fmt::format(
        "# The Lua API\n\n{}`wgrun help NAME` shows one entry, as does `help(x)` at the prompt.\n\n## "
        "Functions of wg\n\n{}{}\n## Types\n\n{}",
        printed, list(docs, functions, "api/"), list(docs, nested, "api/"), list(docs, docs.types(), "api/"));
    index +=
        "\n## Instructions\n\nMethods of [`k`](api/k.md): [a table for each family](api/instructions.md).\n";
    pages.push_back({"api.md", index});
    std::string wg = fmt::format("# wg\n\n{}\nThe module: `local wg = require \"wgrun\"`.\n\n{}{}", printed,
                                 list(docs, functions, ""), list(docs, nested, ""));
    for (const Entry* entry : functions) wg += section(docs, *entry);
    for (const Entry* entry : nested) wg += section(docs, *entry);
    pages.push_back({"api/wg.md", wg});
    for (const Entry* type : docs.types())
        if (type->name != "wg")
            pages.push_back({fmt::format("api/{}.md", type->name), type_page(docs, *type)});
    std::string all = fmt::format(
        "# Instructions\n\n{}\nMethods of [`k`](k.md), made from the table of the instruction set. "
        "Qualifiers may be spelled in the name (`k:ld_global_v4_f32(a)`) or given by name (`k:ld(a, {{ space "
        "= \"global\", vec = 4, type = \"f32\" }})`). If the destination is left out, the result is a new "
        "register. All take `guard` and `guard_not`, a predicate each. `wgrun help k:NAME` has the types, "
        "the legal values and all forms of one.\n",
        printed);
    for (const Family& family : families) {
        all += fmt::format(
            "\n## {}\n\n| instruction | what it does, and its operands | PTX | PTX ISA "
            "|\n|---|---|---|---|\n",
            family.title);
        for (const Entry* entry : instructions)
            if (&family_of(*entry) == &family) all += row(*entry);
    }
    pages.push_back({"api/instructions.md", all});
    return pages;
}

std::vector<Page> annotation_pages(const Documentation& docs) {
    std::string types(meta_head), wg(meta_head), instructions(meta_head);
    for (const Entry* type : docs.types()) types += class_annotation(docs, *type);
    wg += "---@class wgrun\n";
    std::string functions;
    for (const Entry* entry : docs.members("wg")) {
        if (entry->kind == MemberKind::field)
            wg += field_annotation(docs, *entry);
        else
            functions += function_annotation(docs, *entry, "wg");
    }
    std::string tables;
    for (const Entry* entry : docs.nested()) {
        const std::string table = fmt::format("{} = {{}}\n", entry->owner);
        if (tables.find(table) == std::string::npos) tables += table;
        functions += function_annotation(docs, *entry, entry->owner);
    }
    wg += fmt::format("local wg = {{}}\n{}\n{}return wg\n", tables, functions);
    instructions += "---@class wgrun.k\nlocal k = {}\n\n";
    for (const Entry* entry : members_of_kind(docs, "k", true))
        instructions += function_annotation(docs, *entry, "k");
    return {{"wgrun.lua", wg}, {"wgrun/types.lua", types}, {"wgrun/instructions.lua", instructions}};
}

}  // namespace wgrun::lua
