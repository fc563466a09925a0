// The catalogue: every law that a kernel can break, as data. The static checker, the builder and the
// simulator report by these ids; `wgrun explain` and docs/rules.md print these rows.
#include <algorithm>
#include <array>

#include "check/check.hpp"

namespace wgrun::check {

namespace {

using enum Severity;

constexpr std::array catalogue{
    // --- DESC: matrix descriptors ----------------------------------------------------------------------
    Rule{
        "WG-DESC-01", error,
        "A matrix descriptor has the swizzle, LBO, SBO and major-ness of the tile that it points into.",
        "9.7.15.5.1.2",
        "wgmma finds elements by the descriptor alone. With another swizzle, another stride or the transpose "
        "immediate set the wrong way it multiplies the wrong elements, without any error.",
        "Take the descriptor from the tile, and trans_a or trans_b from its major-ness: 0 for K, 1 for MN.",
        R"(local B = k:shared(wg.tile{dtype="bf16", mn=64, k=16, major="MN"}, "B")
local db = k:descriptor(B)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group())",
        R"(local B = k:shared(wg.tile{dtype="bf16", mn=64, k=16, major="MN"}, "B")
local db = k:descriptor(B)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", trans_b=1, scale_d=0})
k:wgmma_commit_group())"},
    Rule{
        "WG-DESC-02", error,
        "The M or N rows and the K step that a wgmma reads lie inside the tile and start on an 8-row group.",
        "9.7.15.5.1.2",
        "A block that leaves the tile reads its neighbour in shared memory; one that cuts a swizzle atom "
        "reads "
        "permuted elements.",
        "Count K steps from 0 to tile.k divided by the K of the instruction, and rows in whole 8-row groups.",
        R"(local B = k:shared(wg.tile{dtype="bf16", mn=32, k=64, major="K"}, "B")
local db = k:descriptor(B)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group())",
        R"(local B = k:shared(wg.tile{dtype="bf16", mn=64, k=64, major="K"}, "B")
local db = k:descriptor(B)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group())"},
    Rule{"WG-DESC-03", error,
         "A matrix descriptor points into a shared buffer whose elements have the width that the instruction "
         "reads.",
         "9.7.15.5.1.2.2",
         "Outside every buffer wgmma reads bytes that belong to nobody; with another element width it takes "
         "parts of elements for elements.",
         "Make the descriptor from a buffer of the kernel, declared with the operand's type.",
         R"(local B = k:shared(wg.tile{dtype="e4m3", mn=64, k=64, major="K"}, "B")
local db = k:descriptor(B)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group())",
         R"(local B = k:shared(wg.tile{dtype="bf16", mn=64, k=32, major="K"}, "B")
local db = k:descriptor(B)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group())"},
    Rule{"WG-DESC-04", error,
         "A tile that wgmma reads starts on a multiple of its swizzle pattern: 1024 bytes for 128B, 512 for "
         "64B, "
         "256 for 32B, 16 without a swizzle.",
         "9.7.15.5.1.2.2",
         "The hardware permutes by the bits of the address. A tile that starts elsewhere is read in another "
         "order than it was written.",
         "Leave the alignment of tiles to the builder, or give align = tile.align.",
         R"(local tile = wg.tile{dtype="bf16", mn=64, k=64, major="K", swizzle="128B"}
k:shared{bytes=256, name="head"}
local B = k:shared{tile=tile, align=16, name="B"}
local db = k:descriptor(B)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group())",
         R"(local tile = wg.tile{dtype="bf16", mn=64, k=64, major="K", swizzle="128B"}
