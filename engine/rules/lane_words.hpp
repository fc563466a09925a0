// Lanes of a warp that execute a step together because a membermask names them (shfl, vote, match, redux,
// elect, bar.warp.sync), for all who find that they do not: WG-SYNC-08.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "rules/rule_message.hpp"

namespace wgrun::rules {

/// Returns what is wrong with the membermasks of a step; nothing if they are right. active: the lanes that
/// execute it; existing: those of the warp that have not ended. Bit l stands for lane l, and masks[l] is lane
/// l's membermask. There is at least one active lane.
std::optional<RuleMessage> wrong_membermask(std::string_view op, std::uint32_t active, std::uint32_t existing,
                                            std::span<const std::uint32_t, 32> masks);

/// A lane of a shfl that reads a register of one that takes no part, by its membermask.
RuleMessage source_takes_no_part(std::string_view op, int lane, int source, std::uint32_t membermask);

}  // namespace wgrun::rules
