---@meta
-- Printed by `wgrun help --annotations meta`, for the Lua language server.

---@class wgrun
---@field backend string The back end of launches that leave it open: "gpu", "gpu-cuda" or "sim".
---@field chips table What differs between the chips of the generation: for each name that wg.device gives a table. Plans are made for the chip that is there, or for an H200.
---@field sparse table Matrices with 2:4 sparsity, for wgmma.mma_async.sp: prune, compress, decompress, validate.
---@field target table What the chip is that kernels are written for. Sizes in bytes; of a chip that is there, wg.device says more.
---@field version string The version of wgrun.
local wg = {}
wg.mainloop = {}
wg.reduction = {}
wg.scheduler = {}
wg.sparse = {}

---Makes a vector of evenly spaced numbers: wg.arange(dtype, count) gives 0 to count - 1, wg.arange(dtype, from, to, step) starts at `from` and stops before `to`.
---@param dtype string
---@param from number the first value, or, if it is the only argument, the number of values
---@param to? number the end, which is excluded
---@param step? number
---@return wgrun.tensor
function wg.arange(dtype, from, to, step) end

---@class wgrun.wg.attention.options
---@field dtype? string the type of Q, K and V: "bf16", "f16" or "e4m3"
---@field o? string the type of O: "bf16" or "f16"; by default that of the others, and bf16 for e4m3
---@field descale? string of e4m3: "tensor" or "head", where Q, K and V have to be multiplied by factors that launches give: one for each tensor, or one for each head of K and V (and the heads of Q that share it) of each sequence
---@field dim? integer the head size, in elements: 64, 96, 128, 192 or 256
---@field heads? integer the heads of Q and O
---@field kv_heads? integer the heads of K and V, each shared by heads / kv_heads heads of Q; by default `heads`
---@field causal? boolean a query sees no key after its own place
---@field window? integer a query sees only keys nearer than this to its own place: with `causal`, that many keys up to it
---@field softcap? number bounds the scores: each becomes softcap * tanh(score / softcap)
---@field score? function makes another score of each: a function of k, the score (an f32 register, `scale` times the product, bounded by `softcap`) and a table of registers: `query`, `key` and `place`, s32, the numbers of the query and the key in their sequence, and of the key at the query's own place; `head` and `batch`, u32. Not with e4m3
---@field mask? function hides keys, besides those that `causal` and `window` hide: a function of k and the same table that returns a predicate, which holds where the query sees the key. Blocks that it hides whole are computed all the same. Not with e4m3; wg.attention_backward has neither
---@field problem? table { queries, keys, batch }: the lengths, and the number of sequences where it is known, for which options that are left out are chosen
---@field layout? string the order of the dimensions: "bshd" (batch, sequence, head, dim) or "bhsd"
---@field packed? boolean sequences of any lengths one after another: Q and O are total x heads x dim, K and V total x kv_heads x dim, and each launch gives `query_starts` and `key_starts`. Blocks reach across their ends: a NaN or an infinity may get from a sequence into the one before it
---@field lse? boolean also gives the logarithm of each row's sum of exponentials, as a backward pass and split attention need it
---@field block? integer the keys of a block, a multiple of 16 (of e4m3 32) up to 256
---@field splits? integer cuts the keys that a tile of queries sees into so many parts, 1 to 16, for CTAs of a cluster that put them together: for few queries and many keys. By default chosen where `problem` has all three lengths, otherwise 1; more than 1 not with e4m3
---@field name? string the name of the kernel

---A kernel for O = softmax(scale * Q * K^T) * V of each head of each sequence of a batch, and its launches. Q and O are batch x queries x heads x dim, K and V are batch x keys x kv_heads x dim (`layout`). The products and sums are f32. The last query stands at the place of the last key: with `causal`, query i sees the keys up to i + keys - queries. A query that sees no key gives 0. With e4m3 probabilities are rounded to e4m3, and without `lse` two thirds of them are made as if 2^x were linear between powers of two: O of random data is then off by 3.0 percent of its values in the root of the mean square, with `lse` by 2.6.
---@param options wgrun.wg.attention.options
---@return wgrun.attention
function wg.attention(options) end

---@class wgrun.wg.attention_backward.options
---@field dtype? string the type of all tensors but lse: "bf16" or "f16"
---@field dim? integer the head size, in elements: 64, 96, 128, 192 or 256
---@field heads? integer the heads of Q, O and their gradients
---@field kv_heads? integer the heads of K, V and their gradients; by default `heads`
---@field causal? boolean a query saw no key after its own place
---@field window? integer as wg.attention had it: a query saw only keys nearer than this to its own place
---@field packed? boolean sequences of any lengths one after another, as wg.attention had them
---@field layout? string the order of the dimensions: "bshd" (batch, sequence, head, dim) or "bhsd"
---@field name? string the name of the kernel; the others are NAME_before and NAME_after

---Kernels for the gradients of wg.attention: dQ, dK and dV from dO, the gradient of O. Three kernels follow each other: one prepares the rows of the queries, one passes over all queries for each block of keys, one converts dQ, whose parts are added up in f32. The order of these sums differs from launch to launch, so that dQ does in its last bits; dK and dV do not. Where heads share K and V, dK and dV are the sums over the heads that share them.
---@param options wgrun.wg.attention_backward.options
---@return wgrun.attention_backward
function wg.attention_backward(options) end

---@class wgrun.wg.attention_decode.options
---@field dtype? string the type of Q, K, V and O: "bf16" or "f16"
---@field dim? integer the head size, in elements: 64, 128 or 256
---@field heads? integer the heads of Q and O
---@field kv_heads? integer the heads of K and V, each shared by heads / kv_heads heads of Q; by default `heads`
---@field queries? integer the queries of each sequence; queries * heads / kv_heads may be at most 64
---@field causal? boolean the last query sees all keys of its sequence, the one before it all but the last, and so on; false: all queries see all keys
---@field page? integer the keys of a page, 1 to 256: K and V are in pages
---@field layout? string the order of the dimensions: "bshd" (batch or page, sequence, head, dim) or "bhsd"
---@field lse? boolean also gives the logarithm of each row's sum of exponentials
---@field block? integer the keys of a block, 16 to 256
---@field stages? integer the blocks that are in shared memory at a time, 2 to 16; by default of 128 KiB, of 64 KiB at head size 64 (of pages 96)
---@field copies? string how blocks are read: "boxes" by TMA, or "rows" by threads, for pages. By default boxes where they have 8 keys or more
---@field together? integer the heads of K and V that CTAs side by side work on, a divisor of kv_heads
---@field name? string the name of the kernel

