// wgrun mcp and wgrun lsp: servers for agents and editors. They are the Python package's, which runs this
// tool for each question, so that a question that fails or hangs does not end the server.
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "bindings/cli/command.hpp"

namespace wgrun::cli {
namespace servers_detail {
namespace {

/// What Python runs; {0} is the server.
constexpr const char* program = R"(import importlib.util, runpy, sys
if importlib.util.find_spec("wgrun") is None:
    sys.exit("wgrun {0}: " + sys.executable + " has no package wgrun: pip install 'wgrun[{0}]', or name another Python by WGRUN_PYTHON")
sys.argv = ["wgrun", "{0}"]
runpy.run_module("wgrun", run_name="__main__")
)";

int serve(const char* server) {
    const char* named = std::getenv("WGRUN_PYTHON");
    std::string python = named == nullptr || *named == 0 ? "python3" : named;
    ::setenv("WGRUN_TOOL", std::filesystem::read_symlink("/proc/self/exe").c_str(), 0);
    std::string text = fmt::format(fmt::runtime(program), server), option = "-c";
    char* words[] = {python.data(), option.data(), text.data(), nullptr};
    ::execvp(words[0], words);
    remark(fmt::format("wgrun {}: cannot run {}: {}; WGRUN_PYTHON names a Python", server, python,
                       std::strerror(errno)));
    return Exit::usage;
}

Command::Run declare_mcp(Arguments&) {
    return [](const Request&) { return serve("mcp"); };
}

Command::Run declare_lsp(Arguments&) {
    return [](const Request&) { return serve("lsp"); };
}

}  // namespace
}  // namespace servers_detail

const Command mcp_command{"mcp", "Serve the Model Context Protocol on standard input and output, for agents",
                          Takes::messages, servers_detail::declare_mcp};
const Command lsp_command{"lsp",
                          "Serve the Language Server Protocol on standard input and output, for editors",
                          Takes::messages, servers_detail::declare_lsp};

}  // namespace wgrun::cli
