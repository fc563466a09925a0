// Rules of threads: their registers, and what they do together.
#include "wgrun/rules.hpp"

namespace wgrun::rules {

using enum Severity;
using enum Finder;

// --- ASM ----------------------------------------------------------------------------------------
constexpr Rule WG_ASM_01{
    .id = "WG-ASM-01",
    .severity = warning,
    .found_by = check,
    .title = "inline PTX without effects",
    .law = "Inline PTX declares what it does besides writing its operands.",
    .section = "4.3",
    .why =
        "The checker reads no text. Without a declaration it does not know whether the text touches memory, "
        "synchronises "
        "threads or orders what they do, and nothing that follows from that is checked.",
    .fix = "effects = \"none\", or some of \"reads\", \"writes\" and \"barrier\".",
    .decided = "By its declaration, always. The text itself is read by nobody.",
    .wrong = R"(local x = k:special "tid.x"
local d = k:asm {
  "brev.b32 %d, %a;", out = { d = "u32" }, inputs = { a = x },
  meaning = function(k, v) return v.a end,
})",
    .right = R"(local x = k:special "tid.x"
local d = k:asm {
  "brev.b32 %d, %a;", out = { d = "u32" }, inputs = { a = x }, effects = "none",
  meaning = function(k, v) return v.a end,
})"};

constexpr Rule WG_ASM_02{
    .id = "WG-ASM-02",
    .severity = error,
    .found_by = check,
    .title = "inline PTX that hides an access",
    .law = "Inline PTX that accesses memory or synchronises does not declare that it has no effects.",
    .section = "4.3",
    .why =
        "With effects = \"none\" the CUDA C++ of the kernel has an asm statement without volatile and "
        "without a "
        "memory clobber: the compiler may drop it, repeat it, or move other accesses across it.",
    .fix = "effects = \"reads\", \"writes\", \"barrier\" or a table of them.",
    .decided =
        "By what its `meaning` does. The text itself is read by nobody: a text that does more "
        "than its meaning is not found.",
    .wrong = R"(local x = k:special "tid.x"
k:asm {
  "st.shared.u32 [%a], %x;", inputs = { a = place, x = x }, effects = "none",
  meaning = function(k, v) k:st_shared_u32(v.a, v.x) end,
})",
    .right = R"(local x = k:special "tid.x"
k:asm {
  "st.shared.u32 [%a], %x;", inputs = { a = place, x = x }, effects = "writes",
  meaning = function(k, v) k:st_shared_u32(v.a, v.x) end,
})"};

