// Rules of memory: accesses, proxies, races.
#include "wgrun/rules.hpp"

namespace wgrun::rules {

using enum Severity;
using enum Finder;

// --- MEM ----------------------------------------------------------------------------------------
constexpr Rule WG_MEM_01{
    .id = "WG-MEM-01",
    .severity = error,
    .property = Property::bounds,
    .found_by = ahead | run,
    .title = "global memory out of bounds",
    .law = "Every access to global memory lies inside a tensor that was passed to the kernel.",
    .section = "5.1.4",
    .why =
        "Beyond the tensor lies other data, or nothing: the launch fails, or the kernel silently reads or "
        "destroys its neighbour.",
    .fix = "Guard the access with a predicate on the index, or make the tensor larger.",
    .decided =
        "In runs ahead of launches, whose tensors have their sizes, and in a run; "
        "`kernel:sizes` adds sizes. Without a launch nothing is known.",
    .wrong = R"(local i = k:mad_lo_u32(k:special "ctaid.x", 128, k:special "tid.x")
local address = k:element(X, i)
local x = k:ld_global_f32(address)
k:st_global_f32(address, x))",
    .right = R"(local i = k:mad_lo_u32(k:special "ctaid.x", 128, k:special "tid.x")
local address = k:element(X, i)
k:if_(i:lt(n), function()
  local x = k:ld_global_f32(address)
  k:st_global_f32(address, x)
end))"};

constexpr Rule WG_MEM_02{
    .id = "WG-MEM-02",
    .severity = error,
    .property = Property::bounds,
    .found_by = ahead | run,
    .title = "a misaligned access",
    .law = "The address of an access is a multiple of the bytes that it moves.",
    .section = "6.4.1",
    .why = "A misaligned address is an error that ends the launch.",
    .fix = "Align the address, or use a narrower vector.",
    .decided = "Of parameters that PTX names, wherever they are read; the rest in runs ahead and in a run.",
    .wrong = R"(local S = k:shared{bytes=528, name="S"}
local address = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
k:st_shared_f32(address, 0)
k:bar_sync(0)
local x = k:ld_shared_v4_f32(address)   -- 16 bytes from a multiple of 4)",
    .right = R"(local S = k:shared{bytes=528, name="S"}
local address = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
k:st_shared_f32(address, 0)
k:bar_sync(0)
local x = k:ld_shared_f32(address))"};

constexpr Rule WG_MEM_03{
    .id = "WG-MEM-03",
    .severity = error,
    .property = Property::bounds,
    .found_by = check | run,
    .counts_threads = true,
    .title = "shared memory out of bounds",
    .law = "Every access to shared memory lies inside the shared memory of the CTA.",
    .section = "5.1.7",
    .why =
        "Beyond it the launch fails; inside it, but beyond the buffer, the kernel destroys another buffer.",
    .fix = "Make the buffer larger, or check the index.",
    .decided = "On paths for addresses that are known, in runs ahead and in a run.",
    .wrong = R"(local S = k:shared{bytes=128, name="S"}
local address = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
k:st_shared_f32(address, 0)   -- 128 threads, 4 bytes each
k:bar_sync(0))",
    .right = R"(local S = k:shared{bytes=512, name="S"}
local address = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
k:st_shared_f32(address, 0)
k:bar_sync(0))"};

constexpr Rule WG_MEM_04{
    .id = "WG-MEM-04",
    .severity = error,
    .property = Property::initialisation,
    .found_by = ahead | run,
    .title = "memory that is not written",
    .law =
        "Shared memory and a thread's local memory are written before they are read, and so is global "
        "memory again that discard.L2 has left without a value (PTX ISA 9.7.9.17).",
    .section = "5.1.7",
    .why =
        "They hold what the last CTA on the multiprocessor left there; what is discarded, the old value or "
        "another one.",
    .fix = "Write the whole tile before it is read, also where the tensor does not fill it.",
    .decided =
        "In runs ahead and in a run, by the byte; bytes that a copy to another CTA takes, where they are "
        "read "
        "there; of local memory where nothing of what a load reads is "
        "written; of global memory within a launch. Initialised by another launch's remains is not "
        "initialised.",
    .wrong = R"(local S = k:shared{bytes=512, name="S"}
local address = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
local x = k:ld_shared_f32(address)
k:st_global_f32(k:element(X, k:special "tid.x"), x))",
    .right = R"(local S = k:shared{bytes=512, name="S"}
