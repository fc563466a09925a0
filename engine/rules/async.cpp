// Rules of what works asynchronously: mbarriers and the bulk-copy engine.
#include "wgrun/rules.hpp"

namespace wgrun::rules {

using enum Severity;
using enum Finder;

// --- MBAR ---------------------------------------------------------------------------------------
constexpr Rule WG_MBAR_01{
    .id = "WG-MBAR-01",
    .severity = error,
    .property = Property::phases,
    .found_by = check | run,
    .counts_threads = true,
    .title = "an mbarrier out of its life",
    .law =
        "An mbarrier is initialised once before it is used, in 8 aligned bytes of shared memory, and ended "
        "by mbarrier.inval.",
    .section = "9.7.13.15.9",
    .why =
        "An mbarrier that nobody has initialised holds anything: waits pass at once or never. Initialising "
        "a live one loses what has arrived.",
    .fix = "One thread initialises every mbarrier at the start of the kernel, before the first barrier.",
    .decided =
        "In the abstract execution, where the addresses are known; else in a run. A warp whose branch "
        "depends on memory is followed no further.",
    .wrong = R"(k:if_(first, function()
  k:fence_mbarrier_init()
  k:mbarrier_arrive(full)
end)
k:bar_sync(0))",
    .right = R"(k:if_(first, function()
  k:mbarrier_init(full, 1)
  k:fence_mbarrier_init()
  k:mbarrier_arrive(full)
end)
k:bar_sync(0))"};

constexpr Rule WG_MBAR_02{
    .id = "WG-MBAR-02",
    .severity = error,
    .property = Property::phases,
    .found_by = check | run,
    .counts_threads = true,
    .title = "an mbarrier.init that is not made known",
    .law =
        "An mbarrier.init is made known before others use the object: to threads by a barrier, to the "
        "bulk-copy engine by fence.mbarrier_init and a barrier.",
    .section = "9.7.13.15.9",
    .why = "A thread that comes too early, or the copy engine, may find the old contents of the memory.",
    .fix =
        "k:fence_mbarrier_init() by the thread that initialises, then k:bar_sync(0), or the barrier of the "
        "cluster; where one warp alone uses the object k:bar_warp_sync().",
    .decided = "In the abstract execution and on paths, where the addresses are known; else in a run.",
    .wrong = R"(k:mbarrier_init(full, 1, {guard=first})
k:bar_sync(0)
k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
k:mbarrier_wait(full, 0))",
    .right = R"(k:mbarrier_init(full, 1, {guard=first})
k:fence_mbarrier_init{guard=first}
k:bar_sync(0)
k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
k:mbarrier_wait(full, 0))"};

constexpr Rule WG_MBAR_03{
    .id = "WG-MBAR-03",
    .severity = error,
    .property = Property::phases,
    .found_by = check | run,
    .counts_threads = true,
    .title = "a miscounted phase",
    .law =
        "In each phase as many arrive at an mbarrier as mbarrier.init says and as many bytes come as "
        "expect_tx says, and what belongs to the next phase comes after a wait for this one.",
    .section = "9.7.13.15.5",
    .why =
        "An arrival too many counts for the next phase, which then completes too early; a phase that "
        "expects too few bytes completes before all of them are there.",
    .fix =
        "Give mbarrier.init the number of arrivals, not of waiting threads; give expect_tx the bytes of all "
        "copies of the phase; wait for a phase before arriving in the next.",
    .decided =
        "In the abstract execution, with placeholder sizes and with those of each launch; else in "
        "a run. Warps whose branches depend on memory are followed no further.",
    .wrong = R"(-- 128 threads arrive
k:mbarrier_init(full, 96, {guard=first})
k:bar_sync(0)
k:mbarrier_arrive(full)
k:mbarrier_wait(full, 0))",
    .right = R"(-- 128 threads arrive
k:mbarrier_init(full, 128, {guard=first})
k:bar_sync(0)
k:mbarrier_arrive(full)
k:mbarrier_wait(full, 0))"};

