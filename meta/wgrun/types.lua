---@meta
-- Printed by `wgrun help --annotations meta`, for the Lua language server.

---A 64 x n block of accumulators that a warpgroup holds, made by k:fragment. Each thread has elements of two rows, `half` 0 and 1, and shares each row with three other lanes.
---@class wgrun.accumulator
---@field acc wgrun.regs the accumulators
---@field type string "f32" or "s32"
local accumulator = {}

---Replaces each element x by f(x, at).
---@param f fun(x: wgrun.reg, at: any): wgrun.reg|number returns a register of the elements' type, or a number. at.row and at.column are the place of x in the block (u32 registers, computed on first use); at.half is which of the thread's two rows contains x (0 or 1), so that rows[at.half] is the row's value where `rows` is the result of a row reduction
---@return wgrun.accumulator # itself
function accumulator:map(f) end

---Converts the accumulators to operand A of a later product, whose K extent is their columns. The caller places k:wgmma_fence before k:mma, and must not change the registers until the product is complete.
---@param dtype string "bf16" or "f16": what the elements are rounded to
---@return wgrun.regs # b32, four for each K step of 16, for the option `a` of k:mma (PTX ISA 9.7.15.5.1, figure of the A fragment)
function accumulator:operand(dtype) end

---The largest element of each row.
---@return wgrun.regs # two registers: the values of the thread's two rows
function accumulator:row_max() end

---Reduces each row to one value, with shuffles between the four lanes that share the row.
---@param f fun(x: wgrun.reg, y: wgrun.reg): wgrun.reg combines two elements and returns a register; it must be associative and commutative
---@return wgrun.regs # two registers: the values of the thread's two rows
function accumulator:row_reduce(f) end

---The sum of each row.
---@return wgrun.regs # two registers: the values of the thread's two rows
function accumulator:row_sum() end

---An argument of a launch that is neither a tensor nor a number, made by wg.pointer, wg.tensor_map or wg.struct.
---@class wgrun.argument
local argument = {}

---Attention made by wg.attention.
---@class wgrun.attention
---@field kernel wgrun.kernel the kernel, like any other
---@field plan table the choices: block, stages, registers
local attention = {}

---The floating-point operations of both products, counting only the keys that a query sees.
---@param batches integer
---@param queries integer of each sequence
---@param keys integer of each sequence
---@return number
function attention:flops(batches, queries, keys) end

---@class wgrun.attention.launch.options
---@field scale? number the factor of the scores, positive; by default 1 / sqrt(dim)
---@field lse? wgrun.tensor f32, batch x heads x queries (packed: heads x total): receives the natural logarithms
---@field query_starts? wgrun.tensor s32: where each packed sequence begins in Q, and the end of the last one; batch + 1 values
---@field key_starts? wgrun.tensor s32: likewise in K
---@field max_queries? integer the most queries of a packed sequence
---@field q_descale? wgrun.tensor f32: what Q is multiplied by, one value or (`descale` = "head") batch x kv_heads
---@field k_descale? wgrun.tensor likewise of K
---@field v_descale? wgrun.tensor likewise of V

---The options of a launch, for kernel:run, kernel:time and kernel:prepare.
---@param Q wgrun.tensor batch x queries x heads x dim, in the order of `layout`
---@param K wgrun.tensor batch x keys x kv_heads x dim
---@param V wgrun.tensor as K
---@param O wgrun.tensor as Q: the result
---@param options? wgrun.attention.launch.options
---@return table # { grid =, args = }
function attention:launch(Q, K, V, O, options) end

---@class wgrun.attention.prepare.numerics.options
---@field block? integer the number of products that are added at once; 0: all, exactly, with one rounding
---@field fraction? integer the bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer the fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean rounds addends to nearest even instead of truncating them
---@field inside? boolean the accumulator is an addend of the first block; otherwise it is added to each sum

---@class wgrun.attention.prepare.options
---@field grid? integer|table the CTAs; by default one on each SM that finds work; not with keys in parts (`splits`)
---@field scale? number the factor of the scores, positive; by default 1 / sqrt(dim)
---@field lse? wgrun.tensor f32, batch x heads x queries (packed: heads x total): receives the natural logarithms
---@field query_starts? wgrun.tensor s32: where each packed sequence begins in Q, and the end of the last one; batch + 1 values
---@field key_starts? wgrun.tensor s32: likewise in K
---@field max_queries? integer the most queries of a packed sequence
---@field q_descale? wgrun.tensor f32: what Q is multiplied by, one value or (`descale` = "head") batch x kv_heads
---@field k_descale? wgrun.tensor likewise of K
---@field v_descale? wgrun.tensor likewise of V
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer the seed of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. On the simulator there is a limit only if one is given
---@field numerics? string|wgrun.attention.prepare.numerics.options how the simulator accumulates the products of wgmma and mma.sync: "exact", "h200", or the parameters of a model
---@field unchecked? boolean runs the kernel although the checker found errors
---@field block? integer|table the threads of a CTA, for a kernel of wg.ptx whose text leaves them open
---@field cluster? integer|table the CTAs of a cluster, for a kernel of wg.ptx whose text leaves them open
---@field shared? integer bytes of dynamic shared memory, for a kernel of wg.ptx

---Prepares a launch that can be started many times, with its tensors on the device.
---@param Q wgrun.tensor
---@param K wgrun.tensor
---@param V wgrun.tensor
---@param O wgrun.tensor
---@param options? wgrun.attention.prepare.options
---@return wgrun.launch
function attention:prepare(Q, K, V, O, options) end

---@class wgrun.attention.run.numerics.options
---@field block? integer the number of products that are added at once; 0: all, exactly, with one rounding
---@field fraction? integer the bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer the fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean rounds addends to nearest even instead of truncating them
---@field inside? boolean the accumulator is an addend of the first block; otherwise it is added to each sum

---@class wgrun.attention.run.options
---@field grid? integer|table the CTAs; by default one on each SM that finds work; not with keys in parts (`splits`)
---@field scale? number the factor of the scores, positive; by default 1 / sqrt(dim)
---@field lse? wgrun.tensor f32, batch x heads x queries (packed: heads x total): receives the natural logarithms
---@field query_starts? wgrun.tensor s32: where each packed sequence begins in Q, and the end of the last one; batch + 1 values
---@field key_starts? wgrun.tensor s32: likewise in K
---@field max_queries? integer the most queries of a packed sequence
---@field q_descale? wgrun.tensor f32: what Q is multiplied by, one value or (`descale` = "head") batch x kv_heads
---@field k_descale? wgrun.tensor likewise of K
---@field v_descale? wgrun.tensor likewise of V
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer the seed of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. On the simulator there is a limit only if one is given
---@field numerics? string|wgrun.attention.run.numerics.options how the simulator accumulates the products of wgmma and mma.sync: "exact", "h200", or the parameters of a model
---@field unchecked? boolean runs the kernel although the checker found errors
---@field block? integer|table the threads of a CTA, for a kernel of wg.ptx whose text leaves them open
---@field cluster? integer|table the CTAs of a cluster, for a kernel of wg.ptx whose text leaves them open
---@field shared? integer bytes of dynamic shared memory, for a kernel of wg.ptx
---@field guarded? boolean runs the guarded build, which reports what hangs or faults

---Computes O, and waits until it is in the tensor.
---@param Q wgrun.tensor
---@param K wgrun.tensor
---@param V wgrun.tensor
---@param O wgrun.tensor
---@param options? wgrun.attention.run.options
---@return string # the back end that ran it
function attention:run(Q, K, V, O, options) end

---@class wgrun.attention.time.numerics.options
---@field block? integer the number of products that are added at once; 0: all, exactly, with one rounding
---@field fraction? integer the bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer the fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean rounds addends to nearest even instead of truncating them
---@field inside? boolean the accumulator is an addend of the first block; otherwise it is added to each sum

---@class wgrun.attention.time.options
---@field grid? integer|table the CTAs; by default one on each SM that finds work; not with keys in parts (`splits`)
---@field scale? number the factor of the scores, positive; by default 1 / sqrt(dim)
---@field lse? wgrun.tensor f32, batch x heads x queries (packed: heads x total): receives the natural logarithms
---@field query_starts? wgrun.tensor s32: where each packed sequence begins in Q, and the end of the last one; batch + 1 values
---@field key_starts? wgrun.tensor s32: likewise in K
---@field max_queries? integer the most queries of a packed sequence
---@field q_descale? wgrun.tensor f32: what Q is multiplied by, one value or (`descale` = "head") batch x kv_heads
---@field k_descale? wgrun.tensor likewise of K
---@field v_descale? wgrun.tensor likewise of V
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer the seed of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. On the simulator there is a limit only if one is given
---@field numerics? string|wgrun.attention.time.numerics.options how the simulator accumulates the products of wgmma and mma.sync: "exact", "h200", or the parameters of a model
---@field unchecked? boolean runs the kernel although the checker found errors
---@field block? integer|table the threads of a CTA, for a kernel of wg.ptx whose text leaves them open
---@field cluster? integer|table the CTAs of a cluster, for a kernel of wg.ptx whose text leaves them open
---@field shared? integer bytes of dynamic shared memory, for a kernel of wg.ptx
---@field rounds? integer the number of measured launches, 1 to 100000
---@field against? wgrun.cublas made by wg.cublas: measured in turn with the kernel, for comparison

---Measures how long it takes, and its TFLOPS (attention:flops; of packed sequences 0, whose lengths are on the device).
---@param Q wgrun.tensor
---@param K wgrun.tensor
---@param V wgrun.tensor
---@param O wgrun.tensor
---@param options? wgrun.attention.time.options
---@return table # as of kernel:time
function attention:time(Q, K, V, O, options) end

---The gradients of attention, made by wg.attention_backward.
---@class wgrun.attention_backward
---@field before wgrun.kernel prepares the rows of the queries, and sets the sums of dQ to 0
---@field kernel wgrun.kernel computes dK and dV, and the sums of dQ
---@field after wgrun.kernel converts dQ
---@field plan table the choices: tiles, stages, registers
local attention_backward = {}

---The floating-point operations of the five products, counting only the keys that a query sees.
---@param batches integer
---@param queries integer of each sequence
---@param keys integer of each sequence
---@return number
function attention_backward:flops(batches, queries, keys) end

---@class wgrun.attention_backward.launches.options
---@field Q wgrun.tensor batch x queries x heads x dim, in the order of `layout`
---@field K wgrun.tensor batch x keys x kv_heads x dim
---@field V wgrun.tensor as K
---@field O wgrun.tensor as Q: what wg.attention computed
---@field lse wgrun.tensor f32, batch x heads x queries (packed: heads x total): what wg.attention computed with `lse`
---@field dO wgrun.tensor as Q: the gradient of O
---@field dQ wgrun.tensor as Q: receives the gradient of Q
---@field dK wgrun.tensor as K: receives the gradient of K
---@field dV wgrun.tensor as K: receives the gradient of V
---@field query_starts? wgrun.tensor s32: where each packed sequence begins in Q, and the end of the last one; batch + 1 values
---@field key_starts? wgrun.tensor s32: likewise in K
---@field max_queries? integer the most queries of a packed sequence
---@field max_keys? integer the most keys of a packed sequence
---@field scale? number the factor of the scores, as wg.attention had it; by default 1 / sqrt(dim)

---The options of the three launches, in their order.
---@param options wgrun.attention_backward.launches.options
---@return table # a list of { kernel, { grid =, args = } }
function attention_backward:launches(options) end

---@class wgrun.attention_backward.prepare.numerics.options
---@field block? integer the number of products that are added at once; 0: all, exactly, with one rounding
---@field fraction? integer the bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer the fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean rounds addends to nearest even instead of truncating them
---@field inside? boolean the accumulator is an addend of the first block; otherwise it is added to each sum

---@class wgrun.attention_backward.prepare.options
---@field Q wgrun.tensor batch x queries x heads x dim, in the order of `layout`
---@field K wgrun.tensor batch x keys x kv_heads x dim
---@field V wgrun.tensor as K
---@field O wgrun.tensor as Q: what wg.attention computed
---@field lse wgrun.tensor f32, batch x heads x queries (packed: heads x total): what wg.attention computed with `lse`
---@field dO wgrun.tensor as Q: the gradient of O
---@field dQ wgrun.tensor as Q: receives the gradient of Q
---@field dK wgrun.tensor as K: receives the gradient of K
---@field dV wgrun.tensor as K: receives the gradient of V
---@field query_starts? wgrun.tensor s32: where each packed sequence begins in Q, and the end of the last one; batch + 1 values
---@field key_starts? wgrun.tensor s32: likewise in K
---@field max_queries? integer the most queries of a packed sequence
---@field max_keys? integer the most keys of a packed sequence
---@field scale? number the factor of the scores, as wg.attention had it; by default 1 / sqrt(dim)
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer the seed of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. On the simulator there is a limit only if one is given
---@field numerics? string|wgrun.attention_backward.prepare.numerics.options how the simulator accumulates the products of wgmma and mma.sync: "exact", "h200", or the parameters of a model
---@field unchecked? boolean runs the kernel although the checker found errors
---@field block? integer|table the threads of a CTA, for a kernel of wg.ptx whose text leaves them open
---@field cluster? integer|table the CTAs of a cluster, for a kernel of wg.ptx whose text leaves them open
---@field shared? integer bytes of dynamic shared memory, for a kernel of wg.ptx

---Prepares launches that can be started many times, with their tensors on the device.
---@param options wgrun.attention_backward.prepare.options
---@return wgrun.launches
function attention_backward:prepare(options) end

---@class wgrun.attention_backward.run.numerics.options
---@field block? integer the number of products that are added at once; 0: all, exactly, with one rounding
---@field fraction? integer the bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer the fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean rounds addends to nearest even instead of truncating them
---@field inside? boolean the accumulator is an addend of the first block; otherwise it is added to each sum

