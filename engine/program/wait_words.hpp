// The laws that waits without end break: in an abstract execution, on the simulator, or in a guarded run on a
// GPU. Their messages are in rules/wait_words.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rules/mbarrier_words.hpp"
#include "wgrun/program.hpp"
#include "wgrun/rules.hpp"

namespace wgrun::wait_words {

/// The rule that a wait without end breaks, and its fix.
struct Law {
    const Rule* rule;
    std::string_view fix;
};
Law law(isa::Awaits wait);
/// Returns whether a wait without end breaks the rule of this id.
bool is_law(std::string_view rule);

/// The fix where the four warps of a warpgroup do not execute a step together (WG-SYNC-01).
inline constexpr std::string_view whole_warpgroup =
    "branch on a value that is the same in the whole warpgroup, such as tid.x >> 7";

/// Returns the buffer that holds this byte of the CTA's dynamic shared memory, or null.
const SharedBuffer* buffer_at(const Program& program, std::uint32_t offset);

/// Returns a name such as "`full` + 16" for this byte of the CTA's dynamic shared memory.
std::string place(const Program& program, std::uint32_t offset);

/// Returns the finding for an mbarrier at this byte, which is not a multiple of 8.
rules::RuleMessage mbarrier_misaligned(const Program& program, const std::string& place,
                                       std::uint32_t offset);

}  // namespace wgrun::wait_words
