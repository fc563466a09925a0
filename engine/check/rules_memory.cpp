// Rules of memory: accesses, proxies, races.
#include "check/rules.hpp"

namespace wgrun::check {

namespace {

using enum Severity;

constexpr Rule rows[] = {
    // --- MEM ----------------------------------------------------------------------------------------
    Rule{"WG-MEM-01", error,
         "Every access to global memory lies inside a tensor that was passed to the kernel.", "5.1.4",
         "Beyond the tensor lies other data, or nothing: the launch fails, or the kernel silently reads or "
         "destroys its neighbour.",
         "Guard the access with a predicate on the index, or make the tensor larger.",
         R"(local i = k:mad_lo_u32(k:special "ctaid.x", 128, k:special "tid.x")
local address = k:element(X, i)
local x = k:ld_global_f32(address)
k:st_global_f32(address, x))",
         R"(local i = k:mad_lo_u32(k:special "ctaid.x", 128, k:special "tid.x")
local address = k:element(X, i)
k:if_(i:lt(n), function()
  local x = k:ld_global_f32(address)
  k:st_global_f32(address, x)
end))"},
    Rule{"WG-MEM-02", error, "The address of an access is a multiple of the bytes that it moves.", "6.4.1",
         "A misaligned address is an error that ends the launch.",
         "Align the address, or use a narrower vector.",
         R"(local S = k:shared{bytes=528, name="S"}
local address = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
k:st_shared_f32(address, 0)
k:bar_sync(0)
local x = k:ld_shared_v4_f32(address)   -- 16 bytes from a multiple of 4)",
         R"(local S = k:shared{bytes=528, name="S"}
local address = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
k:st_shared_f32(address, 0)
k:bar_sync(0)
local x = k:ld_shared_f32(address))"},
    Rule{"WG-MEM-03", error, "Every access to shared memory lies inside the shared memory of the CTA.",
         "5.1.7",
         "Beyond it the launch fails; inside it, but beyond the buffer, the kernel destroys another buffer.",
         "Make the buffer larger, or check the index.",
         R"(local S = k:shared{bytes=128, name="S"}
local address = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
k:st_shared_f32(address, 0)   -- 128 threads, 4 bytes each
k:bar_sync(0))",
         R"(local S = k:shared{bytes=512, name="S"}
local address = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
k:st_shared_f32(address, 0)
k:bar_sync(0))"},
    Rule{"WG-MEM-04", error, "Shared memory is written before it is read.", "5.1.7",
         "Shared memory holds what the last CTA on the multiprocessor left there.",
         "Write the whole tile before it is read, also where the tensor does not fill it.",
         R"(local S = k:shared{bytes=512, name="S"}
local address = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
local x = k:ld_shared_f32(address)
k:st_global_f32(k:element(X, k:special "tid.x"), x))",
         R"(local S = k:shared{bytes=512, name="S"}
local address = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
k:st_shared_f32(address, 0)
local x = k:ld_shared_f32(address)
k:st_global_f32(k:element(X, k:special "tid.x"), x))"},
    Rule{"WG-MEM-05", error, "A kernel does not write through a parameter that it declares const.", "5.1.4",
         "The tensor of a const parameter may be read-only memory, and is not copied back from the device: "
         "what the kernel writes there is lost, or destroys what others read.",
         "Declare the parameter without const.",
         R"(local X = k:param("X", "const f32*")
local place = k:element(X, k:special "tid.x")
local x = k:ld_global_f32(place)
k:st_global_f32(place, k:add_f32(x, x)))",
         R"(local X = k:param("X", "f32*")
local place = k:element(X, k:special "tid.x")
local x = k:ld_global_f32(place)
k:st_global_f32(place, k:add_f32(x, x)))"},
    // --- PROXY --------------------------------------------------------------------------------------
    Rule{"WG-PROXY-01", error,
         "Between a generic-proxy write to shared memory and a wgmma that reads it stands a "
         "fence.proxy.async.",
         "9.7.15.4",
         "wgmma reads shared memory through the async proxy. A barrier alone does not make st.shared visible "
         "there: the wgmma may read old bytes. Nothing in the tool chain warns of it.",
         "k:fence_proxy_async{space=\"shared::cta\"} by every thread that wrote, before the barrier; or by "
         "the threads of the warpgroup, after the barrier.",
         R"(k:st_shared_v4_b32(to_b, words)
k:bar_sync(0)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
         R"(k:st_shared_v4_b32(to_b, words)
k:fence_proxy_async{space="shared::cta"}
k:bar_sync(0)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"},
    Rule{"WG-PROXY-02", error,
         "Between a generic-proxy read of shared memory and a bulk copy that overwrites it stands a "
         "fence.proxy.async.",
         "9.7.15.4",
         "The barrier orders the read before the instruction that copies, not before what the copy engine "
         "does through the async proxy: the read may take the new bytes.",
         "k:fence_proxy_async{space=\"shared::cta\"} by every thread that reads, before it gives the memory "
         "back; or by the thread that copies, after it has waited for them.",
         R"(k:mbarrier_wait(full, 0)
local x = k:ld_shared_f32(mine)
k:bar_sync(0)
k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
k:mbarrier_wait(full, 1))",
         R"(k:mbarrier_wait(full, 0)
local x = k:ld_shared_f32(mine)
k:fence_proxy_async{space="shared::cta"}
k:bar_sync(0)
k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
k:mbarrier_wait(full, 1))"},
    Rule{"WG-PROXY-03", error,
         "Between a generic-proxy write to global memory and a bulk copy that reads, overwrites or reduces "
         "it stands a fence.proxy.async of global memory.",
         "9.7.13.4",
         "The copy engine goes through the async proxy. A barrier alone does not make st.global or red "
         "visible there: the copy may bring old bytes. The other way round the wait is the fence: what a "
         "copy has written may be read after cp.async.bulk.wait_group without .read.",
         "k:fence_proxy_async() or k:fence_proxy_async{space=\"global\"} by every thread that wrote, before "
         "the barrier; or by the thread that copies, after it. One with space = \"shared::cta\" is about "
         "shared memory alone.",
         R"(k:st_global_f32(k:element(X, thread), value)
k:fence_proxy_async{space="shared::cta"}
k:bar_sync(0)
k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
k:mbarrier_wait(full, 0))",
         R"(k:st_global_f32(k:element(X, thread), value)
