// wgrun check FILE: every finding in every kernel of a script. No kernel runs, unless --dynamic asks for it.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bindings/cli/host.hpp"

namespace wgrun::cli {
namespace {

struct Checked {
    std::vector<Diagnostic> findings;
    std::size_t kernels = 0;
    bool assemble = false;
    std::vector<std::pair<std::string, AssemblyReport>> assembled;  ///< name of the kernel, report
    std::string not_assembled;                                      ///< why, when there is no assembler
};

// Variants of a kernel that a loop makes have the same findings at the same lines: each is told once.
void add_once(std::vector<Diagnostic>& findings, const Diagnostic& finding) {
    const bool known = std::any_of(findings.begin(), findings.end(), [&](const Diagnostic& other) {
        return other.rule == finding.rule && other.where == finding.where && other.message == finding.message;
    });
    if (!known) findings.push_back(finding);
}

std::ptrdiff_t count_errors(const std::vector<Diagnostic>& findings) {
    return std::count_if(findings.begin(), findings.end(),
                         [](const Diagnostic& finding) { return finding.severity == Severity::error; });
}

void assemble(Kernel& kernel, Checked& checked) {
    try {
        AssemblyReport report = kernel.report();
        for (const Diagnostic& finding : report.findings) add_once(checked.findings, finding);
        checked.assembled.emplace_back(kernel.program().name(), std::move(report));
    } catch (const EnvironmentError& error) {
        if (error.code() == "ECOMPILE") throw;
        checked.not_assembled = error.what();
    }
}

void check_kernel(Kernel& kernel, void* context) {
    auto& checked = *static_cast<Checked*>(context);
    ++checked.kernels;
    const std::vector<Diagnostic>& findings = kernel.check();
    for (const Diagnostic& finding : findings) add_once(checked.findings, finding);
    if (checked.assemble && count_errors(findings) == 0) assemble(kernel, checked);
}

void check_body(lua_State* L, const Request& request, Outcome& outcome, void* context) {
    run_scripts(L, request, outcome);
    forgive_missing_results(L, outcome);
    for_each_kernel(L, outcome, check_kernel, context);
}

void run_body(lua_State* L, const Request& request, Outcome& outcome, void*) {
    run_scripts(L, request, outcome);
}

/// Runs the script on the simulator, once a seed, and adds what that finds. The exit code: that of the first
/// run that failed for another reason.
int explore(const Request& request, Checked& checked) {
    Request run = request;
    run.backend = Backend::sim;
    for (int seed = 1; seed <= request.seeds; ++seed) {
        run.seed = static_cast<std::uint64_t>(seed);
        const Outcome outcome = with_state(run, lua::Mode::run, run_body, nullptr);
        for (const Diagnostic& finding : outcome.findings) add_once(checked.findings, finding);
        if (outcome.code != Exit::ok) return outcome.findings.empty() ? outcome.code : Exit::ok;
    }
    return Exit::ok;
}

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
                                    {"spill_stores", report.spill_stores},
                                    {"spill_loads", report.spill_loads},
                                    {"static_shared", report.static_shared},
                                    {"dynamic_shared", report.dynamic_shared}});
    if (!checked.not_assembled.empty()) json["not_assembled"] = checked.not_assembled;
    return json.dump(2);
}

std::string as_text(const Request& request, const Checked& checked) {
    const auto errors = count_errors(checked.findings);
    std::string text;
    for (const auto& [name, report] : checked.assembled)
        text += fmt::format("{}: {} registers a thread, {} bytes of shared memory, {} bytes spilled ({})\n",
                            name, report.registers, report.static_shared + report.dynamic_shared,
                            report.spill_stores, report.assembler);
    if (!checked.not_assembled.empty()) text += fmt::format("not assembled: {}\n", checked.not_assembled);
    return text + fmt::format("{}: {}, {}, {}\n", request.file, counted(checked.kernels, "kernel"),
                              counted(static_cast<std::size_t>(errors), "error"),
                              counted(checked.findings.size() - static_cast<std::size_t>(errors), "remark"));
}

}  // namespace

int check(const Request& request) {
    Results results(true);
    Checked checked;
    checked.assemble = request.assemble;
    const Outcome outcome = with_state(request, lua::Mode::trace, check_body, &checked);
    for (const Diagnostic& finding : outcome.findings) add_once(checked.findings, finding);
    const bool runnable = outcome.code == Exit::ok && count_errors(checked.findings) == 0;
    const int explored = request.dynamic && runnable ? explore(request, checked) : Exit::ok;
    const auto errors = count_errors(checked.findings);
    if (request.json) {
        results.write(as_json(request, checked));
    } else if (request.sarif) {
        results.write(to_sarif(checked.findings));
    } else {
        print_findings(request, checked.findings);
        results.write(as_text(request, checked));
    }
    if (!outcome.traceback.empty()) remark(outcome.traceback);
    if (!results.finish()) return Exit::failed;
    if (outcome.code != Exit::ok) return outcome.code;
    return errors > 0 ? Exit::failed : explored;
}

}  // namespace wgrun::cli
