// What is said of asynchronous copies: WG-TMA-01, -02, -03, -06, -07, WG-GROUP-06, WG-RACE-02;
// WG-MEM-01 of boxes; WG-PROXY-01 of copies out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rules/rule_message.hpp"

namespace wgrun::rules {

RuleMessage copy_of_other_dimensions(int dims, std::size_t of_map);
/// Its place in shared memory is no multiple of `align` bytes.
RuleMessage copy_misaligned(const std::string& place, std::uint32_t align);
/// Its first coordinate is `start`, in elements of so many bytes.
RuleMessage box_start_misaligned(std::int32_t start, std::int64_t element);
/// The tensor's lines have so many bytes, and the last one ends where its memory does.
RuleMessage unit_behind_memory(std::int64_t line);
RuleMessage stored_box_below_zero(std::int32_t start, int dimension);
/// A copy of pixels, which begins elsewhere.
RuleMessage stored_pixel_below_zero(std::int32_t place, int dimension);
/// It takes what was written at `write` through the generic proxy.
RuleMessage written_before_copy(Where write, Where copy);
/// A copy through a tensor map in memory that has been changed before.
RuleMessage map_not_acquired();
/// pixels: what the copy moves.
RuleMessage copy_of_other_mode(bool pixels);
RuleMessage no_tensor_map(std::uint64_t address);
/// A box with a swizzle begins `behind` bytes behind a multiple of `pattern`, and is read as though it did
/// not.
RuleMessage box_read_by_rows(const std::string& place, std::uint32_t behind, std::uint32_t pattern);
/// space: "local" or "shared"
RuleMessage map_in_own_memory(std::string_view space);
RuleMessage map_not_released();
/// A tensor map that another CTA has released, where one of the two fences has the scope of its CTA.
RuleMessage map_released_apart();
/// So many lanes of a warp issue the same copy out of shared memory.
RuleMessage copy_by_each_lane(int lanes);

/// Two accesses that nothing orders: "thread 3 reads `tile`, which thread 96 wrote: nothing orders the two".
std::string unordered(std::string_view who, std::string_view does, std::string_view place,
                      std::string_view other, std::string_view did);
/// The phase that counts a copy has not been waited for before the access at `here`; mbarrier: its place, if
/// that is known.
RuleMessage copy_not_awaited(std::string message, Where here, const std::string& mbarrier = {});

RuleMessage copy_in_at_end();
/// end: the last statement of the kernel.
RuleMessage copy_out_at_end(Where copy, Where end);
/// who: "the kernel", "the CTA"; of: " of thread 3".
RuleMessage thread_copy_at_end(std::string_view who, std::string_view of, Where copy, Where end);

/// what: "the copy overwrites `a`"; reader: "warp 0"
std::string overwritten_while_read(std::string_view what, const std::string& reader);

}  // namespace wgrun::rules
