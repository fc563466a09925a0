-- Mutants that are as good as the kernel itself, and why. A row names the kernels (a pattern of the case), the call
-- (a part of its line's text, or its name) and the mutation; what it leaves open may be anything. A mutant is looked
-- up here only when the checker and the simulator have found nothing and the results are those of the kernel.
local harmless = {}

local rows = {
  -- --- names and counts that are free -----------------------------------------------------------------------
  { kind = "barrier's id", why = "All who meet there come by this one call, so they meet under the new name; a name that "
    .. "another barrier has at the time would be found (WG-SYNC-02)." },
  { name = "setmaxnreg_dec", kind = "count", why = "Still no more than a thread enters with, and the pool of WG-REG-02 is "
    .. "kept; whether the code fits is what ptxas says (C7406)." },
  { name = "setmaxnreg_inc", kind = "count", what = "8 less", why = "The pool of WG-REG-02 is kept; whether the code fits is "
    .. "what ptxas says." },
  { name = "setmaxnreg_inc", kind = "deleted setmaxnreg", why = "The warps go on with the registers they entered with: "
    .. "slower (spills), not wrong." },
  { name = "setmaxnreg_dec", kind = "deleted setmaxnreg", why = "Registers that nobody asks for: who does, waits for them "
    .. "(WG-REG-02)." },
  { case = "^WG%-REG%-03", name = "setmaxnreg_inc", kind = "count", why = "The pool of WG-REG-02 is kept." },
  { case = "^WG%-PERF%-03", name = "bar_sync", kind = "swapped", what = "after setmaxnreg_dec", why = "The one is about memory, the "
    .. "other about registers." },
  { name = "setmaxnreg_inc", kind = "swapped", what = "after begin_loop", why = "Asks again, in each turn of the loop, for "
    .. "what the warps have; the epilogue's barrier of the warpgroup stands between, as 9.7.19.5 wants." },
  { name = "setmaxnreg_inc", kind = "swapped", what = "after begin_if", why = "One of the consumers goes on with what it "
    .. "entered with." },

  -- --- descriptors and maps ---------------------------------------------------------------------------------
  { name = "matrix_descriptor", what = "LBO", why = "The leading dimension byte offset is not used: the operand is K-major and "
    .. "swizzled, or MN-major and one atom wide (9.7.15.5.1.2)." },
  { case = "^WG%-", kind = "swizzle of a tensor map", why = "All elements of the tensor are equal, or nobody reads the tile." },
  { kind = "swizzle of a tile", why = "Buffers, boxes, descriptors and offsets all come from the tile: another layout of its elements "
    .. "is as right. Where two tiles have to agree, WG-TMA-05, WG-TMA-01 or the result tells." },
  { case = "^gemm$", kind = "swizzle of a buffer", why = "copy_tile and the descriptor both go by the buffer's own tile." },
  { case = "^hello_wgmma$", kind = "swizzle of a buffer", why = "copy_tile and the descriptor both go by the buffer's own tile." },
  { case = "^sparse_gemm", kind = "swizzle of a buffer", why = "copy_tile and the descriptor both go by the buffer's own tile." },
  { case = "^WG%-", kind = "swizzle of a buffer", why = "All elements are zero, or nobody reads them." },
  { case = "^WG%-TMA%-0[14]", kind = "box of a tensor map", why = "What it stores is what is there." },
  { case = "^WG%-GROUP%-04/ok_mma", name = "matrix_descriptor", what = "base", why = "The base offset is one of swizzled matrices "
    .. "(9.7.15.5.1.2), and these have no swizzle." },
  { case = "^WG%-REG%-04/ok_role", name = "matrix_descriptor", what = "base", why = "No swizzle either." },
  { case = "^WG%-REG%-04/ok_threads", name = "matrix_descriptor", what = "base", why = "No swizzle either." },
  { case = "^WG%-TMA%-05/ok_core_matrices", name = "matrix_descriptor", what = "base", why = "No swizzle either." },
  { case = "^WG%-REG%-04", name = "matrix_descriptor", what = "start", why = "Eight rows further on: fewer than the tile's 256 are "
    .. "read, and all are zero." },

  -- --- calls by more threads --------------------------------------------------------------------------------
  { name = "cp_async_bulk_wait_group", kind = "guard", why = "Groups belong to the thread that committed them; the others have "
    .. "none and pass at once." },
  { name = "cp_async_bulk_commit_group", kind = "guard", why = "The other threads commit empty groups." },
  { name = "cp_async_bulk_commit_group", kind = "swapped", what = "after end_if", why = "The leader commits just as well behind "
    .. "the branch; the others commit empty groups." },
  { name = "fence_mbarrier_init", kind = "guard", why = "Orders the executing thread's mbarrier.init; the others have made none." },
  { name = "fence_mbarrier_init", kind = "swapped", what = "after mbarrier_arrive_expect_tx", why = "The thread knows of its own "
    .. "mbarrier; the fence is for the copy engine, and still comes before the copy." },
  { name = "fence_mbarrier_init", kind = "swapped", what = "after end_if", why = "The thread that initialises comes by there as "
    .. "well, and the barrier is still to come." },

  -- --- neighbours that do not order each other --------------------------------------------------------------
  { name = "mbarrier_init", kind = "swapped", what = "after mbarrier_init", why = "Two objects." },
  { name = "mbarrier_init", kind = "swapped", what = "after fence_mbarrier_init", why = "The last one is an `empty` barrier: "
    .. "threads alone use it, and the barrier that follows (of the cluster: release, acquire) makes it known to them. The "
    .. "fence is for the copy engine." },
  { kind = "swapped", what = "after wgmma_fence", why = "wgmma.fence orders registers (9.7.15.7.1), the barrier or the wait memory: "
    .. "neither order is seen." },
  { name = "fence_proxy_async", kind = "swapped", what = "after bar_sync", why = "The fence at the reader, after the barrier, in "
    .. "place of the fence at the writer, before it: all threads execute both." },
  { name = "mbarrier_arrive_expect_tx", kind = "swapped", what = "after cp_async_bulk_tensor_", why = "The arrival itself keeps "
    .. "the phase open, and the tx-count may go below 0 until then (9.7.13.15.5)." },
  { kind = "swapped", name = "cp_async_bulk_tensor_2d", what = "after cp_async_bulk_tensor_2d", why = "Copies are not ordered "
    .. "among each other." },
  { kind = "swapped", name = "cp_async_bulk_tensor_4d", what = "after cp_async_bulk_tensor_4d", why = "Copies are not ordered "
    .. "among each other." },
  { kind = "swapped", name = "cp_async_cg", what = "after cp_async_cg", why = "Copies are not ordered among each other." },
  { case = "^decode, pages", kind = "swapped", what = "after ld_global_u32", why = "The load is one of the page table, which nobody writes while the kernel runs." },
  { case = "^decode, pages of 4$", name = "fence_mbarrier_init", why = "The fence is for the copy engine. Here cp.async arrives, as the threads do." },
  { case = "^decode", name = "fence_proxy_async", why = "The simulator warns (WG-PROXY-02), and goes on: it has no order in which a copy "
    .. "overtakes a read that an mbarrier has made known." },
  { kind = "swapped", name = "cp_async_bulk_tensor_2d", what = "after cp_async_bulk", why = "Copies are not ordered among each other." },
  { kind = "swapped", name = "cp_async_bulk", what = "after cp_async_bulk", why = "Copies are not ordered among each other." },
  { kind = "swapped", name = "cp_async_bulk", what = "after cp_async_bulk_tensor_2d", why = "Copies are not ordered among each other." },
  { kind = "swapped", name = "cp_async_bulk_tensor_store_4d", what = "after cp_async_bulk_tensor_store_4d", why = "Copies are not "
    .. "ordered among each other." },
  { kind = "swapped", name = "cp_async_bulk_tensor_store_2d", what = "after cp_async_bulk_tensor_store_2d", why = "Copies are not "
    .. "ordered among each other." },
  { name = "mbarrier_arrive", kind = "swapped", what = "after cp_async_bulk_wait_group", why = "The stage is given back later." },
  { name = "mbarrier_wait", kind = "swapped", what = "after begin_if", text = "self:empty_barrier(c)", why = "The lane that issues the "
    .. "copies waits, and the others for it." },
  { name = "mbarrier_arrive", kind = "swapped", what = "after wgmma_wait_group", text = "pass = function", why = "The turn is passed "
    .. "later." },
  { case = "^sparse, 8 bits", name = "mbarrier_arrive", kind = "swapped", what = "after mbarrier_wait", why = "The stage is given back "
    .. "later; the other consumer's turn, which is waited for, needs none of it." },
  { case = "^epilogue$", name = "mbarrier_arrive", kind = "swapped", what = "after mbarrier_wait", why = "The stage is given back "
    .. "later; C, which is waited for, needs none." },
  { name = "cp_async_bulk_wait_group", kind = "swapped", what = "after begin_if", text = "guard = leader", why = "The branch is the leader's." },
  { case = "^three consumers$", name = "cp_async_bulk_tensor_store_2d", kind = "swapped", what = "after cp_async_bulk_commit_group",
    why = "The copy then belongs to the next round's group, which is waited for before its panel is written again." },
  { case = "^parts of K", name = "mbarrier_arrive", kind = "swapped", what = "after end_loop", text = "guard = arrives", why = "The stage is given back later." },
  { case = "parts of K in a cluster", name = "mbarrier_arrive", kind = "swapped", what = "after mbarrier_wait", text = "guard = arrives",
    why = "The stage is given back later." },
  { case = "parts of K in a cluster$", name = "mbarrier_arrive_expect_tx", kind = "guard", text = "guard = owns", why = "Each cluster has a tile there, and each "
    .. "CTA is an owner; with one owner the guard is missed." },
  { case = "parts of K in a cluster$", name = "st_async_v4_f32", kind = "swapped", what = "after begin_if", why = "Each CTA is an owner there, and goes into "
    .. "the branch." },
  { name = "st_async_v4_f32", kind = "swapped", what = "after st_async_v4_f32", why = "Stores of sums to different places; the mbarrier counts their bytes." },
  { case = "parts of K in a cluster", name = "mbarrier_init", kind = "swapped", what = "after mbarrier_arrive_expect_tx", why = "Two objects." },
  { case = "parts of K in a cluster", name = "mbarrier_arrive_expect_tx", kind = "swapped", what = "after mbarrier_init", text = "guard = owns", why = "Two objects." },
  { case = "parts of K in a cluster", name = "mbarrier_arrive_expect_tx", kind = "swapped", what = "after ld_shared_v4_f32", why = "The next sums come only "
    .. "when these have been read." },
  { case = "parts of K in a cluster", name = "fence_mbarrier_init", why = "The mbarriers of copies are used by the CTA itself, and those of the cluster "
    .. "become known by its barrier (release, acquire); the simulator has no order in which a copy's arrival overtakes these." },
  { case = "^edges$", name = "fence_mbarrier_init", why = "The proxy fence behind the zeros, which the same thread executes, is one for the mbarriers, too." },
  { case = "^edges$", name = "fence_proxy_async", kind = "swapped", what = "after griddepcontrol_launch_dependents", why = "The barrier is still to come." },
  { case = "^parts of K$", name = "mbarrier_arrive", kind = "swapped", what = "after st_global_v4_f32", why = "The stage is given back later." },
  { case = "^parts of K$", name = "st_global_v4_f32", kind = "swapped", what = "after bar_sync", why = "One CTA has all parts here, and "
    .. "each thread reads what it wrote itself." },
  { case = "^parts of K$", name = "bar_sync", text = "self:bar_sync(opts.barrier, { threads = 128 })", why = "As above: the first of "
    .. "two, which publishes the sums to other CTAs." },
  { case = "^gemm$", name = "bar_sync", kind = "swapped", what = "after ld_global_v4_b32", why = "The load is one of an operand in "
    .. "global memory, which nobody writes." },

  { name = "griddepcontrol_launch_dependents", kind = "swapped", why = "The grid behind begins a little later; it has a wait of "
    .. "its own for this one's memory." },
  { name = "griddepcontrol_wait", kind = "deleted wait", why = "A launch overlaps the grid before it only if the kernel waits for "
    .. "that grid: without the wait it begins after it." },
  { name = "griddepcontrol_launch_dependents", kind = "deleted arrive", why = "The end of the grid lets the next one begin." },
  { name = "griddepcontrol_wait", kind = "swapped", why = "The barriers between touch shared memory alone; the grid before wrote "
    .. "to global memory." },

  -- --- calls that these kernels could do without ------------------------------------------------------------
  { case = "^gemm$", text = "k:wgmma_fence()", why = "The second of a loop's two: the accumulators are those of the wgmma before, "
    .. "of the same shape, and nothing else touches them (9.7.15.7.1)." },

  { case = "^sparse", text = "k:wgmma_fence()", why = "The second of a round's two: as above, and its words of metadata are in registers "
    .. "that no wgmma in flight reads." },
  { case = "^sparse", name = "bar_warp_sync", why = "The second of a round's two: before the stage is given back comes that of the next round, "
    .. "or the wait for the wgmma that takes the words of all lanes." },
  { case = "^sparse", name = "fence_proxy_async", why = "WG-PROXY-02 warns of it, and does not refuse the kernel: what the copy overwrites "
    .. "has been read." },

  { case = "^scales of blocks", text = "once one lane has arrived for its warp", why = "Of two sets of products: before the stage of a block is given back the "
    .. "warp meets for the next one." },
  { case = "^scales of blocks, the last tiles", name = "mbarrier_arrive", kind = "deleted arrive", why = "Behind an even number of blocks, which only the "
    .. "last slice of a CTA has here: nobody waits for its stage." },
  { case = "^scales of blocks, the last tiles", name = "wgmma_wait_group", kind = "swapped", what = "after mbarrier_arrive", why = "As above." },
  { case = "^scales of blocks, parts", name = "mbarrier_arrive", kind = "swapped", what = "after end_loop", why = "The loop has one turn, behind which the stage "
    .. "is given back as well." },

  { case = "^attention$", text = "self.empty", why = "The stage of the queries is filled once: nobody waits for it to be empty." },
  { case = "^attention$", name = "fence_mbarrier_init", why = "The first of two: the second one, of the other ring, orders both." },
  { case = "^attention$", name = "setmaxnreg_inc", kind = "swapped", what = "after mbarrier_wait", why = "The wait needs few registers." },
  { case = "^attention$", name = "mbarrier_wait", kind = "swapped", what = "after begin_loop", why = "The phase of the queries is "
    .. "complete for good: later turns pass at once." },
  { case = "^attention$", name = "cp_async_bulk_wait_group", why = "The first store finds its panels free, and there is no other." },
  { case = "^attention$", name = "bar_sync", text = "function e.sync()", why = "The first of two: there are no copies from the "
    .. "panels yet that it would wait for." },

  { case = "^convolution$", name = "cp_async_bulk_wait_group", why = "The only store finds its panel free." },
  { case = "^convolution$", name = "wgmma_wait_group", kind = "swapped", what = "after cp_async_bulk_wait_group", why = "The wait for a panel is one of copies; "
    .. "the sums are read behind both." },
  { case = "^convolution$", name = "bar_sync", text = "function e.sync()", why = "The first of two: no copy from the panel comes before it." },
  { case = "^convolution$", name = "cp_async_bulk_tensor_im2col_4d", kind = "swapped", what = "after cp_async_bulk_tensor_2d", why = "Two copies of one phase; "
    .. "either may land first." },

  { case = "delta rule", name = "mbarrier_arrive_expect_tx", kind = "swapped", what = "after cp_async_bulk", why = "As for copies of tensors, above." },
  { case = "delta rule", name = "setmaxnreg_dec", kind = "swapped", what = "after begin_loop", why = "Gives back nothing more in later turns of the loop." },
  { case = "delta rule", name = "wgmma_commit_group", kind = "swapped", why = "No wgmma stands between, and no wait for the group: it is the same." },
  { case = "delta rule", kind = "swapped", text = "local function wait()", what = "after ld_shared", why = "What is loaded are gates; the wait is for T's stage." },
  { case = "delta rule", kind = "swapped", name = "mbarrier_arrive", what = "after st_global", why = "Registers that go to memory." },
  { case = "delta rule", kind = "swapped", name = "mbarrier_arrive", text = "ring:full_barrier(cursor)", what = "after end_if", why = "The arrival of the last chunk, a little later." },
  { case = "delta rule", name = "fence_mbarrier_init", why = "Another ring's follows, or comes before, by the same thread." },
  { case = "delta rule", name = "mbarrier_arrive", kind = "swapped", why = "Later by a wait for something else: nobody waits for the arrival meanwhile." },
  { case = "delta rule", name = "wgmma_fence", text = "k:wgmma_fence()", why = "Of (Q S)^T, which follows (K S)^T: the state's words have not changed, and O has only been read." },
  { case = "delta rule", name = "cp_async_bulk_cluster", kind = "swapped", what = "after cp_async_bulk_cluster", why = "Copies are not ordered among each other." },
  { case = "delta rule", name = "fence_proxy_async", text = "been read, by threads that need not wait", why = "The simulator warns (WG-PROXY-02), and goes on: it has no order in which a copy overtakes reads." },
  { case = "delta rule", name = "fence_proxy_async", text = "if read then", why = "The simulator warns (WG-PROXY-02), and goes on: it has no order in which a copy overtakes reads." },
  { case = "delta rule", name = "fence_proxy_async", kind = "swapped", what = "after begin_if", why = "The lane that copies has it." },
  { case = "delta rule", name = "mbarrier_wait", kind = "swapped", what = "after fence_proxy_async", why = "As above: reads by others, and a copy." },
  { case = "delta rule, segments", name = "mbarrier_init", text = "self.empty", why = "Of the second kernel, whose stages a barrier frees." },
  { case = "delta rule", text = "all lanes have read the gates", why = "The lanes read before they wait for products together, in the simulator's schedules." },
  { case = "delta rule", name = "bar_warp_sync", kind = "swapped", what = "after st_shared_b32", why = "The first store is to row 0 of a block, which nobody reads." },
  { case = "delta rule", name = "mbarrier_arrive", text = "guard = lane:le(there)", why = "Of the last chunk, for whose stage nobody waits." },
  { case = "delta rule", name = "bar_warp_sync", kind = "swapped", what = "after mbarrier_arrive", text = "k:bar_warp_sync(0xFFFFFFFF)",
    why = "The lanes have read V, or the gates, before a product that they begin or wait for together." },
  { case = "delta rule", name = "bar_warp_sync", kind = "swapped", what = "after end_if", why = "All lanes come by there, and the arrival is still to come." },
  { case = "delta rule", name = "wgmma_wait_group", kind = "swapped", what = "after bar_warp_sync", why = "Both come before the arrival." },
  { case = "delta rule", name = "cp_async_bulk_wait_group", kind = "swapped", what = "after end_if", why = "The lane that copies comes by there; the others have no groups." },
  { case = "delta rule, decays", name = "bar_sync", text = "k:bar_sync(0)", why = "Before a kernel starts that runs at the same time; for the copies that are counted another barrier follows." },
  { case = "delta rule, decays", name = "fence_acq_rel_gpu", why = "For a kernel that runs at the same time, which the simulator runs behind this one." },
  { case = "delta rule, decays", name = "fence_proxy_async", text = 'space = "global"', why = "Of copies by another kernel, which the simulator runs before this one." },
  { case = "delta rule, decays", name = "cp_async_bulk_wait_group", text = "read = not ready", what = "read", why = "Another kernel waits for the copies' ends, which the simulator runs behind this one." },
  { case = "delta rule, decays", name = "cp_async_bulk_wait_group", kind = "swapped", what = "after begin_if", why = "Only the thread whose copy runs waits for it." },
  { case = "delta rule, decays", text = "self:bar_warp_sync(0xFFFFFFFF)", why = "All warps have met since N was stored." },
  { case = "delta rule, decays", name = "wgmma_mma_async", kind = "swapped", what = "after wgmma_commit_group", why = "Of (Q S)^T, which nobody waits for: O is read behind P U." },
  { case = "^gradients of the delta rule", name = "wgmma_wait_group", kind = "swapped", what = "after mbarrier_wait", why = "Nobody reads or writes what the products have meanwhile." },
  { case = "^gradients of the delta rule", name = "wgmma_wait_group", kind = "swapped", what = "after ld_shared", why = "What is loaded are decays, which no product has." },
  { case = "^gradients of the delta rule", name = "mbarrier_wait", kind = "swapped", what = "after begin_loop", why = "Each turn of the loop waits for a phase that has ended." },
  { case = "^gradients of the delta rule", name = "mbarrier_wait", kind = "swapped", what = "after ld_global", why = "What is loaded are rows of V, which no copy writes." },
  { case = "^gradients of the delta rule", name = "st_global_b32", kind = "swapped", text = "tile:offset(8 * (i // 2)", why = "The words of an image: operand A of products, which only read them." },
  { case = "^gradients of the delta rule", name = "fence_proxy_async", text = "threads have read the states, too", why = "The simulator warns (WG-PROXY-02), and goes on: it has no order in which a copy overtakes reads." },
  { case = "^gradients of the delta rule, decays", name = "matrix_descriptor", what = "SBO", why = "Of the first band of a step: the words for the other eight tokens are 0." },
  { case = "^gradients of the delta rule", name = "matrix_descriptor", what = "base", why = "Of images of states, which have no swizzle." },
  { case = "delta rule", name = "st_global_v4_b32", kind = "swapped", what = "after bar_warp_sync", why = "The words are in registers." },
  { case = "delta rule", kind = "swizzle of a buffer", why = "Copies and descriptors both go by the plan's tile." },

  { case = "^ssd_backward", name = "mbarrier_init", text = "self.empty", why = "Of a ring that is used once: nobody waits until its stage is free." },
  { case = "^ssd_backward", kind = "swapped", what = "after mbarrier_arrive_expect_tx", why = "Bytes are announced twice for a stage, whose phase ends after both." },
  { case = "^ssd_backward", name = "mbarrier_arrive_expect_tx", what = "after cp_async_bulk", why = "The phase ends after the announcement, whatever has come before it." },
  { case = "^ssd_backward", name = "bar_sync", kind = "swapped", what = "after begin_loop", why = "All threads take the same turns, and meet in each." },
  { case = "^ssd_backward", name = "st_global_b32", kind = "swapped", why = "A sum that this kernel does not read." },
  { case = "^ssd_backward", name = "mbarrier_wait", kind = "swapped", what = "after begin_loop", why = "Waits for the same phase in each turn." },
  { case = "^ssd_backward", name = "wgmma_wait_group", kind = "swapped", what = "after begin_if", why = "Of the queries, whose warps all come by there." },
  { case = "^ssd", name = "fence_mbarrier_init", why = "Another ring's follows, or comes before, by the same thread." },
  { case = "^ssd", name = "mbarrier_arrive", kind = "swapped", why = "Later by a wait for something else, or by the end of a branch: nobody waits for the arrival meanwhile." },
  { case = "^ssd", name = "mbarrier_arrive", kind = "deleted arrive", text = "guard = arrives", why = "Of the last chunk, for whose stage nobody waits." },
  { case = "^ssd", name = "wgmma_commit_group", text = "k:wgmma_commit_group()", why = "The next product's commit takes the wgmma along, and one wait is for both." },
  { case = "^ssd", name = "wgmma_mma_async", kind = "swapped", what = "after wgmma_commit_group", why = "The last wgmma of the state's product comes to the group of the next one, and one wait is for both." },
  { case = "^ssd", name = "wgmma_fence", text = "k:wgmma_fence()", why = "Of S^T C^T, which follows the state's product: the words of S have not changed since its fence." },
  { case = "^ssd", name = "wgmma_wait_group", kind = "swapped", what = "after bar_warp_sync", why = "Both come before the arrival." },
  { case = "^ssd", name = "wgmma_wait_group", kind = "swapped", what = "after mbarrier_arrive", why = "Of the last chunk, whose P nobody overwrites; in the loop it is found." },
  { case = "^ssd", name = "fence_proxy_async", text = "if read then", why = "The simulator warns (WG-PROXY-02), and goes on: it has no order in which a copy overtakes reads." },
  { case = "^ssd", name = "mbarrier_wait", kind = "swapped", what = "after fence_proxy_async", why = "As above: reads by others, and a copy." },
  { case = "^ssd", name = "fence_proxy_async", kind = "swapped", what = "after bar_warp_sync", why = "The lanes execute the fence together, and the arrival is still to come." },
  { case = "^ssd", name = "fence_proxy_async", kind = "swapped", what = "after begin_if", why = "The lane that copies has it." },
  { case = "^ssd", name = "cp_async_bulk_wait_group", kind = "swapped", what = "after end_if", why = "The other lanes have no groups, and the arrival is still to come." },
  { case = "^ssd", name = "mbarrier_wait", kind = "swapped", what = "after ld_global", why = "What is loaded are steps, which nobody writes; the wait is for a stage." },
  { case = "^ssd", text = "all lanes have read x and the gates", why = "The lanes read before they wait for products together, in the simulator's schedules." },
  { case = "^ssd", name = "bar_warp_sync", text = "k:bar_warp_sync(0xFFFFFFFF)", why = "The lanes of a warp go on together in the simulator's schedules." },
  { case = "^ssd", name = "st_global_v4_b32", kind = "swapped", what = "after bar_warp_sync", why = "The words are in registers." },
  { case = "^ssd", kind = "swizzle of a buffer", why = "Copies and ldmatrix go by the plan's tile, and no descriptor by the buffer's." },
  { case = "^ssd", name = "setmaxnreg_inc", kind = "count", what = "8 more", why = "The pool of WG-REG-02 has that many." },
  { case = "^ssd", name = "setmaxnreg_inc", kind = "swapped", what = "after ld_global", why = "The one is about registers, the other about memory." },
  { case = "^ssd", name = "setmaxnreg_dec", kind = "swapped", what = "after begin_loop", why = "Gives back nothing more in later turns of the loop." },
  { case = "^ssd", name = "bar_sync", kind = "swapped", what = "after ld_global", why = "What is loaded are the places of sequences, which nobody writes." },

  { case = "^mixed", name = "mbarrier_arrive_expect_tx", kind = "swapped", what = "after cp_async_bulk", why = "As for copies of tensors, above." },
  { case = "^mixed", name = "mbarrier_wait", kind = "swapped", what = "after begin_if", why = "The lane that copies waits; the others only "
    .. "go round with it." },
  { case = "^mixed", name = "bar_warp_sync", text = "k:bar_warp_sync", why = "Weights of the stage that is given back have been read before the warp met in the turn "
    .. "before, which is another call of a round." },
  { case = "^mixed", name = "wgmma_wait_group", text = "wait_group(1)", kind = "swapped", why = "Still before the registers of the set are written "
    .. "again." },
  { case = "^mixed, eight rows$", name = "matrix_descriptor", what = "SBO", why = "There is one block of eight rows, so that SBO is not used." },
  { case = "^mixed", name = "wgmma_wait_group", kind = "swapped", what = "after fence_proxy_async", why = "Still before the stage is given back." },
  { case = "^mixed", name = "fence_proxy_async", why = "As for decoding, above: WG-PROXY-02 warns." },
  { case = "^mixed", name = "st_async_v4_f32", kind = "swapped", what = "after st_async_v4_f32", why = "Stores are not ordered among each other." },
  { case = "^mixed", name = "mbarrier_arrive", kind = "swapped", what = "after end_if", why = "Warps that have waited arrive as well, in a phase "
    .. "that nobody waits for." },
  { case = "^mixed", name = "cp_async_bulk_wait_group", why = "The first store finds its panel free, and there is no other." },
  { case = "^mixed", name = "wgmma_wait_group", kind = "swapped", what = "after cp_async_bulk_wait_group", why = "The one is about registers, "
    .. "the other about panels, to which nothing has been written yet." },
  { case = "^mixed", text = "prefetch", why = "It changes when bytes arrive, and nothing else." },
  { case = "^mixed, 24 rows$", name = "bar_warp_sync", kind = "swapped", what = "after stmatrix_x4", why = "What that writes are rows that the same lanes "
    .. "have read." },
  { case = "^mixed, [m2].* rows$", name = "fence_mbarrier_init", why = "The first of two: the second one, after the barriers of C, orders all." },

  -- wg.attention_backward: the producer acquires a stage of Q before one of dO, and Q's is given back after everything that read dO.
  { case = "^backward, wide", text = "prefetch", why = "It changes when bytes arrive, and nothing else." },
  { case = "^backward, wide", name = "red_relaxed_gpu_global_add_v4_f32", kind = "swapped", why = "Nobody reads the sums before the kernel ends." },
  { case = "^backward, wide", name = "cp_async_bulk_cluster", kind = "swapped", what = "after red_relaxed_gpu_global_add_v4_f32", why = "As above." },
  { case = "^backward, wide", name = "setmaxnreg_inc", kind = "swapped", what = "after st_shared_v4_b32", why = "The store needs few registers." },
  { case = "^backward, wide", name = "bar_sync", kind = "swapped", what = "after mbarrier_arrive", why = "All consumers pass the barrier before one of "
    .. "them waits for the arrival." },
  { case = "^backward, wide", name = "mbarrier_arrive", kind = "swapped", what = "after mbarrier_wait", why = "The wait is for K and V, which do not "
    .. "wait for it." },
  { case = "^backward, wide", text = "self:empty_barrier(c), c.phase", name = "mbarrier_wait", kind = "swapped", what = "after stmatrix_x4", why = "dO has one "
    .. "stage: its block comes when all consumers are done with what read the stage of dS before. At 192 it has two." },
  { case = "^backward, wide", name = "mbarrier_arrive_expect_tx", kind = "swapped", what = "after cp_async_bulk_cluster", why = "Bytes may come before they are "
    .. "expected." },
  { case = "^backward", text = "self.empty", name = "mbarrier_init", why = "The one of K and V, which come once: nobody waits for it." },
  { case = "^backward", name = "fence_mbarrier_init", why = "One of three, one for each ring: the last one orders all." },
  { case = "^backward", name = "setmaxnreg_inc", kind = "swapped", what = "after mbarrier_wait", why = "The wait needs few registers." },
  { case = "^backward", name = "cp_async_bulk_tensor_4d", kind = "swapped", what = "after cp_async_bulk", why = "Copies are not ordered among each other." },
  { case = "^backward", name = "cp_async_bulk_tensor_store_4d", kind = "swapped", what = "after cp_async_bulk_tensor_store_4d", why = "As above." },
  { case = "^backward", name = "cp_async_bulk_tensor_4d", kind = "swapped", what = "after mbarrier_wait", why = "The copy is issued "
    .. "when another stage is free, which does not wait for it." },
  { case = "^backward", name = "mbarrier_wait", kind = "swapped", what = "after mbarrier_arrive_expect_tx", why = "The stage of Q that was "
    .. "acquired before tells that the last phase of this stage of dO is over." },
  { case = "^backward", name = "mbarrier_wait", kind = "swapped", what = "after begin_loop", why = "K and V have come for good." },
  { case = "^backward", text = "k:wgmma_fence()", why = "Registers that dP or the next scores overwrite are read before "
    .. "the fence of another product, which stands between. The assembler wants one for each (C7519)." },
  { case = "^backward", name = "wgmma_commit_group", kind = "swapped", why = "No wait stands between, or one for a group that the wgmma joins." },
  { case = "^backward", text = "p.drained", why = "It is for the assembler, which finds too few registers else (C7512)." },
  { case = "^backward", name = "wgmma_commit_group", kind = "deleted commit", why = "That of dV, which joins the group behind it: dO's stage is given back behind both." },
  { case = "^backward", kind = "swapped", name = "fence_proxy_async", what = "after bar_warp_sync", why = "The lanes execute the fence together, and the arrival is still to come." },
  { case = "^backward", kind = "swapped", name = "mbarrier_arrive", what = "after wgmma_wait_group", why = "The thread that adds waits longer." },
  { case = "^backward", name = "cp_async_bulk_commit_group", kind = "swapped", what = "after mbarrier_wait", why = "The wait is for the other consumer's share." },
  { case = "^backward", name = "wgmma_mma_async", kind = "swapped", what = "after wgmma_commit_group", why = "It joins the next group, "
    .. "which is waited for as well before its registers or operands are used." },
  { case = "^backward", name = "wgmma_wait_group", kind = "swapped", what = "after ld_shared_v2_f32", why = "The load is one of delta." },
  { case = "^backward", name = "wgmma_wait_group", kind = "swapped", what = "after mbarrier_arrive", why = "The stage is one of dO: see above." },
  { case = "^backward", name = "wgmma_wait_group", kind = "swapped", what = "after bar_sync", text = "k:wgmma_wait_group(0)", why = "What is "
    .. "waited for is dK, which reads neither K nor V." },
  { case = "^backward", name = "mbarrier_arrive", kind = "swapped", text = "guard = arrives", why = "The stage is given back later." },
  { case = "^backward", name = "fence_proxy_async", kind = "swapped", what = "after cp_async_bulk_wait_group", why = "The wait is for another buffer." },
  { case = "^backward, [c9w]", name = "bar_sync", text = "k:bar_sync(1, { threads = 128 * p.consumers }) -- before", why = "Where dQ is shared out by "
    .. "columns, a consumer reads the panels of K for dQ that it then writes dK to." },
  { case = "^backward, wide$", kind = "swapped", name = "stmatrix_x4", what = "after wgmma_wait_group", why = "P is stored; the wait is for dP." },
  { case = "^backward", name = "bar_sync", kind = "swapped", what = "after cp_async_bulk_wait_group", why = "The wait is for the copy of dQ's share." },
  -- k:epilogue
  { case = "in the ring$", kind = "swapped", name = "mbarrier_wait", what = "after mbarrier_arrive_expect_tx", why = "The stage "
    .. "acquired before was given back after its consumers had waited for this one: its last phase is over." },
  { case = "in the ring$", kind = "swapped", name = "cp_async_bulk_tensor_2d", what = "after mbarrier_wait", why = "The copy is "
    .. "issued when another stage is free, which does not wait for it." },
  { case = "in the ring$", kind = "swapped", name = "mbarrier_arrive", what = "after mbarrier_wait", why = "The stage is given back later; the "
    .. "residual's is another one." },
  { case = "in the ring$", kind = "swapped", name = "mbarrier_wait", what = "after cp_async_bulk_wait_group", why = "Both are waited for." },
  { case = "in the ring$", kind = "swapped", text = "function e.sync()", what = "after ldmatrix_x4", why = "The barrier is about "
    .. "the panels of D, and the residual is read from a stage of the ring." },
  { case = "^C in the ring$", kind = "swapped", text = "function e.sync()", what = "after ld_shared_v2_f32", why = "The first of two in the second "
    .. "round: the bias was waited for in the first." },
  { case = "^emulated$", kind = "swapped", text = "function e.sync()", what = "after ld_shared_v2_f32", why = "As above: the barrier is about the panels." },
  { case = "sums of rows$", kind = "swapped", name = "st_global_f32", what = "after fence_proxy_async", why = "The fence is about the panels, and "
    .. "the barrier that the sums need follows." },
  { case = "^quantised gate$", kind = "swapped", name = "mbarrier_arrive", what = "after st_global_f32", why = "The stage is given back later." },
  { case = "^quantised gate$", kind = "swapped", name = "st_global_f32", what = "after cp_async_bulk_wait_group", why = "Nobody reads the scales here." },
  { case = "^backward", text = "function e.panels_read()", why = "The first store finds its panels "
    .. "free, and each buffer has one." },
  { case = "^backward", text = "function e.sync()", why = "The first of two: as above." },
  { case = "^backward", name = "cp_async_bulk_commit_group", kind = "deleted commit", why = "The copies of dV then belong to the group of dK's." },
  { case = "^backward", name = "cp_async_bulk_tensor_store_4d", kind = "swapped", what = "after cp_async_bulk_commit_group", why = "As above." },
  { case = "^wg%.attention", text = "function turns:", why = "Turns order no memory: they keep the tensor core busy." },
  { case = "^wg%.attention", text = "guard = last })", why = "As above: who begins." },
  { case = "^wg%.attention", name = "fence_mbarrier_init", why = "One of five, one for each ring: the next one orders it as well, and the "
    .. "last ring is one of threads alone." },
  { case = "^wg%.attention", text = "k:wgmma_fence()", why = "The fence before the scores orders the registers of the second "
    .. "product as well: nothing touches them in between. The assembler wants it." },
  { case = "^wg%.attention", kind = "swapped", name = "wgmma_commit_group", why = "No wgmma stands between: the group is the same." },
  { case = "^wg%.attention", kind = "swapped", name = "cp_async_bulk_tensor_4d", what = "after mbarrier_wait", why = "The copy is issued "
    .. "when another stage is free, which does not wait for it." },
  { case = "^wg%.attention", kind = "swapped", name = "cp_async_bulk_tensor_3d", what = "after mbarrier_wait", why = "As above." },
  { kind = "swapped", name = "cp_async_bulk_tensor_3d", what = "after cp_async_bulk_tensor_3d", why = "Copies are not ordered among each other." },
  { case = "^wg%.attention", kind = "swapped", name = "mbarrier_wait", what = "after mbarrier_arrive_expect_tx", why = "The stages of K that were "
    .. "acquired before tell that the last phase of this stage is over." },
  { case = "^wg%.attention", kind = "swapped", name = "mbarrier_wait", what = "after st_shared_u32", why = "As above: the number that is "
    .. "overwritten is that of two tiles before." },
  { case = "^wg%.attention", kind = "swapped", name = "mbarrier_wait", what = "after bar_sync", why = "First the turn, then the stage." },
  { case = "^wg%.attention", kind = "swapped", name = "mbarrier_wait", what = "after mbarrier_wait", why = "Both are waited for." },
  { case = "^wg%.attention", kind = "swapped", name = "mbarrier_arrive", what = "after", text = "guard = arrives", why = "The stage is given back later." },
  { case = "^wg%.attention[^8]*$", kind = "swapped", name = "wgmma_wait_group", what = "after mbarrier_arrive", text = "k:wgmma_wait_group(0)", why =
    "Before the producer fills this stage of V again it has acquired the queries' stage, which is released after the wait." },
  { case = "^wg%.attention", kind = "swapped", name = "cp_async_bulk_wait_group", what = "after mbarrier_arrive", why = "The stage is filled two "
    .. "tiles later: the producer has then acquired stages of K that are released after the wait." },
  { case = "^wg%.attention", text = "function e.sync()", why = "The first of two: O takes the place of queries that the same warp "
    .. "has read, or that all have released stages of K after reading." },
  { case = "^wg%.attention", text = "function e.panels_read()", why = "The copies of before are from "
    .. "other stages of the queries, or have been waited for when the stage was released." },
  { case = "one stage of queries$", name = "cp_async_bulk_wait_group", why = "Each copy is waited for when its stage is released." },
  { case = "^wg%.attention", kind = "swapped", name = "st_global_f32", why = "Nobody reads the logarithms here." },
  { case = "tiles of one block$", name = "mbarrier_wait", kind = "deleted wait", why = "In a loop that is not entered: no tile has a block "
    .. "without a mask. So are the next four; the other cases enter it." },
  { case = "tiles of one block$", name = "mbarrier_try_wait_parity", why = "As above." },
  { case = "tiles of one block$", name = "mbarrier_arrive", text = "guard = arrives", why = "As above." },
  { case = "tiles of one block$", name = "wgmma_wait_group", text = "k:wgmma_wait_group(1)", why = "As above." },
  { case = "tiles of one block$", name = "mbarrier_arrive", kind = "swapped", what = "after begin_loop", why = "As above: its test is "
    .. "evaluated once." },
  { case = "packed", kind = "swapped", name = "st_global_b32", why = "The barrier is about the queries, the store about O." },
  { case = "packed", text = "k:bar_sync(mine + (1 + p.consumers), { threads = 128 })", why = "The producer has also acquired stages of K that all "
    .. "warps released after reading the queries, where a tile has more blocks than there are stages." },
  { case = "8-bit, tiles of two blocks$", kind = "swapped", name = "wgmma_wait_group", what = "after mbarrier_arrive", why = "In the loop: before "
    .. "the stage is filled again, the producer has acquired the queries' stage, which is released later." },
  { case = "^wg%.attention, 8", kind = "swapped", name = "wgmma_wait_group", what = "after mbarrier_arrive", text = "k:wgmma_wait_group(0)", why =
    "The last product of a tile: stages of K that are released after the wait come first. Tiles of two blocks have none, and there it is found." },
  -- Of two blocks, K of the second: its stage is filled after that of the queries, which is given back behind the wait for all products.
  { case = "8%-bit, tiles of two blocks$", name = "wgmma_wait_group", text = "k:wgmma_wait_group(1)", why = "See above." },
  { case = "8%-bit, tiles of two blocks$", kind = "swapped", name = "cp_async_bulk_tensor_4d", what = "after end_loop", why = "The loop runs once." },
  { case = "8%-bit", kind = "swapped", name = "mbarrier_wait", what = "after end_if", why = "At the first block of a tile: here all tiles have a second one." },
  { case = "8%-bit, tiles of two blocks$", kind = "deleted wait", name = "mbarrier_wait", why = "In the loop, for the keys of a third block: there is none." },
  { case = "8%-bit, tiles of two blocks$", kind = "parity", name = "mbarrier_try_wait_parity", why = "As above." },
  { case = "8%-bit, tiles of two blocks$", name = "wgmma_commit_group", why = "As above." },
  { case = "8%-bit, tiles of two blocks$", name = "wgmma_mma_async", kind = "swapped", what = "after wgmma_commit_group", why = "As above." },
  { case = "^wg%.attention, 8", text = "buffers.raw = k:shared", name = "shared", why = "All addresses in it are those of the plan's tile." },
  { case = "^wg%.attention, 8", kind = "swapped", name = "mbarrier_wait", what = "after ldmatrix_x4", why = "The stage of V as it came does "
    .. "not depend on that of the transposed one." },
  { case = "^wg%.attention, 8", kind = "swapped", name = "fence_proxy_async", what = "after bar_warp_sync", why = "Then the lane that arrives "
    .. "fences what the others have written before the barrier." },
  { case = "^wg%.attention", kind = "swapped", name = "setmaxnreg_inc", why = "What stands between needs few registers." },
  { case = "parts of the keys", text = "self.empty", why = "A CTA has one tile: the queries' stages, and the first of K, are filled once, or for the first time." },
  { case = "parts of the keys", text = "self:empty_barrier(c), c.phase ~ 1", kind = "deleted wait", why = "As above." },
  { case = "parts of the keys", kind = "swapped", what = "after end_if", why = "The end of a role, or of a part of the keys: nothing stands between." },
  { case = "parts of the keys", kind = "swapped", name = "mbarrier_arrive_expect_tx", why = "The phase lasts until the bytes are expected, which is its only "
    .. "arrival, whatever has come before." },
  { case = "parts of the keys", kind = "swapped", text = "k:mbarrier_wait(free, 0)", what = "after st_async_v4_f32", why = "What is sent first is maxima, whose "
    .. "memory is nobody's stage." },
  { case = "parts of the keys", kind = "swapped", name = "st_async_v4_f32", what = "after mbarrier_wait", why = "What is sent last is for the last owner, who does "
    .. "not wait for that before it sends its own." },

  { case = "^sparse_gemm", text = "k:bar_sync(0) -- before", why = "One warpgroup alone reads the tiles, and a warp that has waited "
    .. "has waited for the wgmma of all four (docs/silicon.md)." },
  { case = "^sparse_gemm", name = "wgmma_wait_group", kind = "swapped", what = "after bar_sync", why = "As above: the barrier orders nothing." },
  { case = "^gemm_fast$", name = "mbarrier_arrive", kind = "swapped", what = "after st_global_v4_f32", why = "The stage is given back later." },
  { case = "^gemm_fast$", name = "st_global_v4_f32", kind = "swapped", what = "after bar_sync", why = "As in parts of K: one CTA has all." },

  -- --- scripts of the rules: what they leave out is what their rule does not speak of --------------------------
  { case = "^WG%-", name = "wgmma_wait_group", why = "The kernel ends there, and reads no accumulator." },
  { case = "^WG%-", name = "wgmma_commit_group", kind = "swapped", why = "The kernel ends there, and reads no accumulator." },
  { case = "^WG%-MBAR%-0[14]", name = "mbarrier_init", why = "Nobody waits for the phase." },
  { case = "^WG%-MBAR%-0[14]", name = "mbarrier_arrive", why = "Nobody waits for the phase." },
  { case = "^WG%-MBAR%-04", name = "mbarrier_test_wait_parity", why = "Nobody uses the answer." },
  { case = "^WG%-MBAR%-03", name = "mbarrier_wait", why = "The kernel ends there: nothing comes after the phase." },
  { case = "^WG%-MBAR%-01", name = "fence_mbarrier_init", why = "No copy uses the mbarrier, and the thread that initialises is the "
    .. "one that arrives." },
  { case = "^WG%-MBAR%-01", name = "bar_sync", why = "Nobody comes after it." },
  { case = "^WG%-MBAR%-04", name = "bar_sync", kind = "swapped", what = "after mbarrier_arrive", why = "The thread that initialises is "
    .. "the one that arrives." },
  { case = "^WG%-RACE%-01/ok_mbarrier", name = "fence_mbarrier_init", why = "No copy uses the mbarrier: the barrier of the CTA is "
    .. "enough for threads." },
  { case = "^WG%-", name = "fence_mbarrier_init", kind = "swapped", what = "after bar_sync", why = "The thread that initialises is the "
    .. "one that issues the copy: its fence stands between." },
  { case = "^WG%-", name = "bar_sync", kind = "swapped", what = "after mbarrier_arrive_expect_tx", why = "The thread that initialises "
    .. "is the one that arrives." },
  { case = "^WG%-PROXY%-01", text = "k:fence_proxy_async()", why = "The fence after the second writes orders the first ones as well." },
  { case = "^WG%-RACE%-01/ok_excerpt", text = "k:fence_proxy_async()", why = "The fence after the second writes orders the first ones "
    .. "as well." },
  { case = "^WG%-", name = "st_shared_v4_b32", kind = "swapped", what = "after fence_proxy_async", why = "The fence after the second "
    .. "writes orders the first ones as well." },
  { case = "^WG%-PROXY%-01/ok_stmatrix", name = "bar_sync", why = "The barrier after stmatrix orders the first writes as well; each "
    .. "thread names the row that it wrote itself." },
  { case = "^WG%-PROXY%-01/ok_excerpt", name = "bar_sync", why = "The barrier after the second writes orders the first ones as well; both are "
    .. "made by the same threads." },
  { case = "^WG%-RACE%-01/ok_excerpt", name = "bar_sync", why = "The barrier after the second writes orders the first ones as well; both are "
    .. "made by the same threads." },
  { case = "^WG%-RACE%-02/ok_excerpt", name = "bar_sync", why = "One warpgroup alone reads the tile: as in sparse_gemm." },
  { case = "^WG%-GROUP%-01/ok_same_arm", name = "bar_sync", kind = "swapped", what = "after begin_loop", why = "A barrier in each turn." },
  { case = "^WG%-MBAR%-02/ok_lanes", name = "mbarrier_arrive", kind = "swapped", why = "The arrival comes later." },
  { case = "^WG%-MBAR%-02/ok_lanes", name = "mbarrier_wait", why = "The kernel ends there." },
  { case = "^WG%-GROUP%-04/ok_mma", name = "cp_async_commit_group", why = "cp.async.wait_all waits for copies that no group has, too." },
  { case = "^WG%-GROUP%-04/ok_mma", name = "cp_async_cg", kind = "swapped", what = "after cp_async_commit_group", why = "As above." },
  { case = "^WG%-RACE%-01/ok_mbarrier", name = "bar_sync", kind = "swapped", what = "after st_shared_v4_b32", why = "The stores do not "
    .. "use the mbarrier." },
  { case = "^WG%-RACE%-01/ok_one_lane_arrives", name = "mbarrier_init", kind = "swapped", what = "after begin_if", why = "Thread 0 takes "
    .. "the branch, and the barrier is still to come." },
  { case = "^WG%-RACE%-01/ok_one_lane_arrives", name = "st_global_f32", kind = "swapped", what = "after bar_warp_sync", why = "What it "
    .. "stores has been read before." },
  { case = "^WG%-MBAR%-01/ok_again", name = "mbarrier_wait", why = "The barrier behind it comes after all arrivals: the phase is complete." },
  { case = "^WG%-MBAR%-01/ok_again", name = "mbarrier_inval", why = "The last one: the kernel ends there." },
  { case = "^WG%-SYNC%-05", name = "fence_mbarrier_init", why = "Threads alone use the mbarrier, and the barrier of the cluster (release, "
    .. "acquire) makes it known to them." },
  { case = "^WG%-FORM%-03", name = "bar_sync", why = "Nothing comes after it." },
  { case = "^WG%-PERF%-05", why = "The kernel ends there." },
  { case = "^WG%-MBAR%-03/ok_expect", name = "cp_async_bulk_tensor_2d", kind = "swapped", why = "The usual order." },
  { case = "^WG%-REG%-02/ok_in_turn", name = "bar_sync", text = "k:loop(100", why = "It passes the time, and orders nothing." },
  { case = "^WG%-REG%-03", name = "bar_sync", kind = "swapped", what = "after setmaxnreg_dec", why = "The one is about memory, the other "
    .. "about registers." },
  { case = "^WG%-TMA%-04", name = "cp_async_bulk_tensor_store_2d", why = "What it stores is what is there." },
  { case = "^WG%-MEM%-02", why = "The threads read what they wrote themselves." },
  { case = "^WG%-MEM%-03", why = "The kernel ends there." },
  { case = "^WG%-SYNC%-01", name = "bar_sync", kind = "swapped", what = "after begin_if", why = "All 128 threads take the branch." },
  { case = "^WG%-SYNC%-02", name = "bar_sync", why = "Nothing comes before or after it." },
  { case = "^WG%-SYNC%-04", name = "barrier_cluster_wait", why = "The CTA ends there." },
  { case = "^WG%-GROUP%-05/ok_empty", name = "wgmma_commit_group", text = "k:wgmma_commit_group()", why = "An empty group." },
  { case = "^WG%-GROUP%-05/ok_empty", name = "bar_sync", kind = "swapped", what = "after wgmma_commit_group", why = "An empty group." },
  { case = "^WG%-GROUP%-05/ok_in_run", name = "bar_sync", kind = "swapped", what = "after begin_if", why = "All 128 threads take the "
    .. "branch." },
  { case = "^WG%-GROUP%-06/ok_excerpt", name = "cp_async_commit_group", why = "The next commit_group closes both groups, and the wait is "
    .. "for both." },
  { case = "^WG%-GROUP%-06/ok_excerpt", name = "cp_async_cg", kind = "swapped", what = "after cp_async_commit_group", why = "As above." },
  { case = "^WG%-GROUP%-06/ok_mbarrier", name = "fence_mbarrier_init", why = "No bulk copy uses the mbarrier: the barrier of the CTA is "
    .. "enough for threads." },
  { case = "^WG%-GROUP%-06/ok_mbarrier", name = "bar_sync", kind = "swapped", what = "after cp_async_cg", why = "The copy does not use "
    .. "the mbarrier." },
  { case = "^WG%-MBAR%-06/ok_excerpt", name = "fence_proxy_async", why = "That of the last round: nothing comes after it." },
  { case = "^WG%-MBAR%-06/ok_excerpt", name = "bar_sync", why = "As above." },
  { case = "^WG%-MBAR%-06/ok_sleeper", name = "mbarrier_wait", why = "Of the two warps one waits for phase 0, and tells the other at the "
    .. "barrier; the kernel ends behind the wait for phase 1." },
  { case = "^WG%-PROXY%-03/ok_excerpt", name = "bar_sync", why = "The first of two: the thread that initialises copies too, and the "
    .. "others wait behind the second." },
  { case = "^WG%-PROXY%-03", name = "cp_async_bulk_wait_group", kind = "swapped", what = "after end_if", why = "The other threads have no "
    .. "groups and pass at once." },
  { case = "^WG%-PROXY%-03/ok_reduces", name = "fence_proxy_async", kind = "swapped", what = "after fence_proxy_async", why = "Two fences, "
    .. "of two spaces." },
  { case = "^WG%-PERF%-06/ok_[eo]", name = "wgmma_commit_group", why = "The next commit_group closes the wgmma, and the wait there is for "
    .. "it too; a fence stands between the shapes." },
  { case = "^WG%-PERF%-06/ok_[eo]", name = "wgmma_mma_async", kind = "swapped", what = "after wgmma_commit_group", why = "As above." },
  { case = "^WG%-MBAR%-06/ok_count", name = "bar_sync", kind = "swapped", what = "after begin_loop", why = "A barrier in each turn." },
  { case = "^WG%-PERF%-06", name = "bar_sync", kind = "swapped", what = "after begin_loop", why = "A barrier in each turn." },
  { case = "^WG%-PERF%-06/ok_released", name = "bar_sync", why = "One warpgroup alone reads the tiles: as in sparse_gemm." },
  { case = "^WG%-TMA%-01", name = "cp_async_bulk_tensor_store_2d", why = "What it stores is what is there." },
  { case = "^WG%-TMA%-03", name = "cp_async_bulk_tensor_store_2d", kind = "guard", why = "128 times the same bytes to the same "
    .. "place, and every thread waits for its own." },
  { case = "scales of blocks", text = 'k:fence_proxy_async { space = "shared::cta" } -- the scales', why = "Found, but as a warning (WG-PROXY-02), "
    .. "which ends no run." },
  { case = "scales of blocks", name = "wgmma_commit_group", kind = "swapped", what = "after fence_proxy_async", why = "The fence is about the "
    .. "scales, which no wgmma reads." },
  { case = "scales of blocks", name = "bar_warp_sync", kind = "swapped", what = "after wgmma_wait_group", why = "Still before the release." },
  { case = "scales of blocks", name = "bar_warp_sync", kind = "swapped", what = "after ld_global_f32", why = "Still before the release." },
  { case = "scales of rows", name = "bar_sync", kind = "swapped", what = "after ld_global_f32", why = "The scales are read only." },
  { case = "^WG%-", name = "cp_async_bulk_wait_group", kind = "wait weakened", what = "read", why = "The kernel ends there, which "
    .. "makes the results visible." },
}

local function fits(pattern, value) return pattern == nil or value:find(pattern) ~= nil end

--- Why the mutant is harmless, or nil.
function harmless.reason(case, text, name, mutant)
  for _, row in ipairs(rows) do
    if fits(row.case, case) and (not row.text or text:find(row.text, 1, true)) and (not row.name or row.name == name)
      and (not row.kind or row.kind == mutant.kind) and (not row.what or mutant.what:find(row.what, 1, true)) then
      return row.why
    end
  end
end

return harmless
