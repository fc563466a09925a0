-- The derivative of a function that emits arithmetic on registers, by dual numbers (Clifford 1873; Griewank and Walther
-- 2008, forward mode). The function is called with stand-ins for the builder and for its registers: each register goes
-- with its slope, and each instruction that is emitted is followed by those of its slope. Slopes that are constants
-- stay numbers of Lua's: most instructions need none.

local arguments = require "wgrun.arguments"
local native = require "wgrun.native"

local module = {}

-- A stand-in for a register: k, the builder; value, a register or a number; slope: an f32 register, a number, or nil
-- for 0; what: the function's name, for messages.
local dual = {}

local function value_of(x) return getmetatable(x) == dual and rawget(x, "value") or x end
local function slope_of(x) return getmetatable(x) == dual and rawget(x, "slope") or nil end

-- Sums and products of slopes.
local function plus(k, a, b)
  if a == nil or b == nil then return a or b end
  if type(a) == "number" then a, b = b, a end
  if type(a) == "number" then return a + b end
  return k:add(a, b)
end
local function times(k, slope, factor)
  if slope == nil or factor == 1 then return slope end
  if slope == 1 then return factor end
  if type(slope) == "number" then slope, factor = factor, slope end
  if type(slope) == "number" then return slope * factor end
  return k:mul(slope, factor)
end
local function minus(k, slope) return times(k, slope, -1.0) end

-- One of two slopes.
local function either(k, a, b, condition)
  if rawequal(a, b) then return a end
  local function register(x) return type(x) == "userdata" and x or k:mov((x or 0) + 0.0, { type = "f32" }) end
  return k:selp(register(a), register(b), condition)
end

local function compared(k, a, relation, b)
  if type(a) == "number" then a = k:mov(a + 0.0, { type = "f32" }) end
  return a[relation](a, b)
end

-- By the first word of an instruction's name: the number of its operands, and the slope of its result y, of the values
-- x and the slopes d of these.
local rules = {
  add = { 2, function(k, d) return plus(k, d[1], d[2]) end },
  sub = { 2, function(k, d) return plus(k, d[1], minus(k, d[2])) end },
  mul = { 2, function(k, d, x) return plus(k, times(k, d[1], x[2]), times(k, d[2], x[1])) end },
  fma = { 3, function(k, d, x) return plus(k, plus(k, times(k, d[1], x[2]), times(k, d[2], x[1])), d[3]) end },
  div = { 2, function(k, d, x, y)
    local inverse = type(x[2]) == "number" and 1.0 / x[2] or k:rcp_approx(x[2])
    return times(k, plus(k, d[1], minus(k, times(k, d[2], y))), inverse)
  end },
  neg = { 1, function(k, d) return minus(k, d[1]) end },
  mov = { 1, function(_, d) return d[1] end },
  abs = { 1, function(k, d, x) return either(k, d[1], minus(k, d[1]), compared(k, x[1], "ge", 0.0)) end },
  min = { 2, function(k, d, x) return either(k, d[1], d[2], compared(k, x[1], "le", x[2])) end },
  max = { 2, function(k, d, x) return either(k, d[1], d[2], compared(k, x[1], "ge", x[2])) end },
  selp = { 3, function(k, d, x) return either(k, d[1], d[2], x[3]) end },
  ex2 = { 1, function(k, d, _, y) return times(k, d[1], k:mul(y, math.log(2))) end },
  lg2 = { 1, function(k, d, x) return times(k, d[1], k:mul(k:rcp_approx(x[1]), 1 / math.log(2))) end },
  tanh = { 1, function(k, d, _, y) return times(k, d[1], k:fma(k:neg(y), y, 1.0)) end },
  rcp = { 1, function(k, d, _, y) return times(k, d[1], k:neg(k:mul(y, y))) end },
  sqrt = { 1, function(k, d, _, y) return times(k, d[1], k:mul(k:rcp_approx(y), 0.5)) end },
  rsqrt = { 1, function(k, d, _, y) return times(k, d[1], k:mul(k:mul(y, -0.5), k:mul(y, y))) end },
  sin = { 1, function(k, d, x) return times(k, d[1], k:cos_approx(x[1])) end },
  cos = { 1, function(k, d, x) return times(k, d[1], k:neg(k:sin_approx(x[1]))) end },
}

