-- k:asm: inline PTX, its effects, and its meaning on the simulator.
local check = require "check"
local wg = require "wgrun"
local in_kernel = check.refuses_in_kernel

-- d = f(k, x) of 32 numbers, on the simulator.
local function compute(f)
  local kernel = wg.kernel("inline", { threads = 32 }, function(k)
    local X, D, i = k:param("X", "const u32*"), k:param("D", "u32*"), k:special "tid.x"
    k:st_global_u32(k:element(D, i), f(k, k:ld_global_u32(k:element(X, i)), i))
  end)
  local D = wg.zeros("u32", 32)
  return kernel, D, function() kernel:run { args = { wg.arange("u32", 32), D }, backend = "sim" } return D:totable() end
end
local function byte_reverse(k, x)
  return (x << 24) | ((x & 0xFF00) << 8) | ((x >> 8) & 0xFF00) | (x >> 24)
end

-- With a meaning it runs, and the texts hold it once.
local kernel, _, run = compute(function(k, x)
  return k:asm {
    "prmt.b32 %d, %a, 0, 0x0123;", out = { d = "u32" }, inputs = { a = x }, effects = "none",
    meaning = function(k, v) return byte_reverse(k, v.a) end,
  }
end)
check.equal(kernel:check(), {})
local result = run()
for i = 0, 31 do check.equal(result[i + 1], i << 24) end
local ptx, cuda = kernel:ptx(), kernel:cuda()
assert(ptx:find "prmt%.b32 %%r%d+, %%r%d+, 0, 0x0123;" and not ptx:find "shl", ptx)
assert(cuda:find('asm("prmt.b32 %0, %1, 0, 0x0123;" : "=r"', 1, true) and not cuda:find "<<", cuda) -- no effects: the compiler may move it

-- Several statements have a scope of their own; several results come by name; inout reads and writes.
kernel, _, run = compute(function(k, x, i)
  local sum = k:mov(5, { type = "u32" })
  local r = k:asm {
    ".reg .b32 t; add.u32 t, %a, %b; add.u32 %sum, %sum, t; sub.u32 %low, %a, 1; mov.u32 %high, t;",
    out = { low = "u32", high = "u32" }, inputs = { a = x, b = i }, inout = { sum = sum }, effects = "none",
    meaning = function(k, v) return { sum = v.sum + v.a + v.b, low = v.a - 1, high = v.a + v.b } end,
  }
  return sum + r.high * 1000 + (r.low & 0) -- 5 + 2 i + 2000 i
end)
result = run()
for i = 0, 31 do check.equal(result[i + 1], 5 + 2002 * i) end
assert(kernel:ptx():find "{%s+%.reg %.b32 t; add%.u32 t,", kernel:ptx())
assert(kernel:cuda():find('asm("{', 1, true))

-- Special registers, buffers, predicates, guards.
kernel, _, run = compute(function(k, x, i)
  local s = k:shared { bytes = 128, align = 16, name = "s" }
  local p = i:lt(4)
  local lane = k:asm { "mov.u32 %d, %laneid;", out = { d = "u32" }, effects = "none", meaning = function(k) return k:special "laneid" end }
  k:asm { "st.shared.u32 [%s], %x;", inputs = { s = s, x = x }, effects = "writes", guard = p }
  k:asm { "bar.warp.sync 0xffffffff;", effects = { "barrier", "reads", "writes" } }
  local q = k:asm { "setp.lt.u32 %q, %a, 7;", out = { q = "pred" }, inputs = { a = i }, effects = "none", meaning = function(k, v) return v.a:lt(7) end }
  return k:selp(lane, 0, q)
end)
assert(kernel:ptx():find "@%%p%d+ st%.shared%.u32 %[wgrun_shared%+0%], %%r%d+;", kernel:ptx())
assert(kernel:cuda():find 'asm volatile%("bar%.warp%.sync 0xffffffff;" :  :  : "memory"%)', kernel:cuda())
-- Without a meaning the simulator refuses it, at its line.
local good, e = pcall(run)
assert(not good and e.message:find("the simulator does not know what inline PTX does", 1, true) and e.fix:find "meaning", tostring(e))
assert(e.line and e.file:find "asm.lua")

