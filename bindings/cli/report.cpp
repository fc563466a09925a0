// wgrun report FILE: the assembler's figures for every kernel of a script. No kernel runs.
#include "bindings/cli/command.hpp"
#include "bindings/cli/print_kernels.hpp"
#include "wgrun/assembly.hpp"

namespace wgrun::cli {
namespace report_detail {
namespace {

/// One kernel's, which outlives the Lua state.
struct Reported {
    std::string text, json;
};

struct Visit {
    const std::atomic<bool>* stop;
    std::vector<Reported> reports;
    std::vector<Diagnostic> findings;
};

void report_kernel(Kernel& kernel, void* context) {
    auto& visit = *static_cast<Visit*>(context);
    const std::vector<Diagnostic>& findings = kernel.check();
    visit.findings.insert(visit.findings.end(), findings.begin(), findings.end());
    if (has_errors(findings)) return;
    const AssemblyReport report = kernel.report(visit.stop);
    visit.findings.insert(visit.findings.end(), report.findings.begin(), report.findings.end());
    visit.reports.push_back({to_text(report, kernel.program()), to_json(report, kernel.program())});
}

void body(lua_State* L, const Request& request, Outcome& outcome, void* context) {
    run_scripts(L, request, outcome);
    forgive_missing_results(L, outcome);
    static_cast<Visit*>(context)->stop = &lua::session(L).stop;
    for_each_kernel(L, outcome, report_kernel, context);
}

int report(const Request& request) {
    Results results(true);
    Visit visit{nullptr, {}, {}};
    const Outcome outcome = with_state(request, lua::Mode::trace, body, &visit);
    return print_kernels(
        results, request, outcome, visit.findings, visit.reports,
        [](const Reported& r) { return nlohmann::ordered_json::parse(r.json); },
        [](const Reported& r) { return r.text; });
}

}  // namespace
}  // namespace report_detail

const Command report_command{
    "report", "Print registers, shared memory, occupancy and spills of every kernel of a script",
    Takes::script, [](Arguments&) -> Command::Run { return report_detail::report; }};

}  // namespace wgrun::cli
