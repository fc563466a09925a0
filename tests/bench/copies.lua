-- GB/s between a tensor and the device: wgrun [--gpu=process] copies.lua. The first copy, the second (a worker makes the
-- tensor's memory known to the driver with it), and those after.
local wg = require "wgrun"

local function now()
  local file <close> = assert(io.open "/proc/uptime")
  return file:read "n"
end

local touch = wg.kernel("touch", { threads = 32 }, function(k)
  local data = k:param("data", "u32*")
  local thread = k:special "tid.x"
  k:st_global_u32(k:element(data, thread), thread)
end)
for _, mib in ipairs { 16, 256 } do
  local bytes, fresh = mib << 20, math.max(2, 512 // mib)
  local tensors = {}
  for i = 1, fresh do tensors[i] = wg.randint { shape = { bytes // 4 }, dtype = "u32", lo = 0, hi = 9, seed = i } end
  local start = now()
  local launches = {}
  for i = 1, fresh do launches[i] = touch:prepare { args = { tensors[i] } } end
  local first = (now() - start) / fresh
  start = now()
  for i = 1, fresh do launches[i]:upload() end
  local second = (now() - start) / fresh
  local rounds = math.max(4, 8192 // mib // fresh)
  start = now()
  for _ = 1, rounds do
    for i = 1, fresh do launches[i]:upload() end
  end
  local up = (now() - start) / rounds / fresh
  start = now()
  for _ = 1, rounds do
    for i = 1, fresh do launches[i]:download() end
  end
  local down = (now() - start) / rounds / fresh
  local function rate(s) return bytes / math.max(s, 1e-6) / 1e9 end
  print(("%4d MiB: to the device %.1f GB/s at first (with the allocation), %.1f the second time, %.1f then; back %.1f"):format(
    mib, rate(first), rate(second), rate(up), rate(down)))
end
