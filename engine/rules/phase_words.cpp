#include "rules/phase_words.hpp"

#include <fmt/format.h>

namespace wgrun::rules {

RuleMessage bad_parity(const std::string& who, const std::string& place, std::int64_t parity) {
    return of({WG_MBAR_06, fmt::format("{} waits for {} with parity {}: it is 0 or 1", who, place, parity),
               "the lowest bit of the phase's number: phase & 1"},
              {{"who", who}, {"place", place}, {"parity", parity}});
}

namespace {

constexpr std::string_view take_the_last_state =
    "wait with the state that the last arrival at this mbarrier has returned, before the next arrival";

}  // namespace

RuleMessage no_state(std::string_view who) {
    return {WG_MBAR_06,
            fmt::format("{} takes the state that an arrival has returned, not another number", who),
            std::string(take_the_last_state)};
}

RuleMessage state_of_another(const std::string& who, const std::string& place, const std::string& other) {
    return of({WG_MBAR_06, fmt::format("{} waits for {} with a state of {}", who, place, other),
               std::string(take_the_last_state)},
              {{"who", who}, {"place", place}, {"other_place", other}});
}

RuleMessage state_of_old_phase(const std::string& who, const std::string& place, std::int64_t old,
                               std::int64_t phase) {
    return of(
        {WG_MBAR_06,
         fmt::format("{} waits for {} with the state of its phase {}, which is in phase {} by now: a wait "
                     "tells only the "
                     "phase in progress from the one before",
                     who, place, old, phase),
         std::string(take_the_last_state)},
        {{"who", who}, {"place", place}, {"phase", phase}, {"phase_of_state", old}});
}

RuleMessage phase_skipped(const std::string& who, const std::string& place, std::int64_t phase,
                          std::int64_t parity, bool passes) {
    const std::int64_t meant = phase - (passes ? 3 : 2);  // the last phase of that parity that it may mean
    return of({WG_MBAR_06,
               fmt::format(
                   "{} waits {}, which is in phase {} by now: phase {} has completed, and the warp has "
                   "not waited for it",
                   who,
                   meant < 0 ? fmt::format("with parity {} for {} as for a fresh mbarrier", parity & 1, place)
                             : fmt::format("for phase {} (parity {}) of {}", meant, parity & 1, place),
                   phase, phase - 1),
               fmt::format("wait for each phase in turn: the parity of phase {} is {}", phase - 1,
                           (phase - 1) & 1)},
              {{"who", who}, {"place", place}, {"phase", phase}, {"parity", parity & 1}});
}

RuleMessage let_through(const std::string& place, std::int64_t phase, std::int64_t parity) {
    return of(
        {WG_MBAR_06,
         phase == 0 ? fmt::format("a fresh mbarrier lets the wait with parity {} for {} through: phase 0 is "
                                  "in progress",
                                  parity, place)
                    : fmt::format("phase {} of {}, which the warp has waited for before, lets the wait with "
                                  "parity {} through: phase {} is in progress",
                                  phase - 1, place, parity, phase),
         fmt::format("turn the parity from phase to phase: that of phase {} is {}", phase, phase & 1)},
        {{"place", place}, {"phase", phase}, {"parity", parity}});
}

}  // namespace wgrun::rules
