-- wg.kernel, the builder's methods, and what a kernel can be asked to do: what they refuse, with which words and where.
local check = require "check"
local wg = require "wgrun"
local refuses, in_kernel = check.refuses, check.refuses_in_kernel
local function nothing() end

-- The kernel itself.
refuses("wg.kernel: expected a name, a table of options and a function", function() wg.kernel() end)
refuses("wg.kernel: expected a name, a table of options and a function", function() wg.kernel(1, {}, nothing) end)
refuses("bad argument #3 to `kernel`: expected a function that builds the kernel, got nothing", function() wg.kernel("k", {}) end)
refuses("bad argument #3 to `kernel`: expected a function that builds the kernel, got string \"x\"", function() wg.kernel("k", {}, "x") end)
refuses("wg.kernel: expected a name, a table of options and a function", function() wg.kernel("k", nothing) end)
refuses("unknown option `thread` of wg.kernel: did you mean `threads`? (legal: threads, cluster...", function() wg.kernel("k", { thread = 1 }, nothing) end)
refuses("wg.kernel: option `threads`: expected an integer, got string \"1\"", function() wg.kernel("k", { threads = "1" }, nothing) end)
refuses("kernel k: threads = 0, a CTA has 1 to 1024", function() wg.kernel("k", { threads = 0 }, nothing) end)
refuses("kernel k: threads = 1025, a CTA has 1 to 1024", function() wg.kernel("k", { threads = 1025 }, nothing) end)
refuses("wg.kernel: option `threads` is -1, must be 0..2147483647", function() wg.kernel("k", { threads = -1 }, nothing) end)
refuses("kernel k: a cluster of 17 x 1 x 1 CTAs, 1 to 16 in all fit a group of SMs", function() wg.kernel("k", { cluster = { 17, 1, 1 } }, nothing) end)
refuses("cluster has 4 entries, at most 3 are possible", function() wg.kernel("k", { cluster = { 1, 1, 1, 1 } }, nothing) end)
refuses("option `cluster`: entry 2 is 0, must be 1..2147483647", function() wg.kernel("k", { cluster = { 1, 0 } }, nothing) end)
refuses("kernel name `a b`: letters, digits and _ only, not starting with a digit", function() wg.kernel("a b", {}, nothing) end)
-- An error of the script's own passes through as it is.
local good, problem = pcall(wg.kernel, "k", {}, function() error({ mine = true }) end)
check.equal({ good, problem.mine }, { false, true })

-- Blocks. A block that stays open is named by its own line.
refuses("kernel k: a loop or branch is still open", function() wg.kernel("k", {}, function(k) k:begin_loop() end) end)
in_kernel("no loop to end here", function(k) k:end_loop() end)
in_kernel("no branch to end here", function(k) k:end_if() end)
in_kernel("no branch to continue with an else", function(k) k:begin_else() end)
in_kernel("no loop is waiting for its condition", function(k) k:loop_condition(k:reg "pred") end)
in_kernel("bad argument #1 to `begin_if`: expected a predicate register, got nothing", function(k) k:begin_if() end)
in_kernel("a condition of the kernel is a predicate, not a register of type u32", function(k) k:if_(k:reg "u32", nothing) end)
in_kernel("k:if_, predicate: expected a register, got boolean", function(k) k:if_(true, nothing) end)
in_kernel("k:if_, when_true: expected a function, got nil", function(k) k:if_(k:reg "pred") end)
in_kernel("k:if_, otherwise: expected a function, got number", function(k) k:if_(k:reg "pred", nothing, 1) end)
in_kernel("k:while_, condition: expected a function, got a register", function(k) k:while_(k:reg "pred", nothing) end)
in_kernel("k:while_, body: expected a function, got nil", function(k) k:while_(nothing) end)
in_kernel("k:loop, body: expected a function, got nil", function(k) k:loop(4) end)
in_kernel("k:loop: option `to` is missing", function(k) k:loop({}, nothing) end)
in_kernel("unknown option `stop` of k:loop: did you mean `step`? (legal: from, to, step)", function(k) k:loop({ to = 4, stop = 1 }, nothing) end)
in_kernel("k:loop, to: expected a register or an integer from 0 to 4294967295, got -4", function(k) k:loop(-4, nothing) end)
in_kernel("k:loop, to: expected a register or an integer from 0 to 4294967295, got 2.5", function(k) k:loop(2.5, nothing) end)
in_kernel("k:loop, to: expected a register or an integer from 0 to 4294967295, got string", function(k) k:loop("4", nothing) end)
in_kernel("k:loop: option `from`: expected an integer or a register, got boolean", function(k) k:loop({ from = true, to = 4 }, nothing) end)
in_kernel("k:loop, step: expected a register or an integer from 1 to 4294967295, got 0", function(k) k:loop({ to = 4, step = 0 }, nothing) end)
in_kernel("setp, operand b: register of type f32 where a u32 register is expected", function(k) k:loop(k:reg "f32", nothing) end)

