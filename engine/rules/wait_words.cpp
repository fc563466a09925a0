#include "rules/wait_words.hpp"
#include "wgrun/count_of.hpp"

#include <fmt/format.h>

#include <bit>

namespace wgrun::rules {

std::string names_of_warps(std::uint32_t warps) {
    constexpr int worth_a_range = 4;
    std::string out = std::has_single_bit(warps) ? "warp" : "warps";
    for (const char* comma = " "; warps != 0; comma = ", ") {
        const int first = std::countr_zero(warps), run = std::countr_one(warps >> first);
        const int taken = run >= worth_a_range ? run : 1;
        out += fmt::format("{}{}", comma, first);
        if (taken > 1) out += fmt::format("-{}", first + taken - 1);
        for (int w = first; w < first + taken; ++w) warps &= ~(1U << w);
    }
    return out;
}

std::string kernel_hangs(const std::string& who_waits) { return "the kernel hangs: " + who_waits; }

std::string what_has_come(std::int64_t arrivals, std::int64_t expected, std::int64_t bytes) {
    return fmt::format("{} come, {}", part_of(arrivals, expected, "arrivals", "has", "have"),
                       bytes < 0 ? fmt::format("and {} more than expected", count_of(-bytes, "byte"))
                                 : count_of(bytes, "byte is outstanding", "bytes are outstanding"));
}

Wait at_barrier(std::uint32_t id, std::uint32_t arrived, std::uint32_t expected) {
    return {
        fmt::format("at barrier {}: {} arrived", id, part_of(arrived, expected, "threads", "has", "have")),
        {{"barrier", id}, {"threads_arrived", arrived}, {"threads_expected", expected}}};
}

Wait at_cluster_barrier(std::size_t arrived, std::size_t expected) {
    return {fmt::format("at the barrier of the cluster: {} arrived",
                        part_of(arrived, expected, "warps", "has", "have")),
            {{"warps_arrived", static_cast<std::int64_t>(arrived)},
             {"warps_expected", static_cast<std::int64_t>(expected)}}};
}

Wait for_registers(int wanted, int held, int free) {
    return {fmt::format("for {} a thread: it has {}, and {} of the CTA's are free",
                        count_of(wanted, "register"), held, free),
            {{"registers_wanted", wanted}, {"registers_held", held}, {"registers_free", free}}};
}

Wait for_phase(std::int64_t phase, std::int64_t parity, const std::string& place, std::int64_t arrived,
               std::int64_t expected, std::int64_t bytes) {
    return {fmt::format("for phase {} (parity {}) of the mbarrier {}: {}", phase, parity, place,
                        what_has_come(arrived, expected, bytes)),
            {{"place", place},
             {"phase", phase},
             {"parity", parity},
             {"arrivals", arrived},
             {"arrivals_expected", expected},
             {"bytes_outstanding", bytes}}};
}

namespace {

/// Other than the arrivals, the bytes do not agree.
Fix bytes_disagree(const Account& phase) {
    const std::int64_t come = phase.bytes_expected - phase.outstanding;
    if (come == 0)
        return "let a copy bring them that names this mbarrier (a multicast: whose mask names the CTA), or "
               "expect none";
    const std::string told = phase.expected_at ? fmt::format(" in line {}", phase.expected_at.line) : "";
    return {
        fmt::format(
            "{} expected{}, and {}: these have to agree in each phase. {}",
            count_of(phase.bytes_expected, "byte is", "bytes are"), told, count_of(come, "comes", "come"),
            phase.outstanding < 0 ? "A box counts whole, also where it hangs over the tensor's edge; "
                                    "a copy too many belongs to the phase of its own mbarrier"
                                  : "Either a copy is missing, or goes to another mbarrier or CTA, or "
                                    "too much is expected"),
        {{set_option(phase.expected_at, {}, std::to_string(phase.bytes_expected), std::to_string(come))}}};
}

/// Phases are complete, and then it ends.
Fix nobody_arrives(const Account& phase) {
    return fmt::format(
        "{} complete, and nobody arrives in the next one: either {} fewer times than is waited for here (a "
        "loop "
        "of one side ends a turn earlier), or the parity here is that of a phase too far",
        count_of(phase.phase, "phase is", "phases are"),
        phase.arrived_at ? fmt::format("line {} arrives", phase.arrived_at.line) : "others arrive");
}

Fix arrivals_lack(const Account& phase) {
    return {
        fmt::format("{} of the {} that mbarrier.init names: either somebody does not arrive in this phase "
                    "(a role, a warp, a lane that a guard leaves out, another CTA), or it names too many",
                    count_of(phase.arrived, "arrival comes", "arrivals come"), phase.expected),
        {{set_option(phase.made, {}, std::to_string(phase.expected), std::to_string(phase.arrived))}}};
}

}  // namespace

Lack lack_of(const Account& phase) {
    Lack out;
    out.notes.push_back(
        {phase.made, fmt::format("initialised here with {}", count_of(phase.expected, "arrival"))});
    if (phase.arrived == phase.expected || phase.outstanding < 0) {
        if (phase.expected_at)
            out.notes.push_back(
                {phase.expected_at, count_of(phase.bytes_expected, "byte is", "bytes are") + " expected"});
        if (phase.copied_at)
            out.notes.push_back(
                {phase.copied_at, fmt::format("the copies of the phase bring {}", phase.bytes_copied)});
        out.fix = bytes_disagree(phase);
    } else if (phase.added > 0) {
        out.fix = fmt::format(
            "cp.async.mbarrier.arrive with .noinc, whose arrivals are among the {} of mbarrier.init: without "
            "it each adds one to the phase",
            phase.expected);
    } else if (phase.arrived > 0) {
        if (phase.arrived_at) out.notes.push_back({phase.arrived_at, "the last arrival"});
        out.fix = arrivals_lack(phase);
    } else if (phase.phase > 0) {
        if (phase.arrived_at)
            out.notes.push_back({phase.arrived_at, "the last arrival, in the phase before"});
        out.fix = nobody_arrives(phase);
    }
    return out;
}

namespace {

constexpr std::string_view common_mistakes =
    "let the condition become false: an unsigned number is never below 0, and a counter that steps over its "
    "end goes on";

}  // namespace

std::string no_room(const std::string& waits, const std::string& next, std::uint64_t room, int sms) {
    return kernel_hangs(fmt::format(
        "CTA {} waits for memory to change, and CTA {} has not begun: {} have room for {}, and none "
        "of these ends",
        waits, next, count_of(sms, "SM"), count_of(room, "CTA")));
}

RuleMessage never_left(Leaving leaving) {
    switch (leaving) {
        case Leaving::at_once:
            return {WG_SYNC_07,
                    "a thread that has gone round this loop goes round for ever: nothing that the condition "
                    "looks at changes in it",
                    "let the body change what the condition looks at"};
        case Leaving::never:
            return {
                WG_SYNC_07,
                "a thread that enters this loop never leaves it: the condition that would end it never holds",
                std::string(common_mistakes)};
        default:
            return {WG_SYNC_07, "a thread that comes to this loop never leaves it: it has no way out",
                    "leave it by a branch"};
    }
}

RuleMessage too_many_turns(const std::string& who, std::uint64_t turns) {
    return {WG_SYNC_07,
            fmt::format("{} has gone round loops {} times, and is in this one: it is taken not to end", who,
                        turns),
            fmt::format("{}; if the loop does end, give a limit of steps (--max-steps)", common_mistakes)};
}

}  // namespace wgrun::rules