---A kernel for O = softmax(scale * Q * K^T) * V of each head of each sequence of a batch, for a few queries that come at the end of each sequence, and its launches. Q and O are batch x queries x heads x dim, K and V are batch x keys x kv_heads x dim (`layout`), of which a sequence uses the first `lengths[b]` keys; in pages they are pages x page x kv_heads x dim, and a table has the pages of each sequence. CTAs read about equally much of K and V, whatever the lengths, which are device data. A query that sees no key gives 0. What lies in K and V behind the end of a sequence does not matter.
---@param options wgrun.wg.attention_decode.options
---@return wgrun.attention_decode
function wg.attention_decode(options) end

---@class wgrun.wg.bank_phases.result
---@field first_lane integer the first lane of the phase
---@field degree integer the passes that it needs
---@field bank integer a bank with the most accesses
---@field guilty table the lanes that access that bank

---The bank conflicts of one access of a warp to shared memory.
---@param addresses table at most 32 byte addresses, one for each lane
---@param bytes integer the bytes that each lane accesses: 1, 2, 4, 8 or 16
---@return wgrun.wg.bank_phases.result # a list of phases
function wg.bank_phases(addresses, bytes) end

---Repeats a layout mode by mode, keeping each copy together as a block.
---@param block wgrun.layout|integer
---@param blocks wgrun.layout|integer the arrangement of the blocks
---@return wgrun.layout
function wg.blocked_product(block, blocks) end

---Coalesces a layout: the same function with as few modes as possible.
---@param layout wgrun.layout|integer
---@param profile? integer|table modes of this shape are kept apart
---@return wgrun.layout
function wg.coalesce(layout, profile) end

---@class wgrun.wg.compare.options
---@field absolute? number the accepted absolute error
---@field relative? number the accepted error as a fraction of the wanted element
---@field report? boolean prints where and by how much the tensors differ

---Compares two tensors of the same shape, element by element. By default the tolerance fits their types.
---@param got wgrun.tensor
---@param want wgrun.tensor
---@param tolerance? number|wgrun.wg.compare.options a number t for { absolute = t, relative = t }, or an option table: errors up to absolute + relative * |want| are accepted
---@return boolean # whether all elements are within the tolerance
---@return number # the largest error
---@return table # the index of the worst element, with the fields got, want and mismatches; tostring gives a report, with a picture of the elements that differ
function wg.compare(got, want, tolerance) end

---The complement of A: the ordered layout of the offsets up to a size that A leaves out.
---@param A wgrun.layout|integer
---@param target? integer|table the size or shape to fill; A's cosize where it is left out
---@return wgrun.layout
function wg.complement(A, target) end

---The composition A(B(i)).
---@param A wgrun.layout|integer|wgrun.swizzle
---@param B wgrun.layout|integer|wgrun.swizzle|table a layout, or an integer n for n:1; a tiler for each mode of A (a list of layouts, integers n for n:1, false for a mode that is kept, and such lists for the modes inside a mode); or a swizzle, if A is one
---@return wgrun.layout|wgrun.swizzle
function wg.composition(A, B) end

---@class wgrun.wg.compressor.options
---@field dtype? string the type of the matrix: "bf16", "f16", "tf32", "e4m3", "e5m2", "s8" or "u8"
---@field prune? boolean keeps the larger half of each chunk, as wg.sparse.prune; otherwise chunks that have more are counted as faults

---A kernel that splits a 2:4 sparse matrix on the device into its values and its metadata, in the order "gemm" of wg.sparse.compress.
---@param options wgrun.wg.compressor.options
---@return wgrun.compressor
function wg.compressor(options) end

---@class wgrun.wg.cublas.options
---@field a wgrun.tensor A
---@field b wgrun.tensor B
---@field d wgrun.tensor D, the result
---@field a_major? string "K" or "MN"
---@field b_major? string "K" or "MN"

---The product D = A * B by cuBLAS: a reference, and a comparison for kernel:time. The majors are those of wg.gemm.
---@param options wgrun.wg.cublas.options
---@return wgrun.cublas # or nil, message, code where there is no GPU or no cuBLAS
function wg.cublas(options) end

---@class wgrun.wg.decode.result
---@field start integer the start address in shared memory, in bytes
---@field lbo integer the leading byte offset, in bytes
---@field sbo integer the stride byte offset, in bytes
---@field base_offset integer 0 to 7
---@field swizzle string "none", "32B", "64B" or "128B"
---@field text string a description of several lines

---Decodes a wgmma matrix descriptor.
---@param bits integer the 64 bits
---@return wgrun.wg.decode.result # the fields
function wg.decode(bits) end

---@class wgrun.wg.device.result
---@field name string
---@field capability string "9.0"
---@field sm_count integer
---@field memory_bytes integer
---@field l2_bytes integer size of the L2 cache
---@field memory_bandwidth number of device memory, bytes in a second; 0 where the driver does not tell
---@field shared_bytes integer shared memory that a CTA can have
---@field driver_version string "13.0"
---@field held_bytes integer device memory that tensors and launches hold now

---Describes the GPU that kernels run on.
---@return wgrun.wg.device.result # or nil, the reason why there is none, code
function wg.device() end

---Computes the dot product of two vectors inside tensors in binary64: a reference for one element of a large matrix product.
---@param a wgrun.tensor
---@param first_a integer the first element of the vector: a position in row-major order, from 0
---@param stride_a integer the distance between elements of the vector
---@param b wgrun.tensor
---@param first_b integer
---@param stride_b integer
---@param count integer the length of the vectors
---@return number
function wg.dot(a, first_a, stride_a, b, first_b, stride_b, count) end

---Recasts a layout to smaller elements, `factor` for each old one.
---@param layout wgrun.layout|integer
---@param factor integer
---@return wgrun.layout
function wg.downcast(layout, factor) end

