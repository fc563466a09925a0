// Rules of wgmma: descriptors, wgmma.fence, groups, layouts, sparse operands.
#include "wgrun/rules.hpp"

namespace wgrun::rules {

using enum Severity;
using enum Finder;

// --- DESC ---------------------------------------------------------------------------------------
constexpr Rule WG_DESC_01{
    .id = "WG-DESC-01",
    .severity = error,
    .property = Property::descriptors,
    .found_by = script | check | run,
    .title = "a descriptor of another layout",
    .law = "A matrix descriptor has the swizzle, LBO, SBO and major-ness of the tile that it points into.",
    .section = "9.7.15.5.1.2",
    .why =
        "wgmma finds elements by the descriptor alone. With another swizzle, another stride or the "
        "transpose immediate set the wrong way it multiplies the wrong elements, without any error.",
    .fix =
        "Take the descriptor from the tile, and trans_a or trans_b from its major-ness: 0 for K, 1 for MN.",
    .decided =
        "Without a run where each path that reaches the wgmma brings the same tile; in a run "
        "by the final 64 bits. Plain buffers have no layout to compare with.",
    .wrong = R"(local B = k:shared(wg.tile{dtype="bf16", mn=64, k=16, major="MN"}, "B")
local db = k:descriptor(B)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
    .right = R"(local B = k:shared(wg.tile{dtype="bf16", mn=64, k=16, major="MN"}, "B")
local db = k:descriptor(B)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", trans_b=1, scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

constexpr Rule WG_DESC_02{
    .id = "WG-DESC-02",
    .severity = error,
    .property = Property::descriptors,
    .found_by = script | check | run,
    .title = "a descriptor that starts inside an atom",
    .law =
        "The M or N rows and the K step that a wgmma reads lie inside the tile and start on an 8-row group.",
    .section = "9.7.15.5.1.2",
    .why =
        "A block that leaves the tile reads its neighbour in shared memory; one that cuts a swizzle atom "
        "reads permuted elements.",
    .fix =
        "Count K steps from 0 to tile.k divided by the K of the instruction, and rows in whole 8-row groups.",
    .decided =
        "Without a run where rows, K step and stage are numbers or affine in loops and lanes; "
        "in a run by the final 64 bits. A descriptor that is made of loaded bits is judged in "
        "a run alone.",
    .wrong = R"(local B = k:shared(wg.tile{dtype="bf16", mn=32, k=64, major="K"}, "B")
local db = k:descriptor(B)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
    .right = R"(local B = k:shared(wg.tile{dtype="bf16", mn=64, k=64, major="K"}, "B")
local db = k:descriptor(B)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

constexpr Rule WG_DESC_03{
    .id = "WG-DESC-03",
    .severity = error,
    .property = Property::descriptors,
    .found_by = script | check | run,
    .title = "a descriptor into another buffer",
    .law =
        "A matrix descriptor points into a shared buffer whose elements have the width that the instruction "
        "reads.",
    .section = "9.7.15.5.1.2.2",
    .why =
        "Outside every buffer wgmma reads bytes that belong to nobody; with another element width it takes "
        "parts of elements for elements.",
    .fix = "Make the descriptor from a buffer of the kernel, declared with the operand's type.",
    .decided = "Without a run where the buffer is known. Plain buffers have no type of elements.",
    .wrong = R"(local B = k:shared(wg.tile{dtype="e4m3", mn=64, k=64, major="K"}, "B")
local db = k:descriptor(B)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
    .right = R"(local B = k:shared(wg.tile{dtype="bf16", mn=64, k=32, major="K"}, "B")
local db = k:descriptor(B)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

constexpr Rule WG_DESC_04{
    .id = "WG-DESC-04",
    .severity = error,
    .property = Property::descriptors,
    .found_by = script | check | run,
    .severity_override = SeverityOverride::warning,
    .title = "a misaligned tile",
    .law =
        "A tile that wgmma reads starts on a multiple of its swizzle pattern: 1024 bytes for 128B, 512 for "
        "64B, 256 for 32B, 16 without a swizzle.",
    .section = "9.7.15.5.1.2.2",
    .why =
        "The hardware permutes by the bits of the address. A tile that starts elsewhere is read in another "
        "order than it was written.",
    .fix = "Leave the alignment of tiles to the builder, or give align = tile.align.",
    .decided =
        "By the placement of the buffer, always; of an offset that is added to it where that is known, else "
        "in a run.",
    .wrong = R"(local tile = wg.tile{dtype="bf16", mn=64, k=64, major="K", swizzle="128B"}
k:shared{bytes=256, name="head"}
local B = k:shared{tile=tile, align=16, name="B"}
local db = k:descriptor(B)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
    .right = R"(local tile = wg.tile{dtype="bf16", mn=64, k=64, major="K", swizzle="128B"}
k:shared{bytes=256, name="head"}
local B = k:shared{tile=tile, name="B"}
local db = k:descriptor(B)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

constexpr Rule WG_DESC_05{
    .id = "WG-DESC-05",
    .severity = error,
    .property = Property::descriptors,
    .found_by = check | run,
    .title = "a descriptor that differs within a warpgroup",
    .law = "All threads of a warpgroup give a wgmma the same descriptors and the same scale-d.",
    .section = "9.7.15.5.1.2.2",
    .why =
        "The four warps execute one multiplication, which has one descriptor for each matrix. The tensor "
        "core "
        "takes that of some thread, and nobody says which.",
    .fix =
        "Make it of values that are the same in the whole warpgroup: of tid.x >> 7 and not of tid.x >> 5, or "
        "of what one lane has passed to the others.",
    .decided =
        "Without a run where the operands are known to depend on the lane or the warp; in a "
        "run by their values. Values that are the same by chance in all that runs are not "
        "found.",
    .wrong = R"(local da = k:descriptor(A)
da:set(da + k:cvt_u64_u32((thread >> 5) * 2))
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
    .right = R"(local da = k:descriptor(A)
da:set(da + k:cvt_u64_u32((thread >> 7) * 2))
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

// --- FENCE --------------------------------------------------------------------------------------
constexpr Rule WG_FENCE_01{
    .id = "WG-FENCE-01",
    .severity = error,
    .property = Property::registers,
    .found_by = check | run,
    .title = "a missing wgmma.fence",
    .law =
        "A wgmma.fence comes before the first wgmma of a warpgroup, and between an access to a register and "
        "a wgmma that uses it as accumulator or A fragment.",
    .section = "9.7.15.7.1",
    .why =
        "wgmma reads and writes registers asynchronously. Without the fence it may read them before an "
        "earlier instruction has written them: the behaviour is undefined. Only accumulators of successive "
        "wgmma of the same shape need none.",
    .fix = "k:wgmma_fence() after the last access to the registers and before the wgmma.",
    .decided = "On every path, for every register: nothing is left to a run, which finds the same.",
    .wrong = R"(for i = 0, #acc - 1 do k:mov(acc[i], 0) end
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
    .right = R"(for i = 0, #acc - 1 do k:mov(acc[i], 0) end
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

// --- GROUP --------------------------------------------------------------------------------------
constexpr Rule WG_GROUP_01{
    .id = "WG-GROUP-01",
    .severity = error,
    .property = Property::registers,
    .found_by = check | run,
    .title = "registers of a running wgmma",
    .law =
        "The accumulators and the A fragment of a wgmma are not accessed before a wgmma.wait_group that "
        "covers its wgmma-group.",
    .section = "9.7.15.7.3",
    .why =
        "The wgmma may still be running: what is read is not the result, what is written may be used or "
        "overwritten. wait_group N covers all groups but the N youngest.",
    .fix = "k:wgmma_wait_group(N) before the access, with N the number of younger groups that may go on.",
    .decided = "On every path, for every register: nothing is left to a run, which finds the same.",
    .wrong = R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:st_global_f32(k:element(X, k:special "tid.x"), acc[0])
k:wgmma_wait_group(0))",
    .right = R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0)
k:st_global_f32(k:element(X, k:special "tid.x"), acc[0]))"};

constexpr Rule WG_GROUP_02{
    .id = "WG-GROUP-02",
    .severity = error,
    .property = Property::groups,
    .found_by = check | run,
    .title = "an uncommitted wgmma",
    .law = "Every wgmma is committed to a wgmma-group by a wgmma.commit_group after it.",
    .section = "9.7.15.7.2",
    .why =
        "wgmma.wait_group waits for groups. A wgmma that is in none is waited for by nothing, although the "
        "assembler accepts the program without a word.",
    .fix = "k:wgmma_commit_group() after the last wgmma of the batch, before the wait_group.",
    .decided = "On every path.",
    .wrong = R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_wait_group(0)
k:st_global_f32(k:element(X, k:special "tid.x"), acc[0]))",
    .right = R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0)
k:st_global_f32(k:element(X, k:special "tid.x"), acc[0]))"};

constexpr Rule WG_GROUP_03{
    .id = "WG-GROUP-03",
    .severity = warning,
    .found_by = check,
    .title = "a wait_group beyond 7",
    .law = "The operand of wgmma.wait_group is at most 7.",
    .section = "9.7.15.7.3",
    .why =
        "The instruction counts to 7, and a greater number is clamped: the kernel waits for more groups "
        "than it asks for.",
    .fix = "k:wgmma_wait_group(7) or less.",
    .decided = "By the call, always.",
    .wrong = R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(8)
k:wgmma_wait_group(0))",
    .right = R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(7)
k:wgmma_wait_group(0))"};

constexpr Rule WG_GROUP_04{
    .id = "WG-GROUP-04",
    .severity = error,
    .property = Property::groups,
    .found_by = check | run,
    .title = "a cp.async that is not waited for",
    .law =
        "What a cp.async copies is not accessed before a cp.async.wait_group that covers its group, by the "
        "threads that copy, and a barrier for the others.",
    .section = "9.7.9.25.3.3",
    .why =
        "The bytes come some time after the instruction. A barrier does not wait for them: each thread "
        "waits for what it has copied itself, wait_group N for all its groups but the N youngest, and then "
        "the barrier tells the others. A wgmma needs k:fence_proxy_async() between the two besides.",
    .fix =
        "k:cp_async_commit_group() after the copies, k:cp_async_wait_group(N) before the barrier; or "
        "k:cp_async_mbarrier_arrive_noinc(full), and a wait for its phase.",
    .decided =
        "Without a run for the bytes of a buffer that paths tell apart; else in a run ahead "
        "or a run, by the bytes of each thread.",
    .wrong = R"(k:cp_async_cg(here, k:element(X, thread * 4))
k:cp_async_commit_group()
k:bar_sync(0)
local x = k:ld_shared_f32(next)
k:bar_sync(0)
k:cp_async_wait_group(0))",
    .right = R"(k:cp_async_cg(here, k:element(X, thread * 4))
k:cp_async_commit_group()
k:cp_async_wait_group(0)
k:bar_sync(0)
local x = k:ld_shared_f32(next))"};

constexpr Rule WG_GROUP_05{
    .id = "WG-GROUP-05",
    .severity = error,
    .property = Property::groups,
    .found_by = check | run,
    .title = "wgmma at the end of a warp",
    .law = "A warp ends after it has waited for all its wgmma-groups.",
    .section = "9.7.15.7.3",
    .why =
        "The wgmma may go on when the CTA has ended, and its shared memory and registers belong to the next "
        "one. ptxas lets the warp wait (C7517); but nobody can have read what the wgmma gives, so that it "
        "was for nothing, or a k:wgmma_wait_group is missing in front of a read.",
    .fix = "k:wgmma_wait_group(0) after the last commit_group, also where a loop keeps some groups pending.",
    .decided = "On every path where the number of groups is known; else in a run ahead or a run.",
    .wrong = R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(1))",
    .right = R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

constexpr Rule WG_GROUP_06{
    .id = "WG-GROUP-06",
    .severity = error,
    .property = Property::groups,
    .found_by = check | run,
    .severity_override = SeverityOverride::once,
    .title = "cp.async at the end of a CTA",
    .law =
        "A CTA ends after every cp.async of its threads has been waited for: by the thread itself, or with "
        "the mbarrier at which it has arrived (cp.async.mbarrier.arrive).",
    .section = "9.7.9.25.3.3",
    .why =
        "The shared memory of a CTA that has ended belongs to the next one, and the copy writes into it. A "
        "copy that nobody waits for is one that nobody may read, too: it was for nothing.",
    .fix = "k:cp_async_wait_all() at the end, or no copies for iterations that do not come.",
    .decided = "On every path where the number of groups is known; else in a run ahead or a run.",
    .wrong = R"(k:cp_async_cg(here, k:element(X, thread * 4))
k:cp_async_commit_group()
k:cp_async_cg(here + 2048, k:element(X, thread * 4))
k:cp_async_commit_group()
k:cp_async_wait_group(1))",
    .right = R"(k:cp_async_cg(here, k:element(X, thread * 4))
k:cp_async_commit_group()
k:cp_async_cg(here + 2048, k:element(X, thread * 4))
k:cp_async_commit_group()
k:cp_async_wait_group(0))"};

