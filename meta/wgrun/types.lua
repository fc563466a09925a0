---@meta
-- Printed by `wgrun help --annotations meta`, for the Lua language server.

---What a warpgroup holds of a block of 64 x n accumulators, made by k:fragment. A thread has parts of two rows, `half` 0 and 1, each of which it shares with three other lanes.
---@class wgrun.accumulator
---@field acc wgrun.regs the accumulators
---@field type string "f32" or "s32"
local accumulator = {}

---Replaces each element x by f(x, at).
---@param f fun(x, at) returns a register of the elements' type, or a number. at.row and at.column are the place of x in the block (u32 registers, computed when they are asked for); at.half is which of the thread's two rows it is in (0 or 1), so that rows[at.half] is the row's value, rows being the result of a row reduction
---@return wgrun.accumulator # itself
function accumulator:map(f) end

---The accumulators as operand A of a later product: their columns are its K. The caller places k:wgmma_fence before k:mma, and leaves the registers alone until the product is complete.
---@param dtype string "bf16" or "f16": what the elements are rounded to
---@return wgrun.regs # b32, four for each K step of 16, for the option `a` of k:mma (PTX ISA 9.7.15.5.1, figure of the A fragment)
function accumulator:operand(dtype) end

---The largest element of each row.
---@return wgrun.regs # two registers: of the two rows that the thread has part of
function accumulator:row_max() end

---Combines the elements of each row to one value, with shuffles between the four lanes that share a row.
---@param f fun(x, y) returns a register that combines two; associative and commutative
---@return wgrun.regs # two registers: the values of the two rows that the thread has part of
function accumulator:row_reduce(f) end

---The sum of each row.
---@return wgrun.regs # two registers: of the two rows that the thread has part of
function accumulator:row_sum() end

---A product by cuBLAS of three tensors, made by wg.cublas.
---@class wgrun.cublas
local cublas = {}

---Computes D on the GPU with cuBLAS.
function cublas:run() end

---A tensor that stays on the device that kernels run on, made by tensor:to. Launches that get it as an argument share it. `#t` is the number of elements.
---@class wgrun.device_tensor
---@field bytes integer The size of its elements together.
---@field device string Where it is.
---@field dtype string The element type.
---@field shape table The extents.
local device_tensor = {}

---Gives its memory back at once; it may be called again.
function device_tensor:close() end

---The tensor in another place: "cpu" copies it to host memory, "gpu" is itself.
---@param place string "cpu" or "gpu"
---@return wgrun.tensor|wgrun.device_tensor
function device_tensor:to(place) end

---A tensor on its way to another library of the process, made by tensor:to_dlpack.
---@class wgrun.dlpack
local dlpack = {}

---What wgrun raises: a table; `tostring` gives "file:line: message [RULE]". Errors of the machine, such as a missing file or GPU, are not raised by functions that return nil, message, code.
---@class wgrun.error
---@field message string
---@field code string "EINVAL", "ENOENT", "ENODEV", "ENOMEM", ...
---@field rule? string the rule that was broken: wgrun explain RULE
---@field file? string of the script
---@field line? integer of the script
---@field fix? string what mends it
---@field section? string of the PTX ISA
---@field findings? table all findings, where the checker refused a kernel
local error = {}

---What the checker or the simulator found, an element of the list that kernel:check gives. Fields that say nothing are absent.
---@class wgrun.finding
---@field rule string such as "WG-PROXY-01": wgrun explain RULE
---@field severity string "error", "warning" or "note"
---@field message string
---@field file? string of the script
---@field line? integer of the script
---@field fix? string what mends it
---@field section? string of the PTX ISA
---@field notes table a list of { file, line, message }: other places that belong to it
local finding = {}

---Which thread holds which element of a matrix in which register, made by wg.fragment. For what a thread computes with, see accumulator.
---@class wgrun.fragment
---@field columns integer The columns of the matrix.
---@field layout wgrun.layout The layout from (thread, value) to row + rows * column.
---@field per_register integer The elements in one register.
---@field registers integer The 32-bit registers that they take.
---@field rows integer The rows of the matrix.
---@field threads integer The threads that hold it together: 32 or 128.
---@field values integer The elements that a thread holds.
local fragment = {}

---The element that a thread holds.
---@param thread integer from 0
---@param value integer which of its values, from 0
---@return integer # the row
---@return integer # the column
function fragment:at(thread, value) end

---@class wgrun.fragment.html.options
---@field view? string "offsets" (thread and value of each element) or "overview" (of blocks of 8 x 8); "auto" is the first up to 4096 elements

---Writes the picture as a page of HTML that needs no other file: cells say what they are when they are pointed at, and overviews show elements when they are enlarged.
---@param path string
---@param options? wgrun.fragment.html.options
---@return boolean # true; or nil, message, code
function fragment:html(path, options) end

---The layout from (row, column) to thread + threads * value.
---@return wgrun.layout
function fragment:inverse() end

---Who holds an element.
---@param row integer from 0
---@param column integer from 0
---@return integer # the thread
---@return integer # which of its values
function fragment:owner(row, column) end

---@class wgrun.fragment.print.options
---@field view? string "offsets" (thread and value of each element) or "overview" (of blocks of 8 x 8); "auto" is the first up to 4096 elements

---Prints which thread and register hold each element, as a grid.
---@param options? wgrun.fragment.print.options
function fragment:print(options) end

---@class wgrun.fragment.svg.options
---@field view? string "offsets" (thread and value of each element) or "overview" (of blocks of 8 x 8); "auto" is the first up to 4096 elements

---Writes the picture as an SVG file, for light and dark surroundings.
---@param path string
---@param options? wgrun.fragment.svg.options
---@return boolean # true; or nil, message, code
function fragment:svg(path, options) end

---A matrix product made by wg.gemm.
---@class wgrun.gemm
---@field kernel wgrun.kernel can be checked, printed and exported like any other
---@field plan table what was decided: tile, stages, schedule, registers
local gemm = {}

---@class wgrun.gemm.launch.options
---@field alpha? number the factor of A * B
---@field beta? number the factor of C
---@field C? wgrun.tensor M x N, of D's type
---@field bias? wgrun.tensor f32: M values for "row", N for "column"

---The options of a launch: what kernel:run, kernel:time and kernel:prepare take.
---@param A wgrun.tensor M x K, or K x M where A is MN-major
---@param B wgrun.tensor N x K, or K x N where B is MN-major
---@param D wgrun.tensor M x N: the result
---@param options? wgrun.gemm.launch.options values for what the epilogue of wg.gemm has
---@return table # { grid =, args =, flops = }
function gemm:launch(A, B, D, options) end

