// Renderers of diagnostics: text for terminals, one line for exceptions, JSON and SARIF for tools.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "diag/json_writer.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/printable.hpp"
#include "wgrun/version.hpp"

namespace wgrun {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view bold = "\x1b[1m", dim = "\x1b[2m", reset = "\x1b[0m";

std::string_view colour_of(Severity severity) {
    switch (severity) {
        case Severity::note: return "\x1b[1;36m";
        case Severity::warning: return "\x1b[1;35m";
        case Severity::error: break;
    }
    return "\x1b[1;31m";
}

/// The lines that an insertion adds.
std::string lines_of(const Insertion& insertion) {
    std::string text;
    for (const std::string& call : insertion.calls) text += fmt::format("{}\n", call);
    return text;
}

/// "file:line: ", "file: " without a line, nothing without a file.
std::string place(const Where& where) {
    if (where.file.empty()) return {};
    const std::string file = printable(where.file);
    return where ? fmt::format("{}:{}: ", file, where.line) : fmt::format("{}: ", file);
}

/// `text` as a terminal may have it, with each newline replaced.
std::string with_newlines(std::string_view text, std::string_view replacement) {
    std::string out;
    for (const char c : printable(text)) {
        if (c == '\n') {
            out += replacement;
        } else {
            out += c;
        }
    }
    return out;
}

std::string tag(const Diagnostic& finding) {
    return finding.rule.empty() ? std::string{} : fmt::format(" [{}]", finding.rule);
}

/// Bytes that are not UTF-8 (a file name may hold any) become U+FFFD instead of an exception.
std::string dump(const ordered_json& json) {
    return json.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

/// A path as the URI reference that SARIF asks for.
std::string uri(std::string_view file) {
    constexpr std::string_view plain = "-._~/";
    std::string out;
    for (const char c : file) {
        const auto byte = static_cast<unsigned char>(c);
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (letter || plain.find(c) != std::string_view::npos) {
            out += c;
        } else {
            out += fmt::format("%{:02X}", byte);
        }
    }
    return out;
}

ordered_json location(const Where& where) {
    ordered_json physical{{"artifactLocation", {{"uri", uri(where.file)}}}};
    if (where) physical["region"] = {{"startLine", where.line}};
    return {{"physicalLocation", physical}};
}

void write_place(JsonWriter& json, const Where& where) {
    json.member("file", where.file);
    json.member("line", where.line);
}

void write_fixes(JsonWriter& json, const Diagnostic& finding) {
    json.begin('[');
    for (const Remedy& remedy : finding.remedies) {
        json.begin('[');
        for (const Insertion& insertion : remedy) {
            json.begin('{');
            write_place(json, insertion.where);
            json.member("position", std::string_view(insertion.after ? "after" : "before"));
            json.member("text", lines_of(insertion));
            json.end('}');
        }
        json.end(']');
    }
    json.end(']');
}

void write_notes(JsonWriter& json, const Diagnostic& finding) {
    json.begin('[');
    for (const Note& note : finding.notes) {
        json.begin('{');
        write_place(json, note.where);
        json.member("message", note.message);
        json.end('}');
    }
    json.end(']');
}

/// SARIF's arrays hold nothing twice.
void add_once(ordered_json& list, ordered_json item) {
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(std::move(item));
}

/// "insert k:wgmma_fence() before line 41"
std::string described(const Remedy& remedy) {
    std::string text;
    for (const Insertion& insertion : remedy) {
        text += text.empty() ? "insert " : ", ";
        for (std::size_t i = 0; i < insertion.calls.size(); ++i) {
            const std::string& call = insertion.calls[i];
            text += fmt::format("{}{}", i == 0 ? "" : "; ",
                                call.substr(std::min(call.find_first_not_of(" \t"), call.size())));
        }
        text += fmt::format(" {} line {}", insertion.after ? "after" : "before", insertion.where.line);
    }
    return text;
}

/// SARIF's fix objects: an empty region in front of the line is replaced by the text.
ordered_json sarif_fixes(const Diagnostic& finding) {
    ordered_json fixes = ordered_json::array();
    for (const Remedy& remedy : finding.remedies) {
        std::map<std::string_view, ordered_json> replacements;  // by file
        for (const Insertion& insertion : remedy) {
            const int line = insertion.where.line + (insertion.after ? 1 : 0);
            auto& list = replacements.try_emplace(insertion.where.file, ordered_json::array()).first->second;
            list.push_back({{"deletedRegion",
                             {{"startLine", line}, {"startColumn", 1}, {"endLine", line}, {"endColumn", 1}}},
                            {"insertedContent", {{"text", lines_of(insertion)}}}});
        }
        ordered_json changes = ordered_json::array();
        for (auto& [file, list] : replacements)
            changes.push_back(
                {{"artifactLocation", {{"uri", uri(file)}}}, {"replacements", std::move(list)}});
        add_once(fixes, {{"description", {{"text", described(remedy)}}}, {"artifactChanges", changes}});
    }
    return fixes;
}

}  // namespace

std::string to_text(const Diagnostic& finding, bool colour) {
    const auto painted = [&](std::string_view code, std::string_view text) {
        return colour ? fmt::format("{}{}{}", code, text, reset) : std::string(text);
    };
    std::string text =
        fmt::format("{}{} {}{}", painted(bold, place(finding.where)),
                    painted(colour_of(finding.severity), fmt::format("{}:", to_string(finding.severity))),
                    painted(bold, with_newlines(finding.message, "\n  ")), painted(dim, tag(finding)));
    for (const Note& note : finding.notes) {
        text += fmt::format("\n  {}{}", place(note.where), with_newlines(note.message, "\n    "));
    }
    const std::string section =
        finding.section.empty() ? std::string{} : fmt::format("(PTX ISA {})", finding.section);
    if (!finding.fix.empty()) {
        text += fmt::format("\n  {} {}", painted("\x1b[1;32m", "fix:"), with_newlines(finding.fix, "\n    "));
        if (!section.empty()) text += fmt::format("    {}", painted(dim, section));
    } else if (!section.empty()) {
        text += fmt::format("\n  {}", painted(dim, section));
    }
    return text;
}

std::string to_line(const Diagnostic& finding) {
    return place(finding.where) + with_newlines(finding.message, " ") + tag(finding);
}

std::string to_json(std::span<const Diagnostic> findings) {
    JsonWriter json;
    json.begin('{');
    json.key("findings");
    json.begin('[');
    for (const Diagnostic& finding : findings) {
        json.begin('{');
        json.member("rule", finding.rule);
        json.member("severity", to_string(finding.severity));
        write_place(json, finding.where);
        json.member("message", finding.message);
        json.member("fix", finding.fix);
        json.member("section", finding.section);
        json.key("notes");
        write_notes(json, finding);
        json.key("fixes");
        write_fixes(json, finding);
        json.end('}');
    }
    json.end(']');
    json.end('}');
    return json.take();
}

std::string to_sarif(std::span<const Diagnostic> findings) {
    std::map<std::string, int> index;  // of each rule, in the order of appearance
    ordered_json rules = ordered_json::array(), results = ordered_json::array();
    for (const Diagnostic& finding : findings) {
        ordered_json result;
        if (!finding.rule.empty()) {
            const auto [entry, added] = index.emplace(finding.rule, static_cast<int>(index.size()));
            if (added) rules.push_back({{"id", finding.rule}});
            result["ruleId"] = finding.rule;
            result["ruleIndex"] = entry->second;
        }
        result["level"] = to_string(finding.severity);
        result["message"] = {{"text", finding.message}};
        if (!finding.where.file.empty()) {
            result["locations"] = ordered_json::array({location(finding.where)});
        }
        ordered_json related = ordered_json::array();
        for (const Note& note : finding.notes) {
            if (note.where.file.empty()) continue;
            ordered_json entry = location(note.where);
            entry["message"] = {{"text", note.message}};
            add_once(related, std::move(entry));
        }
        if (!related.empty()) result["relatedLocations"] = related;
        if (!finding.remedies.empty()) result["fixes"] = sarif_fixes(finding);
        ordered_json properties = ordered_json::object();
        if (!finding.fix.empty()) properties["fix"] = finding.fix;
        if (!finding.section.empty()) properties["section"] = "PTX ISA " + finding.section;
        if (!properties.empty()) result["properties"] = properties;
        results.push_back(result);
    }
    const ordered_json driver{{"name", "wgrun"}, {"version", version()}, {"rules", rules}};
    const ordered_json run{{"tool", {{"driver", driver}}}, {"results", results}};
    return dump({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs", ordered_json::array({run})}});
}

}  // namespace wgrun
