-- k:queue on the simulator: each tile is drawn once, wherever the draw stands, and the counter is 0 for the next launch.
local wg = require "wgrun"

-- What the drawing thread does with a tile, and the kernel's name.
local function kernel_of(name, work)
  return wg.kernel(name, { threads = 64 }, function(k)
    local counter, tiles, seen = k:param("counter", "u32*"), k:param("tiles", "u32"), k:param("seen", "u32*")
    local thread = k:special "tid.x"
    local queue = k:queue { counter = counter, tiles = tiles, readers = 1 }
    k:if_(thread:eq(0), function() queue:init() end)
    k:bar_sync(0)
    k:if_(thread:eq(0), function() queue:draw(function(number, draw) work(k, number, draw) end) end)
    k:if_(thread:ge(32), function()
      queue:each(function(number)
        k:red_relaxed_gpu_global_add_u32(k:element(seen, number), 1, { guard = (thread & 31):eq(0) })
      end)
    end)
  end)
end

local kernels = {
  kernel_of("behind", function() end), kernel_of("first", function(_, _, draw) draw() end),
  kernel_of("on_each_path", function(k, number, draw)
    k:if_((number & 1):eq(0), function()
      draw()
      k:mov(number, { type = "u32" })
    end, draw)
  end),
}
for _, kernel in ipairs(kernels) do
  assert(#kernel:check() == 0, kernel.name)
  local counter = wg.zeros("u32", { 1 })
  for _, tiles in ipairs { 1, 2, 3, 4, 23 } do
    for _, ctas in ipairs { 1, 3 } do
      for seed = 1, 3 do
        local seen = wg.zeros("u32", { math.max(tiles, ctas) })
        kernel:run { grid = { ctas }, args = { counter, tiles, seen }, backend = "sim", seed = seed }
        local at = ("%s, %d tiles, %d CTAs"):format(kernel.name, tiles, ctas)
        for i = 0, tiles - 1 do assert(seen[{ i }] == 1, ("%s: tile %d was seen %d times"):format(at, i, seen[{ i }])) end
        if ctas <= tiles then assert(counter[{ 0 }] == 0, at .. ": the counter is not 0 afterwards") end
        counter[{ 0 }] = 0
      end
    end
  end
end
