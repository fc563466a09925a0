// wgrun debug FILE: runs a script with its kernels under the debugger, on the simulator.
#include <unistd.h>

#include <memory>
#include <sstream>

#include "bindings/cli/command.hpp"
#include "bindings/cli/host.hpp"
#include "bindings/cli/input.hpp"
#include "bindings/lua/guard.hpp"
#include "wgrun/debugger.hpp"

namespace wgrun::cli {
namespace debug_detail {
namespace {

struct Debugging {
    std::string commands;  ///< the file; empty: standard input
    std::istringstream file;
    DebugConsole console{};
};

void write_out(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

/// A line of standard input, with a prompt on a terminal. Nothing at its end, and after Ctrl-C.
std::optional<std::string> read_input() {
    if (isatty(STDIN_FILENO) != 0) write_out("(wgrun) ");
    std::string line;
    for (int c = std::getc(stdin); c != '\n'; c = std::getc(stdin)) {
        if (c == EOF) {
            std::clearerr(stdin);
            return line.empty() ? std::nullopt : std::optional(line);
        }
        line += static_cast<char>(c);
    }
    return line;
}

void debug_body(lua_State* L, const Request& request, Outcome& outcome, void* context) {
    auto& debugging = *static_cast<Debugging*>(context);
    lua::Session& session = lua::session(L);
    session.name_registers = true;
    lua::guarded(L, [&] {
        debugging.console.write = write_out;
        debugging.console.interrupt = &session.stop;
        debugging.console.read = [&debugging]() -> std::optional<std::string> {
            if (debugging.commands.empty()) return read_input();
            std::string line;
            return std::getline(debugging.file, line) ? std::optional(line) : std::nullopt;
        };
        session.debug = [&debugging](Kernel& kernel, const RunOptions& options) {
            debug(kernel, options, debugging.console);
        };
    });
    run_scripts(L, request, outcome);
}

int debug_file(const Request& request, Debugging& debugging) {
    if (!debugging.commands.empty()) {
        debugging.file.str(contents(debugging.commands));
    }
    Request asked = request;
    asked.backend = Backend::sim;
    const Outcome outcome = with_state(asked, lua::Mode::run, debug_body, &debugging);
    print_findings(request, outcome.findings);
    if (!outcome.traceback.empty()) remark(outcome.traceback);
    return outcome.code;
}

Command::Run declare(Arguments& arguments) {
    const auto debugging = std::make_shared<Debugging>();
    arguments
        .option("-x,--commands", debugging->commands,
                "Read the commands from this file instead of standard input")
        .unit("FILE");
    return [debugging](const Request& request) { return debug_file(request, *debugging); };
}

}  // namespace
}  // namespace debug_detail

const Command debug_command{"debug", "Run a script with its kernels under the debugger, on the simulator",
                            Takes::script, debug_detail::declare};

}  // namespace wgrun::cli