constexpr Rule WG_ASM_03{
    .id = "WG-ASM-03",
    .severity = warning,
    .found_by = assembler,
    .title = "a known fault of the assembler",
    .law = "A kernel is assembled by a ptxas that is not known to get kernels of its shape wrong.",
    .section = "9.7.15.7.1",
    .why =
        "ptxas has had faults that change what a correct kernel computes. docs/assemblers.md lists those "
        "that "
        "are known, with the versions that have them; `wgrun doctor` says which of them the ptxas at hand "
        "has.",
    .fix = "assemble with a version of ptxas that is mended: the message names it.",
    .decided =
        "By the shape that the faults are known to need, with the ptxas that assembles (`check --assemble`). "
        "It does not show that the machine code is wrong.",
    .wrong = R"(-- ptxas 13.0
k:wgmma_fence()
k:wgmma_mma_async(acc, fragment, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(1))",
    .right = R"(-- ptxas 13.3, or
k:wgmma_fence()
k:wgmma_mma_async(acc, fragment, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

// --- LUA ----------------------------------------------------------------------------------------
constexpr Rule WG_LUA_01{
    .id = "WG-LUA-01",
    .severity = error,
    .found_by = script,
    .title = "a register as a condition of Lua",
    .law = "A register is no condition of Lua: what depends on its value is decided by the kernel.",
    .section = "9.7.6.2",
    .why =
        "The script runs once, while the kernel is traced, and a register has no value then. Lua takes it "
        "for true, and "
        "never for equal to a number, so that one branch is traced always and the other never.",
    .fix =
        "A comparison of the kernel gives a predicate: i:eq(5). It goes into k:if_, k:while_, k:selp and "
        "guards; "
        "predicates are combined by &, | and ~.",
    .decided = "By the call, always.",
    .wrong = R"(local i, x = k:special "tid.x", k:reg "u32"
if i == 5 then k:mov(x, 1) end
local p = i:lt(5)
if p then k:mov(x, 2) end)",
    .right = R"(local i, x = k:special "tid.x", k:reg "u32"
k:if_(i:eq(5), function() k:mov(x, 1) end)
local p = i:lt(5)
k:if_(p, function() k:mov(x, 2) end))"};

// --- REG ----------------------------------------------------------------------------------------
constexpr Rule WG_REG_01{
    .id = "WG-REG-01",
    .severity = error,
    .property = Property::initialisation,
    .found_by = check | run,
    .severity_override = SeverityOverride::once,
    .title = "a register that is not written",
    .law = "A register is written before it is read.",
    .section = "5.1.1",
    .why = "An unwritten register holds anything. A wgmma with scale-d 1 adds to what its accumulators hold.",
    .fix = "Write it first; for the first wgmma of an accumulator scale_d = 0 does.",
    .decided =
        "On every path: an error where no path writes it. In a run where the path that was "
        "taken does not.",
    .wrong = R"(local acc = k:regs("f32", 32)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
    .right = R"(local acc = k:regs("f32", 32)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

constexpr Rule WG_REG_02{
    .id = "WG-REG-02",
    .severity = error,
    .property = Property::register_pool,
    .found_by = check | run,
    .counts_threads = true,
    .severity_override = SeverityOverride::warning,
    .title = "setmaxnreg beyond the pool",
    .law =
        "setmaxnreg.inc asks for no fewer and setmaxnreg.dec for no more registers than the warp has, and "
        "all warps together for no more than the CTA entered with.",
    .section = "9.7.19.5",
    .why =
        "The other direction is undefined, and where too few are free setmaxnreg.inc waits for ever. A "
        "thread enters the kernel with its share of the 65536 registers, in units of 8: 168 of them with "
        "384 threads, or with what the largest setmaxnreg.inc asks for, if that is less.",
    .fix = "dec in the warpgroups that need less, inc in those that need more.",
    .decided =
        "In the abstract execution: where even the fewest registers that every other warp may reach "
        "leave too few; else in a run.",
    .wrong = R"(-- threads = 384: each enters with 168 registers
local group = k:special "tid.x" >> 7
k:if_(group:eq(0), function() k:setmaxnreg_dec(40) end)
k:if_(group:gt(0), function() k:setmaxnreg_dec(232) end))",
    .right = R"(-- threads = 384: each enters with 168 registers
local group = k:special "tid.x" >> 7
k:if_(group:eq(0), function() k:setmaxnreg_dec(40) end)
k:if_(group:gt(0), function() k:setmaxnreg_inc(232) end))"};

constexpr Rule WG_REG_03{
    .id = "WG-REG-03",
    .severity = error,
    .property = Property::register_pool,
    .found_by = check,
    .counts_threads = true,
    .title = "setmaxnreg twice without meeting",
    .law = "Between two setmaxnreg of a warpgroup its four warps synchronise.",
    .section = "9.7.19.5",
    .why =
        "The warps of a warpgroup change their registers one by one. One that asks again before the others "
        "have followed is undefined.",
    .fix = "k:bar_sync(id, {threads=128}) of the warpgroup between the two.",
    .decided = "In the abstract execution; else in a run.",
    .wrong = R"(-- threads = 128
k:setmaxnreg_dec(40)
local x = k:mov(1, {type = "u32"})
k:setmaxnreg_inc(64))",
    .right = R"(-- threads = 128
k:setmaxnreg_dec(40)
k:bar_sync(1, {threads=128})
k:setmaxnreg_inc(64))"};