local address = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
k:st_shared_f32(address, 0)
local x = k:ld_shared_f32(address)
k:st_global_f32(k:element(X, k:special "tid.x"), x))"};

constexpr Rule WG_MEM_05{
    .id = "WG-MEM-05",
    .severity = error,
    .property = Property::bounds,
    .found_by = ahead | run,
    .title = "a write to a const parameter",
    .law = "A kernel does not write through a parameter that it declares const.",
    .section = "5.1.4",
    .why =
        "The tensor of a const parameter may be read-only memory, and is not copied back from the device: "
        "what the kernel writes there is lost, or destroys what others read.",
    .fix = "Declare the parameter without const.",
    .decided =
        "In runs ahead and in a run. Of pointers that are computed from others, the memory "
        "decides.",
    .wrong = R"(local X = k:param("X", "const f32*")
local place = k:element(X, k:special "tid.x")
local x = k:ld_global_f32(place)
k:st_global_f32(place, k:add_f32(x, x)))",
    .right = R"(local X = k:param("X", "f32*")
local place = k:element(X, k:special "tid.x")
local x = k:ld_global_f32(place)
k:st_global_f32(place, k:add_f32(x, x)))"};

constexpr Rule WG_MEM_06{
    .id = "WG-MEM-06",
    .severity = error,
    .property = Property::global_races,
    .found_by = ahead | run,
    .title = "ld.global.nc of what the kernel writes",
    .law =
        "What is read through ld.global.nc is not written while the kernel runs: neither by it nor by a "
        "launch "
        "before it that has not ended when it begins.",
    .section = "9.7.9.9",
    .why =
        "ld.global.nc reads through a cache that no write, fence or barrier keeps up to date: it may return "
        "what was there before. Nor does griddepcontrol.wait hold it: ptxas 13.0 moves it before the wait.",
    .fix =
        "Read with ld.global what the kernel writes, or leave it to the next launch. The same holds for what "
        "the previous launch writes, behind griddepcontrol.wait.",
    .decided =
        "In runs ahead and in a run. Of other launches those of the run that were started and not waited "
        "for.",
    .wrong = R"(local place = k:element(X, thread)
k:st_global_f32(place, 1)
k:bar_sync(0)
local before = k:ld_global_nc_f32(place)
k:st_global_f32(place, before + 1))",
    .right = R"(local place = k:element(X, thread)
k:st_global_f32(place, 1)
k:bar_sync(0)
local before = k:ld_global_f32(place)
k:st_global_f32(place, before + 1))"};

constexpr Rule WG_MEM_07{
    .id = "WG-MEM-07",
    .severity = error,
    .property = Property::bounds,
    .found_by = ahead | run,
    .title = "local memory or parameters out of bounds",
    .law =
        "Every access to local memory lies inside what the thread has declared, every read of a parameter "
        "inside the parameter, and nothing is written there.",
    .section = "5.1.6",
    .why =
        "Beyond it lie other variables of the thread, or other parameters: which ones is up to the "
        "assembler, which says nothing.",
    .fix = "Check the index, or declare the memory or the parameter larger.",
    .decided =
        "Of parameters that PTX names, wherever they are read. The rest in runs ahead and in a run, where "
        "an address that is computed leaves all parameters together.",
    .wrong = R"(local own = k:local_{bytes=16}
k:st_local_u32(own, 1)
local x = k:ld_local_u32(own + 16)
k:st_global_f32(k:element(X, k:special "tid.x"), k:cvt_rn_f32_u32(x)))",
    .right = R"(local own = k:local_{bytes=16}
