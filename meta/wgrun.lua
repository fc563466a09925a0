---@meta
-- Printed by `wgrun help --annotations meta`, for the Lua language server.

---@class wgrun
---@field backend string What a kernel runs on here where its launch leaves that open: "gpu", "gpu-cuda" or "sim".
---@field sparse table Matrices with 2:4 sparsity, for wgmma.mma_async.sp: prune, compress, decompress, validate.
---@field version string The version of wgrun.
local wg = {}
wg.sparse = {}

---Numbers in steps: wg.arange(dtype, count) gives 0 to count - 1, wg.arange(dtype, from, to, step) the values from `from` on below `to`.
---@param dtype string
---@param from number the first value, or alone how many there are
---@param to? number the value that is not reached any more
---@param step? number
---@return wgrun.tensor
function wg.arange(dtype, from, to, step) end

---The bank conflicts of one access of a warp to shared memory.
---@param addresses table at most 32 byte addresses, one for each lane
---@param bytes integer how many each lane accesses: 1, 2, 4, 8 or 16
---@return table # a list of phases
function wg.bank_phases(addresses, bytes) end

---Copies of the first layout as blocks of a larger one, mode by mode: each block stays together.
---@param block wgrun.layout
---@param blocks wgrun.layout where the blocks go
---@return wgrun.layout
function wg.blocked_product(block, blocks) end

---The same function with as few modes as possible.
---@param layout wgrun.layout
---@param profile? integer|table modes of this shape are kept apart
---@return wgrun.layout
function wg.coalesce(layout, profile) end

---@class wgrun.wg.compare.options
---@field absolute? number an error that is accepted anywhere
---@field relative? number an error that is accepted as a part of the element wanted
---@field report? boolean prints where and how much they differ

---Compares two tensors of one shape, element by element. Without a tolerance, one that fits their types is used.
---@param got wgrun.tensor
---@param want wgrun.tensor
---@param tolerance? number|wgrun.wg.compare.options t for absolute t and relative t, or { absolute =, relative = }: an error up to absolute + relative * |want| is accepted
---@return boolean # all elements are near enough
---@return number # the worst error
---@return table # where: the index of the worst element, with the fields got, want and mismatches; tostring gives a report in words, with a picture of what differs
function wg.compare(got, want, tolerance) end

---The ordered layout that fills, together with A, the offsets up to a size: what A leaves out.
---@param A wgrun.layout
---@param target? integer|table the size or shape to fill; A's cosize where it is left out
---@return wgrun.layout
function wg.complement(A, target) end

---The function A(B(i)): B chooses among the coordinates of A.
---@param A wgrun.layout|wgrun.swizzle
---@param B wgrun.layout|wgrun.swizzle|table a layout; a tiler for each mode of A (a list of layouts, integers n for n:1, and false for a mode that stays); or a swizzle after a swizzle
---@return wgrun.layout|wgrun.swizzle
function wg.composition(A, B) end

---@class wgrun.wg.cublas.options
---@field a wgrun.tensor A
---@field b wgrun.tensor B
---@field d wgrun.tensor D, the result
---@field a_major? string "K" or "MN"
---@field b_major? string "K" or "MN"

---cuBLAS for three tensors: a yardstick for kernel:time, and a reference. D = A * B, with what wg.gemm calls the majors.
---@param options wgrun.wg.cublas.options
---@return wgrun.cublas # or nil, message, code where there is no GPU or no cuBLAS
function wg.cublas(options) end

---The fields of a wgmma matrix descriptor.
---@param bits integer the 64 bits
---@return table # the fields
function wg.decode(bits) end

---The GPU that kernels run on.
---@return table # or nil, why there is none, code
function wg.device() end

---The dot product of two vectors within tensors, in binary64: the reference of one element of a large product.
---@param a wgrun.tensor
---@param first_a integer where the vector begins: a position in row-major order, from 0
---@param stride_a integer elements from one position to the next
---@param b wgrun.tensor
---@param first_b integer
---@param stride_b integer
---@param count integer how many products
---@return number
function wg.dot(a, first_a, stride_a, b, first_b, stride_b, count) end

---The layout of smaller elements: `factor` for each old one.
---@param layout wgrun.layout
---@param factor integer
---@return wgrun.layout
function wg.downcast(layout, factor) end

---A matrix with ones on its diagonal and zeros elsewhere.
---@param dtype string
---@param rows integer
---@param columns? integer as many as rows where it is left out
---@return wgrun.tensor
function wg.eye(dtype, rows, columns) end

---The layout without its modes of size 1 or stride 0, coalesced.
---@param layout wgrun.layout
---@return wgrun.layout
function wg.filter(layout) end