---Makes a matrix with ones on its diagonal and zeros elsewhere.
---@param dtype string
---@param rows integer
---@param columns? integer by default the same as `rows`
---@return wgrun.tensor
function wg.eye(dtype, rows, columns) end

---The layout without its modes of size 1 or stride 0, coalesced.
---@param layout wgrun.layout|integer
---@return wgrun.layout
function wg.filter(layout) end

---As zipped_divide, with no modes grouped: (tile, tile, ..., rest, rest, ...).
---@param layout wgrun.layout|integer
---@param tiler wgrun.layout|integer|table as of wg.logical_divide
---@return wgrun.layout
function wg.flat_divide(layout, tiler) end

---As zipped_product, with no modes grouped.
---@param layout wgrun.layout|integer
---@param tiler wgrun.layout|integer|table as of wg.logical_product
---@return wgrun.layout
function wg.flat_product(layout, tiler) end

---Flattens a layout: the same function without nested modes.
---@param layout wgrun.layout|integer
---@return wgrun.layout
function wg.flatten(layout) end

---@class wgrun.wg.fragment.options
---@field of string "wgmma_d", "wgmma_a", "wgmma_sparse_a", "wgmma_metadata", "mma_sync_a", "mma_sync_b", "mma_sync_c", "ldmatrix" or "stmatrix"
---@field dtype? string the element type, for wgmma and for mma_sync_a, mma_sync_b
---@field n? integer the columns, for wgmma_d
---@field k? integer the K extent, for mma_sync_a and mma_sync_b
---@field matrices? integer 1, 2 or 4, for ldmatrix and stmatrix
---@field trans? boolean whether the matrices are transposed, for ldmatrix and stmatrix

---The mapping of threads and registers to the elements of an instruction's matrix.
---@param options wgrun.wg.fragment.options
---@return wgrun.fragment
function wg.fragment(options) end

---@class wgrun.wg.from_dlpack.options
---@field dtype? string the element type, where DLPack has no name for it
---@field copy? boolean copies the elements
---@field versioned? boolean whether a light userdata points to a DLManagedTensorVersioned or, with false, to a DLManagedTensor

---Makes a tensor from one of another library in the same process, without a copy where that is possible.
---@param capsule userdata made by tensor:to_dlpack or a C module; the tensor then owns it
---@param options? wgrun.wg.from_dlpack.options
---@return wgrun.tensor
function wg.from_dlpack(capsule, options) end

---Makes a tensor filled with one value.
---@param dtype string
---@param shape integer|table the extents
---@param value number
---@return wgrun.tensor
function wg.full(dtype, shape, value) end

---@class wgrun.wg.gemm.scales.options
---@field a? string "1x128": one for each row and each 128 elements of K (8-bit floats; together with b = "128x128"); "row": one for each row; "tensor": one
---@field b? string "128x128": one for each 128 rows (columns of D) and each 128 elements of K; "row": one for each row, which is a column of D; "tensor": one

---@class wgrun.wg.gemm.epilogue.options
---@field alpha? boolean a factor of A * B
---@field beta? boolean adds C, of D's type, times a factor
---@field bias? string adds an f32 for each "row" or each "column" of D
---@field gate? string|function multiplies A * B by this activation of a second product, A * gate: "silu" makes SwiGLU, "gelu" GEGLU, "relu" ReGLU, "sigmoid" GLU; or a function of k and two f32 registers, gate and value, that returns one
---@field residual? boolean adds a matrix of D's type, after the activation
---@field quantize? string "1x128": D, e4m3 or e5m2, is divided by a scale for each row and 128 columns, so that the largest element becomes the type's largest number; the scales are as `a_scales` of a product that takes D for A
---@field row_sums? string|function "squares": the sum of the squares of each row of D, as it is before it is rounded; "rms": 1 / sqrt(mean of the squares + epsilon); or a function of k and an f32 register, whose values are summed
---@field epsilon? number of "rms"
---@field activation? string|function "relu", "gelu", "silu", "sigmoid", "tanh", or a function of k and an f32 register that returns one
---@field clamp? table { least, most }: the elements of D, as they are before they are rounded, are brought between these two numbers; NaN becomes `least`

