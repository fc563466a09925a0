-- What somebody tries on the first day, and how wgrun answers.
local check = require "check"
local wg = require "wgrun"
local says, in_kernel = check.refuses, check.refuses_in_kernel
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K", swizzle = "128B" }

-- Kernels and launches.
says("wg.kernel: expected a name, a table of options and a function", function() wg.kernel("f", function() end) end)
says("wg.kernel: expected a name, a table of options and a function", function() wg.kernel({ threads = 128 }, function() end) end)
says("unknown option `thread` of wg.kernel: did you mean `threads`? (legal: threads, cluster, grid, translated, names)", function() wg.kernel("f", { thread = 1 }, print) end)
local kernel = wg.kernel("f", { threads = 32 }, function(k) k:st_global_f32(k:param("A", "f32*"), 1) end)
local A = wg.zeros("f32", 4)
says("kernel f takes 1 argument (A), not 0", function() kernel:run { args = { A = A } } end)
check.equal(select(2, pcall(kernel.run, kernel, { args = { A = A } })).fix, "args = { A }: a list in the order of the parameters, without names")
says("bad argument #1 to `run`: expected a kernel, got table (a method is called with a colon: object:method(...))", function() kernel.run { args = { A } } end)
says("a kernel cannot be called: it is launched", function() kernel(A) end)
says("kernel:run: option `grid`: expected a list { x, y, z } without names, got key string \"x\"", function() kernel:run { grid = { x = 1 }, args = { A } } end)
says("a kernel has no `rum`: did you mean `run`?", function() kernel:rum {} end)
says("a gemm has no `rnu`: did you mean `run`?", function() wg.gemm({ dtype = "bf16", problem = { 64, 64, 64 } }):rnu() end)
says("wg has no `tiel`: did you mean `tile`?", function() return wg.tiel end)

-- Tensors.
says("bad argument #1 to `zeros`: expected the dtype first, then the shape: (\"f32\", { 64, 64 }), got table", function() wg.zeros({ 2, 2 }, "f32") end)
check.equal(select(2, pcall(wg.zeros, "f32", 2, 2)).fix, "several numbers are one argument in braces: { 64, 64 }")
says("`zeros` takes 2 arguments, not 3: number 2 is too much", function() wg.zeros("f32", 2, 2) end)
says("bad argument #1 to `ones`: expected the dtype first, then the shape: (\"f32\", { 64, 64 }), got table", function() wg.ones({ 2, 2 }, "f32") end)
says("bad argument #1 to `eye`: expected the dtype first, then the shape: (\"f32\", { 64, 64 }), got number 3", function() wg.eye(3) end)
says("bad argument #3 to `full`: expected the value, after dtype and shape: (\"f32\", { 64, 64 }, 1), got table", function() wg.full("f32", 3, { 2, 2 }) end)
says("bad argument #1 to `compare`: expected a tensor, got table", function() wg.compare({ 1 }, A) end)
says("bad argument #3 to `compare`: expected a number or { absolute =, relative = } as the tolerance, got string \"1e-3\"", function() wg.compare(A, A, "1e-3") end)
says("wg.tensor: value 4 in row-major order: expected a number, got string \"x\"", function() wg.tensor { { 1, 2 }, { 3, "x" } } end)
says("wg.tensor: value 2 of the list: expected a table, got nil", function() wg.tensor { { 1, 2 }, nil, { 3, 4 } } end)
says("wg.tensor: 1 value, where f32 {2, 2} takes 2", function() wg.tensor { { 1, 2 }, { 3 } } end)
local two = wg.zeros("f32", { 2, 2 })
check.equal(says("index {1} does not have as many coordinates as f32 {2, 2}", function() return two[1][1] end).fix, "an index has one coordinate for each dimension, as in t[{ i, j }]")
says("`transpose` takes 1 argument, not 2: number 0 is too much", function() two:transpose(1, 0) end)
says("wg.try: `swizzle` is for tensors, and `a` and `b` are tiles, which have a swizzle already", function() wg.try { a = tile, b = tile, swizzle = "64B" } end)
says("wg.try: `b_tile` is for a tensor `b`, which is a tile here", function() wg.try { a = tile, b = tile, b_tile = tile } end)
says('wg.try: option `seed`: expected an integer, got string "1"', function() wg.try { a = tile, b = tile, seed = "1" } end)
says("unknown dtype `float32`: here it is `f32`", function() wg.zeros("float32", 2) end)
says("unknown dtype `half`: here it is `f16`", function() wg.zeros("half", 2) end)
says("a tensor has no `shap`: did you mean `shape`?", function() return A.shap end)