---As zipped_divide, with all modes side by side: (tile, tile, ..., rest, rest, ...).
---@param layout wgrun.layout
---@param tiler wgrun.layout|table as of wg.logical_divide
---@return wgrun.layout
function wg.flat_divide(layout, tiler) end

---As zipped_product, with all modes side by side.
---@param layout wgrun.layout
---@param tiler wgrun.layout|table as of wg.logical_product
---@return wgrun.layout
function wg.flat_product(layout, tiler) end

---The same function without nesting.
---@param layout wgrun.layout
---@return wgrun.layout
function wg.flatten(layout) end

---@class wgrun.wg.fragment.options
---@field of string "wgmma_d", "wgmma_a", "wgmma_sparse_a", "wgmma_metadata", "mma_sync_a", "mma_sync_b", "mma_sync_c", "ldmatrix" or "stmatrix"
---@field dtype? string the element type, of those of wgmma and mma_sync_a, mma_sync_b
---@field n? integer the columns, of wgmma_d
---@field k? integer the K extent, of mma_sync_a and mma_sync_b
---@field matrices? integer 1, 2 or 4, of ldmatrix and stmatrix
---@field trans? boolean transposed, of ldmatrix and stmatrix

---Which thread holds which element of a matrix in which register, for an instruction.
---@param options wgrun.wg.fragment.options
---@return wgrun.fragment
function wg.fragment(options) end

---@class wgrun.wg.from_dlpack.options
---@field dtype? string what the elements are, where DLPack has no name for their type
---@field copy? boolean copies the elements
---@field versioned? boolean what a light userdata points to: a DLManagedTensorVersioned, or with false a DLManagedTensor

---A tensor of another library of the same process, without a copy where that is possible.
---@param capsule userdata made by tensor:to_dlpack or a C module: it is owned by the tensor then
---@param options? wgrun.wg.from_dlpack.options
---@return wgrun.tensor
function wg.from_dlpack(capsule, options) end

---A tensor of one value.
---@param dtype string
---@param shape integer|table the extents
---@param value number
---@return wgrun.tensor
function wg.full(dtype, shape, value) end

---@class wgrun.wg.gemm.epilogue.options
---@field alpha? boolean a factor of A * B
---@field beta? boolean C, of D's type, times a factor
---@field bias? string "row": one f32 for each row of D, or "column"
---@field activation? string|function "relu", "gelu", "silu", "sigmoid", "tanh", or a function of k and an f32 register that returns one

---@class wgrun.wg.gemm.options
---@field dtype? string of A and B: "bf16", "f16", "tf32", "e4m3", "e5m2", "s8" or "u8"
---@field d? string of D: "bf16", "f16", "f32", "e4m3", "e5m2", "s32" or "s8". The default is dtype's own, f32 for tf32, bf16 for 8-bit floats, s32 for integers
---@field a_major? string "K" or "MN"
---@field b_major? string "K" or "MN"
---@field problem? table { M, N, K }: what the choices that are left open are made for
---@field name? string of the kernel
---@field epilogue? wgrun.wg.gemm.epilogue.options what is done besides the product; the values are given at launch
---@field tile? table { m, n, k }: what a CTA computes at a time
---@field stages? integer of the pipeline, at least 2; as many as fit where it is left out
---@field registers? table { producer, consumer }: registers of a thread, 24 to 256
---@field buffers? integer panels of a consumer's epilogue, 1 to 8
---@field schedule? string "cooperative": the consumers share a tile; "pingpong": each of two has its own
---@field cluster? integer CTAs that share B by multicast, 1 to 16
---@field raster? string the order of the tiles: "grouped", or "hilbert" along Hilbert's curve
---@field group? integer rows of tiles that follow each other before the next column: 16, or 8 for pingpong
---@field splits? integer parts of K, multiplied by different CTAs that add up their sums in a fixed order, 1 to 64
---@field stream_k? boolean the tiles that fill no whole round of the CTAs are shared out by blocks of K
---@field constant? string "A" or "B": an operand that no launch writes which may still run when this one starts, such as weights; its first tiles are fetched while the launch before ends

---A kernel for D = activation(alpha * A * B + beta * C + bias), and its launches. A is M x K, B is K x N, D is M x N; a K-major operand has rows of K elements in memory, an MN-major one rows of M or N (16-bit types only). What the epilogue does is computed in f32; integers are rounded to the nearest, 8-bit types saturate.
---@param options wgrun.wg.gemm.options
---@return wgrun.gemm
function wg.gemm(options) end

