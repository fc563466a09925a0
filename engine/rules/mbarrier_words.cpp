#include "rules/mbarrier_words.hpp"

#include <fmt/format.h>

#include "rules/phrases.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::rules {
namespace {

constexpr std::int64_t object_bytes = 8;

/// What tells all others of the mbarriers initialised at `made`.
Fix announced(Where made, bool cluster) {
    Fix fix(
        sentence("after the inits {}, then a barrier of all who use the mbarriers", fence_mbarrier_init()));
    if (!made) return fix;
    fix.remedies = {{insert_after(made, {fence_mbarrier_init()})},
                    {insert_after(made, {bar_sync()})},
                    {insert_after(made, {fence_mbarrier_init(), bar_sync()})},
                    {insert_after(made, {bar_warp_sync()})}};
    if (cluster) {
        fix.remedies.push_back({insert_after(made, {cluster_arrive(), cluster_wait()})});
        fix.remedies.push_back(
            {insert_after(made, {fence_mbarrier_init(), cluster_arrive(), cluster_wait()})});
    }
    return fix;
}

}  // namespace

RuleMessage mbarrier_misaligned(const std::string& place, Where buffer, std::int64_t align) {
    std::vector<Remedy> remedies;
    if (buffer && align < object_bytes)
        remedies.push_back(
            {set_option(buffer, align_option(), std::to_string(align), std::to_string(object_bytes))});
    return of({WG_MBAR_01,
               fmt::format("the mbarrier at {} is not aligned to {}", place, count_of(object_bytes, "byte")),
               {fmt::format("align = {} for the buffer, and offsets that are multiples of {}", object_bytes,
                            object_bytes),
                std::move(remedies)}},
              {{"place", place}, {"align", align}});
}

RuleMessage mbarrier_absent(const std::string& place) {
    return of({WG_MBAR_01, fmt::format("no mbarrier is initialised at {}", place),
               "one thread initialises it, before all others use it; mbarrier.inval ends it"},
              {{"place", place}});
}

RuleMessage mbarrier_made_again(const std::string& place, bool by_same_step) {
    return of({WG_MBAR_01, fmt::format("{} is initialised again without mbarrier.inval", place),
               "one thread initialises it once; mbarrier.inval ends it",
               by_same_step ? FindingKind::same_step : FindingKind::usual},
              {{"place", place}});
}

RuleMessage mbarrier_ended_early(const std::string& place, std::int64_t bytes) {
    return of({WG_MBAR_01,
               fmt::format("{} is ended while {} in flight", place,
                           count_of(bytes, "byte that it counts is", "bytes that it counts are")),
               "wait for its phase first"},
              {{"place", place}, {"bytes_under_way", bytes}});
}

RuleMessage mbarrier_unpublished(const std::string& who, const std::string& place, Where made, bool cluster) {
    return of({WG_MBAR_02, fmt::format("nothing tells {} that the mbarrier {} is initialised", who, place),
               announced(made, cluster)},
              {{"who", who}, {"place", place}});
}

RuleMessage mbarrier_unpublished_to_engine(const std::string& place, Where made, bool cluster) {
    RuleMessage out = mbarrier_unpublished("the bulk-copy engine", place, made, cluster);
    out.finding_kind = FindingKind::of_engine;
    return out;
}

RuleMessage too_many_arrivals_asked(const std::string& place, std::int64_t arrivals, std::int64_t most) {
    return of(
        {WG_MBAR_03,
         fmt::format("the mbarrier {} cannot expect {}: 1 to {}", place, count_of(arrivals, "arrival"), most),
         "count the arrivals of a phase"},
        {{"place", place}, {"arrivals", arrivals}, {"most", most}});
}

RuleMessage phase_not_awaited(const std::string& who, std::string_view what, std::int64_t phase,
                              const std::string& place, bool first_copy) {
    return of(
        {WG_MBAR_03,
         fmt::format("{} {} phase {} of {}, and has not waited for phase {}", who, what, phase, place,
                     phase - 1),
         first_copy
             ? fmt::format(
                   "phase {} was complete before its copy began, since it expected no bytes: "
                   "mbarrier.arrive.expect_tx with the bytes of the copy, in place of the plain arrival",
                   phase - 1)
             : "wait for each phase before arriving in the next, with a parity that changes from phase to "
               "phase"},
        {{"who", who}, {"place", place}, {"phase", phase}});
}