---@class wgrun.wg.gemm.options
---@field dtype? string the type of A and B: "bf16", "f16", "tf32", "e4m3", "e5m2", "s8" or "u8"
---@field d? string the type of D: "bf16", "f16", "f32", "e4m3", "e5m2", "s32" or "s8". By default it is `dtype`, but f32 for tf32, bf16 for 8-bit floats and s32 for integers (with scales, bf16)
---@field a_major? string "K" or "MN"
---@field b_major? string "K" or "MN"
---@field problem? table { M, N, K }: the problem for which options that are left out are chosen; with `groups`, M is the rows of all of them, and a fourth number says how many groups there are
---@field name? string the name of the kernel
---@field groups? string groups of A's rows, each with its own B: "contiguous": they follow each other, and `offsets` says where each ends; "masked": all have room for as many rows, and `sizes` says how many each has; "batched": all are full
---@field b_type? string weights B of another type than A, packed by wg.prepack: "s4", "u4", "s8", "u8" or "e4m3", with a scale for each `group_size` elements of K in a row
---@field a_type? string with b_type, the type of A, of the scales and of the zero points: "bf16" or "f16"
---@field zeros? boolean with b_type, integer weights have zero points: a weight stands for (weight - zero point) * scale
---@field scales? wgrun.wg.gemm.scales.options the scales of A and B, f32 values that are given at launch
---@field epilogue? wgrun.wg.gemm.epilogue.options the operations that follow the product; their values are given at launch
---@field swap_ab? boolean whether A and B are exchanged and D is written transposed, so that rows of B take the place of wgmma's 64 rows: for few rows of A and a D of 16 bits. By default chosen where the `problem` has few tiles or few rows; with a `tile`, or options that only many tiles go with, for up to 128 rows
---@field tile? table { m, n, k }: the tile of D that a CTA computes at a time, with swap_ab of D's transpose; with b_type { rows of B, 64 or 128; rows of A; k }
---@field stages? integer the stages of the pipeline, at least 2; by default as many as fit, up to 12
---@field registers? table { producer, consumer }: the registers of a thread, 24 to 256
---@field buffers? integer the panels of a consumer's epilogue, 1 to 8; by default 2, or 4 for pingpong with C or a residual
---@field schedule? string "cooperative": the consumers share a tile; "pingpong": each of two has its own
---@field cluster? integer|table the CTAs that share copies by multicast, 1 to 16 in all: along M, which share B, or { along M, along N }, of which those along N share A; with swap_ab, M and N of D's transpose. By default chosen where the `problem` has few tiles, otherwise 1
---@field raster? string the order of the tiles: "grouped", or "hilbert" along Hilbert's curve
---@field group? integer rows of tiles that the order covers before it goes on to the next column; by default 12, 16 for scales of blocks and groups, those of 2816 rows of a sparse A, 8 for pingpong, and 1 where A and B are exchanged.
---@field group_size? integer with b_type, the elements of K that share a scale: 32, 64 or a multiple of 128
---@field splits? integer the parts of K, 1 to 64 (with b_type 1 to 8), which different CTAs multiply and sum in a fixed order; the CTAs of up to 8 parts are a cluster, where the epilogue has no gate, row sums or quantised D and `cluster` is 1. By default chosen by the `problem`, otherwise 1
---@field last_splits? integer with scales for blocks: where at most one of so many CTAs would have a tile in the last round, its tiles are multiplied in so many parts of K, 1 to 64, and summed as with `splits`. By default where the `problem` has such a round and K is long
---@field sparse? string "A": A is 2:4 sparse. Launches get its values for A, and its metadata, both from wg.sparse.compress(A, "gemm"); A is K-major
---@field halves? boolean where at most half of the CTAs would have a tile in the last round, its tiles are cut in two: for tiles with 128 rows for each consumer, such as 256 x 192, into an upper and a lower half; with `groups`, tiles such as 128 x 256 into a left and a right half. By default for a sparse A whose `problem` has such a last round, and for groups, contiguous or masked, whose tiles have 256 columns
---@field stream_k? boolean CTAs share the K blocks of the tiles in the last, partial round; with b_type those of all tiles
---@field constant? string "A" or "B": an operand, such as weights, that is not written by any launch that may still run when this one starts; its first tiles are fetched while the previous launch ends
---@field next? boolean with b_type: launches are told the weights of the product behind them, as `next`, and bring the first of these to the L2 cache once they have asked for the last of their own

---A kernel for D = activation(alpha * A * B + beta * C + bias), and its launches. A is M x K, B is K x N, D is M x N; a K-major operand has rows of K elements in memory, an MN-major one rows of M or N (16-bit types only). The epilogue computes in f32; integers are rounded to nearest, and 8-bit types saturate.
---@param options wgrun.wg.gemm.options
---@return wgrun.gemm
function wg.gemm(options) end

---The places of a grid of tiles in the order of Hilbert's curve, for the option `order` of k:each_tile. A long grid is divided into a row of squares.
---@param rows integer of tiles, 1 to 65535
---@param columns integer of tiles, 1 to 65535
---@return table # a list of row << 16 | column
function wg.hilbert(rows, columns) end

---@class wgrun.wg.identify.result
---@field canonical boolean the layout is canonical
---@field operand boolean wgmma can read the layout
---@field major string "K" or "MN"
---@field swizzle string "none", "32B", "64B" or "128B"
---@field lbo integer bytes
---@field sbo integer bytes
---@field mismatches integer the number of elements whose offset differs from the nearest canonical layout
---@field difference? table the first of them: { row, k, given, expected }, offsets in bytes
---@field text string the same in words

---Identifies the canonical wgmma layout that a layout is, or the nearest one and where they differ.
---@param layout wgrun.layout (row, k) to the element offset
---@param dtype string the element type
---@return wgrun.wg.identify.result
function wg.identify(layout, dtype) end

---@class wgrun.wg.kernel.options
---@field threads? integer|table the threads of a CTA: 1 to 1024, or { x, y, z }
---@field cluster? integer|table the CTAs of a cluster: a number, or { x, y, z }
---@field grid? integer|table the CTAs of its only grid: launches have it unless they name one, another one is refused, and verdicts are of this one
---@field translated? boolean|table a compiler has made it, and wgrun lua has translated it: rules that compilers keep only in part warn (docs/foreign.md). A list names what is assumed since only a launch decides it, "threads" or "cluster": what follows from that is not checked
---@field names? boolean remembers the script's names of registers, for kernel:debug; wgrun debug sets it by itself

---Makes a kernel: calls the function once, with a builder that records each instruction.
---@param name string the kernel's name in PTX and in messages
---@param options wgrun.wg.kernel.options
---@param body fun(k: wgrun.k) builds the kernel; k is the builder, which is valid until the function returns
---@return wgrun.kernel
function wg.kernel(name, options, body) end

---A layout: a function from coordinates to offsets, given by shape and stride as in CuTe.
---@param shape string|integer|table "(8,64):(64,1)", or the shape alone: an integer or a table, which may be nested
---@param stride? integer|table as the shape; compact and column-major where it is left out
---@return wgrun.layout
function wg.layout(shape, stride) end

---The layout R for which L(R(L(i))) = L(i), and R(L(i)) = i where L is injective.
---@param L wgrun.layout|integer
---@return wgrun.layout
function wg.left_inverse(L) end

---@class wgrun.wg.load.options
---@field dtype? string the type of a .npy file, where numpy has no name for it: "bf16", "e4m3", ...
---@field mmap? boolean maps the file instead of reading it; by default true for .safetensors

---Reads tensors from a file.
---@param path string a .npy or .safetensors file
---@param options? wgrun.wg.load.options|string an option table, or just the dtype
---@return wgrun.tensor|table # the tensor; for a .safetensors file, its tensors by name; or nil, message, code
---@return table? # the metadata of a .safetensors file
function wg.load(path, options) end

---Divides a layout into tiles: (tile, rest) for each mode that the tiler names.
---@param layout wgrun.layout|integer
---@param tiler wgrun.layout|integer|table a layout, an integer n (n:1), or for each mode a layout, an integer n (n:1), false, or such a list for the modes inside
---@return wgrun.layout
function wg.logical_divide(layout, tiler) end