---@class wgrun.attention_backward.run.options
---@field Q wgrun.tensor batch x queries x heads x dim, in the order of `layout`
---@field K wgrun.tensor batch x keys x kv_heads x dim
---@field V wgrun.tensor as K
---@field O wgrun.tensor as Q: what wg.attention computed
---@field lse wgrun.tensor f32, batch x heads x queries (packed: heads x total): what wg.attention computed with `lse`
---@field dO wgrun.tensor as Q: the gradient of O
---@field dQ wgrun.tensor as Q: receives the gradient of Q
---@field dK wgrun.tensor as K: receives the gradient of K
---@field dV wgrun.tensor as K: receives the gradient of V
---@field query_starts? wgrun.tensor s32: where each packed sequence begins in Q, and the end of the last one; batch + 1 values
---@field key_starts? wgrun.tensor s32: likewise in K
---@field max_queries? integer the most queries of a packed sequence
---@field max_keys? integer the most keys of a packed sequence
---@field scale? number the factor of the scores, as wg.attention had it; by default 1 / sqrt(dim)
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer the seed of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. On the simulator there is a limit only if one is given
---@field numerics? string|wgrun.attention_backward.run.numerics.options how the simulator accumulates the products of wgmma and mma.sync: "exact", "h200", or the parameters of a model
---@field unchecked? boolean runs the kernel although the checker found errors
---@field block? integer|table the threads of a CTA, for a kernel of wg.ptx whose text leaves them open
---@field cluster? integer|table the CTAs of a cluster, for a kernel of wg.ptx whose text leaves them open
---@field shared? integer bytes of dynamic shared memory, for a kernel of wg.ptx
---@field guarded? boolean runs the guarded build, which reports what hangs or faults

---Computes dQ, dK and dV, and waits until they are in their tensors.
---@param options wgrun.attention_backward.run.options
---@return string # the back end that ran it
function attention_backward:run(options) end

---@class wgrun.attention_backward.time.numerics.options
---@field block? integer the number of products that are added at once; 0: all, exactly, with one rounding
---@field fraction? integer the bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer the fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean rounds addends to nearest even instead of truncating them
---@field inside? boolean the accumulator is an addend of the first block; otherwise it is added to each sum

---@class wgrun.attention_backward.time.options
---@field Q wgrun.tensor batch x queries x heads x dim, in the order of `layout`
---@field K wgrun.tensor batch x keys x kv_heads x dim
---@field V wgrun.tensor as K
---@field O wgrun.tensor as Q: what wg.attention computed
---@field lse wgrun.tensor f32, batch x heads x queries (packed: heads x total): what wg.attention computed with `lse`
---@field dO wgrun.tensor as Q: the gradient of O
---@field dQ wgrun.tensor as Q: receives the gradient of Q
---@field dK wgrun.tensor as K: receives the gradient of K
---@field dV wgrun.tensor as K: receives the gradient of V
---@field query_starts? wgrun.tensor s32: where each packed sequence begins in Q, and the end of the last one; batch + 1 values
---@field key_starts? wgrun.tensor s32: likewise in K
---@field max_queries? integer the most queries of a packed sequence
---@field max_keys? integer the most keys of a packed sequence
---@field scale? number the factor of the scores, as wg.attention had it; by default 1 / sqrt(dim)
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer the seed of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. On the simulator there is a limit only if one is given
---@field numerics? string|wgrun.attention_backward.time.numerics.options how the simulator accumulates the products of wgmma and mma.sync: "exact", "h200", or the parameters of a model
---@field unchecked? boolean runs the kernel although the checker found errors
---@field block? integer|table the threads of a CTA, for a kernel of wg.ptx whose text leaves them open
---@field cluster? integer|table the CTAs of a cluster, for a kernel of wg.ptx whose text leaves them open
---@field shared? integer bytes of dynamic shared memory, for a kernel of wg.ptx
---@field rounds? integer the number of measured launches, 1 to 100000

---Measures how long the three kernels take, each by itself.
---@param options wgrun.attention_backward.time.options
---@return table # { median_us =, tflops =, parts = }: the sum of the medians, the TFLOPS of it (attention_backward:flops; of packed sequences 0), and the three medians
function attention_backward:time(options) end

---Attention made by wg.attention_decode.
---@class wgrun.attention_decode
---@field kernel wgrun.kernel the kernel, like any other
---@field plan table the choices: block, stages, warps, copies
local attention_decode = {}

---@class wgrun.attention_decode.launch.options
---@field lengths? wgrun.tensor s32, the keys of each sequence, those of the queries included; more than K or the table has count as that many. By default all keys of K
---@field pages? wgrun.tensor s32, batch x most pages of a sequence: where its pages are in K and V; entries behind a sequence's last page are not used
---@field scale? number the factor of the scores, positive; by default 1 / sqrt(dim)
---@field lse? wgrun.tensor f32, batch x heads x queries: receives the natural logarithms
---@field grid? integer the CTAs; by default one on each SM that finds work

---The options of a launch, for kernel:run, kernel:time and kernel:prepare.
---@param Q wgrun.tensor batch x queries x heads x dim, in the order of `layout`
---@param K wgrun.tensor batch x keys x kv_heads x dim, or pages x page x kv_heads x dim
---@param V wgrun.tensor as K
---@param O wgrun.tensor as Q: the result
---@param options? wgrun.attention_decode.launch.options
---@return table # { grid =, args = }
function attention_decode:launch(Q, K, V, O, options) end

---@class wgrun.attention_decode.prepare.numerics.options
---@field block? integer the number of products that are added at once; 0: all, exactly, with one rounding
---@field fraction? integer the bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer the fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean rounds addends to nearest even instead of truncating them
---@field inside? boolean the accumulator is an addend of the first block; otherwise it is added to each sum

---@class wgrun.attention_decode.prepare.options
---@field lengths? wgrun.tensor s32, the keys of each sequence, those of the queries included; more than K or the table has count as that many. By default all keys of K
---@field pages? wgrun.tensor s32, batch x most pages of a sequence: where its pages are in K and V; entries behind a sequence's last page are not used
---@field scale? number the factor of the scores, positive; by default 1 / sqrt(dim)
---@field lse? wgrun.tensor f32, batch x heads x queries: receives the natural logarithms
---@field grid? integer the CTAs; by default one on each SM that finds work
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer the seed of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. On the simulator there is a limit only if one is given
---@field numerics? string|wgrun.attention_decode.prepare.numerics.options how the simulator accumulates the products of wgmma and mma.sync: "exact", "h200", or the parameters of a model
---@field unchecked? boolean runs the kernel although the checker found errors
---@field block? integer|table the threads of a CTA, for a kernel of wg.ptx whose text leaves them open
---@field cluster? integer|table the CTAs of a cluster, for a kernel of wg.ptx whose text leaves them open
---@field shared? integer bytes of dynamic shared memory, for a kernel of wg.ptx

---Prepares a launch that can be started many times, with its tensors on the device.
---@param Q wgrun.tensor
---@param K wgrun.tensor
---@param V wgrun.tensor
---@param O wgrun.tensor
---@param options? wgrun.attention_decode.prepare.options
---@return wgrun.launch
function attention_decode:prepare(Q, K, V, O, options) end

---@class wgrun.attention_decode.run.numerics.options
---@field block? integer the number of products that are added at once; 0: all, exactly, with one rounding
---@field fraction? integer the bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer the fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean rounds addends to nearest even instead of truncating them
---@field inside? boolean the accumulator is an addend of the first block; otherwise it is added to each sum

---@class wgrun.attention_decode.run.options
---@field lengths? wgrun.tensor s32, the keys of each sequence, those of the queries included; more than K or the table has count as that many. By default all keys of K
---@field pages? wgrun.tensor s32, batch x most pages of a sequence: where its pages are in K and V; entries behind a sequence's last page are not used
---@field scale? number the factor of the scores, positive; by default 1 / sqrt(dim)
---@field lse? wgrun.tensor f32, batch x heads x queries: receives the natural logarithms
---@field grid? integer the CTAs; by default one on each SM that finds work
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer the seed of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. On the simulator there is a limit only if one is given
---@field numerics? string|wgrun.attention_decode.run.numerics.options how the simulator accumulates the products of wgmma and mma.sync: "exact", "h200", or the parameters of a model
---@field unchecked? boolean runs the kernel although the checker found errors
---@field block? integer|table the threads of a CTA, for a kernel of wg.ptx whose text leaves them open
---@field cluster? integer|table the CTAs of a cluster, for a kernel of wg.ptx whose text leaves them open
---@field shared? integer bytes of dynamic shared memory, for a kernel of wg.ptx
---@field guarded? boolean runs the guarded build, which reports what hangs or faults

---Computes O, and waits until it is in the tensor.
---@param Q wgrun.tensor
---@param K wgrun.tensor
---@param V wgrun.tensor
---@param O wgrun.tensor
---@param options? wgrun.attention_decode.run.options
---@return string # the back end that ran it
function attention_decode:run(Q, K, V, O, options) end

---@class wgrun.attention_decode.time.numerics.options
---@field block? integer the number of products that are added at once; 0: all, exactly, with one rounding
---@field fraction? integer the bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer the fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean rounds addends to nearest even instead of truncating them
---@field inside? boolean the accumulator is an addend of the first block; otherwise it is added to each sum

---@class wgrun.attention_decode.time.options
---@field lengths? wgrun.tensor s32, the keys of each sequence, those of the queries included; more than K or the table has count as that many. By default all keys of K
---@field pages? wgrun.tensor s32, batch x most pages of a sequence: where its pages are in K and V; entries behind a sequence's last page are not used
---@field scale? number the factor of the scores, positive; by default 1 / sqrt(dim)
---@field lse? wgrun.tensor f32, batch x heads x queries: receives the natural logarithms
---@field grid? integer the CTAs; by default one on each SM that finds work
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer the seed of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. On the simulator there is a limit only if one is given
---@field numerics? string|wgrun.attention_decode.time.numerics.options how the simulator accumulates the products of wgmma and mma.sync: "exact", "h200", or the parameters of a model
---@field unchecked? boolean runs the kernel although the checker found errors
---@field block? integer|table the threads of a CTA, for a kernel of wg.ptx whose text leaves them open
---@field cluster? integer|table the CTAs of a cluster, for a kernel of wg.ptx whose text leaves them open
---@field shared? integer bytes of dynamic shared memory, for a kernel of wg.ptx
---@field rounds? integer the number of measured launches, 1 to 100000
---@field against? wgrun.cublas made by wg.cublas: measured in turn with the kernel, for comparison

---Measures how long it takes.
---@param Q wgrun.tensor
---@param K wgrun.tensor
---@param V wgrun.tensor
---@param O wgrun.tensor
---@param options? wgrun.attention_decode.time.options
---@return table # as of kernel:time
function attention_decode:time(Q, K, V, O, options) end

---A kernel that compresses 2:4 sparse matrices for wg.gemm{ sparse = "A" }, made by wg.compressor.
---@class wgrun.compressor
---@field kernel wgrun.kernel the kernel, like any other
---@field dtype string the type of the matrices
---@field prune boolean whether it prunes
local compressor = {}

---The options of a launch, for kernel:run, kernel:time and kernel:prepare.
---@param A wgrun.tensor|wgrun.device_tensor M x K; a row is a multiple of 32 bytes
---@param values wgrun.tensor|wgrun.device_tensor M x K / 2: the result
---@param metadata wgrun.tensor|wgrun.device_tensor u32, of compressor:metadata_shape(M, K): the result
---@param faults? wgrun.tensor|wgrun.device_tensor u32, { 1 }, 0 before: without `prune`, 1 + the last row that has a chunk with too many nonzero elements
---@return table # { grid =, args = }
function compressor:launch(A, values, metadata, faults) end

---The shape of the metadata of an M x K matrix.
---@param M integer
---@param K integer
---@return table # of u32: { blocks of 64 rows, words along K, 128 }
function compressor:metadata_shape(M, K) end

---A matrix product by cuBLAS, made by wg.cublas.
---@class wgrun.cublas
local cublas = {}

---Computes D on the GPU with cuBLAS.
function cublas:run() end

---A tensor that stays on the device that kernels run on, made by tensor:to. Launches that get it as an argument share it. `#t` is the number of elements.
---@class wgrun.device_tensor
---@operator len: integer
---@field bytes integer The total size of its elements.
---@field device string The place of the tensor.
---@field dtype string The element type.
---@field shape table The extents.
local device_tensor = {}

---Frees its memory at once. Further calls do nothing.
function device_tensor:close() end

---Moves the tensor: "cpu" copies it to host memory, "gpu" returns the tensor itself.
---@param place string "cpu" or "gpu"
---@return wgrun.tensor|wgrun.device_tensor
function device_tensor:to(place) end

---A DLPack capsule, which passes a tensor to another library of the process, made by tensor:to_dlpack.
---@class wgrun.dlpack
local dlpack = {}

---An error that wgrun raises: a table; `tostring` gives "file:line: message [RULE]". Functions that return nil, message, code do not raise errors of the machine, such as a missing file or GPU.
---@class wgrun.error
---@field message string
---@field code string "EINVAL", "ENOENT", "ENODEV", "ENOMEM", ...
---@field rule? string the rule that was broken: wgrun explain RULE
---@field file? string of the script
---@field line? integer of the script
---@field fix? string how to fix it
---@field section? string of the PTX ISA
---@field findings? table all findings, if the checker refused a kernel
local error = {}

---A finding of the checker or the simulator, an element of the list that kernel:check returns. Empty fields are absent.
---@class wgrun.finding
---@field rule string such as "WG-PROXY-01": wgrun explain RULE
---@field severity string "error", "warning" or "note"
---@field message string
---@field file? string of the script
---@field line? integer of the script
---@field fix? string how to fix it
---@field section? string of the PTX ISA
---@field notes table a list of { file, line, message }: related places
---@field facts? table what the message says, as data: { phase = 2, bytes_expected = 512 } (docs/schema/finding.json)
local finding = {}

---The mapping of threads and registers to the elements of a matrix, made by wg.fragment. To compute with accumulators, see the type accumulator.
---@class wgrun.fragment
---@field columns integer The columns of the matrix.
---@field layout wgrun.layout The layout from (thread, value) to row + rows * column.
---@field per_register integer The elements in one register.
---@field registers integer The 32-bit registers that hold them.
---@field rows integer The rows of the matrix.
---@field threads integer The threads that hold it together: 32 or 128.
---@field values integer The elements that a thread holds.
local fragment = {}

---The element that a thread holds.
---@param thread integer from 0
---@param value integer the index among its values, from 0
---@return integer # the row
---@return integer # the column
function fragment:at(thread, value) end

---@class wgrun.fragment.html.options
---@field view? string "offsets" (thread and value of each element) or "overview" (of blocks of 8 x 8); "auto" is the first up to 4096 elements

---Writes the picture as a self-contained HTML page: pointing at a cell describes it, and zooming into an overview shows the elements.
---@param path string
---@param options? wgrun.fragment.html.options
---@return boolean # true; or nil, message, code
function fragment:html(path, options) end

---The layout from (row, column) to thread + threads * value.
---@return wgrun.layout
function fragment:inverse() end

