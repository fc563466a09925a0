#include "kernel/sized_runs.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "check/sizes.hpp"
#include "isa/effects.hpp"
#include "kernel/synthetic.hpp"
#include "rules/phrases.hpp"
#include "sim/sim.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {
namespace {

/// What all numbers of a launch are: large enough for every ring to come round twice. Some are one, two or
/// three turns of 64 or 128 more than a multiple of four, since compilers unroll loops.
constexpr std::array<std::uint32_t, 5> all_numbers{1024, 960, 512, 832, 896};
/// No multiple of tiles. Some kernels are not meant for such a size: what it alone shows counts only if no
/// number can excuse it.
constexpr std::uint32_t no_multiple = 1000;
/// They are tried where no other can be: kernels may take a number for the turns of a loop.
constexpr std::array<std::uint32_t, 2> last_resorts{2048, 24};

/// Steps of one run, those of some tiles, and of all runs of a kernel: some seconds.
constexpr std::uint64_t most_steps = 1U << 18, all_steps = 1U << 21;
/// The same where its shape is not known, and many are tried.
constexpr std::uint64_t most_of_shape = 1U << 17, all_of_shapes = 1U << 22;
/// Launches of each shape, where it is not known.
constexpr std::size_t enough = 2;
/// After so many runs that showed nothing, and came to no end in that time or
/// to no product, there is no other.
constexpr int most_fruitless = 2;
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

/// Whether it says nothing of a launch that is synthetic: what nothing has
/// written may be read, since of a box only the beginning comes, and what is no
/// error of other compilers' kernels is none here, but for a fence behind the init of an mbarrier.
bool says_nothing(const Diagnostic& finding) {
    const Rule* rule = find_rule(finding.rule);
    return breaks(finding, rules::WG_MEM_04) || is_among_lanes(finding) ||
           finding.finding_kind != FindingKind::usual ||
           (rule != nullptr && rule->severity_override != SeverityOverride::same &&
            rule != &rules::WG_MBAR_02);
}

class Listener final : public isa::Effects {
  public:
    bool multiplies = false;

  private:
    void issue_mma(const isa::AsyncMma&) override { multiplies = true; }
};

bool multiplies(const Program& program) {
    Listener told;
    for_each_step(program, [&](const Step& step) { isa::visit_effects(step, told); });
    return told.multiplies;
}

struct Ran {
    std::vector<Diagnostic> findings;
    bool counts = false;  ///< the launch may be one of the kernel's
    bool whole = false;   ///< it came to an end, and has multiplied if the kernel does
};

bool is_same(const Diagnostic& one, const Diagnostic& other) {
    return one.rule == other.rule && one.where == other.where;
}

/// Whether it may be of an error that is known: one of the same property, or of products that are not waited
/// for.
bool follows(const Diagnostic& one, const Diagnostic& known) {
    const Rule *rule = find_rule(one.rule), *broken = find_rule(known.rule);
    if (known.severity != Severity::error || rule == nullptr || broken == nullptr) return false;
    return rule->property == broken->property ||
           (breaks(one, rules::WG_RACE_02) &&
            (breaks(known, rules::WG_GROUP_01) || breaks(known, rules::WG_GROUP_02)));
}

/// One finding for each rule and place, and few of a rule.
std::vector<SizedFinding> few_of_each(std::vector<SizedFinding> all) {
    std::map<std::string, std::size_t> of_rule;
    std::erase_if(all, [&](const SizedFinding& one) { return ++of_rule[one.finding.rule] > most_of_rule; });
    return all;
}

/// What the launches of one shape show.
struct Shown {
    std::vector<SizedFinding> findings;
    std::size_t numbers = 0;  ///< how many of them count

    /// What a launch shows that counts.
    void add(std::uint32_t number, std::vector<Diagnostic> found) {
        ++numbers;
        for (Diagnostic& finding : found) {
            const auto known = std::ranges::find_if(
                findings, [&](const SizedFinding& other) { return is_same(other.finding, finding); });
            if (known == findings.end())
                findings.push_back({std::move(finding), {number}});
            else if (known->numbers.back() != number)
                known->numbers.push_back(number);
        }
    }
    bool has(const Diagnostic& one) const {
        return std::ranges::any_of(findings,
                                   [&](const SizedFinding& other) { return is_same(other.finding, one); });
    }
};

/// The launches of one shape.
class Shape {
  public:
    /// steps: how many may be taken; become fewer.
    Shape(const Program& program, const SizedTrials& asked, std::uint64_t& steps)
        : program_(program), asked_(asked), left_(steps) {}

    /// Returns what they show; nothing where none counts. enough: says when that is known.
    template <class Enough>
    std::optional<Shown> run(Enough enough) {
        Shown out;
        for (const std::uint32_t number : all_numbers)
            if (!enough(out) && fruitless_ < most_fruitless) add(number, out);
        if (!enough(out) && fruitless_ < most_fruitless) add(no_multiple, out);
        for (const std::uint32_t number : last_resorts)
            if (out.numbers == 0 && fruitless_ < most_fruitless) add(number, out);
        return out.numbers == 0 ? std::nullopt : std::optional(std::move(out));
    }

