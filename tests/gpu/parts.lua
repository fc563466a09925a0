-- Kernels put together from the library's public parts, beside the library's own: wgrun tests/gpu/parts.lua
-- Each row: medians of microseconds of both, measured in turn, and their ratio. Without a GPU: nothing.
local wg = require "wgrun"
if not wg.device() then return print "skipped: no device" end

local turns <const> = 7

local function median(list)
  table.sort(list)
  return list[#list // 2 + 1]
end

-- Measures all in turn; the first is what the others are compared with.
local function row(name, list)
  local times = {}
  for _ = 1, turns do
    for i, one in ipairs(list) do
      times[i] = times[i] or {}
      table.insert(times[i], one.time().median_us)
    end
  end
  local base = median(times[1])
  for i = 2, #list do
    local us = median(times[i])
    print(("%-44s %-10s %9.1f us  %-14s %9.1f us  speed %.3f"):format(name, list[1].name, base, list[i].name, us, base / us))
  end
end

-- A product whose epilogue is the caller's: k:epilogue with a function of one's own.
local function swish(k, x) return x * k:rcp_approx_ftz_f32(k:ex2_approx_ftz_f32(x * -1.4426950408889634) + 1.0) end

local function stored(shape)
  local panel = wg.panel { dtype = "bf16", n = 256 }
  local loop = wg.mainloop.dense {
    dtype = "bf16", tile = { 128, 256, 64 }, constant = "B", shared = 2 * panel.bytes, cluster = 2,
  }
  local kernel = wg.kernel("stored", { threads = loop.threads, cluster = { loop.cluster } }, function(k)
    loop:parameters(k)
    local D = k:tensor_map("D", panel.box)
    local out = k:shared { bytes = 2 * panel.bytes, align = panel.align, name = "D" }
    loop:emit(k, { epilogue = function(me)
      return k:epilogue {
        panel = panel, map = D, buffer = out, offset = me.number * panel.bytes, barrier = me.barrier, activation = swish,
      }
    end })
  end)
  local M, N, K = table.unpack(shape)
  local A = wg.randn { shape = { M, K }, dtype = "bf16", seed = 1 }
  local B = wg.randn { shape = { N, K }, dtype = "bf16", seed = 2 }
  local D, E = wg.zeros("bf16", { M, N }), wg.zeros("bf16", { M, N })
  local launch = loop:launch(kernel, A, B)
  launch.args[#launch.args + 1] = E
  local flops = launch.flops
  launch.flops = nil
  kernel:run(launch)
  launch.flops = flops
  local gemm = wg.gemm {
    dtype = "bf16", d = "bf16", tile = { 128, 256, 64 }, cluster = 2, constant = "B", epilogue = { activation = swish },
  }
  gemm:run(A, B, D)
  local differ = 0
  for i = 0, M - 1, 97 do
    for j = 0, N - 1, 89 do differ = differ + (D[{ i, j }] == E[{ i, j }] and 0 or 1) end
  end
  local name = ("product %dx%dx%d"):format(M, N, K)
  print(("%s: %d of the samples differ"):format(name, differ))
  row(name, {
    { name = "wg.gemm", time = function() return gemm:time(A, B, D) end },
    { name = "own parts", time = function() return kernel:time(launch) end } })
end

local function scored(shape)
  local b, s, h, d = table.unpack(shape)
  local function random(seed) return wg.randn { shape = { b, s, h, d }, dtype = "bf16", seed = seed } end
  local Q, K, V, O = random(1), random(2), random(3), wg.zeros("bf16", { b, s, h, d })
  local function timed(options)
    options.dim, options.heads = d, h
    local attention = wg.attention(options)
    return function() return attention:time(Q, K, V, O) end
  end
  local name = ("attention %dx%dx%dx%d"):format(b, s, h, d)
  row(name, {
    { name = "plain", time = timed {} },
    { name = "score: x", time = timed { score = function(_, x) return x end } },
    { name = "score: bias", time = timed { score = function(k, x, at)
      return k:fma(0.125, at.distance, x)
    end } } })
  row(name, {
    { name = "softcap", time = timed { softcap = 30 } },
    { name = "score: cap", time = timed { score = function(k, x)
      return k:tanh_approx_f32(x * (1 / 30)) * 30
    end } } })
  local function causal()
    return {
      mask = function(_, at) return at.key:le(at.place) end,
      block_mask = function(_, block) return block.first_key:le(block.last_place), block.last_key:le(block.first_place) end,
    }
  end
  row(name, { { name = "causal", time = timed { causal = true } }, { name = "mask: causal", time = timed(causal()) } })
  local t = { Q = Q, K = K, V = V, O = O, dO = random(4), lse = wg.zeros("f32", { b, h, s }) }
  for _, gradient in ipairs { "dQ", "dK", "dV" } do t[gradient] = wg.zeros("bf16", { b, s, h, d }) end
  wg.attention({ dim = d, heads = h, causal = true, lse = true }):run(Q, K, V, O, { lse = t.lse })
  local function gradients(options)
    options.dim, options.heads = d, h
    local backward = wg.attention_backward(options)
    return function() return backward:time(t) end
  end
  row("gradients of " .. name, {
    { name = "causal", time = gradients { causal = true } }, { name = "mask: causal", time = gradients(causal()) } })
end

for _, shape in ipairs { { 8192, 8192, 4096 }, { 4096, 4096, 4096 }, { 2048, 4096, 7168 } } do stored(shape) end
for _, shape in ipairs { { 2, 8192, 16, 128 }, { 4, 4096, 16, 64 } } do scored(shape) end
