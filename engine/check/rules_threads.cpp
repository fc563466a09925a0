// Rules of threads: their registers, and what they do together.
#include "check/rules.hpp"

namespace wgrun::check {

namespace {

using enum Severity;

constexpr Rule rows[] = {
    // --- ASM ----------------------------------------------------------------------------------------
    Rule{"WG-ASM-01", warning, "Inline PTX declares what it does besides writing its operands.", "4.3",
         "The checker reads no text. Without a declaration it does not know whether the text touches memory, "
         "synchronises "
         "threads or orders what they do, and nothing that follows from that is checked.",
         "effects = \"none\", or some of \"reads\", \"writes\" and \"barrier\".",
         R"(local x = k:special "tid.x"
local d = k:asm {
  "brev.b32 %d, %a;", out = { d = "u32" }, inputs = { a = x },
  meaning = function(k, v) return v.a end,
})",
         R"(local x = k:special "tid.x"
local d = k:asm {
  "brev.b32 %d, %a;", out = { d = "u32" }, inputs = { a = x }, effects = "none",
  meaning = function(k, v) return v.a end,
})"},
    // --- LUA ----------------------------------------------------------------------------------------
    Rule{"WG-LUA-01", error,
         "A register is no condition of Lua: what depends on its value is decided by the kernel.", "9.7.6.2",
         "The script runs once, while the kernel is traced, and a register has no value then. Lua takes it "
         "for true, and "
         "never for equal to a number, so that one branch is traced always and the other never.",
         "A comparison of the kernel gives a predicate: i:eq(5). It goes into k:if_, k:while_, k:selp and "
         "guards; "
         "predicates are combined by &, | and ~.",
         R"(local i, x = k:special "tid.x", k:reg "u32"
if i == 5 then k:mov(x, 1) end
local p = i:lt(5)
if p then k:mov(x, 2) end)",
         R"(local i, x = k:special "tid.x", k:reg "u32"
k:if_(i:eq(5), function() k:mov(x, 1) end)
local p = i:lt(5)
k:if_(p, function() k:mov(x, 2) end))"},
    // --- REG ----------------------------------------------------------------------------------------
    Rule{"WG-REG-01", error, "A register is written before it is read.", "5.1.1",
         "An unwritten register holds anything. A wgmma with scale-d 1 adds to what its accumulators hold.",
         "Write it first; for the first wgmma of an accumulator scale_d = 0 does.",
         R"(local acc = k:regs("f32", 32)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
         R"(local acc = k:regs("f32", 32)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"},
    Rule{"WG-REG-02", error,
         "setmaxnreg.inc asks for no fewer and setmaxnreg.dec for no more registers than the warp has, and "
         "all warps together for no more than the CTA entered with.",
         "9.7.19.5",
         "The other direction is undefined, and where too few are free setmaxnreg.inc waits for ever. A "
         "thread enters the kernel with its share of the 65536 registers, in units of 8: 168 of them with "
         "384 threads.",
         "dec in the warpgroups that need less, inc in those that need more.",
         R"(-- threads = 384: each enters with 168 registers
local group = k:special "tid.x" >> 7
k:if_(group:eq(0), function() k:setmaxnreg_dec(40) end)
k:if_(group:gt(0), function() k:setmaxnreg_dec(232) end))",
         R"(-- threads = 384: each enters with 168 registers
local group = k:special "tid.x" >> 7
k:if_(group:eq(0), function() k:setmaxnreg_dec(40) end)
k:if_(group:gt(0), function() k:setmaxnreg_inc(232) end))"},
    Rule{"WG-REG-03", error, "Between two setmaxnreg of a warpgroup its four warps synchronise.", "9.7.19.5",
         "The warps of a warpgroup change their registers one by one. One that asks again before the others "
         "have followed is undefined.",
         "k:bar_sync(id, {threads=128}) of the warpgroup between the two.",
         R"(-- threads = 128
k:setmaxnreg_dec(40)
local x = k:mov(1, {type = "u32"})
k:setmaxnreg_inc(64))",
         R"(-- threads = 128
k:setmaxnreg_dec(40)
k:bar_sync(1, {threads=128})
k:setmaxnreg_inc(64))"},
    Rule{"WG-REG-04", warning,
         "The values that are alive at a wgmma fit into the registers of its threads, and 26 are left "
         "besides its own.",
         "9.7.15.2",
         "A thread has 255 registers at most, what a CTA of so many threads leaves it, or what setmaxnreg "
         "gives it. Where its values need more, the assembler spills some of them, waits for each wgmma "
         "(C7511, C7512), or ignores setmaxnreg (C7507). Fewer than the accumulators and fragments of one "
         "wgmma and 26 it refuses (C7602).",
         "A smaller N, fewer values at a time, or more registers for the warpgroup that multiplies.",
         R"(local upper, lower = k:regs("f32", 128), k:regs("f32", 128)
local form = {n=256, k=16, d="f32", a="bf16", b="bf16", scale_d=0}
k:wgmma_fence()
k:wgmma_mma_async(upper, da, db, form)
k:wgmma_mma_async(lower, da, db, form)
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
         R"(local upper, lower = k:regs("f32", 96), k:regs("f32", 96)
local form = {n=192, k=16, d="f32", a="bf16", b="bf16", scale_d=0}
k:wgmma_fence()
k:wgmma_mma_async(upper, da, db, form)
k:wgmma_mma_async(lower, da, db, form)
k:wgmma_commit_group()
k:wgmma_wait_group(0))"},
    // --- SYNC ---------------------------------------------------------------------------------------
    Rule{"WG-SYNC-01", error,
         "An .aligned instruction is executed by all threads of the warp or warpgroup together: the "
         "conditions around it are the same for all of them.",
         "9.7.15.7.1",
         "Where some threads go another way, the behaviour is undefined: wrong results, or a kernel that "
         "hangs.",
         "Branch on a value that is the same in the whole group (tid.x >> 7 for a warpgroup), and guard "
         "single accesses instead of the code around them.",
         R"(local tid = k:special "tid.x"
k:if_(tid:eq(0), function()
  k:wgmma_fence()
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end))",
         R"(local tid = k:special "tid.x"