---Makes a launch ready to be started many times, with its tensors on the device.
---@param A wgrun.tensor
---@param B wgrun.tensor
---@param D wgrun.tensor
---@param options? table those of gemm:launch and of kernel:prepare
---@return wgrun.launch
function gemm:prepare(A, B, D, options) end

---Computes D.
---@param A wgrun.tensor
---@param B wgrun.tensor
---@param D wgrun.tensor
---@param options? table those of gemm:launch and of kernel:run
---@return string # the back end that ran it
function gemm:run(A, B, D, options) end

---Measures how long the product takes, and its TFLOPS.
---@param A wgrun.tensor
---@param B wgrun.tensor
---@param D wgrun.tensor
---@param options? table those of gemm:launch and of kernel:time
---@return table # as of kernel:time
function gemm:time(A, B, D, options) end

---The builder of a kernel: what the function of wg.kernel gets. One call is one instruction, named as in PTX with underscores for dots, qualifiers and all: k:ld_global_v4_f32(a). The destination comes first or is left out, and is the result. Qualifiers may also be given by name in a table behind the operands: k:ld(a, { space = "global", vec = 4, type = "f32" }); it also takes `guard` (a predicate) and, where there is one address, `offset` (bytes). Whole tiles, loops and pipelines are methods of their own.
---@class wgrun.k
---@field [string] fun(self: wgrun.k, ...): any  an instruction with its qualifiers: ld_global_v4_b32
---@field name string What the kernel is called.
---@field threads integer The threads of a CTA.
local k = {}

---The address of a shared buffer in shared memory, in a new u32 register.
---@param buffer wgrun.shared made by k:shared
---@param offset? integer|wgrun.reg bytes that are added
---@return wgrun.reg # u32
function k:address(buffer, offset) end

---@class wgrun.k.asm.options
---@field text string also as the first value of the table, without a name
---@field out? table what is written: { d = "u32" } makes a register, { d = r } writes to one
---@field inputs? table what is read: registers, or shared buffers (their address)
---@field inout? table registers that are read and written
---@field effects? string|table "none", or some of "reads", "writes" (memory) and "barrier" (synchronises threads or orders memory). Without it the checker warns that it cannot know (WG-ASM-01)
---@field meaning? function meaning(k, v) says the same with other instructions, for the simulator, which refuses the text otherwise: v.a is input `a`; it returns the value of the one `out`, or a table of values by name. Straight-line code without guards
---@field guard? wgrun.reg a predicate; for a text of one statement
---@field isa? string the PTX ISA version that has it

---PTX as text, for an instruction that the table lacks: it goes into PTX and CUDA C++ as it stands. Operands are written %name; several statements, which semicolons part, have a scope of their own.
---@param options wgrun.k.asm.options
---@return wgrun.reg # the one `out`; a table by name of several
function k:asm(options) end

---Ends the launch with an error where the condition does not hold in a thread; the error says line, CTA and thread.
---@param condition wgrun.reg a predicate
---@param format? string the message, as of k:print
---@param ... wgrun.reg|wgrun.regs|table its values
function k:assert(condition, format, ...) end

---Ends the first side of a branch and begins the second.
function k:begin_else() end

---Begins a branch. k:if_ is made of it.
---@param condition wgrun.reg a predicate
function k:begin_if(condition) end

---Begins a loop: first come the instructions of its condition, then k:loop_condition. k:loop and k:while_ are made of it.
function k:begin_loop() end

---A place where a debugger of the simulator stops. Without one it does nothing.
function k:breakpoint() end

---@class wgrun.k.copy_tile.options
---@field to wgrun.shared a buffer of a tile
---@field from wgrun.reg a pointer parameter; it points to the tile's type
---@field ld integer|wgrun.reg elements from one line of the matrix to the next
---@field line integer|wgrun.reg the tile's first line in the matrix
---@field along integer|wgrun.reg the tile's first element in its lines
---@field lines integer|wgrun.reg the lines of the matrix
---@field length integer|wgrun.reg the elements of a line of the matrix
---@field vector? boolean 16 bytes at a time: `length` and `ld` are multiples of 16 bytes. Without it, 16-bit elements only

---Copies a tile of a matrix in global memory into a shared buffer, by all threads of the CTA, with loads and stores of the generic proxy. What lies outside of the matrix becomes 0. Afterwards the caller places k:fence_proxy_async and k:bar_sync, for wgmma to see the tile. A line is a row of a K-major tile or a column of an MN-major one; `along` runs with memory.
---@param options wgrun.k.copy_tile.options
function k:copy_tile(options) end

---@class wgrun.k.descriptor.options
---@field kstep? integer which of the K steps of the tile
---@field mn? integer the first row (M or N) of the block
---@field offset? wgrun.reg bytes that are added to the start address; the same in the whole warpgroup

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
---@field block integer elements of K in a block; the tiles times their blocks must be less than 2^31

---Stream-K: a loop over this CTA's tiles and pieces of tiles. Where the tiles are no whole number of rounds of the grid, those of the last round and of one more are cut by blocks of K, so that each CTA has as many blocks; the others follow as in k:each_tile. No tile is cut more than once.
---@param options wgrun.k.each_piece.options
---@param body fun(place, piece) emits what is done with a piece: place() as in k:each_tile; piece.from and piece.to (the first element of K and the one after the last), piece.cut (a predicate: there is another piece), piece.part (0 for the first blocks, 1 for the last), piece.number (of the cut, from 1) are registers
function k:each_piece(options, body) end

---@class wgrun.k.each_tile.options
---@field m integer the rows of a tile
---@field n integer the columns of a tile
---@field rows wgrun.reg u32: of the matrix
---@field columns wgrun.reg u32: of the matrix
---@field cluster? integer CTAs along M that work on neighbouring tiles
---@field group? integer rows of tiles that follow each other before the next column
---@field order? wgrun.reg a pointer parameter to u32, instead of `group`: for each tile its row of tiles << 16 | its column, as wg.hilbert gives them
---@field splits? integer each tile comes that often, for the parts 0, 1, ... of K
---@field first? wgrun.reg u32: of the cluster's tiles, the first that is taken; goes with `every`
---@field every? integer of the cluster's tiles only each `every`th is taken

