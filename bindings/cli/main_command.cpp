// Reads the command line.
#include <unistd.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <lua.hpp>
#include <optional>
#include <sstream>

#include "bindings/cli/choice.hpp"
#include "bindings/cli/command.hpp"
#include "bindings/cli/host.hpp"
#include "bindings/cli/input.hpp"
#include "bindings/cli/interrupt.hpp"
#include "bindings/cli/out_of_memory.hpp"
#include "bindings/cli/progress.hpp"
#include "bindings/cli/watch.hpp"
#include "bindings/cli/watchdog.hpp"
#include "bindings/lua/limits.hpp"
#include "file/leftovers.hpp"
#include "memory/heap_limit.hpp"
#include "wgrun/tensor_budget.hpp"
#include "wgrun/version.hpp"

namespace wgrun::cli {
namespace {

constexpr const char* footer =
    "wgrun FILE [args] runs a Lua script; - is standard input; without a file there is a prompt.\n"
    "check, ptx, cuda, sass, report, export and layout run the script, but its launches compute nothing;\n"
    "check --dynamic and --perf then run it on the simulator.\n";
constexpr const char* exit_codes =
    "Exit codes: 0 good; 1 findings, or the script raised an error; 2 wrong usage; 3 the kernel could not "
    "be\n"
    "assembled; 4 no device; 5 wrong result (left to scripts: os.exit(5)); 6 undecided (check --strict);\n"
    "130 interrupted.";

/// The arguments of the command line that CLI11 leaves as text.
struct TextOptions {
    std::string backend = "auto";
    std::string colour = "auto";
    std::string numerics = "exact";
    std::string isolation = "worker";
    std::optional<std::string> stdin_name;
    // Limits of scripts, in the units of the command line; 0: none.
    bool restricted = false;
    std::optional<std::uint64_t> memory, instructions, tensors, program, steps;
    std::optional<double> seconds;
    int multiprocessors = 0;  ///< 0: those of an H200
};

/// Of all that a restricted script causes; its Lua state has a limit of its own.
constexpr std::uint64_t heap_of_restricted = std::uint64_t{2} << 30;

lua::Limits limits_of(const TextOptions& words) {
    constexpr std::uint64_t mebibyte = 1 << 20;
    lua::Limits limits = words.restricted ? lua::restricted_limits() : lua::Limits();
    if (words.memory) limits.memory = *words.memory * mebibyte;
    if (words.instructions) limits.instructions = *words.instructions;
    if (words.seconds)
        limits.time = std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(*words.seconds * 1000)));
    if (words.tensors) limits.tensors = *words.tensors * mebibyte;
    if (words.program) limits.program = *words.program;
    if (words.steps) limits.simulation_steps = *words.steps;
    limits.multiprocessors = words.multiprocessors;
    return limits;
}

void add_colour_option(CLI::App& app, TextOptions& words) {
    app.add_option("--color", words.colour, "Colour findings and pictures")
        ->check(Choice({"auto", "always", "never"}))
        ->capture_default_str();
}

constexpr const char* limits_group = "Limits (docs/sandbox.md; 0: none)";

void add_limit(CLI::App& app, const char* name, std::optional<std::uint64_t>& value, const char* unit,
               const char* what) {
    constexpr std::uint64_t most = std::uint64_t{1} << 40;
    app.add_option(name, value, what)
        ->type_name(unit)
        ->check(CLI::Range(std::uint64_t{0}, most))
        ->group(limits_group);
}

/// Of all that works in this process.
void add_process_limits(CLI::App& app, TextOptions& words) {
    constexpr double most_seconds = 1e9;
    add_limit(app, "--max-memory", words.memory, "MIB",
              "Memory of the command: of scripts, texts and all that is made of them, but tensors");
    app.add_option("--max-seconds", words.seconds, "Time of the command and everything that it runs")
        ->type_name("S")
        ->check(CLI::Range(0.0, most_seconds))
        ->check([](const std::string& given) -> std::string {  // which no range refuses
            return std::isnan(std::strtod(given.c_str(), nullptr)) ? given + " is no number" : "";
        })
        ->group(limits_group);
}

void add_script_limits(CLI::App& app, TextOptions& words) {
    app.add_flag("--restricted", words.restricted,
                 "No files, no other programs, no bytecode, and limits, for scripts that are not trusted")
        ->group(limits_group);
    add_limit(app, "--max-instructions", words.instructions, "N", "Lua instructions");
    add_limit(app, "--max-tensors", words.tensors, "MIB", "Total memory of its tensors");
    add_limit(app, "--max-program", words.program, "N", "Instructions, blocks and registers of one kernel");
    add_limit(app, "--max-steps", words.steps, "N", "Warp instructions of one launch on the simulator");
}