k:fence_proxy_async{space="global"}
k:bar_sync(0)
k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
k:mbarrier_wait(full, 0))"},
    // --- RACE ---------------------------------------------------------------------------------------
    Rule{"WG-RACE-01", error,
         "Between a write to shared memory by one thread and an access to it by another, or by a wgmma, "
         "stands a barrier.",
         "8.7.1",
         "Warps run at their own speed. Without the barrier a slow warp may not have written what another "
         "reads, even in the same warpgroup, or may still read what another overwrites. So do the lanes of a "
         "warp: shfl.sync and its like order no memory.",
         "k:bar_sync(0), or a named barrier of the threads involved, after the one access and before the "
         "other; between lanes of one warp k:bar_warp_sync() is enough.",
         R"(k:st_shared_v4_b32(to_b, words)
k:fence_proxy_async{space="shared::cta"}
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
         R"(k:st_shared_v4_b32(to_b, words)
k:fence_proxy_async{space="shared::cta"}
k:bar_sync(0)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"},
    Rule{"WG-RACE-02", error,
         "A tile is overwritten only after every wgmma that reads it is waited for, in every warpgroup that "
         "reads it.",
         "9.7.15.7.3",
         "The wgmma may still read the tile and multiply the new elements. wgmma.wait_group in a warp covers "
         "what its warpgroup reads (docs/silicon.md), and nothing of another warpgroup: where several read "
         "the tile, a barrier has to follow.",
         "k:wgmma_wait_group(N) that covers the wgmma, and k:bar_sync(0) where others write, before the "
         "write.",
         R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:st_shared_v4_b32(to_b, words)
k:wgmma_wait_group(0))",
         R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0)
k:bar_sync(0)
k:st_shared_v4_b32(to_b, words))"},
    Rule{"WG-RACE-03", error,
         "The source of a bulk copy to global memory is overwritten only after the thread that issued the "
         "copy has waited for its group, and a barrier.",
         "9.7.9.25.6",
         "The copy engine reads shared memory later: it would copy the new bytes. Groups belong to the "
         "thread that issued and committed; in another thread the wait does nothing.",
         "k:cp_async_bulk_commit_group() and k:cp_async_bulk_wait_group(0, {read=true}) by the same thread, "
         "then a barrier, then the write.",
         R"(k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, tile, {guard=first})
k:cp_async_bulk_commit_group{guard=first}
k:bar_sync(0)
k:st_shared_f32(mine, 2)
k:cp_async_bulk_wait_group(0))",
         R"(k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, tile, {guard=first})
k:cp_async_bulk_commit_group{guard=first}
k:cp_async_bulk_wait_group(0, {read=true})
k:bar_sync(0)
k:st_shared_f32(mine, 2))"},
    Rule{"WG-RACE-04", error,
         "Two threads do not access one place in global memory, one of them writing, unless a barrier of "
         "their CTA or cluster or a release and an acquire stand between, or both are atomic or strong, in "
         "scopes that hold the other, through one proxy.",
         "8.7.1",
         "CTAs of a launch run in any order, and warps at their own speed: what is there in the end, or is "
         "read, depends on who comes first. A copy from shared memory has written when "
         "cp.async.bulk.wait_group says so without .read. What atom and red do, and the reducing copies, are "
         "two proxies. CTAs that write the same value do no harm.",
         "Give each CTA and each thread elements of its own; combine sums with red or atom; leave what other "
         "CTAs write to the next launch.",
         R"(local cta = k:special "ctaid.x"
local value = k:cvt_rn_f32_u32(cta)
local place = k:element(X, thread)
k:st_global_f32(place, value))",
         R"(local cta = k:special "ctaid.x"
local value = k:cvt_rn_f32_u32(cta)
local place = k:element(X, cta * 128 + thread)
k:st_global_f32(place, value))"},
};

}  // namespace

std::span<const Rule> memory_rules() { return rows; }

}  // namespace wgrun::check
