#include "bindings/cli/needless.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bindings/cli/edges.hpp"
#include "bindings/cli/silence.hpp"
#include "bindings/lua/types.hpp"
#include "wgrun/needless.hpp"
#include "wgrun/progress.hpp"

namespace wgrun::cli {
namespace needless_detail {
namespace {

struct Context {
    std::vector<Needless> kernels;
    Needless::Pass pass = Needless::Pass::each;
    int seeds = 1;

    void launch(Kernel& kernel, const RunOptions& options, std::string_view sizes) {
        auto known = std::ranges::find_if(kernels, [&](const Needless& one) { return one.is(kernel); });
        if (known == kernels.end()) known = kernels.emplace(kernels.end(), kernel);
        known->launch(kernel, options, seeds, pass, sizes);
    }
};

void body(lua_State* L, const Request& request, Outcome& outcome, void* context_of) {
    Context& context = *static_cast<Context*>(context_of);
    lua::guarded(L, [&] {
        lua::session(L).debug = [&context](Kernel& kernel, const RunOptions& options) {
            RunOptions run = options;
            run.backend = Backend::sim;
            context.launch(kernel, run, {});  // before the launch changes its tensors
            kernel.run(run);
        };
    });
    run_scripts(L, request, outcome);
}

/// Once through all launches. Says in `out` why the script did not run through.
void pass(const Request& request, Context& context, NeedlessOperations& out) {
    Request run = request;
    run.backend = Backend::sim;
    run.keep_warnings = true;
    run.seed = 1;
    const Outcome outcome = with_state(run, lua::Mode::run, body, &context);
    if (outcome.code == Exit::interrupted) out.code = outcome.code;
    if (outcome.code != Exit::ok || has_errors(outcome.findings)) {
        out.not_tried = outcome.findings.empty() ? fmt::format("exit code {}", outcome.code)
                                                 : to_line(outcome.findings.front());
        return;
    }
    const Sweep sweep = sweep_sizes(
        request, {.seeds = context.seeds,
                  .before = [&context](Kernel& kernel, const RunOptions& options, const std::string& sizes) {
                      context.launch(kernel, options, sizes);
                  }});
    if (sweep.code == Exit::interrupted) out.code = sweep.code;
    if (!sweep.findings.empty()) out.not_tried = to_line(sweep.findings.list().front());
}

}  // namespace
}  // namespace needless_detail

NeedlessOperations try_without(const Request& request, int seeds) {
    using namespace needless_detail;
    const Progress progress(Progress::Is::around, "without barriers, fences and waits");
    const Silence silence;
    Context context;
    context.seeds = seeds;
    NeedlessOperations out;
    pass(request, context, out);
    context.pass = Needless::Pass::together;
    if (out.not_tried.empty() && std::ranges::any_of(context.kernels, &Needless::any))
        pass(request, context, out);
    for (const Needless& kernel : context.kernels) {
        std::string summary = fmt::format("{}: {}", kernel.name(), kernel.summary());
        if (kernel.has_any() && std::ranges::find(out.summaries, summary) == out.summaries.end())
            out.summaries.push_back(std::move(summary));
        if (!out.not_tried.empty()) continue;
        std::vector<Diagnostic> remarks = kernel.remarks();
        std::ranges::move(remarks, std::back_inserter(out.remarks));
    }
    return out;
}

}  // namespace wgrun::cli
