// wgrun FILE, wgrun -e CODE, wgrun: runs a script, code, or the prompt.
#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <set>

#include "bindings/cli/command.hpp"
#include "bindings/cli/host.hpp"
#include "bindings/lua/limits.hpp"
#include "bindings/repl/repl.hpp"
#include "bindings/repl/terminal.hpp"
#include "wgrun/debugger.hpp"
#include "wgrun/lua.hpp"
#include "wgrun/version.hpp"

namespace wgrun::cli {
namespace run_detail {
namespace {

struct Options {
    std::vector<std::string> dumps;  ///< NAME@LINE
    std::string when;                ///< for all dumps
    bool lines = false;
};

struct Run {
    const Options& options;
    repl::Terminal terminal;
    std::vector<DebugDump> dumps;
    std::vector<bool> done{};  ///< by dump
    std::set<int> lines{};     ///< with instructions of the kernels that ran
};

/// "--dump x@7: no instruction stands at that line: the nearest are at lines 5 and 9".
std::string not_dumped(const std::string& dump, int line, const std::set<int>& lines) {
    if (lines.empty()) return fmt::format("--dump {}: no kernel ran", dump);
    if (lines.contains(line)) return fmt::format("--dump {}: no selected warp reached that line", dump);
    const auto behind = lines.lower_bound(line);
    std::string near = behind == lines.end() ? "" : fmt::format("{}", *behind);
    if (behind != lines.begin())
        near = fmt::format("{}{}{}", *std::prev(behind), near.empty() ? "" : " and ", near);
    return fmt::format("--dump {}: no instruction of a kernel stands at line {}: the nearest are at {}", dump,
                       line, near);
}

void write_out(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

/// Dumps in place of kernel:run.
void set_dumps(lua_State* L, Run& run) {
    lua::Session& session = lua::session(L);
    session.name_registers = true;
    session.debug = [&run](Kernel& kernel, const RunOptions& options) {
        for_each_step(kernel.program(), [&](const Step& step) { run.lines.insert(step.where.line); });
        const std::vector<bool> done = dump(kernel, options, run.dumps, write_out);
        for (std::size_t i = 0; i < done.size(); ++i) run.done[i] = run.done[i] || done[i];
    };
}

void run_body(lua_State* L, const Request& request, Outcome& outcome, void* context) {
    auto& run = *static_cast<Run*>(context);
    lua::session(L).lines = run.options.lines;
    if (!run.dumps.empty()) lua::guarded(L, [&] { set_dumps(L, run); });
    if (!run_scripts(L, request, outcome) || !request.file.empty() || !request.code.empty()) return;
    repl::Terminal& terminal = run.terminal;
    luaL_requiref(L, "wgrun", luaopen_wgrun, 0);
    lua_setglobal(L, "wg");
    if (terminal.interactive()) {
        terminal.write("wgrun " WGRUN_VERSION ", " LUA_VERSION ". `wg` is the module. Ctrl-D leaves.\n");
    }
    repl::run(L, terminal);
    if (terminal.interactive()) {
        terminal.write("\n");
    } else if (lua::session(L).stop && lua::limit_state(L).reached.load() == lua::Limit::none) {
        outcome.code = Exit::interrupted;
    }
}

int run_file(const Request& request, const Options& options) {
    Results results(request.json);
    // A restricted session writes no files.
    Run run{options, repl::Terminal({request.colour_output, !request.restricted}), {}};
    try {
        for (const std::string& text : options.dumps) {
            run.dumps.push_back(DebugDump::parse(text));
            run.dumps.back().when = DebugWhen::parse(options.when);
        }
    } catch (const ArgumentError& error) {
        remark(fmt::format("wgrun: {} (wgrun run --help)", error.what()));
        return Exit::usage;
    }
    run.done.resize(run.dumps.size());
    Request asked = request;
    if (!run.dumps.empty()) asked.backend = Backend::sim;
    const Outcome outcome = with_state(asked, lua::Mode::run, run_body, &run);
    int code = outcome.code;
    if (request.json) {
        results.write(to_json(outcome.findings));
    } else {
        print_findings(request, outcome.findings);
    }
    for (std::size_t i = 0; i < run.dumps.size(); ++i) {
        if (run.done[i] || code != Exit::ok) continue;
        remark("wgrun: " + not_dumped(options.dumps[i], run.dumps[i].line, run.lines));
        code = Exit::failed;
    }
    if (!outcome.traceback.empty()) remark(outcome.traceback);
    return results.finish() ? code : Exit::failed;
}

Command::Run declare(Arguments& arguments) {
    const auto options = std::make_shared<Options>();
    constexpr const char* group = "Debugging (docs/debugging.md)";
    arguments
        .option("--dump", options->dumps,
                "Run on the simulator, and print the script's NAME when warps reach LINE")
        .unit("NAME@LINE")
        .one_value_each()
        .group(group);
    arguments.option("--when", options->when, "Select warps and the n-th time: cta=3,warp=1,lane=0,nth=2")
        .unit("WHEN")
        .group(group);
    arguments
        .flag("--lines", options->lines,
              "Put the script's lines into machine code, for profilers (needs ptxas)")
        .group(group);
    return [options](const Request& request) { return run_file(request, *options); };
}

}  // namespace
}  // namespace run_detail

const Command run_command{"run", "Run a script, as wgrun FILE does", Takes::script, run_detail::declare};

}  // namespace wgrun::cli