---Persistent CTAs: a loop over the tiles of a matrix that belong to this CTA. The clusters of the grid take turns: cluster c has the tiles c, c + clusters, ... Tiles follow each other down `group` rows of tiles, then in the next column, so that those in flight at a time share rows of A and columns of B in the L2 cache.
---@param options wgrun.k.each_tile.options
---@param body fun(place, part, number) emits what is done with a tile. place() computes its first row and column (u32 registers) where it is called; with splits, `part` is the part of K and `number` that of the tile
function k:each_tile(options, body) end

---The address of an element behind a pointer parameter, in a new u64 register.
---@param pointer wgrun.reg made by k:param; its pointee gives the size of the elements
---@param index integer|wgrun.reg the element, from 0 (u32)
---@return wgrun.reg # u64
function k:element(pointer, index) end

---Ends a branch.
function k:end_if() end

---Ends the body of a loop.
function k:end_loop() end

---@class wgrun.k.epilogue.source.options
---@field map wgrun.reg the tensor map of C, of the panel's box
---@field barrier wgrun.reg u32: address of an mbarrier for one arrival, of this warpgroup alone

---@class wgrun.k.epilogue.bias.options
---@field along string "row" or "column" of the accumulators
---@field from wgrun.reg a pointer parameter to f32
---@field extent integer|wgrun.reg how many values there are

---@class wgrun.k.epilogue.options
---@field panel table made by wg.panel
---@field map wgrun.reg the tensor map of the matrix: k:tensor_map(name, panel.box)
---@field buffer wgrun.shared where the panels are
---@field offset? integer|wgrun.reg bytes: of the warpgroup's panels in the buffer
---@field buffers? integer panels that the warpgroup has there, 1 to 64
---@field barrier integer|wgrun.reg the number of a named barrier for the 128 threads
---@field alpha? wgrun.reg f32
---@field beta? wgrun.reg f32; goes with `source`
---@field source? wgrun.k.epilogue.source.options where C comes from
---@field bias? wgrun.k.epilogue.bias.options a value for each row or column
---@field activation? string|function "relu", "gelu", "silu", "sigmoid", "tanh", or a function of k and an f32 register that returns one
---@field policy? wgrun.reg a policy of the L2 cache for the stores, made by k:createpolicy_fractional

---Prepares to store blocks of 64 x n accumulators of the executing warpgroup to a tensor, by panels in shared memory and bulk copies that overlap what comes next. Stored is activation(alpha * acc + beta * C + bias), computed in f32; without all of these, acc.
---@param options wgrun.k.epilogue.options
---@return function # store(acc, row, column): stores a block at that place (registers) of the matrix
---@return function # finish(): waits until the last copies have read their panels
---@return function # fetch(row, column): may be called some time before store for the same place, so that C comes meanwhile
function k:epilogue(options) end

---Accumulators as rows and columns to compute with. The object refers to the registers: what writes it writes the accumulators. They must be complete (k:wgmma_wait_group).
---@param acc wgrun.regs the f32 or s32 accumulators of a warpgroup, 64 x n: n / 2 registers
---@return wgrun.accumulator
function k:fragment(acc) end

---A branch of the kernel. Lua's own `if` decides while the kernel is traced, so it cannot test a register.
---@param predicate wgrun.reg where it holds, when_true is executed
---@param when_true fun() emits the instructions of one side
---@param otherwise? fun() emits those of the other side
function k:if_(predicate, when_true, otherwise) end

---@class wgrun.k.load_tile.options
---@field tile wgrun.tile what is copied
---@field map wgrun.reg the tensor map of the matrix: k:tensor_map(name, tile)
---@field to wgrun.reg u32: address of the tile in shared memory
---@field mn integer|wgrun.reg the tile's first row (M or N) in the matrix
---@field k integer|wgrun.reg the tile's first K element in the matrix
---@field barrier wgrun.reg u32: address of the mbarrier that counts the bytes
---@field whole? wgrun.tile the tile in shared memory that `tile` is a piece of
---@field mask? integer|wgrun.reg the CTAs of the cluster that receive the data, a bit each: multicast
---@field policy? wgrun.reg a policy of the L2 cache, made by k:createpolicy_fractional

---Copies a tile of a matrix in global memory to shared memory by TMA: one box for each panel of the tile. One thread executes it, after it has announced the bytes to the mbarrier (pipeline:expect). What lies outside of the matrix arrives as zeros.
---@param options wgrun.k.load_tile.options
function k:load_tile(options) end

---@class wgrun.k.loop.options
---@field from? integer|wgrun.reg the first value of i
---@field to integer|wgrun.reg the value that i does not reach any more
---@field step? integer|wgrun.reg what is added to i after each round

---A loop of the kernel that counts: body(i) is traced once, and runs for i = from, from + step, ... below `to`. Lua's own `for` unrolls instead.
---@param range integer|wgrun.reg|wgrun.k.loop.options the number of rounds, i = 0, 1, ..., or a table of options
---@param body fun(i) emits the body; `i` is a u32 register
function k:loop(range, body) end

---Ends the condition of a loop: where the predicate does not hold, the thread leaves the loop.
---@param condition wgrun.reg a predicate, not negated
function k:loop_condition(condition) end

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
---@field scale_d? wgrun.reg|integer for the first step: 0 overwrites the accumulators, 1 adds to them
---@field metadata? wgrun.regs of a sparse A, whose tile has half of B's K: one register for each step (wg.sparse)
---@field sp_sel? integer which threads of four hold the metadata, 0 or 1

---Multiplies two tiles: acc += A * B over their whole K extent, one wgmma for each K step, in one commit group. The caller places k:wgmma_fence before it and k:wgmma_wait_group after it.
---@param acc wgrun.regs the accumulators of a warpgroup, 64 x n: n / 2 registers of type `d`
---@param options wgrun.k.mma.options
function k:mma(acc, options) end

---A parameter of the kernel. Arguments are given in the order of these calls.
---@param name string
---@param type string a pointer such as "const bf16*" or "f32*", or "u32", "s32", "f32", "u64", "s64", "f64"
---@return wgrun.reg # its value; of a pointer, the u64 address in global memory
function k:param(name, type) end

---@class wgrun.k.part_of_k.options
---@field K wgrun.reg u32: the K extent
---@field block integer elements of K in a block
---@field part integer|wgrun.reg which part, from 0
---@field splits integer how many parts