---Repeats a layout: (tile, repetitions), where the second layout arranges the repetitions.
---@param layout wgrun.layout|integer
---@param tiler wgrun.layout|integer|table the number of repetitions, and their order
---@return wgrun.layout
function wg.logical_product(layout, tiler) end

---Multiplies two matrices on the host, as a reference.
---@param a wgrun.tensor {m, k}
---@param b wgrun.tensor {k, n}
---@return wgrun.tensor # {m, n}
function wg.matmul(a, b) end

---The longest layout L with A(L(i)) = B(L(i)) = i: the elements that can be copied from one layout to the other as one vector.
---@param A wgrun.layout|integer
---@param B wgrun.layout|integer
---@return wgrun.layout
function wg.max_common_layout(A, B) end

---The number of elements that can be copied as one vector between two layouts.
---@param A wgrun.layout|integer
---@param B wgrun.layout|integer
---@return integer # elements
function wg.max_common_vector(A, B) end

---@class wgrun.wg.mma_picture.options
---@field shape? string of an instruction: "m64n16k16" (wgmma) or "m16n8k16" (mma.sync)
---@field dtype? string the type of A and B, with `shape`
---@field a? wgrun.tile|wgrun.fragment in place of `shape`: A, m x k
---@field b? wgrun.tile|wgrun.fragment B, n x k
---@field d? wgrun.fragment D, m x n

---Draws a matrix product with A on the left, B above and D in the corner. Registers are shown as thread:value, shared memory as byte offsets, large operands as overviews.
---@param options wgrun.wg.mma_picture.options
---@return wgrun.picture
function wg.mma_picture(options) end

---The layout of the indices that the given one maps to offset 0 because of strides of 0.
---@param layout wgrun.layout|integer
---@return wgrun.layout
function wg.nullspace(layout) end

---Makes a tensor of ones.
---@param dtype string
---@param shape integer|table the extents
---@return wgrun.tensor
function wg.ones(dtype, shape) end

---Makes a compact layout whose modes have a given order in memory.
---@param shape integer|table
---@param order integer|table numbers, nested as the shape; the mode with the smallest number is contiguous
---@return wgrun.layout
function wg.ordered_layout(shape, order) end

---@class wgrun.wg.panel.result
---@field columns integer elements in a line of the panel
---@field lines integer lines of the panel
---@field bytes integer the size of one panel
---@field align integer the alignment of a buffer of panels, bytes
---@field count integer panels in a 64 x n block
---@field box table options for k:tensor_map
---@field dtype string as given
---@field size integer bytes of an element
---@field line_bytes integer bytes of a line: 128 or 64, or n elements
---@field plain boolean whether there is no swizzle
---@field transposed boolean as given

---@class wgrun.wg.panel.options
---@field dtype string of the matrix: "f16", "bf16", "f32", "s32", "e4m3", "e5m2" or "s8"
---@field n integer the columns of the accumulators: 8 to 256, a multiple of 8
---@field transposed? boolean the columns of the accumulators become the rows of the matrix (f16 and bf16)

---The shape of the panels in shared memory through which k:epilogue stores blocks of 64 x n accumulators. A panel has 64 rows and is 128 bytes wide, or 64 where n requires it, with the swizzle of its width; where n allows neither and is a multiple of 16, a single panel without a swizzle holds the whole block.
---@param options wgrun.wg.panel.options
---@return wgrun.wg.panel.result # the panel, for k:epilogue
function wg.panel(options) end

---The address of an element of a tensor, as an argument of a kernel of wg.ptx. The tensor itself stands for its first element.
---@param tensor wgrun.tensor|wgrun.device_tensor
---@param element? integer its number, in the order of memory
---@return wgrun.argument
function wg.pointer(tensor, element) end

---Weights in the order of wg.gemm{ b_type = }, packed where they are: on the device, or on the host by the back end that runs kernels there.
---@param W wgrun.tensor|wgrun.device_tensor the weights, N x K of `b_type`; of 4 bits N x K / 2 of u8, where the lower half of a byte is the first of two elements
---@param b_type? string the type of the weights: "s4", "u4", "s8", "u8" or "e4m3"; by default that of W
---@return wgrun.tensor|wgrun.device_tensor # u32, of the shape that prepacker:packed_shape gives
function wg.prepack(W, b_type) end

---@class wgrun.wg.prepacker.options
---@field b_type string the type of the weights: "s4", "u4", "s8", "u8" or "e4m3"

---A kernel that puts weights into the order in which wg.gemm{ b_type = } reads them; once for all products with them.
---@param options wgrun.wg.prepacker.options
---@return wgrun.prepacker
function wg.prepacker(options) end

---@class wgrun.wg.ptx.result
---@field kernels table the names of the kernels, a list

---@class wgrun.wg.ptx.options
---@field text string the PTX text
---@field name? string how findings name the text

---Reads a PTX text that a compiler or a person has made. Each entry is a kernel as those of wg.kernel: it can be checked, run, timed, debugged. On a GPU the text itself runs; the simulator runs the instructions that wgrun knows, and ends with an error where a thread reaches another one. What the text leaves open (`block`, `cluster`, `shared`) is given at each launch.
---@param options string|wgrun.wg.ptx.options the name of a file, or a table of options
---@return wgrun.wg.ptx.result # or nil, message, code when the file cannot be read. The kernels by their names, and by number
function wg.ptx(options) end

---Repeats a layout mode by mode, with the copies interleaved: neighbouring elements belong to different copies.
---@param block wgrun.layout|integer
---@param blocks wgrun.layout|integer the arrangement of the copies
---@return wgrun.layout
function wg.raked_product(block, blocks) end

---@class wgrun.wg.randint.options
---@field shape integer|table the extents
---@field dtype? string the element type
---@field lo integer the smallest value
---@field hi integer the largest value
---@field seed? integer the seed of the generator

---Makes a tensor of uniformly distributed random integers. A seed gives the same numbers on every machine.
---@param options wgrun.wg.randint.options
---@return wgrun.tensor
function wg.randint(options) end