void add_script_options(CLI::App& app, Request& request, TextOptions& words) {
    app.add_option("--backend", words.backend, "Back end that runs kernels")
        ->check(Choice({"auto", "gpu", "gpu-cuda", "sim"}))
        ->capture_default_str();
    app.add_option("--gpu", words.isolation,
                   "Run kernels in a worker process, which protects this one from kernels that hang or "
                   "fault, or in this process")
        ->check(Choice({"worker", "process"}))
        ->capture_default_str();
    app.add_option("--numerics", words.numerics, "How the simulator accumulates the products of matrices")
        ->check(Choice({"exact", "h200"}))
        ->capture_default_str();
    app.add_option(
           "--stdin-name", words.stdin_name,
           "With - as FILE: what findings call standard input, as an editor does with an unsaved text")
        ->type_name("NAME");
    add_colour_option(app, words);
    add_process_limits(app, words);
    add_script_limits(app, words);
    constexpr int most_multiprocessors = 1024;
    app.add_option(
           "--sms", words.multiprocessors,
           "SMs of the chip that the simulator stands for: 132 of an H200 or H100 SXM, 114 of an H100 "
           "PCIe, 78 of an H20")
        ->type_name("N")
        ->check(CLI::Range(1, most_multiprocessors));
    app.add_flag("--watch", request.watch,
                 "Run again whenever the script, or another one in its folder, changes");
    app.add_flag("--traceback", request.traceback, "Show the traceback of errors");
}

/// A command of CLI11, and the function that runs it.
struct Declared {
    const Command& command;
    CLI::App& app;
    Command::Run run;
};

std::vector<Declared> declare_commands(CLI::App& app, Request& request, TextOptions& words) {
    std::vector<Declared> out;
    for (const auto& [title, command] : commands) {
        CLI::App& here = *app.add_subcommand(command->name, command->summary)->group(title);
        here.prefix_command(false);
        here.footer(exit_codes);
        here.add_flag("--json", request.json, "Print JSON on standard output");
        Arguments arguments(here);
        out.push_back({*command, here, command->declare(arguments)});
        if (command->takes == Takes::text) {
            add_colour_option(here, words);
            add_script_limits(here, words);
        }
        if (command->takes == Takes::text || command->takes == Takes::nothing)
            add_process_limits(here, words);
        if (command->takes == Takes::program) {
            here.footer(fmt::format(
                "wgrun {} [OPTIONS] [--] PROGRAM [args]: the exit code is that of PROGRAM.", command->name));
            here.prefix_command();  // what follows PROGRAM is its own, also what options here are called
        }
        if (command->takes != Takes::script) continue;
        add_script_options(here, request, words);
        here.add_option("FILE", request.file, "The script; - is standard input")->required();
        here.prefix_command();  // arguments after FILE belong to the script
    }
    return out;
}

bool coloured(const std::string& asked, int stream) {
    if (asked != "auto") return asked == "always";
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string_view(value == nullptr ? "" : value);
    };
    return variable("NO_COLOR").empty() && variable("TERM") != "dumb" && isatty(stream) != 0;
}

/// Exit::usage, with a remark that the option is unknown; `app` has the options to suggest.
int refuse_option(const CLI::App& app, const std::string& option) {
    std::vector<std::string> names;
    for (const CLI::Option* known : app.get_options())
        for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
    const std::vector<std::string_view> choices(names.begin(), names.end());
    remark("wgrun: unknown option " + option + nearest(option.substr(0, option.find('=')), choices) +
           " (wgrun --help)");
    return Exit::usage;
}

/// The first of the words that looks like an option and is none of `app`'s; empty: all are.
std::string unknown_option(const CLI::App& app, int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        std::string name(word.substr(0, word.find('=')));
        if (word.starts_with("--") && word.size() > 2 && app.get_option_no_throw(name) == nullptr)
            return name;
    }
    return {};
}

/// An argument that is neither a file nor a command, but resembles a command.
bool refuse_command(const std::string& word) {
    if (word.empty() || word == "-" || std::filesystem::exists(word)) return false;
    std::vector<std::string_view> names;
    for (const Listed& listed : commands) names.push_back(listed.command->name);
    const std::string suggestion = nearest(word, names);
    if (suggestion.empty()) return false;
    remark("wgrun: there is no file and no command `" + word + "`" + suggestion + " (wgrun --help)");
    return true;
}

/// PTX is no Lua: check and sass alone read it. Returns whether that has been said.
bool refuse_ptx(const std::string& file) {
    if (!file.ends_with(".ptx")) return false;
    remark("wgrun: " + file + " is PTX, not a script: wgrun check " + file + " checks it, wgrun lua " + file +
           " makes a script of it, and a script runs it (wgrun help wg.ptx)");
    return true;
}

