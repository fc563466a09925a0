// What is said of a wait for the wrong phase of an mbarrier: WG-MBAR-06.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rules/rule_message.hpp"

namespace wgrun::rules {

/// A parity that is neither 0 nor 1.
RuleMessage bad_parity(const std::string& who, const std::string& place, std::int64_t parity);

/// An operand that is to be the state of an mbarrier, and is not what an arrival has returned.
RuleMessage no_state(std::string_view who);

/// A wait for `place` with the state of another mbarrier.
RuleMessage state_of_another(const std::string& who, const std::string& place, const std::string& other);

/// A wait with the state of phase `old` of an mbarrier that is in `phase` by now.
RuleMessage state_of_old_phase(const std::string& who, const std::string& place, std::int64_t old,
                               std::int64_t phase);

/// The mbarrier is in `phase`, and the warp has not waited for the one before. passes: the wait is let
/// through.
RuleMessage phase_skipped(const std::string& who, const std::string& place, std::int64_t phase,
                          std::int64_t parity, bool passes);

/// A wait while `phase` is in progress, let through by the one before or by a fresh mbarrier.
RuleMessage let_through(const std::string& place, std::int64_t phase, std::int64_t parity);

}  // namespace wgrun::rules