// --- LAYOUT -------------------------------------------------------------------------------------
constexpr Rule WG_LAYOUT_01{
    .id = "WG-LAYOUT-01",
    .severity = error,
    .found_by = script,
    .title = "a tile of no whole swizzle atoms",
    .law =
        "A tile is made of whole swizzle atoms, 8 rows of 16, 32, 64 or 128 bytes, of a type that wgmma "
        "reads, with K in steps of 32 bytes.",
    .section = "9.7.15.5.1",
    .why =
        "A matrix descriptor steps from atom to atom: what is no whole number of them cannot be described, "
        "nor can a major-ness that the type has no transpose immediate for.",
    .fix =
        "round the extents up and fill with zeros, take the widest swizzle that divides a line, or leave "
        "the swizzle out.",
    .decided = "By the call, always.",
    .wrong = R"(local A = wg.tile{dtype="bf16", mn=64, k=32, major="K", swizzle="128B"}
local da = k:descriptor(k:shared(A, "A"))
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
    .right = R"(local A = wg.tile{dtype="bf16", mn=64, k=32, major="K", swizzle="64B"}
local da = k:descriptor(k:shared(A, "A"))
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

// --- SPARSE -------------------------------------------------------------------------------------
constexpr Rule WG_SPARSE_01{
    .id = "WG-SPARSE-01",
    .severity = error,
    .property = Property::descriptors,
    .found_by = script | run,
    .title = "an illegal code of sparse metadata",
    .law =
        "Each code of sparse metadata names two different elements of its chunk of four, the first one's "
        "index in the lower bits; for tf32 it is 0b0100 or 0b1110.",
    .section = "9.7.15.6.1",
    .why =
        "What the hardware makes of another code is undefined: it multiplies with the wrong elements and "
        "says nothing.",
    .fix = "metadata from wg.sparse.compress; wg.sparse.validate says which row and chunk are wrong.",
    .decided = "By the call where the metadata are numbers; else in a run, by their values.",
    .wrong = R"(local A = wg.sparse.prune(wg.randn{shape={64, 32}, dtype="bf16", seed=1})
local values, metadata = wg.sparse.compress(A)
for lane = 0, 127 do metadata[{0, 0, lane}] = 0 end  -- 0b0000: element 0 twice
wg.sparse.validate(metadata, "bf16"))",
    .right = R"(local A = wg.sparse.prune(wg.randn{shape={64, 32}, dtype="bf16", seed=1})
local values, metadata = wg.sparse.compress(A)
for lane = 0, 127 do metadata[{0, 0, lane}] = 0x44444444 end  -- 0b0100: elements 0 and 1
wg.sparse.validate(metadata, "bf16"))"};