-- Numbers without a type, operands by their meaning, words of Lua.
local function fix_of(f) local _, e = pcall(wg.kernel, "f", { threads = 128 }, f); return tostring(e.fix) end
assert(fix_of(function(k) return k:mov(0.0) end):find('numbers have no type: k:mov(..., { type = "f32" })', 1, true))
assert(fix_of(function(k) return k:shfl_sync_bfly(k:reg "b32", 16) end):find("c: 0x1f", 1, true))

-- A function that makes a value, and returns none.
in_kernel("accumulator:map: the function returns nothing: it ends with `return` and a register or a number", function(k) k:fragment(k:regs("f32", 4)):map(function(x) k:mul(x, 2.0) end) end)
in_kernel("accumulator:row_reduce: the function returns nothing: it ends with `return` and a register or a number", function(k) k:fragment(k:regs("f32", 4)):row_reduce(function(x, y) k:add(x, y) end) end)

-- Lines of a matrix.
in_kernel("k:store_accumulator: `ld` is 32, but a row has 64 elements (`cols`): rows would overlap", function(k) k:store_accumulator(k:regs("f32", 32), { to = k:param("D", "f32*"), ld = 32, row = 0, col = 0, rows = 64, cols = 64 }) end)
in_kernel("k:store_accumulator: `vector` takes 2 elements at a time, so `ld` must be a multiple of 2, not 65", function(k) k:store_accumulator(k:regs("f32", 32), { to = k:param("D", "f32*"), ld = 65, row = 0, col = 0, rows = 64, cols = 64, vector = true }) end)
in_kernel("k:copy_tile: `vector` takes 8 elements at a time, so `ld` must be a multiple of 8, not 60", function(k) k:copy_tile { to = k:shared(tile, "a"), from = k:param("A", "const bf16*"), ld = 60, line = 0, along = 0, lines = 64, length = 64, vector = true } end)

-- What PTX spells otherwise, and numbers where PTX takes registers.
wg.kernel("spelled", { threads = 32, cluster = 2 }, function(k)
  k:barrier_cluster_arrive_release()
  k:barrier_cluster_wait_acquire()
  k:membar_gl()
  local y = k:param("Y", "u32*")
  k:st_weak_global_u32(y, k:shfl_sync_idx(7, 0, 0x1f))
end)