/// What follows `--` is no option, as for lua.
std::vector<std::string> without_end_of_options(std::vector<std::string> words) {
    if (!words.empty() && words.front() == "--") words.erase(words.begin());
    return words;
}

/// The arguments behind FILE. What follows a `--` there goes to the parent: CLI11 takes it for the end of the
/// command's options, but it is the script's.
std::vector<std::string> script_arguments(const CLI::App& command, const CLI::App& parent) {
    std::vector<std::string> out = without_end_of_options(command.remaining());
    const std::vector<std::string> behind = parent.remaining();
    if (!behind.empty()) out.push_back("--");
    out.insert(out.end(), behind.begin(), behind.end());
    return out;
}

/// Reads standard input, which then has this name. False, with a remark: FILE is another.
bool take_standard_input(Request& request, const std::string& name) {
    if (request.file == "-" && !name.empty()) {
        request.text = contents("-");
        request.file = name;
        return true;
    }
    remark(name.empty() ? "wgrun: --stdin-name: a name is missing (wgrun --help)"
                        : "wgrun: --stdin-name is for standard input: give - as FILE (wgrun --help)");
    return false;
}

/// As where a shell's variable has no value.
int refuse_no_name() {
    remark("wgrun: the name of the file is empty (wgrun --help)");
    return Exit::usage;
}

/// Whether the command line ends with these words. Else the first of them stands before FILE.
bool ends_with(int argc, char** argv, const std::vector<std::string>& words) {
    return static_cast<std::size_t>(argc) > words.size() &&
           std::equal(words.begin(), words.end(), argv + argc - static_cast<std::ptrdiff_t>(words.size()));
}

/// The first of the arguments is the program, which an option is not. False, with a remark: there is none.
bool take_program(Request& request, const CLI::App& command) {
    std::vector<std::string>& words = request.args;
    const bool behind_end = !words.empty() && words.front() == "--";
    if (behind_end) words.erase(words.begin());
    if (!words.empty() && !behind_end && words.front().starts_with('-'))
        return refuse_option(command, words.front()) == Exit::ok;
    if (words.empty() || words.front().empty()) {
        remark(fmt::format("wgrun: {} needs a program (wgrun --help)", command.get_name()));
        return false;
    }
    request.file = words.front();
    words.erase(words.begin());
    return true;
}

/// Prints the help and the version, which parsing ends with too, or says what is wrong. Returns the exit
/// code.
int answer(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
    if (error.get_exit_code() == 0) {  // --help, --version
        std::ostringstream text;
        app.exit(error, text, text);
        Results results(false);
        results.write(text.str());
        return results.finish() ? Exit::ok : Exit::failed;
    }
    // What is said to be missing or too much may be what follows a misspelt option.
    const std::vector<CLI::App*> parsed = app.get_subcommands();
    const CLI::App& here = parsed.empty() ? app : *parsed.front();
    const bool wrong_value = dynamic_cast<const CLI::ValidationError*>(&error) != nullptr ||
                             dynamic_cast<const CLI::ConversionError*>(&error) != nullptr;
    if (const std::string option = wrong_value ? "" : unknown_option(here, argc, argv); !option.empty())
        return refuse_option(here, option);
    const std::string what = error.what();  // "-o is required"
    const bool too_late = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
                          std::find(argv + 1, argv + argc, what.substr(0, what.find(' '))) != argv + argc;
    remark("wgrun: " + what + (too_late ? " before the arguments of the script" : "") + " (wgrun --help)");
    return Exit::usage;
}

/// How long a command may go on when its time is over: what looks at the time (Cancellation, Lua's hook) has
/// ended by then. What does not, such as a pattern of Lua with many repetitions, or a file that nobody
/// writes, ends with the process.
constexpr auto grace = std::chrono::seconds(2);

[[noreturn]] void end_late(std::chrono::milliseconds time) {
    remark(fmt::format("wgrun: the command has run for more than {} s and did not stop: {}",
                       static_cast<double>(time.count()) / 1000, lua::advice_on(lua::Limit::time)));
    file::remove_leftovers();
    _exit(Exit::failed);
}