-- Names. A misspelt instruction finds its neighbour.
in_kernel("the builder has no `wgmma_fense`: did you mean `wgmma_fence`?", function(k) k:wgmma_fense() end)
in_kernel("the builder has no `ld_global_v3_b32`...", function(k) k:ld_global_v3_b32(k:reg "u64") end)
in_kernel("the builder has no `fill`...", function(k) return k.fill end)
in_kernel("the builder cannot be changed: string \"x\" cannot be set", function(k) k.x = 1 end)
in_kernel("bad argument #1 to `add`: expected the builder, got number 1 (a method is called with a colon: object:method(...))", function(k) k.add(1, 2) end)
in_kernel("unknown special register `tid.w`: did you mean `tid.x`? (tid.x, ctaid.x, nctaid.x, ntid.x, laneid, ...)", function(k) k:special "tid.w" end)

-- Parameters.
in_kernel("bad argument #2 to `param`: expected a string, got nothing", function(k) k:param("A") end)
in_kernel("parameter type `b16`: expected a pointer such as `const bf16*` or `f32*`, or u32, s32, f32, u64, s64, f64, u16, s16, u8, s8", function(k) k:param("A", "b16") end)
in_kernel("parameter type `const u32`: expected a pointer...", function(k) k:param("A", "const u32") end)
in_kernel("unknown dtype `x`", function(k) k:param("A", "x*") end)
in_kernel("two parameters called `A`", function(k) k:param("A", "u32") k:param("A", "u32") end)

-- Shared memory: at most 227 KiB, in one piece or several.
in_kernel("shared memory: 232449 bytes on top of 0 exceed the 232448 bytes (227 KiB) of a CTA", function(k) k:shared { bytes = 232449 } end)
in_kernel("shared memory: 150000 bytes on top of 100000 exceed the 232448 bytes (227 KiB) of a CTA", function(k) k:shared { bytes = 100000 } k:shared { bytes = 50000, count = 3 } end)
in_kernel("shared memory: 9223372036854775807 bytes on top of 0 exceed the 232448 bytes (227 KiB) of a CTA", function(k) k:shared { bytes = 1 << 60, count = 1024 } end)
in_kernel("shared memory: 262144 bytes on top of 0 exceed the 232448 bytes (227 KiB) of a CTA", function(k) k:shared { tile = wg.tile { dtype = "bf16", mn = 256, k = 64 }, count = 8 } end)
in_kernel("shared memory of 0 bytes", function(k) k:shared { bytes = 0 } end)
in_kernel("alignment 3: a power of two up to 1024 bytes", function(k) k:shared { bytes = 16, align = 3 } end)
in_kernel("k:shared: option `tile`: expected a tile made by wg.tile, got number 1", function(k) k:shared { tile = 1 } end)
in_kernel("unknown option `byte` of k:shared: did you mean `bytes`? (legal: bytes, align, name, tile, count)", function(k) k:shared { byte = 1 } end)
check.equal(wg.kernel("k", {}, function(k) k:shared { bytes = 232448 } end).shared_bytes, 232448)