---The thread and value that hold an element.
---@param row integer from 0
---@param column integer from 0
---@return integer # the thread
---@return integer # the index among its values
function fragment:owner(row, column) end

---@class wgrun.fragment.picture.options
---@field view? string "offsets" (thread and value of each element) or "overview" (of blocks of 8 x 8); "auto" is the first up to 4096 elements

---A picture of the fragment as a value, which the prompt shows as an image where the terminal can.
---@param options? wgrun.fragment.picture.options
---@return wgrun.picture
function fragment:picture(options) end

---@class wgrun.fragment.print.options
---@field view? string "offsets" (thread and value of each element) or "overview" (of blocks of 8 x 8); "auto" is the first up to 4096 elements

---Prints which thread and register hold each element, as a grid.
---@param options? wgrun.fragment.print.options
function fragment:print(options) end

---@class wgrun.fragment.svg.options
---@field view? string "offsets" (thread and value of each element) or "overview" (of blocks of 8 x 8); "auto" is the first up to 4096 elements

---Writes the picture as an SVG file, for light and dark backgrounds.
---@param path string
---@param options? wgrun.fragment.svg.options
---@return boolean # true; or nil, message, code
function fragment:svg(path, options) end

---A matrix product made by wg.gemm.
---@class wgrun.gemm
---@field kernel wgrun.kernel the kernel, like any other
---@field plan table the choices: tile, stages, schedule, registers
local gemm = {}

---@class wgrun.gemm.launch.options
---@field alpha? number the factor of A * B
---@field beta? number the factor of C
---@field C? wgrun.tensor M x N, of D's type
---@field bias? wgrun.tensor f32: M values for "row", N for "column"
---@field gate? wgrun.tensor as B: the second product's
---@field gate_bias? wgrun.tensor as `bias`, of the gate
---@field gate_scales? wgrun.tensor as `b_scales`, of the gate
---@field residual? wgrun.tensor M x N, of D's type
---@field row_sums? wgrun.tensor M values of f32, which are written
---@field d_scales? wgrun.tensor of a quantised D: f32, ceil(N / 128) x M (M rounded up to a multiple of 4), which are written
---@field metadata? wgrun.tensor of a sparse A, as wg.sparse.compress gives it
---@field offsets? wgrun.tensor of contiguous groups: s32, the end of each group's rows in A and D
---@field sizes? wgrun.tensor of masked groups: s32, the number of each group's rows
---@field count? integer the number of batched groups
---@field a_scales? wgrun.tensor f32: ceil(K / 128) x M for "1x128" (M rounded up to a multiple of 4), M values for "row", 1 for "tensor"
---@field b_scales? wgrun.tensor f32: ceil(N / 128) x ceil(K / 128) for "128x128" (with groups those of all, one below the other), N values for "row", 1 for "tensor"; with b_type K / group_size x N of A's type
---@field b_zeros? wgrun.tensor with zeros: K / group_size x N whole numbers of A's type
---@field next? wgrun.tensor with `next`: the weights of the product behind this one, of B's shape; B itself where there is none

---The options of a launch, for kernel:run, kernel:time and kernel:prepare.
---@param A wgrun.tensor M x K, or K x M where A is MN-major; of a sparse A the values, M x K / 2
---@param B wgrun.tensor N x K, or K x N where B is MN-major; with groups those of all, one below the other; with b_type as wg.prepack gives it
---@param D wgrun.tensor M x N: the result; rows that belong to no group stay as they are
---@param options? wgrun.gemm.launch.options the values of the epilogue, and the metadata of a sparse A
---@return table # { grid =, args =, flops = }
function gemm:launch(A, B, D, options) end

---@class wgrun.gemm.prepare.numerics.options
---@field block? integer the number of products that are added at once; 0: all, exactly, with one rounding
---@field fraction? integer the bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer the fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean rounds addends to nearest even instead of truncating them
---@field inside? boolean the accumulator is an addend of the first block; otherwise it is added to each sum

---@class wgrun.gemm.prepare.options
---@field grid? integer|table the CTAs; by default one on each SM that finds work
---@field alpha? number the factor of A * B
---@field beta? number the factor of C
---@field C? wgrun.tensor M x N, of D's type
---@field bias? wgrun.tensor f32: M values for "row", N for "column"
---@field gate? wgrun.tensor as B: the second product's
---@field gate_bias? wgrun.tensor as `bias`, of the gate
---@field gate_scales? wgrun.tensor as `b_scales`, of the gate
---@field residual? wgrun.tensor M x N, of D's type
---@field row_sums? wgrun.tensor M values of f32, which are written
---@field d_scales? wgrun.tensor of a quantised D: f32, ceil(N / 128) x M (M rounded up to a multiple of 4), which are written
---@field metadata? wgrun.tensor of a sparse A, as wg.sparse.compress gives it
---@field offsets? wgrun.tensor of contiguous groups: s32, the end of each group's rows in A and D
---@field sizes? wgrun.tensor of masked groups: s32, the number of each group's rows
---@field count? integer the number of batched groups
---@field a_scales? wgrun.tensor f32: ceil(K / 128) x M for "1x128" (M rounded up to a multiple of 4), M values for "row", 1 for "tensor"
---@field b_scales? wgrun.tensor f32: ceil(N / 128) x ceil(K / 128) for "128x128" (with groups those of all, one below the other), N values for "row", 1 for "tensor"; with b_type K / group_size x N of A's type
---@field b_zeros? wgrun.tensor with zeros: K / group_size x N whole numbers of A's type
---@field next? wgrun.tensor with `next`: the weights of the product behind this one, of B's shape; B itself where there is none
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer the seed of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. On the simulator there is a limit only if one is given
---@field numerics? string|wgrun.gemm.prepare.numerics.options how the simulator accumulates the products of wgmma and mma.sync: "exact", "h200", or the parameters of a model
---@field unchecked? boolean runs the kernel although the checker found errors
---@field block? integer|table the threads of a CTA, for a kernel of wg.ptx whose text leaves them open
---@field cluster? integer|table the CTAs of a cluster, for a kernel of wg.ptx whose text leaves them open
---@field shared? integer bytes of dynamic shared memory, for a kernel of wg.ptx

---Prepares a launch that can be started many times, with its tensors on the device.
---@param A wgrun.tensor
---@param B wgrun.tensor
---@param D wgrun.tensor
---@param options? wgrun.gemm.prepare.options
---@return wgrun.launch
function gemm:prepare(A, B, D, options) end

---@class wgrun.gemm.run.numerics.options
---@field block? integer the number of products that are added at once; 0: all, exactly, with one rounding
---@field fraction? integer the bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer the fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean rounds addends to nearest even instead of truncating them
---@field inside? boolean the accumulator is an addend of the first block; otherwise it is added to each sum

---@class wgrun.gemm.run.options
---@field grid? integer|table the CTAs; by default one on each SM that finds work
---@field alpha? number the factor of A * B
---@field beta? number the factor of C
---@field C? wgrun.tensor M x N, of D's type
---@field bias? wgrun.tensor f32: M values for "row", N for "column"
---@field gate? wgrun.tensor as B: the second product's
---@field gate_bias? wgrun.tensor as `bias`, of the gate
---@field gate_scales? wgrun.tensor as `b_scales`, of the gate
---@field residual? wgrun.tensor M x N, of D's type
---@field row_sums? wgrun.tensor M values of f32, which are written
---@field d_scales? wgrun.tensor of a quantised D: f32, ceil(N / 128) x M (M rounded up to a multiple of 4), which are written
---@field metadata? wgrun.tensor of a sparse A, as wg.sparse.compress gives it
---@field offsets? wgrun.tensor of contiguous groups: s32, the end of each group's rows in A and D
---@field sizes? wgrun.tensor of masked groups: s32, the number of each group's rows
---@field count? integer the number of batched groups
---@field a_scales? wgrun.tensor f32: ceil(K / 128) x M for "1x128" (M rounded up to a multiple of 4), M values for "row", 1 for "tensor"
---@field b_scales? wgrun.tensor f32: ceil(N / 128) x ceil(K / 128) for "128x128" (with groups those of all, one below the other), N values for "row", 1 for "tensor"; with b_type K / group_size x N of A's type
---@field b_zeros? wgrun.tensor with zeros: K / group_size x N whole numbers of A's type
---@field next? wgrun.tensor with `next`: the weights of the product behind this one, of B's shape; B itself where there is none
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer the seed of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. On the simulator there is a limit only if one is given
---@field numerics? string|wgrun.gemm.run.numerics.options how the simulator accumulates the products of wgmma and mma.sync: "exact", "h200", or the parameters of a model
---@field unchecked? boolean runs the kernel although the checker found errors
---@field block? integer|table the threads of a CTA, for a kernel of wg.ptx whose text leaves them open
---@field cluster? integer|table the CTAs of a cluster, for a kernel of wg.ptx whose text leaves them open
---@field shared? integer bytes of dynamic shared memory, for a kernel of wg.ptx
---@field guarded? boolean runs the guarded build, which reports what hangs or faults

---Computes D, and waits until it is in the tensor.
---@param A wgrun.tensor
---@param B wgrun.tensor
---@param D wgrun.tensor
---@param options? wgrun.gemm.run.options
---@return string # the back end that ran it
function gemm:run(A, B, D, options) end

---@class wgrun.gemm.time.numerics.options
---@field block? integer the number of products that are added at once; 0: all, exactly, with one rounding
---@field fraction? integer the bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer the fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean rounds addends to nearest even instead of truncating them
---@field inside? boolean the accumulator is an addend of the first block; otherwise it is added to each sum

---@class wgrun.gemm.time.options
---@field grid? integer|table the CTAs; by default one on each SM that finds work
---@field alpha? number the factor of A * B
---@field beta? number the factor of C
---@field C? wgrun.tensor M x N, of D's type
---@field bias? wgrun.tensor f32: M values for "row", N for "column"
---@field gate? wgrun.tensor as B: the second product's
---@field gate_bias? wgrun.tensor as `bias`, of the gate
---@field gate_scales? wgrun.tensor as `b_scales`, of the gate
---@field residual? wgrun.tensor M x N, of D's type
---@field row_sums? wgrun.tensor M values of f32, which are written
---@field d_scales? wgrun.tensor of a quantised D: f32, ceil(N / 128) x M (M rounded up to a multiple of 4), which are written
---@field metadata? wgrun.tensor of a sparse A, as wg.sparse.compress gives it
---@field offsets? wgrun.tensor of contiguous groups: s32, the end of each group's rows in A and D
---@field sizes? wgrun.tensor of masked groups: s32, the number of each group's rows
---@field count? integer the number of batched groups
---@field a_scales? wgrun.tensor f32: ceil(K / 128) x M for "1x128" (M rounded up to a multiple of 4), M values for "row", 1 for "tensor"
---@field b_scales? wgrun.tensor f32: ceil(N / 128) x ceil(K / 128) for "128x128" (with groups those of all, one below the other), N values for "row", 1 for "tensor"; with b_type K / group_size x N of A's type
---@field b_zeros? wgrun.tensor with zeros: K / group_size x N whole numbers of A's type
---@field next? wgrun.tensor with `next`: the weights of the product behind this one, of B's shape; B itself where there is none
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer the seed of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. On the simulator there is a limit only if one is given
---@field numerics? string|wgrun.gemm.time.numerics.options how the simulator accumulates the products of wgmma and mma.sync: "exact", "h200", or the parameters of a model
---@field unchecked? boolean runs the kernel although the checker found errors
---@field block? integer|table the threads of a CTA, for a kernel of wg.ptx whose text leaves them open
---@field cluster? integer|table the CTAs of a cluster, for a kernel of wg.ptx whose text leaves them open
---@field shared? integer bytes of dynamic shared memory, for a kernel of wg.ptx
---@field rounds? integer the number of measured launches, 1 to 100000
---@field against? wgrun.cublas made by wg.cublas: measured in turn with the kernel, for comparison

---Measures how long the product takes, and its TFLOPS.
---@param A wgrun.tensor
---@param B wgrun.tensor
---@param D wgrun.tensor
---@param options? wgrun.gemm.time.options
---@return table # as of kernel:time
function gemm:time(A, B, D, options) end

---The builder of a kernel, which the function of wg.kernel gets. One call is one instruction, named as in PTX with underscores for dots, including its qualifiers: k:ld_global_v4_f32(a). The destination comes first or is left out, and is the result. Qualifiers may also be given by name in a table after the operands: k:ld(a, { space = "global", vec = 4, type = "f32" }). The table also takes `guard` (a predicate) and, where there is one address, `offset` (bytes). Whole tiles, loops and pipelines have methods of their own.
---@class wgrun.k
---@field [string] fun(self: wgrun.k, ...): any  an instruction with its qualifiers: ld_global_v4_b32
---@field cluster integer The CTAs of a cluster.
---@field name string The name of the kernel.
---@field threads integer The threads of a CTA.
local k = {}

---The address of a shared buffer in shared memory, in a new u32 register.
---@param buffer wgrun.shared made by k:shared
---@param offset? integer|wgrun.reg bytes that are added
---@return wgrun.reg # u32
function k:address(buffer, offset) end

---@class wgrun.k.asm.options
---@field text string may also be the first value of the table, without a name
---@field out? table registers that are written: { d = "u32" } makes a new one, { d = r } names an existing one
---@field inputs? table operands that are read: registers, or shared buffers (their addresses)
---@field inout? table registers that are read and written
---@field effects? string|table "none", or some of "reads", "writes" (memory) and "barrier" (synchronises threads or orders memory). Without it the checker warns that it does not know them (WG-ASM-01)
---@field meaning? function meaning(k, v) expresses the text by other instructions, for the simulator, which cannot run it otherwise: v.a is the input `a`. It returns the value of the only output, or a table of values by name. Straight-line code without guards
---@field guard? wgrun.reg a predicate, allowed for a text of one statement
---@field isa? string the PTX ISA version that introduced the instruction

---Inserts PTX text, for an instruction that wgrun lacks. The text is copied unchanged into PTX and CUDA C++. Operands are written %name; several statements, separated by semicolons, get a scope of their own.
---@param options wgrun.k.asm.options
---@return wgrun.reg # the output; several outputs are returned as a table by name
function k:asm(options) end

---Ends the launch with an error if the condition does not hold in some thread; the error names the line, the CTA and the thread.
---@param condition wgrun.reg a predicate
---@param format? string the message, as of k:print
---@param ... wgrun.reg|wgrun.regs|table its values
function k:assert(condition, format, ...) end