---The range of K that belongs to one of several parts, in whole blocks. Every part has at least one block where there are as many blocks as parts.
---@param options wgrun.k.part_of_k.options
---@return wgrun.reg # u32: the first element
---@return wgrun.reg # u32: the one after the last
function k:part_of_k(options) end

---@class wgrun.k.pipeline.options
---@field stages integer 1 to 32
---@field arrivals? integer consumers that release a stage; with multicast, those of all CTAs of the cluster
---@field producers? integer threads that each announce their share of a stage's bytes, 1 to 1024
---@field name? string of the barriers in messages: NAME_full, NAME_empty

---A ring of stages in shared memory between producers, which fill them by bulk copies, and consumers, which multiply them. Each stage has two mbarriers: `full` counts the bytes that arrive, `empty` the consumers that are done. The stages' own memory is the caller's: k:shared{ tile =, count = stages }. One thread of the CTA calls init, then all meet at a barrier (of the cluster, where there is one).
---@param options wgrun.k.pipeline.options
---@return wgrun.pipeline
function k:pipeline(options) end

---Prints a message from each thread that comes here. Values go to the conversions of the text in order.
---@param format string as of string.format: %d, %u, %x, %f, ...
---@param ... wgrun.reg|wgrun.regs|table registers, arrays or lists of them; the last one may be { guard = p } or { guard_not = p }
function k:print(format, ...) end

---A new register.
---@param type string "pred", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64", ...
---@return wgrun.reg
function k:reg(type) end

---New registers in a row, such as accumulators.
---@param type string as of k:reg
---@param count integer how many
---@return wgrun.regs # indexed from 0
function k:regs(type, count) end

---@class wgrun.k.shared.options
---@field bytes? integer its size, where there is no tile
---@field align? integer in bytes; of a tile what the tile needs
---@field name? string what messages call it
---@field tile? wgrun.tile what it holds
---@field count? integer how many of them, one behind the other: 1 to 1024

---A buffer in shared memory.
---@param options wgrun.tile|wgrun.k.shared.options a tile, or a table of options
---@param name? string with a tile: what messages call the buffer
---@return wgrun.shared
function k:shared(options, name) end

---The value of a special register.
---@param name string "tid.x", "ctaid.x", "nctaid.x", "ntid.x", "laneid", "cluster_ctarank", ...
---@return wgrun.reg # u32
function k:special(name) end

---@class wgrun.k.store_accumulator.options
---@field to wgrun.reg a pointer parameter to f32 or s32
---@field ld integer|wgrun.reg elements from one row of the matrix to the next
---@field row integer|wgrun.reg where the block begins
---@field col integer|wgrun.reg where the block begins
---@field rows integer|wgrun.reg the rows of the matrix
---@field cols integer|wgrun.reg the columns of the matrix
---@field vector? boolean two elements at a time: `cols` and `ld` are even

---Stores the accumulators of a warpgroup, 64 x n, to a row-major matrix in global memory. Rows and columns outside of the matrix are left out. Register r of thread t holds row 16 w + l / 4 + 8 (r / 2 % 2) and column 8 (r / 4) + 2 (l % 4) + r % 2, with w = t / 32 and l = t % 32 (PTX ISA 9.7.15.5.1, figure of the D fragment).
---@param acc wgrun.regs f32 or s32, n / 2 registers
---@param options wgrun.k.store_accumulator.options
function k:store_accumulator(acc, options) end

---@class wgrun.k.sum_parts.options
---@field acc table a list of arrays of registers: the accumulators
---@field partials wgrun.reg a pointer parameter to the accumulators' type: room for `splits` times all accumulators of the grid's tiles
---@field counters wgrun.reg a pointer parameter to u32, all 0: one for each tile; they are 0 again at the end
---@field tile wgrun.reg u32: which of the tiles that are summed up by themselves
---@field part wgrun.reg u32: which part, from 0
---@field splits integer how many parts, 2 to 65535
---@field barrier integer|wgrun.reg the number of a named barrier for the 128 threads
---@field flag wgrun.reg u32: the address of 4 bytes of shared memory

---Split-K: adds up the accumulators of warpgroups that multiplied different parts of K. Each leaves its sums in a workspace; the one that comes last adds all of them up, always in the order of the parts, and goes on with the result. All 128 threads execute it, and nobody waits for another CTA.
---@param options wgrun.k.sum_parts.options
---@return wgrun.reg # a predicate that holds in the warpgroup that came last: its accumulators have the sums of all parts
function k:sum_parts(options) end

---@class wgrun.k.tensor_map.options
---@field dtype? string the element type
---@field box? table the extents of the box, the fastest dimension first
---@field swizzle? string how the box lies in shared memory: "none", "32B", "64B" or "128B"
---@field nan_fill? boolean elements outside of the tensor arrive as NaN instead of 0
---@field constant? boolean no launch writes the tensor that may still run when this one starts
---@field tile? wgrun.tile instead of `dtype`, `box` and `swizzle`: those of a panel of the tile

---A parameter that is a tensor map, for the bulk-copy instructions of tensors. The argument of a launch is a tensor, from which the map is made.
---@param name string
---@param options wgrun.tile|wgrun.k.tensor_map.options the tile that is copied, or a table of options
---@return wgrun.reg # u64: the address of the map
function k:tensor_map(name, options) end

---Ends the launch with an error when a thread comes here; the error says line, CTA and thread.
---@param format? string the message, as of k:print
---@param ... wgrun.reg|wgrun.regs|table its values; the last one may be { guard = p } or { guard_not = p }
function k:trap(format, ...) end

---A loop of the kernel that runs while a condition holds.
---@param condition fun() emits the test, once, and returns its predicate; it is evaluated before each round
---@param body fun() emits the body
function k:while_(condition, body) end

---A kernel, made by wg.kernel: checked, printed, run and timed as often as wanted.
---@class wgrun.kernel
---@field name string What it is called.
---@field shared_bytes integer The shared memory of a CTA.
local kernel = {}

---Checks the kernel against the rules of the PTX ISA, without running it.
---@return table # a list of findings; empty where nothing is wrong
function kernel:check() end

---The kernel as CUDA C++.
---@return string
function kernel:cuda() end

---@class wgrun.kernel.debug.numerics.options
---@field block? integer products that are added at once; 0: all, exactly, and rounded once
---@field fraction? integer bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean addends are rounded to nearest even instead of being cut off
---@field inside? boolean the accumulator is an addend of the first block; else it is added to each sum

