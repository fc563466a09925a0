// wgrun report FILE: the assembler's figures for every kernel of a script. No kernel runs.
#include <fmt/format.h>

#include "bindings/cli/command.hpp"
#include "bindings/cli/print_kernels.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/gpu.hpp"
#include "wgrun/target.hpp"

namespace wgrun::cli {
namespace report_detail {
namespace {

using Json = nlohmann::ordered_json;

struct Reported {
    std::string kernel;
    int threads;
    AssemblyReport report;
};

struct Visit {
    const std::atomic<bool>* stop;
    std::vector<Reported> reports;
    std::vector<Diagnostic> findings;
};

/// The CTAs that fit into an SM at a time, and the resource that limits them.
std::pair<int, std::string_view> occupancy(const Reported& r) {
    const Target::Residents residents =
        sm_90a.residents(r.threads, r.report.static_shared + r.report.dynamic_shared, r.report.registers);
    const std::pair<std::int64_t, std::string_view> limits[] = {{residents.by_registers, "registers"},
                                                                {residents.by_shared, "shared memory"},
                                                                {residents.by_threads, "threads"},
                                                                {residents.by_ctas, "CTAs"}};
    const auto least = std::min_element(std::begin(limits), std::end(limits),
                                        [](const auto& a, const auto& b) { return a.first < b.first; });
    return {static_cast<int>(least->first), least->second};
}

void report_kernel(Kernel& kernel, void* context) {
    auto& visit = *static_cast<Visit*>(context);
    const std::vector<Diagnostic>& findings = kernel.check();
    visit.findings.insert(visit.findings.end(), findings.begin(), findings.end());
    if (has_errors(findings)) return;
    AssemblyReport report = kernel.report(visit.stop);
    visit.findings.insert(visit.findings.end(), report.findings.begin(), report.findings.end());
    visit.reports.push_back({kernel.program().name(), kernel.program().threads(), std::move(report)});
}

void body(lua_State* L, const Request& request, Outcome& outcome, void* context) {
    run_scripts(L, request, outcome);
    forgive_missing_results(L, outcome);
    static_cast<Visit*>(context)->stop = &lua::session(L).stop;
    for_each_kernel(L, outcome, report_kernel, context);
}

std::string to_text(const Reported& r) {
    const auto [ctas, limit] = occupancy(r);
    const std::string version = assembler_version(r.report);
    std::string text = fmt::format("{} ({}, {}{}{})\n", r.kernel, count_of(r.threads, "thread"),
                                   r.report.assembler, version.empty() ? "" : " ", version);
    text += fmt::format("  registers      {} a thread (the program's values need at least {})\n",
                        r.report.registers, r.report.estimated);
    text += fmt::format("  shared memory  {}\n",
                        count_of(r.report.static_shared + r.report.dynamic_shared, "byte"));
    text += fmt::format("  occupancy      {} an SM, {} of {} warps; {} set the limit\n",
                        count_of(ctas, "CTA"), ctas * sm_90a.warps_of(r.threads), sm_90a.sm_warps(), limit);
    text +=
        r.report.spill_stores + r.report.spill_loads == 0
            ? "  spills         none\n"
            : fmt::format("  spills         {} stored, {} loaded\n", count_of(r.report.spill_stores, "byte"),
                          count_of(r.report.spill_loads, "byte"));
    for (const std::string& note : r.report.notes) text += fmt::format("  note           {}\n", note);
    return text;
}

Json to_object(const Reported& r) {
    const auto [ctas, limit] = occupancy(r);
    return {{"kernel", r.kernel},
            {"threads", r.threads},
            {"assembler", r.report.assembler},
            {"assembler_version", assembler_version(r.report)},
            {"registers", r.report.registers},
            {"estimated", r.report.estimated},
            {"static_shared", r.report.static_shared},
            {"dynamic_shared", r.report.dynamic_shared},
            {"spill_stores", r.report.spill_stores},
            {"spill_loads", r.report.spill_loads},
            {"ctas_per_sm", ctas},
            {"limited_by", limit},
            {"notes", r.report.notes}};
}

int report(const Request& request) {
    Results results(true);
    Visit visit{nullptr, {}, {}};
    const Outcome outcome = with_state(request, lua::Mode::trace, body, &visit);
    return print_kernels(results, request, outcome, visit.findings, visit.reports, to_object, to_text);
}

}  // namespace
}  // namespace report_detail

const Command report_command{
    "report", "Print registers, shared memory, occupancy and spills of every kernel of a script",
    Takes::script, [](Arguments&) -> Command::Run { return report_detail::report; }};

}  // namespace wgrun::cli