k:shared{bytes=256, name="head"}
local B = k:shared{tile=tile, name="B"}
local db = k:descriptor(B)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group())"},
    // --- FENCE -----------------------------------------------------------------------------------------
    Rule{"WG-FENCE-01", error,
         "A wgmma.fence comes before the first wgmma of a warpgroup, and between an access to a register and "
         "a "
         "wgmma that uses it as accumulator or A fragment.",
         "9.7.15.7.1",
         "wgmma reads and writes registers asynchronously. Without the fence it may read them before an "
         "earlier instruction has written them: the behaviour is undefined. Only accumulators of successive "
         "wgmma of the same shape need none.",
         "k:wgmma_fence() after the last access to the registers and before the wgmma.",
         R"(for i = 0, #acc - 1 do k:mov(acc[i], 0) end
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
         R"(for i = 0, #acc - 1 do k:mov(acc[i], 0) end
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"},
    // --- FORM: what the builder refuses ----------------------------------------------------------------
    Rule{"WG-FORM-01", error,
         "The qualifiers of an instruction are one of the tuples that the PTX ISA lists for it.",
         "9.7.15.5.2",
         "Shapes, types and immediates may not be combined freely; the assembler refuses what is not listed.",
         "Take a legal tuple: the message lists what would be legal, `wgrun isa NAME` lists them all.",
         R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=8, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
         R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"},
    Rule{
        "WG-FORM-02", error,
        "An operand has the kind, the type and the number of registers that the instruction asks for, and an "
        "immediate is in its range.",
        "9.4",
        "PTX has no conversions between operands: the assembler refuses the program, or takes the bits for "
        "something else.",
        "Give the operand that the message asks for; registers are made by k:reg and k:regs.",
        R"(local acc = k:regs("f32", 16)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group())",
        R"(local acc = k:regs("f32", 32)   -- n/2 registers for an f32 accumulator
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group())"},
    // --- GROUP -----------------------------------------------------------------------------------------
    Rule{"WG-GROUP-01", error,
         "The accumulators and the A fragment of a wgmma are not accessed before a wgmma.wait_group that "
         "covers "
         "its wgmma-group.",
         "9.7.15.7.3",
         "The wgmma may still be running: what is read is not the result, what is written may be used or "
         "overwritten. wait_group N covers all groups but the N youngest.",
         "k:wgmma_wait_group(N) before the access, with N the number of younger groups that may go on.",
         R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:st_global_f32(k:element(X, k:special "tid.x"), acc[0]))",
         R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0)
k:st_global_f32(k:element(X, k:special "tid.x"), acc[0]))"},
    Rule{"WG-GROUP-02", error, "Every wgmma is committed to a wgmma-group by a wgmma.commit_group after it.",
         "9.7.15.7.2",
         "wgmma.wait_group waits for groups. A wgmma that is in none is waited for by nothing, although the "
         "assembler accepts the program without a word.",
         "k:wgmma_commit_group() after the last wgmma of the batch, before the wait_group.",
         R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_wait_group(0)
k:st_global_f32(k:element(X, k:special "tid.x"), acc[0]))",
         R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0)
k:st_global_f32(k:element(X, k:special "tid.x"), acc[0]))"},
    Rule{"WG-GROUP-03", warning, "The operand of wgmma.wait_group is at most 7.", "9.7.15.7.3",
         "The instruction counts to 7, and a greater number is clamped: the kernel waits for more groups "
         "than it "
         "asks for.",
         "k:wgmma_wait_group(7) or less.",
         R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(8))",
         R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(7))"},
    // --- LAYOUT: tiles -------------------------------------------------------------------------------------
    Rule{
        "WG-LAYOUT-01", error,
        "A tile is made of whole swizzle atoms, 8 rows of 16, 32, 64 or 128 bytes, of a type that wgmma "
        "reads, "
        "with K in steps of 32 bytes.",
        "9.7.15.5.1",
        "A matrix descriptor steps from atom to atom: what is no whole number of them cannot be described, "
        "nor "
        "can a major-ness that the type has no transpose immediate for.",
        "round the extents up and fill with zeros, take the widest swizzle that divides a line, or leave the "
        "swizzle out.",
        R"(local A = wg.tile{dtype="bf16", mn=64, k=32, major="K", swizzle="128B"}
local da = k:descriptor(k:shared(A, "A"))
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group())",
        R"(local A = wg.tile{dtype="bf16", mn=64, k=32, major="K", swizzle="64B"}
local da = k:descriptor(k:shared(A, "A"))
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group())"},
    // --- MBAR: mbarriers, found by the simulator --------------------------------------------------------
    Rule{"WG-MBAR-01", error,
         "An mbarrier is initialised once before it is used, in 8 aligned bytes of shared memory, and ended "
         "by mbarrier.inval.",
         "9.7.13.15.9",
         "An mbarrier that nobody has initialised holds anything: waits pass at once or never. Initialising "
         "a live one loses what has arrived.",
         "One thread initialises every mbarrier at the start of the kernel, before the first barrier.",
         R"(k:if_(first, function()
  k:fence_mbarrier_init()
  k:mbarrier_arrive(full)
end)
k:bar_sync(0))",
         R"(k:if_(first, function()
  k:mbarrier_init(full, 1)
  k:fence_mbarrier_init()
  k:mbarrier_arrive(full)
