#include "rules/barrier_words.hpp"

#include <fmt/format.h>

#include "rules/phrases.hpp"
#include "wgrun/target.hpp"

namespace wgrun::rules {
namespace {

constexpr int warpgroup = sm_90a.warpgroup;
constexpr const char* count_those_who_come =
    "count the threads that come to the barrier, in whole warps, and give that number everywhere";
constexpr const char* in_turn = "each warp arrives once, waits once, and so on";

/// Nobody of the cluster ends before all have come so far.
Remedy meeting_at(Where end) { return {insert_after(end, {cluster_arrive(), cluster_wait()})}; }

}  // namespace

RuleMessage barrier_out_of_range(std::uint32_t id, std::uint32_t threads) {
    return of(
        {WG_SYNC_02,
         fmt::format("barrier {} of {} threads: there are barriers 0 to {}, and they count multiples of {} "
                     "threads",
                     id, threads, sm_90a.barriers - 1, sm_90a.lanes),
         count_those_who_come},
        {{"barrier", id}, {"threads_expected", threads}});
}

RuleMessage barrier_counted_otherwise(std::uint32_t id, std::uint32_t threads, std::uint32_t others) {
    const std::string whom = threads == 0 ? "all threads" : fmt::format("{} threads", threads);
    return of({WG_SYNC_02, fmt::format("barrier {} of {}: others wait at it for {}", id, whom, others),
               count_those_who_come},
              {{"barrier", id}, {"threads_expected", threads}, {"threads_expected_by_others", others}});
}

std::string barrier_counted_here(std::uint32_t threads) {
    return fmt::format("for {} threads here", threads);
}

RuleMessage barrier_too_large(std::uint32_t id, std::uint32_t threads, int of_cta) {
    return of(
        {WG_SYNC_02, fmt::format("barrier {} waits for {} threads, and the CTA has {}", id, threads, of_cta),
         count_those_who_come},
        {{"barrier", id}, {"threads_expected", threads}, {"threads", of_cta}});
}

RuleMessage parts_at_two_barriers(const std::string& warp, const std::string& one, const std::string& other) {
    return {WG_SYNC_02,
            fmt::format("lanes of {} are at {} and at {}: each waits for the whole warp", warp, one, other),
            "one barrier for all lanes of a warp"};
}

RuleMessage no_whole_warpgroup(std::string_view instruction, int threads) {
    return {WG_SYNC_03,
            fmt::format("{} is executed by whole warpgroups of {} threads, but the CTA has {}", instruction,
                        warpgroup, threads),
            fmt::format("threads = {}", (threads + warpgroup - 1) / warpgroup * warpgroup)};
}

RuleMessage cluster_arrives_again(const std::string& who, Where here) {
    return {WG_SYNC_04,
            fmt::format("{} arrives again without barrier.cluster.wait", who),
            {in_turn, {{insert_before(here, {cluster_wait()})}}}};
}

RuleMessage cluster_not_arrived(const std::string& who, Where here) {
    return {WG_SYNC_04,
            fmt::format("{} waits, and has not arrived at the barrier of the cluster", who),
            {in_turn, {{insert_before(here, {cluster_arrive()})}}}};
}

RuleMessage outside_cluster(const std::string& who, std::uint64_t rank, std::size_t ctas) {
    return {WG_SYNC_05,
            fmt::format("{} accesses shared memory of CTA {} of a cluster of {}", who, rank, ctas),
            std::string(fix_of_peers)};
}

RuleMessage sent_without_cluster(std::string_view instruction) {
    return {
        WG_SYNC_05,
        fmt::format(
            "{} in a kernel without clusters is an illegal instruction, even at an address of its own CTA",
            instruction),
        "cluster = 2 or more; within a CTA st.shared and mbarrier.arrive, or a copy by the threads"};
}

RuleMessage peer_as_own(const std::string& who, std::uint64_t address) {
    return {WG_SYNC_05,
            fmt::format("{} accesses {:#x}, an address of the cluster's shared memory, as one of its own CTA",
                        who, address),
            std::string(fix_of_peers)};
}

RuleMessage multicast_outside_cluster(std::uint32_t mask, std::uint32_t rank, std::size_t ctas) {
    return {WG_SYNC_05,
            fmt::format("the multicast mask {:#x} names CTA {} of a cluster of {}", mask, rank, ctas),
            "set the bits of CTAs of the cluster alone"};
}

RuleMessage peer_has_ended(const std::string& who, std::uint64_t rank, bool surely, Where end) {
    return {WG_SYNC_05,
            fmt::format("{} accesses the shared memory of CTA {} of the cluster, which {} ended", who, rank,
                        surely ? "has" : "may have"),
            {std::string(fix_of_peers), {meeting_at(end)}}};
}

RuleMessage peer_may_not_have_begun(const std::string& who, std::uint64_t rank, Where here) {
    return {WG_SYNC_05,
            fmt::format("{} accesses the shared memory of CTA {} of the cluster, which may not have begun",
                        who, rank),
            {"all CTAs have to meet at the barrier of the cluster before the first access to another CTA",
             {{insert_before(here, {cluster_arrive(), cluster_wait()})}}}};
}

RuleMessage peer_may_have_ended(Where end) {
    return {WG_SYNC_05,
            "the CTA that is accessed here may have ended: nothing makes it wait for that",
            {"all CTAs have to meet at the barrier of the cluster behind the last access to another CTA",
             {meeting_at(end)}}};
}

RuleMessage resized_the_wrong_way(bool increase, int registers, int held) {
    return {WG_REG_02,
            fmt::format("setmaxnreg.{} to {} registers a thread, which has {}", increase ? "inc" : "dec",
                        registers, held),
            "k:" + setmaxnreg(!increase, registers).lua};
}

}  // namespace wgrun::rules
