#include "wgrun/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "check/check.hpp"
#include "check/evidence.hpp"
#include "check/findings.hpp"
#include "check/outgoing.hpp"
#include "check/parameters.hpp"
#include "diag/fix.hpp"
#include "kernel/foreign_entry.hpp"
#include "kernel/sized_runs.hpp"
#include "kernel/synthetic.hpp"
#include "ptx/heading.hpp"
#include "ptx/lower.hpp"
#include "rules/mbarrier_words.hpp"
#include "wgrun/finding_set.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {

bool is_ptx(std::string_view text) {
    if (text.starts_with(ptx::byte_order_mark)) text.remove_prefix(ptx::byte_order_mark.size());
    while (!text.empty()) {
        if (text.starts_with("//")) {
            text.remove_prefix(std::min(text.find('\n'), text.size()));
        } else if (text.starts_with("/*")) {
            const std::size_t end = text.find("*/", 2);
            if (end == std::string_view::npos) return false;
            text.remove_prefix(end + 2);
        } else if (std::string_view(" \t\r\n").find(text[0]) != std::string_view::npos) {
            text.remove_prefix(1);
        } else {
            return text.starts_with(".version");
        }
    }
    return false;
}

namespace {

/// What becomes of the finding here.
SeverityOverride here(const Diagnostic& finding) {
    switch (finding.finding_kind) {
        case FindingKind::usual: break;
        case FindingKind::of_engine:
        case FindingKind::same_value: return SeverityOverride::once;
        case FindingKind::same_step: return SeverityOverride::warning;
    }
    const Rule* rule = find_rule(finding.rule);
    return rule == nullptr ? SeverityOverride::same : rule->severity_override;
}

std::vector<std::string> undecided(const ptx::Lowered& kernel) {
    std::vector<std::string> out;
    const ptx::Unknowns& unknown = kernel.unknown;
    if (unknown.threads)
        out.push_back(fmt::format(
            "neither .reqntid nor .maxntid says how many threads a CTA has, as __launch_bounds__(N) does in "
            "CUDA: {} are assumed, and "
            "what follows from their number is not checked",
            kernel.program.threads()));
    if (unknown.cluster)
        out.emplace_back(
            "how many CTAs a cluster has, which the launch decides: barriers and mbarriers are not "
            "executed abstractly");
    if (unknown.registers)
        out.emplace_back(
            "whether setmaxnreg finds the registers that it asks for: .maxnreg gives others at the start");
    if (unknown.calls) out.emplace_back("what the functions do that it calls");
    if (unknown.indirect) out.emplace_back("where its branches through registers lead");
    return out;
}

bool counts_threads(const Diagnostic& finding) {
    const Rule* rule = find_rule(finding.rule);
    return rule != nullptr && rule->counts_threads;
}

/// Of warnings that are given once, the first one says how many there are, and where the last one is.
void keep_first_warnings(std::vector<Diagnostic>& findings) {
    struct Told {
        std::size_t others = 0;
        Where last{};
    };
    std::map<std::string, Told> told;
    std::erase_if(findings, [&](const Diagnostic& finding) {
        if (here(finding) != SeverityOverride::once) return false;
        const auto [rule, first] = told.try_emplace(finding.rule);
        if (!first) rule->second = {rule->second.others + 1, finding.where};
        return !first;
    });
    for (Diagnostic& finding : findings) {
        const auto rule = told.find(finding.rule);
        if (here(finding) != SeverityOverride::once || rule->second.others == 0) continue;
        finding.notes.push_back(
            {rule->second.last, fmt::format("the last of {} such places", rule->second.others + 1)});
    }
}

/// Leaves of the findings of a compiler's kernel what can be said of it, and not by habit.
void moderate(std::vector<Diagnostic>& found, bool shape_is_known) {
    if (!shape_is_known) std::erase_if(found, counts_threads);
    std::ranges::stable_sort(found, {}, [](const Diagnostic& finding) { return finding.where.line; });
    keep_first_warnings(found);
}

/// "8", "8 and 9", "7, 8 and 9"
std::string listed(std::vector<std::uint32_t> numbers) {
    std::ranges::sort(numbers);
    std::string out = fmt::format("{}", fmt::join(numbers, ", "));
    if (const std::size_t last = out.rfind(", "); last != std::string::npos) out.replace(last, 2, " and ");
    return out;
}

/// Of a kernel whose protocol is wrong, launches show what follows from that.
bool stops_launches(const Diagnostic& finding) {
    return here(finding) == SeverityOverride::same && finding.severity == Severity::error &&
           !check::is_contained(finding);
}

/// Of a kernel that hangs with every number, nobody can have meant it.
bool hangs(const Diagnostic& finding) {
    return breaks(finding, rules::WG_MBAR_05) || breaks(finding, rules::WG_SYNC_02) ||
           breaks(finding, rules::WG_SYNC_04);
}

/// Adds what launches show whose numbers are synthetic, where nothing is wrong yet: warnings, since the
/// kernel may be meant for others.
void add_sized(const Program& program, const SizedTrials& trials, std::vector<Diagnostic>& out) {
    if (std::ranges::any_of(out, stops_launches)) return;
    for (auto& [finding, numbers, in_all] : found_in_sized_launches(trials)) {
        const bool one = numbers.size() == 1;
        if (!trials.shape_is_known || one || !in_all || !hangs(finding)) finding.severity = Severity::warning;
        finding.notes.push_back(
            {program.where(),
             fmt::format("in {} whose numbers are {}", one ? "a launch" : "launches", listed(numbers))});
        out.push_back(std::move(finding));
    }
    std::ranges::stable_sort(out, {}, [](const Diagnostic& finding) { return finding.where.line; });
}

/// What is given of launches.
ptx::LaunchFacts facts_of(const Assumptions& given) {
    ptx::LaunchFacts out;
    out.block = given.block;
    out.cluster = given.cluster;
    return out;
}

/// The shapes that CTAs and clusters usually have, where the text leaves them to the launch.
std::vector<ptx::LaunchFacts> usual_shapes(const ptx::Unknowns& unknown, const Assumptions& assumed) {
    const std::vector<std::optional<Dim3>> given{std::nullopt};
    const std::vector<std::optional<Dim3>> blocks{Dim3{128}, Dim3{256}, Dim3{384}, Dim3{512}};
    const std::vector<std::optional<Dim3>> clusters{Dim3{1},    Dim3{2},    Dim3{1, 2}, Dim3{4}, Dim3{1, 4},
                                                    Dim3{2, 2}, Dim3{4, 2}, Dim3{2, 4}, Dim3{8}};
    std::vector<ptx::LaunchFacts> out;
    for (const auto& cluster : unknown.cluster ? clusters : given)
        for (const auto& block : unknown.threads ? blocks : given) {
            out.push_back(facts_of(assumed));
            if (block) out.back().block = block;
            if (cluster) out.back().cluster = cluster;
            out.back().aligned = true;
        }
    return out;
}

void add_sized(const ptx::Module& module, const ptx::Lowered& kernel, const Assumptions& given, double part,
               std::vector<Diagnostic>& out) {
    const auto function = std::ranges::find_if(module.functions, [&](const ptx::Function& one) {
        return one.entry && one.body && module.at(one.name) == kernel.name;
    });
    if (function == module.functions.end()) return;
    const std::vector<ptx::LaunchFacts> shapes = usual_shapes(kernel.unknown, given);
    const auto shape = [&](std::size_t i) -> std::optional<Program> {
        if (i == shapes.size()) return std::nullopt;
        ptx::Lowered lowered = ptx::lower(module, *function, shapes[i]);
        return lowered.errors.empty() ? std::optional(with_numbers(lowered.program, given)) : std::nullopt;
    };
    add_sized(kernel.program,
              {.shape = shape,
               .shape_is_known = !kernel.unknown.threads && !kernel.unknown.cluster,
               .races_only = kernel.unknown.threads,
               .known = out,
               .grid = given.grid,
               .part = part},
              out);
}

/// What paths show and, where the shape of the CTAs and clusters is known and nothing is wrong yet, what a
/// run with synthetic arguments does.
std::vector<Diagnostic> findings_of(const Program& program, bool shape_is_known) {
    FindingSet out(check::check(program, check::Made::by_compiler));
    out.add_all(check::outgoing(program));
    out.add_all(check::misread_parameters(program));
    std::ranges::for_each(out, tell_translated);
    if (!shape_is_known || std::ranges::find(out, Severity::error, &Diagnostic::severity) != out.end())
        return out.list();
    std::vector<Diagnostic> ran = found_in_every_launch(program, check::Made::by_compiler);
    // Which tensor maps a structure holds, a launch decides; what follows from their lack is no finding.
    const auto names_a_map = [](const Diagnostic& finding) { return breaks(finding, rules::WG_TMA_01); };
    if (std::ranges::any_of(ran, names_a_map)) ran.clear();
    for (Diagnostic& finding : ran) {
        // A launch gives the kernel more shared memory than the text tells; compilers multiply what nothing
        // has written, and leave the results out.
        if (breaks(finding, rules::WG_MEM_03) || breaks(finding, rules::WG_MEM_04) ||
            finding.finding_kind == FindingKind::same_value)
            continue;
        tell_translated(finding);
        out.add(std::move(finding));
    }
    return out.list();
}

std::vector<Diagnostic> findings(const ptx::Module& module, const ptx::Lowered& kernel,
                                 const Assumptions& given, double part) {
    if (kernel.unknown.indirect) return kernel.refused;
    const bool shape_is_known = !kernel.unknown.threads && !kernel.unknown.cluster;
    std::vector<Diagnostic> out = findings_of(kernel.program, shape_is_known && !kernel.unknown.registers);
    if (kernel.unknown.setmaxnreg)
        out.push_back(
            rules::finding(rules::WG_PERF_03, kernel.unknown.setmaxnreg,
                           "ptxas ignores every setmaxnreg here: nothing says how many registers a thread "
                           "begins with (C7508)",
                           ".maxntid N, 1, 1, in CUDA __launch_bounds__(N)"));
    // Some laws also say what an operand may be.
    for (const Diagnostic& refusal : kernel.refused)
        if (refusal.rule != rules::WG_FORM_02.id || !std::ranges::any_of(out, [&](const Diagnostic& other) {
                return other.where == refusal.where && other.severity == Severity::error;
            }))
            out.push_back(refusal);
    moderate(out, shape_is_known);
    add_sized(module, kernel, given, part, out);
    for (Diagnostic& finding : out) add_numbers(kernel.program, given, finding);
    return out;
}

}  // namespace