RuleMessage arrival_too_many(const std::string& who, std::int64_t arrivals, const std::string& place,
                             std::int64_t pending, std::int64_t expected, std::int64_t phase) {
    return of({WG_MBAR_03,
               fmt::format("{} arrives {} at {}, where {} still expected in phase {}", who,
                           count_of(arrivals, "time"), place,
                           part_of(pending, expected, "arrivals", "is", "are"), phase),
               fmt::format("mbarrier.init names {} a phase, and this comes on top: let it go to the mbarrier "
                           "and the CTA that it "
                           "is meant for, wait for phase {} before it, or count it in mbarrier.init",
                           count_of(expected, "arrival"), phase)},
              {{"who", who},
               {"place", place},
               {"phase", phase},
               {"arrivals", arrivals},
               {"arrivals_pending", pending},
               {"arrivals_expected", expected}});
}

RuleMessage phase_complete_early(const std::string& place, std::int64_t phase, std::int64_t in_flight,
                                 std::int64_t to_expect, std::int64_t to_bring, bool by_others) {
    return of(
        {WG_MBAR_03,
         fmt::format("phase {} of {} completes while {} in flight: it expects {}, and its copies bring {}",
                     phase, place, count_of(in_flight, "byte of its copies is", "bytes of its copies are"),
                     count_of(to_expect, "byte"), to_bring),
         fmt::format(
             "the bytes that are expected before the last arrival have to be those of all copies of "
             "the phase: {} against {}. Expect them all (a multicast brings its box to each CTA that the "
             "mask names), or let {} wait until the next phase has begun",
             to_expect, to_bring, by_others ? "the other CTAs that copy here" : "what copies too early")},
        {{"place", place},
         {"phase", phase},
         {"bytes_under_way", in_flight},
         {"bytes_expected", to_expect},
         {"bytes_copied", to_bring}});
}

RuleMessage phase_complete_without(const std::string& place, std::int64_t phase) {
    return of(
        {WG_MBAR_03,
         fmt::format("phase {} of {} completes while copies of it are in flight: it does not expect their "
                     "bytes",
                     phase, place),
         "expect the bytes of all copies, before the last arrival of the phase"},
        {{"place", place}, {"phase", phase}});
}

RuleMessage phase_of_other_bytes(const std::string& place, std::int64_t phase, std::int64_t bytes,
                                 std::int64_t others) {
    return of(
        {WG_MBAR_03,
         fmt::format("phase {} of {} expects {} of copies by tensor maps that bring {} in another phase",
                     phase, place, count_of(bytes, "byte"), others),
         "expect the bytes of all copies of each phase"},
        {{"place", place}, {"phase", phase}, {"bytes_expected", bytes}, {"bytes_copied", others}});
}

RuleMessage arrival_completes(const std::string& who, const std::string& place) {
    return of(
        {WG_MBAR_03,
         fmt::format("{} completes a phase of {} with an arrival that is declared .noComplete", who, place),
         "mbarrier.arrive without .noComplete, where the arrival may be the last one of its phase"},
        {{"who", who}, {"place", place}});
}

RuleMessage too_many_bytes(const std::string& place, std::int64_t bytes, std::int64_t most) {
    return of({WG_MBAR_03,
               fmt::format("the tx-count of {} becomes {}: it holds {} at most", place,
                           count_of(bytes, "byte"), most),
               "expect fewer bytes in a phase"},
              {{"place", place}, {"bytes_expected", bytes}, {"most", most}});
}

RuleMessage no_more_arrivals(const std::string& place, std::int64_t pending) {
    return of(
        {WG_MBAR_03,
         fmt::format("{} expects {} already, and no more are possible", place, count_of(pending, "arrival")),
         "count the arrivals of a phase"},
        {{"place", place}, {"arrivals_pending", pending}});
}

RuleMessage waits_for_foreign_mbarrier(const std::string& who) {
    return of({WG_SYNC_05, fmt::format("{} waits for an mbarrier of another CTA", who),
               "wait for one of its own, at which the other CTA arrives"},
              {{"who", who}});
}

RuleMessage mbarrier_apart_from_bytes() {
    return {WG_TMA_01, "the mbarrier lies in another CTA than the bytes it counts",
            "name the mbarrier that stands where the bytes land"};
}

}  // namespace wgrun::rules