-- Registers.
in_kernel("a u64 register (a pointer) and one of u32 (32 bits) cannot be added: registers are not converted", function(k) return k:param("X", "f32*") + k:special "tid.x" * 4 end)
in_kernel("a u64 register (64 bits) and one of u32 (32 bits) cannot be added: registers are not converted", function(k) return k:reg "u32" - k:reg "u64" end)
in_kernel("`/` gives a fraction, which a u32 register cannot hold", function(k) return k:reg "u32" / 2 end)
in_kernel("PTX has no instruction for powers", function(k) return k:reg "f32" ^ 2 end)
in_kernel("a register has no value while the kernel is traced, so it cannot become text", function(k) return "i is " .. k:reg "u32" end)
in_kernel("a register has no elements: it cannot be indexed with number 0", function(k) return k:param("X", "f32*")[0] end)
in_kernel("an array of registers is not an operand", function(k) return k:regs("f32", 4) * 2 end)
in_kernel("an array of 4 registers is indexed from 0 to 3, not with a register", function(k) return k:regs("f32", 4)[k:reg "u32"] end)
in_kernel("Lua's == and ~= cannot compare the values of registers, which are not known while the kernel is traced", function(k) return k:reg "u32" == k:reg "u32" end)
in_kernel("registers are compared by a:lt(b), le, gt, ge, eq and ne, which give predicates", function(k) return k:reg "u32" < 4 end)
local any = "expected a register, a list of registers, a number or a shared buffer, got nil"
in_kernel("add, operand: " .. any .. ": `offset` is nil", function(k) return k:reg "u32" + offset end)
in_kernel("mul, operand: " .. any .. ": `k.scale.x` is nil", function(k) k = { k = k, scale = {} }; return k.scale.x * k.k:reg "u32" end)
in_kernel("sub, operand: " .. any .. ": `nothing` is nil", function(k) return k:sub(k:reg "u32", nothing) end)
in_kernel("add, operand: " .. any, function(k) local a, b, c = k:reg "u32"; return a + b + c end) -- b or c: not told
in_kernel("add, operand b: register of type u32 where an f32 register is expected", function(k) return k:reg "f32" + k:reg "u32" end)
check.equal(in_kernel("st, operand b: register of type f32 where a u32 register is expected", function(k) k:st_global_u32(k:reg "u64", k:reg "f32") end).fix, "k:cvt_rzi_u32_f32(x) converts the value")
check.equal(in_kernel("st, operand b: register of type u32 where an f32 register is expected", function(k) k:st_global_f32(k:reg "u64", k:reg "u32") end).fix, "k:cvt_rn_f32_u32(x) converts the value")

-- Elements of 16 bits are bits until they are converted.
local bits = "operand a: a b16 register holds bits, which are not converted to a number"
check.equal(in_kernel("add, " .. bits, function(k) local x = k:reg "b16"; return x + x end).fix, "k:cvt_f32_bf16(x) or k:cvt_f32_f16(x) gives the value of a bf16 or f16 element; k:add_s16(...) treats the bits as an integer")
in_kernel("mul, " .. bits, function(k) return k:reg "b16" * 2.0 end)
in_kernel("neg, " .. bits, function(k) return -k:reg "b16" end)
in_kernel("max, " .. bits, function(k) return k:max(k:reg "b16", 0) end)
in_kernel("cvt, " .. bits, function(k) return k:cvt_rn_f32(k:reg "b16") end)
check.equal(in_kernel("st, operand b: register of type b16 where an f32 register is expected", function(k) k:st_global_f32(k:reg "u64", k:reg "b16") end).fix, "k:cvt_f32_bf16(x) or k:cvt_f32_f16(x) gives the value of a bf16 or f16 element")
check.equal(in_kernel("st, operand b: register of type f32 where a b16 register is expected", function(k) k:st_global_b16(k:reg "u64", k:reg "f32") end).fix, "k:cvt_rn_bf16_f32(x) or k:cvt_rn_f16_f32(x) gives the bits of the rounded value")
wg.kernel("bits", {}, function(k) local x = k:reg "b16"; return k:add_u16(x, x), x & 1, x << 1, x | x, k:mov(x) end) -- asked for by name, or bitwise

-- What a fix names is an instruction: 16-bit integers become floats by 32 bits.
check.equal(in_kernel("add, operand b: register of type u16 where an f32 register is expected", function(k) return k:reg "f32" + k:reg "u16" end).fix, "k:cvt_rn_f32_u32(k:cvt_u32_u16(x)) converts the value")

-- Variables of Lua in loops of the kernel, which are traced once.
local carried = in_kernel("`sum` is another register after the body of k:loop: the body is traced once, so every round reads what `sum` was before the loop", function(k) local sum = 0.0; k:loop(4, function(i) sum = k:add(k:cvt_rn_f32_u32(i), sum) end) end)
check.equal(carried.fix, "before the loop: local sum = k:reg \"f32\" and k:mov(sum, ...); in the body give it as the destination, as in k:add(sum, sum, x)")
in_kernel("`x` is another register after the body of k:while_: the body is traced once, so every round reads what `x` was before the loop", function(k) local x = k:special "tid.x"; k:while_(function() return x:gt(1) end, function() x = x >> 1 end) end)
wg.kernel("fine", {}, function(k) -- a variable that only the body uses, one register throughout, and one that nobody reads
  local sum, last, old, next = k:reg "u32", nil, k:special "tid.x", 0
  k:mov(sum, 0)
  k:loop(4, function(i) last = i * 2; old = last + 1; next = i + 3; sum = k:add(sum, sum, old) end)
end)