std::optional<check::OpenShape> open_shape(const ptx::Lowered& kernel) {
    const ptx::Unknowns& unknown = kernel.unknown;
    const auto gap = [&](std::string reason, std::string assumption = {}) {
        return check::OpenShape{{Property::none, kernel.where, std::move(reason), std::move(assumption)}};
    };
    if (unknown.threads)
        return gap("the launch decides how many threads a CTA has",
                   "--block THREADS, or .reqntid or .maxntid in the text, says it");
    if (unknown.calls) return gap("what the functions do that it calls is not followed");
    if (unknown.indirect) return gap("where its branches through registers lead is not known");
    if (unknown.cluster) {
        check::OpenShape out = gap("the launch decides how many CTAs a cluster has",
                                   "--cluster CTAS, or .reqnctapercluster in the text, says it");
        out.of_clusters = !unknown.registers;
        return out;
    }
    if (unknown.registers)
        return check::OpenShape{
            {Property::register_pool, kernel.where, ".maxnreg gives other registers at the start", {}}};
    return std::nullopt;
}

void add_numbers(const Program& program, const Assumptions& given, Diagnostic& finding) {
    if (!finding.launch) return;
    for (const auto& number : given.numbers)
        if (names_number(program, number.first)) finding.launch->numbers.push_back(number);
}

