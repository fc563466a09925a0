// wgrun check FILE: every finding in every kernel of a script, or of a PTX text. With --dynamic the kernels
// also run.
#include <fcntl.h>
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "bindings/cli/check_ptx.hpp"
#include "bindings/cli/command.hpp"
#include "bindings/cli/coverage.hpp"
#include "bindings/cli/fix.hpp"
#include "bindings/cli/given.hpp"
#include "bindings/cli/input.hpp"
#include "bindings/cli/kept.hpp"
#include "bindings/cli/replay.hpp"
#include "bindings/cli/server.hpp"
#include "bindings/cli/verdicts.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/printable.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::cli {
namespace check_detail {
namespace {

struct Options {
    Search search;
    bool sarif = false;
    std::string launch;   ///< of a PTX text: a file
    bool fix = false;     ///< insert missing calls
    bool diff = false;    ///< show what --fix would do
    bool strict = false;  ///< not good unless everything is proved
    GivenWords given;     ///< of the launches
    std::string replay;   ///< findings whose launches run once more
    bool batch = false;   ///< FILE has messages
    Serving serving{default_jobs(), batch_seconds, {}, true};
};

nlohmann::ordered_json sizes_json(const LookedAt& kernel, const std::vector<std::vector<std::int64_t>>& all) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& values : all) {
        nlohmann::ordered_json launch = nlohmann::ordered_json::object();
        for (std::size_t i = 0; i < values.size(); ++i) launch[kernel.ranges[i].name] = values[i];
        list.push_back(std::move(launch));
    }
    return list;
}

/// The findings, the verdicts of kernels, and the sizes; with --dynamic the coverage, with --assemble the
/// figures.
std::string as_json(const Search& search, const Checked& checked, std::span<const Input> inputs) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(to_json(checked.findings));
    add_inputs(json, inputs);
    json["kernels"] = nlohmann::ordered_json::array();
    for (const Judged& kernel : checked.judged)
        json["kernels"].push_back({{"name", kernel.kernel},
                                   {"file", kernel.where.file},
                                   {"line", kernel.where.line},
                                   {"verdicts", verdicts_as_json(kernel.verdicts)}});
    for (const LookedAt& kernel : checked.sizes)
        json["sizes"].push_back({{"kernel", kernel.kernel},
                                 {"file", kernel.where.file},
                                 {"line", kernel.where.line},
                                 {"of", kernel.legal()},
                                 {"looked_at", sizes_json(kernel, kernel.launches)},
                                 {"left_out", sizes_json(kernel, kernel.left_out)}});
    if (search.dynamic && checked.explored) json["coverage"] = coverage_json(checked.coverage);
    if (search.perf) {
        json["without"] = checked.tried.summaries;
        if (!checked.tried.not_tried.empty()) json["not_without"] = checked.tried.not_tried;
    }
    if (search.sass) checked.machine_code.add_to(json);
    if (!search.assemble) return json.dump(2);
    checked.assembly.add_to(json);
    return json.dump(2);
}

std::string as_text(const Request& request, const Checked& checked, bool dynamic) {
    const std::size_t errors = checked.errors();
    std::string text = checked.assembly.text() + checked.machine_code.text();
    for (const LookedAt& kernel : checked.sizes) {
        text += fmt::format("{}: looked {} {} of {}: {}\n", kernel.kernel, dynamic ? "at" : "ahead at",
                            kernel.launches.size(), count_of(kernel.legal(), "size"), values_of(kernel));
        if (!kernel.left_out.empty())
            text += fmt::format("{}: {} left out, since they take too long\n", kernel.kernel,
                                count_of(kernel.left_out.size(), "size"));
    }
    if (checked.explored) text += coverage_text(checked.coverage);
    for (const std::string& summary : checked.tried.summaries) text += fmt::format("{}\n", summary);
    if (!checked.tried.not_tried.empty())
        text += fmt::format(
            "without barriers, fences and waits: nothing was tried, because the script fails: {}\n",
            checked.tried.not_tried);
    if (checked.code == Exit::interrupted)
        return text + fmt::format("{}: interrupted before all was checked\n", printable(request.name()));
    text += fmt::format("{}: {}, {}, {}\n", printable(request.name()), count_of(checked.kernels, "kernel"),
                        count_of(errors, "error"), count_of(checked.findings.size() - errors, "remark"));
    // Where something is wrong, that comes first.
    if (errors != 0) return text;
    std::set<std::string> said;
    for (const Judged& kernel : checked.judged)
        if (std::string verdict = to_text(kernel.kernel, kernel.verdicts); said.insert(verdict).second)
            text += verdict;
    return text;
}

