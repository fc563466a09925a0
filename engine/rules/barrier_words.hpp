// What is said of barriers of the CTA and of the cluster, of another CTA's memory, and of the CTA's pool of
// registers: WG-SYNC-02, -03, -04, -05, WG-REG-02.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rules/rule_message.hpp"

namespace wgrun::rules {

RuleMessage barrier_out_of_range(std::uint32_t id, std::uint32_t threads);
RuleMessage barrier_counted_otherwise(std::uint32_t id, std::uint32_t threads, std::uint32_t others);
/// Of the place where others arrive for so many.
std::string barrier_counted_here(std::uint32_t threads);
RuleMessage barrier_too_large(std::uint32_t id, std::uint32_t threads, int of_cta);
/// Lanes of one warp wait at two barriers, or one part of them arrives where another one waits.
RuleMessage parts_at_two_barriers(const std::string& warp, const std::string& one, const std::string& other);

/// An instruction of whole warpgroups in a CTA of `threads` threads.
RuleMessage no_whole_warpgroup(std::string_view instruction, int threads);

/// barrier.cluster.arrive, and .wait, at `here`, where the other is due.
RuleMessage cluster_arrives_again(const std::string& who, Where here);
RuleMessage cluster_not_arrived(const std::string& who, Where here);

/// An address of CTA `rank` of a cluster of `ctas`, which has none.
RuleMessage outside_cluster(const std::string& who, std::uint64_t rank, std::size_t ctas);
/// An address that mapa gave, where only one of the CTA's own memory will do.
RuleMessage peer_as_own(const std::string& who, std::uint64_t address);
/// The kernel has no clusters, and `instruction` sends to shared::cluster through the copy engine.
RuleMessage sent_without_cluster(std::string_view instruction);
RuleMessage multicast_outside_cluster(std::uint32_t mask, std::uint32_t rank, std::size_t ctas);
RuleMessage peer_may_not_have_begun(const std::string& who, std::uint64_t rank, Where here);
/// CTA `rank` has ended, or may have. `end`: the last statement of the kernel.
RuleMessage peer_has_ended(const std::string& who, std::uint64_t rank, bool surely, Where end);
RuleMessage peer_may_have_ended(Where end);
constexpr std::string_view fix_of_peers =
    "mapa with a rank of the cluster, and a barrier of the cluster before any of its CTAs ends";

/// setmaxnreg.inc to fewer registers than a thread has, or .dec to more.
RuleMessage resized_the_wrong_way(bool increase, int registers, int held);

}  // namespace wgrun::rules