---Ends the first side of a branch and begins the second.
function k:begin_else() end

---Begins a branch. k:if_ is made of it.
---@param condition wgrun.reg a predicate
function k:begin_if(condition) end

---Begins a loop: the instructions of its condition come first, then k:loop_condition. k:loop and k:while_ are made of it.
function k:begin_loop() end

---The threads that come here leave the innermost loop.
function k:break_() end

---Stops the debugger of the simulator here. Without a debugger it does nothing.
function k:breakpoint() end

---The threads that come here go on with the next iteration of the innermost loop; k:loop counts on.
function k:continue_() end

---@class wgrun.k.copy_tile.options
---@field to wgrun.shared a buffer of a tile
---@field from wgrun.reg a pointer parameter; it points to the tile's type
---@field ld integer|wgrun.reg elements from one line of the matrix to the next
---@field line integer|wgrun.reg the tile's first line in the matrix
---@field along integer|wgrun.reg the tile's first element in its lines
---@field lines integer|wgrun.reg the lines of the matrix
---@field length integer|wgrun.reg the elements of a line of the matrix
---@field vector? boolean copies 16 bytes at a time, which requires `length` and `ld` to be multiples of 16 bytes; needed for elements that are not 16 bits

---Copies a tile of a matrix in global memory into a shared buffer. All threads of the CTA execute it, with loads and stores of the generic proxy. Elements outside of the matrix become 0. Before a wgmma reads the tile, the caller places k:fence_proxy_async and k:bar_sync. A line is a row of a K-major tile or a column of an MN-major one; its elements are contiguous in memory, and `along` counts them.
---@param options wgrun.k.copy_tile.options
function k:copy_tile(options) end

---@class wgrun.k.descriptor.options
---@field kstep? integer the K step in the tile
---@field mn? integer the first row (M or N) of the block
---@field offset? wgrun.reg bytes that are added to the start address; uniform over the warpgroup

---A matrix descriptor of the part of a buffer's tile that one wgmma reads.
---@param buffer wgrun.shared made by k:shared(tile)
---@param options? wgrun.k.descriptor.options
---@return wgrun.reg # b64
function k:descriptor(buffer, options) end

---@class wgrun.k.each_piece.options
---@field m integer the rows of a tile
---@field n integer the columns of a tile
---@field rows wgrun.reg u32: of the matrix
---@field columns wgrun.reg u32: of the matrix
---@field group? integer as in k:each_tile
---@field order? wgrun.reg as in k:each_tile
---@field K wgrun.reg u32: the K extent
---@field block integer elements of K in a block; tiles times blocks must be less than 2^31

---Stream-K: a loop over this CTA's tiles and pieces of tiles. Where the tiles are not a whole number of rounds of the grid, those of the last round and of one more are cut along K, so that each CTA gets the same number of blocks; the other tiles follow as in k:each_tile. No tile is cut more than once.
---@param options wgrun.k.each_piece.options
---@param body fun(place: function, piece: table) emits the work on a piece: place() as in k:each_tile; piece.from and piece.to (the first element of K and the one after the last), piece.cut (a predicate: the tile has another piece), piece.part (0 for the first blocks, 1 for the last) and piece.number (of the cut, from 1) are registers
function k:each_piece(options, body) end

---@class wgrun.k.each_tile.options
---@field m integer the rows of a tile
---@field n integer the columns of a tile
---@field rows wgrun.reg u32: of the matrix
---@field columns wgrun.reg u32: of the matrix
---@field cluster? integer|table CTAs of a cluster, which work on neighbouring tiles: along M, or { along M, along N }, those along M first
---@field group? integer rows of tiles that the order covers before it goes on to the next column
---@field order? wgrun.reg a pointer parameter to u32, instead of `group`: for each tile its row << 16 | its column, counted in tiles, as wg.hilbert gives them
---@field splits? integer the number of parts of K: each tile is visited once for each part
---@field first? wgrun.reg u32: the first of the cluster's tiles that is taken; used with `every`
---@field every? integer takes only every n-th of the cluster's tiles
---@field halves? boolean where at most half of the clusters would have a tile in the last round, each of its tiles is two: the upper and the lower half of its rows
---@field last_splits? integer where at most one of so many clusters would have a tile in the last round, each of its tiles is visited once for each of so many parts of K; without `splits` and `halves`

---Persistent CTAs: a loop over the tiles of a matrix that belong to this CTA. The clusters of the grid take turns: cluster c has the tiles c, c + clusters, ... The order goes down `group` rows of tiles, then on to the next column, so that the tiles in flight share rows of A and columns of B in the L2 cache.
---@param options wgrun.k.each_tile.options
---@param body fun(place: function, part: wgrun.reg, number: wgrun.reg, cut: wgrun.reg, following: function) emits the work on a tile. place() computes the tile's first row and column (u32 registers) where it is called; with splits, `part` is the part of K and `number` that of the tile; with last_splits they count where `cut`, a predicate, holds, and `number` is that among the tiles that are cut; with halves, `cut` holds where the tile has half of the rows. following() computes place, part, number and cut of what the CTA visits next, where it is called; behind the last tile they are those of some tile
function k:each_tile(options, body) end

---The address of an element behind a pointer parameter, in a new u64 register.
---@param pointer wgrun.reg made by k:param; its pointee gives the size of the elements
---@param index integer|wgrun.reg the element, from 0 (u32)
---@return wgrun.reg # u64
function k:element(pointer, index) end

---Ends a branch.
function k:end_if() end

---Ends a loop.
function k:end_loop() end

---@class wgrun.k.epilogue.source.options
---@field map? wgrun.reg the tensor map of C, with the panel's box
---@field barrier? wgrun.reg u32: the address of an mbarrier with one arrival, used by this warpgroup alone

---@class wgrun.k.epilogue.bias.options
---@field along string "row" or "column" of the accumulators
---@field from wgrun.reg a pointer parameter to f32
---@field extent integer|wgrun.reg how many values there are

---@class wgrun.k.epilogue.rows.options
---@field to wgrun.reg a pointer parameter to the matrix
---@field width wgrun.reg u32: its columns

---@class wgrun.k.epilogue.gate.options
---@field of string|function an activation by name, whose value is multiplied by the first product, or a function of k and two f32 registers, gate and value, that returns one
---@field scales? table as `scales`, for the second product
---@field bias? table as `bias`, for the second product

---@class wgrun.k.epilogue.quantize.options
---@field to wgrun.reg a pointer parameter to f32: the scales, a row of them for each 128 columns
---@field stride wgrun.reg u32: f32 values in a row of scales
---@field rows wgrun.reg u32: the rows of the matrix
---@field columns wgrun.reg u32: the columns of the matrix

---@class wgrun.k.epilogue.row_sums.options
---@field of string|function "squares", or a function of k and an f32 register: what is summed
---@field to wgrun.reg a pointer parameter to f32: a sum for each row
---@field finish? function a function of k and the sum that returns what is written
---@field blocks? integer the blocks of a tile, which are stored one below the other
---@field partials wgrun.reg a pointer parameter to f32: for each column of tiles as many as there are rows, rounded up to those of a tile
---@field counters wgrun.reg a pointer parameter to u32, one for each row of tiles, 0 before and after the kernel
---@field rows wgrun.reg u32: the rows of the matrix
---@field columns wgrun.reg u32: the columns of the matrix
---@field flag wgrun.reg u32: the address of 4 bytes of shared memory of this warpgroup

---@class wgrun.k.epilogue.options
---@field panel table made by wg.panel
---@field map wgrun.reg the tensor map of the matrix: k:tensor_map(name, panel.box)
---@field buffer wgrun.shared the shared memory that holds the panels
---@field offset? integer|wgrun.reg the offset of the warpgroup's panels in the buffer, in bytes
---@field buffers? integer the number of panels that the warpgroup has there, 1 to 64
---@field barrier integer|wgrun.reg the number of a named barrier for the 128 threads
---@field alpha? wgrun.reg f32
---@field beta? wgrun.reg f32; goes with `source`
---@field source? wgrun.k.epilogue.source.options the source of C; an empty table where store gets the address of C's panels
---@field residual? table in place of `beta` and `source`: a matrix that is added last, with the fields of `source`
---@field bias? wgrun.k.epilogue.bias.options a value for each row or column
---@field rows? wgrun.k.epilogue.rows.options of blocks whose last rows are not all stored: store gets a `limit`, the first row that is not
---@field scales? table a list of factors, each a table as `bias` is; along "all" it is one f32
---@field activation? string|function "relu", "gelu", "silu", "sigmoid", "tanh", or a function of k and an f32 register that returns one
---@field gate? wgrun.k.epilogue.gate.options a second product, whose accumulators follow those of the first: blocks have twice the columns of the matrix
---@field vectors? wgrun.reg u32: an address in shared memory for 4 bytes for each column of the block and each bias, scale and gate scale along columns; they are then loaded once for all blocks with the same columns
---@field quantize? wgrun.k.epilogue.quantize.options divides D, an 8-bit float, by a scale for each row and each 128 columns; blocks have a multiple of 128 columns
---@field row_sums? wgrun.k.epilogue.row_sums.options sums over the rows of the matrix, before its elements are rounded
---@field policy? wgrun.reg a policy of the L2 cache for the stores, made by k:createpolicy_fractional
---@field place? function place(column, row) returns the list of coordinates of that element for a map of another rank; by default { column, row }
---@field clamp? table { least, most }: two numbers that the elements of D lie between

---Prepares to store 64 x n blocks of the executing warpgroup's accumulators to a matrix, through panels in shared memory and bulk copies that overlap later work. The value stored is activation(alpha * scales * acc + beta * C + bias) + residual, or gate(scales * acc' + bias', scales * acc + bias) + residual, computed in f32; parts that are left out drop out.
---@param options wgrun.k.epilogue.options
---@return function # store(acc, row, column, limit, source, narrow): stores a block at that row and column (registers) of the matrix; `limit`, a register, goes with `rows`, and `source`, the address of all panels of C's block in shared memory, with an empty `source` or `residual`; where `narrow`, a predicate, holds, only the left half of the block is stored, which has a multiple of `buffers` panels
---@return function # finish(): waits until the last copies have read their panels
---@return function # fetch(row, column): may be called ahead of the first store of a tile, for the same place, so that C, the residual and vectors along columns are loaded meanwhile
---@return function # complete(row): with row_sums, to be called after the last block of a tile, with the row of its first
function k:epilogue(options) end

---The threads that come here end. What the warp does together afterwards, such as k:mma, lacks them.
function k:exit() end

---Gives accumulators the rows and columns of their block, to compute with. The object refers to the registers themselves: its methods change the accumulators, which must be complete (k:wgmma_wait_group).
---@param acc wgrun.regs the f32 or s32 accumulators of a warpgroup, 64 x n: n / 2 registers
---@return wgrun.accumulator
function k:fragment(acc) end

---A branch in the kernel. Lua's own `if` decides while the kernel is traced, so it cannot test a register.
---@param predicate wgrun.reg threads where it holds execute `when_true`
---@param when_true fun() emits the instructions for threads where the predicate holds
---@param otherwise? fun() emits the instructions for the other threads
function k:if_(predicate, when_true, otherwise) end

---Goes on where the label is, for control flow that k:if_ and loops do not have.
---@param label wgrun.label
---@param predicate? wgrun.reg only the threads where it holds
function k:jump(label, predicate) end

---Makes a label for k:jump, which gets its place by k:place, before or after.
---@param name? string as PTX spells it
---@return wgrun.label
function k:label(name) end

---@class wgrun.k.load_tile.options
---@field tile wgrun.tile the tile that is copied
---@field map wgrun.reg the tensor map of the matrix: k:tensor_map(name, tile)
---@field to wgrun.reg u32: address of the tile in shared memory
---@field mn integer|wgrun.reg the tile's first row (M or N) in the matrix
---@field k integer|wgrun.reg the tile's first K element in the matrix
---@field barrier wgrun.reg u32: address of the mbarrier that counts the bytes
---@field whole? wgrun.tile the tile in shared memory that `tile` is a piece of
---@field mask? integer|wgrun.reg the CTAs of the cluster that receive the data, a bit each: multicast
---@field policy? wgrun.reg a policy of the L2 cache, made by k:createpolicy_fractional

---Copies a tile of a matrix in global memory to shared memory by TMA, one box for each panel of the tile. One thread executes it, after it has announced the bytes to the mbarrier (pipeline:expect). Elements outside of the matrix are filled with zeros.
---@param options wgrun.k.load_tile.options
function k:load_tile(options) end

---@class wgrun.k.local_.options
---@field bytes integer the size in bytes
---@field align? integer the alignment in bytes: a power of two up to 128

---Reserves local memory: each thread has its own, which outlives registers and is as far away as global memory. Every byte is undefined at first.
---@param options wgrun.k.local_.options
---@return wgrun.reg # u64: the address in the local space, for k:ld_local_... and k:st_local_...
function k:local_(options) end

---@class wgrun.k.loop.options
---@field from? integer|wgrun.reg the first value of i
---@field to integer|wgrun.reg the end of the range: the loop runs while i < `to`
---@field step? integer|wgrun.reg what is added to i after each iteration

---A counting loop in the kernel: body(i) is traced once and runs for i = from, from + step, ... while i < `to`. Lua's own `for` unrolls instead.
---@param range integer|wgrun.reg|wgrun.k.loop.options the number of iterations, with i = 0, 1, ..., or a table of options
---@param body fun(i: wgrun.reg) emits the body; `i` is a u32 register
function k:loop(range, body) end

---Ends the condition of a loop: threads where the predicate does not hold leave the loop.
---@param condition wgrun.reg a predicate, not negated
function k:loop_condition(condition) end

---Ends the body of a loop: what follows is executed at the end of every iteration, also where k:continue_ ends it.
function k:loop_next() end

---Waits until the phase of an mbarrier that has the given parity is complete. Every thread that calls it waits.
---@param address wgrun.reg u32: of the mbarrier in shared memory
---@param parity integer|wgrun.reg 0 for the first phase, 1 for the second, 0 for the third, ...
function k:mbarrier_wait(address, parity) end