-- Addresses know what they point to.
in_kernel("ld: the address is that of bf16 elements, and f32 are loaded", function(k) return k:ld_global_f32(k:element(k:param("X", "const bf16*"), 1)) end)
check.equal(in_kernel("st: the address is that of f16 elements, and f32 are stored", function(k) k:st_global_f32(k:element(k:param("X", "f16*"), k:special "tid.x"), 1.0) end).fix, "k:st_global_b16(address, k:cvt_rn_f16_f32(x))")
in_kernel("ld: the address is that of s32 elements, and f32 are loaded", function(k) return k:ld_global_f32(k:param("X", "const s32*")) end)
in_kernel("red: the address is that of s32 elements, and f32 are combined with", function(k) k:red_global_add_f32(k:param("X", "s32*"), 1.0) end)
wg.kernel("fine", {}, function(k) local X = k:param("X", "const bf16*"); return k:ld_global_v4_f32(X), k:ld_global_u16(X), k:ld_global_b32(k:element(X, 2)) end)
check.equal(in_kernel("k:load_tile, map: a pointer is no tensor map", function(k) k:load_tile { tile = tile, map = k:param("A", "bf16*"), to = k:reg "u32", mn = 0, k = 0, barrier = k:reg "u32" } end).fix, "k:tensor_map(name, tile) in place of k:param(name, ...)")
in_kernel("math.max compares numbers while the kernel is traced: k:max(a, b) is the instruction", function(k) return math.max(k:reg "f32", 0) end)