---@class wgrun.kernel.debug.options
---@field grid? integer|table CTAs along x, y and z: a number, or { x, y, z }
---@field args table a list of tensors and numbers, in the order of the parameters
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. The simulator has a limit only where one is given
---@field numerics? string|wgrun.kernel.debug.numerics.options how the simulator adds up products of wgmma: "exact", "h200", or the parameters of a model
---@field unchecked? boolean true runs the kernel although the checker found errors
---@field commands? table a list of commands; else they come from standard input

---Runs the kernel on the simulator under the debugger (docs/debugging.md): stops at lines, steps, values by their names in the script, who wrote what, and backwards. The kernel also runs where the checker found errors, which are printed first.
---@param options wgrun.kernel.debug.options
function kernel:debug(options) end

---Writes the kernel for programs without wgrun: PTX, cubin, CUDA C++, and C with host code.
---@param folder string where the files go
---@return table # or nil, message, code
function kernel:export(folder) end

---@class wgrun.kernel.launch_rule.options
---@field rows? string the parameter with the rows of the matrix
---@field columns? string the parameter with its columns
---@field m? integer rows of a tile
---@field n? integer columns of a tile
---@field parts? integer CTAs for each tile
---@field notes? table texts by parameter: what to pass

---Says how the kernel is launched, for kernel:export: the grid of persistent CTAs that walk over the tiles of a matrix whose extents are parameters, and what to pass.
---@param options wgrun.kernel.launch_rule.options
function kernel:launch_rule(options) end

---@class wgrun.kernel.prepare.numerics.options
---@field block? integer products that are added at once; 0: all, exactly, and rounded once
---@field fraction? integer bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean addends are rounded to nearest even instead of being cut off
---@field inside? boolean the accumulator is an addend of the first block; else it is added to each sum

---@class wgrun.kernel.prepare.options
---@field grid? integer|table CTAs along x, y and z: a number, or { x, y, z }
---@field args table a list of tensors and numbers, in the order of the parameters
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. The simulator has a limit only where one is given
---@field numerics? string|wgrun.kernel.prepare.numerics.options how the simulator adds up products of wgmma: "exact", "h200", or the parameters of a model
---@field unchecked? boolean true runs the kernel although the checker found errors

---Makes a launch ready to be started many times: compiled, its tensors on the device. Launches that live at the same time share the tensors that they have in common.
---@param options wgrun.kernel.prepare.options
---@return wgrun.launch
function kernel:prepare(options) end

---The kernel as PTX.
---@return string
function kernel:ptx() end

---Assembles the kernel and says what it uses.
---@return table # or nil, message, code where there is no assembler
function kernel:report() end

---How many clusters (CTAs, where the kernel has none) the GPU runs at a time. Compiles the kernel.
---@return integer? # nil where there is no GPU
function kernel:resident_clusters() end

---@class wgrun.kernel.run.numerics.options
---@field block? integer products that are added at once; 0: all, exactly, and rounded once
---@field fraction? integer bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean addends are rounded to nearest even instead of being cut off
---@field inside? boolean the accumulator is an addend of the first block; else it is added to each sum

---@class wgrun.kernel.run.options
---@field grid? integer|table CTAs along x, y and z: a number, or { x, y, z }
---@field args table a list of tensors and numbers, in the order of the parameters
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. The simulator has a limit only where one is given
---@field numerics? string|wgrun.kernel.run.numerics.options how the simulator adds up products of wgmma: "exact", "h200", or the parameters of a model
---@field unchecked? boolean true runs the kernel although the checker found errors
---@field guarded? boolean runs the guarded build, which names what hangs or faults

---Runs the kernel and waits until its results are in the tensors.
---@param options wgrun.kernel.run.options
---@return string # the back end that ran it: "gpu", "gpu-cuda" or "sim"; "none" where kernels are only traced (wgrun check)
function kernel:run(options) end

---@class wgrun.kernel.time.numerics.options
---@field block? integer products that are added at once; 0: all, exactly, and rounded once
---@field fraction? integer bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean addends are rounded to nearest even instead of being cut off
---@field inside? boolean the accumulator is an addend of the first block; else it is added to each sum

---@class wgrun.kernel.time.options
---@field grid? integer|table CTAs along x, y and z: a number, or { x, y, z }
---@field args table a list of tensors and numbers, in the order of the parameters
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. The simulator has a limit only where one is given
---@field numerics? string|wgrun.kernel.time.numerics.options how the simulator adds up products of wgmma: "exact", "h200", or the parameters of a model
---@field unchecked? boolean true runs the kernel although the checker found errors
---@field rounds? integer launches that are measured, 1 to 100000
---@field flops? number floating-point operations of a launch, for `tflops`
---@field against? wgrun.cublas a yardstick that is measured in turn with the kernel

---Measures how long the kernel takes, with its tensors already on the device.
---@param options wgrun.kernel.time.options
---@return table
function kernel:time(options) end

---@class wgrun.kernel.timeline.numerics.options
---@field block? integer products that are added at once; 0: all, exactly, and rounded once
---@field fraction? integer bits that an addend keeps below the largest exponent of its block, 1 to 40
---@field result? integer fraction bits that a sum keeps, 1 to 23
---@field nearest? boolean addends are rounded to nearest even instead of being cut off
---@field inside? boolean the accumulator is an addend of the first block; else it is added to each sum

---@class wgrun.kernel.timeline.options
---@field grid? integer|table CTAs along x, y and z: a number, or { x, y, z }
---@field args table a list of tensors and numbers, in the order of the parameters
---@field backend? string "gpu" (PTX), "gpu-cuda" (CUDA C++), "sim", or "auto": the GPU where there is one
---@field seed? integer of the simulator's schedule
---@field timeout_ms? integer milliseconds after which the launch is ended; 0: never. The simulator has a limit only where one is given
---@field numerics? string|wgrun.kernel.timeline.numerics.options how the simulator adds up products of wgmma: "exact", "h200", or the parameters of a model
---@field unchecked? boolean true runs the kernel although the checker found errors

---Lays one cluster of a launch out in time by a model of an H200's SM (docs/timeline.md): what each warp, the tensor core and the copies do when, and what limits the kernel. It runs on the simulator; the tensors then hold what that cluster has computed.
---@param options wgrun.kernel.timeline.options
---@return table
function kernel:timeline(options) end

---A launch that is ready to be started, made by kernel:prepare: compiled, its tensors on the device. On the simulator launch:start runs it to its end.
---@class wgrun.launch
local launch = {}

---Waits until it is done, and copies what it wrote to host memory.
function launch:download() end