constexpr Rule WG_MBAR_04{
    .id = "WG-MBAR-04",
    .severity = error,
    .property = Property::phases,
    .found_by = ahead | run,
    .counts_threads = true,
    .title = "an mbarrier accessed as data",
    .law = "The 8 bytes of a live mbarrier are accessed by the mbarrier instructions alone.",
    .section = "9.7.13.15.4",
    .why =
        "Their contents are opaque, and a store, or a copy that ends behind its buffer, destroys the "
        "counts: the kernel hangs.",
    .fix = "Ask with mbarrier.test_wait; before the memory becomes something else, mbarrier.inval.",
    .decided = "In runs ahead and in a run.",
    .wrong = R"(k:mbarrier_init(full, 1, {guard=first})
k:bar_sync(0)
k:mbarrier_arrive(full, {guard=first})
local state = k:ld_shared_u32(full))",
    .right = R"(k:mbarrier_init(full, 1, {guard=first})
k:bar_sync(0)
k:mbarrier_arrive(full, {guard=first})
local complete = k:mbarrier_test_wait_parity(full, 0))"};

constexpr Rule WG_MBAR_05{
    .id = "WG-MBAR-05",
    .severity = error,
    .property = Property::deadlock,
    .found_by = check | run,
    .counts_threads = true,
    .title = "a phase that never completes",
    .law = "Every phase that is waited for completes.",
    .section = "9.7.13.15.16",
    .why =
        "The kernel hangs, and the watchdog or the user ends it. The message says who waits for which "
        "phase, how many arrivals have come and how many bytes are outstanding.",
    .fix =
        "Expect exactly the bytes that are copied (whole boxes, also where the tensor ends), let all arrive "
        "that mbarrier.init counts, and turn the parity each time round the ring.",
    .decided =
        "In the abstract execution, where nothing that depends on memory may help; else in a run. "
        "Kernels that hang with sizes that nobody launches are not found.",
    .wrong = R"(-- the box is 32 x 4 of f32: 512 bytes
k:mbarrier_arrive_expect_tx(full, 1024, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
k:mbarrier_wait(full, 0))",
    .right = R"(-- the box is 32 x 4 of f32: 512 bytes
k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
k:mbarrier_wait(full, 0))"};

constexpr Rule WG_MBAR_06{
    .id = "WG-MBAR-06",
    .severity = error,
    .property = Property::phases,
    .found_by = check | run,
    .counts_threads = true,
    .title = "a wait for another phase",
    .law =
        "Who waits for an mbarrier waits for its phases in turn, with the parity of the phase: no more than "
        "one phase completes that it has not waited for.",
    .section = "9.7.13.15.16",
    .why =
        "A parity tells the phase in progress from the one before, and no others. With the wrong one the "
        "phase before lets the wait through at once, and the bytes are not there; where two phases have "
        "gone by, the wait is for another phase than it says.",
    .fix =
        "Begin with parity 0 and turn it each time round the ring; who waits until a stage is free begins "
        "with 1, which a fresh mbarrier lets through. Of a number that counts on the lowest bit: phase & 1.",
    .decided =
        "In the abstract execution; else in a run. A wait that passes early by chance of the schedule "
        "needs the seed that shows it: odd seeds give up attempts that a loop counts, to a million; a "
        "loop that traps after so many is taken to mean others' faults.",
    .wrong = R"(for i = 0, 1 do
  k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
  k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
  k:mbarrier_wait(full, 0)
  local x = k:ld_shared_f32(mine)
  k:fence_proxy_async()
  k:bar_sync(0)
end)",
    .right = R"(for i = 0, 1 do
  k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
  k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
  k:mbarrier_wait(full, i)
  local x = k:ld_shared_f32(mine)
  k:fence_proxy_async()
  k:bar_sync(0)
end)"};

// --- TMA ----------------------------------------------------------------------------------------
constexpr Rule WG_TMA_01{
    .id = "WG-TMA-01",
    .severity = error,
    .property = Property::copy_bytes,
    .found_by = check | run,
    .counts_threads = true,
    .title = "illegal operands of a bulk copy",
    .law =
        "A bulk copy names a tensor map of its number of dimensions, in the space of parameters, constants "
        "or "
        "global memory, and an address in shared memory that is "
        "a multiple of 128 bytes, or if linear, sizes and addresses that are multiples of 16. The mbarrier "
        "that counts its bytes, or those of st.async and red.async, lies in the CTA that receives them.",
    .section = "9.7.9.25.5.2",
    .why = "The copy engine ends the launch with an error, or cuts the address and writes elsewhere.",
    .fix =
        "Align the buffer to 128 bytes or more (a swizzled tile to its pattern) and keep offsets inside it "
        "multiples of that.",
    .decided = "Without a run where addresses and sizes are known; else in a run.",
    .wrong = R"(k:st_shared_v2_b32(k:mad_lo_u32(thread, 8, from), {word, word})
k:fence_proxy_async()
k:bar_sync(0)
k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, from + 64, {guard=first})
k:cp_async_bulk_commit_group()
k:cp_async_bulk_wait_group(0))",
    .right = R"(k:st_shared_v2_b32(k:mad_lo_u32(thread, 8, from), {word, word})