void name_sources(const ptx::Module& module, Diagnostic& finding) {
    const std::vector<Where> sources = ptx::sources_of(module, finding.where.line);
    for (std::size_t i = 0; i < sources.size(); ++i)
        finding.notes.insert(finding.notes.begin() + static_cast<std::ptrdiff_t>(i),
                             {sources[i], i == 0 ? "the source" : "which is inlined here"});
}

std::vector<Diagnostic> foreign_findings(const ptx::Module& module, const ptx::Lowered& lowered,
                                         const Assumptions& given, double part) {
    std::vector<Diagnostic> out = findings(module, lowered, given, part);
    for (Diagnostic& finding : out) tell(module, finding);
    return out;
}

std::vector<Diagnostic> translated_findings(const Program& program) {
    const bool shape_is_known = !program.translated()->threads && !program.translated()->cluster;
    std::vector<Diagnostic> out = findings_of(program, shape_is_known);
    moderate(out, shape_is_known);
    const auto shape = [&](std::size_t i) { return i == 0 ? std::optional(program) : std::nullopt; };
    if (shape_is_known) add_sized(program, {.shape = shape, .known = out}, out);
    return out;
}

void tell_translated(Diagnostic& finding) {
    if (here(finding) != SeverityOverride::same) finding.severity = Severity::warning;
}