  private:
    void add(std::uint32_t number, Shown& out) {
        if (left_ == 0) return;
        Ran ran = run(number);
        if (!ran.counts) return;
        if (asked_.races_only)
            std::erase_if(ran.findings, [](const Diagnostic& one) { return !is_race(one); });
        if (number == no_multiple)
            std::erase_if(ran.findings,
                          [&](const Diagnostic& one) { return !is_race(one) && !out.has(one); });
        if (ran.findings.empty() && !ran.whole)
            ++fruitless_;
        else
            out.add(number, std::move(ran.findings));
    }

    /// Runs the only cluster of a grid, to which a persistent kernel gives all tiles, and the last one of a
    /// grid that has one for each tile: those of causal attention have the more to do the later they are. Of
    /// a grid that is given, the first cluster and the last one.
    Ran run(std::uint32_t number) {
        constexpr std::uint32_t rows_of_tile = 128;
        const Dim3 size = program_.cluster();
        const std::uint32_t extent = std::max(number / rows_of_tile, 2U);
        const Dim3 large =
            asked_.grid.value_or(program_.grid_like({size.x * extent, size.y * extent, size.z}));
        const std::uint64_t clusters = large.volume() / size.volume();
        Ran out = run(number, asked_.grid.value_or(program_.grid_like(size)), 0);
        if (clusters == 1) return out;
        Ran last = run(number, large, clusters - 1);
        if (!last.counts) return out;
        if (!out.counts) return last;
        std::ranges::move(last.findings, std::back_inserter(out.findings));
        out.whole = out.whole || last.whole;
        return out;
    }

    /// Runs a cluster of a grid. What is known already is not found again.
    Ran run(std::uint32_t number, Dim3 grid, std::uint64_t cluster) {
        EndOfRunAhead ended;
        const sim::Synthetic limits{
            .steps = std::min(asked_.shape_is_known ? most_steps : most_of_shape, left_),
            .boxes = &boxes_,
            .goes_on = true,
            .ended = &ended};
        FoundIn launch = check::launch_of(program_, {grid, {}});
        launch.others = number;
        launch.first = cluster;
        Ran out;
        try {
            sim::Outcome outcome = run_synthetic(program_, launch, limits);
            left_ -= ended.limit ? limits.steps : std::min(left_, outcome.steps);
            out.findings = std::move(outcome.findings);
            out.whole = outcome.mmas > 0 || !multiplies(program_);
        } catch (const Error&) {
            return out;
        }
        std::erase_if(out.findings, [&](const Diagnostic& one) {
            return says_nothing(one) || std::ranges::any_of(asked_.known, [&](const Diagnostic& known) {
                       return is_same(one, known) || follows(one, known);
                   });
        });
        for (Diagnostic& finding : out.findings) finding.launch = launch;
        out.counts = std::ranges::all_of(out.findings, is_of_order);
        out.whole = out.whole && !ended;
        return out;
    }

    const Program& program_;
    const SizedTrials& asked_;
    std::uint64_t& left_;
    sim::BoxSizes boxes_;
    int fruitless_ = 0;
};

}  // namespace

std::vector<SizedFinding> found_in_sized_launches(const SizedTrials& asked) {
    auto left = static_cast<std::uint64_t>(
        static_cast<double>(asked.shape_is_known ? all_steps : all_of_shapes) * asked.part);
    std::optional<Shown> all;
    for (std::size_t i = 0; !all || !all->findings.empty(); ++i) {
        const std::optional<Program> program = asked.shape(i);
        if (!program) break;
        // A box that the text tells, where a script was made of it, has bytes of its own.
        if (std::ranges::any_of(program->params(), [](const Param& one) { return one.box.has_value(); }))
            return {};
        if (program->shared().empty() || left == 0) return {};
        std::optional<Shown> shown = Shape(*program, asked, left).run([&](const Shown& now) {
            if (!all) return !asked.shape_is_known && now.numbers == enough;
            return std::ranges::all_of(all->findings,
                                       [&](const SizedFinding& one) { return now.has(one.finding); });
        });
        if (!shown) continue;
        if (!all) {
            all = std::move(shown);
            if (all->numbers < 2)
                std::erase_if(all->findings, [](const SizedFinding& one) { return !is_race(one.finding); });
        } else {
            std::erase_if(all->findings, [&](const SizedFinding& one) { return !shown->has(one.finding); });
        }
    }
    if (!all) return {};
    for (SizedFinding& one : all->findings) one.in_all = one.numbers.size() == all->numbers;
    return few_of_each(std::move(all->findings));
}

}  // namespace wgrun