end)
k:bar_sync(0))"},
    Rule{"WG-MBAR-02", error,
         "An mbarrier.init is made known before others use the object: to threads by a barrier, to the "
         "bulk-copy engine by fence.mbarrier_init and a barrier.",
         "9.7.13.15.9",
         "A thread that comes too early, or the copy engine, may find the old contents of the memory.",
         "k:fence_mbarrier_init() by the thread that initialises, then k:bar_sync(0), or the barrier of the "
         "cluster.",
         R"(k:mbarrier_init(full, 1, {guard=first})
k:bar_sync(0)
k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
k:mbarrier_wait(full, 0))",
         R"(k:mbarrier_init(full, 1, {guard=first})
k:fence_mbarrier_init{guard=first}
k:bar_sync(0)
k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
k:mbarrier_wait(full, 0))"},
    Rule{"WG-MBAR-03", error,
         "In each phase as many arrive at an mbarrier as mbarrier.init says and as many bytes come as "
         "expect_tx says, and what belongs to the next phase comes after a wait for this one.",
         "9.7.13.15.5",
         "An arrival too many counts for the next phase, which then completes too early; a phase that "
         "expects too few bytes completes before all of them are there.",
         "Give mbarrier.init the number of arrivals, not of waiting threads; give expect_tx the bytes of all "
         "copies of the phase; wait for a phase before arriving in the next.",
         R"(-- 128 threads arrive
k:mbarrier_init(full, 96, {guard=first})
k:bar_sync(0)
k:mbarrier_arrive(full)
k:mbarrier_wait(full, 0))",
         R"(-- 128 threads arrive
k:mbarrier_init(full, 128, {guard=first})
k:bar_sync(0)
k:mbarrier_arrive(full)
k:mbarrier_wait(full, 0))"},
    Rule{"WG-MBAR-04", error,
         "The 8 bytes of a live mbarrier are accessed by the mbarrier instructions alone.", "9.7.13.15.4",
         "Their contents are opaque, and a store, or a copy that ends behind its buffer, destroys the "
         "counts: the kernel hangs.",
         "Ask with mbarrier.test_wait; before the memory becomes something else, mbarrier.inval.",
         R"(k:mbarrier_init(full, 1, {guard=first})
k:bar_sync(0)
k:mbarrier_arrive(full, {guard=first})
local state = k:ld_shared_u32(full))",
         R"(k:mbarrier_init(full, 1, {guard=first})