void tell(const ptx::Module& module, Diagnostic& finding) {
    if (!finding.fix_in_ptx.empty())
        finding.fix = finding.fix_in_ptx;
    else if (!finding.remedies.empty() && finding.fix == in_words(finding.remedies.front()))
        finding.fix = in_words(finding.remedies.front(), Dialect::ptx);
    tell_translated(finding);
    name_sources(module, finding);
}

namespace {

/// What is beyond the limits of the checker, such as the depth of loops, is a finding of the kernel.
Diagnostic beyond_limits(const ptx::Module& module, const ptx::Lowered& lowered, Diagnostic finding) {
    if (!finding.where) finding.where = lowered.where;
    name_sources(module, finding);
    return finding;
}

/// part: of the time of proofs and runs that a kernel alone has.
ForeignKernel checked(const ptx::Module& module, const ptx::Lowered& lowered, Assumptions given,
                      double part) {
    ForeignKernel out;
    out.name = lowered.name;
    out.where = lowered.where;
    out.instructions = lowered.instructions;
    if (!lowered.unknown.threads) out.threads = lowered.program.threads();
    out.unread = lowered.opaque;
    for (const auto& [opcode, lines] : lowered.unread) out.opcodes.emplace_back(opcode, lines);
    std::ranges::stable_sort(out.opcodes,
                             [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
    out.undecided = undecided(lowered);
    const std::uint64_t most = given.most_instructions;
    if (const auto count = static_cast<std::uint64_t>(lowered.instructions); most != 0 && count > most) {
        out.findings.push_back(beyond_limits(
            module, lowered,
            plain_error(fmt::format("the kernel has {} instructions, and is not checked: {} are allowed",
                                    count, most),
                        "a higher limit (--max-program)")));
        return out;
    }
    try {
        out.findings = foreign_findings(module, lowered, given, part);
    } catch (const ArgumentError& refused) {
        out.findings.push_back(beyond_limits(module, lowered, refused.finding()));
        return out;
    }
    if (given.seconds <= 0) return out;
    given.seconds *= part;
    const std::optional<check::OpenShape> unknown = open_shape(lowered);
    check::Evidence evidence = check::evidence(lowered.program, out.findings, check::Made::by_compiler,
                                               unknown ? &*unknown : nullptr, given);
    for (Diagnostic& finding : evidence.findings) {
        add_numbers(lowered.program, given, finding);
        tell(module, finding);
        out.findings.push_back(std::move(finding));
    }
    out.verdicts = check::verdicts(out.findings, evidence);
    return out;
}

/// Returns where the lines begin that are .version directives, outside of comments.
std::vector<std::size_t> module_begins(std::string_view text) {
    std::vector<std::size_t> out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool line_begins = at == 0 || text[at - 1] == '\n';
        if (line_begins && text.substr(at).starts_with(".version")) out.push_back(at);
        at = text.find_first_of("/\n", at);
        if (at == std::string_view::npos) break;
        if (text.substr(at).starts_with("//")) {
            at = std::min(text.find('\n', at), text.size());
        } else if (text.substr(at).starts_with("/*")) {
            const std::size_t end = text.find("*/", at + 2);
            at = end == std::string_view::npos ? text.size() : end + 1;
        }
    }
    return out;
}

/// Returns the modules of a text, each of which begins with .version, with as many lines before it as it has
/// in the text. A binary carries several, whose names and numbers of files are independent.
std::vector<std::string> modules_in(std::string text) {
    if (text.starts_with(ptx::byte_order_mark)) text.erase(0, ptx::byte_order_mark.size());
    std::vector<std::size_t> starts = module_begins(text);
    if (starts.size() < 2) return {std::move(text)};
    starts.erase(starts.begin());  // what stands before the first one is of its module
    std::vector<std::string> out{text.substr(0, starts.front())};
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::size_t end = i + 1 < starts.size() ? starts[i + 1] : text.size();
        const auto lines =
            std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(starts[i]), '\n');
        out.push_back(std::string(static_cast<std::size_t>(lines), '\n') +
                      text.substr(starts[i], end - starts[i]));
    }
    return out;
}

