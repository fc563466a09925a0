// Rules of speed: what the assembler notes.
#include "wgrun/rules.hpp"

namespace wgrun::rules {

using enum Severity;
using enum Finder;

// --- PERF ---------------------------------------------------------------------------------------
constexpr Rule WG_PERF_01{
    .id = "WG-PERF-01",
    .severity = warning,
    .found_by = assembler,
    .title = "wgmma one after the other",
    .law = "The wgmma of a kernel overlap: the assembler does not serialise them.",
    .section = "9.7.15.7.1",
    .why =
        "Where ptxas cannot keep the order of registers in any other way, or runs out of them, it waits "
        "after every single wgmma: the kernel stays right and may take several times as long. Its notes "
        "C7509 to C7516, C7518 and C7520 say why.",
    .fix =
        "fence, wgmma, commit and wait in one straight line or one loop body, accumulators that fit, and no "
        "access to them before the wait.",
    .decided =
        "By ptxas or the driver (`check --assemble`); the cause where one of its notes names "
        "it.",
    .wrong = R"(local group = k:special "tid.x" >> 7
k:if_(group:eq(0), function() k:wgmma_fence() end, function() k:wgmma_fence() end)
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
    .right = R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

constexpr Rule WG_PERF_02{
    .id = "WG-PERF-02",
    .severity = note,
    .found_by = assembler,
    .title = "a fence or wait that the assembler adds",
    .law =
        "The assembler adds no wgmma.fence and no wgmma.wait_group: those of the script are where it needs "
        "them.",
    .section = "9.7.15.7.1",
    .why =
        "ptxas follows registers only along the paths that it sees, and puts a fence (C7519) or a wait "
        "(C7517) of its own where it cannot see that of the script. An added wait stops the overlap of the "
        "wgmma.",
    .fix =
        "one fence right before the first wgmma and one wait right before the accumulators are used, "
        "outside of branches.",
    .decided = "By ptxas or the driver (`check --assemble`).",
    .wrong = R"(local block = k:special "ctaid.x"
k:if_(block:eq(0), function() k:wgmma_fence() end, function() k:wgmma_fence() end)
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
    .right = R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

constexpr Rule WG_PERF_03{
    .id = "WG-PERF-03",
    .severity = warning,
    .found_by = assembler,
    .title = "setmaxnreg without effect",
    .law = "The assembler honours setmaxnreg.",
    .section = "9.7.19.5",
    .why =
        "ptxas ignores every setmaxnreg of a kernel (C7504 to C7508) if one of the roles would be left with "
        "fewer registers than it needs, or if it does not know how many a thread enters with. Then all "
        "warps keep what they entered with, and those with large accumulators spill.",
    .fix = "ask for as many registers as the code after setmaxnreg needs, in units of 8.",
    .decided = "By ptxas or the driver (`check --assemble`); of PTX without .maxntid by the text.",
    .wrong = R"(-- threads = 384: each enters with 168 registers
k:setmaxnreg_dec(136)
local big = k:regs("f32", 128)
k:wgmma_fence()
k:wgmma_mma_async(big, da, dw, {n=256, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
    .right = R"(-- threads = 384: each enters with 168 registers
k:setmaxnreg_dec(160)
local big = k:regs("f32", 128)
k:wgmma_fence()
k:wgmma_mma_async(big, da, dw, {n=256, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

constexpr Rule WG_PERF_04{
    .id = "WG-PERF-04",
    .severity = warning,
    .found_by = assembler,
    .title = "registers spilled",
    .law = "The values of a thread fit into its registers: none is spilled.",
    .section = "5.1.1",
    .why =
        "A value that finds no register is kept in local memory, which lies in global memory: every use of "
        "it costs a load through the caches.",
    .fix =
        "fewer values at a time: smaller accumulators, fewer loads in flight, fewer threads a CTA, "
        "setmaxnreg for the role that needs more.",
    .decided = "By ptxas or the driver (`check --assemble`).",
    .wrong = R"(-- threads = 512: 128 registers each
local at, v = k:element(X, k:special "tid.x"), {}
for i = 0, 299 do v[i] = k:ld_global_f32(at, {offset=2048*i}) end
for i = 0, 299 do k:st_global_f32(at, v[i], {offset=2048*(299-i)}) end)",
    .right = R"(-- threads = 512: 128 registers each
local at, v = k:element(X, k:special "tid.x"), {}
for i = 0, 49 do v[i] = k:ld_global_f32(at, {offset=2048*i}) end
for i = 0, 49 do k:st_global_f32(at, v[i], {offset=2048*(49-i)}) end)"};

constexpr Rule WG_PERF_05{
    .id = "WG-PERF-05",
    .severity = note,
    .found_by = check,
    .title = "a bank conflict",
    .law = "The lanes of a warp that shared memory serves together access different banks, or one word.",
    .section = "5.1.7",
    .why =
        "There are 32 banks of 4 bytes, and a bank serves one word at a time: lanes that want different "
        "words of one bank wait for each other. wgrun check --perf reports it where the addresses follow "
        "from the thread index.",
    .fix =
        "neighbouring lanes take neighbouring words; for columns of a matrix a swizzled tile, or lines that "
        "are no multiple of 128 bytes long.",
    .decided = "On paths, where the addresses of all lanes are known (`check --perf`).",
    .wrong = R"(local S = k:shared{bytes=4096, name="S"}
local address = k:mad_lo_u32(k:special "tid.x", 32, k:mov(S, {type="u32"}))
k:st_shared_f32(address, 0)  -- lanes 0, 4, 8, ... on one bank
local x = k:ld_shared_f32(address))",
    .right = R"(local S = k:shared{bytes=4096, name="S"}
local address = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
k:st_shared_f32(address, 0)
local x = k:ld_shared_f32(address))"};

constexpr Rule WG_PERF_06{
    .id = "WG-PERF-06",
    .severity = note,
    .found_by = check,
    .title = "a wait that nothing needs",
    .law = "Between two batches of wgmma stands no wait_group 0 that nothing in between needs.",
    .section = "9.7.15.7.3",
    .why =
        "The tensor cores run dry: the next wgmma begins only when the warpgroup has seen the end of the one "
        "before and has issued it. wgrun check --perf reports it where nothing between the wait and the next "
        "wgmma accesses the registers of the first, writes memory, arrives at an mbarrier or meets others.",
    .fix = "k:wgmma_wait_group(1) in its place, and k:wgmma_wait_group(0) before the accumulators are used.",
    .decided = "On every path (`check --perf`).",
    .wrong = R"(k:wgmma_fence()
for i = 0, 3 do
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=math.min(i, 1)})
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)",
    .right = R"(k:wgmma_fence()
for i = 0, 3 do
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=math.min(i, 1)})
  k:wgmma_commit_group()
  k:wgmma_wait_group(i < 3 and 1 or 0)
end)"};

constexpr Rule WG_PERF_07{
    .id = "WG-PERF-07",
    .severity = note,
    .found_by = check,
    .title = "synchronisation that nothing needs",
    .law = "Every barrier, fence and wait orders something.",
    .section = "9.7.13.1",
    .why =
        "Threads stand still for it. wgrun check --perf runs the script on the simulator, "
        "and its launches again without each of them, with several schedules and with the sizes that "
        "kernel:sizes declares. It reports what these launches do as well without, "
        "and proves nothing for others: fences for other CTAs of the grid and for the host are left alone.",
    .fix = "Leave it out, or keep it with a comment that says for which launch it is.",
    .decided =
        "By leaving each out, over all seeds and sizes of the script (`check --perf`), where no less is "
        "proved without it. That nothing else needs it is not proved.",
    .wrong = R"(k:st_shared_f32(mine, k:ld_global_f32(k:element(X, thread)))
k:bar_sync(0)
local x = k:ld_shared_f32(mine) -- what the thread itself has stored
k:st_global_f32(k:element(Y, thread), x))",
    .right = R"(k:st_shared_f32(mine, k:ld_global_f32(k:element(X, thread)))
k:bar_sync(0)
local x = k:ld_shared_f32(other) -- what another warp has stored
k:st_global_f32(k:element(Y, thread), x))"};