k:bar_sync(0)
k:mbarrier_arrive(full, {guard=first})
local complete = k:mbarrier_test_wait_parity(full, 0))"},
    Rule{"WG-MBAR-05", error, "Every phase that is waited for completes.", "9.7.13.15.16",
         "The kernel hangs, and the watchdog or the user ends it. The message says who waits for which "
         "phase, how many arrivals have come and how many bytes are outstanding.",
         "Expect exactly the bytes that are copied (whole boxes, also where the tensor ends), let all arrive "
         "that mbarrier.init counts, and turn the parity each time round the ring.",
         R"(-- the box is 32 x 4 of f32: 512 bytes
k:mbarrier_arrive_expect_tx(full, 1024, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
k:mbarrier_wait(full, 0))",
         R"(-- the box is 32 x 4 of f32: 512 bytes
k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
k:mbarrier_wait(full, 0))"},
    // --- MEM: found by the simulator -------------------------------------------------------------------
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
    // --- PERF: what the assembler notes ------------------------------------------------------------------
    Rule{"WG-PERF-01", warning, "The wgmma of a kernel overlap: the assembler does not serialise them.",
         "9.7.15.7.1",
         "Where ptxas cannot keep the order of registers in any other way, or runs out of them, it waits "
         "after "
         "every single wgmma: the kernel stays right and may take several times as long. Its notes C7509 to "
         "C7516, C7518 and C7520 say why.",
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
    Rule{
        "WG-PERF-02", note,
        "The assembler adds no wgmma.fence and no wgmma.wait_group: those of the script are where it needs "
        "them.",
        "9.7.15.7.1",
        "ptxas follows registers only along the paths that it sees, and puts a fence (C7519) or a wait "
        "(C7517) "
        "of its own where it cannot see that of the script. An added wait stops the overlap of the wgmma.",
        "one fence right before the first wgmma and one wait right before the accumulators are used, outside "
        "of branches.",
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
         "fewer "
         "registers than it needs, or if it does not know how many a thread enters with. Then all warps keep "
         "what they entered with, and those with large accumulators spill.",
         "ask for as many registers as the code after setmaxnreg needs, in units of 8.",
         R"(-- threads = 384: each enters with 168 registers
k:setmaxnreg_dec(40)
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
         "it "
         "costs a load through the caches.",
         "fewer values at a time: smaller accumulators, fewer loads under way, fewer threads a CTA, "
         "setmaxnreg "
         "for the role that needs more.",
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
         "words "
         "of one bank wait for each other. Told with wgrun check --perf, where the addresses follow from the "
         "thread index.",
         "neighbouring lanes take neighbouring words; for columns of a matrix a swizzled tile, or lines that "
         "are "
         "no multiple of 128 bytes long.",
         R"(local S = k:shared{bytes=4096, name="S"}
local address = k:mad_lo_u32(k:special "tid.x", 32, k:mov(S, {type="u32"}))
k:st_shared_f32(address, 0)  -- lanes 0, 4, 8, ... on one bank
k:bar_sync(0))",
         R"(local S = k:shared{bytes=4096, name="S"}
local address = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
k:st_shared_f32(address, 0)
k:bar_sync(0))"},
    // --- PROXY -----------------------------------------------------------------------------------------
    Rule{"WG-PROXY-01", error,
         "Between a generic-proxy write to shared memory and a wgmma that reads it stands a "
         "fence.proxy.async.",
         "9.7.15.4",
         "wgmma reads shared memory through the async proxy. A barrier alone does not make st.shared visible "
         "there: the wgmma may read old bytes. Nothing in the tool chain warns of it.",
         "k:fence_proxy_async{space=\"shared::cta\"} by every thread that wrote, before the barrier; or by "
         "the "
         "threads of the warpgroup, after the barrier.",
         R"(k:st_shared_v4_b32(to_b, words)
k:bar_sync(0)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group())",
         R"(k:st_shared_v4_b32(to_b, words)
k:fence_proxy_async{space="shared::cta"}
k:bar_sync(0)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group())"},
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
    // --- RACE ------------------------------------------------------------------------------------------
    Rule{"WG-RACE-01", error,
         "Between a write to shared memory by one thread and an access to it by another, or by a wgmma, "
         "stands "
         "a barrier.",
         "8.7.1",
         "Warps run at their own speed. Without the barrier a slow warp may not have written what another "
         "reads, even in the same warpgroup.",
         "k:bar_sync(0), or a named barrier of the threads involved, after the write and before the access.",
         R"(k:st_shared_v4_b32(to_b, words)
k:fence_proxy_async{space="shared::cta"}
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group())",
         R"(k:st_shared_v4_b32(to_b, words)
k:fence_proxy_async{space="shared::cta"}
k:bar_sync(0)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group())"},
    Rule{"WG-RACE-02", error,
         "A tile is overwritten only after every wgmma that reads it is waited for, by all warps that read "
         "it.",
         "9.7.15.7.3",
         "The wgmma may still read the tile and multiply the new elements. Each warp waits for itself only, "
         "and "
         "all four warps of a warpgroup read B: after the wait_group a barrier has to follow.",
         "k:wgmma_wait_group(N) that covers the wgmma, then k:bar_sync(0), before the write.",
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
    // --- REG -------------------------------------------------------------------------------------------
    Rule{"WG-REG-01", error, "A register is written before it is read.", "5.1.1",
         "An unwritten register holds anything. A wgmma with scale-d 1 adds to what its accumulators hold.",
         "Write it first; for the first wgmma of an accumulator scale_d = 0 does.",
         R"(local acc = k:regs("f32", 32)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group())",
         R"(local acc = k:regs("f32", 32)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group())"},
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
         "have "
         "followed is undefined.",
         "k:bar_sync(id, {threads=128}) of the warpgroup between the two.",
         R"(-- threads = 128
k:setmaxnreg_dec(40)
local x = k:mov(1, {type = "u32"})
k:setmaxnreg_inc(64))",
         R"(-- threads = 128
