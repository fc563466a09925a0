// Rules of machine code: what the assembler has to keep of a program (docs/sass.md).
#include "wgrun/rules.hpp"

namespace wgrun::rules {

using enum Severity;
using enum Finder;

constexpr Rule WG_SASS_01{
    .id = "WG-SASS-01",
    .severity = error,
    .property = Property::kept,
    .found_by = assembler,
    .title = "machine code touches a product in flight",
    .law =
        "From a product of a warpgroup to the wait that covers its group, machine code leaves its registers "
        "alone.",
    .section = "9.7.15.7.3",
    .why =
        "The tensor core reads A's registers, and writes the accumulators, while the warps go on. A register "
        "that gets another value before the wait gives wrong sums, and an accumulator that is read before it "
        "has an old value. ptxas before 13.3 is reported to do that (triton#11781).",
    .fix =
        "another version of ptxas, or wgmma.wait_group 0 before the registers get new values; if the program "
        "itself breaks a rule of wgmma's registers there, repair that first.",
    .decided =
        "By following every path of the machine code from each product (`check --sass`), whatever decides "
        "its "
        "branches.",
    .wrong = R"(-- a group is in flight while the fragment gets new values: ptxas has to wait
k:wgmma_fence()
k:wgmma_mma_async(acc, fragment, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(1))",
    .right = R"(k:wgmma_fence()
k:wgmma_mma_async(acc, fragment, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

constexpr Rule WG_SASS_02{
    .id = "WG-SASS-02",
    .severity = error,
    .property = Property::kept,
    .found_by = assembler,
    .title = "a product lost, repeated or moved",
    .law = "Machine code has the products of the program, each as often and in the same order.",
    .section = "9.7.15.5.2",
    .why = "A product that is left out, or made twice, gives wrong sums.",
    .fix = "another version of ptxas; a report to NVIDIA (docs/sass.md).",
    .decided =
        "By comparing the orders in which the machine code and the program execute what matters (`check "
        "--sass`).",
    .wrong = R"(-- the machine code has one HGMMA where the program has two
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_mma_async(acc, da + 2, db + 2, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group())",
    .right = R"(-- two HGMMA
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_mma_async(acc, da + 2, db + 2, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group())"};

constexpr Rule WG_SASS_03{
    .id = "WG-SASS-03",
    .severity = error,
    .property = Property::kept,
    .found_by = assembler,
    .title = "a wait for products lost",
    .law = "Where the program has waited for a product, machine code has waited for it.",
    .section = "9.7.15.7.3",
    .why =
        "What follows a wait relies on it: an arrival frees the shared memory that the product reads, a copy "
        "stores what it has computed.",
    .fix = "another version of ptxas; a report to NVIDIA (docs/sass.md).",
    .decided =
        "For each barrier, arrival, copy and product of the machine code: which products may be in flight "
        "there, compared with those of the program (`check --sass`).",
    .wrong = R"(-- no WARPGROUP.DEPBAR between the product and the arrival
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(0)
k:mbarrier_arrive(empty))",
    .right = R"(-- WARPGROUP.DEPBAR.LE gsb0, 0x0 comes before the arrival
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(0)
k:mbarrier_arrive(empty))"};

constexpr Rule WG_SASS_04{
    .id = "WG-SASS-04",
    .severity = warning,
    .found_by = assembler,
    .title = "a wait for products that nobody asks for",
    .law = "Machine code waits for products where the program does, and nowhere else.",
    .section = "9.7.15.7.3",
    .why =
        "A wait after each product serialises them: the kernel stays right and may take several times as "
        "long. Notes C7510 to C7520 of ptxas say why, the machine code where.",
    .fix =
        "fence, products, commit and wait in one straight line or one loop body, accumulators that fit, and "
        "no "
        "access to them before the wait; and -O3.",
    .decided = "By the line of each WARPGROUP.DEPBAR (`check --sass`).",
    .wrong = R"(local group = k:special "tid.x" >> 7
k:if_(group:eq(0), function() k:wgmma_fence() end, function() k:wgmma_fence() end)
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
    .right = R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

constexpr Rule WG_SASS_05{
    .id = "WG-SASS-05",
    .severity = error,
    .property = Property::kept,
    .found_by = assembler,
    .title = "a synchronisation lost or moved",
    .law =
        "Machine code has the barriers, mbarrier operations, fences, bulk copies and agreements about "
        "registers of the program, in its order.",
    .section = "9.7.13",
    .why =
        "Other threads and the copy engine wait for them, or rely on their order: the kernel hangs or races.",
    .fix = "another version of ptxas; a report to NVIDIA (docs/sass.md).",
    .decided =
        "By comparing the orders in which the machine code and the program execute what matters (`check "
        "--sass`).",
    .wrong = R"(-- no FENCE.VIEW.ASYNC in the machine code
k:st_shared_v4_b32(at, values)
k:fence_proxy_async()
k:bar_sync(0)
k:cp_async_bulk_tensor_2d_store(map, tile, { 0, 0 }))",
    .right = R"(-- MEMBAR and FENCE.VIEW.ASYNC come before BAR.SYNC
k:st_shared_v4_b32(at, values)
k:fence_proxy_async()
k:bar_sync(0)
k:cp_async_bulk_tensor_2d_store(map, tile, { 0, 0 }))"};

constexpr Rule WG_SASS_06{
    .id = "WG-SASS-06",
    .severity = error,
    .property = Property::kept,
    .found_by = assembler,
    .title = "an operation with another number",
    .law = "Barriers, waits, copies and agreements about registers have the numbers of the program.",
    .section = "9.7.13.1",
    .why = "Threads that meet at another barrier, or count others, wait for ever or not at all.",
    .fix = "another version of ptxas; a report to NVIDIA (docs/sass.md).",
    .decided = "Where both are constants: of the instruction, and of the step at its line (`check --sass`).",
    .wrong = R"(-- BAR.SYNC 0x2, 0x80
local consumers <const> = 128
k:if_(consumer, function()
  k:bar_sync(1, consumers)
end))",
    .right = R"(-- BAR.SYNC 0x1, 0x80
local consumers <const> = 128
k:if_(consumer, function()
  k:bar_sync(1, consumers)
end))"};

constexpr Rule WG_SASS_07{
    .id = "WG-SASS-07",
    .severity = error,
    .property = Property::kept,
    .found_by = assembler,
    .title = "a memory access lost, narrowed or moved",
    .law =
        "Machine code has the stores and atomics of the program, with their width, between the same "
        "synchronisations.",
    .section = "8.9",
    .why =
        "A store that is left out, or that comes behind the fence or barrier that publishes it, leaves "
        "others "
        "with old values.",
    .fix = "another version of ptxas; a report to NVIDIA (docs/sass.md).",
    .decided =
        "By the line of each access to shared and global memory (`check --sass`); WG-SASS-11 has their "
        "addresses. Local memory is not compared.",
    .wrong = R"(-- STS.64 in the machine code
k:st_shared_v4_b32(at, values)
k:fence_proxy_async()
k:bar_sync(0)
k:cp_async_bulk_tensor_2d_store(map, tile, { 0, 0 }))",
    .right = R"(-- STS.128
k:st_shared_v4_b32(at, values)
k:fence_proxy_async()
k:bar_sync(0)
k:cp_async_bulk_tensor_2d_store(map, tile, { 0, 0 }))"};

constexpr Rule WG_SASS_08{
    .id = "WG-SASS-08",
    .severity = error,
    .property = Property::kept,
    .found_by = assembler,
    .title = "registers of a product without order",
    .law =
        "WARPGROUP.ARRIVE comes between an instruction that writes to registers of a product and the "
        "product.",
    .section = "9.7.15.7.1",
    .why = "The tensor core may read the registers before the writes of the other warps of the warpgroup.",
    .fix = "another version of ptxas, or wgmma.fence right before the product.",
    .decided = "By following every path of the machine code back from each product (`check --sass`).",
    .wrong = R"(-- the machine code has no WARPGROUP.ARRIVE here
for i = 0, 3 do k:mov(fragment[i], 0) end
k:wgmma_fence()
k:wgmma_mma_async(acc, fragment, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group())",
    .right = R"(-- WARPGROUP.ARRIVE comes behind the moves
for i = 0, 3 do k:mov(fragment[i], 0) end
k:wgmma_fence()
k:wgmma_mma_async(acc, fragment, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group())"};

constexpr Rule WG_SASS_09{
    .id = "WG-SASS-09",
    .severity = warning,
    .found_by = assembler,
    .title = "registers spilled in a loop",
    .law = "Values stay in registers where a loop needs them.",
    .section = "5.1.5",
    .why =
        "A spill goes to local memory and back: some 30 cycles for the load where the L1 cache has it, in "
        "each "
        "turn of the loop, and bandwidth of the L1 cache.",
    .fix =
        "fewer accumulators or smaller tiles, fewer values alive across the products, or more registers for "
        "these warps (setmaxnreg).",
    .decided = "By the loads and stores of local memory that the program does not ask for (`check --sass`).",
    .wrong = R"(local acc = k:regs("f32", 256)   -- more than a thread can have
k:loop(blocks, function()
  k:wgmma_mma_async(low, da, db, {n=256, k=16, d="f32", a="bf16", b="bf16"})
  k:wgmma_mma_async(high, da, db, {n=256, k=16, d="f32", a="bf16", b="bf16"})
end))",
    .right = R"(local acc = k:regs("f32", 128)
k:loop(blocks, function()
  k:wgmma_mma_async(acc, da, db, {n=256, k=16, d="f32", a="bf16", b="bf16"})
  k:wgmma_commit_group()
end))"};

constexpr Rule WG_SASS_10{
    .id = "WG-SASS-10",
    .severity = note,
    .found_by = assembler,
    .title = "a wait for a result in the main loop",
    .law =
        "In a main loop, other work is issued between an instruction that takes long and what needs its "
        "result.",
    .section = "5.1",
    .why =
        "A warp stops at an instruction that waits for a scoreboard until the results are there: of shared "
        "memory some 30 cycles, of the L2 cache some 250, of global memory 500 and more. Other warps may "
        "fill "
        "the time, as long as the multiprocessor has some.",
    .fix =
        "load earlier, into registers of the next turn; more stages; or more warps, where registers allow "
        "them.",
    .decided =
        "By the control words of the machine code, in the innermost loops that have products (`check --sass "
        "--perf`): which instructions a scoreboard may count, and how many cycles at least are issued "
        "between.",
    .wrong = R"(k:loop(blocks, function()
  k:ld_shared_v4_b32(fragment, at)
  k:wgmma_mma_async(acc, fragment, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
end))",
    .right = R"(k:loop(blocks, function()
  k:ld_shared_v4_b32(next, at)
  k:wgmma_mma_async(acc, fragment, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
end))"};

constexpr Rule WG_SASS_11{
    .id = "WG-SASS-11",
    .severity = error,
    .property = Property::kept,
    .found_by = assembler,
    .title = "another value than the program's",
    .law =
        "Machine code accesses the addresses of the program, under the conditions of the program, with its "
        "descriptors and numbers.",
    .section = "8.1",
    .why =
        "A store to another address, one that only some of the threads make, or a product of another tile "
        "gives wrong results, and may write to memory that is not the kernel's.",
    .fix = "another version of ptxas; a report to NVIDIA (docs/sass.md).",
    .decided =
        "By executing both for single threads, with arguments and memory that are drawn at random (`check "
        "--sass`): what depends on a value that is not followed, such as sums of products, is not compared.",
    .wrong = R"(-- the machine code stores to 4 * i + 8, where i < 99
local i = k:special "tid.x"
k:if_(i:lt(n), function()
  k:st_global_f32(k:element(D, i + 1), sum)
end))",
    .right = R"(-- the machine code stores to 4 * i + 4, where i < n
local i = k:special "tid.x"
k:if_(i:lt(n), function()
  k:st_global_f32(k:element(D, i + 1), sum)
end))"};

}  // namespace wgrun::rules