int dispatch(int argc, char** argv) {
    const auto is_named = [&](const Listed& listed) {
        return std::string_view(argv[2]) == listed.command->name;
    };
    if (argc == 3 && std::string_view(argv[1]) == help_command.name &&
        std::ranges::any_of(commands, is_named)) {
        std::string option = "--help";
        std::array<char*, 4> of_command{argv[0], argv[2], option.data(), nullptr};
        return dispatch(argc, of_command.data());
    }
    Request request;
    TextOptions words;
    CLI::App app(fmt::format("{}\n\n{}", name_and_purpose, first_steps), "wgrun");
    app.footer(fmt::format("{}\n{}", footer, exit_codes));
    app.set_version_flag("--version", fmt::format("wgrun {}, {}", version_and_commit(), LUA_RELEASE));
    app.prefix_command();  // arguments after FILE belong to the script
    app.add_flag("--json", request.json, "Print errors as JSON on standard output");
    app.add_option("-e", request.code, "Run this Lua code")->type_name("CODE")->allow_extra_args(false);
    add_script_options(app, request, words);
    Arguments of_script(app);
    const Command::Run run_script = run_command.declare(of_script);
    const std::vector<Declared> declared = declare_commands(app, request, words);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return answer(app, error, argc, argv);
    }
    request.program = argv[0];
    request.backend = backend_named(words.backend);
    request.numerics = numerics_named(words.numerics);
    request.restricted = words.restricted;
    request.limits = limits_of(words);
    memory::limit_heap(words.memory ? request.limits.memory : words.restricted ? heap_of_restricted : 0);
    if (request.limits.time.count() != 0) request.deadline = Cancellation::Clock::now() + request.limits.time;
    const Cancellation in_time(nullptr, request.deadline);
    std::optional<Watchdog> last_resort;
    if (request.limits.time.count() != 0 && !request.watch)
        last_resort.emplace(request.deadline + grace, [time = request.limits.time] { end_late(time); });
    // Of what has no script; scripts have budgets of their own.
    std::optional<TensorBudget> tensors;
    std::optional<TensorBudget::Scope> charged;
    if (request.limits.tensors != 0) charged.emplace(tensors.emplace(request.limits.tensors));
    request.isolation = gpu::isolation_named(words.isolation);
    request.colour = coloured(words.colour, STDERR_FILENO);
    request.colour_output = coloured(words.colour, STDOUT_FILENO);
    // --watch starts processes that show what they do.
    const ProgressLine progress(!request.json && !request.watch && can_show_progress());
    for (const auto& [command, here, run] : declared) {
        if (!here.parsed()) continue;
        if (command.takes == Takes::script || command.takes == Takes::program)
            request.args = script_arguments(here, app);
        if (command.takes == Takes::program && !take_program(request, here)) return Exit::usage;
        if (!ends_with(argc, argv, request.args)) return refuse_option(here, request.args.front());
        const auto behind = argc - static_cast<std::ptrdiff_t>(request.args.size()) - 1;
        if (behind > 1 && request.file == argv[behind])
            request.words.assign(std::find(argv + 1, argv + behind, std::string_view(command.name)),
                                 argv + behind);
        if (command.takes == Takes::script && request.file.empty()) return refuse_no_name();
        if (words.stdin_name && !take_standard_input(request, *words.stdin_name)) return Exit::usage;
        const bool takes_script =
            command.takes == Takes::script && &command != &check_command && &command != &sass_command;
        if (takes_script && refuse_ptx(request.file)) return Exit::usage;
        return request.watch ? watch(request.file, argc, argv) : run(request);
    }

    const std::vector<std::string> remaining = app.remaining(), rest = without_end_of_options(remaining);
    if (!rest.empty()) {
        if (rest.front().empty()) return refuse_no_name();
        request.file = rest.front();
        request.args.assign(rest.begin() + 1, rest.end());
    }
    if (rest.size() == remaining.size() && request.file.starts_with('-') && request.file != "-")
        return refuse_option(app, request.file);
    if (words.stdin_name && !take_standard_input(request, *words.stdin_name)) return Exit::usage;
    if (!request.text && refuse_command(request.file)) return Exit::usage;
    if (refuse_ptx(request.file)) return Exit::usage;
    return request.watch ? watch(request.file, argc, argv) : run_script(request);
}

// On every exit, including os.exit and --version: output that could not be written makes the process fail.
void flush_standard_output() {
    if (!flush(stdout)) _exit(Exit::failed);
}

// nlohmann's values allocate when they are destroyed, which terminates if there is not enough memory.
[[noreturn]] void end_without_memory() {
    try {
        if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "wgrun: %s\n", out_of_memory());
        file::remove_leftovers();
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
    } catch (const Unreadable& error) {
        remark(fmt::format("wgrun: {}", error.what()));
        return Exit::usage;
    } catch (const EnvironmentError& error) {
        const bool late = error.code() == "ETIMEDOUT" && error.finding().fix.empty();
        const std::string fix = late ? lua::advice_on(lua::Limit::time) : error.finding().fix;
        remark(fmt::format("wgrun: {}{}", error.finding().message,
                           fix.empty() ? "" : fmt::format(" (fix: {})", fix)));
        return exit_code(error.code());
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "wgrun: %s\n", out_of_memory());  // allocates nothing
        return Exit::failed;
    } catch (const std::exception& error) {
        remark(fmt::format("wgrun: {}", error.what()));
        return Exit::failed;
    }
}

}  // namespace wgrun::cli
