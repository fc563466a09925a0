#include "kernel/look_ahead.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "check/sizes.hpp"
#include "kernel/arguments.hpp"
#include "kernel/foreign_entry.hpp"
#include "kernel/sim_run.hpp"
#include "sim/sim.hpp"

namespace wgrun {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_launches = 12;
constexpr std::uint64_t most_clusters = 64, most_steps = 1U << 17, least_steps = 1U << 11;
/// Of the long runs of a kernel, all together, and of one of them.
constexpr std::chrono::milliseconds long_runs{4000}, long_run{2000};

/// The parameters that a launch passes integers for.
std::vector<int> integers_of(const std::vector<Argument>& arguments) {
    std::vector<int> out;
    for (std::size_t i = 0; i < arguments.size(); ++i)
        if (std::holds_alternative<std::int64_t>(arguments[i])) out.push_back(static_cast<int>(i));
    return out;
}

/// What a run on the simulator finds with this much made up.
std::vector<Diagnostic> found_by(const Program& program, const RunOptions& run, const ForeignEntry* origin,
                                 const sim::Synthetic& synthetic) {
    std::vector<Diagnostic> out;
    try {
        out = run_on_simulator(program, run, origin, nullptr, &synthetic);
    } catch (const CheckError& error) {
        out = error.findings();
    } catch (const Error&) {
        return {};  // the launch says so itself
    }
    for (Diagnostic& finding : out)
        finding.launch = check::launch_of(program, sizes_of(run), integers_of(run.args));
    return out;
}

}  // namespace

std::vector<Diagnostic> LookAhead::at(const Program& program, const ptx::LaunchFacts& facts,
                                      const RunOptions& options, const ForeignEntry* entry) {
    check::LaunchSizes sizes = sizes_of(options);
    Launch launch{facts, sizes.grid, std::move(sizes.params)};
    if (seen_.size() == most_launches || std::ranges::find(seen_, launch) != seen_.end()) return {};
    seen_.push_back(std::move(launch));
    const std::uint64_t clusters =
        std::min(options.grid.volume() / program.cluster().volume(), most_clusters);
    EndOfRunAhead ended;
    sim::Synthetic synthetic{.numbers = false,
                             .clusters = clusters,
                             .steps = std::max(most_steps / clusters, least_steps),
                             .ended = &ended};
    RunOptions run = options;
    run.backend = Backend::sim;
    run.coverage = nullptr;  // it is no launch of the script
    run.further_devices.clear();
    run.print = [](std::string_view) {};
    std::map<const Tensor*, Tensor> others;
    try {
        move_to_simulator(run.args);
        for_each_tensor(run.args, [&](Tensor*& tensor) {
            if (tensor != nullptr)
                tensor = &others.try_emplace(tensor, Tensor::zeros(tensor->dtype(), tensor->shape()))
                              .first->second;
        });
    } catch (const Error&) {
        return {};  // the launch says so itself
    }
    std::vector<Diagnostic> found = found_by(program, run, entry, synthetic);
    if (!found.empty() || !ended.limit || long_ >= long_runs) return found;
    const Clock::time_point start = Clock::now();
    synthetic.steps = UINT64_MAX;
    synthetic.until = start + std::min<Clock::duration>(long_run, long_runs - long_);
    found = found_by(program, run, entry, synthetic);
    long_ += std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
    return found;
}

}  // namespace wgrun
