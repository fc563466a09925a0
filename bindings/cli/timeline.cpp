// wgrun timeline FILE: the timeline of a kernel of a script, by the model of docs/timeline.md or from a run.
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "bindings/cli/command.hpp"
#include "bindings/cli/host.hpp"
#include "bindings/lua/guard.hpp"
#include "file/replacement.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/timeline.hpp"

namespace wgrun::cli {
namespace timeline_detail {
namespace {

struct Options {
    std::string kernel;  ///< empty: any
    int launch = 1;      ///< the number of the launch
    std::string svg, html, perfetto;
    double from = 0, to = 0;
    int columns = 80;
    bool both = false;
    int clusters = 1;
    std::int64_t events = 4096;
};

struct Work {
    const Options& options;
    Backend backend;  ///< automatic: only the model is asked
    int launches = 0;
    std::vector<Timeline> timelines;
};

void lay_out(Work& work, Kernel& kernel, const RunOptions& run) {
    const bool noted = work.backend != Backend::automatic;
    if (!noted || work.options.both) work.timelines.push_back(timeline_of(kernel, run));
    if (!noted && !work.options.both) return;
    ProfileOptions profile;
    static_cast<RunOptions&>(profile) = run;
    profile.backend = work.backend;
    profile.clusters = work.options.clusters;
    profile.events = work.options.events;
    work.timelines.push_back(profile_of(kernel, profile));
}

std::string text_of(const std::vector<Timeline>& timelines, const Options& options) {
    const auto timed = [](const Timeline& timeline) { return timeline.source != Timeline::Source::steps; };
    double most = options.to;
    if (most <= options.from)  // one scale for all that have times
        for (const Timeline& timeline : timelines)
            if (timed(timeline)) most = std::max(most, timeline.cycles);
    std::string out;
    for (const Timeline& timeline : timelines) {
        if (!out.empty()) out += "\n";
        out += to_text(timeline, options.columns, options.from, timed(timeline) ? most : options.to);
    }
    return out;
}

std::string json_of(const std::vector<Timeline>& timelines) {
    if (timelines.size() == 1) return to_json(timelines.front());
    std::string out = "[\n";
    for (const Timeline& timeline : timelines) {
        if (out.size() > 2) out += ",\n";
        out += to_json(timeline);
    }
    return out + "]\n";
}

void timeline_body(lua_State* L, const Request& request, Outcome& outcome, void* context) {
    auto& work = *static_cast<Work*>(context);
    lua::guarded(L, [&] {
        lua::session(L).traced = [&work](Kernel& kernel, const RunOptions& options) {
            if (!work.options.kernel.empty() && kernel.program().name() != work.options.kernel) return;
            if (++work.launches == work.options.launch) lay_out(work, kernel, options);
        };
    });
    run_scripts(L, request, outcome);
    forgive_missing_results(L, outcome);
}

bool save(const std::string& path, const std::string& text) {
    if (path.empty()) return true;
    try {
        file::replace(path, text);
        return true;
    } catch (const EnvironmentError& error) {
        remark(fmt::format("wgrun: cannot write {}", error.what()));
        return false;
    }
}

int show_timeline(const Request& request, const Options& options) {
    Results results(true);
    Work work{options, request.backend, 0, {}};
    Outcome outcome = with_state(request, lua::Mode::trace, timeline_body, &work);
    print_findings(request, outcome.findings);
    if (!outcome.traceback.empty()) remark(outcome.traceback);
    if (work.timelines.empty()) {
        if (outcome.code != Exit::ok) return outcome.code;
        const std::string of =
            options.kernel.empty() ? "no kernel" : "no kernel called `" + options.kernel + "`";
        remark(work.launches == 0
                   ? fmt::format("wgrun: {} launches {}", request.name(), of)
                   : fmt::format("wgrun: {} has {}, but no launch {}", request.name(),
                                 count_of(work.launches, "such launch", "such launches"), options.launch));
        return Exit::failed;
    }
    if (!save(options.svg, to_svg(work.timelines, options.from, options.to)) ||
        !save(options.html, to_html(work.timelines, options.from, options.to)) ||
        !save(options.perfetto, to_chrome(work.timelines)))
        outcome.code = Exit::failed;
    results.write(request.json ? json_of(work.timelines) : text_of(work.timelines, options));
    return results.finish() ? outcome.code : Exit::failed;
}

Command::Run declare(Arguments& arguments) {
    const auto options = std::make_shared<Options>();
    arguments.option("--kernel", options->kernel, "Show the first launch of this kernel").unit("NAME");
    arguments.option("--launch", options->launch, "Show this launch, counted from 1")
        .between(1, 1000000)
        .shows_default();
    arguments.option("--from", options->from, "Show from this cycle on").unit("CYCLE");
    arguments.option("--to", options->to, "Show up to this cycle").unit("CYCLE");
    arguments.option("--columns", options->columns, "Width of the text").between(32, 1000).shows_default();
    arguments.option("--svg", options->svg, "Write the picture as an SVG file").unit("FILE");
    arguments.option("--html", options->html, "Write the picture as a page of HTML").unit("FILE");
    arguments.option("--perfetto", options->perfetto, "Write trace events for ui.perfetto.dev").unit("FILE");
    arguments.flag("--both", options->both, "The model, and below it what the kernel notes when it runs");
    arguments.option("--clusters", options->clusters, "Of a run: how many clusters of the grid are noted")
        .between(1, 1000000)
        .shows_default();
    arguments.option("--events", options->events, "Of a run: room for so many events of each warp")
        .between(1, 100000000)
        .shows_default();
    return [options](const Request& request) { return show_timeline(request, *options); };
}

}  // namespace
}  // namespace timeline_detail

const Command timeline_command{"timeline", "Show what a kernel does when, and what limits it", Takes::script,
                               timeline_detail::declare};

}  // namespace wgrun::cli