constexpr Rule WG_REG_04{
    .id = "WG-REG-04",
    .severity = warning,
    .found_by = check,
    .counts_threads = true,
    .severity_override = SeverityOverride::once,
    .title = "too many values alive at a wgmma",
    .law =
        "The values that are alive at a wgmma fit into the registers of its threads, and 26 are left "
        "besides its own.",
    .section = "9.7.15.2",
    .why =
        "A thread has 255 registers at most, what a CTA of so many threads leaves it, or what setmaxnreg "
        "gives it. Where its values need more, the assembler spills some of them, waits for each wgmma "
        "(C7511, C7512), or ignores setmaxnreg (C7507). Fewer than the accumulators and fragments of one "
        "wgmma and 26 it refuses (C7602): that is an error where no setmaxnreg gives others.",
    .fix = "A smaller N, fewer values at a time, or more registers for the warpgroup that multiplies.",
    .decided =
        "On every path, by an estimate of the registers that are alive; ptxas decides (`check "
        "--assemble`).",
    .wrong = R"(local upper, lower = k:regs("f32", 128), k:regs("f32", 128)
local form = {n=256, k=16, d="f32", a="bf16", b="bf16", scale_d=0}
k:wgmma_fence()
k:wgmma_mma_async(upper, da, db, form)
k:wgmma_mma_async(lower, da, db, form)
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
    .right = R"(local upper, lower = k:regs("f32", 96), k:regs("f32", 96)
local form = {n=192, k=16, d="f32", a="bf16", b="bf16", scale_d=0}
k:wgmma_fence()
k:wgmma_mma_async(upper, da, db, form)
k:wgmma_mma_async(lower, da, db, form)
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

constexpr Rule WG_REG_05{
    .id = "WG-REG-05",
    .severity = error,
    .property = Property::bounds,
    .found_by = check | run,
    .counts_threads = true,
    .severity_override = SeverityOverride::warning,
    .title = "an integer division by zero",
    .law = "The divisor of an integer division or remainder is not zero, unless selp alone reads the result.",
    .section = "9.7.1.8",
    .why =
        "The result is unspecified and differs between machines. Nothing traps: the kernel goes on with it.",
    .fix = "Compare the divisor with 0 before, or choose another result with selp where it is 0.",
    .decided =
        "On every path where the divisor is known; else in runs ahead and in a run. Which arguments a "
        "launch may have `kernel:sizes` says.",
    .wrong = R"(local thread = k:special "tid.x"
local share = k:div_u32(1024, thread)   -- thread 0
local value = k:cvt_rn_f32_u32(share)
k:st_global_f32(k:element(X, thread), value))",
    .right = R"(local thread = k:special "tid.x"
local share = k:div_u32(1024, thread + 1)
local value = k:cvt_rn_f32_u32(share)
k:st_global_f32(k:element(X, thread), value))"};

// --- SYNC ---------------------------------------------------------------------------------------
constexpr Rule WG_SYNC_01{
    .id = "WG-SYNC-01",
    .severity = error,
    .property = Property::convergence,
    .found_by = check | run,
    .counts_threads = true,
    .title = "an aligned instruction in a divergent branch",
    .law =
        "An .aligned instruction is executed by all threads of the warp or warpgroup together: the "
        "conditions around it, taken together, let all of them through, or none.",
    .section = "9.7.15.7.1",
    .why =
        "Where some threads go another way, the behaviour is undefined: wrong results, or a kernel that "
        "hangs.",
    .fix =
        "Branch on a value that is the same in the whole group (tid.x >> 7 for a warpgroup), and guard "
        "single accesses instead of the code around them.",
    .decided =
        "Without a run where the condition is known to depend on the lane or the warp; in a "
        "run by the lanes that come. A condition that is the same by chance in all that runs "
        "is not found.",
    .wrong = R"(local tid = k:special "tid.x"
k:if_(tid:eq(0), function()
  k:wgmma_fence()
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end))",
    .right = R"(local tid = k:special "tid.x"
k:if_((tid >> 7):eq(0), function()
  k:wgmma_fence()
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end))"};

constexpr Rule WG_SYNC_02{
    .id = "WG-SYNC-02",
    .severity = error,
    .property = Property::deadlock,
    .found_by = check | run,
    .counts_threads = true,
    .title = "a barrier that does not complete",
    .law = "As many threads arrive at a barrier as it waits for, and the number is the same for all of them.",
    .section = "9.7.13.1",
    .why =
        "If too few arrive, all of them wait for ever; if the numbers differ, nobody knows when it opens. "
        "Without a number a barrier waits for all threads that have not ended.",
    .fix = "Count the threads that execute the barrier, in whole warps, and give that number everywhere.",
    .decided = "In the abstract execution, where ids, counts and conditions are known; else in a run.",
    .wrong = R"(-- threads = 256; only the first warpgroup comes here
local tid = k:special "tid.x"
k:if_(tid:lt(128), function()
  k:bar_sync(1, {threads=256})
end))",
    .right = R"(-- threads = 256; only the first warpgroup comes here
local tid = k:special "tid.x"
k:if_(tid:lt(128), function()
  k:bar_sync(1, {threads=128})
end))"};

