#include "kernel/sized_runs.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "isa/effects.hpp"
#include "kernel/made_up_params.hpp"
#include "sim/sim.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {
namespace {

using Clock = std::chrono::steady_clock;

/// A launch: what all its numbers are, and how many clusters its grid has along x and y, of which the first
/// one is run.
struct Trial {
    std::uint32_t number, clusters;
};

/// Numbers that are large enough for every ring to come round twice, and not all multiples of tiles. Small
/// grids give persistent CTAs several tiles; large ones suit kernels that divide by parts of the grid. The
/// last number is tried where no other can be: kernels may take it for the turns of a loop.
constexpr std::array<Trial, 7> all_trials{
    {{1024, 1}, {512, 1}, {1000, 1}, {2048, 1}, {1024, 16}, {2048, 16}, {24, 1}}};

/// Steps of one run, and how long it takes at most.
constexpr std::uint64_t most_steps = 1U << 23;
constexpr std::chrono::milliseconds longest_run{1000};
/// After so many runs that came to no end in that time, and showed nothing, there is no other.
constexpr int most_endless = 2;

bool is_one_of(const Diagnostic& finding, std::span<const Rule* const> all) {
    return std::ranges::any_of(all, [&](const Rule* rule) { return breaks(finding, *rule); });
}

/// Whether numbers can do nothing about it: the order of accesses to shared memory.
bool is_race(const Diagnostic& finding) {
    static const std::array<const Rule*, 6> all{&rules::WG_RACE_01,  &rules::WG_RACE_02,  &rules::WG_RACE_03,
                                                &rules::WG_PROXY_01, &rules::WG_PROXY_02, &rules::WG_TMA_02};
    return is_one_of(finding, all);
}

/// Whether it is about threads, copies and products that wait for each other.
bool is_of_order(const Diagnostic& finding) {
    static const std::array<const Rule*, 14> all{
        &rules::WG_FENCE_01, &rules::WG_GROUP_01, &rules::WG_GROUP_02, &rules::WG_GROUP_04,
        &rules::WG_GROUP_05, &rules::WG_GROUP_06, &rules::WG_MBAR_02,  &rules::WG_MBAR_03,
        &rules::WG_MBAR_05,  &rules::WG_MBAR_06,  &rules::WG_SYNC_01,  &rules::WG_SYNC_02,
        &rules::WG_SYNC_04,  &rules::WG_TMA_03};
    return is_race(finding) || is_one_of(finding, all);
}

/// Whether it says nothing of a launch that is made up: what nothing has written may be read, since of a box
/// only the beginning comes, and what is no error of other compilers' kernels is none here.
bool says_nothing(const Diagnostic& finding) {
    const Rule* rule = find_rule(finding.rule);
    return breaks(finding, rules::WG_MEM_04) || finding.circumstance != Circumstance::usual ||
           (rule != nullptr && rule->elsewhere != Elsewhere::same && !breaks(finding, rules::WG_TMA_03));
}

class Listener final : public isa::Effects {
  public:
    bool multiplies = false;

  private:
    void issue_mma(const isa::AsyncMma&) override { multiplies = true; }
};

bool multiplies(const Program& program) {
    Listener told;
    for_each_step(program, [&](const Step& step) { isa::tell(step, told); });
    return told.multiplies;
}

struct Ran {
    std::vector<Diagnostic> findings;
    bool counts = false;  ///< the launch may be one of the kernel's
    bool whole = false;   ///< it came to an end, and has multiplied if the kernel does
    bool limit = false;   ///< it came to no end
};

Ran run(const Program& program, const Trial& trial, Clock::time_point until) {
    const MadeUpParams params = made_up_params(program, trial.number);
    EndOfRunAhead ended;
    const sim::MadeUp made_up{.numbers = false,
                              .memory = trial.number,
                              .steps = most_steps,
                              .until = std::min(until, Clock::now() + longest_run),
                              .ended = &ended};
    sim::SimulatedLaunch launch;
    launch.grid = program.cluster();
    launch.grid.x *= trial.clusters;
    launch.grid.y *= trial.clusters;
    launch.params = params.values;
    launch.structures = params.structures;
    launch.made_up = &made_up;
    launch.by_compiler = true;
    Ran out;
    try {
        sim::Outcome outcome = sim::run(program, launch);
        out.findings = std::move(outcome.findings);
        out.whole = outcome.mmas > 0 || !multiplies(program);
    } catch (const Error&) {
        return out;
    }
    std::erase_if(out.findings, says_nothing);
    out.counts = std::ranges::all_of(out.findings, is_of_order);
    out.whole = out.whole && !ended;
    out.limit = ended.limit;
    return out;
}

bool has(const std::vector<Diagnostic>& findings, const Diagnostic& one) {
    return std::ranges::any_of(findings, [&](const Diagnostic& other) {
        return other.rule == one.rule && other.where == one.where;
    });
}

void keep_races(std::vector<Diagnostic>& findings) {
    std::erase_if(findings, [](const Diagnostic& finding) { return !is_race(finding); });
}

/// One finding for each rule and place: how much memory it concerns, a made-up launch does not tell.
void keep_first(std::vector<Diagnostic>& findings) {
    std::vector<Diagnostic> out;
    for (Diagnostic& finding : findings)
        if (!has(out, finding)) out.push_back(std::move(finding));
    findings = std::move(out);
}

class Trials {
  public:
    explicit Trials(const SizedTrials& asked) : asked_(asked), until_(Clock::now() + asked.most) {}

    SizedFindings run() {
        for (std::size_t i = 0;; ++i) {
            const std::optional<Program> program = asked_.shape(i);
            if (!program) break;
            // A box that the text tells, where a script was made of it, has bytes of its own.
            if (std::ranges::any_of(program->params(), [](const Param& one) { return one.box.has_value(); }))
                return {};
            if (program->shared().empty()) return {};
            if (!shape(*program)) return {};
        }
        std::ranges::sort(out_.numbers);
        out_.numbers.erase(std::ranges::unique(out_.numbers).begin(), out_.numbers.end());
        if (out_.numbers.size() < 2) keep_races(out_.findings);
        keep_first(out_.findings);
        return std::move(out_);
    }

  private:
    /// Returns whether there still is something that all launches show.
    bool shape(const Program& program) {
        for (const Trial& trial : all_trials) {
            if (Clock::now() >= until_) return false;
            if (&trial == &all_trials.back() && !out_.numbers.empty()) break;
            Ran ran = wgrun::run(program, trial, until_);
            if (asked_.races_only && ran.counts) keep_races(ran.findings);
            if (!ran.counts || (ran.findings.empty() && !ran.whole)) {
                if (ran.counts && ran.limit && ++endless_ == most_endless) return false;
                continue;
            }
            if (out_.numbers.empty())
                out_.findings = std::move(ran.findings);
            else
                std::erase_if(out_.findings, [&](const Diagnostic& one) { return !has(ran.findings, one); });
            if (out_.findings.empty()) return false;
            out_.numbers.push_back(trial.number);
        }
        return true;
    }

    const SizedTrials& asked_;
    const Clock::time_point until_;
    int endless_ = 0;
    SizedFindings out_;
};

}  // namespace

SizedFindings found_in_sized_launches(const SizedTrials& trials) { return Trials(trials).run(); }

}  // namespace wgrun