---The places of a grid of tiles in the order of Hilbert's curve, for the option `order` of k:each_tile. A long grid is a row of squares.
---@param rows integer of tiles, 1 to 65535
---@param columns integer of tiles, 1 to 65535
---@return table # a list of row << 16 | column
function wg.hilbert(rows, columns) end

---Which canonical wgmma layout a layout is, or which is nearest and where they differ.
---@param layout wgrun.layout (row, k) to the element offset
---@param dtype string the element type
---@return table
function wg.identify(layout, dtype) end

---@class wgrun.wg.kernel.options
---@field threads? integer of a CTA: 1 to 1024
---@field cluster? integer|table CTAs in a cluster: a number, or { x, y, z }
---@field names? boolean remembers what the script calls its registers, for kernel:debug; wgrun debug asks for it by itself

---Makes a kernel: calls the function once, with a builder that records each instruction it is asked for.
---@param name string of the kernel in the PTX and in messages
---@param options wgrun.wg.kernel.options
---@param body fun(k) builds the kernel; k is the builder, valid until the function returns
---@return wgrun.kernel
function wg.kernel(name, options, body) end

---A layout: a function from coordinates to offsets, given by shape and stride as in CuTe.
---@param shape string|integer|table "(8,64):(64,1)", or the shape alone: an integer or a table, which may be nested
---@param stride? integer|table as the shape; compact and column-major where it is left out
---@return wgrun.layout
function wg.layout(shape, stride) end

---The layout R for which L(R(L(i))) = L(i), and R(L(i)) = i where L is injective.
---@param L wgrun.layout
---@return wgrun.layout
function wg.left_inverse(L) end

---@class wgrun.wg.load.options
---@field dtype? string of a .npy file whose type numpy has no name for: "bf16", "e4m3", ...
---@field mmap? boolean maps the file instead of reading it; by default true for .safetensors

---Reads tensors from a file.
---@param path string of a .npy or .safetensors file
---@param options? wgrun.wg.load.options|string or just the dtype
---@return wgrun.tensor|table # of a .safetensors file its tensors by name; or nil, message, code
---@return table? # of a .safetensors file its metadata
function wg.load(path, options) end

---Cuts a layout into tiles: ((tile), (rest)) for each mode that the tiler names.
---@param layout wgrun.layout
---@param tiler wgrun.layout|table a layout, or for each mode a layout, an integer n (n:1) or false
---@return wgrun.layout
function wg.logical_divide(layout, tiler) end

---Repeats a layout: (tile, repetitions), the second layout saying where the copies go.
---@param layout wgrun.layout
---@param tiler wgrun.layout|table how often, and in which order
---@return wgrun.layout
function wg.logical_product(layout, tiler) end

---The product of two matrices on the host: a reference.
---@param a wgrun.tensor {m, k}
---@param b wgrun.tensor {k, n}
---@return wgrun.tensor # {m, n}
function wg.matmul(a, b) end

---The longest layout L with A(L(i)) = B(L(i)) = i: what can be copied from one to the other as one vector.
---@param A wgrun.layout
---@param B wgrun.layout
---@return wgrun.layout
function wg.max_common_layout(A, B) end

---How many elements can be copied at once between two layouts.
---@param A wgrun.layout
---@param B wgrun.layout
---@return integer # elements
function wg.max_common_vector(A, B) end

---@class wgrun.wg.mma_picture.options
---@field shape? string of an instruction: "m64n16k16" (wgmma) or "m16n8k16" (mma.sync)
---@field dtype? string of A and B, with shape
---@field a? wgrun.tile|wgrun.fragment in place of shape: A, m x k
---@field b? wgrun.tile|wgrun.fragment B, n x k
---@field d? wgrun.fragment D, m x n

---A product as it is done on paper: A on the left, B above, D in the corner. Registers show thread:value, shared memory byte offsets; large ones are overviews.
---@param options wgrun.wg.mma_picture.options
---@return wgrun.picture
function wg.mma_picture(options) end

---The layout of the indices that the given one maps to offset 0 because of strides of 0.
---@param layout wgrun.layout
---@return wgrun.layout
function wg.nullspace(layout) end

---A tensor of ones.
---@param dtype string
---@param shape integer|table the extents
---@return wgrun.tensor
function wg.ones(dtype, shape) end

---A compact layout whose modes follow each other in memory in a given order.
---@param shape integer|table
---@param order integer|table as the shape; the mode with the smallest number is the fastest
---@return wgrun.layout
function wg.ordered_layout(shape, order) end

---@class wgrun.wg.panel.options
---@field dtype string of the matrix: "f16", "bf16", "f32", "s32", "e4m3", "e5m2" or "s8"
---@field n integer the columns of the accumulators: 8 to 256, a multiple of 8
---@field transposed? boolean the columns of the accumulators become the lines of the matrix (f16 and bf16, n a multiple of 16)