constexpr Rule WG_SYNC_03{
    .id = "WG-SYNC-03",
    .severity = error,
    .property = Property::convergence,
    .found_by = check | run,
    .counts_threads = true,
    .title = "no whole warpgroup",
    .law = "A wgmma is executed by whole warpgroups: four neighbouring warps, the first a multiple of 4.",
    .section = "9.7.15.1",
    .why =
        "With fewer warps nobody holds the rest of the accumulators and of A: the behaviour is undefined, "
        "though the assembler accepts it.",
    .fix = "threads = a multiple of 128.",
    .decided = "By the number of threads, always; the branch around it in the abstract execution or a run.",
    .wrong = R"(-- threads = 64
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
    .right = R"(-- threads = 128
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

constexpr Rule WG_SYNC_04{
    .id = "WG-SYNC-04",
    .severity = error,
    .property = Property::deadlock,
    .found_by = check | run,
    .counts_threads = true,
    .title = "the cluster's barrier out of turn",
    .law = "Each warp arrives at the barrier of the cluster and waits for it in turn.",
    .section = "9.7.13.3",
    .why =
        "Two arrivals without a wait, or a wait without an arrival, are undefined: the barrier opens too "
        "early or never.",
    .fix = "k:barrier_cluster_arrive(), work that needs no order, k:barrier_cluster_wait().",
    .decided = "In the abstract execution, where conditions are known; else in a run.",
    .wrong = R"(-- cluster = 2
k:barrier_cluster_arrive()
k:barrier_cluster_arrive()
k:barrier_cluster_wait()
k:barrier_cluster_wait())",
    .right = R"(-- cluster = 2
k:barrier_cluster_arrive()
k:barrier_cluster_wait()
k:barrier_cluster_arrive()
k:barrier_cluster_wait())"};

constexpr Rule WG_SYNC_05{
    .id = "WG-SYNC-05",
    .severity = error,
    .property = Property::cluster_end,
    .found_by = check | run,
    .counts_threads = true,
    .title = "another CTA's shared memory",
    .law =
        "Another CTA's shared memory is accessed through shared::cluster, at an address of mapa with a rank "
        "of the cluster, while that CTA runs; st.async, red.async and bulk copies between CTAs are for "
        "kernels with clusters.",
    .section = "9.7.9.23",
    .why =
        "A CTA that has ended gives its shared memory to the next one, and one that has not begun has none: "
        "the access hits a stranger, or the launch fails. Where there are no clusters, st.async is an "
        "illegal instruction (docs/silicon.md).",
    .fix =
        "A barrier of the cluster before the first access, and one after the last (also arrivals at its "
        "mbarriers, and multicasts) and before any of the CTAs ends.",
    .decided =
        "In the abstract execution, where ranks and addresses are known; else in a run. Whether a CTA "
        "may have ended is decided for the order that waits give, in any schedule; whether it has begun, in "
        "runs ahead and in a run.",
    .wrong = R"(local mine = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
k:st_shared_u32(mine, 1)
k:barrier_cluster_arrive()
k:barrier_cluster_wait()
local theirs = k:mapa(mine, k:special "cluster_ctarank" ~ 1)
local x = k:ld_u32(theirs, {space="shared::cluster"}))",
    .right = R"(local mine = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
k:st_shared_u32(mine, 1)
k:barrier_cluster_arrive()
k:barrier_cluster_wait()
local theirs = k:mapa(mine, k:special "cluster_ctarank" ~ 1)
local x = k:ld_u32(theirs, {space="shared::cluster"})
k:barrier_cluster_arrive()
k:barrier_cluster_wait())"};

constexpr Rule WG_SYNC_06{
    .id = "WG-SYNC-06",
    .severity = error,
    .property = Property::deadlock,
    .found_by = run,
    .counts_threads = true,
    .title = "a wait for memory that nobody writes",
    .law =
        "A thread that looks at memory until it changes finds the change. CTAs that wait for each other have "
        "room on the chip at the same time.",
    .section = "8.9",
    .why =
        "When nobody is left who could write the value, the loop has no end: the kernel hangs. A CTA that "
        "has no room begins when another one ends.",
    .fix =
        "Let a thread write the value on every way through the kernel, and compare with what it writes. Take "
        "the size of a grid whose CTAs wait for each other from the device, or launch it cooperatively.",
    .decided =
        "In a run alone: nothing is known of memory before it. The room is that of an H200's 132 SMs, or as "
        "many as --sms says; registers do not count.",
    .wrong = R"(k:if_(k:special "tid.x":eq(32), function()
  k:st_release_cta_shared_u32(flag, 2)
end)
k:if_(k:special "tid.x":eq(0), function()
  k:while_(function() return k:ld_acquire_cta_shared_u32(flag):ne(1) end, function() end)
end))",
    .right = R"(k:if_(k:special "tid.x":eq(32), function()
  k:st_release_cta_shared_u32(flag, 1)