---@class wgrun.k.mma.options
---@field a wgrun.shared|wgrun.regs A: a buffer of a tile, or registers as accumulator:operand makes them
---@field b wgrun.shared B: a buffer of a tile
---@field a_mn? integer the first of A's 64 rows
---@field b_mn? integer the first of B's n rows
---@field a_offset? wgrun.reg bytes that are added to A's address
---@field b_offset? wgrun.reg bytes that are added to B's address
---@field n? integer the columns of D, 8 to 256; all rows of B where it is left out
---@field d? string the type of the accumulators
---@field scale_d? wgrun.reg|integer for the first K step: 0 overwrites the accumulators, 1 adds to them
---@field metadata? wgrun.regs of a sparse A, whose tile has half of B's K: one register for each step (wg.sparse)
---@field sp_sel? integer the sparsity selector, 0 or 1: which threads of each four hold the metadata

---Multiplies two tiles: acc += A * B over their whole K extent, with one wgmma for each K step, in one commit group. The caller places k:wgmma_fence before it and k:wgmma_wait_group after it.
---@param acc wgrun.regs the accumulators of a warpgroup, 64 x n: n / 2 registers of type `d`
---@param options wgrun.k.mma.options
function k:mma(acc, options) end

---Declares a parameter of the kernel. The arguments of a launch have the order of these calls.
---@param name string
---@param type string a pointer such as "const bf16*" or "f32*", or "u32", "s32", "f32", "u64", "s64", "f64", "u16", "s16", "u8", "s8"
---@return wgrun.reg # its value, of 8 bits in a register of 16; for a pointer, the u64 address in global memory
function k:param(name, type) end

---@class wgrun.k.parameter.options
---@field bytes? integer the size in bytes of a structure that is passed by value
---@field align? integer its alignment in bytes: a power of two up to 128, of a structure 8 where nothing is given; of a tensor map 64 or 128
---@field map? boolean a tensor map whose box the launch gives, by wg.tensor_map
---@field dtype? string of a tensor map: the element type
---@field box? table of a tensor map: the extents of the box, the fastest dimension first
---@field swizzle? string of a tensor map: "none", "32B", "64B" or "128B"
---@field nan_fill? boolean of a tensor map: elements outside of the tensor are NaN instead of 0
---@field steps? table from one element that is copied to the next, in elements of each dimension of the tensor, 1 to 8; the first must be 1. The box is what is copied
---@field lower? table of an im2col map, for copies of pixels: the first pixel of the bounding box, counted from the first of the tensor, in each of one to three dimensions, the fastest first. The tensor then is images x [depth x [height x]] width x channels, and the box { channels, pixels of a copy }
---@field upper? table of an im2col map: the last pixel, counted from the last of the tensor

---Declares a parameter of the kernel that instructions name: k:param is this and k:ld_param. Scripts that wgrun lua has translated use it.
---@param name string
---@param options string|wgrun.k.parameter.options a type as of k:param; "*" for 64 bits of any kind, an integer or the address of elements of any type; or a table of options, for a structure or a tensor map with a box
---@return wgrun.parameter
function k:parameter(name, options) end

---@class wgrun.k.part_of_k.options
---@field K wgrun.reg u32: the K extent
---@field block integer elements of K in a block
---@field part integer|wgrun.reg the part, from 0
---@field splits integer the number of parts

---The range of K that belongs to one of several parts, in whole blocks. Every part has at least one block where there are as many blocks as parts.
---@param options wgrun.k.part_of_k.options
---@return wgrun.reg # u32: the first element
---@return wgrun.reg # u32: the one after the last
function k:part_of_k(options) end

---@class wgrun.k.pipeline.options
---@field stages integer 1 to 32
---@field arrivals? integer arrivals that release a stage, one for each consumer warp; with multicast, those of all CTAs of the cluster
---@field producers? integer threads that each announce their share of a stage's bytes, 1 to 1024
---@field name? string the name of the barriers in messages: NAME_full, NAME_empty

---A ring of stages in shared memory between producers, which fill them by bulk copies, and consumers, which multiply them. Each stage has two mbarriers: `full` counts the bytes that arrive, `empty` the consumers that are done. The caller allocates the memory of the stages: k:shared{ tile =, count = stages }. One thread of the CTA calls pipeline:init, and then all threads wait at a barrier (of the cluster, where there is one).
---@param options wgrun.k.pipeline.options
---@return wgrun.pipeline
function k:pipeline(options) end

---Jumps to the label lead here.
---@param label wgrun.label
function k:place(label) end

---Prints a message from each thread that executes it. The values are printed by the conversions of the format in order.
---@param format string as for string.format: %d, %u, %x, %f, ...
---@param ... wgrun.reg|wgrun.regs|table registers, arrays or lists of them; the last one may be { guard = p } or { guard_not = p }
function k:print(format, ...) end

---@class wgrun.k.queue.options
---@field counter wgrun.reg a pointer parameter to u32: one element
---@field tiles wgrun.reg u32: the number of tiles
---@field readers integer the warps that receive each number

---Persistent CTAs that draw their tiles from a counter in global memory: where tiles differ in length, each CTA is busy until the last of them. Long tiles should come first. CTA c begins with tile c; one thread draws the next number while a tile is being worked on, and shows it to the warps that work on it. The counter is 0 before the launch, and the draw of the last tile sets it to 0 again; two launches that run at a time need two counters. One thread of the CTA calls queue:init, and then all threads wait at a barrier.
---@param options wgrun.k.queue.options
---@return wgrun.queue
function k:queue(options) end

---Makes a register.
---@param type string "pred", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64", ...
---@return wgrun.reg
function k:reg(type) end

---Makes an array of registers, such as accumulators.
---@param type string as of k:reg
---@param count integer the number of registers
---@return wgrun.regs # indexed from 0
function k:regs(type, count) end

---A loop in the kernel whose body runs before its test: as do ... while of C. break_ and continue_ do not know it: k:jump leaves it.
---@param body? fun(): wgrun.reg emits the body, and returns the predicate by which threads run it again; where it returns nothing, they always do
function k:repeat_(body) end

---@class wgrun.k.shared.options
---@field bytes? integer the size in bytes, where no tile is given
---@field align? integer the alignment in bytes; with a tile, by default what the tile needs
---@field name? string the name in messages
---@field tile? wgrun.tile the tile that the buffer holds
---@field count? integer the number of them, one after the other: 1 to 1024

---Allocates a buffer in shared memory.
---@param options wgrun.tile|wgrun.k.shared.options a tile, or a table of options
---@param name? string with a tile: the buffer's name in messages
---@return wgrun.shared
function k:shared(options, name) end

---@class wgrun.k.softmax.options
---@field scores wgrun.regs the f32 accumulators of a warpgroup, 64 x n
---@field scale wgrun.reg f32, positive: the factor of the scores, in units of log2
---@field empty? boolean a row may have no score but -inf so far: its exponentials are then 0
---@field lift? integer the exponentials are 2^lift times as large, 0 to 7: where they are rounded to a type with few exponents, such as e4m3

---Prepares the softmax of rows whose scores come in blocks of 64 x n accumulators: of each block, softmax:first or softmax:next makes exponentials 2^(scale * (score - top)) in place. softmax:finish gives the sums of the rows. The scores must be complete (k:wgmma_wait_group).
---@param options wgrun.k.softmax.options
---@return wgrun.softmax
function k:softmax(options) end

---The value of a special register.
---@param name string "tid.x", "ctaid.x", "nctaid.x", "ntid.x", "laneid", "cluster_ctarank", "clock64", ...
---@return wgrun.reg # u32; of clock64, globaltimer and gridid u64, of is_explicit_cluster a predicate
function k:special(name) end

---@class wgrun.k.store_accumulator.options
---@field to wgrun.reg a pointer parameter to f32 or s32
---@field ld integer|wgrun.reg elements from one row of the matrix to the next
---@field row integer|wgrun.reg the first row of the block in the matrix
---@field col integer|wgrun.reg the first column of the block in the matrix
---@field rows integer|wgrun.reg the rows of the matrix
---@field cols integer|wgrun.reg the columns of the matrix
---@field vector? boolean stores two elements at a time, which requires `cols` and `ld` to be even

---Stores the accumulators of a warpgroup, 64 x n, to a row-major matrix in global memory. Rows and columns outside of the matrix are not stored. Register r of thread t holds row 16 w + l / 4 + 8 (r / 2 % 2) and column 8 (r / 4) + 2 (l % 4) + r % 2, with w = t / 32 and l = t % 32 (PTX ISA 9.7.15.5.1, figure of the D fragment).
---@param acc wgrun.regs f32 or s32, n / 2 registers
---@param options wgrun.k.store_accumulator.options
function k:store_accumulator(acc, options) end

---@class wgrun.k.sum_parts.options
---@field acc table a list of arrays of registers: the accumulators
---@field partials wgrun.reg a pointer parameter to the accumulators' type: `splits` times as many elements as the tiles of the grid have accumulators
---@field counters wgrun.reg a pointer parameter to u32, one for each tile, 0 before and after the kernel
---@field tile wgrun.reg u32: the index of the tile, for its counter and its place in the workspace
---@field first? wgrun.reg u32: the place of the tile's first part in the workspace, counted in parts; by default tile * splits
---@field part wgrun.reg u32: the part, from 0
---@field splits integer|wgrun.reg the number of parts, 2 to 65535; a register together with `first`
---@field early? boolean a first part that finds those of all others in the workspace keeps its own in registers
---@field barrier integer|wgrun.reg the number of a named barrier for the 128 threads
---@field flag wgrun.reg u32: the address of 4 bytes of shared memory, 8 with `early`

---Split-K: adds up the accumulators of warpgroups that multiplied different parts of K. Each writes its sums to a workspace; the one that finishes last adds all of them up, always in the order of the parts, and continues with the total. All 128 threads execute it, and no CTA waits for another.
---@param options wgrun.k.sum_parts.options
---@return wgrun.reg # a predicate that holds in the warpgroup that finished last, whose accumulators then hold the sums of all parts
function k:sum_parts(options) end

---@class wgrun.k.tensor_map.options
---@field dtype? string the element type
---@field box? table the extents of the box, the fastest dimension first
---@field swizzle? string the swizzle of the box in shared memory: "none", "32B", "64B" or "128B"
---@field nan_fill? boolean elements outside of the tensor are filled with NaN instead of 0
---@field steps? table from one element that is copied to the next, in elements of each dimension of the tensor, 1 to 8; the first must be 1. The box is what is copied
---@field lower? table of an im2col map, for copies of pixels: the first pixel of the bounding box, counted from the first of the tensor, in each of one to three dimensions, the fastest first. The tensor then is images x [depth x [height x]] width x channels, and the box { channels, pixels of a copy }
---@field upper? table of an im2col map: the last pixel, counted from the last of the tensor
---@field constant? boolean the tensor is not written by any launch that may still run when this one starts
---@field tile? wgrun.tile a tile, in place of `dtype`, `box` and `swizzle`: the map then copies panels of the tile

---Declares a parameter that is a tensor map, for cp.async.bulk.tensor. The argument of a launch is a tensor, from which the map is made.
---@param name string
---@param options wgrun.tile|wgrun.k.tensor_map.options the tile that is copied, or a table of options
---@return wgrun.reg # u64: the address of the map
function k:tensor_map(name, options) end

---Ends the launch with an error when a thread executes it; the error names the line, the CTA and the thread.
---@param format? string the message, as of k:print
---@param ... wgrun.reg|wgrun.regs|table its values; the last one may be { guard = p } or { guard_not = p }
function k:trap(format, ...) end

---@class wgrun.k.turns.options
---@field members integer the warpgroups that take turns, 2 to 8
---@field member wgrun.reg u32: the number of the executing warpgroup among them, from 0
---@field barrier integer the first of as many named barriers as there are members, 1 to 15

---Lets warpgroups take turns: `turns:take` waits until it is the executing warpgroup's turn, `turns:pass` hands over to the next one. The first member begins. All members take and pass equally often, and then call `turns:finish`. Where each issues its wgmma between `take` and `pass`, the tensor core is busy with one warpgroup's products while the others compute with what theirs gave. Each member executes this call. PTX ISA 9.7.13.1.
---@param options wgrun.k.turns.options
---@return wgrun.turns
function k:turns(options) end

---A loop in the kernel that runs while a condition holds.
---@param condition fun(): wgrun.reg emits the test and returns its predicate. It is called once; the test runs before each iteration
---@param body fun() emits the body
function k:while_(condition, body) end

---A kernel, made by wg.kernel. It can be checked, printed, run and timed any number of times.
---@class wgrun.kernel
---@field name string The name of the kernel.
---@field shared_bytes integer The shared memory of a CTA.
local kernel = {}

---Checks the kernel against the rules of the PTX ISA, without running it.
---@return table # a list of findings, empty if there are none
function kernel:check() end

---The CUDA C++ of the kernel.
---@return string
function kernel:cuda() end

---@class wgrun.kernel.debug.numerics.options
---@field block? integer the number of products that are added at once; 0: all, exactly, with one rounding
---@field fraction? integer the bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer the fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean rounds addends to nearest even instead of truncating them
---@field inside? boolean the accumulator is an addend of the first block; otherwise it is added to each sum

---@class wgrun.kernel.debug.options
---@field grid? integer|table CTAs along x, y and z: a number, or { x, y, z }
---@field args table a list of tensors and numbers, in the order of the parameters
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer the seed of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. On the simulator there is a limit only if one is given
---@field numerics? string|wgrun.kernel.debug.numerics.options how the simulator accumulates the products of wgmma and mma.sync: "exact", "h200", or the parameters of a model
---@field unchecked? boolean runs the kernel although the checker found errors
---@field block? integer|table the threads of a CTA, for a kernel of wg.ptx whose text leaves them open
---@field cluster? integer|table the CTAs of a cluster, for a kernel of wg.ptx whose text leaves them open
---@field shared? integer bytes of dynamic shared memory, for a kernel of wg.ptx
---@field commands? table a list of commands; by default they are read from standard input

---Runs the kernel on the simulator under the debugger (docs/debugging.md), which stops at lines, steps forwards and backwards, prints values by their names in the script, and says who wrote them. A kernel in which the checker found errors runs, too; the errors are printed first.
---@param options wgrun.kernel.debug.options
function kernel:debug(options) end

---@class wgrun.kernel.export.result
---@field files table their names
---@field registers? integer registers of a thread
---@field no_cubin? string why there is no cubin

---Writes the kernel for programs without wgrun: PTX, cubin, CUDA C++, and C with host code.
---@param folder string the folder for the files
---@return wgrun.kernel.export.result # or nil, message, code
function kernel:export(folder) end

---@class wgrun.kernel.launch_rule.options
---@field rows? string the parameter that holds the rows of the matrix
---@field columns? string the parameter that holds its columns
---@field m? integer rows of a tile
---@field n? integer columns of a tile
---@field parts? integer CTAs for each tile
---@field notes? table for each parameter a text that says what to pass

