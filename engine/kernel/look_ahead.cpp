// Running ahead of the launches of a script that is checked: a quick look at each, and a long one, within the
// time that a kernel has for them, where the quick one ends in a loop.
#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "check/sizes.hpp"
#include "kernel/arguments.hpp"
#include "kernel/foreign_entry.hpp"
#include "kernel/sim_run.hpp"
#include "sim/sim.hpp"
#include "wgrun/kernel.hpp"

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
                                 const sim::MadeUp& made_up) {
    std::vector<Diagnostic> out;
    try {
        out = run_on_simulator(program, run, origin, nullptr, &made_up);
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

// The same launch, with other memory than the script's, of which nobody knows what it will hold.
std::vector<Diagnostic> Kernel::look_ahead(const RunOptions& options) {
    check::LaunchSizes sizes = sizes_of(options);
    std::pair launch{sizes.grid, std::move(sizes.params)};
    if (looked_at_.size() == most_launches || std::ranges::find(looked_at_, launch) != looked_at_.end())
        return {};
    looked_at_.push_back(std::move(launch));
    ended_ahead_ = {};  // a launch of the script tells more
    const std::uint64_t clusters =
        std::min(options.grid.volume() / program_->cluster().volume(), most_clusters);
    sim::MadeUp made_up{.numbers = false,
                        .clusters = clusters,
                        .steps = std::max(most_steps / clusters, least_steps),
                        .ended = &ended_ahead_};
    RunOptions run = options;
    run.backend = Backend::sim;
    run.coverage = nullptr;  // it is no launch of the script
    run.print = [](std::string_view) {};
    const ForeignEntry* origin = origin_ ? origin_->entry.get() : nullptr;
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
    std::vector<Diagnostic> found = found_by(*program_, run, origin, made_up);
    if (!found.empty() || !ended_ahead_.limit || looked_long_ >= long_runs) return found;
    const Clock::time_point start = Clock::now();
    made_up.steps = UINT64_MAX;
    made_up.until = start + std::min<Clock::duration>(long_run, long_runs - looked_long_);
    ended_ahead_ = {};
    found = found_by(*program_, run, origin, made_up);
    looked_long_ += std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
    return found;
}

}  // namespace wgrun