---Starts the launch and returns at once, on the GPU.
function launch:start() end

---Copies the tensors from host memory to the device again, after the host has changed them.
function launch:upload() end

---Waits until it is done.
function launch:wait() end

---A function from coordinates to offsets, made by wg.layout and the layout algebra. It counts elements, unless it says otherwise.
---
---layout(i) is the offset of index i, from 0; layout(i, j, ...) and layout{ i, { j, k } } that of a coordinate. `#layout` is its size; two layouts are equal where shape, stride, swizzle and offset are.
---@class wgrun.layout
---@field offset integer What is added to each offset before the swizzle.
---@field shape integer|table The extents, nested.
---@field stride integer|table The strides, nested as the shape.
---@field swizzle? wgrun.swizzle The swizzle that is applied to the offsets, or nil.
local layout = {}

---The bank conflicts of a matrix in shared memory, whose layout maps (row, column) to the element offset.
---@param dtype string the element type
---@return table # a list, as of tile:bank_conflicts
function layout:bank_conflicts(dtype) end

---The natural coordinate of an index, nested as the shape.
---@param i integer from 0, the first mode fastest
---@return integer|table
function layout:coordinate(i) end

---The largest offset plus one.
---@return integer
function layout:cosize() end

---How deep the modes are nested; 0 for a plain integer.
---@return integer
function layout:depth() end

---@class wgrun.layout.html.options
---@field view? string what is shown: "offsets", "bytes", "chunks" (of 16 bytes), "banks" (of one access, lane by lane), "conflicts" (where in the matrix they are) or "overview" (core matrices and atoms); "auto" is "offsets" up to 4096 elements, beyond "overview"
---@field access? string with "banks" or "conflicts", which access of a warp; by default the one with the most conflicts, or all
---@field dtype? string the element type, which views other than offsets and overview need
---@field chunk? integer offsets of one colour; by default those of 16 bytes, or 8

---Writes a picture of the layout as a page of HTML that needs no other file: cells say what they are when they are pointed at, and overviews show elements when they are enlarged.
---@param path string
---@param options? wgrun.layout.html.options
---@return boolean # true; or nil, message, code
function layout:html(path, options) end

---One mode as a layout.
---@param i integer from 0
---@return wgrun.layout
function layout:mode(i) end

---@class wgrun.layout.print.options
---@field view? string what is shown: "offsets", "bytes", "chunks" (of 16 bytes), "banks" (of one access, lane by lane), "conflicts" (where in the matrix they are) or "overview" (core matrices and atoms); "auto" is "offsets" up to 4096 elements, beyond "overview"
---@field access? string with "banks" or "conflicts", which access of a warp; by default the one with the most conflicts, or all
---@field dtype? string the element type, which views other than offsets and overview need
---@field chunk? integer offsets of one colour; by default those of 16 bytes, or 8

---Prints a picture of the layout: its offsets as a grid.
---@param options? wgrun.layout.print.options
function layout:print(options) end

---The number of modes at the top level.
---@return integer
function layout:rank() end

---The number of coordinates; also `#layout`.
---@return integer
function layout:size() end

---@class wgrun.layout.svg.options
---@field view? string what is shown: "offsets", "bytes", "chunks" (of 16 bytes), "banks" (of one access, lane by lane), "conflicts" (where in the matrix they are) or "overview" (core matrices and atoms); "auto" is "offsets" up to 4096 elements, beyond "overview"
---@field access? string with "banks" or "conflicts", which access of a warp; by default the one with the most conflicts, or all
---@field dtype? string the element type, which views other than offsets and overview need
---@field chunk? integer offsets of one colour; by default those of 16 bytes, or 8

---Writes a picture of the layout as an SVG file, for light and dark surroundings.
---@param path string
---@param options? wgrun.layout.svg.options
---@return boolean # true; or nil, message, code
function layout:svg(path, options) end

---The layout without its swizzle.
---@return wgrun.layout
function layout:unswizzled() end

---A drawing that is made of several objects, by wg.mma_picture.
---@class wgrun.picture
local picture = {}

---Writes the picture as a page of HTML that needs no other file: cells say what they are when they are pointed at, and overviews show elements when they are enlarged.
---@param path string
---@return boolean # true; or nil, message, code
function picture:html(path) end

---Prints the picture as text.
function picture:print() end

---Writes the picture as an SVG file, for light and dark surroundings.
---@param path string
---@return boolean # true; or nil, message, code
function picture:svg(path) end

---A ring of stages between producers and consumers, made by k:pipeline. A thread walks round it with a cursor of its own.
---@class wgrun.pipeline
---@field stages integer how many
---@field full wgrun.shared the mbarriers that count bytes, 8 bytes each
---@field empty wgrun.shared the mbarriers that count consumers, 8 bytes each
---@field arrivals integer consumers that release a stage
---@field producers integer threads that announce bytes for a stage
local pipeline = {}

---Producer: waits until the consumers have released the cursor's stage. In the first round it passes at once.
---@param c table made by pipeline:cursor
function pipeline:acquire(c) end

---Moves a cursor to the next stage; behind the last one comes the first, in the next round.
---@param c table made by pipeline:cursor
function pipeline:advance(c) end

---A place in the ring for one role: the first stage, in its first round.
---@return table # the cursor
function pipeline:cursor() end

---The address of the mbarrier that counts the consumers that are done with the cursor's stage.
---@param c table made by pipeline:cursor
---@return wgrun.reg # u32
function pipeline:empty_barrier(c) end

---Producer: announces the bytes that copies will bring to the cursor's stage.
---@param c table made by pipeline:cursor
---@param bytes integer|wgrun.reg of all copies together
---@return wgrun.reg # u32: the address of the mbarrier that the copies signal
function pipeline:expect(c, bytes) end

---The address of the mbarrier that counts the bytes of the cursor's stage.
---@param c table made by pipeline:cursor
---@return wgrun.reg # u32
function pipeline:full_barrier(c) end

---Initializes the mbarriers of all stages. One thread of the CTA executes it; the others wait at a barrier before they use the pipeline.
function pipeline:init() end

---@class wgrun.pipeline.release.options
---@field lane wgrun.reg u32: the lane of the thread in its warp
---@field cluster? integer CTAs that fill the stage
---@field guard? wgrun.reg a predicate: the warp releases the stage only where it holds

