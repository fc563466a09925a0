// Renderers of diagnostics: text for terminals, one line for exceptions, JSON for tools. SARIF, which knows
// the rules, is in rules/sarif.cpp.
#include <fmt/format.h>

#include "diag/fix.hpp"
#include "diag/json_writer.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/printable.hpp"

namespace wgrun {

namespace {

constexpr std::string_view bold = "\x1b[1m", dim = "\x1b[2m", reset = "\x1b[0m";

std::string_view colour_of(Severity severity) {
    switch (severity) {
        case Severity::note: return "\x1b[1;36m";
        case Severity::warning: return "\x1b[1;35m";
        case Severity::error: break;
    }
    return "\x1b[1;31m";
}

/// `text` made safe for a terminal, with each newline replaced.
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

/// "file:line: ", "file: " without a line, nothing without a file. The name takes no second line.
std::string place(const Where& where) {
    if (where.file.empty()) return {};
    const std::string file = with_newlines(where.file, "\\x0a");
    return where ? fmt::format("{}:{}: ", file, where.line) : fmt::format("{}: ", file);
}

std::string tag(const Diagnostic& finding) {
    return finding.rule.empty() ? std::string{} : fmt::format(" [{}]", finding.rule);
}

void write_place(JsonWriter& json, const Where& where) {
    json.member("file", where.file);
    json.member("line", where.line);
}

void write_fixes(JsonWriter& json, const Diagnostic& finding) {
    json.begin('[');
    for (const Remedy& remedy : finding.remedies) {
        json.begin('[');
        for (const Change& change : remedy) {
            constexpr std::string_view positions[] = {"before", "after", "option", "line"};  // of each kind
            json.begin('{');
            write_place(json, change.where);
            json.member("position", positions[static_cast<std::size_t>(change.kind)]);
            json.member("text", text_of(change, change.dialect));
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

void write_facts(JsonWriter& json, const Diagnostic& finding) {
    json.begin('{');
    for (const Fact& fact : finding.facts)
        std::visit([&](const auto& value) { json.member(fact.name, value); }, fact.value);
    json.end('}');
}

void write_extents(JsonWriter& json, std::string_view name, const std::array<std::uint32_t, 3>& extents) {
    json.key(name);
    json.begin('[');
    for (const std::uint32_t extent : extents) json.value(extent);
    json.end(']');
}

void write_launch(JsonWriter& json, const FoundIn& launch) {
    constexpr std::string_view makers[] = {"wgrun", "script", "file"};  // of each By
    json.begin('{');
    json.member("by", makers[static_cast<std::size_t>(launch.by)]);
    json.member("kernel", launch.kernel);
    write_extents(json, "grid", launch.grid);
    write_extents(json, "block", launch.block);
    write_extents(json, "cluster", launch.cluster);
    json.key("numbers");
    json.begin('{');
    for (const auto& [name, value] : launch.numbers) json.member(name, value);
    json.end('}');
    if (launch.others) json.member("others", *launch.others);
    json.member("first", launch.first);
    json.member("seed", launch.seed);
    if (!launch.file.empty()) json.member("file", launch.file);
    json.end('}');
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
        json.key("facts");
        write_facts(json, finding);
        if (finding.launch) {
            json.key("launch");
            write_launch(json, *finding.launch);
        }
        json.end('}');
    }
    json.end(']');
    json.end('}');
    return json.take();
}

}  // namespace wgrun
