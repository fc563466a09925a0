// A command: one file, which holds its options, its code, and its record.
#pragma once

#include <functional>

#include "bindings/cli/arguments.hpp"
#include "bindings/cli/cli.hpp"

namespace wgrun::cli {

/// What a command takes besides its own options and --json, which every command has.
enum class Takes : unsigned char {
    nothing,
    colour,   ///< --color
    script,   ///< FILE [args], and the options of scripts: --backend, --restricted ...
    program,  ///< PROGRAM [args]
};

struct Command {
    /// Runs the command with the options that were read; returns the exit code.
    using Run = std::function<int(const Request& request)>;

    const char* name;
    const char* summary;
    Takes takes;
    /// Declares the command's own options. They are read when the function that it returns is called.
    Run (*declare)(Arguments& arguments);
};

extern const Command run_command, debug_command, check_command, ptx_command, cuda_command, export_command,
    explain_command, rules_command, layout_command, decode_command, isa_command, cache_command,
    doctor_command, help_command, new_command, report_command, sass_command, bench_command, tune_command,
    completion_command, man_command, timeline_command, lua_command, record_command, serve_command,
    mcp_command, lsp_command;

/// In the order in which the help lists them.
inline constexpr const Command* commands[] = {
    &run_command,    &new_command,    &debug_command,  &check_command,      &ptx_command,   &cuda_command,
    &lua_command,    &record_command, &sass_command,   &report_command,     &bench_command, &tune_command,
    &export_command, &layout_command, &decode_command, &isa_command,        &rules_command, &explain_command,
    &help_command,   &cache_command,  &doctor_command, &completion_command, &man_command,   &timeline_command,
    &serve_command,  &mcp_command,    &lsp_command};

}  // namespace wgrun::cli
