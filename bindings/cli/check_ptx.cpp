// Kernels that others have made are checked as scripts are: the same rules, the same exit codes.
#include "bindings/cli/check_ptx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "bindings/cli/assembly.hpp"
#include "bindings/cli/coverage.hpp"
#include "bindings/cli/host.hpp"
#include "bindings/cli/input.hpp"
#include "bindings/cli/kept.hpp"
#include "bindings/cli/launch_file.hpp"
#include "bindings/cli/ptx_text.hpp"
#include "bindings/cli/verdicts.hpp"
#include "gpu/driver.hpp"
#include "kernel/assembler_faults.hpp"
#include "wgrun/assembly.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/finding_set.hpp"
#include "wgrun/foreign.hpp"
#include "wgrun/printable.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::cli {
namespace {

/// Whatever the file is called.
bool begins_as_ptx(const std::string& name) {
    std::array<char, 1 << 14> begin{};
    std::ifstream file(name, std::ios::binary);
    file.read(begin.data(), begin.size());
    return is_ptx({begin.data(), static_cast<std::size_t>(file.gcount())});
}

/// Long names, as those of C++ templates are, are cut.
std::string shown(const std::string& name) {
    constexpr std::size_t longest = 72;
    return printable(name.size() <= longest ? name : name.substr(0, longest - 3) + "...");
}

std::string describe(const ForeignKernel& kernel) {
    std::string out = fmt::format("{}:{}: {}: {}", kernel.where.file.view(), kernel.where.line,
                                  shown(kernel.name), count_of(kernel.instructions, "instruction"));
    if (kernel.unread > 0) out += fmt::format(", {} not checked", kernel.unread);
    out += '\n';
    constexpr std::size_t most = 8;
    for (std::size_t i = 0; i < std::min(kernel.opcodes.size(), most); ++i) {
        const auto& [opcode, lines] = kernel.opcodes[i];
        out += fmt::format("  not checked: {} ({})\n", opcode,
                           lines.size() == 1
                               ? fmt::format("line {}", lines[0])
                               : fmt::format("{} times, first in line {}", lines.size(), lines[0]));
    }
    if (kernel.opcodes.size() > most) out += fmt::format("  and {} more\n", kernel.opcodes.size() - most);
    for (const std::string& sentence : kernel.undecided) out += fmt::format("  not decided: {}\n", sentence);
    return out;
}

/// Of a text: what is found, and by which run.
struct Looked {
    std::string file;
    ForeignText text;
    Input input;
    FindingSet findings{};
    std::string ran{}, kernel{};  ///< what was run, in words, and the kernel's name
    Coverage coverage{};          ///< of that
    Assembly assembly{};
    KeptCode machine_code{};