---The shape of the panels in shared memory through which k:epilogue stores blocks of 64 x n accumulators. A panel has 64 rows and is 128 bytes wide, or 64 where n wants that, with the swizzle of its width; it is aligned to 1024 bytes.
---@param options wgrun.wg.panel.options
---@return table # the panel, for k:epilogue
function wg.panel(options) end

---Copies of the first layout interleaved, mode by mode: neighbours belong to different copies.
---@param block wgrun.layout
---@param blocks wgrun.layout where the copies go
---@return wgrun.layout
function wg.raked_product(block, blocks) end

---@class wgrun.wg.randint.options
---@field shape integer|table the extents
---@field dtype? string the element type
---@field lo integer the smallest value
---@field hi integer the largest value
---@field seed? integer of the generator

---Random integers, evenly distributed; the same for the same seed on every machine.
---@param options wgrun.wg.randint.options
---@return wgrun.tensor
function wg.randint(options) end

---@class wgrun.wg.randn.options
---@field shape integer|table the extents
---@field dtype? string the element type
---@field seed? integer of the generator

---Normally distributed random numbers, mean 0 and variance 1; the same for the same seed on every machine.
---@param options wgrun.wg.randn.options
---@return wgrun.tensor
function wg.randn(options) end

---The layout R for which L(R(i)) = i, for the longest run of i from 0.
---@param L wgrun.layout
---@return wgrun.layout
function wg.right_inverse(L) end

---Whether two layouts have the same size and map each index to the same offset.
---@param A wgrun.layout
---@param B wgrun.layout
---@return boolean
function wg.same_function(A, B) end

---A layout with some coordinates fixed.
---@param layout wgrun.layout
---@param coordinate integer|table an integer fixes a mode, false leaves it open; nested as the layout
---@return wgrun.layout # the open modes
---@return integer # the offset of the fixed ones
function wg.slice(layout, coordinate) end

---A swizzle: a permutation of offsets that XORs some of their bits into others, as CuTe's Swizzle<B, M, S>.
---@param bits integer B: how many bits are XORed
---@param base integer M: the lowest bit that changes
---@param shift integer S: how far above it the bits are that change it
---@return wgrun.swizzle
function wg.swizzle(bits, base, shift) end

---A tensor in host memory.
---@param dtype string|table "f64", "f32", "tf32", "f16", "bf16", "e4m3", "e5m2", "s8", "u8", "s32", "u32", "s64", "u64" or "b1"; or the values alone, nested as the shape, with their dtype behind them or as a field `dtype`
---@param shape? integer|table the extents
---@param values? table numbers, nested as the shape or flat in row-major order; 0 where it is left out
---@return wgrun.tensor
function wg.tensor(dtype, shape, values) end

---@class wgrun.wg.tile.options
---@field dtype string the element type: "bf16", "f16", "tf32", "e4m3", "e5m2", "s8", "u8", ...
---@field mn integer the rows: elements along M or N
---@field k integer elements along K
---@field major? string "K": rows of K elements in memory; "MN": rows of M or N (16-bit types only)
---@field swizzle? string "none", "32B", "64B" or "128B"; by default the widest that the tile has room for
---@field order? string which way the swizzle atoms follow each other first: "MN" or "K"

---A shared-memory tile of a wgmma operand: M or N rows by K elements, laid out in swizzle atoms.
---@param options wgrun.wg.tile.options
---@return wgrun.tile
function wg.tile(options) end

---Repeats a layout until it covers a shape.
---@param layout wgrun.layout the tile
---@param shape integer|table what is covered
---@param order? integer|table the order of the repetitions, as of wg.ordered_layout
---@return wgrun.layout
function wg.tile_to_shape(layout, shape, order) end

---As zipped_divide, with the rest modes side by side: ((tiles), rest, rest, ...).
---@param layout wgrun.layout
---@param tiler wgrun.layout|table as of wg.logical_divide
---@return wgrun.layout
function wg.tiled_divide(layout, tiler) end

---As zipped_product, with the repetitions side by side.
---@param layout wgrun.layout
---@param tiler wgrun.layout|table as of wg.logical_product
---@return wgrun.layout
function wg.tiled_product(layout, tiler) end

