-- Activations: functions of an f32 element. The special function unit computes a value for a warp in the time of eight
-- other instructions, and one warp of an SM partition often has the epilogue to itself, so that each instruction
-- counts.

local native = require "wgrun.native"

local module = {}

local fail = native.fail

-- 1 / (1 + 2 ** -(x * log2(e))): two approximations of the special function unit, each to about 2^-22.
local function sigmoid(k, x) return k:rcp_approx_ftz(k:add(k:ex2_approx_ftz(k:mul(x, -1.4426950408889634)), 1.0)) end

-- 0.5 x (1 + tanh(u)) = x sigmoid(2 u), with u = sqrt(2 / pi) (x + 0.044715 x^3)
local function gelu(k, x)
  return k:mul(x, sigmoid(k, k:mul(x, k:fma(k:mul(x, x), 0.07135481627260025, 1.5957691216057308))))
end

-- The same by tanh.approx, to about 2^-11 of x, which is less than rounding to bf16 makes where x > 0.
local function coarse_gelu(k, x)
  local half = k:mul(x, 0.5)
  return k:fma(half, k:tanh_approx(k:mul(x, k:fma(k:mul(x, x), 0.035677408136300125, 0.7978845608028654))), half)
end

--- Activations by name: f(k, x) computes a new f32 register. gelu is the tanh approximation, as in cuBLASLt.
local activations = {
  relu = function(k, x) return k:max(x, 0.0) end,
  sigmoid = sigmoid,
  silu = function(k, x) return k:mul(x, sigmoid(k, x)) end,
  tanh = function(k, x) return k:fma(sigmoid(k, k:mul(x, 2.0)), 2.0, -1.0) end,
  gelu = gelu,
}
local coarse = { gelu = coarse_gelu } -- for a D of bf16 or 8 bits

--- The activation of that name, or the function itself. `takes`: what a function gets, for the message; `dtype`: what
--- its values are rounded to.
function module.named(what, given, takes, dtype)
  if type(given) == "function" then return given end
  local known = {}
  for name in pairs(activations) do known[#known + 1] = name end
  table.sort(known)
  if dtype and dtype ~= "f32" and dtype ~= "f16" and coarse[given] then return coarse[given] end
  return activations[given]
    or fail(("%s `%s` (legal: %s, or a function of k and %s)"):format(
      what, tostring(given), table.concat(known, ", "), takes or "an f32 register"))
end

return module