k:fence_proxy_async()
k:bar_sync(0)
k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, from + 128, {guard=first})
k:cp_async_bulk_commit_group()
k:cp_async_bulk_wait_group(0))"};

constexpr Rule WG_TMA_02{
    .id = "WG-TMA-02",
    .severity = error,
    .property = Property::shared_races,
    .found_by = check | run,
    .counts_threads = true,
    .title = "a bulk copy that is not waited for",
    .law =
        "What a bulk copy writes to shared memory is accessed only after a wait for the phase of its "
        "mbarrier.",
    .section = "9.7.9.25.5.2",
    .why =
        "The bytes come at some time after the instruction. A barrier of the threads does not wait for "
        "them: only the mbarrier knows.",
    .fix = "k:mbarrier_wait(full, parity) by every warp that reads, or by one of them before a barrier.",
    .decided =
        "In the abstract execution for wgmma, and on paths; the rest in runs ahead and in a run, by "
        "the byte.",
    .wrong = R"(k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
k:bar_sync(0)
local x = k:ld_shared_f32(mine)
k:mbarrier_wait(full, 0))",
    .right = R"(k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
k:mbarrier_wait(full, 0)
local x = k:ld_shared_f32(mine))"};

constexpr Rule WG_TMA_03{
    .id = "WG-TMA-03",
    .severity = error,
    .property = Property::groups,
    .found_by = check | run,
    .counts_threads = true,
    .severity_override = SeverityOverride::warning,
    .title = "bulk copies at the end of a CTA",
    .law =
        "A CTA waits for its bulk copies before it ends: for the phases of those that come, and for the "
        "groups of those that go until they have read its memory.",
    .section = "9.7.9.25.6",
    .why =
        "The shared memory of a CTA that has ended belongs to the next one: copies in flight write into it, "
        "or read what it has written.",
    .fix =
        "Wait for the last phase of every mbarrier; the thread that stores: commit, and wait_group 0 (with "
        "read is enough).",
    .decided = "In the abstract execution, where nothing that depends on memory may wait; else in a run.",
    .wrong = R"(k:fence_proxy_async()
k:bar_sync(0)
k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, tile, {guard=first})
k:cp_async_bulk_commit_group())",
    .right = R"(k:fence_proxy_async()
k:bar_sync(0)
k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, tile, {guard=first})
k:cp_async_bulk_commit_group()
k:cp_async_bulk_wait_group(0))"};

constexpr Rule WG_TMA_04{
    .id = "WG-TMA-04",
    .severity = error,
    .found_by = script,
    .counts_threads = true,
    .title = "a tensor map that cannot be",
    .law =
        "A tensor map has 1 to 5 dimensions and a box with sides of 1 to 256 elements, whose lines are "
        "multiples of 16 bytes and no longer than the swizzle; the rows of its tensor are multiples of 16 "
        "bytes.",
    .section = "5.5.8",
    .why =
        "The copy engine moves units of 16 bytes and permutes them within the span of the swizzle. "
        "cuTensorMapEncodeTiled refuses everything else.",
    .fix = "cut the tile into several boxes, or pad the rows of the tensor.",
    .decided = "By the call and the launch, always. Maps that the host makes itself are not seen.",
    .wrong = R"(local map = k:tensor_map("X", {dtype="f32", box={64, 4}, swizzle="128B"})  -- 256 bytes a line
local tile = k:shared{bytes=1024, align=1024, name="tile"}
k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, tile, {guard=first})
k:cp_async_bulk_commit_group{guard=first}
k:cp_async_bulk_wait_group(0))",
    .right = R"(local map = k:tensor_map("X", {dtype="f32", box={32, 8}, swizzle="128B"})
local tile = k:shared{bytes=1024, align=1024, name="tile"}
k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, tile, {guard=first})
k:cp_async_bulk_commit_group{guard=first}
k:cp_async_bulk_wait_group(0))"};

