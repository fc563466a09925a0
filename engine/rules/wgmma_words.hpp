// What is said of wgmma: its registers, its groups, and what orders the memory that it reads. WG-FENCE-01,
// WG-GROUP-01, -02, -05, WG-PROXY-01, WG-RACE-01.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rules/rule_message.hpp"

namespace wgrun::rules {

/// What a register is to a wgmma.
enum class MmaOperand : std::uint8_t { accumulator, fragment, metadata };
std::string_view name_of(MmaOperand part);  ///< "an accumulator"

RuleMessage no_fence_at_all(Where mma);
/// A thread has accessed the register since the last fence.
RuleMessage no_fence_since_access(MmaOperand part, Where mma);
/// What a compiler has to be told, so that an access stays before the fence.
std::string_view kept_before_fence();
/// The register was an accumulator of a wgmma of another kind since.
RuleMessage no_fence_between(MmaOperand part, Where mma);

/// A register of a wgmma issued at `issued` is accessed at `here`; access: "read", "written". younger: the
/// groups that have been committed after its own, -1 for a wgmma that is in none; without a value, either may
/// be.
RuleMessage accessed_in_flight(MmaOperand part, std::string_view access, Where issued, Where here,
                               std::optional<int> younger = {});
/// A wgmma that is in no group; at_end: the kernel ends, and nothing waits.
RuleMessage never_committed(Where issued, bool at_end);
/// who: "the kernel", "warp 3"
RuleMessage group_at_end(const std::string& who, Where committed, Where end);

/// fence.proxy.async between an access through the generic proxy and one through the other.
Fix proxy_fence_between(Where access, Where here);
/// A barrier of the CTA between two accesses.
Fix barrier_between(Where access, Where here, std::string_view other = "what is accessed before",
                    std::string_view who = "what comes later");
/// What has to write a register that is read there; an accumulator of a wgmma it need not.
std::string write_before(Where here, bool accumulator);
/// Such calls behind the access or before `here`, and where both are in a loop a barrier behind `here`, too.
std::vector<Remedy> barriers_between(Where access, Where here, std::vector<Phrase> calls);

}  // namespace wgrun::rules