    std::size_t errors() const {
        return static_cast<std::size_t>(std::ranges::count(findings, Severity::error, &Diagnostic::severity));
    }
    int code() const {
        if (!text.errors.empty()) return Exit::not_assembled;
        return errors() > 0 ? Exit::failed : Exit::ok;
    }
};

std::vector<Input> inputs_of(const std::vector<Looked>& all) {
    std::vector<Input> out;
    for (const Looked& looked : all) out.push_back(looked.input);
    return out;
}

std::string as_sarif(std::span<const Diagnostic> findings, const std::vector<Looked>& all) {
    std::vector<Judged> kernels;
    for (const Looked& looked : all)
        for (const ForeignKernel& kernel : looked.text.kernels)
            kernels.push_back({kernel.name, kernel.where, kernel.verdicts});
    return to_sarif(findings, kernels, inputs_of(all));
}

std::string as_json(std::span<const Diagnostic> findings, const std::vector<Looked>& all,
                    const PtxWanted& wanted) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(to_json(findings));
    add_inputs(json, inputs_of(all));
    json["kernels"] = nlohmann::ordered_json::array();
    for (const Looked& looked : all)
        for (nlohmann::ordered_json& kernel : nlohmann::ordered_json::parse(to_json(looked.text.kernels)))
            json["kernels"].push_back(std::move(kernel));
    for (const Looked& looked : all)
        for (nlohmann::ordered_json& kernel : coverage_json(looked.coverage))
            json["coverage"].push_back(std::move(kernel));
    if (wanted.sass)
        for (const Looked& looked : all) looked.machine_code.add_to(json);
    if (wanted.assemble) {
        Assembly together;
        for (const Looked& looked : all) {
            std::ranges::copy(looked.assembly.reports, std::back_inserter(together.reports));
            if (!looked.assembly.missing.empty()) together.missing = looked.assembly.missing;
        }
        together.add_to(json);
    }
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// Runs the launch, on a GPU its guarded build, and adds what the run finds, and what the checker finds now
/// that it knows the launch. Returns whether another schedule may show more.
bool add_run(const Request& request, const ForeignModule& module, const std::string& file, std::uint64_t seed,
             Backend backend, Looked& out) {
    LaunchFile launch = read_launch(file, module);
    if (launch.kernel.empty() && module.names().size() != 1)
        throw ArgumentError(fmt::format("{}: `kernel` is missing: the text has {}", file,
                                        count_of(module.names().size(), "kernel")));
    Kernel kernel = module.kernel(launch.kernel.empty() ? module.names().front() : launch.kernel);
    RunOptions& options = launch.options;
    options.backend = backend;
    options.isolation = request.isolation;
    options.seed = seed;
    options.numerics = request.numerics;
    options.simulation.multiprocessors = request.limits.multiprocessors;
    options.simulation.steps = request.limits.simulation_steps;
    options.coverage = &out.coverage;
    options.unchecked = true;  // the checker's findings are printed by themselves
    kernel.fit(options);
    out.findings.add_of_launch(kernel.check());
    out.kernel = kernel.program().name();
    const auto add = [&](std::vector<Diagnostic> found) {
        for (Diagnostic& finding : found)
            finding.launch =
                FoundIn{.by = FoundIn::By::file, .kernel = out.kernel, .seed = seed, .file = file};
        out.findings.add_of_launch(found);
    };
    try {
        run_or_guard(backend, kernel, options);
        add(kernel.take_remarks());
        return true;
    } catch (const CheckError& error) {
        add(error.findings());
    } catch (const ArgumentError& error) {
        out.findings.add(error.finding());
    } catch (const EnvironmentError& error) {  // it hangs on a GPU
        if (backend == Backend::sim || error.finding().rule.empty()) throw;
        add({error.finding()});
    }
    return false;
}

/// The same once for each seed, or for this one alone. A run that ends with errors is the last one.
void add_dynamic(const Request& request, std::string text, const PtxLaunches& launches, std::uint64_t only,
                 Looked& out) {
    const ForeignModule module(out.file, std::move(text));
    std::uint64_t seed = std::max<std::uint64_t>(only, 1);
    const std::uint64_t last = only != 0 ? only : static_cast<std::uint64_t>(launches.seeds);
    while (add_run(request, module, launches.file, seed, Backend::sim, out) && seed < last) ++seed;
    out.ran = fmt::format("{}: {} on the simulator\n", shown(out.kernel),
                          count_of(static_cast<std::size_t>(seed), "schedule"));
}

/// What findings call the text. Lines of PTX that a file carries or makes are none of that file's.
std::string name_of_text(const Request& request) {
    if (request.file == "-") return request.name();
    const bool is_text = request.text || request.file.ends_with(".ptx") || begins_as_ptx(request.file);
    return is_text ? request.file : request.file + ".ptx";
}

/// Nothing, with a remark, where what is given does not fit the text.
std::optional<ForeignText> checked(const Request& request, const std::string& name, const std::string& text,
                                   const Assumptions& given) {
    try {
        Assumptions limited = given;
        limited.most_instructions = request.limits.program;
        return check_ptx(name, text, limited);
    } catch (const ArgumentError& error) {
        remark(fmt::format("wgrun: {}: {}", name, error.what()));
        return {};
    }
}

/// Adds what is slower than necessary, and what the assembler says. Launches that are given tell the shape.
void add_wanted(const std::string& text, const PtxWanted& wanted, Looked& out) {
    const ForeignModule module(out.file, text);
    for (const std::string& name : module.names()) {
        Kernel kernel = module.kernel(name);
        if (wanted.perf) out.findings.add_wordings(kernel.performance());
        if (wanted.assemble && out.text.errors.empty()) try {
                out.assembly.add(kernel, shown(name), nullptr, out.findings);
            } catch (const EnvironmentError& error) {  // the assembler refuses the text
                if (error.code() != "ECOMPILE") throw;
                out.text.errors.push_back(error.finding());
                out.findings.add(error.finding());
            }
    }
}

/// Adds that the ptxas that is here or, where there is none, the driver does not read the version of the
/// text.
void add_newer(Looked& out) {
    const bool ptxas = !ptxas_version().empty();
    const std::string here = ptxas ? ptxas_version() : gpu::find_driver().part.version;
    const std::optional<AssemblerVersion> known = assembler_version_of(here);
    const std::optional<isa::PtxVersion> newest = known ? newest_ptx(*known) : std::nullopt;
    const isa::PtxVersion version = out.text.version;
    if (!newest || version <= *newest) return;
    Diagnostic finding = rules::finding(
        rules::WG_FORM_06, out.text.version_at,
        fmt::format("the {} that is here, {}, reads PTX up to .version {}.{}: the text has {}.{}",
                    ptxas ? "ptxas" : "driver of CUDA", here, newest->major, newest->minor, version.major,
                    version.minor),
        "a later ptxas (pip install -U nvidia-cuda-nvcc), or an earlier .version, if nothing in the text "
        "needs it");
    finding.severity = Severity::warning;
    out.findings.add(std::move(finding));
}

std::optional<Looked> look(const Request& request, const std::string& text, const PtxLaunches& launches,
                           const PtxWanted& wanted) {
    const std::string name = name_of_text(request);
    std::optional<ForeignText> checked = cli::checked(request, name, text, wanted.given);
    if (!checked) return {};
    Looked out{name, std::move(*checked), input_of(name, text)};
    out.findings.add_all(out.text.errors);
    for (const ForeignKernel& kernel : out.text.kernels) out.findings.add_all(kernel.findings);
    if (!out.text.errors.empty()) return out;
    add_newer(out);
    if (!launches.file.empty()) add_dynamic(request, text, launches, 0, out);
    if (wanted.perf || wanted.assemble) add_wanted(text, wanted, out);
    if (wanted.sass) {
        out.machine_code = KeptCode(wanted.machine_code, wanted.perf);
        out.machine_code.add(out.file, text);
        out.machine_code.add_findings(out.findings);
        for (ForeignKernel& kernel : out.text.kernels)
            out.machine_code.add_verdict(kernel.name, kernel.verdicts);
    }
    return out;
}

/// Where the entries of a text begin.
using Entries = std::vector<std::pair<int, std::string>>;

/// The entry in which one of the lines stands. Empty: nobody knows.
std::string entry_at(const Entries& entries, const std::set<int>& lines) {
    std::string out;
    for (const auto& [begin, name] : entries)
        if (!lines.empty() && begin <= *lines.begin()) out = name;
    return out;
}

void print(const Request& request, const Looked& looked, Results& results) {
    print_findings(request, looked.findings);
    const std::vector<ForeignKernel>& kernels = looked.text.kernels;
    for (const ForeignKernel& kernel : kernels) results.write(describe(kernel));
    results.write(looked.ran);
    results.write(looked.assembly.text());
    results.write(looked.machine_code.text());
    results.write(coverage_text(looked.coverage));
    results.write(fmt::format("{}: {}, {}, {}\n", printable(request.name()),
                              count_of(kernels.size(), "kernel"), count_of(looked.errors(), "error"),
                              count_of(looked.findings.size() - looked.errors(), "remark")));
    if (looked.errors() != 0) return;
    if (looked.text.seconds > 0)
        results.write(
            fmt::format("{}: each kernel has {:.2g} seconds for proofs and runs, as there are {}: "
                        "--budget SECONDS gives each so many\n",
                        printable(request.name()), looked.text.seconds, kernels.size()));
    for (const ForeignKernel& kernel : kernels) results.write(to_text(shown(kernel.name), kernel.verdicts));
}

/// Gives the changes that findings propose their lines in the text.
void resolve(FindingSet& findings, std::string text) {
    const PtxText lines(std::move(text));
    for (Diagnostic& finding : findings)
        for (Remedy& remedy : finding.remedies)
            for (Change& change : remedy) change = lines.resolved(change);
}

}  // namespace

