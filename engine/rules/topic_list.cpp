#include "rules/topic_list.hpp"

#include <array>

namespace wgrun::rules {
namespace {

constexpr std::array list{
    Topic{"multicast mask cta_mask producer",
          "One bulk copy writes its box into each CTA of the cluster whose bit the mask has, and counts its "
          "bytes at "
          "the mbarrier at the same offset there: each of these CTAs expects them.",
          "WG-SYNC-05, WG-MBAR-03, k:load_tile, k:cp_async_bulk_tensor, docs/guide/10-clusters.md"},
    Topic{"fp8 e4m3 e5m2 precision accuracy promotion accumulation 14 bits",
          "Sums of fp8 products keep 13 fraction bits (14 significant bits) in an f32 accumulator: add "
          "partial sums up "
          "in other registers every few K steps (promotion).",
          "docs/silicon.md, wg.gemm, wg.compare"},
    Topic{"tma tensor map grid constant __grid_constant__ cutensormapencodetiled cuda_error_invalid_value "
          "invalid value 1 box",
          "A tensor map has laws of its own: addresses of 16 bytes, strides of multiples of 16, boxes of up "
          "to 256 and "
          "within the swizzle.",
          "WG-TMA-04, WG-TMA-01, WG-TMA-06, k:tensor_map, docs/guide/05-tma.md"},
    Topic{"misaligned address cuda_error_misaligned_address 716 alignment align",
          "Vectors are aligned to their size, bulk copies and their sizes to 16 bytes, boxes to 128, "
          "swizzled tiles to "
          "their pattern (1024 for 128B), mbarriers to 8.",
          "WG-MEM-02, WG-TMA-01, WG-DESC-04, WG-MBAR-01"},
    Topic{"illegal address memory access cuda_error_illegal_address 700 out of bounds segfault",
          "A thread accesses memory that nobody gave it: `check --dynamic` names the access, the tensor and "
          "the thread.",
          "WG-MEM-01, WG-MEM-03, WG-SYNC-05, docs/hangs.md"},
    Topic{"illegal instruction cuda_error_illegal_instruction 715",
          "An instruction that this chip or this launch does not have: wgmma needs sm_90a, cluster "
          "instructions a "
          "cluster.",
          "WG-FORM-01, WG-SYNC-05, wgrun doctor"},
    Topic{
        "launch failure unspecified cuda_error_launch_failed 719",
        "Often a fault in shared memory: an mbarrier overwritten, a peer CTA that has ended, a copy into it.",
        "WG-SYNC-05, WG-MBAR-04, WG-TMA-03, docs/hangs.md"},
    Topic{"launch out of resources cuda_error_launch_out_of_resources 701 too many registers shared memory",
          "The CTA asks for more registers or shared memory than an SM has.",
          "WG-REG-04, WG-MEM-05, wgrun report"},
    Topic{"phase parity wait try_wait test_wait",
          "A wait names the parity of its phase, 0 for the first: the n-th turn through a ring of S stages "
          "waits with "
          "(n / S) & 1, and a producer's first wait for an empty stage with the other parity passes at once.",
          "WG-MBAR-06, WG-MBAR-03, k:pipeline, docs/guide/03-mbarrier.md"},
    Topic{"deadlock hang hangs stuck timeout freeze never ends infinite",
          "`wgrun check` says who waits for what: arrivals or bytes that do not come, a barrier that a role "
          "leaves out, "
          "a CTA that is not resident.",
          "WG-MBAR-05, WG-SYNC-02, WG-SYNC-04, WG-SYNC-06, docs/hangs.md"},
    Topic{"expect_tx bytes transaction count tx-count complete_tx arrive_expect_tx",
          "The bytes that a phase expects are those of all copies that name its mbarrier; a box counts "
          "whole, also at "
          "the tensor's edge.",
          "WG-MBAR-05, WG-MBAR-03, k:mbarrier_arrive_expect_tx, docs/guide/03-mbarrier.md"},
    Topic{"arrivals arrive count consumer consumers producer empty full ring stages pipeline double "
          "buffering buffer",
          "mbarrier.init names the arrivals of each phase: one a warp where one lane arrives for it, and "
          "those of both "
          "warpgroups where two consume.",
          "WG-MBAR-05, WG-MBAR-03, k:pipeline, docs/guide/06-pipeline.md"},
    Topic{"sparse metadata 2:4 structured sparsity selector",
          "The metadata of a row says which two of four elements are kept; which thread holds which word, "
          "wgmma:metadata_layout says, and wg.sparse compresses.",
          "WG-SPARSE-01, WG-SPARSE-02, wgmma:metadata_layout, wg.sparse, docs/guide/layouts.md"},
    Topic{"wait_group warpgroups commit_group other warpgroup",
          "wgmma.wait_group waits for the wgmma of the warpgroup that executes it, and for no other: before "
          "memory is "
          "reused that two warpgroups read, both wait and then arrive or meet at a barrier.",
          "WG-RACE-02, WG-GROUP-01, k:wgmma_wait_group, docs/guide/04-wgmma.md"},
    Topic{"transpose transposed transposition movmatrix trans trans_a trans_b mn-major k-major major",
          "16-bit operands may be MN-major (trans_a, trans_b = 1). All others are K-major: a tile of the "
          "other kind is "
          "transposed through shared memory.",
          "WG-DESC-05, WG-FORM-01, wg.tile, tensor:transpose, docs/guide/transpose.md"},
    Topic{"bank conflict conflicts swizzle swizzled padding pad 128b 64b 32b",
          "The swizzle spreads rows over the banks; threads that read a swizzled tile xor the same bits as "
          "TMA does.",
          "WG-PERF-05, WG-DESC-02, tile:offset, docs/guide/transpose.md"},
    Topic{"descriptor lbo sbo leading stride byte offset matrix",
          "A tile knows its descriptors: start address, LBO, SBO and swizzle, each divided by 16.",
          "WG-DESC-01, WG-DESC-02, WG-DESC-03, tile:descriptor, docs/guide/layouts.md"},
    Topic{"scale_d zero clear accumulator accumulators first uninitialised uninitialized",
          "The first wgmma of a sum takes scale_d = 0, which does not read its accumulators; later ones add.",
          "WG-REG-01, k:mma, docs/guide/04-wgmma.md"},
    Topic{"c7504 c7505 c7506 c7507 c7508 setmaxnreg ignored maxntid register reallocation",
          "ptxas ignores setmaxnreg: it has to know how many registers a thread begins with (.maxntid, "
          "__launch_bounds__).",
          "WG-PERF-03, WG-REG-02, docs/ptxas.md"},
    Topic{"c7509 c7510 c7511 c7512 c7513 c7514 c7515 c7516 c7517 c7518 c7519 serialised serialized "
          "serialization wgmma",
          "ptxas waits after each wgmma, since it cannot keep its registers in flight: a call, a branch, an "
          "access or a "
          "missing fence in between.",
          "WG-PERF-01, WG-FENCE-01, WG-GROUP-01, docs/ptxas.md"},
    Topic{"fence proxy async generic fence.proxy.async st.shared",
          "What threads have written to shared memory, wgmma and bulk copies see after a fence.proxy.async "
          "by the "
          "threads that wrote, and then a barrier.",
          "WG-PROXY-01, WG-PROXY-02, k:fence_proxy_async, docs/guide/05-tma.md"},
    Topic{"race racecheck data race synchronization synchronisation __syncthreads barrier bar.sync",
          "Two accesses of a byte, of which one writes, have to be ordered: by a barrier, or by an arrival "
          "and a wait.",
          "WG-RACE-01, WG-RACE-02, WG-RACE-03, WG-SYNC-02, docs/verdicts.md"},
    Topic{"named barrier barriers roles warp specialization specialisation",
          "Roles meet at barriers 1 to 15 with a count of their threads; two roles that share a number meet "
          "each other.",
          "WG-SYNC-02, k:bar_sync, docs/guide/06-pipeline.md"},
    Topic{"cluster clusters thread block distributed shared memory dsmem mapa peer cta reduction",
          "CTAs of a cluster access each other's shared memory; all have to have begun, and none may end "
          "before.",
          "WG-SYNC-05, WG-SYNC-04, k:mapa, k:st_async, k:cp_async_bulk_cluster, docs/guide/10-clusters.md"},
    Topic{
        "spill spills spilling register registers pressure setmaxnreg register file",
        "`wgrun report` has registers and spills; warpgroups that need few give registers back (setmaxnreg).",
        "WG-PERF-04, WG-REG-04, WG-REG-02, docs/guide/performance.md"},
    Topic{"split-k splitk stream-k semaphore flag counter atomics grid release acquire between ctas",
          "Between CTAs: a barrier of those who wrote, a release at scope gpu, an acquire, a barrier of "
          "those who read.",
          "WG-RACE-04, WG-SYNC-06, wg.gemm, docs/gemm.md"},
    Topic{"programmatic dependent launch pdl griddepcontrol launch_dependents",
          "griddepcontrol.wait comes before the first access to memory that the previous launch writes or "
          "still reads.",
          "WG-RACE-05, WG-MEM-06, k:griddepcontrol_wait"},
    Topic{"cp.async cp_async noinc wait_all",
          "A cp.async belongs to its thread, which waits for it before it tells others.",
          "WG-GROUP-04, WG-GROUP-06, k:cp_async"},
    Topic{"shfl shuffle warp reduce reduction sum lanes",
          "shfl.sync takes d, a, b and c: c holds the segment's mask and the last lane (0x1f for a whole "
          "warp). "
          "A sum over the warp adds k:shfl_sync_bfly at distances 16, 8, 4, 2 and 1; of integers, "
          "k:redux_sync has it.",
          "WG-SYNC-08, k:shfl_sync, docs/guide/kernels.md"},
    Topic{"elect one lane single thread leader",
          "Bulk copies and arrivals are for one lane: a guard, k:if_ or elect.sync chooses it.",
          "WG-TMA-07, k:elect_sync, docs/guide/05-tma.md"},
    Topic{"divergence divergent aligned converge reconverge branch if",
          "All threads of a warp (of a warpgroup for wgmma) execute an .aligned instruction together.",
          "WG-SYNC-01, WG-SYNC-03, k:if_"},
    Topic{"persistent scheduler tiles dynamic work queue",
          "A persistent CTA takes tiles in turns; the phases of its rings go on from tile to tile.",
          "WG-MBAR-06, WG-RACE-01, k:queue, docs/guide/kernels.md"},
    Topic{"tolerance compare difference wrong result results mismatch nan",
          "wg.compare says where, by how much, and what it looks like: transposed, scaled, a tile missing.",
          "wg.compare, docs/debugging.md"},
    Topic{"inline ptx asm assembly", "PTX as text, with its operands and effects.", "docs/inline_ptx.md"},
    Topic{"epilogue store stmatrix accumulator fragment layout",
          "Which thread holds which element of D, the fragment knows.",
          "k:fragment, k:store_accumulator, k:epilogue, docs/guide/layouts.md"},
    Topic{"profile timeline slow performance stall bandwidth", "Where a kernel's time goes.",
          "wgrun timeline, wgrun check --perf, docs/guide/performance.md"},
    Topic{"coalescing coalesced uncoalesced coalesce sector sectors transaction transactions strided access "
          "pattern",
          "Lanes of a warp that access neighbouring elements share sectors of 32 bytes; lanes that are far "
          "apart move a "
          "sector each.",
          "WG-PERF-09, wgrun timeline, docs/guide/transpose.md"},
    Topic{
        "occupancy launch bounds launch_bounds __launch_bounds__ maxntid minnctapersm resident blocks per sm",
        "Threads, registers and shared memory decide how many CTAs an SM holds: `wgrun report` says which of "
        "them is "
        "the limit.",
        "WG-REG-04, wgrun report, wg.target"},
    Topic{"layout algebra cute composition complement divide product tiler",
          "Layouts are functions from coordinates to offsets, as in CuTe; an integer n stands for the layout "
          "n:1.",
          "wg.layout, wg.composition, wg.logical_divide, docs/guide/layouts.md"},
    Topic{"triton pytorch torch python cutlass tilelang gluon cuda nvcc ptx foreign other compilers inductor "
          "jax",
          "`wgrun check` reads PTX of other compilers; in Python it checks what a program compiles.",
          "wg.ptx, docs/foreign.md, docs/python.md"},
    Topic{"seed seeds schedule schedules interleaving nondeterministic flaky sometimes random order",
          "`wgrun check --dynamic --seeds N` runs each launch with N schedules of its warps and copies; a "
          "proof holds for "
          "all of them.",
          "WG-RACE-01, docs/verdicts.md, docs/command_line.md"},
    Topic{"numerics rounding precision exact ulp bitwise bit-exact accumulate",
          "The simulator adds products exactly; `numerics = \"h200\"` makes it round as the chip does.",
          "docs/silicon.md, wg.compare"},
    Topic{
        "cache hint policy eviction evict l2 prefetch createpolicy persisting",
        "Loads, stores and bulk copies take a cache policy; it changes the time of an access and no result.",
        "k:createpolicy_fractional, k:prefetch, k:load_tile"},
    Topic{"printf print debug debugger breakpoint step inspect dump",
          "k:print prints values of lanes; the debugger of the simulator stops at lines and shows registers, "
          "shared memory "
          "and mbarriers.",
          "k:print, k:breakpoint, kernel:debug, docs/debugging.md"},
    Topic{"dynamic shared memory size limit too much 48 99 227 228 kb attribute smem",
          "A CTA has up to 227 KB of shared memory; wgrun asks the driver for what a kernel declares.",
          "WG-MEM-05, wg.target, wgrun report"},
    Topic{"device gpu not found no driver libcuda missing install toolkit nvrtc",
          "`wgrun doctor` says what it finds of driver, GPU, ptxas and NVRTC. Without a GPU kernels run on "
          "the simulator.",
          "wgrun doctor, wg.device, docs/runtime.md"},
    Topic{
        "blackwell sm_100 sm_100a sm_120 tcgen05 tmem ampere sm_80 ada sm_89 sm_90 architecture target chip",
        "wgrun is for sm_90a: texts for later chips are refused, those for earlier ones are checked as far "
        "as sm_90a has "
        "their instructions.",
        "WG-FORM-06, docs/limits.md, docs/foreign.md"},
    Topic{"int8 s8 u8 quantization quantisation quantized int4 scales dequantize mixed",
          "wgmma multiplies 8-bit integers and floats; wg.gemm takes scales, and weights of fewer bits.",
          "wg.gemm, docs/gemm.md"},
    Topic{
        "im2col convolution conv pixels",
        "A tensor map may describe pixels of an image: its copies bring columns of a convolution's product.",
        "k:cp_async_bulk_tensor_im2col, k:tensor_map, docs/guide/05-tma.md"},
    Topic{"attention flash softmax flashattention flash-attention",
          "wg.attention makes attention kernels; k:softmax keeps the running softmax of accumulators.",
          "wg.attention, k:softmax, docs/guide/08-attention.md"},
    Topic{"loop unroll unrolled unrolling for while iteration",
          "k:loop is a loop of the kernel; Lua's own `for` runs while the kernel is built, and so unrolls.",
          "k:loop, WG-LUA-01, docs/guide/kernels.md"},
    Topic{"remainder tail odd sizes edge edges boundary partial tile not a multiple size index range",
          "kernel:sizes declares what sizes are legal, and `check --dynamic` launches the kernel at their "
          "edges.",
          "kernel:sizes, WG-MEM-01, k:store_accumulator, docs/command_line.md"},
    Topic{"benchmark benchmarks time measure timing autotune baseline cublas cublaslt",
          "kernel:time measures launches, `wgrun bench` those of a script; `wgrun tune` finds the fastest "
          "options.",
          "kernel:time, wgrun bench, docs/tuning.md"},
    Topic{
        "fence membar threadfence __threadfence memory order consistency volatile acquire release scope edge",
        "A fence orders the accesses of its thread within a scope; others learn of them by what they "
        "acquire.",
        "WG-RACE-04, k:fence_acq_rel_gpu, docs/verdicts.md"},
    Topic{"proof proved prove verdict verdicts undecided refuted",
          "Each kernel gets a verdict for 14 properties: proved for all launches, refuted, or undecided with "
          "a reason.",
          "kernel:verdicts, docs/verdicts.md"},
    Topic{"ping-pong pingpong cooperative consumers turns schedule",
          "Two consumer warpgroups share a tile (cooperative), or each has tiles of its own and stores while "
          "the "
          "other multiplies (ping-pong): the plan of wg.gemm chooses, `pingpong` says which.",
          "wg.gemm, k:turns, docs/guide/kernels.md"},
    Topic{
        "warp-specialized warp-specialised specialized specialised roles",
        "Producer warps copy, consumer warpgroups multiply, and setmaxnreg moves registers to the consumers.",
        "k:pipeline, k:setmaxnreg, docs/guide/07-gemm.md"},
    Topic{"grouped gemm moe experts mixture batched batch bmm",
          "One launch computes several products: of equal shapes by `batch`, of different ones by `groups`.",
          "wg.gemm, docs/gemm.md, docs/guide/kernels.md"},
    Topic{"gemv skinny small m decode swapped a and b swap_ab",
          "With few rows the weights set the time: the plan swaps A and B, splits K, or multicasts.",
          "wg.gemm, docs/gemm.md, docs/performance.md"},
    Topic{"block-scaled block scaling scales blockwise mxfp8 deepgemm",
          "e4m3 operands take a scale for each block of 128 elements; the formats with scales of 16 or 32 "
          "elements "
          "are those of later chips.",
          "wg.gemm, docs/gemm.md, docs/guide/kernels.md"},
    Topic{"mixed-input mixed input w4a16 w8a16 w4a8 dequantise weights 4-bit fp4 mxfp4 nvfp4 weight-only",
          "Weights of 4 or 8 bits are converted in registers on their way to wgmma (`b_type`).",
          "wg.gemm, wg.prepack, docs/gemm.md"},
    Topic{"emulated f32 float32 sgemm single precision 3xtf32 bf16x9 bf16x6 parts",
          "A product of f32 is a sum of products of parts, which are bf16 or tf32 (`precision`).",
          "wg.gemm, wg.split, docs/gemm.md"},
    Topic{"several devices multi-gpu gpus peer nvlink symmetric memory sys reduce-scatter all-gather",
          "A grid runs on several devices at once, and accesses of two devices are ordered in the scope sys.",
          "kernel:run, WG-RACE-04, docs/devices.md"},
    Topic{"paged attention kv cache gqa mqa grouped query decoding few queries",
          "wg.attention_decode reads keys and values by pages, and shares them among the queries of a head.",
          "wg.attention_decode, wg.attention, docs/guide/kernels.md"},
    Topic{"mla multi-head latent attention deepseek flashmla absorbed latent cache",
          "wg.mla_decode is the attention of a few queries to a cache of latent rows, by pages or not.",
          "wg.mla_decode, docs/mla_decode.md"},
    Topic{"score function mask causal sliding window alibi softcap block mask flexattention",
          "wg.attention takes functions of the scores and of the mask, which are traced into the kernel.",
          "wg.attention, docs/guide/epilogues.md"},
    Topic{"rmsnorm layernorm row sums norm normalise fused reductions",
          "An epilogue can sum rows of D, of its squares too, and pass them to the next launch.",
          "wg.gemm, docs/guide/epilogues.md, docs/gemm.md"},
    Topic{"visitor evt epilogue function own custom bias activation gelu relu residual",
          "An epilogue is options (bias, activation, residual, scales), or a function of registers.",
          "wg.gemm, k:epilogue, docs/guide/epilogues.md"},
    Topic{"dual number derivative gradient backward autograd automatic differentiation",
          "wg.attention_backward takes the derivative of a score function from the function itself.",
          "wg.attention_backward, docs/python.md"},
    Topic{
        "graph cuda graph stream capture launch overhead",
        "Launches of kernels and plans can be captured in CUDA graphs; kernel:prepare binds arguments once.",
        "kernel:prepare, docs/python.md, docs/runtime.md"},
    Topic{"roofline tflops peak limit bound compute-bound memory-bound arithmetic intensity",
          "wg.chips has the rates of each chip; `wgrun timeline` and `wgrun bench` compare with them.",
          "wg.chips, docs/performance.md, docs/guide/performance.md"},
    Topic{"sanitizer compute-sanitizer memcheck racecheck initcheck synccheck",
          "`wgrun check` finds what these tools look for, before a launch, and for every launch where it "
          "proves it.",
          "docs/verdicts.md, docs/rules.md, docs/debugging.md"},
    Topic{"guarded build profiled build printing build instrumentation timestamp timestamps",
          "A copy of the program that ends where it hangs, records timestamps or delivers messages.",
          "kernel:profile, k:print, docs/hangs.md, docs/timeline.md"},
    Topic{"remedy fix repair autofix",
          "`wgrun check --fix` writes the remedy of a finding into the script, where it has tried that it "
          "helps.",
          "docs/verdicts.md, docs/command_line.md"},
    Topic{"dataflow analysis abstract execution widening recurrence synthetic arguments happens-before edge "
          "vector clock "
          "shadow memory taint livelock retry interning symbol recovery",
          "How proofs and the simulator's race detector work is in the tour of the code.",
          "docs/design.md, docs/verdicts.md, docs/glossary.md"},
    Topic{"thread coordinates tid ctaid laneid warpid special register",
          "k:special reads a special register: thread, warp and lane, CTA, cluster, clock.",
          "k:special, k.cluster, docs/guide/01-elementwise.md"},
    Topic{"vectorised vectorized load 128-bit loads float4 ldg ld.global vector",
          "Vectors of up to 16 bytes move by one access, if the address is a multiple of their size.",
          "k:ld, k:st, WG-MEM-02, docs/guide/02-shared-memory.md"},
    Topic{"cubin fatbin export embed ship deploy ahead of time aot",
          "kernel:export and `wgrun export` write PTX, cubin and host code for programs without wgrun.",
          "wgrun export, kernel:export, docs/export.md"},
    Topic{"spinlock lock mutex critical section",
          "Threads that wait for a value poll it with an acquire; the others of their warp must be able to "
          "go on.",
          "WG-SYNC-06, WG-RACE-04, k:atom_cas"},
    Topic{"texture surface constant memory unsupported",
          "Textures, surfaces and banks of constants are not part of scripts; parameters are constants of a "
          "launch.",
          "docs/limits.md, k:param"},
    Topic{"evict_first cache hints streaming", "A cache policy says which lines leave the L2 cache first.",
          "k:createpolicy_fractional, k:load_tile"},
    Topic{"k offset channel skew slice",
          "CTAs begin their sums at different blocks of K, so that they read different memory channels.",
          "wg.gemm, docs/glossary.md, docs/experiments/gemm.md"},
    Topic{"machine code sass event image kept",
          "`wgrun check --sass` holds the machine code of ptxas against the program.",
          "docs/sass.md, docs/assemblers.md"},
    Topic{
        "severity override severities warnings notes",
        "In kernels of other compilers some rules are warnings or notes, since their faults may be intended.",
        "docs/foreign.md, docs/rules.md"},
    Topic{"mutant mutation testing", "`make mutate` breaks kernels on purpose: each fault must be found.",
          "CONTRIBUTING.md, docs/reliability.md"},
};

}  // namespace

std::span<const Topic> topics() { return list; }

}  // namespace wgrun::rules
