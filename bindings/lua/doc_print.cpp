// Documentation as text for a terminal.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bindings/lua/docs.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/topics.hpp"

namespace wgrun::lua {
namespace {

/// `text` in lines of at most `width` columns, indented by `indent` spaces after the first. Existing line
/// breaks are kept.
std::string wrapped(std::string_view text, int indent, int width) {
    std::string out;
    const std::string margin(static_cast<std::size_t>(indent), ' ');
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (!out.empty()) out += line.empty() ? "\n" : "\n" + margin;
        auto left = static_cast<std::size_t>(std::max(20, width - indent));
        while (line.size() > left && !line.starts_with("    ")) {
            auto at = line.rfind(' ', left);
            // `key =` stays together.
            while (at != std::string_view::npos && at > 0 && at + 1 < line.size() && line[at + 1] == '=')
                at = line.rfind(' ', at - 1);
            if (at == std::string_view::npos || at == 0) at = std::min(line.find(' '), line.size());
            out += line.substr(0, at);
            line.remove_prefix(std::min(at + 1, line.size()));
            if (!line.empty()) out += "\n" + margin;
        }
        out += line;
    }
    return out;
}

std::string type_text(const Described& one) {
    std::string out = one.type;
    if (!one.fallback.empty()) return out + " = " + one.fallback;
    return one.optional ? out + ", optional" : out;
}

void append_list(std::string& out, std::string_view title, const std::vector<Described>& list, int width) {
    if (list.empty()) return;
    out += fmt::format("\n{}\n", title);
    std::size_t widest = 0;
    for (const Described& one : list) widest = std::max(widest, one.name.size());
    widest = std::min<std::size_t>(widest, 16);
    const int indent = static_cast<int>(widest) + 4;
    for (const Described& one : list) {
        const std::string text = one.text.empty() ? "" : ": " + one.text;
        out += fmt::format("  {:<{}}  {}\n", one.name, widest, wrapped(type_text(one) + text, indent, width));
    }
}

std::string indented(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        out += end == 0 ? "\n" : fmt::format("    {}\n", text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

}  // namespace

std::string to_text(const Entry& entry, int width) {
    std::string out = wrapped(entry.signature(), 4, width) + "\n";
    if (!entry.text.empty()) out += "\n" + wrapped(entry.text, 0, width) + "\n";
    std::vector<Described> params;
    for (const Described& param : entry.params)
        if (param.name != "options" || entry.options.empty()) params.push_back(param);
    append_list(out, "Arguments", params, width);
    append_list(out, "Options", entry.options, width);
    if (entry.kind != MemberKind::field) {
        std::vector<Described> results = entry.results;
        for (Described& result : results) result.name = "->";
        append_list(out, "Results", results, width);
    }
    append_list(out, "Fields", entry.fields, width);
    if (!entry.raises.empty()) out += "\n" + wrapped("Raises " + entry.raises, 0, width) + "\n";
    if (!entry.executed_by.empty())
        out += fmt::format("\nExecuted by a {}. PTX ISA {}.\n", entry.executed_by, entry.section);
    if (!entry.forms.empty()) {
        out += "\nForms\n";
        for (const std::string& form : entry.forms) out += "  " + wrapped(form, 6, width) + "\n";
    }
    if (!entry.example.empty()) out += "\nExample\n" + indented(entry.example);
    if (!entry.ptx.empty()) out += "  becomes\n" + indented(entry.ptx);
    if (!entry.see.empty()) out += fmt::format("\nSee also {}\n", fmt::join(entry.see, ", "));
    return out;
}

namespace {

// What does not fit the line is left out.
std::string line_of(std::string_view name, std::string_view summary, int width) {
    std::string line = fmt::format("  {:<28} {}", name, summary);
    if (width > 0 && line.size() > static_cast<std::size_t>(width))
        line = line.substr(0, static_cast<std::size_t>(width) - 3) + "...";
    return line + '\n';
}

std::string overview(const Documentation& docs, int width, const HelpWords& words) {
    std::string out = "Functions\n";
    for (const Entry* entry : docs.members("wg")) out += line_of(entry->name, entry->summary(), width);
    out += "\nTypes\n";
    for (const Entry* entry : docs.types()) out += line_of(entry->name, entry->summary(), width);
    return out +
           fmt::format("\n{} describes one of them: wg.tile, tile, tile:offset, k:loop, k:wgmma_fence.\n",
                       words.one);
}

/// The options, arguments and fields that are wanted: a line for each.
std::vector<std::string> details(const Documentation& docs, int width, auto wanted) {
    std::vector<std::string> out;
    for (const Entry& entry : docs.all()) {
        if (entry.kind == MemberKind::instruction) continue;  // their options are those of many others
        for (const auto* list : {&entry.params, &entry.options, &entry.fields})
            for (const Described& detail : *list)
                if (wanted(detail))
                    out.push_back(line_of(fmt::format("{} {}", entry.name, detail.name), detail.text, width));
    }
    return out;
}

/// What rules and topics say of these words, and names whose first sentence mentions them, or else options;
/// with `alone` also where nothing else is found.
std::string found_by_words(const Documentation& docs, std::string_view words, bool alone, int width) {
    constexpr std::size_t most = 12;
    std::string out = rules::about(words);
    if (out.empty() && !alone) return out;
    std::vector<std::string> lines;
    for (const Entry& entry : docs.all())
        if (rules::mentions(fmt::format("{} {}", entry.name, entry.summary()), words))
            lines.push_back(line_of(entry.name, entry.summary(), width));
    if (lines.empty())
        lines = details(docs, width, [&](const Described& detail) {
            return rules::mentions(fmt::format("{} {}", detail.name, detail.text), words);
        });
    if (!lines.empty() && !out.empty()) out += '\n';
    for (std::size_t i = 0; i < std::min(most, lines.size()); ++i) out += lines[i];
    if (lines.size() > most) out += fmt::format("  and {} more\n", lines.size() - most);
    return out;
}

/// The instructions whose names begin with that of a type: k:wgmma_fence and others for wgmma.
std::string instructions_of(const Documentation& docs, const Entry& type, int width) {
    std::string out;
    for (const Entry& entry : docs.all())
        if (entry.kind == MemberKind::instruction && entry.name.starts_with(fmt::format("k:{}_", type.name)))
            out += line_of(entry.name, entry.summary(), width);
    return out.empty() ? out : "\n" + out;
}

}  // namespace

std::string help_text(const Documentation& docs, std::string_view name, int width, const HelpWords& words) {
    if (name.empty()) return overview(docs, width, words);
    const Entry* entry = docs.find(name);
    const auto members = docs.members(entry == nullptr ? name : entry->name);
    if (entry == nullptr && members.empty()) {
        const auto near = docs.suggestions(name);
        if (std::string found = found_by_words(docs, name, near.empty(), width); !found.empty()) return found;
        const auto called = [&](const Described& detail) {
            return detail.name == name || detail.name.ends_with(fmt::format(".{}", name));
        };
        if (const auto lines = details(docs, width, called); !lines.empty())
            return fmt::format("{}", fmt::join(lines, ""));
        throw ArgumentError(fmt::format("nothing is called `{}`", name) +
                            (near.empty() ? fmt::format(" ({} lists the functions and types)", words.list)
                                          : fmt::format(": did you mean {}?", fmt::join(near, ", "))));
    }
    std::string out;
    if (entry != nullptr) out = width > 0 ? to_text(*entry, width) : to_text(*entry);
    if (entry != nullptr && !members.empty()) out += '\n';
    for (const Entry* member : members) out += line_of(member->name, member->summary(), width);
    if (entry != nullptr && entry->kind == MemberKind::type) out += instructions_of(docs, *entry, width);
    return out;
}

}  // namespace wgrun::lua
