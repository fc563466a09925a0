// The instructions that remedies insert and fixes speak of, as a Lua script calls them and as PTX has them.
// The room of instructions lies above this one: tests/unit/emit/phrases.cpp holds the two against each
// other.
#pragma once

#include "wgrun/diagnostic.hpp"

namespace wgrun::rules {

Phrase wgmma_fence();
Phrase wgmma_commit_group();
Phrase wgmma_wait_group(int pending);
Phrase bar_sync();  ///< barrier 0, all threads of the CTA
Phrase bar_sync(int id, int threads);
Phrase bar_warp_sync();  ///< all lanes
Phrase cluster_arrive();
Phrase cluster_wait();
Phrase fence_proxy_async();
Phrase fence_mbarrier_init();
Phrase fence_acq_rel(bool cluster);  ///< of the cluster, or of the CTA
Phrase griddepcontrol_wait();
Phrase cp_async_commit_group();
Phrase cp_async_wait_group(int pending);
Phrase cp_async_wait_all();
Phrase bulk_commit_group();
Phrase bulk_wait_group(int pending);
Phrase bulk_wait_for_reads();  ///< of none, until the sources are read
Phrase setmaxnreg(bool increase, int registers);

/// Options of declarations, and the directives and operands that PTX has instead.
Phrase align_option();
Phrase transpose_option(char operand);  ///< 'a' or 'b'

}  // namespace wgrun::rules