end)
k:if_(k:special "tid.x":eq(0), function()
  k:while_(function() return k:ld_acquire_cta_shared_u32(flag):ne(1) end, function() end)
end))"};

constexpr Rule WG_SYNC_07{
    .id = "WG-SYNC-07",
    .severity = error,
    .property = Property::deadlock,
    .found_by = check | ahead | run,
    .counts_threads = true,
    .title = "a loop without an end",
    .law = "Every loop of a kernel ends.",
    .section = "9.7.12.3",
    .why =
        "A warp whose registers are what they were some turns ago, and that has looked at nothing else "
        "meanwhile, goes on like that for ever: the kernel hangs. One that has gone round loops 8 million "
        "times is taken to do so, where neither steps nor time of the launch are limited.",
    .fix = "Let the body change what the condition looks at.",
    .decided =
        "Statically where no exit can be taken, whatever the values are: u >= 0 of an unsigned number, a "
        "step of 0, steps of 2 from an odd number to an even one. Others in runs ahead and in a run: where "
        "the registers of a warp have the values of an earlier turn again, or after 8 million turns. No "
        "proof shows that a loop ends with all sizes.",
    .wrong = R"(local n = k:mov(8, { type = "u32" })
k:while_(function() return n:gt(0) end, function()
  local half = n >> 1   -- and n stays what it is
end))",
    .right = R"(local n = k:mov(8, { type = "u32" })
k:while_(function() return n:gt(0) end, function()
  n:set(n >> 1)
end))"};

constexpr Rule WG_SYNC_08{
    .id = "WG-SYNC-08",
    .severity = error,
    .property = Property::convergence,
    .found_by = check | ahead | run,
    .counts_threads = true,
    .title = "a membermask that names other lanes",
    .law =
        "The membermask of a lane that executes shfl, vote, match, redux, elect or bar.warp.sync names it, "
        "and all that it names execute the step with the same membermask. A shfl reads no lane but these.",
    .section = "9.7.13.2",
    .why = "The lanes wait for one that does not come, or get values of lanes that take no part.",
    .fix =
        "membermask = the lanes of the branch, from vote.ballot before it; or move the step out of the "
        "branch.",
    .decided =
        "Without a run where the lanes and the mask are known; which lane a shfl reads, in runs ahead of "
        "launches. Else in a run.",
    .wrong = R"(local lane = k:special "laneid"
k:if_(lane:lt(16), function()
  local sum = k:redux_sync_add_u32(lane)
end))",
    .right = R"(local lane = k:special "laneid"
k:if_(lane:lt(16), function()
  local sum = k:redux_sync_add_u32(lane, { membermask = 0xFFFF })
end))"};

// --- TRAP ---------------------------------------------------------------------------------------
constexpr Rule WG_TRAP_01{.id = "WG-TRAP-01",
                          .severity = error,
                          .found_by = ahead | run,
                          .title = "a trap, or an assertion that fails",
                          .law = "No thread of a kernel executes trap, and its assertions hold.",
                          .section = "9.7.19.3",
                          .why = "A trap ends the launch, and what the kernel has written is of no use.",
                          .fix =
                              "Look at the values in the message: the launch's arguments may be other "
                              "than the kernel expects.",
                          .decided =
                              "In runs ahead, where no placeholder decides; else in "
                              "a run.",
                          .wrong = R"(local n = k:mov(100, { type = "u32" })
local x = k:special "tid.x"
local i = k:mad_lo_u32(n, 64, x)
k:assert(i:lt(4096), "i = %u", i))",
                          .right = R"(local n = k:mov(10, { type = "u32" })
local x = k:special "tid.x"
local i = k:mad_lo_u32(n, 64, x)
k:assert(i:lt(4096), "i = %u", i))"};

}  // namespace wgrun::rules
