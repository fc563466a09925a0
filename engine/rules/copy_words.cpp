#include "rules/copy_words.hpp"

#include <fmt/format.h>

#include "rules/phrases.hpp"
#include "rules/wgmma_words.hpp"
#include "wgrun/count_of.hpp"

namespace wgrun::rules {

RuleMessage copy_of_other_dimensions(int dims, std::size_t of_map) {
    return {WG_TMA_01, fmt::format("the copy has {}, its tensor map {}", count_of(dims, "dimension"), of_map),
            fmt::format("the form for {}, with as many coordinates", count_of(of_map, "dimension"))};
}

RuleMessage copy_of_other_mode(bool pixels) {
    return {WG_TMA_01,
            pixels ? "the copy moves pixels, and its tensor map describes boxes"
                   : "the copy moves a box, and its tensor map describes pixels (im2col)",
            pixels ? "a tensor map with `lower` and `upper`" : "the form with im2col"};
}

RuleMessage copy_misaligned(const std::string& place, std::uint32_t align) {
    return {WG_TMA_01,
            fmt::format("the copy's place in shared memory, {}, is not a multiple of {}", place,
                        count_of(align, "byte")),
            fmt::format("align = {} for the buffer, and offsets that are multiples of {}", align, align)};
}

RuleMessage box_start_misaligned(std::int32_t start, std::int64_t element) {
    return {WG_TMA_06,
            fmt::format("the box starts at element {} of its lines, {} from their beginning: no multiple "
                        "of 16",
                        start, count_of(start * element, "byte")),
            fmt::format("start at a multiple of {} elements", 16 / element)};
}

RuleMessage unit_behind_memory(std::int64_t line) {
    return {rules::WG_MEM_01,
            fmt::format("a line of {} ends within a unit of 16 bytes, which a store or a reduction of a "
                        "box writes whole: it ends behind the tensor's memory",
                        count_of(line, "byte")),
            "lines of a multiple of 16 bytes, or the last elements by the threads"};
}

RuleMessage stored_box_below_zero(std::int32_t start, int dimension) {
    return {WG_TMA_06,
            fmt::format("a store starts at coordinate {} of dimension {}: only loads may start below 0",
                        start, dimension),
            "begin at 0, with a smaller box"};
}

RuleMessage stored_pixel_below_zero(std::int32_t place, int dimension) {
    return {WG_TMA_06,
            fmt::format("a store of pixels comes to coordinate {} of dimension {}: only loads may go below 0",
                        place, dimension),
            "a tensor map for stores, with `lower` from 0 on"};
}

RuleMessage written_before_copy(Where write, Where copy) {
    return {WG_PROXY_01,
            "the bulk copy reads shared memory that was written through the generic proxy, with no "
            "fence.proxy.async in between",
            proxy_fence_between(write, copy)};
}

RuleMessage no_tensor_map(std::uint64_t address) {
    return {
        WG_TMA_01, fmt::format("{:#x} is not a tensor map of the launch", address),
        "a tensor map is a parameter of the kernel, by its own address, or 128 bytes of global or constant "
        "memory to which one was copied: local and shared memory hold none"};
}

RuleMessage box_read_by_rows(const std::string& place, std::uint32_t behind, std::uint32_t pattern) {
    return {WG_TMA_05,
            fmt::format("the box is copied to {}, {} behind a multiple of {}, and threads read it as though "
                        "its swizzle began with it: it goes by the bits of the address",
                        place, count_of(behind, "byte"), pattern),
            fmt::format("align the buffer to {} bytes, or xor with the bits of the address when reading",
                        pattern)};
}

RuleMessage map_in_own_memory(std::string_view space) {
    return {WG_TMA_01,
            fmt::format("the tensor map of the bulk copy lies in {} memory: it has to be a parameter, or in "
                        "constant or global memory",
                        space),
            "the address of the parameter itself, in CUDA const __grid_constant__ CUtensorMap"};
}

RuleMessage map_not_acquired() {
    return {WG_PROXY_03,
            "the bulk copy goes through a tensor map in memory with no fence.proxy.tensormap since it was "
            "changed",
            "fence.proxy.tensormap::generic.acquire.gpu [map], 128 by the thread that copies"};
}

RuleMessage map_not_released() {
    return {WG_PROXY_03,
            "this fence.proxy.tensormap acquires a tensor map that the kernel changes, and nothing after the "
            "change releases it",
            "fence.proxy.tensormap::generic.release.gpu by the thread that changes it, or "
            "tensormap.cp_fenceproxy from shared memory"};
}

RuleMessage map_released_apart() {
    return {WG_PROXY_03,
            "this fence.proxy.tensormap acquires a tensor map that another CTA has released, and the scope "
            "of one of the two does not hold the other's CTA",
            "release.gpu and acquire.gpu, or .cluster within a cluster; between devices release.sys and "
            "acquire.sys"};
}

RuleMessage copy_by_each_lane(int lanes) {
    return {WG_TMA_07,
            fmt::format("{} of a warp execute this copy, and each of them issues one: its bytes are "
                        "written {} times",
                        count_of(lanes, "lane"), lanes),
            "let one lane issue it, commit and wait"};
}

std::string unordered(std::string_view who, std::string_view does, std::string_view place,
                      std::string_view other, std::string_view did) {
    return fmt::format("{} {} {}, which {} {}: nothing orders the two", who, does, place, other, did);
}

RuleMessage copy_not_awaited(std::string message, Where here, const std::string& mbarrier) {
    return {WG_TMA_02, std::move(message),
            fmt::format("wait for the phase of {} {}",
                        mbarrier.empty() ? "its mbarrier" : "the mbarrier " + mbarrier, before(here))};
}

RuleMessage copy_in_at_end() {
    return {WG_TMA_03, "the CTA ends, and nothing has waited for the mbarrier that counts this copy",
            "wait for the last phase of every mbarrier before the kernel ends"};
}

RuleMessage copy_out_at_end(Where copy, Where end) {
    return {WG_TMA_03,
            "the CTA ends, and nothing has waited for this copy to read its shared memory",
            {"the thread that issues it has to commit it, and to wait until it has read "
             "(cp.async.bulk.wait_group.read 0), before the kernel ends",
             {{insert_after(end, {bulk_wait_for_reads()})},
              {insert_after(copy, {bulk_commit_group(), bulk_wait_for_reads()})}}}};
}

RuleMessage thread_copy_at_end(std::string_view who, std::string_view of, Where copy, Where end) {
    return {WG_GROUP_06,
            fmt::format("{} ends, and nothing has waited for this cp.async{}", who, of),
            {"each thread has to wait for its own (cp.async.wait_all) before the kernel ends",
             {{insert_after(end, {cp_async_wait_all()})}, {insert_after(copy, {cp_async_wait_all()})}}}};
}

std::string overwritten_while_read(std::string_view what, const std::string& reader) {
    return fmt::format("{}, which the wgmma of {} may still be reading", what, reader);
}

}  // namespace wgrun::rules
