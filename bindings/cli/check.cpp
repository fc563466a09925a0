// wgrun check FILE: every finding in every kernel of a script. No kernel runs, unless --dynamic asks for it.
#include <algorithm>

#include "bindings/cli/host.hpp"

namespace wgrun::cli {
namespace {

struct Checked {
    std::vector<Diagnostic> findings;
    std::size_t kernels = 0;
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

void check_kernel(Kernel& kernel, void* context) {
    auto& checked = *static_cast<Checked*>(context);
    ++checked.kernels;
    for (const Diagnostic& finding : kernel.check()) add_once(checked.findings, finding);
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

}  // namespace

int check(const Request& request) {
    Results results(true);
    Checked checked;
    const Outcome outcome = with_state(request, lua::Mode::trace, check_body, &checked);
    for (const Diagnostic& finding : outcome.findings) add_once(checked.findings, finding);
    const bool runnable = outcome.code == Exit::ok && count_errors(checked.findings) == 0;
    const int explored = request.dynamic && runnable ? explore(request, checked) : Exit::ok;
    const auto errors = count_errors(checked.findings);
    if (request.json) {
        results.write(to_json(checked.findings));
    } else if (request.sarif) {
        results.write(to_sarif(checked.findings));
    } else {
        print_findings(request, checked.findings);
        results.write(request.file + ": " + counted(checked.kernels, "kernel") + ", " +
                      counted(static_cast<std::size_t>(errors), "error") + ", " +
                      counted(checked.findings.size() - static_cast<std::size_t>(errors), "remark") + "\n");
    }
    if (!outcome.traceback.empty()) remark(outcome.traceback);
    if (!results.finish()) return Exit::failed;
    if (outcome.code != Exit::ok) return outcome.code;
    return errors > 0 ? Exit::failed : explored;
}

}  // namespace wgrun::cli
