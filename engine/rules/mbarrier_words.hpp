// What is said of mbarriers: WG-MBAR-01, -02, -03, and those of other CTAs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rules/rule_message.hpp"

namespace wgrun::rules {

/// Its address is no multiple of 8. `buffer`: where the buffer that it stands in is declared, with this
/// alignment, if that is less.
RuleMessage mbarrier_misaligned(const std::string& place, Where buffer = {}, std::int64_t align = 0);
RuleMessage mbarrier_absent(const std::string& place);
RuleMessage mbarrier_made_again(const std::string& place, bool by_same_step);
/// mbarrier.inval, and copies of `bytes` bytes are still to come.
RuleMessage mbarrier_ended_early(const std::string& place, std::int64_t bytes);
/// Who uses it cannot know that it is initialised, at `made`. `cluster`: the kernel has more CTAs than one.
RuleMessage mbarrier_unpublished(const std::string& who, const std::string& place, Where made, bool cluster);
RuleMessage mbarrier_unpublished_to_engine(const std::string& place, Where made, bool cluster);

RuleMessage too_many_arrivals_asked(const std::string& place, std::int64_t arrivals, std::int64_t most);
/// what: "arrives at", "copies into". first_copy: it counts bytes, and the object has never counted any.
RuleMessage phase_not_awaited(const std::string& who, std::string_view what, std::int64_t phase,
                              const std::string& place, bool first_copy = false);
RuleMessage arrival_too_many(const std::string& who, std::int64_t arrivals, const std::string& place,
                             std::int64_t pending, std::int64_t expected, std::int64_t phase);
/// to_expect, to_bring: the bytes that the phase was told to expect, and those of its copies. by_others: some
/// are of other CTAs, which may copy too early.
RuleMessage phase_complete_early(const std::string& place, std::int64_t phase, std::int64_t in_flight,
                                 std::int64_t to_expect, std::int64_t to_bring, bool by_others);
/// The same of copies whose bytes are not known.
RuleMessage phase_complete_without(const std::string& place, std::int64_t phase);
RuleMessage phase_of_other_bytes(const std::string& place, std::int64_t phase, std::int64_t bytes,
                                 std::int64_t others);
/// An arrival that was said not to complete a phase, and does.
RuleMessage arrival_completes(const std::string& who, const std::string& place);
/// The tx-count comes to that many bytes: more than `most`, or less than none by as many.
RuleMessage too_many_bytes(const std::string& place, std::int64_t bytes, std::int64_t most);
/// One arrival more than the phase can expect.
RuleMessage no_more_arrivals(const std::string& place, std::int64_t pending);

RuleMessage waits_for_foreign_mbarrier(const std::string& who);
RuleMessage mbarrier_apart_from_bytes();

}  // namespace wgrun::rules
