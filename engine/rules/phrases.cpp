#include "rules/phrases.hpp"

#include <fmt/format.h>

namespace wgrun::rules {

Phrase wgmma_fence() { return {"wgmma_fence()", "wgmma.fence.sync.aligned"}; }
Phrase wgmma_commit_group() { return {"wgmma_commit_group()", "wgmma.commit_group.sync.aligned"}; }
Phrase wgmma_wait_group(int pending) {
    return {fmt::format("wgmma_wait_group({})", pending),
            fmt::format("wgmma.wait_group.sync.aligned {}", pending)};
}
Phrase bar_sync() { return {"bar_sync(0)", "bar.sync 0"}; }
Phrase bar_sync(int id, int threads) {
    return {fmt::format("bar_sync({}, {{ threads = {} }})", id, threads),
            fmt::format("bar.sync {}, {}", id, threads)};
}
Phrase bar_warp_sync() { return {"bar_warp_sync()", "bar.warp.sync -1"}; }
Phrase cluster_arrive() { return {"barrier_cluster_arrive()", "barrier.cluster.arrive.aligned"}; }
Phrase cluster_wait() { return {"barrier_cluster_wait()", "barrier.cluster.wait.aligned"}; }
Phrase fence_proxy_async() { return {"fence_proxy_async()", "fence.proxy.async"}; }
Phrase fence_mbarrier_init() { return {"fence_mbarrier_init()", "fence.mbarrier_init.release.cluster"}; }
Phrase fence_acq_rel(bool cluster) {
    const char* scope = cluster ? "cluster" : "cta";
    return {fmt::format("fence_acq_rel_{}()", scope), fmt::format("fence.acq_rel.{}", scope)};
}
Phrase griddepcontrol_wait() { return {"griddepcontrol_wait()", "griddepcontrol.wait"}; }
Phrase cp_async_commit_group() { return {"cp_async_commit_group()", "cp.async.commit_group"}; }
Phrase cp_async_wait_group(int pending) {
    return {fmt::format("cp_async_wait_group({})", pending), fmt::format("cp.async.wait_group {}", pending)};
}
Phrase cp_async_wait_all() { return {"cp_async_wait_all()", "cp.async.wait_all"}; }
Phrase bulk_commit_group() { return {"cp_async_bulk_commit_group()", "cp.async.bulk.commit_group"}; }
Phrase bulk_wait_group(int pending) {
    return {fmt::format("cp_async_bulk_wait_group({})", pending),
            fmt::format("cp.async.bulk.wait_group {}", pending)};
}
Phrase bulk_wait_for_reads() {
    return {"cp_async_bulk_wait_group(0, {read=true})", "cp.async.bulk.wait_group.read 0"};
}
Phrase setmaxnreg(bool increase, int registers) {
    const char* which = increase ? "inc" : "dec";
    return {fmt::format("setmaxnreg_{}({})", which, registers),
            fmt::format("setmaxnreg.{}.sync.aligned.u32 {}", which, registers)};
}

Phrase align_option() { return {"align", ".align"}; }
Phrase transpose_option(char operand) {
    return {fmt::format("trans_{}", operand), fmt::format("imm-trans-{}", operand)};
}

}  // namespace wgrun::rules