---Describes launches for kernel:export: the grid of persistent CTAs that work through the tiles of a matrix whose extents are parameters, and the arguments.
---@param options wgrun.kernel.launch_rule.options
function kernel:launch_rule(options) end

---@class wgrun.kernel.prepare.numerics.options
---@field block? integer the number of products that are added at once; 0: all, exactly, with one rounding
---@field fraction? integer the bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer the fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean rounds addends to nearest even instead of truncating them
---@field inside? boolean the accumulator is an addend of the first block; otherwise it is added to each sum

---@class wgrun.kernel.prepare.options
---@field grid? integer|table CTAs along x, y and z: a number, or { x, y, z }
---@field args table a list of tensors and numbers, in the order of the parameters
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer the seed of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. On the simulator there is a limit only if one is given
---@field numerics? string|wgrun.kernel.prepare.numerics.options how the simulator accumulates the products of wgmma and mma.sync: "exact", "h200", or the parameters of a model
---@field unchecked? boolean runs the kernel although the checker found errors
---@field block? integer|table the threads of a CTA, for a kernel of wg.ptx whose text leaves them open
---@field cluster? integer|table the CTAs of a cluster, for a kernel of wg.ptx whose text leaves them open
---@field shared? integer bytes of dynamic shared memory, for a kernel of wg.ptx

---Prepares a launch that can be started many times: compiles the kernel and copies the tensors to the device. Prepared launches share the tensors that they have in common.
---@param options wgrun.kernel.prepare.options
---@return wgrun.launch
function kernel:prepare(options) end

---@class wgrun.kernel.profile.result
---@field source string "gpu" or "simulator"; of kernel:timeline "model"
---@field cycles number of the SM's clock, from the begin of its first CTA until the last that is shown has ended
---@field microseconds number the same; 0 on the simulator
---@field tensor_busy number share of the time that the products take at the tensor core's full speed; 0 on the simulator
---@field memory_busy? number nil
---@field dropped integer events for which there was no room
---@field dropped_warps integer warps for which there was no room
---@field verdict table empty on the simulator
---@field rows table products and copies: those that have begun and are not known to have ended

---@class wgrun.kernel.profile.numerics.options
---@field block? integer the number of products that are added at once; 0: all, exactly, with one rounding
---@field fraction? integer the bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer the fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean rounds addends to nearest even instead of truncating them
---@field inside? boolean the accumulator is an addend of the first block; otherwise it is added to each sum

---@class wgrun.kernel.profile.options
---@field grid? integer|table CTAs along x, y and z: a number, or { x, y, z }
---@field args table a list of tensors and numbers, in the order of the parameters
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer the seed of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. On the simulator there is a limit only if one is given
---@field numerics? string|wgrun.kernel.profile.numerics.options how the simulator accumulates the products of wgmma and mma.sync: "exact", "h200", or the parameters of a model
---@field unchecked? boolean runs the kernel although the checker found errors
---@field block? integer|table the threads of a CTA, for a kernel of wg.ptx whose text leaves them open
---@field cluster? integer|table the CTAs of a cluster, for a kernel of wg.ptx whose text leaves them open
---@field shared? integer bytes of dynamic shared memory, for a kernel of wg.ptx
---@field clusters? integer how many clusters of the grid are noted, and those that run on their SMs later
---@field events? integer room for so many events of each warp

---Runs a launch with a build of the kernel that notes when its warps wait, copy and multiply (docs/timeline.md), on the GPU or on the simulator, which counts steps instead of cycles. The tensors hold the results. The kernel without notes stays as it is.
---@param options wgrun.kernel.profile.options
---@return wgrun.kernel.profile.result # as kernel:timeline, with these differences
function kernel:profile(options) end

---The PTX of the kernel.
---@return string
function kernel:ptx() end

---@class wgrun.kernel.report.result
---@field registers integer the registers of a thread
---@field estimated integer the registers that the checker estimated
---@field spill_stores integer bytes
---@field spill_loads integer bytes
---@field static_shared integer bytes of shared memory
---@field dynamic_shared integer bytes of shared memory
---@field assembler string its name and version
---@field notes table the assembler's messages, a list of strings
---@field findings table those messages as findings at lines of the script

---Assembles the kernel and reports what it uses.
---@return wgrun.kernel.report.result # or nil, message, code where there is no assembler
function kernel:report() end

---The number of clusters (CTAs, where the kernel has none) that the GPU runs at a time. Compiles the kernel.
---@return integer? # nil without a GPU
function kernel:resident_clusters() end

---@class wgrun.kernel.run.numerics.options
---@field block? integer the number of products that are added at once; 0: all, exactly, with one rounding
---@field fraction? integer the bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer the fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean rounds addends to nearest even instead of truncating them
---@field inside? boolean the accumulator is an addend of the first block; otherwise it is added to each sum

---@class wgrun.kernel.run.options
---@field grid? integer|table CTAs along x, y and z: a number, or { x, y, z }
---@field args table a list of tensors and numbers, in the order of the parameters
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer the seed of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. On the simulator there is a limit only if one is given
---@field numerics? string|wgrun.kernel.run.numerics.options how the simulator accumulates the products of wgmma and mma.sync: "exact", "h200", or the parameters of a model
---@field unchecked? boolean runs the kernel although the checker found errors
---@field block? integer|table the threads of a CTA, for a kernel of wg.ptx whose text leaves them open
---@field cluster? integer|table the CTAs of a cluster, for a kernel of wg.ptx whose text leaves them open
---@field shared? integer bytes of dynamic shared memory, for a kernel of wg.ptx
---@field guarded? boolean runs the guarded build, which reports what hangs or faults

---Runs the kernel and waits until its results are in the tensors.
---@param options wgrun.kernel.run.options
---@return string # the back end that ran it: "gpu", "gpu-cuda" or "sim"; "none" where kernels are only traced (wgrun check)
function kernel:run(options) end

---Declares the sizes that are legal for the kernel: a range for each, `{ least, most, multiple_of = }`, and a function that launches the kernel with given ones. `wgrun check --dynamic` calls the function with sizes at the edges: the limits, and those beside the extents that stand in the kernel. An error that the function raises, as by assert, is a finding. Without `--dynamic` it looks ahead at a few of these launches, with placeholder memory.
---@param declaration table the sizes by their names, and `run`
function kernel:sizes(declaration) end

---@class wgrun.kernel.time.result
---@field median_us number the median, in microseconds
---@field min_us number the shortest, in microseconds
---@field max_us number the longest, in microseconds
---@field tflops number for the median, if `flops` is given; else 0
---@field rounds integer the number of measured launches
---@field backend string the back end that ran it
---@field against? table the same for `against`

---@class wgrun.kernel.time.numerics.options
---@field block? integer the number of products that are added at once; 0: all, exactly, with one rounding
---@field fraction? integer the bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer the fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean rounds addends to nearest even instead of truncating them
---@field inside? boolean the accumulator is an addend of the first block; otherwise it is added to each sum

---@class wgrun.kernel.time.options
---@field grid? integer|table CTAs along x, y and z: a number, or { x, y, z }
---@field args table a list of tensors and numbers, in the order of the parameters
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer the seed of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. On the simulator there is a limit only if one is given
---@field numerics? string|wgrun.kernel.time.numerics.options how the simulator accumulates the products of wgmma and mma.sync: "exact", "h200", or the parameters of a model
---@field unchecked? boolean runs the kernel although the checker found errors
---@field block? integer|table the threads of a CTA, for a kernel of wg.ptx whose text leaves them open
---@field cluster? integer|table the CTAs of a cluster, for a kernel of wg.ptx whose text leaves them open
---@field shared? integer bytes of dynamic shared memory, for a kernel of wg.ptx
---@field rounds? integer the number of measured launches, 1 to 100000
---@field flops? number the floating-point operations of a launch, for `tflops`
---@field against? wgrun.cublas made by wg.cublas: measured in turn with the kernel, for comparison

---Measures how long the kernel takes, with its tensors already on the device.
---@param options wgrun.kernel.time.options
---@return wgrun.kernel.time.result
function kernel:time(options) end

---@class wgrun.kernel.timeline.result
---@field cycles number the cycles until the last CTA of the cluster has ended
---@field microseconds number the estimated time of the whole launch, one of many in a row
---@field ghz number the clock that this assumes
---@field tensor_busy number the share of the time in which the tensor core multiplies
---@field memory_busy number the share of the time in which bytes are in flight between memory and the SM
---@field verdict table sentences: what limits the kernel, the most important first
---@field rows table a list of { name =, warp =, exclusive = }; warp is nil for engines of the SM
---@field spans table a list of { row =, kind =, first =, last =, what =, file =, line = }; first and last are cycles
---@field requests table a list of { what =, shared =, count =, units =, needed =, file =, line = }: requests of a line to memory, the sectors of 32 bytes (of shared memory: passes of its banks) that they take in all, and how many would do for their bytes
---@field text string the picture as text, 80 columns wide
---@field svg string the picture as SVG
---@field perfetto string trace events for ui.perfetto.dev
---@field json string everything as JSON

---@class wgrun.kernel.timeline.numerics.options
---@field block? integer the number of products that are added at once; 0: all, exactly, with one rounding
---@field fraction? integer the bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer the fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean rounds addends to nearest even instead of truncating them
---@field inside? boolean the accumulator is an addend of the first block; otherwise it is added to each sum

---@class wgrun.kernel.timeline.options
---@field grid? integer|table CTAs along x, y and z: a number, or { x, y, z }
---@field args table a list of tensors and numbers, in the order of the parameters
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer the seed of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. On the simulator there is a limit only if one is given
---@field numerics? string|wgrun.kernel.timeline.numerics.options how the simulator accumulates the products of wgmma and mma.sync: "exact", "h200", or the parameters of a model
---@field unchecked? boolean runs the kernel although the checker found errors
---@field block? integer|table the threads of a CTA, for a kernel of wg.ptx whose text leaves them open
---@field cluster? integer|table the CTAs of a cluster, for a kernel of wg.ptx whose text leaves them open
---@field shared? integer bytes of dynamic shared memory, for a kernel of wg.ptx

---Computes the timeline of one cluster of a launch by a model of an H200's SM (docs/timeline.md): what each warp, the tensor core and the copies do at which time, and what limits the kernel. The cluster runs on the simulator; afterwards the tensors hold its results.
---@param options wgrun.kernel.timeline.options
---@return wgrun.kernel.timeline.result
function kernel:timeline(options) end

---@class wgrun.kernel.verdicts.result
---@field property string "no-deadlock", "phases", ...
---@field verdict string "proved", "refuted" or "undecided"
---@field domain string of what is proved: for which launches
---@field reason string of the rest: the rule that is broken, or what stopped the proof
---@field file string and where that is
---@field line integer its line
---@field assumption string what would decide it, if that is known; of what is proved, what is taken for granted of the data

---@class wgrun.kernel.verdicts.options
---@field grid? integer|table the CTAs of the grid: a number, or { x, y, z }
---@field assume? table numbers of the launch by their names: of a parameter, or `p+8` of the structure p, 8 bytes from its start
---@field budget? number the seconds that proofs may take, counted in operations

---What is proved of the kernel for every launch, property by property (docs/verdicts.md). Takes some seconds at most.
---@param options? wgrun.kernel.verdicts.options
---@return wgrun.kernel.verdicts.result # a list with a table for each property
function kernel:verdicts(options) end

---A place that k:jump leads to, made by k:label.
---@class wgrun.label
local label = {}

---A prepared launch, made by kernel:prepare: its kernel is compiled and its tensors are on the device.
---@class wgrun.launch
local launch = {}

---Waits until the started launches are complete, and copies the tensors that they wrote to host memory.
function launch:download() end

---Starts the launch. On the GPU it returns at once; the simulator runs the kernel to its end.
function launch:start() end

---Copies the tensors from host memory to the device again, after the host has changed them.
function launch:upload() end

---Waits until the started launches are complete.
function launch:wait() end

---Prepared launches that follow each other, made by attention_backward:prepare.
---@class wgrun.launches
local launches = {}

---Waits until the started launches are complete, and copies the tensors that they wrote to host memory.
function launches:download() end

---Starts the launches, in their order. On the GPU it returns at once; the simulator runs the kernels to their end.
function launches:start() end

---Copies the tensors from host memory to the device again, after the host has changed them.
function launches:upload() end

---Waits until the started launches are complete.
function launches:wait() end

---A function from coordinates to offsets, made by wg.layout and the layout algebra. Offsets count elements, unless stated otherwise.
---
---layout(i) is the offset of index i, from 0; layout(i, j, ...) and layout{ i, { j, k } } are offsets of coordinates. `#layout` is the size. Two layouts are equal if their shape, stride, swizzle and offset are equal.
---@class wgrun.layout
---@overload fun(...: integer|table): integer
---@operator len: integer
---@field offset integer The constant that is added to each offset before the swizzle.
---@field shape integer|table The extents, nested.
---@field stride integer|table The strides, nested as the shape.
---@field swizzle? wgrun.swizzle The swizzle that is applied to the offsets, or nil.
local layout = {}

---The bank conflicts of a matrix in shared memory, whose layout maps (row, column) to the element offset.
---@param dtype string the element type
---@return table # a list, as of tile:bank_conflicts
function layout:bank_conflicts(dtype) end

---The natural coordinate of an index, nested as the shape.
---@param i integer from 0; the first mode varies fastest
---@return integer|table
function layout:coordinate(i) end

---The largest offset plus one.
---@return integer
function layout:cosize() end

---The nesting depth of the modes; 0 for a plain integer.
---@return integer
function layout:depth() end

---@class wgrun.layout.html.options
---@field view? string what the picture shows: "offsets", "bytes", "chunks" (of 16 bytes), "banks" (of one access, lane by lane), "conflicts" (where in the matrix they are) or "overview" (core matrices and atoms); "auto" is "offsets" up to 4096 elements, and "overview" beyond
---@field access? string with "banks" or "conflicts", which access of a warp; by default the one with the most conflicts, or all
---@field dtype? string the element type, required by all views except offsets and overview
---@field chunk? integer the number of consecutive offsets that share a colour; by default those of 16 bytes, or 8

---Writes a picture of the layout as a self-contained HTML page: pointing at a cell describes it, and zooming into an overview shows the elements.
---@param path string
---@param options? wgrun.layout.html.options
---@return boolean # true; or nil, message, code
function layout:html(path, options) end