std::optional<std::string> ptx_text(Request& request) {
    if (request.text && (request.file.ends_with(".ptx") || is_ptx(*request.text))) return request.text;
    if (request.text) return {};
    if (request.file.ends_with(".ptx")) return contents(request.file);
    if (request.file != "-") {
        if (std::optional<std::string> made = ptx_from(request.file)) return made;
        return begins_as_ptx(request.file) ? std::optional(contents(request.file)) : std::nullopt;
    }
    std::string text = contents(request.file);
    if (is_ptx(text)) return text;
    request.text = std::move(text);
    return {};
}

int each_text(const Request& request, std::string first,
              const std::function<int(const Request&, std::string)>& visit) {
    int code = visit(request, std::move(first));
    for (const std::string& file : request.args) {
        Request other = request;
        other.file = file;
        std::optional<std::string> text = ptx_text(other);
        if (!text) {
            remark(fmt::format("wgrun: {} is no PTX: scripts are checked one at a time", file));
            return Exit::usage;
        }
        code = std::max(code, visit(other, std::move(*text)));
    }
    return code;
}

std::vector<Diagnostic> replay_ptx(const Request& request, std::string text, const FoundIn& launch,
                                   std::string_view rule) {
    Looked out{name_of_text(request), {}, {}};
    const ForeignModule module(out.file, std::move(text));
    if (launch.by == FoundIn::By::file) {
        add_run(request, module, launch.file, launch.seed, request.backend, out);
        return out.findings.list();
    }
    return module.kernel(launch.kernel)
        .replay(launch, rule, {.backend = request.backend, .isolation = request.isolation});
}