---@class wgrun.wg.randn.options
---@field shape integer|table the extents
---@field dtype? string the element type
---@field seed? integer the seed of the generator

---Makes a tensor of normally distributed random numbers with mean 0 and variance 1. A seed gives the same numbers on every machine.
---@param options wgrun.wg.randn.options
---@return wgrun.tensor
function wg.randn(options) end

---The layout R for which L(R(i)) = i, for the longest run of i from 0.
---@param L wgrun.layout|integer
---@return wgrun.layout
function wg.right_inverse(L) end

---Whether two layouts have the same size and map each index to the same offset.
---@param A wgrun.layout|integer
---@param B wgrun.layout|integer
---@return boolean
function wg.same_function(A, B) end

---Fixes some coordinates of a layout.
---@param layout wgrun.layout|integer
---@param coordinate integer|table an integer fixes a mode, false leaves it open; nested as the layout
---@return wgrun.layout # the remaining modes
---@return integer # the offset of the fixed coordinates
function wg.slice(layout, coordinate) end

---A structure that is passed by value, as an argument of a kernel of wg.ptx. Bytes that are not given are 0.
---@param parts table `size`, the bytes of the structure; and by their offset in bytes: tensors and wg.pointer (addresses), wg.tensor_map, integers (of 32 bits), numbers with a point (f32), or { "u64", value } for another type
---@return wgrun.argument
function wg.struct(parts) end

---A swizzle: a permutation of offsets that XORs some of their bits into others, as CuTe's Swizzle<B, M, S>.
---@param bits integer B: how many bits are XORed
---@param base integer M: the lowest bit that changes
---@param shift integer S: how far above it the bits are that change it
---@return wgrun.swizzle
function wg.swizzle(bits, base, shift) end

---Makes a tensor in host memory.
---@param dtype string|table the element type: "f32", "bf16", "e4m3", "s8" ... (the error of an unknown one lists all); or the values alone, nested like the shape, with the dtype as the next argument or as their field `dtype`
---@param shape? integer|table the extents
---@param values? table numbers, nested like the shape or flat in row-major order; by default zeros
---@return wgrun.tensor
function wg.tensor(dtype, shape, values) end

---@class wgrun.wg.tensor_map.options
---@field box table the extents of the box in elements, the fastest dimension first
---@field swizzle? string the swizzle of the box in shared memory: "none", "32B", "64B" or "128B"
---@field dtype? string the element type; by default the tensor's
---@field nan_fill? boolean elements outside of the tensor are filled with NaN instead of 0
---@field steps? table from one element that is copied to the next, in elements of each dimension of the tensor, 1 to 8; the first must be 1. The box is what is copied
---@field lower? table of an im2col map, for copies of pixels: the first pixel of the bounding box, counted from the first of the tensor, in each of one to three dimensions, the fastest first. The tensor then is images x [depth x [height x]] width x channels, and the box { channels, pixels of a copy }
---@field upper? table of an im2col map: the last pixel, counted from the last of the tensor
---@field extents? table the elements of each dimension, the fastest first; by default the tensor's shape
---@field strides? table the bytes from one element to the next, of each dimension but the fastest; by default without gaps
---@field offset? integer bytes from the tensor's first element to that of the map

---A tensor map of a tensor, as an argument of a kernel of wg.ptx, or in a structure.
---@param tensor wgrun.tensor|wgrun.device_tensor
---@param options wgrun.wg.tensor_map.options
---@return wgrun.argument
function wg.tensor_map(tensor, options) end

---@class wgrun.wg.tile.options
---@field dtype string the element type: "bf16", "f16", "tf32", "e4m3", "e5m2", "s8", "u8", ...
---@field mn integer the extent along M or N, in elements
---@field k integer the extent along K, in elements
---@field major? string the coordinate that is contiguous in memory: "K", or "MN" (16-bit types only)
---@field swizzle? string "none", "32B", "64B" or "128B"; by default the widest that fits the tile
---@field order? string the direction in which the swizzle atoms follow each other first: "MN" or "K"

---Makes the shared-memory tile of a wgmma operand: M or N rows by K elements, laid out in swizzle atoms.
---@param options wgrun.wg.tile.options
---@return wgrun.tile
function wg.tile(options) end

---Repeats a layout until it covers a shape.
---@param layout wgrun.layout|integer the tile
---@param shape integer|table the shape that is covered
---@param order? integer|table the order of the repetitions, as of wg.ordered_layout
---@return wgrun.layout
function wg.tile_to_shape(layout, shape, order) end

---As zipped_divide, with the rest modes not grouped: ((tiles), rest, rest, ...).
---@param layout wgrun.layout|integer
---@param tiler wgrun.layout|integer|table as of wg.logical_divide
---@return wgrun.layout
function wg.tiled_divide(layout, tiler) end

---As zipped_product, with the repetitions not grouped.
---@param layout wgrun.layout|integer
---@param tiler wgrun.layout|integer|table as of wg.logical_product
---@return wgrun.layout
function wg.tiled_product(layout, tiler) end

---@class wgrun.wg.try.result
---@field kernel wgrun.kernel the kernel that computes D
---@field ptx string its PTX
---@field findings table what the checker found, as of kernel:check
---@field A wgrun.tensor the elements of the first operand, as they lie in memory
---@field B wgrun.tensor those of the second operand
---@field D wgrun.tensor the result
---@field want wgrun.tensor the reference
---@field ok boolean the first result of wg.compare
---@field worst number its second result
---@field where table its third result

---@class wgrun.wg.try.options
---@field a wgrun.tile|wgrun.tensor A, with a multiple of 64 rows: a tile, which gets random elements, or a tensor {m, k}, which gets a K-major tile
---@field b wgrun.tile|wgrun.tensor B, likewise, with n rows of k elements; n is a multiple of 8 up to 256
---@field a_tile? wgrun.tile the tile of a tensor `a`, which then has the shape of its lines: {k, mn} for an MN-major tile
---@field b_tile? wgrun.tile the tile of a tensor `b`, likewise
---@field swizzle? string the swizzle of tiles that are made for tensors
---@field d? string the type of D; by default "f32", and "s32" for 8-bit integers
---@field seed? integer of the random elements
---@field backend? string as for kernel:run
---@field tolerance? number|table as for wg.compare

