#include "bindings/cli/gather.hpp"

#include <algorithm>

#include "gpu/cache.hpp"
#include "wgrun/progress.hpp"

namespace wgrun::cli {
namespace {

bool is_error(const Diagnostic& finding) { return finding.severity == Severity::error; }

/// Whether a step or a declaration of the kernel stands at one of the lines.
bool stands_at(const Program& program, const std::string& file, const std::set<int>& lines) {
    bool out = false;
    const auto look = [&](Where where) { out = out || (where.file == file && lines.contains(where.line)); };
    for_each_step(program, [&](const Step& step) { look(step.where); });
    for (const SharedBuffer& buffer : program.shared()) look(buffer.where);
    return out;
}

struct Visit {
    const Search& search;
    const std::string file;  ///< the script
    Checked& checked;
    const std::atomic<bool>* stop;  ///< of the state's session
    Sweep ahead;                    ///< of edge sizes, where no run follows
};

void check_kernel(Kernel& kernel, void* context) {
    const auto& [search, file, checked, stop, ahead] = *static_cast<const Visit*>(context);
    ++checked.kernels;
    checked.threads.insert(kernel.program().threads());
    if (search.lines != nullptr && !stands_at(kernel.program(), file, *search.lines)) return;
    if (search.dynamic) checked.coverage.add(kernel.program());
    Assumptions given = search.given;
    given.stop = stop;
    for (const auto& [name, value] : given.numbers)
        if (names_number(kernel.program(), name)) checked.names.insert(name);
    if (given.seconds > 0)
        checked.judged.push_back({kernel.program().name(), kernel.program().where(), kernel.verdicts(given)});
    const std::vector<Diagnostic>& findings = kernel.check();
    checked.findings.add_wordings(findings);
    if (search.perf) checked.findings.add_wordings(kernel.performance());
    if (search.assemble && std::none_of(findings.begin(), findings.end(), is_error))
        checked.assembly.add(kernel, kernel.program().name(), stop, checked.findings);
    if (search.sass && std::none_of(findings.begin(), findings.end(), is_error)) {
        checked.machine_code.add(kernel, stop);
        for (Judged& judged : checked.judged)
            if (judged.kernel == kernel.program().name() && judged.where == kernel.program().where())
                checked.machine_code.add_verdict(judged.kernel, judged.verdicts);
    }
}

void check_body(lua_State* L, const Request& request, Outcome& outcome, void* context) {
    run_scripts(L, request, outcome);
    forgive_missing_results(L, outcome);
    auto& visit = *static_cast<Visit*>(context);
    visit.stop = &lua::session(L).stop;
    for_each_kernel(L, outcome, check_kernel, context);
    if (!visit.search.dynamic && outcome.code == Exit::ok && visit.checked.errors() == 0)
        look_ahead_at_sizes(L, visit.ahead);
}

void run_body(lua_State* L, const Request& request, Outcome& outcome, void* coverage) {
    lua::session(L).coverage = static_cast<Coverage*>(coverage);
    run_scripts(L, request, outcome);
}

/// The exit code: that of the first run that failed for another reason than findings.
int explore(const Request& request, const Search& search, Checked& checked) {
    Progress progress(Progress::Is::around, "schedule", static_cast<std::uint64_t>(search.seeds));
    const std::uint64_t first = std::max<std::uint64_t>(search.seed, 1);
    const std::uint64_t last = search.seed != 0 ? first : static_cast<std::uint64_t>(search.seeds);
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        progress.done(seed);
        const Outcome outcome = explore(request, seed, &checked.coverage);
        checked.findings.add_wordings(outcome.findings);
        if (outcome.code == Exit::failed && std::ranges::any_of(outcome.findings, is_error)) return Exit::ok;
        if (outcome.code != Exit::ok) return outcome.code;
    }
    return Exit::ok;
}

}  // namespace

std::size_t Checked::errors() const {
    return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(), is_error));
}

Outcome explore(const Request& request, std::uint64_t seed, Coverage* coverage) {
    Request run = request;
    run.backend = Backend::sim;
    run.keep_warnings = true;
    run.seed = seed;
    Outcome outcome = with_state(run, lua::Mode::run, run_body, coverage);
    for (Diagnostic& finding : outcome.findings)
        if (!finding.launch) finding.launch = FoundIn{.by = FoundIn::By::script, .seed = seed};
    return outcome;
}

Checked gather(const Request& request, const Search& search) {
    Checked checked;
    checked.machine_code = KeptCode(search.machine_code, search.perf);
    Visit visit{search, request.name(), checked, nullptr, {}};
    Outcome outcome = with_state(request, lua::Mode::trace, check_body, &visit);
    checked.findings.add_wordings(outcome.findings);
    checked.findings.add_wordings(visit.ahead.findings);
    checked.machine_code.add_findings(checked.findings);
    checked.sizes = std::move(visit.ahead.kernels);
    checked.code = outcome.code != Exit::ok ? outcome.code : visit.ahead.code;
    checked.traceback = std::move(outcome.traceback);
    checked.explored = search.dynamic && checked.code == Exit::ok && checked.errors() == 0;
    if (checked.explored) checked.code = explore(request, search, checked);
    if (checked.explored && checked.code == Exit::ok && checked.errors() == 0) {
        Sweep sweep = sweep_sizes(
            request,
            {.seeds = search.seed != 0 ? 1 : search.seeds, .whole = true, .coverage = &checked.coverage});
        checked.findings.add_wordings(sweep.findings);
        checked.sizes = std::move(sweep.kernels);
        checked.code = sweep.code;
    }
    if (search.perf && checked.code == Exit::ok && checked.errors() == 0) {
        checked.tried = try_without(request, search.seeds);
        checked.code = checked.tried.code;
        checked.findings.add_all(checked.tried.remarks);
    }
    if (const std::string why = gpu::take_cache_problem(); !why.empty()) remark("wgrun: " + why);
    return checked;
}

}  // namespace wgrun::cli
