// SARIF 2.1.0: findings for tools, with the rows of the law book that they name.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "diag/fix.hpp"
#include "wgrun/rules.hpp"
#include "wgrun/version.hpp"

namespace wgrun {

namespace {

using nlohmann::ordered_json;

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

/// SARIF's arrays hold nothing twice.
void add_once(ordered_json& list, ordered_json item) {
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(std::move(item));
}

/// "insert k:wgmma_fence() before line 41", "set align = 8 in line 12"
std::string described(const Remedy& remedy) {
    std::string text;
    for (const Change& change : remedy) {
        if (!text.empty()) text += ", ";
        if (change.kind == Change::Kind::option || change.kind == Change::Kind::line) {
            text += fmt::format("set {}{}{} in line {}", change.option.in(change.dialect),
                                change.dialect == Dialect::lua ? " = " : " ", change.to, change.where.line);
            continue;
        }
        text += "insert ";
        for (std::size_t i = 0; i < change.lines.size(); ++i) {
            const std::string& call = change.lines[i].in(change.dialect);
            text += fmt::format("{}{}", i == 0 ? "" : "; ",
                                call.substr(std::min(call.find_first_not_of(" \t"), call.size())));
        }
        text += fmt::format(" {} line {}", change.kind == Change::Kind::after ? "after" : "before",
                            change.where.line);
    }
    return text;
}

/// SARIF's fix objects: an empty region in front of a line, or the line, is replaced by the text. An option
/// whose line is not known is in the fix's words alone.
ordered_json sarif_fixes(const Diagnostic& finding) {
    ordered_json fixes = ordered_json::array();
    for (const Remedy& remedy : finding.remedies) {
        std::map<std::string_view, ordered_json> replacements;  // by file
        for (const Change& change : remedy) {
            if (change.kind == Change::Kind::option) continue;
            const int line = change.where.line + (change.kind == Change::Kind::after ? 1 : 0);
            const int end = line + (change.kind == Change::Kind::line ? 1 : 0);
            auto& list = replacements.try_emplace(change.where.file, ordered_json::array()).first->second;
            list.push_back({{"deletedRegion",
                             {{"startLine", line}, {"startColumn", 1}, {"endLine", end}, {"endColumn", 1}}},
                            {"insertedContent", {{"text", text_of(change, change.dialect)}}}});
        }
        if (replacements.empty()) continue;
        ordered_json changes = ordered_json::array();
        for (auto& [file, list] : replacements)
            changes.push_back(
                {{"artifactLocation", {{"uri", uri(file)}}}, {"replacements", std::move(list)}});
        add_once(fixes, {{"description", {{"text", described(remedy)}}}, {"artifactChanges", changes}});
    }
    return fixes;
}

/// What a tool shows of a rule, or of a property.
ordered_json descriptor(std::string_view id) {
    ordered_json out{{"id", id}};
    if (const Rule* rule = find_rule(id)) {
        out["shortDescription"] = {{"text", rule->title}};
        out["fullDescription"] = {{"text", rule->law}};
        out["help"] = {{"text", rule->fix}};
    } else if (const auto row = std::ranges::find(properties(), id, &PropertyRow::id);
               row != properties().end()) {
        out["shortDescription"] = {{"text", row->title}};
        out["fullDescription"] = {{"text", row->what}};
    }
    return out;
}

/// The rules that results name, in the order of appearance.
class Rules {
  public:
    void name(ordered_json& result, std::string_view id) {
        const auto [entry, added] = index_.emplace(id, static_cast<int>(index_.size()));
        if (added) list_.push_back(descriptor(id));
        result["ruleId"] = id;
        result["ruleIndex"] = entry->second;
    }
    ordered_json take() && { return std::move(list_); }

  private:
    std::map<std::string, int, std::less<>> index_;
    ordered_json list_ = ordered_json::array();
};

/// "gemm: no deadlock: proved for all launches"
std::string said_of(const Judged& kernel, const Verdict& verdict) {
    const bool proved = verdict.kind == Verdict::Kind::proved;
    return fmt::format("{}: {}: {}{}{}", kernel.kernel, row_of(verdict.property).title,
                       to_string(verdict.kind), proved ? " for " : ": ",
                       proved ? verdict.domain : verdict.reason);
}

/// A verdict as a result (SARIF 3.27.9). What refutes it is a result of its own, with its level.
ordered_json result_of(const Judged& kernel, const Verdict& verdict, Rules& rules) {
    ordered_json out;
    rules.name(out, row_of(verdict.property).id);
    const bool refuted = verdict.kind == Verdict::Kind::refuted;
    out["kind"] = refuted ? "fail" : verdict.kind == Verdict::Kind::proved ? "pass" : "open";
    out["level"] = refuted ? "note" : "none";
    out["message"] = {{"text", said_of(kernel, verdict)}};
    ordered_json place = location(verdict.where ? verdict.where : kernel.where);
    place["logicalLocations"] = ordered_json::array({{{"name", kernel.kernel}, {"kind", "function"}}});
    out["locations"] = ordered_json::array({std::move(place)});
    ordered_json properties{{"kernel", kernel.kernel}, {"verdict", to_string(verdict.kind)}};
    if (verdict.kind == Verdict::Kind::proved)
        properties["domain"] = verdict.domain;
    else
        properties["reason"] = verdict.reason;
    if (!verdict.assumption.empty()) properties["assumption"] = verdict.assumption;
    out["properties"] = std::move(properties);
    return out;
}

}  // namespace

std::string to_sarif(std::span<const Diagnostic> findings, std::span<const Judged> kernels,
                     std::span<const Input> inputs) {
    Rules rules;
    ordered_json results = ordered_json::array();
    for (const Diagnostic& finding : findings) {
        ordered_json result;
        if (!finding.rule.empty()) rules.name(result, finding.rule);
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
        if (ordered_json fixes = sarif_fixes(finding); !fixes.empty()) result["fixes"] = std::move(fixes);
        ordered_json properties = ordered_json::object();
        if (!finding.fix.empty()) properties["fix"] = finding.fix;
        if (!finding.section.empty()) properties["section"] = "PTX ISA " + finding.section;
        if (!properties.empty()) result["properties"] = properties;
        results.push_back(result);
    }
    for (const Judged& kernel : kernels)
        for (const Verdict& verdict : kernel.verdicts) results.push_back(result_of(kernel, verdict, rules));
    const ordered_json driver{{"name", "wgrun"}, {"version", version()}, {"rules", std::move(rules).take()}};
    ordered_json run{{"tool", {{"driver", driver}}}, {"results", results}};
    for (const Input& input : inputs)
        add_once(run["artifacts"],
                 {{"location", {{"uri", uri(input.file)}}}, {"hashes", {{"sha-256", input.sha256}}}});
    return dump({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs", ordered_json::array({run})}});
}

}  // namespace wgrun