/// Throws ArgumentError for what is given and contradicts the text.
void fit(const ptx::Module& module, const ptx::Function& function, const Assumptions& given) {
    RunOptions options;
    options.block = given.block;
    options.cluster = given.cluster;
    ForeignEntry::agree(module, function, options);
}

/// One kernel after the other, so that of a large text not all of them are in memory as programs.
void check_module(const ptx::Parsed& parsed, const Assumptions& given, double part, std::string_view only,
                  ForeignText& out) {
    if (std::optional<Diagnostic> chip = ptx::later_chip(parsed.module)) out.errors.push_back(*chip);
    for (const ptx::Function& function : parsed.module.functions) {
        if (!function.entry || !function.body) continue;
        if (!only.empty() && parsed.module.at(function.name) != only) continue;
        fit(parsed.module, function, given);
        ptx::Lowered kernel = ptx::lower(parsed.module, function, facts_of(given));
        std::ranges::move(kernel.errors, std::back_inserter(out.errors));
        if (!out.errors.empty()) continue;
        kernel.program = with_numbers(kernel.program, given);
        out.kernels.push_back(checked(parsed.module, kernel, given, part));
    }
}

/// The numbers that are given, beside those that the kernels of a text have.
class Known {
  public:
    explicit Known(const Assumptions& given) : given_(given) {}

    void add(const ptx::Module& module) {
        if (given_.numbers.empty()) return;
        for (const ptx::Function& function : module.functions) {
            if (!function.entry || !function.body) continue;
            const Program program = ptx::lower(module, function).program;
            for (const auto& [name, value] : given_.numbers)
                if (names_number(program, name)) known_.insert(name);
            for (const Param& param : program.params()) names_.push_back(param.name);
        }
    }

    /// Throws ArgumentError for a number that no kernel has.
    void refuse_others() const {
        const std::vector<std::string_view> choices(names_.begin(), names_.end());
        for (const auto& [name, value] : given_.numbers)
            if (!known_.contains(name))
                throw ArgumentError(
                    fmt::format("no kernel has a number `{}`{}", name, nearest(name, choices)));
    }

  private:
    const Assumptions& given_;
    std::set<std::string> known_;
    std::vector<std::string> names_;
};

}  // namespace

namespace {

/// Of the time of proofs and runs that a kernel alone has, what each of a large text gets: together they have
/// the time of twelve, and less where there are hundreds, unless each has its own.
double part_of_each(std::size_t kernels, const Assumptions& given) {
    constexpr double most = 12, hundreds = 100, least = 3;
    const auto all = static_cast<double>(kernels);
    if (all <= most || !given.shared) return 1;
    return std::max(least, most * std::min(1.0, hundreds / all)) / all;
}

std::size_t kernels_in(const ptx::Module& module) {
    return static_cast<std::size_t>(std::ranges::count_if(
        module.functions, [](const ptx::Function& function) { return function.entry && function.body; }));
}

}  // namespace

/// The modules of a large text are read twice, so that the tree of one alone is in memory.
ForeignText check_ptx(const std::string& file, std::string text, const Assumptions& given,
                      std::string_view only) {
    ForeignText out;
    Known known(given);
    std::size_t kernels = 0;
    std::vector<std::string> modules = modules_in(std::move(text));
    for (const std::string& module : modules) {
        ptx::Parsed parsed = ptx::parse(file, module);
        std::ranges::move(parsed.errors, std::back_inserter(out.errors));
        if (out.errors.empty()) known.add(parsed.module);
        kernels += kernels_in(parsed.module);
        const ptx::Heading heading = ptx::heading_of(parsed.module);
        if (!heading.version_at || heading.version <= out.version) continue;
        out.version = heading.version;
        out.version_at = heading.version_at;
    }
    if (out.errors.empty()) known.refuse_others();
    const double part = part_of_each(kernels, given);
    if (part < 1) out.seconds = given.seconds * part;
    for (std::string& module : modules)
        if (out.errors.empty())
            check_module(ptx::parse(file, std::exchange(module, {})), given, part, only, out);
    if (!out.errors.empty()) out.kernels.clear();
    return out;
}

}  // namespace wgrun