k:st_local_u32(own, 1)
local x = k:ld_local_u32(own)
k:st_global_f32(k:element(X, k:special "tid.x"), k:cvt_rn_f32_u32(x)))"};

// --- PROXY --------------------------------------------------------------------------------------
constexpr Rule WG_PROXY_01{
    .id = "WG-PROXY-01",
    .severity = error,
    .property = Property::proxies,
    .found_by = check | run,
    .title = "a missing proxy fence after a write",
    .law =
        "A fence.proxy.async stands between a generic-proxy write to shared memory and a wgmma that reads "
        "it.",
    .section = "9.7.15.4",
    .why =
        "wgmma reads shared memory through the async proxy. A barrier alone does not make st.shared visible "
        "there: the wgmma may read old bytes. Nothing in the tool chain warns of it.",
    .fix =
        "k:fence_proxy_async{space=\"shared::cta\"} by every thread that wrote, before the barrier; or by "
        "the threads of the warpgroup, after the barrier.",
    .decided =
        "On every path, for the bytes of a buffer that paths tell apart, and in the "
        "abstract execution; the rest in a run ahead or a run.",
    .wrong = R"(k:st_shared_v4_b32(to_b, words)
k:bar_sync(0)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
    .right = R"(k:st_shared_v4_b32(to_b, words)
k:fence_proxy_async{space="shared::cta"}
k:bar_sync(0)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

constexpr Rule WG_PROXY_02{
    .id = "WG-PROXY-02",
    .severity = warning,
    .property = Property::proxies,
    .found_by = ahead | run,
    .title = "a missing proxy fence after a read",
    .law =
        "Between a generic-proxy read of shared memory and a bulk copy that overwrites it stands a "
        "fence.proxy.async.",
    .section = "9.7.15.4",
    .why =
        "The barrier orders the read before the instruction that copies, not before what the copy engine "
        "does through the async proxy: by the ISA the read may take the new bytes. On an H200 none has been "
        "seen to, and kernels of CUTLASS have no such fence: this is a warning.",
    .fix =
        "k:fence_proxy_async{space=\"shared::cta\"} by every thread that reads, before it gives the memory "
        "back; or by the thread that copies, after it has waited for them.",
    .decided = "In runs ahead and in a run.",
    .wrong = R"(k:mbarrier_wait(full, 0)
local x = k:ld_shared_f32(mine)
k:bar_sync(0)
k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
k:mbarrier_wait(full, 1))",
    .right = R"(k:mbarrier_wait(full, 0)
local x = k:ld_shared_f32(mine)
k:fence_proxy_async{space="shared::cta"}
k:bar_sync(0)
k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
k:mbarrier_wait(full, 1))"};

constexpr Rule WG_PROXY_03{
    .id = "WG-PROXY-03",
    .severity = error,
    .property = Property::proxies,
    .found_by = ahead | run,
    .title = "a missing proxy fence of global memory",
    .law =
        "Between a generic-proxy write to global memory and a bulk copy that reads, overwrites or reduces "
        "it stands a fence.proxy.async of global memory, and between a change of a tensor map and a copy "
        "through it one fence.proxy.tensormap that releases and one that acquires.",
    .section = "9.7.13.4",
    .why =
        "The copy engine goes through the async proxy. A barrier alone does not make st.global or red "
        "visible there: the copy may bring old bytes. The other way round the wait is the fence: what a "
        "copy has written may be read after cp.async.bulk.wait_group without .read.",
    .fix =
        "k:fence_proxy_async() or k:fence_proxy_async{space=\"global\"} by every thread that wrote, before "
        "the barrier; or by the thread that copies, after it. One with space = \"shared::cta\" is about "
        "shared memory alone.",
    .decided =
        "Of tensor maps on every path of a thread, and in a run, also of maps that a launch before has "
        "changed, or that plain stores have brought to memory: a release comes after the last write, and the "
        "acquire after that. The rest in runs ahead and in a run, also between clusters: the fence comes "
        "after the write and before the copy, whichever thread executes it.",
    .wrong = R"(k:st_global_f32(k:element(X, thread), value)
k:fence_proxy_async{space="shared::cta"}
k:bar_sync(0)
k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
k:mbarrier_wait(full, 0))",
    .right = R"(k:st_global_f32(k:element(X, thread), value)