-- What is not declared is not known.
kernel = compute(function(k, x) return k:asm { "brev.b32 %d, %a;", out = { d = "u32" }, inputs = { a = x } } end)
local findings = kernel:check()
check.equal({ #findings, findings[1].rule, findings[1].severity, findings[1].line }, { 1, "WG-ASM-01", "warning", check.line() - 2 })
assert(kernel:cuda():find("asm volatile", 1, true))

-- A newer PTX ISA where the text wants it.
kernel = compute(function(k, x) return k:asm { "mov.b32 %d, %a;", out = { d = "u32" }, inputs = { a = x }, effects = "none", isa = "8.6" } end)
assert(kernel:ptx():find("\n.version 8.6", 1, true))

-- Refused.
in_kernel("k:asm: the text comes first: k:asm{ \"...;\", out = ... }, got nil", function(k) k:asm { out = { d = "u32" } } end)
in_kernel("asm: the text has no statement", function(k) k:asm { " ; " } end)
in_kernel("asm: %other is no operand", function(k) k:asm { "mov.u32 %d, %other;", out = { d = "u32" } } end)
in_kernel("asm: %inptu is no operand: did you mean `input`?", function(k) k:asm { "mov.u32 %d, %inptu;", out = { d = "u32" }, inputs = { input = k:reg "u32" } } end)
in_kernel("asm: the text does not name operand %a", function(k) k:asm { "mov.u32 %d, 1;", out = { d = "u32" }, inputs = { a = k:reg "u32" } } end)
in_kernel("asm, a: expected a register or a shared buffer, got number 1", function(k) k:asm { "mov.u32 %d, %a;", out = { d = "u32" }, inputs = { a = 1 } } end)
in_kernel("asm, d: expected a register or the type of one, got string \"float\"", function(k) k:asm { "mov.u32 %d, 1;", out = { d = "float" } } end)
in_kernel("k:asm: two operands are called `d`", function(k) k:asm { "mov.u32 %d, 1;", out = { d = "u32" }, inputs = { d = k:reg "u32" } } end)
in_kernel("k:asm: unknown effect `memory` (legal: none, reads, writes, barrier)", function(k) k:asm { "membar.gl;", effects = "memory" } end)
in_kernel("k:asm: option `inputs`: operands need names, as in { d = register }, got 1", function(k) k:asm { "x %a;", inputs = { k:reg "u32" } } end)
in_kernel("k:asm: `meaning` returns no value for `d`", function(k) k:asm { "mov.u32 %d, 1;", out = { d = "u32" }, meaning = function() return {} end } end)
in_kernel("k:asm: `guard` applies to one instruction, and the text has several", function(k) k:asm { "mov.u32 %d, 1; mov.u32 %d, 2;", out = { d = "u32" }, guard = k:reg "pred" } end)
in_kernel("k:asm: option `isa`: expected a version of the PTX ISA, such as \"8.6\", got \"new\"", function(k) k:asm { "exit;", isa = "new" } end)
in_kernel("`meaning` of k:asm must be straight-line code, without loops and branches", function(k) k:asm { "mov.u32 %d, 1;", out = { d = "u32" }, meaning = function(k) k:loop(2, print) end } end)
in_kernel("`meaning` of k:asm must be straight-line code, without guards", function(k) k:asm { "mov.u32 %d, 1;", out = { d = "u32" }, meaning = function(k) return k:mov(k:reg "u32", 1, { guard = k:reg "pred" }) end } end)

-- What the text holds stays within its statement, in both languages.
local function asm(text, more)
  return wg.kernel("text", { threads = 32 }, function(k)
    local opts = { text, effects = { "reads", "writes", "barrier" } }
    for name, value in pairs(more or {}) do opts[name] = value end
    k:asm(opts)
  end)
end
kernel = asm '.pragma "nounroll";'
assert(kernel:ptx():find('\n    .pragma "nounroll";\n', 1, true), kernel:ptx())
assert(kernel:cuda():find('asm volatile(".pragma \\"nounroll\\";"', 1, true), kernel:cuda())
kernel = asm '.pragma "a\\\\b";'
assert(kernel:cuda():find('asm volatile(".pragma \\"a\\\\\\\\b\\";"', 1, true), kernel:cuda())
-- Comments are left out, so that what they hold (quotes, braces, semicolons) is no text.
kernel = asm 'membar.gl; // "}" \\ ;\n /* }" : ); } */'
assert(kernel:ptx():find("\n    membar.gl;\n", 1, true) and not kernel:cuda():find('}"', 1, true), kernel:cuda())
in_kernel("asm: the text has a } without its {", function(k) k:asm { "membar.gl; } .entry other() {" } end)
in_kernel("asm: the text has a { without its }", function(k) k:asm { "{ membar.gl;" } end)
in_kernel("asm: the text has a comment without its end", function(k) k:asm { "membar.gl; /* */ /*" } end)
in_kernel("asm: the text has a string without its end", function(k) k:asm { '.pragma "a\n";' } end)
in_kernel("asm: the text has a string that ends with a backslash", function(k) k:asm { '.pragma "a\\";' } end)
in_kernel("asm: the text has a control character", function(k) k:asm { "membar.gl;\0" } end)
in_kernel("asm: a text of 1048577 bytes: 1048576 are possible", function(k) k:asm { ("x"):rep((1 << 20) + 1) } end)

-- The texts of one kernel are none of another's: there is no store of the process that they could fill.
for i = 1, 300 do asm("membar.gl; " .. ("mov.u32 %d, 1; "):rep(2000) .. "mov.u32 %d, " .. i .. ";", { out = { d = "u32" } }) end