constexpr Rule WG_PERF_08{
    .id = "WG-PERF-08",
    .severity = note,
    .found_by = check,
    .title = "a product that the chip does not have",
    .law = "Products of 8-bit floats are those of wgmma.",
    .section = "9.7.14.5.14",
    .why =
        "sm_90 has no mma.sync of e4m3 and e5m2: the assembler converts the operands to f16 and multiplies "
        "those, twice for each product (docs/silicon.md). wgrun check --perf reports it.",
    .fix = "wgmma, with A from registers where it is not in shared memory.",
    .decided = "At each mma.sync (`check --perf`).",
    .wrong = R"(local a, b, c = k:regs("b32", 4), k:regs("b32", 2), k:regs("f32", 4)
for i = 0, 3 do k:mov(a[i], thread) k:mov(c[i], 0.0) end
for i = 0, 1 do k:mov(b[i], thread) end
k:mma_sync(c, a, b, c, { d = "f32", a = "e4m3", b = "e4m3" }))",
    .right = R"(local acc = k:regs("f32", 32)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, { n = 64, k = 32, d = "f32", a = "e4m3", b = "e4m3", scale_d = 0 })
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

constexpr Rule WG_PERF_09{
    .id = "WG-PERF-09",
    .severity = note,
    .found_by = check,
    .title = "sectors of which little is used",
    .law = "The lanes of a warp that access global memory together use most of each sector that they touch.",
    .section = "9.7.9.8",
    .why =
        "Caches and memory move sectors of 32 bytes: lanes that are far apart move one each, whether they "
        "use 4 "
        "bytes of it or all 32. `wgrun check --perf` shows it where the addresses follow from the thread "
        "index, "
        "and of boxes whose lines are shorter than a sector; `wgrun timeline` counts the sectors of a "
        "launch.",
    .fix =
        "neighbouring lanes take neighbouring elements; what has to be transposed goes through shared memory "
        "(docs/guide/transpose.md).",
    .decided =
        "Where the addresses of all lanes differ by known amounts, and where a box is declared "
        "(`check --perf`).",
    .wrong = R"(-- a column of a matrix with rows of 64 elements
local at = k:element(X, k:special "tid.x" * 64)
local x = k:ld_global_f32(at)
k:st_global_f32(at, x * 2.0))",
    .right = R"(-- a row