k:fence_proxy_async{space="global"}
k:bar_sync(0)
k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
k:mbarrier_wait(full, 0))"};

// --- RACE ---------------------------------------------------------------------------------------
constexpr Rule WG_RACE_01{
    .id = "WG-RACE-01",
    .severity = error,
    .property = Property::shared_races,
    .found_by = check | run,
    .counts_threads = true,
    .title = "a race in shared memory",
    .law =
        "Between a write to shared memory by one thread and an access to it by another, or by a wgmma, "
        "stands a barrier.",
    .section = "8.7.1",
    .why =
        "Warps run at their own speed. Without the barrier a slow warp may not have written what another "
        "reads, even in the same warpgroup, or may still read what another overwrites. So do the lanes of a "
        "warp: shfl.sync and its like order no memory.",
    .fix =
        "k:bar_sync(0), or a named barrier of the threads involved, after the one access and before the "
        "other; between lanes of one warp k:bar_warp_sync() is enough.",
    .decided =
        "On paths, where no barrier at all stands between a write and a read by others; in "
        "runs ahead and in a run by the byte and the lane. A run finds each pair whose order "
        "its clocks do not know, whatever the schedule was; paths that no launch takes are "
        "not seen.",
    .wrong = R"(k:st_shared_v4_b32(to_b, words)
k:fence_proxy_async{space="shared::cta"}
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
    .right = R"(k:st_shared_v4_b32(to_b, words)
k:fence_proxy_async{space="shared::cta"}
k:bar_sync(0)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

constexpr Rule WG_RACE_02{
    .id = "WG-RACE-02",
    .severity = error,
    .property = Property::shared_races,
    .found_by = check | run,
    .counts_threads = true,
    .title = "a tile overwritten under a wgmma",
    .law =
        "A tile is overwritten only after every wgmma that reads it is waited for, in every warpgroup that "
        "reads it.",
    .section = "9.7.15.7.3",
    .why =
        "The wgmma may still read the tile and multiply the new elements. wgmma.wait_group in a warp covers "
        "what its warpgroup reads (docs/silicon.md), and nothing of another warpgroup: where several read "
        "the tile, a barrier has to follow.",
    .fix =
        "k:wgmma_wait_group(N) that covers the wgmma, and k:bar_sync(0) where others write, before the "
        "write.",
    .decided = "In the abstract execution, where stages and phases are known; in runs ahead and in a run.",
    .wrong = R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:st_shared_v4_b32(to_b, words)
k:wgmma_wait_group(0))",
    .right = R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0)
k:bar_sync(0)
k:st_shared_v4_b32(to_b, words))"};

constexpr Rule WG_RACE_03{
    .id = "WG-RACE-03",
    .severity = error,
    .property = Property::shared_races,
    .found_by = ahead | run,
    .counts_threads = true,
    .title = "a tile overwritten under a bulk copy",
    .law =
        "The source of a bulk copy to global memory is overwritten only after the thread that issued the "
        "copy has waited for its group, and a barrier.",
    .section = "9.7.9.25.6",
    .why =
        "The copy engine reads shared memory later: it would copy the new bytes. Groups belong to the "
        "thread that issued and committed; in another thread the wait does nothing.",
    .fix =
        "k:cp_async_bulk_commit_group() and k:cp_async_bulk_wait_group(0, {read=true}) by the same thread, "
        "then a barrier, then the write.",
    .decided = "In runs ahead and in a run.",
    .wrong = R"(k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, tile, {guard=first})
k:cp_async_bulk_commit_group{guard=first}
k:bar_sync(0)
k:st_shared_f32(mine, 2)
k:cp_async_bulk_wait_group(0))",
    .right = R"(k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, tile, {guard=first})