-- Operands and options of instructions.
local any = "a register, a list of registers, a number or a shared buffer"
in_kernel("add takes d, a, b (the destination may be left out); 4 given", function(k) k:add(1, 2, 3, 4) end)
in_kernel("add takes d, a, b (the destination may be left out); 0 given", function(k) k:add() end)
in_kernel("add needs `type` (legal: u16, s16, f16, bf16, u32, s32, f32, f16x2, bf16x2, u16x2, s16x2, u64, s64, f64)", function(k) k:add(1, 2) end)
in_kernel("add, operand: expected " .. any .. ", got function", function(k) k:add(k:reg "u32", print) end)
in_kernel("add, operand a: takes no register of type pred", function(k) k:add(k:reg "pred", 1) end)
in_kernel("ld, operand a: register of type u32 where a u64 register is expected", function(k) k:ld_global_b32(k:reg "u32") end)
in_kernel("ld, operand a: an address is expected, not a number", function(k) k:ld_global_b32(16) end)
in_kernel("ld, operand d: 2 registers are expected, not 3", function(k) k:ld_global_v2_b32(k:regs("b32", 3), k:reg "u64") end)
in_kernel("ld, operand d: a number is no destination", function(k) k:ld_global_v2_b32({ k:reg "b32", 1 }, k:reg "u64") end)
in_kernel("st, operand: entry 2 of the list: expected a register or a number, got string \"1\"", function(k) k:st_global_v2_b32(k:reg "u64", { 1, "1" }) end)
in_kernel("st, operand b: a list of numbers alone has no type", function(k) k:st(k:reg "u64", { 1, 2 }, { space = "global", vec = 2 }) end)
in_kernel("unknown option `gard` of ld: did you mean `guard`? (legal: guard, guard_not, offset, type, space, vec...", function(k) k:ld_global_b32(k:reg "u64", { gard = 1 }) end)
in_kernel("ld: option `offset`: expected a number of bytes, got string \"x\"", function(k) k:ld_global_b32(k:reg "u64", { offset = "x" }) end)
in_kernel("ld, operand a: offset 1099511627776 does not fit 32 bits", function(k) k:ld_global_b32(k:reg "u64", { offset = 1 << 40 }) end)
in_kernel("guard of ld: expected a predicate register, got number 1", function(k) k:ld_global_b32(k:reg "u64", { guard = 1 }) end)
in_kernel("guard of ld: a predicate is expected, not a register of type u32", function(k) k:ld_global_b32(k:reg "u64", { guard = k:reg "u32" }) end)
in_kernel("ld: `guard` and `guard_not` exclude each other", function(k) k:ld_global_b32(k:reg "u64", { guard = k:reg "pred", guard_not = k:reg "pred" }) end)
in_kernel("bar.sync, operand barrier: 16 is out of range (legal: 0 to 15)", function(k) k:bar_sync(16) end)
in_kernel("fence.proxy.async: option `space`: string \"texture\" is not legal (legal: global, shared::cta, shared::cluster)", function(k) k:fence_proxy_async { space = "texture" } end)

-- Registers and buffers live in their own kernel, and only while its function runs.
local old = {}
wg.kernel("first", {}, function(k) old.k, old.r, old.p, old.list, old.buffer = k, k:reg "u32", k:reg "pred", k:regs("f32", 4), k:shared { bytes = 64 } end)
local over = "kernel first is finished: its registers and buffers are valid only inside its function"
refuses(over, function() old.k:reg "u32" end)
refuses(over, function() old.k:wgmma_fence() end)
refuses(over, function() old.k:loop(4, nothing) end)
refuses(over, function() old.k:shared { bytes = 64 } end)
refuses(over, function() return old.r + 1 end)
refuses(over, function() return old.r:lt(1) end)
refuses(over, function() return old.r:set(1) end)
refuses(over, function() return ~old.r end)
refuses(over, function() return old.r.type end)
refuses(over, function() return old.buffer.bytes end)
check.equal({ tostring(old.r), tostring(old.list), tostring(old.k) }, { "register of kernel first", "4 registers of kernel first", "builder of kernel first" })
local other = "a register or buffer of kernel first is used in kernel k"
in_kernel(other, function(k) return k:reg "u32" + old.r end)
in_kernel(other, function(k) k:mov(old.r, 1) end)
in_kernel(other, function(k) k:ld_global_v4_f32(old.list, k:reg "u64") end)
in_kernel(other, function(k) k:ld_global_v2_f32({ old.r, old.r }, k:reg "u64") end)
in_kernel(other, function(k) k:mov(old.buffer, { type = "u32" }) end)
in_kernel(other, function(k) k:mov(k:reg "u32", 1, { guard = old.p }) end)
in_kernel(other, function(k) k:reg "pred" k:if_(old.p, nothing) end)
in_kernel(other, function(k) k:begin_loop() k:loop_condition(old.p) end)
in_kernel("a register or buffer of kernel k is used in kernel inner", function(k) local r = k:reg "u32" wg.kernel("inner", {}, function(j) j:mov(r, 1) end) end)

-- A kernel whose function failed leaves nothing behind: the next one is as if it were the first.
check.equal(#wg.kernel("k", {}, nothing):check(), 0)
