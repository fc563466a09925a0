// wgrun timeline FILE: the timeline of a kernel of a script, by the model of docs/timeline.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>

#include "bindings/cli/command.hpp"
#include "bindings/cli/host.hpp"
#include "bindings/lua/guard.hpp"
#include "wgrun/timeline.hpp"

namespace wgrun::cli {
namespace {

struct Options {
    std::string kernel;  ///< empty: any
    int launch = 1;      ///< the number of the launch
    std::string svg, perfetto;
    double from = 0, to = 0;
    int columns = 80;
};

struct Work {
    const Options& options;
    int launches = 0;
    std::optional<Timeline> timeline;
};

void timeline_body(lua_State* L, const Request& request, Outcome& outcome, void* context) {
    auto& work = *static_cast<Work*>(context);
    lua::guarded(L, [&] {
        lua::session(L).traced = [&work](Kernel& kernel, const RunOptions& options) {
            if (work.timeline ||
                (!work.options.kernel.empty() && kernel.program().name() != work.options.kernel))
                return;
            if (++work.launches == work.options.launch) work.timeline = timeline_of(kernel, options);
        };
    });
    run_scripts(L, request, outcome);
    forgive_missing_results(L, outcome);
}

bool save(const std::string& path, const std::string& text) {
    if (path.empty()) return true;
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (file) return true;
    remark("wgrun: cannot write " + path);
    return false;
}

int show_timeline(const Request& request, const Options& options) {
    Results results(true);
    Work work{options, 0, {}};
    Outcome outcome = with_state(request, lua::Mode::trace, timeline_body, &work);
    print_findings(request, outcome.findings);
    if (!outcome.traceback.empty()) remark(outcome.traceback);
    if (!work.timeline) {
        if (outcome.code != Exit::ok) return outcome.code;
        const std::string of =
            options.kernel.empty() ? "no kernel" : "no kernel called `" + options.kernel + "`";
        remark(work.launches == 0
                   ? fmt::format("wgrun: {} launches {}", request.file, of)
                   : fmt::format("wgrun: {} has {} such launch{}, but no launch {}", request.file,
                                 work.launches, work.launches == 1 ? "" : "es", options.launch));
        return Exit::failed;
    }
    const Timeline& timeline = *work.timeline;
    if (!save(options.svg, to_svg(timeline, options.from, options.to)) ||
        !save(options.perfetto, to_chrome(timeline)))
        outcome.code = Exit::failed;
    results.write(request.json ? to_json(timeline)
                               : to_text(timeline, options.columns, options.from, options.to));
    return results.finish() ? outcome.code : Exit::failed;
}

Command::Run declare(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    app.add_option("--kernel", options->kernel, "Show the first launch of this kernel")->type_name("NAME");
    app.add_option("--launch", options->launch, "Show this launch, counted from 1")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    app.add_option("--from", options->from, "Show from this cycle on")->type_name("CYCLE");
    app.add_option("--to", options->to, "Show up to this cycle")->type_name("CYCLE");
    app.add_option("--columns", options->columns, "Width of the text")
        ->check(CLI::Range(32, 1000))
        ->capture_default_str();
    app.add_option("--svg", options->svg, "Write the picture as an SVG file")->type_name("FILE");
    app.add_option("--perfetto", options->perfetto, "Write trace events for ui.perfetto.dev")
        ->type_name("FILE");
    return [options](const Request& request) { return show_timeline(request, *options); };
}

}  // namespace

const Command timeline_command{"timeline", "Show what a kernel does when, and what limits it", Takes::script,
                               declare};

}  // namespace wgrun::cli