constexpr Rule WG_SPARSE_02{
    .id = "WG-SPARSE-02",
    .severity = error,
    .found_by = script,
    .title = "sparse metadata in other lanes",
    .law =
        "The metadata words stand in the pair of lanes that the sparsity selector names; words for either "
        "selector stand in both pairs.",
    .section = "9.7.15.6.1",
    .why =
        "Of each four lanes wgmma reads two: 0 and 1 with sp_sel 0, 2 and 3 with sp_sel 1. For 8-bit types "
        "all four hold different words, and sp_sel is 0.",
    .fix = "every lane loads its own word of what wg.sparse.compress makes.",
    .decided = "By the call.",
    .wrong = R"(local A = wg.sparse.prune(wg.randn{shape={64, 32}, dtype="bf16", seed=1})
local values, metadata = wg.sparse.compress(A)
for lane = 2, 127, 4 do metadata[{0, 0, lane}] = 0xEEEEEEEE end
wg.sparse.validate(metadata, "bf16"))",
    .right = R"(local A = wg.sparse.prune(wg.randn{shape={64, 32}, dtype="bf16", seed=1})
local values, metadata = wg.sparse.compress(A)
for lane = 0, 127 do metadata[{0, 0, lane}] = 0xEEEEEEEE end
wg.sparse.validate(metadata, "bf16"))"};

constexpr Rule WG_SPARSE_03{
    .id = "WG-SPARSE-03",
    .severity = error,
    .found_by = script,
    .title = "too many elements that are not zero",
    .law =
        "A sparse A has at most two elements that are not zero in each chunk of four along K; for tf32 one "
        "in each chunk of two.",
    .section = "9.7.15.6.1",
    .why =
        "Only those have a place in what is stored. More cannot be kept, and leaving one out changes the "
        "product.",
    .fix = "wg.sparse.prune keeps the largest of each chunk.",
    .decided = "By the tensor that is compressed, always.",
    .wrong = R"(local A = wg.randn{shape={64, 32}, dtype="bf16", seed=1}
local values, metadata = wg.sparse.compress(A)
wg.sparse.validate(metadata, "bf16")
print(values.shape[2]))",
    .right = R"(local A = wg.sparse.prune(wg.randn{shape={64, 32}, dtype="bf16", seed=1})
local values, metadata = wg.sparse.compress(A)
wg.sparse.validate(metadata, "bf16")
print(values.shape[2]))"};

}  // namespace wgrun::rules
