// Rules of speed: what the assembler notes.
#include "check/rules.hpp"

namespace wgrun::check {

namespace {

using enum Severity;

constexpr Rule rows[] = {
    // --- PERF ---------------------------------------------------------------------------------------
    Rule{"WG-PERF-01", warning, "The wgmma of a kernel overlap: the assembler does not serialise them.",
         "9.7.15.7.1",
         "Where ptxas cannot keep the order of registers in any other way, or runs out of them, it waits "
         "after every single wgmma: the kernel stays right and may take several times as long. Its notes "
         "C7509 to C7516, C7518 and C7520 say why.",
         "fence, wgmma, commit and wait in one straight line or one loop body, accumulators that fit, and no "
         "access to them before the wait.",
         R"(local group = k:special "tid.x" >> 7
k:if_(group:eq(0), function() k:wgmma_fence() end, function() k:wgmma_fence() end)
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
         R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"},
    Rule{"WG-PERF-02", note,
         "The assembler adds no wgmma.fence and no wgmma.wait_group: those of the script are where it needs "
         "them.",
         "9.7.15.7.1",
         "ptxas follows registers only along the paths that it sees, and puts a fence (C7519) or a wait "
         "(C7517) of its own where it cannot see that of the script. An added wait stops the overlap of the "
         "wgmma.",
         "one fence right before the first wgmma and one wait right before the accumulators are used, "
         "outside of branches.",
         R"(local block = k:special "ctaid.x"
k:if_(block:eq(0), function() k:wgmma_fence() end, function() k:wgmma_fence() end)
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
         R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"},
    Rule{"WG-PERF-03", warning, "The assembler honours setmaxnreg.", "9.7.19.5",
         "ptxas ignores every setmaxnreg of a kernel (C7504 to C7508) if one of the roles would be left with "
         "fewer registers than it needs, or if it does not know how many a thread enters with. Then all "
         "warps keep what they entered with, and those with large accumulators spill.",
         "ask for as many registers as the code after setmaxnreg needs, in units of 8.",
         R"(-- threads = 384: each enters with 168 registers
k:setmaxnreg_dec(136)
local big = k:regs("f32", 128)
k:wgmma_fence()
k:wgmma_mma_async(big, da, dw, {n=256, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
         R"(-- threads = 384: each enters with 168 registers
k:setmaxnreg_dec(160)
local big = k:regs("f32", 128)
k:wgmma_fence()
k:wgmma_mma_async(big, da, dw, {n=256, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"},
    Rule{"WG-PERF-04", warning, "The values of a thread fit into its registers: none is spilled.", "5.1.1",
         "A value that finds no register is kept in local memory, which lies in global memory: every use of "
         "it costs a load through the caches.",
         "fewer values at a time: smaller accumulators, fewer loads under way, fewer threads a CTA, "
         "setmaxnreg for the role that needs more.",
         R"(-- threads = 512: 128 registers each
local at, v = k:element(X, k:special "tid.x"), {}
for i = 0, 299 do v[i] = k:ld_global_f32(at, {offset=2048*i}) end
for i = 0, 299 do k:st_global_f32(at, v[i], {offset=2048*(299-i)}) end)",
         R"(-- threads = 512: 128 registers each
local at, v = k:element(X, k:special "tid.x"), {}
for i = 0, 49 do v[i] = k:ld_global_f32(at, {offset=2048*i}) end
for i = 0, 49 do k:st_global_f32(at, v[i], {offset=2048*(49-i)}) end)"},
    Rule{"WG-PERF-05", note,
         "The lanes of a warp that shared memory serves together access different banks, or one word.",
         "5.1.7",
         "There are 32 banks of 4 bytes, and a bank serves one word at a time: lanes that want different "
         "words of one bank wait for each other. Told with wgrun check --perf, where the addresses follow "
         "from the thread index.",
         "neighbouring lanes take neighbouring words; for columns of a matrix a swizzled tile, or lines that "
         "are no multiple of 128 bytes long.",
         R"(local S = k:shared{bytes=4096, name="S"}
local address = k:mad_lo_u32(k:special "tid.x", 32, k:mov(S, {type="u32"}))
k:st_shared_f32(address, 0)  -- lanes 0, 4, 8, ... on one bank
k:bar_sync(0))",
         R"(local S = k:shared{bytes=4096, name="S"}
local address = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
k:st_shared_f32(address, 0)
k:bar_sync(0))"},
    Rule{
        "WG-PERF-06", note,
        "Between two batches of wgmma stands no wait_group 0 that nothing in between needs.", "9.7.15.7.3",
        "The tensor cores run dry: the next wgmma begins only when the warpgroup has seen the end of the one "
        "before and has issued it. Told with wgrun check --perf, where nothing between the wait and the next "
        "wgmma accesses the registers of the first, writes memory, arrives at an mbarrier or meets others.",
        "k:wgmma_wait_group(1) in its place, and k:wgmma_wait_group(0) before the accumulators are used.",
        R"(k:wgmma_fence()
for i = 0, 3 do
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=math.min(i, 1)})
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)",
        R"(k:wgmma_fence()
for i = 0, 3 do
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=math.min(i, 1)})
  k:wgmma_commit_group()
  k:wgmma_wait_group(i < 3 and 1 or 0)
end)"},
};

}  // namespace

std::span<const Rule> performance_rules() { return rows; }

}  // namespace wgrun::check