---Consumer: gives the cursor's stage back to the producers: one arrival for each warp that calls it, in each CTA of the cluster.
---@param c wgrun.pipeline.release.options made by pipeline:cursor
---@param options wgrun.pipeline.release.options
function pipeline:release(c, options) end

---Moves a cursor over stages that another role uses.
---@param c table made by pipeline:cursor
---@param count integer|wgrun.reg how many stages
function pipeline:skip(c, count) end

---Consumer: waits until all bytes of the cursor's stage have arrived.
---@param c table made by pipeline:cursor
function pipeline:wait(c) end

---A register, made by k:reg, k:param and the instructions. It is valid while the kernel is built.
---
---Operators emit one instruction and give a new register: + - * / // % & | ~ << >>, unary - and ~ with numbers or registers of the same type. / is for floats, // for integers. ~p of a predicate costs nothing. Comparisons are methods, for < and == would give a Lua boolean while the kernel is built.
---@class wgrun.reg
---@field pointee? string Of a pointer parameter, the type of the elements that it points to; else nil.
---@field type string The type that it was declared with.
local reg = {}

---A predicate: whether the register is equal to another one or a number.
---@param other wgrun.reg|number
---@return wgrun.reg # a predicate
function reg:eq(other) end

---A predicate: whether the register is at least another one or a number.
---@param other wgrun.reg|number
---@return wgrun.reg # a predicate
function reg:ge(other) end

---A predicate: whether the register is greater than another one or a number.
---@param other wgrun.reg|number
---@return wgrun.reg # a predicate
function reg:gt(other) end

---A predicate: whether the register is at most another one or a number.
---@param other wgrun.reg|number
---@return wgrun.reg # a predicate
function reg:le(other) end

---A predicate: whether the register is less than another one or a number.
---@param other wgrun.reg|number
---@return wgrun.reg # a predicate
function reg:lt(other) end

---A predicate: whether the register is different from another one or a number.
---@param other wgrun.reg|number
---@return wgrun.reg # a predicate
function reg:ne(other) end

---Whether two Lua values are the same register of the kernel: == is refused, for it cannot compare what registers hold.
---@param other wgrun.reg
---@return boolean
function reg:same(other) end

---Writes the register: mov.
---@param value wgrun.reg|number|boolean
---@return wgrun.reg # itself
function reg:set(value) end

---Registers in a row, made by k:regs. regs[i] is one of them, from 0 as in the figures of the ISA; `#regs` is how many there are. The registers are written by k:mov(regs[i], value).
---@class wgrun.regs
local regs = {}

---Some of the registers, as an array that is indexed from 0 again.
---@param first integer from 0
---@param count integer
---@return wgrun.regs
function regs:slice(first, count) end

---A buffer in shared memory, made by k:shared. It stands for its address where an instruction wants one; k:address gives the address in a register.
---@class wgrun.shared
---@field bytes integer Its size.
---@field name string What messages call it.
---@field tile? wgrun.tile The tile that it holds, or nil.
local shared = {}

---A permutation of offsets, made by wg.swizzle. swizzle(offset) applies it.
---@class wgrun.swizzle
---@field base integer The lowest bit that changes.
---@field bits integer How many bits are XORed.
---@field shift integer How far above the changed bits those are that change them.
local swizzle = {}

---A tensor in host memory, row-major, made by wg.tensor, wg.zeros, wg.randn, wg.randint, wg.load and others. Kernels get it as an argument; what they write is in it when kernel:run returns.
---
---t[{ i, j }] is an element, with indices from 0; of one dimension t[i] does as well. It can be assigned to. `#t` is the number of elements. + - * / % ^ and unary - work element by element, with tensors of a shape that fits or numbers; comparisons are methods.
---@class wgrun.tensor
---@field bytes integer The size of its elements together.
---@field device string Where it is.
---@field dtype string The element type.
---@field shape table The extents.
local tensor = {}

---The magnitude of each element.
---@return wgrun.tensor
function tensor:abs() end

---Gives its memory back at once, or unmaps its file; it may be called again. A `<close>` variable does it too.
function tensor:close() end

---The same values in another type, rounded to nearest even once.
---@param dtype string
---@return wgrun.tensor
function tensor:convert(dtype) end

---A tensor with the same elements in memory of its own.
---@return wgrun.tensor
function tensor:copy() end

---Where elements are equal to those of another tensor or a number: 1, elsewhere 0.
---@param other wgrun.tensor|number
---@return wgrun.tensor
function tensor:eq(other) end

---e to the power of each element.
---@return wgrun.tensor
function tensor:exp() end

---Writes one value to all elements.
---@param value number
---@return wgrun.tensor # itself
function tensor:fill(value) end

---Each element rounded down to an integer.
---@return wgrun.tensor
function tensor:floor() end

---Where elements are at least those of another tensor or a number: 1, elsewhere 0.
---@param other wgrun.tensor|number
---@return wgrun.tensor
function tensor:ge(other) end

---Where elements are greater than those of another tensor or a number: 1, elsewhere 0.
---@param other wgrun.tensor|number
---@return wgrun.tensor
function tensor:gt(other) end

---Where elements are at most those of another tensor or a number: 1, elsewhere 0.
---@param other wgrun.tensor|number
---@return wgrun.tensor
function tensor:le(other) end

---The natural logarithm of each element.
---@return wgrun.tensor
function tensor:log() end

---Where elements are less than those of another tensor or a number: 1, elsewhere 0.
---@param other wgrun.tensor|number
---@return wgrun.tensor
function tensor:lt(other) end

---The greatest element; with an argument, the greater ones element by element.
---@param other? wgrun.tensor|number
---@return number|wgrun.tensor
function tensor:max(other) end

---The least element; with an argument, the lesser ones element by element.
---@param other? wgrun.tensor|number
---@return number|wgrun.tensor
function tensor:min(other) end

---Where elements are different from those of another tensor or a number: 1, elsewhere 0.
---@param other wgrun.tensor|number
---@return wgrun.tensor
function tensor:ne(other) end

---Writes to a part of the tensor.
---@param ranges table as of tensor:slice
---@param value wgrun.tensor|number
---@return wgrun.tensor # itself
function tensor:put(ranges, value) end

---The same elements with other extents: a view, which shares their memory.
---@param shape table|integer the extents, as a list or one after the other; one of them may be -1, and follows from the others
---@return wgrun.tensor
function tensor:reshape(shape) end

---Some indices of the first dimension: a view, which shares their memory.
---@param from integer from 0
---@param to integer the first index that is left out
---@return wgrun.tensor
function tensor:rows(from, to) end