---One mode as a layout.
---@param i integer from 0
---@return wgrun.layout
function layout:mode(i) end

---@class wgrun.layout.picture.options
---@field view? string what the picture shows: "offsets", "bytes", "chunks" (of 16 bytes), "banks" (of one access, lane by lane), "conflicts" (where in the matrix they are) or "overview" (core matrices and atoms); "auto" is "offsets" up to 4096 elements, and "overview" beyond
---@field access? string with "banks" or "conflicts", which access of a warp; by default the one with the most conflicts, or all
---@field dtype? string the element type, required by all views except offsets and overview
---@field chunk? integer the number of consecutive offsets that share a colour; by default those of 16 bytes, or 8

---A picture of the layout as a value, which the prompt shows as an image where the terminal can.
---@param options? wgrun.layout.picture.options
---@return wgrun.picture
function layout:picture(options) end

---@class wgrun.layout.print.options
---@field view? string what the picture shows: "offsets", "bytes", "chunks" (of 16 bytes), "banks" (of one access, lane by lane), "conflicts" (where in the matrix they are) or "overview" (core matrices and atoms); "auto" is "offsets" up to 4096 elements, and "overview" beyond
---@field access? string with "banks" or "conflicts", which access of a warp; by default the one with the most conflicts, or all
---@field dtype? string the element type, required by all views except offsets and overview
---@field chunk? integer the number of consecutive offsets that share a colour; by default those of 16 bytes, or 8

---Prints a picture of the layout: its offsets as a grid.
---@param options? wgrun.layout.print.options
function layout:print(options) end

---The number of modes at the top level.
---@return integer
function layout:rank() end

---The number of coordinates, which `#layout` gives as well.
---@return integer
function layout:size() end

---@class wgrun.layout.svg.options
---@field view? string what the picture shows: "offsets", "bytes", "chunks" (of 16 bytes), "banks" (of one access, lane by lane), "conflicts" (where in the matrix they are) or "overview" (core matrices and atoms); "auto" is "offsets" up to 4096 elements, and "overview" beyond
---@field access? string with "banks" or "conflicts", which access of a warp; by default the one with the most conflicts, or all
---@field dtype? string the element type, required by all views except offsets and overview
---@field chunk? integer the number of consecutive offsets that share a colour; by default those of 16 bytes, or 8

---Writes a picture of the layout as an SVG file, for light and dark backgrounds.
---@param path string
---@param options? wgrun.layout.svg.options
---@return boolean # true; or nil, message, code
function layout:svg(path, options) end

---The layout without its swizzle.
---@return wgrun.layout
function layout:unswizzled() end

---The main loop of a product, made by wg.mainloop: a producer warpgroup copies tiles of A and B into the stages of a ring, and consumer warpgroups multiply them. Its methods are called in this order: parameters and emit in the kernel, launch for each launch.
---@class wgrun.mainloop
---@field threads integer of a CTA
---@field cluster integer the CTAs of a cluster
---@field consumers integer the consumer warpgroups of a CTA
---@field columns integer of the sums that an epilogue gets: those of a tile, or with wg.reduction.cluster those that a CTA stores
---@field plan table the choices: tile, stages, registers
local mainloop = {}

---@class wgrun.mainloop.emit.options
---@field epilogue function function(consumer): emitted once where the consumers' code begins; consumer.number is the warpgroup's, from 0 (a register), consumer.barrier that of a named barrier for its 128 threads. Returns store(acc, row, column, limit), emitted for each block of 64 rows of a tile with the registers of its sums and the place in D of its first element, and finish(), emitted at the end: what k:epilogue returns, or functions of one's own. `limit`, with groups: the end of the rows that belong to the group
---@field begin? function function(): emitted for one thread before all others begin, such as to initialise mbarriers

---Emits the product: the roles of the warpgroups, the ring between them and the barriers. The kernel has `threads` and `cluster` of the main loop; what it does behind this call, all threads do.
---@param k wgrun.k
---@param options wgrun.mainloop.emit.options
function mainloop:emit(k, options) end

---@class wgrun.mainloop.launch.options
---@field metadata? wgrun.tensor of a sparse A, as wg.sparse.compress gives it
---@field offsets? wgrun.tensor of contiguous groups: s32, the end of each group's rows in A and D
---@field sizes? wgrun.tensor of masked groups: s32, the number of each group's rows
---@field count? integer the number of batched groups
---@field a_scales? wgrun.tensor f32: ceil(K / 128) x M for "1x128" (M rounded up to a multiple of 4), M values for "row", 1 for "tensor"
---@field b_scales? wgrun.tensor f32: ceil(N / 128) x ceil(K / 128) for "128x128" (with groups those of all, one below the other), N values for "row", 1 for "tensor"; with b_type K / group_size x N of A's type

---The grid and the first arguments of a launch; those of parameters that were declared behind mainloop:parameters come behind them.
---@param kernel wgrun.kernel whose launch it is
---@param A wgrun.tensor M x K, or K x M where A is MN-major; of a sparse A the values
---@param B wgrun.tensor N x K, or K x N where B is MN-major; with groups those of all, one below the other
---@param options? wgrun.mainloop.launch.options as of gemm:launch: metadata, a_scales, b_scales, offsets, sizes, count
---@return table # { grid =, args =, flops = }
function mainloop:launch(kernel, A, B, options) end

---Declares the main loop's parameters of the kernel: the tensor maps of A and B, M, N and K, and those of its kind, its scheduler and its reduction. mainloop:launch gives the arguments for them; those of parameters that are declared later come behind them.
---@param k wgrun.k
---@return table # the extents: M, N and K, u32 registers
function mainloop:parameters(k) end

---A parameter of a kernel as an operand, made by k:parameter.
---@class wgrun.parameter
local parameter = {}

---A picture of a layout, tile or fragment, made by its method picture, or of several objects, made by wg.mma_picture.
---@class wgrun.picture
local picture = {}

---Writes the picture as a self-contained HTML page: pointing at a cell describes it, and zooming into an overview shows the elements.
---@param path string
---@return boolean # true; or nil, message, code
function picture:html(path) end

---Prints the picture as text.
function picture:print() end

---Writes the picture as an SVG file, for light and dark backgrounds.
---@param path string
---@return boolean # true; or nil, message, code
function picture:svg(path) end

---A ring of stages between producers and consumers, made by k:pipeline. Each role steps through it with a cursor of its own.
---@class wgrun.pipeline
---@field stages integer the number of stages
---@field full wgrun.shared the mbarriers that count bytes, 8 bytes each
---@field empty wgrun.shared the mbarriers that count consumers, 8 bytes each
---@field arrivals integer arrivals that release a stage
---@field producers integer threads that announce bytes for a stage
local pipeline = {}

---Producer: waits until the consumers have released the cursor's stage. In the first round it passes at once.
---@param c table made by pipeline:cursor
function pipeline:acquire(c) end

---Moves a cursor to the next stage; after the last stage comes the first one, in the next round.
---@param c table made by pipeline:cursor
function pipeline:advance(c) end

---@class wgrun.pipeline.cursor.result
---@field stage wgrun.reg u32: the stage, from 0
---@field phase wgrun.reg u32: the parity of the stage's current round, 0 or 1

---@class wgrun.pipeline.cursor.options
---@field held? boolean the addresses of the barriers stay in registers, for a loop in which every cycle between two products counts: otherwise the assembler makes them anew in each round. Whole warps execute it

---Makes a cursor for one role, at the first stage in its first round.
---@param options? wgrun.pipeline.cursor.options
---@return wgrun.pipeline.cursor.result # the cursor
function pipeline:cursor(options) end

---The address of the mbarrier that counts the consumers that are done with the cursor's stage.
---@param c table made by pipeline:cursor
---@return wgrun.reg # u32
function pipeline:empty_barrier(c) end

---Producer: announces the bytes that copies will write to the cursor's stage.
---@param c table made by pipeline:cursor
---@param bytes integer|wgrun.reg of all copies together
---@return wgrun.reg # u32: the address of the mbarrier that the copies signal
function pipeline:expect(c, bytes) end

---The address of the mbarrier that counts the bytes of the cursor's stage.
---@param c table made by pipeline:cursor
---@return wgrun.reg # u32
function pipeline:full_barrier(c) end

---Initialises the mbarriers of all stages. One thread of the CTA executes it; the others wait at a barrier before they use the pipeline.
function pipeline:init() end

---@class wgrun.pipeline.release.options
---@field lane wgrun.reg u32: the lane of the thread in its warp
---@field cluster? integer the number of CTAs that fill the stage
---@field to? wgrun.reg u32: the rank of the CTA at which the lane arrives, where it is one of the first `cluster` lanes; the lane's number if it is left out
---@field guard? wgrun.reg a predicate: the warp releases the stage only where it holds

---Consumer: releases the cursor's stage to the producers, with one arrival for each warp that calls it, at each CTA of the cluster.
---@param c table made by pipeline:cursor
---@param options wgrun.pipeline.release.options
function pipeline:release(c, options) end

---Moves a cursor past stages that another role uses.
---@param c table made by pipeline:cursor
---@param count integer|wgrun.reg the number of stages
function pipeline:skip(c, count) end

---Consumer: waits until all bytes of the cursor's stage have arrived.
---@param c table made by pipeline:cursor
function pipeline:wait(c) end

---A kernel that puts weights into the order of wg.gemm{ b_type = }, made by wg.prepacker.
---@class wgrun.prepacker
---@field kernel wgrun.kernel the kernel, like any other
---@field b_type string the type of the weights
---@field bits integer the bits of a weight: 4 or 8
local prepacker = {}

---The options of a launch, for kernel:run, kernel:time and kernel:prepare.
---@param W wgrun.tensor|wgrun.device_tensor the weights, N x K of `b_type`; of 4 bits N x K / 2 of u8, where the lower half of a byte is the first of two elements
---@param packed wgrun.tensor|wgrun.device_tensor u32, of prepacker:packed_shape(N, K): the result
---@return table # { grid =, args = }
function prepacker:launch(W, packed) end

---The shape of the packed weights of an N x K matrix.
---@param N integer the rows of the weights, which are columns of D
---@param K integer
---@return table # of u32: { blocks of 64 rows, units of 16 bytes along K, 128, 4 }
function prepacker:packed_shape(N, K) end

---A PTX text that was read: what the table of wg.ptx keeps.
---@class wgrun.ptx_text
local ptx_text = {}

---A queue of tiles, made by k:queue: one thread of the CTA draws their numbers, and warps receive them.
---@class wgrun.queue
---@field tiles wgrun.reg u32: the number of tiles
local queue = {}

---One thread draws tiles: body(number) for each, until there are no more.
---@param body fun(number: wgrun.reg) emits the thread's work on a tile; `number` is u32
function queue:draw(body) end

---Warps receive the tiles that the drawing thread shows: body(number) for each. All lanes execute it.
---@param body fun(number: wgrun.reg) emits the warp's work on a tile; `number` is u32, the same in all lanes
function queue:each(body) end

---Initialises the mbarriers of the queue. One thread of the CTA executes it.
function queue:init() end

---A register, made by k:reg, k:param and the instructions. It is valid only while the kernel is built.
---
---Each operator emits one instruction and gives a new register: + - * / // % & | ~ << >> and unary - and ~, with numbers or registers of the same type. / is for floats, // for integers. ~p of a predicate emits nothing. Comparisons are methods, since Lua's < and == give a boolean while the kernel is built.
---@class wgrun.reg
---@operator add(wgrun.reg|number): wgrun.reg
---@operator sub(wgrun.reg|number): wgrun.reg
---@operator mul(wgrun.reg|number): wgrun.reg
---@operator div(wgrun.reg|number): wgrun.reg
---@operator idiv(wgrun.reg|number): wgrun.reg
---@operator mod(wgrun.reg|number): wgrun.reg
---@operator band(wgrun.reg|number): wgrun.reg
---@operator bor(wgrun.reg|number): wgrun.reg
---@operator bxor(wgrun.reg|number): wgrun.reg
---@operator shl(wgrun.reg|number): wgrun.reg
---@operator shr(wgrun.reg|number): wgrun.reg
---@operator unm: wgrun.reg
---@operator bnot: wgrun.reg
---@field [integer|wgrun.reg] wgrun.reg
---@field pointee? string For a pointer parameter, the type of the elements that it points to; else nil.
---@field type string The type that it was declared with.
local reg = {}

---Compares with another register or a number: equal.
---@param other wgrun.reg|number
---@return wgrun.reg # a predicate
function reg:eq(other) end

---Compares with another register or a number: greater than or equal.
---@param other wgrun.reg|number
---@return wgrun.reg # a predicate
function reg:ge(other) end

---Compares with another register or a number: greater than.
---@param other wgrun.reg|number
---@return wgrun.reg # a predicate
function reg:gt(other) end

---Compares with another register or a number: less than or equal.
---@param other wgrun.reg|number
---@return wgrun.reg # a predicate
function reg:le(other) end

---Compares with another register or a number: less than.
---@param other wgrun.reg|number
---@return wgrun.reg # a predicate
function reg:lt(other) end

---Compares with another register or a number: not equal.
---@param other wgrun.reg|number
---@return wgrun.reg # a predicate
function reg:ne(other) end

---Whether two Lua values are the same register of the kernel. Lua's == is refused, since it cannot compare the values of registers.
---@param other wgrun.reg
---@return boolean
function reg:same(other) end

---Writes the register, by mov.
---@param value wgrun.reg|number|boolean
---@return wgrun.reg # itself
function reg:set(value) end

---An array of registers, made by k:regs. regs[i] is one of them, counted from 0 as in the figures of the ISA; `#regs` is their number. They are written by k:mov(regs[i], value).
---@class wgrun.regs
---@field [integer] wgrun.reg
---@operator len: integer
local regs = {}

---Part of the array, again indexed from 0.
---@param first integer from 0
---@param count integer
---@return wgrun.regs
function regs:slice(first, count) end

---A buffer in shared memory, made by k:shared. Where an instruction takes an address, the buffer stands for its own; k:address gives the address in a register.
---@class wgrun.shared
---@field bytes integer The size of the buffer.
---@field name string The name in messages.
---@field tile? wgrun.tile The tile that it holds, or nil.
local shared = {}

---The running softmax of the rows of a warpgroup's accumulators, made by k:softmax.
---@class wgrun.softmax
---@field top wgrun.regs f32: the value that the exponents of the thread's two rows are relative to
---@field sum wgrun.regs f32: this thread's part of the sums of its two rows
local softmax = {}