local function made(of, value, slope)
  return setmetatable({ k = of.k, what = of.what, value = value, slope = slope }, dual)
end

-- Results of an instruction without a slope.
local function constants(of, ...)
  local out = table.pack(...)
  for i = 1, out.n do
    if arguments.describe(out[i]) == "wgrun.reg" then out[i] = made(of, out[i]) end
  end
  return table.unpack(out, 1, out.n)
end

-- Emits an instruction, called `name` in messages, by emit(operands...): and, if one of these has a slope, that of the
-- result. of: has k and what.
local function apply(of, name, emit, ...)
  local n, x, d, sloped = select("#", ...), table.pack(...), {}, false
  for i = 1, n do
    d[i] = slope_of(x[i])
    x[i], sloped = value_of(x[i]), sloped or d[i] ~= nil
  end
  if not sloped then return constants(of, emit(table.unpack(x, 1, n))) end
  local rule = rules[name:match "^[^_]+"]
  local options = n > 1 and type(x[n]) == "table" and x[n] or nil
  if not rule or n - (options and 1 or 0) ~= rule[1] or options and options.guard then
    native.fail(("%s: no derivative of %s is known%s: give `score_slope`"):format(
      of.what, name, rule and " with a destination or a guard" or ""))
  end
  local y = emit(table.unpack(x, 1, n))
  return made(of, y, rule[2](of.k, d, x, y))
end

local relations = { eq = true, ne = true, lt = true, le = true, gt = true, ge = true, same = true }

-- The fields of a register. Comparisons have no slope; what writes a register has none that would be known.
function dual.__index(self, key)
  local member = self.value[key]
  if type(member) ~= "function" then return member end
  return function(_, ...)
    if not relations[key] then return apply(self, "reg:" .. key, member, self, ...) end
    local other = table.pack(...)
    for i = 1, other.n do other[i] = value_of(other[i]) end
    return constants(self, member(self.value, table.unpack(other, 1, other.n)))
  end
end

for name, operator in pairs {
  add = function(a, b) return a + b end, sub = function(a, b) return a - b end, mul = function(a, b) return a * b end,
  div = function(a, b) return a / b end, idiv = function(a, b) return a // b end, mod = function(a, b) return a % b end,
  band = function(a, b) return a & b end, bor = function(a, b) return a | b end, bxor = function(a, b) return a ~ b end,
  shl = function(a, b) return a << b end, shr = function(a, b) return a >> b end, unm = function(a) return -a end,
  bnot = function(a) return ~a end,
} do
  local instruction, unary = name == "unm" and "neg" or name, name == "unm" or name == "bnot"
  dual["__" .. name] = function(a, b)
    local of = getmetatable(a) == dual and a or b
    if unary then return apply(of, instruction, operator, a) end
    return apply(of, instruction, operator, a, b)
  end
end

--- Calls f(k, x, at), where `at` is a table of registers, and of tables of them, and returns its result and the
--- result's slope by x: an f32 register, a number, or nil for 0. what: its name, for messages.
function module.of(k, what, f, x, at)
  local of = { k = k, what = what }
  local builder = setmetatable({}, { __index = function(_, name)
    local member = k[name]
    if type(member) ~= "function" then return member end
    return function(_, ...) return apply(of, name, function(...) return member(k, ...) end, ...) end
  end })
  local function constant(registers)
    return setmetatable({}, { __index = function(_, name)
      local one = registers[name]
      if one == nil then return nil end
      return type(one) == "table" and constant(one) or made(of, one)
    end })
  end
  local y = f(builder, made(of, x, 1), constant(at))
  return value_of(y), slope_of(y)
end

return module
