// Reads the command line.
#include <unistd.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <lua.hpp>
#include <optional>
#include <sstream>

#include "bindings/cli/cli.hpp"
#include "bindings/cli/interrupt.hpp"
#include "wgrun/version.hpp"

namespace wgrun::cli {
namespace {

constexpr const char* footer =
    "wgrun FILE [args] runs a Lua script; - is standard input; without a file there is a prompt.\n"
    "check, ptx, cuda and export run the script but none of its kernels.\n"
    "\n"
    "Exit codes: 0 good; 1 findings, or the script raised an error; 2 wrong usage; 3 the kernel could not "
    "be\n"
    "assembled; 4 no device; 5 wrong result (left to scripts: os.exit(5)); 130 interrupted.";

using Command = int (*)(const Request&);

/// One command: how it is called and what it takes.
struct Row {
    const char* name;
    const char* summary;
    Command command;
    bool file;  ///< FILE [args], and the options of scripts
};

constexpr Row commands[] = {
    {"check", "Print every finding in every kernel of a script", check, true},
    {"ptx", "Print the PTX of every kernel of a script", ptx, true},
    {"cuda", "Print the CUDA C++ of every kernel of a script", cuda, true},
    {"export", "Write the kernels of a script, and host code, for programs without wgrun", export_files,
     true},
    {"explain", "Explain a rule, or list all", explain, false},
    {"rules", "List the rules of the checker and the simulator", rules, false},
    {"layout", "Show a layout, or a layout, tile or fragment of a script, as a picture", layout, false},
    {"decode", "Say what a matrix descriptor of wgmma means, field by field", decode, false},
    {"isa", "Print the legal forms of an instruction, or list all instructions", isa_table, false},
    {"cache", "Say what the cache on disk holds, empty it, or look for damage", cache, false},
    {"doctor", "Say what this machine can compile and run", doctor, false},
};

/// The words of the command line that CLI11 leaves as text.
struct Words {
    std::string backend = "auto";
    std::string colour = "auto";
    std::string numerics = "exact";
    std::string isolation = "worker";
    // Limits of scripts, in the units of the command line; 0: none.
    bool restricted = false;
    std::optional<std::uint64_t> memory, instructions, tensors, program, steps;
    std::optional<double> seconds;
};

lua::Limits limits_of(const Words& words) {
    constexpr std::uint64_t mebibyte = 1 << 20;
    lua::Limits limits = words.restricted ? lua::restricted_limits() : lua::Limits();
    if (words.memory) limits.memory = *words.memory * mebibyte;
    if (words.instructions) limits.instructions = *words.instructions;
    if (words.seconds)
        limits.time = std::chrono::milliseconds(static_cast<std::int64_t>(*words.seconds * 1000));
    if (words.tensors) limits.tensors = *words.tensors * mebibyte;
    if (words.program) limits.program = *words.program;
    if (words.steps) limits.simulation_steps = *words.steps;
    return limits;
}

void add_colour_option(CLI::App& app, Words& words) {
    app.add_option("--color", words.colour, "Colour findings and pictures")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->capture_default_str();
}

void add_limit_options(CLI::App& app, Words& words) {
    constexpr std::uint64_t most = std::uint64_t{1} << 40;
    constexpr double most_seconds = 1e9;
    constexpr const char* group = "Limits of scripts (docs/sandbox.md; 0: none)";
    app.add_flag("--restricted", words.restricted,
                 "No files, no other programs, no bytecode, and limits: for scripts that are not trusted")
        ->group(group);
    const auto add = [&](const char* name, std::optional<std::uint64_t>& value, const char* unit,
                         const char* what) {
        app.add_option(name, value, what)
            ->type_name(unit)
            ->check(CLI::Range(std::uint64_t{0}, most))
            ->group(group);
    };
    add("--max-memory", words.memory, "MIB", "Memory of the Lua state");
    add("--max-instructions", words.instructions, "N", "Instructions of Lua");
    app.add_option("--max-seconds", words.seconds, "Time of the script with all that it runs")
        ->type_name("S")
        ->check(CLI::Range(0.0, most_seconds))
        ->group(group);
    add("--max-tensors", words.tensors, "MIB", "Memory of its tensors together");
    add("--max-program", words.program, "N", "Instructions, blocks and registers of one kernel");
    add("--max-steps", words.steps, "N", "Warp instructions of one launch on the simulator");
}

void add_script_options(CLI::App& app, Request& request, Words& words) {
    app.add_option("--backend", words.backend, "Where kernels run")
        ->check(CLI::IsMember({"auto", "gpu", "gpu-cuda", "sim"}))
        ->capture_default_str();
    app.add_option(
           "--gpu", words.isolation,
           "Run kernels in a worker process, which one that hangs or faults takes down, or in this one")
        ->check(CLI::IsMember({"worker", "process"}))
        ->capture_default_str();
    app.add_option("--numerics", words.numerics, "How the simulator's wgmma adds up")
        ->check(CLI::IsMember({"exact", "h200"}))
        ->capture_default_str();
    add_colour_option(app, words);
    add_limit_options(app, words);
    app.add_flag("--traceback", request.traceback, "Show where in the script an error came from");
}

void add_layout_options(CLI::App& command, Request& request, Words& words) {
    add_colour_option(command, words);
    command.add_option("--svg", request.svg, "Write the picture as an SVG file")->type_name("FILE");
    command.add_flag("--bytes", request.bytes, "Byte addresses in the picture of a tile");
    command.add_option("EXPR", request.object, "A layout, such as '(8,64):(64,1)'; with NAME: a script")
        ->required();
    command.add_option("NAME", request.name, "What the script calls it: it ends with return { NAME = ... }");
}

void add_check_options(CLI::App& command, Request& request) {
    command.add_flag("--sarif", request.sarif, "Print SARIF 2.1.0 on standard output");
    command.add_flag("--dynamic", request.dynamic,
                     "Run the kernels on the simulator too, and watch every access");
    CLI::Option* fix =
        command.add_flag("--fix", request.fix,
                         "Insert the calls that are missing, and write FILE if it is then without "
                         "errors");
    CLI::Option* diff =
        command.add_flag("--diff", request.diff, "Show what --fix would do, and write nothing");
    for (CLI::Option* option : {fix, diff}) option->excludes(command.get_option("--sarif"));
    command.add_flag("--perf", request.perf, "Report bank conflicts and needless waits too");
    command.add_flag("--assemble", request.assemble,
                     "Assemble the kernels too, and report what ptxas or the driver notes");
    command.add_option("--seeds", request.seeds, "Schedules that --dynamic tries")
        ->check(CLI::Range(1, 10000))
        ->capture_default_str();
}

void add_commands(CLI::App& app, Request& request, Words& words) {
    for (const Row& row : commands) {
        CLI::App* command = app.add_subcommand(row.name, row.summary);
        command->prefix_command(false);
        command->add_flag("--json", request.json, "Print JSON on standard output");
        if (row.file) {
            add_script_options(*command, request, words);
            command->add_option("FILE", request.file, "The script; - is standard input")->required();
            command->prefix_command();  // what follows FILE is the script's
        } else if (row.command == explain) {
            command->add_option("ID", request.id, "The rule, such as WG-FENCE-01");
        } else if (row.command == layout) {
            add_layout_options(*command, request, words);
        } else if (row.command == isa_table) {
            command->add_option("NAME", request.family,
                                "An instruction, or the beginning of its name: wgmma");
            command->add_option("--n", request.n, "Forms with this N only");
            command->add_option("--dtype", request.dtype, "Forms with this type of A, B or a register only");
        } else if (row.command == cache) {
            command
                ->add_option("ACTION", request.action,
                             "info, clear (remove all entries) or verify (read all)")
                ->check(CLI::IsMember({"info", "clear", "verify"}))
                ->required();
        } else if (row.command == decode) {
            command->add_option("BITS", request.number, "The 64-bit number, 0x4000004000010080 or decimal")
                ->required();
        }
        if (row.command == rules)
            command->add_flag("--markdown", request.markdown, "Print docs/rules.md on standard output");
        if (row.command == check) add_check_options(*command, request);
        if (row.command == ptx || row.command == cuda)
            command->add_flag("--guarded", request.guarded,
                              "The build that says who waits where when it hangs (docs/hangs.md)");
        if (row.command == export_files) {
            command->add_option("-o", request.folder, "Where the files go")->type_name("FOLDER")->required();
            command->add_option("--kernel", request.name, "This kernel only")->type_name("NAME");
        }
    }
}

bool coloured(const std::string& asked, int stream) {
    if (asked != "auto") return asked == "always";
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string_view(value == nullptr ? "" : value);
    };
    return variable("NO_COLOR").empty() && variable("TERM") != "dumb" && isatty(stream) != 0;
}

bool comes_before(std::string_view word, std::string_view other, char** begin, char** end) {
    return std::find(begin, end, word) < std::find(begin, end, other);
}

int dispatch(int argc, char** argv) {
    Request request;
    Words words;
    CLI::App app("wgrun: an assembler for Hopper tensor-core kernels, scripted in Lua", "wgrun");
    app.footer(footer);
    app.set_version_flag("--version", fmt::format("wgrun {}, {}", version_and_commit(), LUA_RELEASE));
    app.prefix_command();  // what follows FILE is the script's
    app.add_flag("--json", request.json, "Print what went wrong as JSON on standard output");
    app.add_option("-e", request.code, "Run this Lua code")->type_name("CODE")->allow_extra_args(false);
    add_script_options(app, request, words);
    add_commands(app, request, words);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) {  // --help, --version
            std::ostringstream text;
            app.exit(error, text, text);
            Results results(false);
            results.write(text.str());
            return results.finish() ? Exit::ok : Exit::failed;
        }
        remark("wgrun: " + std::string(error.what()) + " (wgrun --help)");
        return Exit::usage;
    }
    request.program = argv[0];
    request.backend = backend_named(words.backend);
    request.numerics = numerics_named(words.numerics);
    request.restricted = words.restricted;
    request.limits = limits_of(words);
    request.isolation = gpu::isolation_named(words.isolation);
    request.colour = coloured(words.colour, STDERR_FILENO);
    request.colour_output = coloured(words.colour, STDOUT_FILENO);
    for (const Row& row : commands) {
        if (!app.got_subcommand(row.name)) continue;
        if (row.file) request.args = app.get_subcommand(row.name)->remaining();
        if (!request.args.empty() &&
            comes_before(request.args.front(), request.file, argv + 1, argv + argc)) {
            remark("wgrun: unknown option " + request.args.front() + " (wgrun --help)");
            return Exit::usage;
        }
        return row.command(request);
    }

    std::vector<std::string> rest = app.remaining();
    if (!rest.empty()) {
        request.file = rest.front();
        request.args.assign(rest.begin() + 1, rest.end());
    }
    if (request.file.starts_with('-') && request.file != "-") {
        remark("wgrun: unknown option " + request.file + " (wgrun --help)");
        return Exit::usage;
    }
    return run(request);
}

// At every way out, os.exit and --version too: what could not be written makes the process fail.
void flush_standard_output() {
    if (!flush(stdout)) _exit(Exit::failed);
}

// nlohmann's values allocate when they are destroyed; without memory that ends here.
[[noreturn]] void end_without_memory() {
    try {
        if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
    } catch (const std::bad_alloc&) {
        std::fputs("wgrun: not enough memory\n", stderr);
        _exit(Exit::failed);
    } catch (...) {
    }
    std::abort();
}

}  // namespace

int main(int argc, char** argv) {
    std::set_terminate(end_without_memory);
    open_standard_streams();
    watch_signals();
    std::atexit(flush_standard_output);
    try {
        if (const std::optional<int> served = gpu::worker_main(argc, argv)) return *served;
        gpu::set_worker_program("/proc/self/exe");
        return dispatch(argc, argv);
    } catch (const std::exception& error) {
        // Memory may have run out: nothing is allocated here.
        const bool memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
        std::fprintf(stderr, "wgrun: %s\n", memory ? "not enough memory" : error.what());
        return Exit::failed;
    }
}

}  // namespace wgrun::cli
