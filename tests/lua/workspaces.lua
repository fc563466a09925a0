-- What the kernels of several launches hand to each other: a host may ask for launches of other sizes in between, and each size keeps its own.
local wg = require "wgrun"

-- Of a maker's object: the launches of one size have the same tensors again after those of another size.
local function kept(name, made, of_size)
  local one, two = of_size(64), of_size(130)
  local first = made:launches(table.unpack(one))
  made:launches(table.unpack(two))
  for i, launch in ipairs(made:launches(table.unpack(one))) do
    for j, argument in ipairs(launch[2].args) do
      assert(rawequal(argument, first[i][2].args[j]), ("%s: launch %d, argument %d"):format(name, i, j))
    end
  end
end

local function zeros(...) return wg.zeros("bf16", { ... }) end
local function gates(...) return wg.zeros("f32", { ... }) end

kept("ssd", wg.ssd { heads = 1, segments = 2, packed = true }, function(length)
  local x, B, batch = zeros(length, 1, 64), zeros(length, 1, 128), length // 64
  local starts = wg.zeros("s32", { batch + 1 })
  return { x, gates(length, 1), gates(1), B, B, x, { starts = starts } }
end)
kept("ssd_backward", wg.ssd_backward { heads = 1 }, function(length)
  local x, B, dt, A = zeros(1, length, 1, 64), zeros(1, length, 1, 128), gates(1, length, 1), gates(1)
  return { { x = x, dy = x, dx = x, B = B, C = B, dB = B, dC = B, dt = dt, ddt = dt, A = A, dA = A } }
end)
kept("delta_rule", wg.delta_rule { heads = 1, segments = 2, packed = true }, function(length)
  local q, g, starts = zeros(length, 1, 128), gates(length, 1), wg.zeros("s32", { length // 64 + 1 })
  return { q, q, q, q, { g = g, beta = g, starts = starts } }
end)
kept("delta_rule_backward", wg.delta_rule_backward { heads = 1 }, function(length)
  local q, g = zeros(1, length, 1, 128), gates(1, length, 1)
  return { { Q = q, K = q, V = q, dO = q, dQ = q, dK = q, dV = q, g = g, beta = g, dg = g, dbeta = g } }
end)
kept("attention_backward", wg.attention_backward { dim = 64 }, function(length)
  local q, lse = zeros(1, length, 1, 64), gates(1, 1, length)
  return { { Q = q, K = q, V = q, O = q, dO = q, dQ = q, dK = q, dV = q, lse = lse } }
end)
