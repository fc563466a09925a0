// wgrun check FILE: every finding in every kernel of a script. No kernel runs, unless --dynamic asks for it.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "bindings/cli/fix.hpp"
#include "bindings/cli/gather.hpp"

namespace wgrun::cli {
namespace {

std::string counted(std::size_t count, const char* noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// The findings, and of --assemble the figures.
std::string as_json(const Request& request, const Checked& checked) {
    if (!request.assemble) return to_json(checked.findings);
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(to_json(checked.findings));
    json["assembly"] = nlohmann::ordered_json::array();
    for (const auto& [name, report] : checked.assembled)
        json["assembly"].push_back({{"kernel", name},
                                    {"assembler", report.assembler},
                                    {"registers", report.registers},
                                    {"estimated", report.estimated},
                                    {"spill_stores", report.spill_stores},
                                    {"spill_loads", report.spill_loads},
                                    {"static_shared", report.static_shared},
                                    {"dynamic_shared", report.dynamic_shared}});
    if (!checked.not_assembled.empty()) json["not_assembled"] = checked.not_assembled;
    return json.dump(2);
}

std::string as_text(const Request& request, const Checked& checked) {
    const std::size_t errors = checked.errors();
    std::string text;
    for (const auto& [name, report] : checked.assembled)
        text += fmt::format(
            "{}: {} registers a thread (estimate: {}), {} bytes of shared memory, {} bytes spilled ({})\n",
            name, report.registers, report.estimated, report.static_shared + report.dynamic_shared,
            report.spill_stores, report.assembler);
    if (!checked.not_assembled.empty()) text += fmt::format("not assembled: {}\n", checked.not_assembled);
    return text + fmt::format("{}: {}, {}, {}\n", request.file, counted(checked.kernels, "kernel"),
                              counted(errors, "error"), counted(checked.findings.size() - errors, "remark"));
}

/// Gives the insertions of all findings their places and lines in the scripts they are for.
void resolve_remedies(std::vector<Diagnostic>& findings) {
    std::map<std::string, std::optional<ScriptText>> scripts;
    for (Diagnostic& finding : findings)
        for (Remedy& remedy : finding.remedies)
            for (Insertion& insertion : remedy) {
                const std::string file(insertion.where.file);
                const auto [script, added] = scripts.try_emplace(file);
                if (added) script->second = read_script(file);
                if (script->second) insertion = script->second->resolved(insertion);
            }
}

}  // namespace

int check(const Request& request) {
    Results results(true);
    if (request.fix || request.diff) return fix(request, results);
    Checked checked = gather(request);
    if (request.json || request.sarif) resolve_remedies(checked.findings);
    if (request.json) {
        results.write(as_json(request, checked));
    } else if (request.sarif) {
        results.write(to_sarif(checked.findings));
    } else {
        print_findings(request, checked.findings);
        results.write(as_text(request, checked));
    }
    if (!checked.traceback.empty()) remark(checked.traceback);
    if (!results.finish()) return Exit::failed;
    if (checked.code != Exit::ok) return checked.code;
    return checked.errors() > 0 ? Exit::failed : Exit::ok;
}

}  // namespace wgrun::cli
