-- What wg.gemm costs before it runs: wgrun gemm.lua. Medians of milliseconds of processor time: the script's part, the
-- static checker, the PTX text; on a GPU also the driver's assembler, for kernels that no cache knows.
local wg = require "wgrun"

local function median(times)
  table.sort(times)
  return times[(#times + 1) // 2] * 1e3
end

local function timed(list, call)
  local start = os.clock()
  local result = call()
  list[#list + 1] = os.clock() - start
  return result
end

local function bench(name, options)
  local trace, check, ptx = {}, {}, {}
  for _ = 1, 41 do
    local gemm = timed(trace, function() return wg.gemm(options) end)
    assert(#timed(check, function() return gemm.kernel:check() end) == 0)
    timed(ptx, function() return gemm.kernel:ptx() end)
  end
  local line = ("wg.gemm %-22s trace %.2f, check %.2f, ptx %.2f ms"):format(name, median(trace), median(check), median(ptx))
  if wg.backend ~= "sim" then
    local first, again = {}, {}
    local A, B = wg.randn { shape = { 256, 256 }, dtype = "bf16" }, wg.randn { shape = { 256, 256 }, dtype = "bf16" }
    local D = wg.zeros("bf16", { 256, 256 })
    for i = 1, 11 do
      options.name = ("gemm_%d_%d"):format(os.time(), i)
      local gemm = wg.gemm(options)
      local given = options.epilogue and { C = D, bias = wg.zeros("f32", { 256 }) } or {}
      timed(first, function() return gemm:prepare(A, B, D, given) end)
      timed(again, function() return gemm:prepare(A, B, D, given) end)
    end
    line = ("%s; prepare %.1f, once more %.1f ms"):format(line, median(first), median(again))
  end
  print(line)
end

bench("128x256", { tile = { 128, 256 } })
bench("128x192, ping-pong", { tile = { 128, 192 }, schedule = "pingpong" })
bench("192x192", { tile = { 192, 192 } })
bench("128x128", { tile = { 128, 128 } })
bench("64x128", { tile = { 64, 128 } })
bench("128x256, stream-K", { tile = { 128, 256 }, stream_k = true })
bench("128x256, an epilogue", { tile = { 128, 256 }, epilogue = { alpha = true, beta = true, bias = "column", activation = "gelu" } })