k:cp_async_bulk_commit_group{guard=first}
k:cp_async_bulk_wait_group(0, {read=true})
k:bar_sync(0)
k:st_shared_f32(mine, 2))"};

constexpr Rule WG_RACE_04{
    .id = "WG-RACE-04",
    .severity = error,
    .property = Property::global_races,
    .found_by = ahead | run,
    .counts_threads = true,
    .title = "a race in global memory",
    .law =
        "Two threads do not access one place in global memory, one of them writing, unless a barrier of "
        "their CTA or cluster or a release and an acquire stand between, or both are atomic or strong, in "
        "scopes that hold the other, through one proxy.",
    .section = "8.7.1",
    .why =
        "CTAs of a launch run in any order, and warps at their own speed: what is there in the end, or is "
        "read, depends on who comes first. A copy from shared memory has written when "
        "cp.async.bulk.wait_group says so without .read. What atom and red do, and the reducing copies, are "
        "two proxies. CTAs that write a constant of the program, or a number of the launch, do no harm where "
        "they write the same; data may be equal by chance.",
    .fix =
        "Give each CTA and each thread elements of its own; combine sums with red or atom; leave what other "
        "CTAs write to the next launch.",
    .decided =
        "In runs ahead of launches, of 64 clusters and more only in a run. Other kernels and "
        "the host are not seen. Equal values are no race where they cannot be others: constants and numbers "
        "of the launch, and between clusters that do the same, since none asks which it is. CTAs that hand "
        "values over, by "
        "flags or by atomics that acquire, are compared access by access: those that others may read late "
        "run late, so that one schedule shows "
        "what is read too early or overwritten too early. CTAs that learn nothing from each other, since "
        "nothing "
        "acquires, are in no order: of each, one access of each kind to a word counts.",
    .wrong = R"(local cta = k:special "ctaid.x"
local value = k:cvt_rn_f32_u32(cta)
local place = k:element(X, thread)
k:st_global_f32(place, value))",
    .right = R"(local cta = k:special "ctaid.x"
local value = k:cvt_rn_f32_u32(cta)
local place = k:element(X, cta * 128 + thread)
k:st_global_f32(place, value))"};

constexpr Rule WG_RACE_05{
    .id = "WG-RACE-05",
    .severity = error,
    .property = Property::global_races,
    .found_by = ahead | run,
    .counts_threads = true,
    .title = "memory of the launch before, without a wait",
    .law =
        "A launch that may begin before the previous one has ended executes griddepcontrol.wait before it "
        "accesses what the previous launch writes, and before it writes what that launch reads after "
        "griddepcontrol.launch_dependents.",
    .section = "9.7.13.13",
    .why =
        "griddepcontrol.launch_dependents lets the next launch begin, and promises nothing about memory: it "
        "reads what was there before, or its values are overwritten.",
    .fix = "k:griddepcontrol_wait() before the access; only what no launch in flight touches may come first.",
    .decided =
        "Without a run accesses before griddepcontrol.wait to what is accessed behind it, and in PTX of "
        "compilers a kernel that lets others begin and never waits (warnings); in a run launches that were "
        "started and not waited for.",
    .wrong = R"(-- the launch before writes X and executes griddepcontrol.launch_dependents
local at = k:element(X, thread)
local x = k:ld_global_f32(at)
k:griddepcontrol_wait()
k:st_global_f32(at, x + 1.0))",
    .right = R"(-- the launch before writes X and executes griddepcontrol.launch_dependents
local at = k:element(X, thread)
k:griddepcontrol_wait()
local x = k:ld_global_f32(at)
k:st_global_f32(at, x + 1.0))"};

}  // namespace wgrun::rules