---Multiplies two tiles by wgmma and compares the result with a reference: one call gives a kernel, its PTX, its result, and the findings of the checker. print(result) shows a summary.
---@param options wgrun.wg.try.options
---@return wgrun.wg.try.result # tostring gives a summary
function wg.try(options) end

---@class wgrun.wg.tune.result
---@field results table a list of { options, median_us, cached }, the fastest first
---@field skipped table a list of { options, reason }
---@field cache? string the path of the file
---@field cache_problem? string why results are not kept

---@class wgrun.wg.tune.options
---@field gemm? table options of wg.gemm with a `problem`: tunes wg.gemm
---@field name? string with `build`: the name under which the results are kept
---@field build? function build(options) makes any kernel: returns the kernel and the options for kernel:time, or nil and a reason to skip the candidate
---@field candidates? table a list of tables of options; for `gemm` by default tiles, schedules, clusters, orders and splits
---@field space? table instead of `candidates`: for each option the list of its values; every combination is a candidate
---@field rounds? integer the launches of a measurement
---@field backend? string as in kernel:run
---@field measure? string "time": a candidate is run (the default); "model": kernel:timeline estimates its time on an H200
---@field verify? function verify(kernel, launch, options) is called when a candidate has run and before it is measured: true, or false and what is wrong with the result
---@field cache? string|boolean path of the file with the results, or false for none; by default tune/results.txt in wgrun's cache folder

---Finds the fastest options by measuring them. Each result is written to a file at once, so that an interrupted search can be resumed; results are kept by version, device, name and options. Results for options that hold functions are not kept.
---@param options wgrun.wg.tune.options
---@return table # the fastest options; those of wg.gemm can be given to it
---@return wgrun.wg.tune.result # the report
function wg.tune(options) end

---@class wgrun.wg.tuning.options
---@field gemm? table options of wg.gemm with a `problem`: tunes wg.gemm
---@field name? string with `build`: the name under which the results are kept
---@field build? function build(options) makes any kernel: returns the kernel and the options for kernel:time, or nil and a reason to skip the candidate
---@field candidates? table a list of tables of options; for `gemm` by default tiles, schedules, clusters, orders and splits
---@field space? table instead of `candidates`: for each option the list of its values; every combination is a candidate
---@field rounds? integer the launches of a measurement
---@field backend? string as in kernel:run
---@field measure? string "time": a candidate is run (the default); "model": kernel:timeline estimates its time on an H200
---@field verify? function verify(kernel, launch, options) is called when a candidate has run and before it is measured: true, or false and what is wrong with the result
---@field cache? string|boolean path of the file with the results, or false for none; by default tune/results.txt in wgrun's cache folder

---Describes what there is to tune in a kernel, for `wgrun tune`: a script returns it.
---@param options wgrun.wg.tuning.options
---@return wgrun.tuning
function wg.tuning(options) end

---Recasts a layout to larger elements, each made of `factor` old ones.
---@param layout wgrun.layout|integer
---@param factor integer
---@return wgrun.layout
function wg.upcast(layout, factor) end

---@class wgrun.wg.wgmma.options
---@field m? integer the rows of D
---@field n integer the columns of D: a multiple of 8 from 8 to 256
---@field k? integer the K extent in elements, which follows from the types
---@field d string the type of the accumulators: "f16", "f32" or "s32"
---@field a string the element type of A
---@field b string the element type of B
---@field sparse? boolean whether A is sparse
---@field a_in? string the place of A: "shared" or "registers"
---@field trans_a? integer 1 if A is MN-major
---@field trans_b? integer 1 if B is MN-major
---@field scale_a? integer -1 negates A
---@field scale_b? integer -1 negates B
---@field satfinite? boolean integer sums saturate
---@field op? string the operation for single bits: "and.popc"
---@field sp_sel? integer for a sparse A, the sparsity selector: which threads of each four hold the metadata

---Describes one legal form of wgmma.mma_async: its requirements, and the distribution of its operands over registers.
---@param options wgrun.wg.wgmma.options
---@return wgrun.wgmma
function wg.wgmma(options) end

---Makes a tensor of zeros.
---@param dtype string
---@param shape integer|table the extents
---@return wgrun.tensor
function wg.zeros(dtype, shape) end

---As logical_divide, with all tile modes together, then all rest modes: ((tiles), (rests)).
---@param layout wgrun.layout|integer
---@param tiler wgrun.layout|integer|table as of wg.logical_divide
---@return wgrun.layout
function wg.zipped_divide(layout, tiler) end

---As logical_product, with all tile modes together, then all repetitions.
---@param layout wgrun.layout|integer
---@param tiler wgrun.layout|integer|table as of wg.logical_product
---@return wgrun.layout
function wg.zipped_product(layout, tiler) end

---@class wgrun.wg.mainloop.block_scaled.options
---@field tile table { m, n, k }: the tile of D, and the elements of K of a stage, by default 128 bytes of them
---@field dtype? string the type of A and B, as of wg.gemm
---@field a_major? string "K" or "MN"
---@field b_major? string "K" or "MN"
---@field cluster? integer|table the CTAs that share copies by multicast: along M, or { along M, along N }
---@field scheduler? table the order of the tiles: one of wg.scheduler; by default wg.scheduler.tiles()
---@field reduction? table where K is in parts, how their sums are put together: one of wg.reduction
---@field constant? string "A" or "B": an operand that no launch writes that may still run when this one starts
---@field shared? integer the bytes of shared memory that the kernel needs besides, such as for its epilogue
---@field stages? integer of the ring, at least 2; by default as many as fit, up to 12
---@field registers? table { producer, consumer }: the registers of a thread, 24 to 256

---The main loop of a product of 8-bit floats with scales for blocks of K, as scales = { a = "1x128", b = "128x128" } of wg.gemm. By default the operands are e4m3.
---@param options wgrun.wg.mainloop.block_scaled.options
---@return wgrun.mainloop
function wg.mainloop.block_scaled(options) end