local at = k:element(X, k:special "tid.x")
local x = k:ld_global_f32(at)
k:st_global_f32(at, x * 2.0))"};

constexpr Rule WG_PERF_10{
    .id = "WG-PERF-10",
    .severity = note,
    .found_by = check,
    .title = "an arrival that releases beyond the CTA",
    .law = "An arrival at an mbarrier of the own CTA releases to the CTA.",
    .section = "9.7.13.15.13",
    .why =
        "Only threads of the CTA can wait for an mbarrier in its shared memory. For release.cluster the "
        "assembler puts a "
        "fence of the whole GPU before the arrival, which waits for all stores of the thread; for "
        "release.cta it puts "
        "none. `wgrun check --perf` reports it.",
    .fix = "release.cta, the default. At an mbarrier of another CTA (mapa) release.cluster stays.",
    .decided = "At each arrival with .shared::cta (`check --perf`).",
    .wrong = R"(k:st_shared_f32(mine, x)
k:mbarrier_arrive(full, { sem = "release.cluster" }) -- threads of this CTA wait for it
k:mbarrier_wait(full, 0)
k:st_global_f32(k:element(Y, thread), k:ld_shared_f32(other)))",
    .right = R"(k:st_shared_f32(mine, x)
k:mbarrier_arrive(full)
k:mbarrier_wait(full, 0)
k:st_global_f32(k:element(Y, thread), k:ld_shared_f32(other)))"};

}  // namespace wgrun::rules
