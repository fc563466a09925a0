// wgrun FILE, wgrun -e CODE, wgrun: runs a script, or the read-eval-print loop.
#include "bindings/cli/command.hpp"
#include "bindings/cli/host.hpp"
#include "bindings/lua/limits.hpp"
#include "bindings/repl/repl.hpp"
#include "bindings/repl/terminal.hpp"
#include "wgrun/lua.hpp"
#include "wgrun/version.hpp"

namespace wgrun::cli {
namespace {

void run_body(lua_State* L, const Request& request, Outcome& outcome, void* context) {
    if (!run_scripts(L, request, outcome) || !request.file.empty() || !request.code.empty()) return;
    auto& terminal = *static_cast<repl::Terminal*>(context);
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

int run(const Request& request) {
    Results results(request.json);
    // A restricted session leaves no files.
    repl::Terminal terminal({request.colour_output, !request.restricted});
    const Outcome outcome = with_state(request, lua::Mode::run, run_body, &terminal);
    if (request.json) {
        results.write(to_json(outcome.findings));
    } else {
        print_findings(request, outcome.findings);
    }
    if (!outcome.traceback.empty()) remark(outcome.traceback);
    return results.finish() ? outcome.code : Exit::failed;
}

}  // namespace

const Command run_command{"run", "Run a script (what wgrun FILE does, too)", Takes::script,
                          [](CLI::App&) -> Command::Run { return run; }};

}  // namespace wgrun::cli
