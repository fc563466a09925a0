// What is said of barriers of the CTA and of the cluster, of another CTA's memory, and of the CTA's pool of
// registers: WG-SYNC-02, -03, -04, -05, WG-REG-02.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rules/saying.hpp"

namespace wgrun::rules {

Saying barrier_out_of_range(std::uint32_t id, std::uint32_t threads);
Saying barrier_counted_otherwise(std::uint32_t id, std::uint32_t threads, std::uint32_t others);
/// Of the place where others arrive for so many.
std::string barrier_counted_here(std::uint32_t threads);
Saying barrier_too_large(std::uint32_t id, std::uint32_t threads, int of_cta);
/// Lanes of one warp wait at two barriers, or one part of them arrives where another one waits.
Saying parts_at_two_barriers(const std::string& warp, const std::string& one, const std::string& other);

/// An instruction of whole warpgroups in a CTA of `threads` threads.
Saying no_whole_warpgroup(std::string_view instruction, int threads);

/// barrier.cluster.arrive, and .wait, at `here`, where the other is due.
Saying cluster_arrives_again(const std::string& who, Where here);
Saying cluster_not_arrived(const std::string& who, Where here);

/// An address of CTA `rank` of a cluster of `ctas`, which has none.
Saying outside_cluster(const std::string& who, std::uint64_t rank, std::size_t ctas);
/// An address that mapa gave, where only one of the CTA's own memory will do.
Saying peer_as_own(const std::string& who, std::uint64_t address);
/// The kernel has no clusters, and `instruction` sends to shared::cluster through the copy engine.
Saying sent_without_cluster(std::string_view instruction);
Saying multicast_outside_cluster(std::uint32_t mask, std::uint32_t rank, std::size_t ctas);
Saying peer_may_not_have_begun(const std::string& who, std::uint64_t rank, Where here);
/// CTA `rank` has ended, or may have. `end`: the last statement of the kernel.
Saying peer_has_ended(const std::string& who, std::uint64_t rank, bool surely, Where end);
Saying peer_may_have_ended(Where end);
constexpr std::string_view fix_of_peers =
    "mapa with a rank of the cluster, and a barrier of the cluster before any of its CTAs ends";

/// setmaxnreg.inc to fewer registers than a thread has, or .dec to more.
Saying resized_the_wrong_way(bool increase, int registers, int held);

}  // namespace wgrun::rules
