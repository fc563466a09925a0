-- Registers: what operators make of them (looked up in the PTX and run), and what they refuse.
local check = require "check"
local wg = require "wgrun"
local in_kernel = check.refuses_in_kernel

-- out[i] = f(k, a[i], b[i]) on the simulator.
local function compute(type, a, b, f, result)
  result = result or type
  local kernel = wg.kernel("k", { threads = #a }, function(k)
    local A, B, D = k:param("A", "const " .. type .. "*"), k:param("B", "const " .. type .. "*"), k:param("D", result .. "*")
    local i = k:special "tid.x"
    local x = k["ld_global_" .. type](k, k:element(A, i))
    local y = k["ld_global_" .. type](k, k:element(B, i))
    k["st_global_" .. result](k, k:element(D, i), f(x, y, k))
  end)
  local D = wg.zeros(result, #a)
  kernel:run { args = { wg.tensor(type, #a, a), wg.tensor(type, #b, b), D } }
  return D:totable(), kernel:ptx()
end
local function has(text, ...) for _, line in ipairs { ... } do assert(text:find(line, 1, true), line .. " is not in\n" .. text) end end

-- Integers.
local a, b = { 7, -7, 12, 1 }, { 2, 2, -5, 3 }
check.equal(compute("s32", a, b, function(x, y) return x + y end), { 9, -5, 7, 4 })
check.equal(compute("s32", a, b, function(x, y) return x - y end), { 5, -9, 17, -2 })
check.equal(compute("s32", a, b, function(x, y) return x * y end), { 14, -14, -60, 3 })
check.equal(compute("s32", a, b, function(x, y) return x // y end), { 3, -3, -2, 0 }) -- PTX truncates
check.equal(compute("s32", a, b, function(x, y) return x % y end), { 1, -1, 2, 1 })
check.equal(compute("s32", a, b, function(x) return -x end), { -7, 7, -12, -1 })
check.equal(compute("s32", a, b, function(x) return x >> 1 end), { 3, -4, 6, 0 })
check.equal(compute("u32", { 0xF0, 1 }, { 0x3C, 3 }, function(x, y) return x & y end), { 0x30, 1 })
check.equal(compute("u32", { 0xF0, 1 }, { 0x3C, 3 }, function(x, y) return x | y end), { 0xFC, 3 })
check.equal(compute("u32", { 0xF0, 1 }, { 0x3C, 3 }, function(x, y) return x ~ y end), { 0xCC, 2 })
check.equal(compute("u32", { 0xF0, 1 }, { 4, 31 }, function(x, y) return x << y end), { 0xF00, 0x80000000 })
check.equal(compute("u32", { 0, 1 }, { 0, 0 }, function(x) return ~x end), { 0xFFFFFFFF, 0xFFFFFFFE })
-- A number stands on either side; it takes the register's type.
check.equal(compute("s32", a, b, function(x) return 1 - x end), { -6, 8, -11, 0 })
check.equal(compute("s32", a, b, function(x) return 2 * x + 1 end), { 15, -13, 25, 3 })
-- Floats: both divisions are div.
check.equal(compute("f32", { 1, 9 }, { 4, -2 }, function(x, y) return x / y end), { 0.25, -4.5 })
check.equal(compute("f32", { 1, 9 }, { 4, -2 }, function(x, y) return (x - y) * 0.5 end), { -1.5, 5.5 })

-- One operator, one instruction.
local _, text = compute("u32", { 1 }, { 2 }, function(x, y) return (x + y) ~ (x << 3) end)
has(text, "add.u32", "shl.b32", "xor.b32")

-- Comparisons give predicates, ~ negates them at no cost, & and | combine them, guards take them.
local function select(f) return function(x, y, k) return k:selp(1, 0, f(x, y), { type = "u32" }) end end
local left, right = { 1, 2, 3 }, { 2, 2, 2 }
for name, want in pairs { lt = { 1, 0, 0 }, le = { 1, 1, 0 }, gt = { 0, 0, 1 }, ge = { 0, 1, 1 }, eq = { 0, 1, 0 }, ne = { 1, 0, 1 } } do
  check.equal(compute("u32", left, right, select(function(x, y) return x[name](x, y) end)), want)
end
check.equal(compute("u32", left, right, select(function(x, y) return x:lt(y) | x:eq(3) end)), { 1, 0, 1 })
check.equal(compute("u32", left, right, select(function(x, y) return ~x:lt(y) & x:lt(3) end)), { 0, 1, 0 })
check.equal(compute("u32", left, right, function(x, y, k)
  k:mov(x, 10, { guard = x:lt(y) })
  k:mov(x, 30, { guard_not = x:le(10) })
  k:mov(x, 20, { guard = ~x:ne(2) })
  return x
end), { 10, 20, 3 })
check.equal(compute("u32", left, right, function(x, y, k)
  k:if_(x:lt(y), function() x:set(7) end, function() k:if_(~x:eq(2), function() x:set(9) end) end)
  return x
end), { 7, 2, 9 })

-- What a register is.
wg.kernel("k", {}, function(k)
  local r, p, list = k:reg "u32", k:reg "pred", k:regs("f32", 4)
  check.equal({ r.type, p.type, list[3].type, #list, #list:slice(1, 2) }, { "u32", "pred", "f32", 4, 2 })
  check.equal({ r.pointee, k:param("A", "const bf16*").pointee }, { nil, "bf16" })
  assert(list[1] == list:slice(1, 2)[0] and not list[1]:same(list[2]) and not p:same(~p) and p == ~~p and p:same(p))
  assert(tostring(~p):find("^!register %d+ %(pred%) of kernel k$"))
end)

-- Refused.
local any = "a register, a list of registers, a number or a shared buffer"
in_kernel("unknown register type `x32` (pred, b16, b32, u32, s32, f32, b64, u64, s64, f64, ...)", function(k) k:reg "x32" end)
in_kernel("bad argument #1 to `reg`: expected a string, got nothing", function(k) k:reg() end)
in_kernel("bad argument #2 to `regs`: expected an integer, got nothing", function(k) k:regs "f32" end)
in_kernel("an array of 0 registers: 1 to 1024 are possible", function(k) k:regs("f32", 0) end)
in_kernel("an array of 1099511627776 registers: 1 to 1024 are possible", function(k) k:regs("f32", 1 << 40) end)
in_kernel("an array of 4 registers is indexed from 0 to 3, not with number 4", function(k) return k:regs("f32", 4)[4] end)
in_kernel("an array of 4 registers is indexed from 0 to 3, not with number -1", function(k) return k:regs("f32", 4)[-1] end)
in_kernel("an array of 4 registers is indexed from 0 to 3, not with number 1.5", function(k) return k:regs("f32", 4)[1.5] end)
in_kernel("an array of registers has no `x`", function(k) return k:regs("f32", 4).x end)
in_kernel("an array of registers cannot be assigned to (at number 1): k:mov(regs[i], value) writes a register", function(k) k:regs("f32", 4)[1] = 1 end)
in_kernel("slice of 2 registers from 3: the array has 4", function(k) k:regs("f32", 4):slice(3, 2) end)
in_kernel("slice of 9223372036854775807 registers from 1: the array has 4", function(k) k:regs("f32", 4):slice(1, math.maxinteger) end)
in_kernel("add, operand: expected " .. any .. ", got nil", function(k) return k:reg "u32" + nil end)
in_kernel("add, operand: expected " .. any .. ", got string \"1\"", function(k) return "1" + k:reg "u32" end)
in_kernel("add, operand: expected " .. any .. ", got the builder", function(k) return k:reg "u32" + k end)
in_kernel("add, operand b: an integer of type u32 is expected, not 1.5", function(k) return k:reg "u32" + 1.5 end)
in_kernel("add, operand b: 8589934592 does not fit u32", function(k) return k:reg "u32" + (1 << 33) end)
in_kernel("add, operand b: register of type f32 where a u32 register is expected", function(k) return k:reg "u32" + k:reg "f32" end)
in_kernel("a u64 register (64 bits) and one of u32 (32 bits) cannot be added: registers are not converted", function(k) return k:reg "u32" + k:reg "u64" end)
in_kernel("rem, operand a: takes no register of type f32", function(k) return k:reg "f32" % 2 end)
in_kernel("add, operand a: takes no register of type pred", function(k) return k:reg "pred" + 1 end)
in_kernel("setp, operand: expected " .. any .. ", got nil", function(k) return k:reg "u32":lt() end)
in_kernel("mov, operand d: register of type u32 where an f64 register is expected", function(k) k:reg "u32":set(k:reg "f64") end)
in_kernel("registers are compared by a:lt(b), le, gt, ge, eq and ne, which give predicates", function(k) return k:reg "u32" < k:reg "u32" end)
in_kernel("registers are compared by a:lt(b), le, gt, ge, eq and ne, which give predicates", function(k) return k:reg "u32" >= 1 end)
in_kernel("the condition of a loop cannot be a negated predicate: compute it with setp", function(k) k:begin_loop() k:loop_condition(~k:reg "pred") end)
