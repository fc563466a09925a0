#include "kernel/sized_runs.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "check/sizes.hpp"
#include "isa/effects.hpp"
#include "kernel/made_up.hpp"
#include "rules/phrases.hpp"
#include "sim/sim.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {
namespace {

using Clock = std::chrono::steady_clock;

/// What all numbers of a launch are: large enough for every ring to come round
/// twice, and not all multiples of tiles. The last one is tried where no other
/// can be: kernels may take it for the turns of a loop.
constexpr std::array<std::uint32_t, 5> all_numbers{1024, 512, 1000, 2048, 24};

/// What they are where these show nothing: one, two and three turns of 64 or
/// 128 more than a multiple of four, since compilers unroll loops.
constexpr std::array<std::uint32_t, 3> odd_numbers{960, 832, 896};

/// Steps of one run, and how long it takes at most.
constexpr std::uint64_t most_steps = 1U << 23;
constexpr std::chrono::milliseconds longest_run{1000};
/// After so many runs that showed nothing, and came to no end in that time or
/// to no product, there is no other.
constexpr int most_in_vain = 2;
/// Findings of a rule: those of one fault are many.
constexpr std::size_t most_of_rule = 4;

bool is_one_of(const Diagnostic& finding, std::span<const Rule* const> all) {
    return std::ranges::any_of(all, [&](const Rule* rule) { return breaks(finding, *rule); });
}

/// Whether numbers can do nothing about it: the order of accesses to shared
/// memory.
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

/// Whether lanes of a warp are not ordered, which compilers take to go on
/// together (docs/foreign.md, DeepGEMM).
bool is_among_lanes(const Diagnostic& finding) {
    const auto meets = [](const Change& change) {
        return change.lines == std::vector<Phrase>{rules::bar_warp_sync()};
    };
    return std::ranges::any_of(finding.remedies, [&](const Remedy& remedy) {
        return !remedy.empty() && std::ranges::all_of(remedy, meets);
    });
}

/// Whether it says nothing of a launch that is made up: what nothing has
/// written may be read, since of a box only the beginning comes, and what is no
/// error of other compilers' kernels is none here.
bool says_nothing(const Diagnostic& finding) {
    const Rule* rule = find_rule(finding.rule);
    return breaks(finding, rules::WG_MEM_04) || is_among_lanes(finding) ||
           finding.circumstance != Circumstance::usual ||
           (rule != nullptr && rule->elsewhere != Elsewhere::same);
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
};

/// Runs a cluster of a grid.
Ran run(const Program& program, std::uint32_t number, Dim3 grid, std::uint64_t cluster,
        Clock::time_point until) {
    EndOfRunAhead ended;
    const sim::MadeUp limits{.steps = most_steps,
                             .until = std::min(until, Clock::now() + longest_run),
                             .matters = [](const Diagnostic& one) { return !says_nothing(one); },
                             .ended = &ended};
    FoundIn launch = check::launch_of(program, {grid, {}});
    launch.others = number;
    launch.first = cluster;
    Ran out;
    try {
        sim::Outcome outcome = run_made_up(program, launch, limits);
        out.findings = std::move(outcome.findings);
        out.whole = outcome.mmas > 0 || !multiplies(program);
    } catch (const Error&) {
        return out;
    }
    std::erase_if(out.findings, says_nothing);
    for (Diagnostic& finding : out.findings) finding.launch = launch;
    out.counts = std::ranges::all_of(out.findings, is_of_order);
    out.whole = out.whole && !ended;
    return out;
}

/// Runs the only cluster of a grid, to which a persistent kernel gives all
/// tiles, and the last one of a grid that has one for each tile: those of
/// causal attention have the more to do the later they are. Of a grid that is
/// given, the first cluster and the last one.
Ran run(const Program& program, std::uint32_t number, std::optional<Dim3> grid, Clock::time_point until) {
    constexpr std::uint32_t rows_of_tile = 128;
    const Dim3 size = program.cluster();
    const std::uint32_t extent = std::max(number / rows_of_tile, 2U);
    const Dim3 large = grid.value_or(Dim3{size.x * extent, size.y * extent, size.z});
    const std::uint64_t clusters = large.volume() / size.volume();
    Ran out = run(program, number, grid.value_or(size), 0, until);
    if (clusters == 1 || (out.counts && !out.findings.empty())) return out;
    const Ran last = run(program, number, large, clusters - 1, until);
    if (!last.counts) return out;
    out.findings = last.findings;  // the other one has none that count
    out.whole = (out.counts && out.whole) || last.whole;
    out.counts = true;
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

/// One finding for each rule and place, and few of a rule.
std::vector<Diagnostic> few_of_each(std::vector<Diagnostic> findings) {
    std::vector<Diagnostic> out;
    for (Diagnostic& finding : findings)
        if (!has(out, finding) &&
            std::cmp_less(std::ranges::count(out, finding.rule, &Diagnostic::rule), most_of_rule))
            out.push_back(std::move(finding));
    return out;
}

class Trials {
  public:
    explicit Trials(const SizedTrials& asked) : asked_(asked), until_(Clock::now() + asked.most) {}

    SizedFindings run() {
        std::optional<SizedFindings> all;
        for (std::size_t i = 0;; ++i) {
            const std::optional<Program> program = asked_.shape(i);
            if (!program) break;
            // A box that the text tells, where a script was made of it, has bytes of its own.
            if (std::ranges::any_of(program->params(), [](const Param& one) { return one.box.has_value(); }))
                return {};
            if (program->shared().empty() || is_over()) return {};
            std::optional<SizedFindings> found = shape(*program, all ? 1 : enough);
            if (in_vain_ == most_in_vain) return {};
            if (!found) continue;
            if (all)
                std::erase_if(all->findings,
                              [&](const Diagnostic& one) { return !has(found->findings, one); });
            else
                all = std::move(found);
            if (all->findings.empty()) return {};
        }
        if (!all) return {};
        if (all->numbers.size() < 2 && !left_over_) keep_races(all->findings);
        return {few_of_each(std::move(all->findings)), std::move(all->numbers)};
    }

  private:
    static constexpr std::size_t enough = 3;  ///< launches

    bool is_over() const { return Clock::now() >= until_; }

    /// Returns what all launches of the shape show, so many of those that count;
    /// nothing where none does.
    std::optional<SizedFindings> shape(const Program& program, std::size_t most) {
        SizedFindings out;
        for (const std::uint32_t number : all_numbers) {
            const std::size_t counted = out.numbers.size();
            if (counted == most || (number == all_numbers.back() && counted > 0) || is_over()) break;
            Ran ran = wgrun::run(program, number, asked_.grid, until_);
            if (asked_.races_only && ran.counts) keep_races(ran.findings);
            if (!ran.counts) continue;
            if (ran.findings.empty() && !ran.whole) {
                if (++in_vain_ == most_in_vain) return std::nullopt;
                continue;
            }
            if (counted == 0)
                out.findings = std::move(ran.findings);
            else
                std::erase_if(out.findings, [&](const Diagnostic& one) { return !has(ran.findings, one); });
            out.numbers.push_back(number);
            if (out.findings.empty()) return counted == 0 && asked_.shape_is_known ? odd(program) : out;
        }
        return out.numbers.empty() ? std::nullopt : std::optional(std::move(out));
    }

    /// Returns what the turns of a loop that are left over show, where the others
    /// show nothing.
    SizedFindings odd(const Program& program) {
        for (const std::uint32_t number : odd_numbers) {
            if (is_over()) break;
            Ran ran = wgrun::run(program, number, asked_.grid, until_);
            if (!ran.counts || ran.findings.empty()) continue;
            left_over_ = true;
            return {std::move(ran.findings), {number}};
        }
        return {};
    }

    const SizedTrials& asked_;
    const Clock::time_point until_;
    int in_vain_ = 0;
    bool left_over_ = false;  ///< what odd() finds is told as it is
};

}  // namespace

SizedFindings found_in_sized_launches(const SizedTrials& trials) { return Trials(trials).run(); }

}  // namespace wgrun