-- Calls.
in_kernel("the builder has no `atom_add_global_s32`: did you mean `atom_global_add_s32`?", function(k) k:atom_add_global_s32(k:reg "u64", 1) end)
in_kernel("the builder has no `for_`: here it is k:loop(count, function(i) ... end), or Lua's own `for`, which unrolls", function(k) k:for_(4, print) end)
in_kernel("the builder has no `ld_globl_f32`: did you mean `ld_global_f32`?", function(k) k:ld_globl_f32(k:reg "u64") end)
in_kernel("the builder has no `ld_global_v4_f31`: did you mean `ld_global_v4_f32`?", function(k) k:ld_global_v4_f31(k:reg "u64") end)
in_kernel("the builder has no `cvt_rm_f16_f32`: `wgrun isa cvt` lists the forms of cvt", function(k) k:cvt_rm_f16_f32(k:reg "f32") end)
check.equal(in_kernel("ld, operand d: register of type u64 where an f32 register is expected", function(k) k:ld_global_f32(k:param("X", "f32*"), k:reg "u64") end).fix, "the destination comes first, or is left out: the result is then a new register")
check.equal(in_kernel("wgmma.mma_async, operand a: a register or a list of registers or a number is expected, not a shared buffer", function(k) k:wgmma_mma_async(k:regs("f32", 32), k:shared(tile), k:shared(tile), { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16" }) end).fix, "k:descriptor(buffer) is the descriptor of the buffer's tile")
says("wg.swizzle takes three numbers: bits, base and shift", function() wg.swizzle "128B" end)
says("wg.tile: option `swizzle`: expected \"none\", \"32B\", \"64B\" or \"128B\", got number 128", function() wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K", swizzle = 128 } end)
in_kernel("k:tensor_map: option `box` or `tile` is missing", function(k) k:tensor_map("X", { dtype = "bf16" }) end)
in_kernel("tensor map: box {8, 1, 1, 1, 1, 1} of bf16: 1 to 5 dimensions are possible", function(k) k:tensor_map("X", { box = { 8, 1, 1, 1, 1, 1 } }) end)
in_kernel('k:pipeline: stages is "4", must be an integer from 1 to 32', function(k) k:pipeline { stages = "4" } end)
in_kernel("pipeline:release: cluster is 0, must be an integer from 1 to 16", function(k) local pipe = k:pipeline { stages = 2 } pipe:release(pipe:cursor(), { lane = k:reg "u32", cluster = 0 }) end)
in_kernel('pipeline:release: cluster is "2", must be an integer from 1 to 16', function(k) local pipe = k:pipeline { stages = 2 } pipe:release(pipe:cursor(), { lane = k:reg "u32", cluster = "2" }) end)
in_kernel('pipeline:release: option `to`: expected a register, got string "x"', function(k) local pipe = k:pipeline { stages = 2 } pipe:release(pipe:cursor(), { lane = k:reg "u32", cluster = 2, to = "x" }) end)
in_kernel("pipeline:cursor: held must be true or false, not 1", function(k) k:pipeline { stages = 4 }:cursor { held = 1 } end)
in_kernel("`repeat_` takes 1 argument, not 2: function is too much", function(k) k:repeat_(function() end, function() end) end)
in_kernel("`if_` takes 3 arguments, not 4: function is too much", function(k) k:if_(k:reg "pred", print, nil, print) end)
in_kernel("`set` takes 1 argument, not 2: table is too much", function(k) k:reg "u32":set(1, { guard = k:reg "pred" }) end)
in_kernel("`element` takes 2 arguments, not 3: number 4 is too much", function(k) k:element(k:param("X", "f32*"), 1, 4) end)
in_kernel("`>>` is for integers and bits, not for a register of type f32", function(k) return k:reg "f32" >> 1 end)
in_kernel("`&` is for integers and bits, not for a register of type f64", function(k) return k:reg "f64" & 1 end)
in_kernel("`~` is for integers and bits, not for a register of type f32", function(k) return ~k:reg "f32" end)
in_kernel("the builder has no `barsync`: did you mean `bar_sync`?", function(k) k:barsync(0) end)
in_kernel("the builder has no `syncthreads`: here it is k:bar_sync(0)", function(k) k:syncthreads() end)
in_kernel("bad argument #1 to `add`: expected the builder, got a register (a method is called with a colon: object:method(...))", function(k) k.add(k:reg "u32", 1) end)
in_kernel("unknown special register `threadIdx.x`: here it is `tid.x`, .y, .z (tid.x, ctaid.x, nctaid.x, ntid.x, laneid, ...)", function(k) k:special "threadIdx.x" end)
in_kernel("unknown special register `tidx`: did you mean `tid.x`? (tid.x, ctaid.x, nctaid.x, ntid.x, laneid, ...)", function(k) k:special "tidx" end)
in_kernel("parameter `f32*`, `A`: the name comes first", function(k) k:param("f32*", "A") end)
in_kernel("bad argument #1 to `shared`: expected a tile, or { bytes = }, got number 1024", function(k) k:shared(1024) end)
in_kernel("a condition of the kernel is a predicate, not a register of type u32", function(k) k:if_(k:reg "u32", print) end)
in_kernel("shfl.sync takes d, a, b, c (the destination may be left out), and by name { p =, membermask = }; 5 given", function(k) local r = k:reg "b32"; k:shfl_sync_bfly_b32(r, r, 1, 31, -1) end)
in_kernel("ld takes d, a (the destination may be left out), and by name { policy =, offset = }; 3 given", function(k) k:ld_global_f32(k:reg "f32", k:reg "u64", 4) end)
in_kernel("wgmma.mma_async, operand d: 32 registers are expected, not 64: m64n64k16: the 64 x 64 = 4096 f32 elements are shared by the 128 threads of a warpgroup, 32 each", function(k) k:mma(k:regs("f32", 64), { a = k:shared(tile), b = k:shared(tile) }) end)
in_kernel("wgmma.mma_async, operand d: 32 registers are expected, not a register: m64n64k16: the 64 x 64 = 4096 f32 elements are shared by the 128 threads of a warpgroup, 32 each", function(k) k:mma(k:reg "f32", { a = k:shared(tile), b = k:shared(tile) }) end)