/// Gives the changes that all findings propose their places and lines in the scripts they are for.
void resolve_remedies(const Request& request, FindingSet& findings) {
    std::map<std::string, std::optional<ScriptText>> scripts;
    if (request.text) scripts.try_emplace(request.file, ScriptText(*request.text));
    for (Diagnostic& finding : findings)
        for (Remedy& remedy : finding.remedies)
            for (Change& change : remedy) {
                const std::string file(change.where.file);
                const auto [script, added] = scripts.try_emplace(file);
                if (added) script->second = read_script(file);
                if (script->second) change = script->second->resolved(change);
            }
}

/// Of a script that can be read again.
void try_remedies(const Request& request, const Search& search, FindingSet& findings) {
    if (!request.text && !std::filesystem::is_regular_file(request.file)) return;
    keep_what_works(findings, request.file, request.text ? *request.text : contents(request.file),
                    mending_of(request, search));
}

/// The script's text, unless it can be read only once.
std::vector<Input> inputs_of(const Request& request) {
    if (request.text) return {input_of(request.name(), *request.text)};
    std::error_code none;
    if (!std::filesystem::is_regular_file(request.file, none)) return {};
    return {input_of(request.file, contents(request.file))};
}

/// Checks what the messages of FILE say, each with the options of this command line.
int check_batch(const Request& request, Serving serving) {
    if (request.words.empty()) {
        remark("wgrun: --batch: options stand before FILE (wgrun check --help)");
        return Exit::usage;
    }
    for (std::size_t i = 1; i < request.words.size(); ++i) {  // the first is the command
        const std::string& word = request.words[i];
        if (word == "--jobs")
            ++i;
        else if (!word.starts_with("--batch") && word != "--json" && !word.starts_with("--jobs="))
            serving.words.push_back(word);
    }
    file::Descriptor in(request.file == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                            : ::open(request.file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!in) throw Unreadable(request.file);
    return serve_lines(std::move(in), std::move(serving));
}

/// Exit::usage, with a remark, if a number is given that no kernel of the script has.
int refuse_unknown(const Request& request, const Checked& checked, const Assumptions& given) {
    for (const auto& [name, value] : given.numbers) {
        if (checked.names.contains(name)) continue;
        remark(fmt::format("wgrun: {}: no kernel has a number `{}`", request.name(), name));
        return Exit::usage;
    }
    return Exit::ok;
}

int check(Request request, Options options) {
    if (options.batch) return check_batch(request, std::move(options.serving));
    Results results(true);
    try {
        options.search.given = options.given.read();
    } catch (const ArgumentError& error) {
        remark(fmt::format("wgrun: {} (wgrun --help)", error.what()));
        return Exit::usage;
    }
    if (options.search.min_coverage > 0 && !options.search.dynamic) {
        remark("wgrun: --min-coverage is for --dynamic: only runs execute instructions");
        return Exit::usage;
    }
    if (options.search.sass) {
        if (!take_machine_code(request, options.search.machine_code)) return Exit::usage;
        if (has_machine_code_alone(request.file)) return check_machine_code(request, options.strict, results);
    }
    std::optional<std::string> text = ptx_text(request);
    // What carries PTX has the machine code beside it.
    if (options.search.sass && text && options.search.machine_code.empty() &&
        carries_machine_code(request.file))
        options.search.machine_code = request.file;
    if (!options.replay.empty()) {
        try {
            return replay(request, text, options.replay, results);
        } catch (const ArgumentError& error) {
            remark(fmt::format("wgrun: {}", error.what()));
            return Exit::usage;
        }
    }
    if (text) {
        if (options.search.dynamic == options.launch.empty()) {
            remark(
                "wgrun: a PTX text says nothing of its launches: --dynamic and --launch FILE belong "
                "together (docs/foreign.md)");
            return Exit::usage;
        }
        const bool mends = options.fix || options.diff;
        if (!request.args.empty() && (!options.launch.empty() || (mends && request.json))) {
            remark("wgrun: --launch, and --fix and --diff with --json, are for one PTX text at a time");
            return Exit::usage;
        }
        if (mends)
            return each_text(
                request, std::move(*text), [&](const Request& each, const std::string& its) -> int {
                    if (!each.file.ends_with(".ptx") && each.file != "-") {
                        remark(
                            "wgrun: --fix and --diff are for PTX and scripts, not for what PTX was made of");
                        return Exit::usage;
                    }
                    return fix_ptx(
                        each, its,
                        mending_of_ptx(each,
                                       {options.launch, options.search.seeds, options.search.min_coverage},
                                       options.search.given),
                        options.diff, results);
                });
        return check_ptx_texts(request, std::move(*text),
                               request.json    ? PtxReport::json
                               : options.sarif ? PtxReport::sarif
                                               : PtxReport::text,
                               {options.launch, options.search.seeds, options.search.min_coverage},
                               {.perf = options.search.perf,
                                .assemble = options.search.assemble,
                                .sass = options.search.sass,
                                .machine_code = options.search.machine_code,
                                .strict = options.strict,
                                .given = options.search.given},
                               results);
    }
    if (options.search.given.block || options.search.given.cluster) {
        remark("wgrun: --block and --cluster are for PTX texts: a script's kernels have their own");
        return Exit::usage;
    }
    if (!options.launch.empty()) {
        remark("wgrun: --launch is for PTX texts: scripts launch their kernels themselves");
        return Exit::usage;
    }
    if (options.fix || options.diff) return fix(request, options.search, options.diff, results);
    const bool for_programs = request.json || options.sarif;
    const std::vector<Input> inputs = for_programs ? inputs_of(request) : std::vector<Input>();
    Checked checked = gather(request, options.search);
    if (checked.code == Exit::ok && refuse_unknown(request, checked, options.search.given) != Exit::ok)
        return Exit::usage;
    if (checked.code == Exit::ok) try_remedies(request, options.search, checked.findings);
    if (for_programs) resolve_remedies(request, checked.findings);
    if (request.json) {
        results.write(as_json(options.search, checked, inputs));
    } else if (options.sarif) {
        results.write(to_sarif(checked.findings, checked.judged, inputs));
    } else {
        print_findings(request, checked.findings);
        results.write(as_text(request, checked, options.search.dynamic));
    }
    if (!checked.traceback.empty()) remark(checked.traceback);
    if (!results.finish()) return Exit::failed;
    if (checked.code != Exit::ok) return checked.code;
    if (checked.explored && lacks_coverage(checked.coverage, options.search.min_coverage))
        return Exit::failed;
    if (checked.errors() > 0) return Exit::failed;
    int code = Exit::ok;
    for (const Judged& kernel : checked.judged)
        if (options.strict) code = strict_code(kernel.verdicts, code);
    return code;
}

Command::Run declare(Arguments& arguments) {
    const auto options = std::make_shared<Options>();
    Search& search = options->search;
    arguments.flag("--sarif", options->sarif, "Print SARIF 2.1.0 on standard output");
    arguments.flag("--dynamic", search.dynamic,
                   "Also run the kernels on the simulator, which checks every access");
    arguments
        .option("--launch", options->launch,
                "Describes the launch of a PTX text that --dynamic runs (JSON, docs/foreign.md)")
        .unit("FILE");
    arguments.flag("--fix", options->fix, "Insert what is missing, and write FILE if it then has no errors")
        .excludes("--sarif");
    arguments.flag("--diff", options->diff, "Show what --fix would change, and write nothing")
        .excludes("--sarif");
    arguments
        .flag("--strict", options->strict,
              "Exit with 6 if a property of a kernel is undecided, and with 1 if one is refuted")
        .excludes("--fix")
        .excludes("--diff");
    arguments.flag("--batch", options->batch,
                   "FILE has messages, a line of JSON each; an answer for each, as wgrun serve gives "
                   "(docs/serve.md)");
    arguments.option("--jobs", options->serving.jobs, "Inputs that --batch checks at a time")
        .between(1, most_jobs)
        .shows_default();
    arguments
        .option("--replay", options->replay,
                "Run nothing but the launches of these findings (as --json has them), on the simulator or, "
                "with --backend gpu, guarded on a GPU")
        .unit("FINDING.json")
        .excludes("--sarif")
        .excludes("--dynamic")
        .excludes("--launch")
        .excludes("--fix")
        .excludes("--diff")
        .excludes("--strict")
        .excludes("--batch");
    options->given.declare(arguments);
    arguments.flag(
        "--perf", search.perf,
        "Also report bank conflicts, and barriers, fences and waits that no launch of the script needs");
    arguments.flag("--assemble", search.assemble,
                   "Also assemble the kernels, and report the notes of ptxas or the driver");
    arguments.flag("--sass", search.sass,
                   "Also hold machine code against the program: what ptxas makes of it, or that of the file "
                   "behind FILE (docs/sass.md)");
    arguments.option("--seeds", search.seeds, "Number of schedules that --dynamic and --perf try")
        .between(1, 10000)
        .shows_default();
    arguments
        .option("--min-coverage", search.min_coverage,
                "Fail if --dynamic executes less of a kernel's synchronising instructions")
        .unit("PERCENT")
        .between(0, 100);
    return [options](const Request& request) { return check(request, *options); };
}

}  // namespace
}  // namespace check_detail

const Command check_command{
    "check", "Print what is wrong with the kernels of a script or of a PTX text, and what is proved of them",
    Takes::script, check_detail::declare};

}  // namespace wgrun::cli