constexpr Rule WG_TMA_05{
    .id = "WG-TMA-05",
    .severity = error,
    .property = Property::descriptors,
    .found_by = check | ahead | run,
    .counts_threads = true,
    .title = "a box of another layout than the descriptor",
    .law =
        "A tensor map brings a tile as the descriptor reads it through which wgmma multiplies it: in its "
        "type, with its swizzle, in lines as long, and all of it. Threads read a box where its swizzle has "
        "put "
        "its elements, which goes by the bits of the address.",
    .section = "9.7.15.5.1.2",
    .why =
        "The copy engine puts the lines of a box one behind the other and permutes their 16-byte units as "
        "its swizzle says; wgmma looks for them where the descriptor says. Where the two differ it "
        "multiplies the wrong elements, without any error. Integers may hold any bits, lines that are whole "
        "core matrices may come from a tensor that is laid out as the tile, and several boxes may fill a "
        "tile.",
    .fix = "Make both from one tile: k:tensor_map(name, {tile = t}) and k:descriptor(buffer of t).",
    .decided =
        "Where the tile and the map are known, always; of maps that only a launch gives a "
        "box, in a run. There also boxes that start within the pattern of their swizzle, where lanes read "
        "one column if it began with the box, and several as it is.",
    .wrong = R"(local t = wg.tile{dtype="bf16", mn=64, k=64, major="K"} -- 128B swizzle
local map = k:tensor_map("B", {dtype="bf16", box={64, 64}, swizzle="none"})
k:mbarrier_arrive_expect_tx(full, t.bytes, {guard=first})
k:cp_async_bulk_tensor_2d(B, map, {zero, zero}, full, {guard=first}))",
    .right = R"(local t = wg.tile{dtype="bf16", mn=64, k=64, major="K"} -- 128B swizzle
local map = k:tensor_map("B", {tile = t})
k:mbarrier_arrive_expect_tx(full, t.bytes, {guard=first})
k:cp_async_bulk_tensor_2d(B, map, {zero, zero}, full, {guard=first}))"};

constexpr Rule WG_TMA_06{
    .id = "WG-TMA-06",
    .severity = error,
    .property = Property::descriptors,
    .found_by = check | run,
    .counts_threads = true,
    .title = "a box that starts where none can",
    .law =
        "A box starts at a multiple of 16 bytes of its tensor's lines, inside of the tensor or outside; one "
        "that is stored or reduced does not start below 0, nor do pixels reach a place below 0.",
    .section = "9.7.9.25.5.2",
    .why =
        "No document says so. On the chip every load, store, reduction and prefetch that starts elsewhere "
        "ends the launch with an illegal instruction, whatever the swizzle (docs/silicon.md). Only the "
        "first coordinate counts: the others may be any.",
    .fix =
        "Begin at the multiple before, with a larger box, and skip what comes before the wanted elements; "
        "or lay the tensor out so that what is copied begins at multiples of 16 bytes.",
    .decided = "Without a run where the coordinate is known; else in a run.",
    .wrong = R"(local column = k:mov(3, { type = "s32" })
k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {column, zero}, full, {guard=first})
k:mbarrier_wait(full, 0))",
    .right = R"(local column = k:mov(4, { type = "s32" }) -- of f32: 16 bytes
k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
k:cp_async_bulk_tensor_2d(tile, map, {column, zero}, full, {guard=first})
k:mbarrier_wait(full, 0))"};

constexpr Rule WG_TMA_07{
    .id = "WG-TMA-07",
    .severity = warning,
    .found_by = check,
    .title = "a bulk copy by every lane",
    .law =
        "A bulk copy out of shared memory that is the same for all lanes of a warp is issued by one of them.",
    .section = "9.7.9.25.5.2",
    .why =
        "Each thread that executes the instruction issues a copy of its own (docs/silicon.md): a warp that "
        "stores one tile writes it 32 times, and one that adds a tile adds it 32 times. Only equal stores "
        "leave the right result.",
    .fix =
        "Let one lane issue it, commit and wait: the one that k:elect_sync() chooses, or thread 0 as a "
        "guard.",
    .decided = "On every path, where the operands are the same for all lanes.",
    .wrong = R"(k:fence_proxy_async()
k:bar_sync(0)
k:if_(thread:lt(32), function()
  k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, tile)
  k:cp_async_bulk_commit_group()
  k:cp_async_bulk_wait_group(0)
end))",
    .right = R"(k:fence_proxy_async()
k:bar_sync(0)
k:if_(thread:eq(0), function()
  k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, tile)
  k:cp_async_bulk_commit_group()
  k:cp_async_bulk_wait_group(0)
end))"};

}  // namespace wgrun::rules