---Ends the softmax: the sums over all lanes of a row.
---@return table # [0] and [1]: for the thread's two rows 1 / sum, f32; 0 for a row without a score
---@return table # [0] and [1]: their logarithms of the sum of exp(scale * ln 2 * score), f32; -inf for a row without a score
function softmax:finish() end

---Replaces the first block's scores by their exponentials.
function softmax:first() end

---Replaces the scores of a later block by their exponentials.
---@return function # rescale(acc): multiplies accumulators, 64 x any n, of the exponentials before by what they shrink; warps in which no maximum has grown much skip it
function softmax:next() end

---An XOR permutation of offsets, made by wg.swizzle. swizzle(offset) applies it.
---@class wgrun.swizzle
---@overload fun(...: integer): integer
---@field base integer The lowest bit that changes.
---@field bits integer The number of bits that are XORed.
---@field shift integer The distance of the source bits above the bits that change.
local swizzle = {}

---A tensor in host memory, row-major, made by wg.tensor, wg.zeros, wg.randn, wg.randint, wg.load and others. Kernels take it as an argument; when kernel:run returns, it holds what they wrote.
---
---t[{ i, j }] is an element, with indices from 0, and can be assigned to; for one dimension t[i] suffices. `#t` is the number of elements, and print(t) shows them, of a large tensor the first and the last ones. + - * / % ^ and unary - work element by element, with numbers or tensors of a shape that fits; comparisons are methods.
---@class wgrun.tensor
---@operator add(wgrun.tensor|number): wgrun.tensor
---@operator sub(wgrun.tensor|number): wgrun.tensor
---@operator mul(wgrun.tensor|number): wgrun.tensor
---@operator div(wgrun.tensor|number): wgrun.tensor
---@operator mod(wgrun.tensor|number): wgrun.tensor
---@operator pow(wgrun.tensor|number): wgrun.tensor
---@operator unm: wgrun.tensor
---@operator len: integer
---@field [integer|table] number
---@field bytes integer The total size of its elements.
---@field device string The place of the tensor.
---@field dtype string The element type.
---@field shape table The extents.
local tensor = {}

---The magnitude of each element.
---@return wgrun.tensor
function tensor:abs() end

---Frees its memory at once, or unmaps its file. Further calls do nothing. A `<close>` variable calls it.
function tensor:close() end

---Converts the tensor to another type, with one rounding to nearest even.
---@param dtype string
---@return wgrun.tensor
function tensor:convert(dtype) end

---Copies the tensor.
---@return wgrun.tensor
function tensor:copy() end

---Compares with another tensor or a number, element by element: 1 where equal, else 0.
---@param other wgrun.tensor|number
---@return wgrun.tensor
function tensor:eq(other) end

---The exponential of each element.
---@return wgrun.tensor
function tensor:exp() end

---Sets all elements to one value.
---@param value number
---@return wgrun.tensor # itself
function tensor:fill(value) end

---Each element rounded down to an integer.
---@return wgrun.tensor
function tensor:floor() end

---Compares with another tensor or a number, element by element: 1 where greater or equal, else 0.
---@param other wgrun.tensor|number
---@return wgrun.tensor
function tensor:ge(other) end

---Compares with another tensor or a number, element by element: 1 where greater, else 0.
---@param other wgrun.tensor|number
---@return wgrun.tensor
function tensor:gt(other) end

---Compares with another tensor or a number, element by element: 1 where less or equal, else 0.
---@param other wgrun.tensor|number
---@return wgrun.tensor
function tensor:le(other) end

---The natural logarithm of each element.
---@return wgrun.tensor
function tensor:log() end

---Compares with another tensor or a number, element by element: 1 where less, else 0.
---@param other wgrun.tensor|number
---@return wgrun.tensor
function tensor:lt(other) end

---The largest element; with { axis = n }, of each line along dimension n (from 0, or -1 for the last); with a tensor or number, the maximum element by element.
---@param other? wgrun.tensor|number|table
---@return number|wgrun.tensor
function tensor:max(other) end

---The smallest element; with { axis = n }, of each line along dimension n (from 0, or -1 for the last); with a tensor or number, the minimum element by element.
---@param other? wgrun.tensor|number|table
---@return number|wgrun.tensor
function tensor:min(other) end

---Compares with another tensor or a number, element by element: 1 where not equal, else 0.
---@param other wgrun.tensor|number
---@return wgrun.tensor
function tensor:ne(other) end

---Writes to a part of the tensor.
---@param ranges table as of tensor:slice
---@param value wgrun.tensor|number
---@return wgrun.tensor # itself
function tensor:put(ranges, value) end

---A view with other extents, which shares the elements.
---@param ... table|integer the extents, as a list or as arguments; one of them may be -1, which is then computed from the others
---@return wgrun.tensor
function tensor:reshape(...) end

---A view of a range of the first dimension, which shares the elements.
---@param from integer from 0
---@param to integer the end of the range, which is excluded
---@return wgrun.tensor
function tensor:rows(from, to) end

---Writes the tensor as a .npy file. An error leaves no incomplete file behind.
---@param path string
---@return boolean # true; or nil, message, code
function tensor:save(path) end

---A copy of a part of the tensor.
---@param ranges table an entry for each dimension: an index, { from, to, step } where `to` is excluded, or true for the whole dimension
---@return wgrun.tensor
function tensor:slice(ranges) end

---The square root of each element.
---@return wgrun.tensor
function tensor:sqrt() end

---@class wgrun.tensor.sum.options
---@field axis? integer the dimension that goes away, from 0, or counted from the end by -1, -2, ...: the result is a tensor without it

---The sum of all elements, in binary64; with an axis, of those along one dimension.
---@param options? wgrun.tensor.sum.options
---@return number|wgrun.tensor
function tensor:sum(options) end

---The hyperbolic tangent of each element.
---@return wgrun.tensor
function tensor:tanh() end

---Moves the tensor: "gpu" copies it to the device that kernels run on, "cpu" returns the tensor itself.
---@param place string "gpu" or "cpu"
---@return wgrun.device_tensor|wgrun.tensor
function tensor:to(place) end

---Makes a DLPack capsule of the tensor, without a copy, for a C module of the same process.
---@return userdata # begins with a pointer to a DLManagedTensorVersioned, which the C module that takes the tensor sets to null
function tensor:to_dlpack() end

---The elements as a flat list, in row-major order.
---@return table
function tensor:totable() end

---A copy with the last two dimensions exchanged, or with all of them in a given order.
---@param order? table the dimensions in their new order, from 0: { 2, 0, 1 }
---@return wgrun.tensor
function tensor:transpose(order) end

---An operand of wgmma in shared memory, made by wg.tile: M or N rows by K elements, in swizzle atoms. Two tiles are equal if their options are equal.
---@class wgrun.tile
---@field align integer The alignment that the tile needs in shared memory.
---@field atom wgrun.layout The layout of one swizzle atom: (row, k) to the element offset.
---@field atom_k integer The K extent of a swizzle atom.
---@field atom_mn integer The rows of a swizzle atom.
---@field bytes integer The size of the tile in shared memory.
---@field dtype string The element type.
---@field k integer The extent along K.
---@field kstep_elements integer The K extent of one wgmma.
---@field ksteps integer The number of wgmma instructions that cover K.
---@field layout wgrun.layout The layout of the tile: (row, k) to the element offset, including the swizzle.
---@field lbo integer The leading byte offset of its descriptors.
---@field major string The coordinate that is contiguous in memory.
---@field mn integer The extent along M or N.
---@field order string The coordinate along which the atoms follow each other first.
---@field sbo integer The stride byte offset of its descriptors.
---@field swizzle string The swizzle mode.
---@field tma_box table The TMA boxes of the tile: one for each panel of the swizzle's width.
local tile = {}

---@class wgrun.tile.bank_conflicts.result
---@field access string the kind of access
---@field degree integer passes that the worst phase needs; 1 means no conflicts
---@field phases integer phases over the whole tile
---@field passes integer passes over the whole tile; equal to `phases` where there are no conflicts
---@field line integer the line where the worst access begins
---@field unit integer the 16-byte unit of that line where it begins
---@field text string the same in words
---@field worst table the phases of the worst access, as of wg.bank_phases

---The bank conflicts of the tile in shared memory, for each way of accessing it that its type and major allow: "wgmma", "ldmatrix", "stmatrix", "st_shared_16" (16 bytes a lane, along the lines) and "st_accumulator" (pairs of accumulators).
---@return wgrun.tile.bank_conflicts.result # a list with an entry for each kind of access
function tile:bank_conflicts() end

---The wgmma matrix descriptor of a part of the tile.
---@param address integer the tile's address in shared memory, in bytes
---@param kstep? integer the K step in the tile
---@param mn? integer the first row of the block that the instruction reads
---@param base_offset? boolean computes the base offset, for a tile whose swizzle pattern begins at `address`, a multiple of 128 bytes
---@return integer # 64 bits
function tile:descriptor(address, kstep, mn, base_offset) end

---Describes the tile: atoms, LBO and SBO, K steps, TMA box.
---@return string # several lines
function tile:explain() end

---@class wgrun.tile.html.options
---@field view? string what the picture shows: "offsets", "bytes", "chunks" (of 16 bytes), "banks" (of one access, lane by lane), "conflicts" (where in the matrix they are) or "overview" (core matrices and atoms); "auto" is "offsets" up to 4096 elements, and "overview" beyond
---@field access? string with "banks" or "conflicts", which access of a warp; by default the one with the most conflicts, or all

---Writes a picture of the tile as a self-contained HTML page: pointing at a cell describes it, and zooming into an overview shows the elements.
---@param path string
---@param options? wgrun.tile.html.options
---@return boolean # true; or nil, message, code
function tile:html(path, options) end

---The byte offset of an element from the start of the tile, including the swizzle.
---@param row integer the M or N coordinate, from 0
---@param k integer the K coordinate, from 0
---@return integer # bytes
function tile:offset(row, k) end

---@class wgrun.tile.picture.options
---@field view? string what the picture shows: "offsets", "bytes", "chunks" (of 16 bytes), "banks" (of one access, lane by lane), "conflicts" (where in the matrix they are) or "overview" (core matrices and atoms); "auto" is "offsets" up to 4096 elements, and "overview" beyond
---@field access? string with "banks" or "conflicts", which access of a warp; by default the one with the most conflicts, or all

---A picture of the tile as a value, which the prompt shows as an image where the terminal can.
---@param options? wgrun.tile.picture.options
---@return wgrun.picture
function tile:picture(options) end

---@class wgrun.tile.print.options
---@field view? string what the picture shows: "offsets", "bytes", "chunks" (of 16 bytes), "banks" (of one access, lane by lane), "conflicts" (where in the matrix they are) or "overview" (core matrices and atoms); "auto" is "offsets" up to 4096 elements, and "overview" beyond
---@field access? string with "banks" or "conflicts", which access of a warp; by default the one with the most conflicts, or all

---Prints a picture of the tile: the positions of its elements in memory.
---@param options? wgrun.tile.print.options
function tile:print(options) end

---@class wgrun.tile.svg.options
---@field view? string what the picture shows: "offsets", "bytes", "chunks" (of 16 bytes), "banks" (of one access, lane by lane), "conflicts" (where in the matrix they are) or "overview" (core matrices and atoms); "auto" is "offsets" up to 4096 elements, and "overview" beyond
---@field access? string with "banks" or "conflicts", which access of a warp; by default the one with the most conflicts, or all

---Writes a picture of the tile as an SVG file, for light and dark backgrounds.
---@param path string
---@param options? wgrun.tile.svg.options
---@return boolean # true; or nil, message, code
function tile:svg(path, options) end

---What there is to tune in a kernel, made by wg.tuning: candidates that can be built and measured one by one.
---@class wgrun.tuning
---@field name string under which the results are kept
---@field candidates table a list of tables of options
local tuning = {}

---Makes a candidate's kernel.
---@param i integer the candidate, from 1
---@return wgrun.kernel # or nil, the reason to skip the candidate
---@return table # the options of a launch
function tuning:build(i) end

---All that decides how long a launch takes on a device: the kernel's PTX, and the launch, with the types and shapes of its tensors. What has the same content need not be measured twice.
---@param kernel wgrun.kernel
---@param launch table
---@return string
function tuning:content(kernel, launch) end

---What the cost model of kernel:timeline expects. It runs one cluster on the simulator, which finds what the static checker cannot see.
---@param kernel wgrun.kernel
---@param launch table
---@return number # microseconds
function tuning:model(kernel, launch) end

---The device and the back end for which measurements are valid.
---@return string # "sim", or the device's name, the driver's version and the back end
function tuning:place() end

---The options of a candidate as one line: "stages = 3, threads = 128".
---@param i integer the candidate, from 1
---@return string
function tuning:text(i) end

---Runs a launch and verifies its result, if there is a `verify`, then measures it.
---@param kernel wgrun.kernel
---@param launch table
---@param i integer the candidate, from 1
---@return number # the median, in microseconds
function tuning:time(kernel, launch, i) end

---Warpgroups that take turns in a fixed order, made by k:turns.
---@class wgrun.turns
---@field members integer the number of warpgroups
local turns = {}

---Ends the last round, so that no arrival is left at the barriers. Each member executes it once, at its end.
function turns:finish() end

---Ends the turn: the next warpgroup may begin.
function turns:pass() end

---Waits until it is the executing warpgroup's turn.
function turns:take() end

---A legal form of wgmma.mma_async, made by wg.wgmma.
---@class wgrun.wgmma
---@field a string The element type of A.
---@field a_registers integer The number of registers of a thread that hold A for one instruction, if A is in registers.
---@field b string The element type of B.
---@field d string The type of the accumulators.
---@field d_registers integer The number of registers of a thread that hold D.
---@field k integer The K extent of one instruction.
---@field m integer The rows of D.
---@field min_ptx string The first version of the PTX ISA that has the form.
---@field n integer The columns of D.
---@field ptx string The instruction with its qualifiers, as PTX spells it.
---@field sparse boolean Whether A is sparse.
local wgmma = {}

---The layout of A in registers: (thread, value) to row + 64 * column; for a sparse A, of the columns that are stored.
---@return wgrun.layout
function wgmma:a_layout() end

---The layout of D in registers: (thread, value) to row + 64 * column.
---@return wgrun.layout
function wgmma:d_layout() end

---The layout of the metadata of a sparse A: (thread, code) to row + 64 * chunk.
---@return wgrun.layout
function wgmma:metadata_layout() end