---Writes the tensor as a .npy file, which is complete or not there.
---@param path string
---@return boolean # true; or nil, message, code
function tensor:save(path) end

---A copy of a part.
---@param ranges table one for each dimension: an index, { from, to, step } with `to` left out, or true for all of it
---@return wgrun.tensor
function tensor:slice(ranges) end

---The square root of each element.
---@return wgrun.tensor
function tensor:sqrt() end

---The sum of all elements, in binary64.
---@return number
function tensor:sum() end

---The hyperbolic tangent of each element.
---@return wgrun.tensor
function tensor:tanh() end

---The tensor in another place: "gpu" copies it to the device that kernels run on, "cpu" is itself.
---@param place string "gpu" or "cpu"
---@return wgrun.device_tensor|wgrun.tensor
function tensor:to(place) end

---A DLPack capsule of the tensor, without a copy, for a C module of the same process.
---@return userdata # begins with the pointer to a DLManagedTensorVersioned; who takes the tensor sets it to null
function tensor:to_dlpack() end

---The elements as a flat list, in row-major order.
---@return table
function tensor:totable() end

---A copy with its last two dimensions swapped, or with all of them in a given order.
---@param order? table for instance { 2, 0, 1 }: the dimensions, from 0
---@return wgrun.tensor
function tensor:transpose(order) end

---An operand of wgmma in shared memory, made by wg.tile: M or N rows by K elements, in swizzle atoms. Two tiles are equal where their options are.
---@class wgrun.tile
---@field align integer The alignment that the tile needs in shared memory.
---@field atom wgrun.layout The layout of one swizzle atom: (row, k) to the element offset.
---@field atom_k integer The K extent of a swizzle atom.
---@field atom_mn integer The rows of a swizzle atom.
---@field bytes integer The size of the tile in shared memory.
---@field dtype string The element type.
---@field k integer The extent along K.
---@field kstep_elements integer The K extent of one wgmma.
---@field ksteps integer How many wgmma instructions cover K.
---@field layout wgrun.layout The layout of the tile: (row, k) to the element offset, swizzle included.
---@field lbo integer The leading byte offset of its descriptors.
---@field major string Which coordinate runs with memory.
---@field mn integer The rows: the extent along M or N.
---@field order string Which coordinate the atoms follow first.
---@field sbo integer The stride byte offset of its descriptors.
---@field swizzle string The swizzle mode.
---@field tma_box table How TMA copies the tile: a box for each panel of the swizzle's width.
local tile = {}

---The bank conflicts of the tile in shared memory, for each way of accessing it that its type and major allow: "wgmma", "ldmatrix", "stmatrix", "st_shared_16" (16 bytes a lane, along the lines) and "st_accumulator" (pairs of accumulators).
---@return table # a list, one for each kind of access
function tile:bank_conflicts() end

---The wgmma matrix descriptor of a part of the tile.
---@param address integer the tile's address in shared memory, in bytes
---@param kstep? integer which of the K steps
---@param mn? integer the first row of the block that the instruction reads
---@param base_offset? boolean true computes the base offset, for a tile whose pattern begins at `address`, a multiple of 128 bytes
---@return integer # 64 bits
function tile:descriptor(address, kstep, mn, base_offset) end

---The tile in words: atoms, LBO and SBO, K steps, TMA box.
---@return string # several lines
function tile:explain() end

---@class wgrun.tile.html.options
---@field view? string what is shown: "offsets", "bytes", "chunks" (of 16 bytes), "banks" (of one access, lane by lane), "conflicts" (where in the matrix they are) or "overview" (core matrices and atoms); "auto" is "offsets" up to 4096 elements, beyond "overview"
---@field access? string with "banks" or "conflicts", which access of a warp; by default the one with the most conflicts, or all

---Writes a picture of the tile as a page of HTML that needs no other file: cells say what they are when they are pointed at, and overviews show elements when they are enlarged.
---@param path string
---@param options? wgrun.tile.html.options
---@return boolean # true; or nil, message, code
function tile:html(path, options) end

---The byte offset of an element from the start of the tile, the swizzle applied.
---@param row integer the M or N coordinate, from 0
---@param k integer the K coordinate, from 0
---@return integer # bytes
function tile:offset(row, k) end

---@class wgrun.tile.print.options
---@field view? string what is shown: "offsets", "bytes", "chunks" (of 16 bytes), "banks" (of one access, lane by lane), "conflicts" (where in the matrix they are) or "overview" (core matrices and atoms); "auto" is "offsets" up to 4096 elements, beyond "overview"
---@field access? string with "banks" or "conflicts", which access of a warp; by default the one with the most conflicts, or all

---Prints a picture of the tile: where its elements are in memory.
---@param options? wgrun.tile.print.options
function tile:print(options) end

---@class wgrun.tile.svg.options
---@field view? string what is shown: "offsets", "bytes", "chunks" (of 16 bytes), "banks" (of one access, lane by lane), "conflicts" (where in the matrix they are) or "overview" (core matrices and atoms); "auto" is "offsets" up to 4096 elements, beyond "overview"
---@field access? string with "banks" or "conflicts", which access of a warp; by default the one with the most conflicts, or all

---Writes a picture of the tile as an SVG file, for light and dark surroundings.
---@param path string
---@param options? wgrun.tile.svg.options
---@return boolean # true; or nil, message, code
function tile:svg(path, options) end

---A legal form of wgmma.mma_async, made by wg.wgmma.
---@class wgrun.wgmma
---@field a string The element type of A.
---@field a_registers integer The registers of a thread that A takes for one instruction, where it is in registers.
---@field b string The element type of B.
---@field d string The type of the accumulators.
---@field d_registers integer The registers of a thread that D takes.
---@field k integer The K extent of one instruction.
---@field m integer The rows of D.
---@field min_ptx string The first version of PTX that has the form.
---@field n integer The columns of D.
---@field ptx string The instruction with its qualifiers, as PTX spells it.
---@field sparse boolean Whether A is sparse.
local wgmma = {}

---The layout of A in registers: (thread, value) to row + 64 * column; of a sparse A, of the columns that are stored.
---@return wgrun.layout
function wgmma:a_layout() end

---The layout of D in registers: (thread, value) to row + 64 * column.
---@return wgrun.layout
function wgmma:d_layout() end

---The layout of the metadata of a sparse A: (thread, code) to row + 64 * chunk.
---@return wgrun.layout
function wgmma:metadata_layout() end

