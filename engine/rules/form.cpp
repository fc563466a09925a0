// Rules of forms: of instructions, kernels and launches, each illegal whatever else the kernel does.
#include "wgrun/rules.hpp"

namespace wgrun::rules {

using enum Severity;
using enum Finder;

constexpr Rule WG_FORM_01{
    .id = "WG-FORM-01",
    .severity = error,
    .found_by = script,
    .title = "illegal qualifiers",
    .law = "The qualifiers of an instruction are one of the tuples that the PTX ISA lists for it.",
    .section = "9.7.15.5.2",
    .why =
        "Shapes, types and immediates may not be combined freely; the assembler refuses what is not listed.",
    .fix = "Take a legal tuple: the message lists what would be legal, `wgrun isa NAME` lists them all.",
    .decided = "By the call, always.",
    .wrong = R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=8, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
    .right = R"(k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

constexpr Rule WG_FORM_02{
    .id = "WG-FORM-02",
    .severity = error,
    .found_by = script | run,
    .title = "an illegal operand",
    .law =
        "An operand has the kind, the type and the number of registers that the instruction asks for, and "
        "an immediate is in its range.",
    .section = "9.4",
    .why =
        "PTX has no conversions between operands: the assembler refuses the program, or takes the bits for "
        "something else.",
    .fix = "Give the operand that the message asks for; registers are made by k:reg and k:regs.",
    .decided = "By the call, always; what a register holds is the affair of other rules.",
    .wrong = R"(local acc = k:regs("f32", 16)
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))",
    .right = R"(local acc = k:regs("f32", 32)   -- n/2 registers for an f32 accumulator
k:wgmma_fence()
k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
k:wgmma_commit_group()
k:wgmma_wait_group(0))"};

constexpr Rule WG_FORM_03{
    .id = "WG-FORM-03",
    .severity = error,
    .found_by = script,
    .title = "a CTA or cluster that no SM can hold",
    .law = "A CTA has 1 to 1024 threads and at most 227 KiB of shared memory, a cluster 1 to 16 CTAs.",
    .section = "5.1.7",
    .why =
        "No multiprocessor of an sm_90, and no group of them, can hold more: the launch would fail. Clusters "
        "of more than 8 CTAs need the driver's permission (non-portable cluster size), for "
        "which wgrun asks.",
    .fix = "smaller tiles or fewer stages; more CTAs with fewer threads.",
    .decided = "By the call, always.",
    .wrong = R"(-- six stages of 48 KiB
local tile = wg.tile{dtype="bf16", mn=384, k=64, major="K"}
local stages = k:shared{tile=tile, count=6, name="stages"}
k:bar_sync(0))",
    .right = R"(-- four stages of 48 KiB
local tile = wg.tile{dtype="bf16", mn=384, k=64, major="K"}
local stages = k:shared{tile=tile, count=4, name="stages"}
k:bar_sync(0))"};

constexpr Rule WG_FORM_04{
    .id = "WG-FORM-04",
    .severity = error,
    .found_by = script,
    .title = "a grid that cannot be launched",
    .law =
        "A grid has 1 to 2147483647 CTAs along x and 1 to 65535 along y and z, and is made of whole "
        "clusters.",
    .section = "2.2.2",
    .why = "The driver refuses the launch.",
    .fix = "grid = { ... } with each extent a multiple of the cluster's; more work for each CTA in a loop.",
    .decided = "By the launch, always.",
    .wrong = R"(-- cluster = { 2 }, grid = { 3 }
k:barrier_cluster_arrive()
k:barrier_cluster_wait()
local rank = k:special "cluster_ctarank")",
    .right = R"(-- cluster = { 2 }, grid = { 4 }
k:barrier_cluster_arrive()
k:barrier_cluster_wait()
local rank = k:special "cluster_ctarank")"};

constexpr Rule WG_FORM_05{
    .id = "WG-FORM-05",
    .severity = error,
    .found_by = script | check,
    .title = "a launch that does not fit the kernel",
    .law =
        "A launch gives a kernel what it declares: an argument for each parameter, of its kind, its type and "
        "its range, and the CTAs, clusters and shared memory that its text requires.",
    .section = "5.1.6",
    .why =
        "A kernel reads its parameters as the bytes that it expects: a tensor of another type is misread, "
        "and a number that is too large is cut.",
    .fix = "args = { ... } in the order of the parameters, tensors of the types that they declare.",
    .decided =
        "By the launch, always. Memory behind a pointer without a shape (C API, wg.ptx) is "
        "not compared.",
    .wrong = R"(-- args = { a tensor of f32 }
local X = k:param("X", "u32*")
local thread = k:special "tid.x"
k:st_global_u32(k:element(X, thread), 1))",
    .right = R"(-- args = { a tensor of u32 }
local X = k:param("X", "u32*")
local thread = k:special "tid.x"
k:st_global_u32(k:element(X, thread), 1))"};

constexpr Rule WG_FORM_06{
    .id = "WG-FORM-06",
    .severity = error,
    .found_by = check,
    .title = "a .version or .target without an instruction",
    .law =
        "The .version and the .target at the beginning of a PTX text have every instruction in it, and the "
        "assembler knows both.",
    .section = "11.1",
    .why =
        "The assembler refuses an instruction that came with a later version of PTX, or that another chip "
        "has: wgmma, setmaxnreg and tensormap.replace are for .target sm_90a alone. An assembler or a driver "
        "refuses a whole text of a version that is newer than its own. Of chips after sm_90a wgrun has no "
        "rules, and does not check a text for them.",
    .fix = ".version and .target as the message has them, or a newer assembler.",
    .decided = "At each instruction of a text that wgrun reads; the scripts' own texts have what they need.",
    .wrong = R"(-- a PTX text
.version 8.0
.target sm_90
wgmma.fence.sync.aligned;)",
    .right = R"(-- a PTX text
.version 8.0
.target sm_90a
wgmma.fence.sync.aligned;)"};

}  // namespace wgrun::rules