Mending mending_of_ptx(const Request& request, const PtxLaunches& launches, const Assumptions& given) {
    const auto entries = std::make_shared<Entries>();
    const auto check = [=](const std::string& candidate, const Judging& judging) {
        Checked out;
        Looked looked{name_of_text(request), {}, {}};
        Assumptions how = given;
        how.seconds = std::min(how.seconds, judging.seconds);
        looked.text = check_ptx(looked.file, candidate, how, entry_at(*entries, judging.lines));
        looked.findings.add_all(looked.text.errors);
        for (const ForeignKernel& kernel : looked.text.kernels) {
            looked.findings.add_all(kernel.findings);
            out.threads.insert(kernel.threads);
        }
        if (entries->empty())
            for (const ForeignKernel& kernel : looked.text.kernels)
                entries->emplace_back(kernel.where.line, kernel.name);
        if (!looked.text.errors.empty())
            out.code = Exit::not_assembled;
        else if (!launches.file.empty() && judging.runs)
            add_dynamic(request, candidate, launches, judging.seed, looked);
        out.kernels = entries->size();
        out.findings = std::move(looked.findings);
        return out;
    };
    return {[](std::string candidate) { return std::make_unique<PtxText>(std::move(candidate)); }, check};
}

int check_ptx_texts(const Request& request, std::string first, PtxReport report, const PtxLaunches& launches,
                    const PtxWanted& wanted, Results& results) {
    std::vector<Looked> all;
    std::vector<Diagnostic> findings;
    int judged = Exit::ok;
    const int code = each_text(request, std::move(first), [&](const Request& each, std::string text) -> int {
        std::optional<Looked> known = look(each, text, launches, wanted);
        if (!known) return Exit::usage;
        Looked& looked = *known;
        if (looked.text.errors.empty())
            keep_what_works(looked.findings, looked.file, text, mending_of_ptx(each, launches, wanted.given));
        int its = looked.code();
        if (its == Exit::ok && lacks_coverage(looked.coverage, launches.min_coverage)) its = Exit::failed;
        for (const ForeignKernel& kernel : looked.text.kernels)
            if (wanted.strict) judged = strict_code(kernel.verdicts, judged);
        if (report == PtxReport::text) {
            print(each, looked, results);
            return its;
        }
        resolve(looked.findings, std::move(text));
        std::ranges::move(looked.findings, std::back_inserter(findings));
        all.push_back(std::move(looked));
        return its;
    });
    if (code == Exit::usage) return code;
    if (report == PtxReport::json) results.write(as_json(findings, all, wanted));
    if (report == PtxReport::sarif) results.write(as_sarif(findings, all));
    if (!results.finish()) return Exit::failed;
    return code == Exit::ok ? judged : code;
}

}  // namespace wgrun::cli
