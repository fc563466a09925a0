// A command: one file, which holds its options, its code, and its record.
#pragma once

#include <functional>

#include "bindings/cli/arguments.hpp"
#include "bindings/cli/cli.hpp"

namespace wgrun::cli {

/// What a command takes besides its own options, --json, which every command has, and --max-memory and
/// --max-seconds, which all have that work in this process.
enum class Takes : unsigned char {
    nothing,
    text,      ///< of a script or of PTX: --color, and the limits of scripts
    messages,  ///< it starts other commands, each with limits of its own
    script,    ///< FILE [args], and the options of scripts: --backend, --restricted ...
    program,   ///< PROGRAM [args]: it becomes another program
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

/// The first lines of the help and of the manual page; the README begins in the same way.
inline constexpr const char
    *name_and_purpose = "wgrun: an assembler and checker for Hopper tensor-core kernels, scripted in Lua",
    *first_steps =
        "It checks kernels against the PTX ISA, proves what it can for every launch, and runs "
        "them on an\nsm_90a GPU or, without one, on a simulator.\n\n"
        "  wgrun check kernel.ptx       a verdict on a kernel of yours, from any compiler\n"
        "  wgrun new gemm my_gemm.lua   a commented kernel to start from\n"
        "  wgrun my_gemm.lua            runs it\n"
        "  wgrun help multicast         functions, instructions, rules and pages about a word\n";

/// The commands under the titles and in the order in which the help lists them.
struct Listed {
    const char* title;
    const Command* command;
};
inline constexpr const char *everyday = "Check, run, look up", *inside = "What becomes of a kernel",
                            *fast = "How fast it is", *about = "Instructions and layouts",
                            *setup = "This machine", *servers = "For other programs";
inline constexpr Listed commands[] = {
    {everyday, &check_command},   {everyday, &run_command},     {everyday, &new_command},
    {everyday, &debug_command},   {everyday, &help_command},    {everyday, &rules_command},
    {everyday, &explain_command}, {fast, &timeline_command},    {fast, &bench_command},
    {fast, &tune_command},        {inside, &ptx_command},       {inside, &cuda_command},
    {inside, &sass_command},      {inside, &report_command},    {inside, &export_command},
    {inside, &lua_command},       {inside, &record_command},    {about, &layout_command},
    {about, &decode_command},     {about, &isa_command},        {setup, &doctor_command},
    {setup, &cache_command},      {setup, &completion_command}, {setup, &man_command},
    {servers, &serve_command},    {servers, &mcp_command},      {servers, &lsp_command}};

}  // namespace wgrun::cli