---@class wgrun.wg.mainloop.dense.options
---@field tile table { m, n, k }: the tile of D, and the elements of K of a stage, by default 128 bytes of them
---@field dtype? string the type of A and B, as of wg.gemm
---@field a_major? string "K" or "MN"
---@field b_major? string "K" or "MN"
---@field schedule? string "cooperative": the consumers share a tile; "pingpong": each of two has its own
---@field cluster? integer|table the CTAs that share copies by multicast: along M, or { along M, along N }
---@field scheduler? table the order of the tiles: one of wg.scheduler; by default wg.scheduler.tiles()
---@field reduction? table where K is in parts, how their sums are put together: one of wg.reduction
---@field constant? string "A" or "B": an operand that no launch writes that may still run when this one starts
---@field shared? integer the bytes of shared memory that the kernel needs besides, such as for its epilogue
---@field stages? integer of the ring, at least 2; by default as many as fit, up to 12
---@field registers? table { producer, consumer }: the registers of a thread, 24 to 256

---The main loop of a product of dense operands. A is M x K, B is N x K, D is M x N.
---@param options wgrun.wg.mainloop.dense.options
---@return wgrun.mainloop
function wg.mainloop.dense(options) end

---@class wgrun.wg.mainloop.sparse.options
---@field tile table { m, n, k }: the tile of D, and the elements of K of a stage, by default 128 bytes of them
---@field dtype? string the type of A and B, as of wg.gemm
---@field a_major? string "K" or "MN"
---@field b_major? string "K" or "MN"
---@field schedule? string "cooperative": the consumers share a tile; "pingpong": each of two has its own
---@field cluster? integer|table the CTAs that share copies by multicast: along M, or { along M, along N }
---@field scheduler? table the order of the tiles: one of wg.scheduler; by default wg.scheduler.tiles()
---@field reduction? table where K is in parts, how their sums are put together: one of wg.reduction
---@field constant? string "A" or "B": an operand that no launch writes that may still run when this one starts
---@field shared? integer the bytes of shared memory that the kernel needs besides, such as for its epilogue
---@field stages? integer of the ring, at least 2; by default as many as fit, up to 12
---@field registers? table { producer, consumer }: the registers of a thread, 24 to 256

---The main loop of a product whose A is 2:4 sparse. Launches get A's values and its metadata, both of wg.sparse.compress(A, "gemm").
---@param options wgrun.wg.mainloop.sparse.options
---@return wgrun.mainloop
function wg.mainloop.sparse(options) end

---@class wgrun.wg.reduction.cluster.options
---@field splits integer the parts of K, 2 to 8

---The reduction in a cluster, for wg.mainloop: the CTAs that multiply the parts of K of a tile are a cluster, and send each other their sums through distributed shared memory, in a fixed order. Each of them stores some of the tile's columns.
---@param options wgrun.wg.reduction.cluster.options
---@return table # for the option `reduction` of wg.mainloop
function wg.reduction.cluster(options) end

---@class wgrun.wg.reduction.memory.options
---@field splits? integer the parts of K, 1 to 64; 1 with wg.scheduler.stream_k, which cuts K itself

---The reduction in global memory, for wg.mainloop: CTAs write the sums of their parts of K to a workspace, and the one that finishes last adds them up, in a fixed order, and stores the tile.
---@param options? wgrun.wg.reduction.memory.options
---@return table # for the option `reduction` of wg.mainloop
function wg.reduction.memory(options) end

---@class wgrun.wg.scheduler.groups.options
---@field kind string "contiguous", "masked" or "batched"
---@field group? integer rows of tiles that the order covers before it goes on to the next column

---The scheduler of groups of A's rows, each with a B of its own, for wg.mainloop, as the option `groups` of wg.gemm.
---@param options wgrun.wg.scheduler.groups.options
---@return table # for the option `scheduler` of wg.mainloop
function wg.scheduler.groups(options) end

---@class wgrun.wg.scheduler.stream_k.options
---@field group? integer rows of tiles that the order covers before it goes on to the next column
---@field raster? string the order of the tiles: "grouped", or "hilbert" along Hilbert's curve

---The scheduler of stream-K, for wg.mainloop: CTAs take whole tiles, and share the blocks of K of those that would leave a last round partly empty. It takes the reduction wg.reduction.memory.
---@param options? wgrun.wg.scheduler.stream_k.options
---@return table # for the option `scheduler` of wg.mainloop
function wg.scheduler.stream_k(options) end

---@class wgrun.wg.scheduler.tiles.options
---@field group? integer rows of tiles that the order covers before it goes on to the next column
---@field raster? string the order of the tiles: "grouped", or "hilbert" along Hilbert's curve

---The scheduler of whole tiles, for wg.mainloop: persistent CTAs take the tiles of D in turn, or their parts of K.
---@param options? wgrun.wg.scheduler.tiles.options
---@return table # for the option `scheduler` of wg.mainloop
function wg.scheduler.tiles(options) end

---Splits a sparse matrix into its values and the metadata of wgmma. In the order "instruction" M is a multiple of 64 and K of an instruction's K extent, and the metadata is u32, { M / 64, K steps, 128 }: one register for each thread and instruction. In the order "gemm", that of wg.gemm, a row of the matrix is a multiple of 32 bytes; for types of 16 and 32 bits two instructions share a register by their selectors. A tensor on the device stays there, its order is always "gemm", and a kernel does the work.
---@param t wgrun.tensor|wgrun.device_tensor M x K; at most half of each chunk is nonzero
---@param order? string "instruction" or "gemm"
---@return wgrun.tensor|wgrun.device_tensor # the values, M x K/2
---@return wgrun.tensor|wgrun.device_tensor # the metadata
function wg.sparse.compress(t, order) end

---Restores the matrix from its values and metadata.
---@param values wgrun.tensor
---@param metadata wgrun.tensor
---@return wgrun.tensor # M x K
function wg.sparse.decompress(values, metadata) end

---Makes a matrix 2:4 sparse: in each chunk of four elements (two of tf32) the smaller half becomes 0.
---@param t wgrun.tensor M x K
---@param dtype? string converts to this type first
---@return wgrun.tensor
function wg.sparse.prune(t, dtype) end

---Checks metadata from another source.
---@param metadata wgrun.tensor
---@param dtype string the type of the values
---@return boolean # true
function wg.sparse.validate(metadata, dtype) end

return wg
