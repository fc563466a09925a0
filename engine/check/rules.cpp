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
};

static_assert(std::ranges::is_sorted(catalogue, {}, &Rule::id));

}  // namespace

std::span<const Rule> rules() { return catalogue; }

const Rule* find_rule(std::string_view id) {
    const auto found = std::ranges::lower_bound(catalogue, id, {}, &Rule::id);
    return found != catalogue.end() && found->id == id ? &*found : nullptr;
}

}  // namespace wgrun::check