k:if_((tid >> 7):eq(0), function()
  k:wgmma_fence()
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end))"},
    Rule{"WG-SYNC-02", error,
         "As many threads arrive at a barrier as it waits for, and the number is the same for all of them.",
         "9.7.13.1",
         "If too few arrive, all of them wait for ever; if the numbers differ, nobody knows when it opens.",
         "Count the threads that execute the barrier, in whole warps, and give that number everywhere.",
         R"(-- threads = 256; only the first warpgroup comes here
local tid = k:special "tid.x"
k:if_(tid:lt(128), function()
  k:bar_sync(1, {threads=256})
end))",
         R"(-- threads = 256; only the first warpgroup comes here
local tid = k:special "tid.x"
k:if_(tid:lt(128), function()
  k:bar_sync(1, {threads=128})
end))"},
    Rule{"WG-SYNC-03", error,
         "A wgmma is executed by whole warpgroups: four neighbouring warps, the first a multiple of 4.",
         "9.7.15.1",
         "With fewer warps nobody holds the rest of the accumulators and of A: the behaviour is undefined, "
         "though the assembler accepts it.",
         "threads = a multiple of 128.",
         R"(-- threads = 64
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
         R"(-- threads = 128
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"},
    Rule{"WG-SYNC-04", error, "Each warp arrives at the barrier of the cluster and waits for it in turn.",
         "9.7.13.3",
         "Two arrivals without a wait, or a wait without an arrival, are undefined: the barrier opens too "
         "early or never.",
         "k:barrier_cluster_arrive(), work that needs no order, k:barrier_cluster_wait().",
         R"(-- cluster = 2
k:barrier_cluster_arrive()
k:barrier_cluster_arrive()
k:barrier_cluster_wait()
k:barrier_cluster_wait())",
         R"(-- cluster = 2
k:barrier_cluster_arrive()
k:barrier_cluster_wait()
k:barrier_cluster_arrive()
k:barrier_cluster_wait())"},
    Rule{"WG-SYNC-05", error,
         "Another CTA's shared memory is accessed through shared::cluster, at an address of mapa with a rank "
         "of the cluster, while that CTA runs.",
         "9.7.9.23",
         "A CTA that has ended gives its shared memory to the next one: the access hits a stranger, or the "
         "launch fails.",
         "A barrier of the cluster after the last access (also arrivals at its mbarriers, and multicasts) "
         "and before any of the CTAs ends.",
         R"(local mine = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
k:st_shared_u32(mine, 1)
k:barrier_cluster_arrive()
k:barrier_cluster_wait()
local theirs = k:mapa(mine, k:special "cluster_ctarank" ~ 1)
local x = k:ld_u32(theirs, {space="shared::cluster"}))",
         R"(local mine = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
k:st_shared_u32(mine, 1)
k:barrier_cluster_arrive()
k:barrier_cluster_wait()
local theirs = k:mapa(mine, k:special "cluster_ctarank" ~ 1)
local x = k:ld_u32(theirs, {space="shared::cluster"})
k:barrier_cluster_arrive()
k:barrier_cluster_wait())"},
    Rule{"WG-SYNC-06", error, "A thread that looks at memory until it changes finds the change.", "8.9",
         "When nobody is left who could write the value, the loop has no end: the kernel hangs.",
         "Let a thread write the value on every way through the kernel, and compare with what it writes.",
         R"(k:if_(k:special "tid.x":eq(32), function()
  k:st_release_cta_shared_u32(flag, 2)
end)
k:if_(k:special "tid.x":eq(0), function()
  k:while_(function() return k:ld_acquire_cta_shared_u32(flag):ne(1) end, function() end)
end))",
         R"(k:if_(k:special "tid.x":eq(32), function()
  k:st_release_cta_shared_u32(flag, 1)
end)
k:if_(k:special "tid.x":eq(0), function()
  k:while_(function() return k:ld_acquire_cta_shared_u32(flag):ne(1) end, function() end)
end))"},
};

}  // namespace

std::span<const Rule> threads_rules() { return rows; }

}  // namespace wgrun::check
