// The launch of a finding, made once more.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernel/guarded_run.hpp"
#include "kernel/kernel_state.hpp"
#include "kernel/synthetic.hpp"
#include "kernel/synthetic_arguments.hpp"
#include "program/wait_words.hpp"

namespace wgrun {
namespace {

Dim3 extents(const std::array<std::uint32_t, 3>& of) { return {of[0], of[1], of[2]}; }

/// Of a kernel that hangs, another wait may be the likeliest cause.
bool shows(const std::vector<Diagnostic>& found, std::string_view rule) {
    const bool hangs = wait_words::is_law(rule);
    return std::ranges::any_of(found, [&](const Diagnostic& one) {
        return one.rule == rule || (hangs && wait_words::is_law(one.rule));
    });
}

/// What several schedules show on the simulator. `launch` becomes the last one.
std::vector<Diagnostic> in_schedules(const Program& program, check::Made made, FoundIn& launch,
                                     std::string_view rule, bool memory_decides = false) {
    constexpr std::uint64_t most_schedules = 16;
    std::vector<Diagnostic> out;
    for (const std::uint64_t end = launch.seed + most_schedules; launch.seed < end; ++launch.seed)
        if (out = found_again(program, made, launch, memory_decides); shows(out, rule)) break;
    return out;
}

/// What the launch shows on the simulator. A finding that does not say what memory holds is one for any
/// contents, or for those with which the kernel gets there: some are tried.
std::vector<Diagnostic> on_simulator(const Program& program, check::Made made, FoundIn& launch,
                                     std::string_view rule) {
    const FoundIn asked = launch;
    std::vector<Diagnostic> out = in_schedules(program, made, launch, rule);
    if (!asked.others && !shows(out, rule)) {
        launch = asked;
        out = in_schedules(program, made, launch, rule, true);
    }
    for (const std::uint32_t word : {64U, 1U, 0U, 256U}) {
        if (asked.others || shows(out, rule)) break;
        launch = asked;
        launch.others = word;
        out = in_schedules(program, made, launch, rule);
    }
    return out;
}

/// What the guarded build shows: that it hangs, that the GPU fails, or nothing.
std::vector<Diagnostic> on_gpu(const Program& program, const FoundIn& launch, Backend backend,
                               const ReplayOptions& how) {
    const auto with = std::make_shared<const Program>(with_numbers_of(program, launch));
    const SyntheticArguments arguments(*with, launch);
    RunOptions options;
    options.grid = extents(launch.grid);
    options.args = arguments.all();
    options.timeout = how.timeout;
    options.stop = how.stop;
    const gpu::Patience patience(how.timeout, how.stop);
    try {
        GuardedKernel(with, backend, how.isolation, false).run(options, GuardLimits::within(how.timeout));
    } catch (const EnvironmentError& error) {
        const bool hangs = error.code() == "ETIMEDOUT" && !error.finding().rule.empty();
        if (!hangs && error.code() != "EFAULT") throw;
        return {error.finding()};
    }
    return {};
}

}  // namespace

std::vector<Diagnostic> Kernel::replay(const FoundIn& launch, std::string_view rule,
                                       const ReplayOptions& how) {
    const KernelSource& source = state_->source;
    ptx::LaunchFacts facts;
    facts.block = extents(launch.block);
    facts.cluster = extents(launch.cluster);
    facts.aligned = true;
    const std::shared_ptr<const ptx::Lowered> lowered = source.lower(facts);
    const Program& program = lowered->program;
    if (extents(launch.block) != program.block() || extents(launch.cluster) != program.cluster())
        throw ArgumentError(
            fmt::format("kernel {}: its CTAs and clusters are not those of the finding", program.name()));
    for (const auto& [name, value] : launch.numbers)
        if (name.find('+') == std::string::npos &&
            std::ranges::find(program.params(), name, &Param::name) == program.params().end())
            throw ArgumentError(fmt::format("kernel {}: it has no number `{}`", program.name(), name));
    FoundIn again = launch;
    constexpr std::uint32_t number = 64;  // where none matters
    if (source.entry() && !again.numbers.empty() && !again.others) again.others = number;
    const Backend backend = choose_backend(how.backend, how.isolation).backend;
    std::vector<Diagnostic> out = on_simulator(program, source.made(), again, rule);
    if (backend != Backend::sim && shows(out, rule)) out = on_gpu(program, again, backend, how);
    for (Diagnostic& finding : out) finding.launch = again;
    source.tell(out);
    return out;
}

}  // namespace wgrun