k:setmaxnreg_dec(40)
k:bar_sync(1, {threads=128})
k:setmaxnreg_inc(64))"},
    // --- SPARSE ----------------------------------------------------------------------------------------
    Rule{"WG-SPARSE-01", error,
         "Each code of sparse metadata names two different elements of its chunk of four, the first one's "
         "index "
         "in the lower bits; for tf32 it is 0b0100 or 0b1110.",
         "9.7.15.6.1",
         "What the hardware makes of another code is undefined: it multiplies with the wrong elements and "
         "says "
         "nothing.",
         "metadata from wg.sparse.compress; wg.sparse.validate says which row and chunk are wrong.",
         R"(local A = wg.sparse.prune(wg.randn{shape={64, 32}, dtype="bf16", seed=1})
local values, metadata = wg.sparse.compress(A)
for lane = 0, 127 do metadata[{0, 0, lane}] = 0 end  -- 0b0000: element 0 twice
wg.sparse.validate(metadata, "bf16"))",
         R"(local A = wg.sparse.prune(wg.randn{shape={64, 32}, dtype="bf16", seed=1})
local values, metadata = wg.sparse.compress(A)
for lane = 0, 127 do metadata[{0, 0, lane}] = 0x44444444 end  -- 0b0100: elements 0 and 1
wg.sparse.validate(metadata, "bf16"))"},
    Rule{"WG-SPARSE-02", error,
         "The metadata words stand in the pair of lanes that the sparsity selector names; words for either "
         "selector stand in both pairs.",
         "9.7.15.6.1",
         "Of each four lanes wgmma reads two: 0 and 1 with sp_sel 0, 2 and 3 with sp_sel 1. For 8-bit types "
         "all "
         "four hold different words, and sp_sel is 0.",
         "every lane loads its own word of what wg.sparse.compress makes.",
         R"(local A = wg.sparse.prune(wg.randn{shape={64, 32}, dtype="bf16", seed=1})
local values, metadata = wg.sparse.compress(A)
for lane = 2, 127, 4 do metadata[{0, 0, lane}] = 0xEEEEEEEE end
wg.sparse.validate(metadata, "bf16"))",
         R"(local A = wg.sparse.prune(wg.randn{shape={64, 32}, dtype="bf16", seed=1})
local values, metadata = wg.sparse.compress(A)
for lane = 0, 127 do metadata[{0, 0, lane}] = 0xEEEEEEEE end
wg.sparse.validate(metadata, "bf16"))"},
    Rule{"WG-SPARSE-03", error,
         "A sparse A has at most two elements that are not zero in each chunk of four along K; for tf32 one "
         "in "
         "each chunk of two.",
         "9.7.15.6.1",
         "Only those have a place in what is stored. More cannot be kept, and leaving one out changes the "
         "product.",
         "wg.sparse.prune keeps the largest of each chunk.",
         R"(local A = wg.randn{shape={64, 32}, dtype="bf16", seed=1}
local values, metadata = wg.sparse.compress(A)
wg.sparse.validate(metadata, "bf16")
print(values.shape[2]))",
         R"(local A = wg.sparse.prune(wg.randn{shape={64, 32}, dtype="bf16", seed=1})
local values, metadata = wg.sparse.compress(A)
wg.sparse.validate(metadata, "bf16")
print(values.shape[2]))"},
    // --- SYNC ------------------------------------------------------------------------------------------
    Rule{"WG-SYNC-01", error,
         "An .aligned instruction is executed by all threads of the warp or warpgroup together: the "
         "conditions "
         "around it are the same for all of them.",
         "9.7.15.7.1",
         "Where some threads go another way, the behaviour is undefined: wrong results, or a kernel that "
         "hangs.",
         "Branch on a value that is the same in the whole group (tid.x >> 7 for a warpgroup), and guard "
         "single "
         "accesses instead of the code around them.",
         R"(local tid = k:special "tid.x"
k:if_(tid:eq(0), function()
  k:wgmma_fence()
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
  k:wgmma_commit_group()
end))",
         R"(local tid = k:special "tid.x"