---@class wgrun.wg.try.options
---@field a wgrun.tile|wgrun.tensor A, with a multiple of 64 rows: a tile gets random elements; a tensor {m, k} a K-major tile
---@field b wgrun.tile|wgrun.tensor B, with n rows of k elements, n a multiple of 8 up to 256
---@field a_tile? wgrun.tile the tile of a tensor `a`, which then lies as its lines do: {k, mn} for an MN-major one
---@field b_tile? wgrun.tile likewise
---@field swizzle? string of tiles that are made for tensors
---@field d? string the type of D: "f32", of 8-bit integers "s32"
---@field seed? integer of random elements
---@field backend? string as for kernel:run
---@field tolerance? number|table as for wg.compare

---Multiplies two tiles by wgmma, and compares the result with a reference: a kernel, its PTX, its result and its check in one call. print(result) shows what came of it.
---@param options wgrun.wg.try.options
---@return table # kernel, ptx, findings, A, B, D, want (tensors), ok, worst, where: see wg.compare
function wg.try(options) end

---@class wgrun.wg.tune.options
---@field gemm? table options of wg.gemm with a `problem`: tunes wg.gemm
---@field name? string with `build`: by which the results are kept
---@field build? fun(options) makes any kernel: returns it and the options of its launch for kernel:time; nil and a reason skip the candidate
---@field candidates? table a list of tables of options; for `gemm` by default tiles, schedules, clusters, orders and splits
---@field space? table instead of `candidates`: for each option the list of its values; every combination is a candidate
---@field rounds? integer of a measurement
---@field backend? string as in kernel:run
---@field cache? string|boolean path of the file with the results, or false for none; by default tune/results.txt in wgrun's cache folder

---Finds the fastest options by measuring them. Each result is written to a file at once, so that an interrupted search goes on where it was; results are kept by version, device, name and options. Options that hold functions are not kept.
---@param options wgrun.wg.tune.options
---@return table # the fastest options; those of wg.gemm can be given to it
---@return table # the report
function wg.tune(options) end

---The layout of larger elements: each of `factor` old ones.
---@param layout wgrun.layout
---@param factor integer
---@return wgrun.layout
function wg.upcast(layout, factor) end

---@class wgrun.wg.wgmma.options
---@field m? integer the rows of D
---@field n integer the columns of D: 8 to 256, a multiple of 8
---@field k? integer the K extent in elements; it follows from the types
---@field d string the type of the accumulators: "f16", "f32" or "s32"
---@field a string the element type of A
---@field b string the element type of B
---@field sparse? boolean A is sparse
---@field a_in? string where A is: "shared" or "registers"
---@field trans_a? integer 1: A is MN-major
---@field trans_b? integer 1: B is MN-major
---@field scale_a? integer -1 negates A
---@field scale_b? integer -1 negates B
---@field satfinite? boolean integer sums that do not fit become the nearest that does
---@field op? string of single bits: "and.popc"
---@field sp_sel? integer of a sparse A: which threads of four hold the metadata

---One legal form of wgmma.mma_async: what it needs and how its operands are distributed.
---@param options wgrun.wg.wgmma.options
---@return wgrun.wgmma
function wg.wgmma(options) end

---A tensor of zeros.
---@param dtype string
---@param shape integer|table the extents
---@return wgrun.tensor
function wg.zeros(dtype, shape) end

---As logical_divide, with all tile modes together, then all rest modes: ((tiles), (rests)).
---@param layout wgrun.layout
---@param tiler wgrun.layout|table as of wg.logical_divide
---@return wgrun.layout
function wg.zipped_divide(layout, tiler) end

---As logical_product, with all tile modes together, then all repetitions.
---@param layout wgrun.layout
---@param tiler wgrun.layout|table as of wg.logical_product
---@return wgrun.layout
function wg.zipped_product(layout, tiler) end

---Splits a sparse matrix into its values and the metadata of wgmma.
---@param t wgrun.tensor M x K, M a multiple of 64, K one of the K extent of an instruction, with at most half of each chunk not 0
---@return wgrun.tensor # the values, M x K/2
---@return wgrun.tensor # the metadata: u32, { M / 64, K steps, 128 }: a register for each thread
function wg.sparse.compress(t) end

---The matrix that values and metadata stand for.
---@param values wgrun.tensor
---@param metadata wgrun.tensor
---@return wgrun.tensor # M x K
function wg.sparse.decompress(values, metadata) end

---Makes a matrix 2:4 sparse: in each chunk of four elements (two of tf32) the smaller half becomes 0.
---@param t wgrun.tensor M x K
---@param dtype? string converts to this type first
---@return wgrun.tensor
function wg.sparse.prune(t, dtype) end

---Checks metadata that came from elsewhere.
---@param metadata wgrun.tensor
---@param dtype string of the values
---@return boolean # true
function wg.sparse.validate(metadata, dtype) end

return wg
