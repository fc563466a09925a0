#include "kernel/sized_runs.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "kernel/made_up_params.hpp"
#include "sim/sim.hpp"
#include "wgrun/rules.hpp"

namespace wgrun {
namespace {

using Clock = std::chrono::steady_clock;

/// Large enough for every ring to come round twice, and not all multiples of tiles; the last one for kernels
/// that take it for the number of turns of a loop, and come to no end with the others.
constexpr std::array<std::uint32_t, 4> numbers{1024, 512, 1000, 24};

/// Steps of one run, and how long it takes at most.
constexpr std::uint64_t most_steps = 1U << 23;
constexpr std::chrono::milliseconds longest_run{1500};

/// Whether numbers can do nothing about it: the order of accesses to shared memory.
bool is_race(const Diagnostic& finding) {
    return breaks(finding, rules::WG_RACE_01) || breaks(finding, rules::WG_RACE_02) ||
           breaks(finding, rules::WG_RACE_03) || breaks(finding, rules::WG_PROXY_01) ||
           breaks(finding, rules::WG_PROXY_02) || breaks(finding, rules::WG_TMA_02);
}

/// Whether it is about threads, copies and products that wait for each other.
bool is_of_order(const Diagnostic& finding) {
    static const std::array<const Rule*, 14> all{
        &rules::WG_FENCE_01, &rules::WG_GROUP_01, &rules::WG_GROUP_02, &rules::WG_GROUP_04,
        &rules::WG_GROUP_05, &rules::WG_GROUP_06, &rules::WG_MBAR_02,  &rules::WG_MBAR_03,
        &rules::WG_MBAR_05,  &rules::WG_MBAR_06,  &rules::WG_SYNC_01,  &rules::WG_SYNC_02,
        &rules::WG_SYNC_04,  &rules::WG_TMA_03};
    return is_race(finding) ||
           std::ranges::any_of(all, [&](const Rule* rule) { return breaks(finding, *rule); });
}

/// Whether it says nothing of a launch that is made up: what nothing has written may be read, since of a box
/// only the beginning comes.
bool says_nothing(const Diagnostic& finding) {
    return breaks(finding, rules::WG_MEM_04) || finding.circumstance == Circumstance::same_value;
}

struct Ran {
    std::vector<Diagnostic> findings;
    bool counts = false;  ///< the launch may be one of the kernel's
    bool limit = false;   ///< it came to no end
};

Ran run(const Program& program, std::uint32_t number, Clock::time_point until) {
    const MadeUpParams params = made_up_params(program, number);
    EndOfRunAhead ended;
    const sim::MadeUp made_up{.numbers = false,
                              .memory = number,
                              .steps = most_steps,
                              .until = std::min(until, Clock::now() + longest_run),
                              .ended = &ended};
    sim::SimulatedLaunch launch;
    launch.grid = program.cluster();
    launch.params = params.values;
    launch.structures = params.structures;
    launch.made_up = &made_up;
    launch.by_compiler = true;
    Ran out;
    try {
        out.findings = sim::run(program, launch).findings;
    } catch (const Error&) {
        return out;
    }
    std::erase_if(out.findings, says_nothing);
    out.counts = std::ranges::all_of(out.findings, is_of_order);
    out.limit = ended.limit;
    return out;
}

bool has(const std::vector<Diagnostic>& findings, const Diagnostic& one) {
    return std::ranges::any_of(findings, [&](const Diagnostic& other) {
        return other.rule == one.rule && other.where == one.where;
    });
}

}  // namespace

SizedFindings found_in_sized_launches(const Program& program, std::chrono::milliseconds most) {
    // A box that the text tells, where a script was made of it, has bytes of its own.
    if (std::ranges::any_of(program.params(), [](const Param& param) { return param.box.has_value(); }))
        return {};
    const Clock::time_point until = Clock::now() + most;
    SizedFindings out;
    for (const std::uint32_t number : numbers) {
        if (Clock::now() >= until) break;
        Ran ran = run(program, number, until);
        if (!ran.counts || (ran.findings.empty() && ran.limit)) continue;
        if (out.numbers.empty())
            out.findings = std::move(ran.findings);
        else
            std::erase_if(out.findings, [&](const Diagnostic& one) { return !has(ran.findings, one); });
        if (out.findings.empty()) return {};
        out.numbers.push_back(number);
    }
    if (out.numbers.size() < 2)
        std::erase_if(out.findings, [](const Diagnostic& finding) { return !is_race(finding); });
    return out;
}

}  // namespace wgrun