k:if_((tid >> 7):eq(0), function()
  k:wgmma_fence()
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
  k:wgmma_commit_group()
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
k:wgmma_commit_group())",
         R"(-- threads = 128
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group())"},
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
    // --- TMA: bulk copies, found by the simulator -------------------------------------------------------
    Rule{"WG-TMA-01", error,
         "A bulk copy names a tensor map of its number of dimensions and an address in shared memory that is "
         "a multiple of 128 bytes, or if linear, sizes and addresses that are multiples of 16; a store does "
         "not start below 0.",
         "9.7.9.25.5.2",
         "The copy engine ends the launch with an error, or cuts the address and writes elsewhere.",
         "Align the buffer to 128 bytes or more (a swizzled tile to its pattern) and keep offsets inside it "
         "multiples of that.",
         R"(k:st_shared_v2_b32(k:mad_lo_u32(thread, 8, from), {word, word})
k:fence_proxy_async()
k:bar_sync(0)
k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, from + 64, {guard=first})
k:cp_async_bulk_commit_group()
k:cp_async_bulk_wait_group(0))",
         R"(k:st_shared_v2_b32(k:mad_lo_u32(thread, 8, from), {word, word})
k:fence_proxy_async()
k:bar_sync(0)
k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, from + 128, {guard=first})
k:cp_async_bulk_commit_group()
k:cp_async_bulk_wait_group(0))"},
    Rule{"WG-TMA-02", error,
         "What a bulk copy writes to shared memory is accessed only after a wait for the phase of its "
         "mbarrier.",
         "9.7.9.25.5.2",
         "The bytes come at some time after the instruction. A barrier of the threads does not wait for "
         "them: only the mbarrier knows.",
         "k:mbarrier_wait(full, parity) by every warp that reads, or by one of them before a barrier.",
         R"(k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
k:bar_sync(0)
local x = k:ld_shared_f32(mine)
k:mbarrier_wait(full, 0))",
         R"(k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
k:mbarrier_wait(full, 0)
local x = k:ld_shared_f32(mine))"},
    Rule{"WG-TMA-03", error,
         "A CTA waits for its bulk copies before it ends: for the phases of those that come, and for the "
         "groups of those that go until they have read its memory.",
         "9.7.9.25.6",
         "The shared memory of a CTA that has ended belongs to the next one: copies under way write into it, "
         "or read what it has written.",
         "Wait for the last phase of every mbarrier; the thread that stores: commit, and wait_group 0 (with "
         "read is enough).",
         R"(k:fence_proxy_async()
k:bar_sync(0)
k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, tile, {guard=first})
k:cp_async_bulk_commit_group())",
         R"(k:fence_proxy_async()
k:bar_sync(0)
k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, tile, {guard=first})
k:cp_async_bulk_commit_group()
k:cp_async_bulk_wait_group(0))"},
    Rule{"WG-TMA-04", error,
         "A tensor map has 1 to 5 dimensions and a box with sides of 1 to 256 elements, whose lines are "
         "multiples "
         "of 16 bytes and no longer than the swizzle; the rows of its tensor are multiples of 16 bytes.",
         "5.5.8",
         "The copy engine moves units of 16 bytes and permutes them within the span of the swizzle. "
         "cuTensorMapEncodeTiled refuses everything else.",
         "cut the tile into several boxes, or pad the rows of the tensor.",
         R"(local map = k:tensor_map("X", {dtype="f32", box={64, 4}, swizzle="128B"})  -- 256 bytes a line
local tile = k:shared{bytes=1024, align=1024, name="tile"}
k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, tile, {guard=first})
k:cp_async_bulk_commit_group{guard=first}
k:cp_async_bulk_wait_group(0))",
         R"(local map = k:tensor_map("X", {dtype="f32", box={32, 8}, swizzle="128B"})
local tile = k:shared{bytes=1024, align=1024, name="tile"}
k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, tile, {guard=first})
k:cp_async_bulk_commit_group{guard=first}
k:cp_async_bulk_wait_group(0))"},
};

static_assert(std::ranges::is_sorted(catalogue, {}, &Rule::id));

}  // namespace

std::span<const Rule> rules() { return catalogue; }

const Rule* find_rule(std::string_view id) {
    const auto found = std::ranges::lower_bound(catalogue, id, {}, &Rule::id);
    return found != catalogue.end() && found->id == id ? &*found : nullptr;
}

}  // namespace wgrun::check
