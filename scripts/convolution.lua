-- Y = X * F, a convolution in two dimensions as one product (an implicit GEMM): the tensor core multiplies pixels by
-- filters, and TMA gathers the pixels (im2col), so that nothing is ever unfolded in memory.
--   wgrun scripts/convolution.lua [--images 2] [--height 14] [--width 14] [--channels 64] [--filters 128] [--size 3]
--                                 [--stride 1] [--pad 1] [--dilation 1] [--seed 1] [--rounds 20]
-- X is images x height x width x channels (NHWC), F is filters x size x size x channels, Y is images x rows x columns x
-- filters, all bf16; channels and filters are multiples of 8. Error: against sums in binary64 of 256 outputs.
local wg = require "wgrun"

local o = {
  images = 2, height = 14, width = 14, channels = 64, filters = 128, size = 3, stride = 1, pad = 1, dilation = 1,
  seed = 1, rounds = 20,
}
local least = { pad = 0, seed = 0 }
for i = 1, #arg, 2 do
  local key = arg[i]:match "^%-%-(.+)$"
  local value = math.tointeger(tonumber(arg[i + 1]))
  local of_8 = key == "channels" or key == "filters"
  if not o[key] or not value or value < (least[key] or 1) or of_8 and value % 8 ~= 0 then
    io.stderr:write("convolution.lua: ", arg[i], " ", arg[i + 1] or "", " (see the first lines of the script)\n")
    os.exit(2)
  end
  o[key] = value
end

-- Where a filter of that size fits: its first pixel runs from -pad to `reach` before the end.
local reach = o.pad - (o.size - 1) * o.dilation
local rows, columns = (o.height + o.pad + reach - 1) // o.stride + 1, (o.width + o.pad + reach - 1) // o.stride + 1
if rows < 1 or columns < 1 then
  io.stderr:write "convolution.lua: the filter is larger than the image\n"
  os.exit(2)
end

local consumers, stages <const> = 2, 4 -- warpgroups of 64 pixels each
local tile_x = wg.tile { dtype = "bf16", mn = 64 * consumers, k = 64, major = "K" } -- pixels by channels
local pixels = o.images * rows * columns
local row_tiles = (pixels + tile_x.mn - 1) // tile_x.mn

-- The CTAs take as many rounds as their number asks for; a round takes as long as a tile has filters, and something
-- besides.
local function rounds_of(filters)
  local ctas = row_tiles * ((o.filters + filters - 1) // filters)
  return (ctas + wg.target.multiprocessors - 1) // wg.target.multiprocessors * (filters + 32)
end
local filters_at_a_time = 64
for filters = 96, 256, 32 do
  if filters - 32 < o.filters and rounds_of(filters) <= rounds_of(filters_at_a_time) then
    filters_at_a_time = filters
  end
end
local tile_f = wg.tile { dtype = "bf16", mn = filters_at_a_time, k = 64, major = "K" }
local panel = wg.panel { dtype = "bf16", n = tile_f.mn }
local panels = math.min(panel.count, 2) -- of Y, that a consumer has in flight at a time

local convolution = wg.kernel("convolution", { threads = 128 * (1 + consumers) }, function(k)
  -- A box is 64 channels of 128 pixels that follow each other in Y: along a row, the next row, the next image.
  local X = k:tensor_map("X", {
    dtype = "bf16", box = { tile_x.k, tile_x.mn }, swizzle = tile_x.swizzle, constant = true,
    lower = { -o.pad, -o.pad }, upper = { reach, reach }, steps = { 1, o.stride, o.stride, 1 },
  })
  local F, Y = k:tensor_map("F", { tile = tile_f, constant = true }), k:tensor_map("Y", panel.box)
  local xs, fs = k:shared { tile = tile_x, count = stages, name = "x" },
    k:shared { tile = tile_f, count = stages, name = "f" }
  local out = k:shared { bytes = consumers * panels * panel.bytes, align = 1024, name = "y" }
  local ring = k:pipeline { stages = stages, arrivals = 4 * consumers }

  local thread = k:special "tid.x"
  k:if_(thread:eq(0), function() ring:init() end)
  k:bar_sync(0)
  local first_pixel, first_filter = k:special "ctaid.x" * tile_x.mn, k:special "ctaid.y" * tile_f.mn
  local blocks = (o.channels + 63) // 64

  local function produce()
    local row, column = k:div(first_pixel, columns), k:rem(first_pixel, columns)
    local image = k:div(row, rows)
    local x = k:mul(column, o.stride) - o.pad
    local y = k:mul(k:rem(row, rows), o.stride) - o.pad
    local cursor = ring:cursor()
    k:loop(o.size, function(r)
      k:loop(o.size, function(s)
        k:loop(blocks, function(block)
          ring:acquire(cursor)
          local barrier = ring:expect(cursor, tile_x.bytes + tile_f.bytes)
          local offsets = { k:cvt_u16_u32(s * o.dilation), k:cvt_u16_u32(r * o.dilation) }
          k:cp_async_bulk_tensor_im2col_4d(
            k:address(xs, cursor.stage * tile_x.bytes), X, { block * 64, x, y, image }, barrier, offsets)
          k:load_tile {
            tile = tile_f, map = F, to = k:address(fs, cursor.stage * tile_f.bytes), barrier = barrier,
            mn = first_filter, k = (r * o.size + s) * o.channels + block * 64,
          }
          ring:advance(cursor)
        end)
      end)
    end)
  end

  local function consume()
    local mine = (thread >> 7) - 1
    local half = mine * ((tile_x:descriptor(0, 0, 64) - tile_x:descriptor(0)) << 4)
    local acc = k:regs("f32", tile_f.mn // 2)
    local cursor, previous = ring:cursor(), { stage = k:mov(0, { type = "u32" }) }
    k:loop(o.size * o.size * blocks, function(i)
      ring:wait(cursor)
      local later = i:gt(0)
      k:wgmma_fence()
      k:mma(acc, {
        a = xs, b = fs, a_offset = half + cursor.stage * tile_x.bytes, b_offset = cursor.stage * tile_f.bytes,
        scale_d = later,
      })
      k:wgmma_wait_group(1) -- the block before is complete
      ring:release(previous, { lane = thread & 31, guard = later })
      k:mov(previous.stage, cursor.stage)
      ring:advance(cursor)
    end)
    k:wgmma_wait_group(0)
    local store, finish = k:epilogue {
      panel = panel, map = Y, buffer = out, offset = mine * (panels * panel.bytes), buffers = panels,
      barrier = mine + 1,
    }
    store(acc, first_pixel + (mine << 6), first_filter)
    finish()
  end

  k:if_((thread >> 7):eq(0), function()
    k:setmaxnreg_dec(40)
    k:if_(thread:eq(0), produce)
  end, function()
    k:setmaxnreg_inc(232)
    consume()
  end)
end)

local X = wg.randn { shape = { o.images, o.height, o.width, o.channels }, dtype = "bf16", seed = o.seed }
local F = wg.randn { shape = { o.filters, o.size * o.size * o.channels }, dtype = "bf16", seed = o.seed + 1 }
local Y = wg.zeros("bf16", { pixels, o.filters })
local launch = { grid = { row_tiles, (o.filters + tile_f.mn - 1) // tile_f.mn }, args = { X, F, Y } }
local backend = convolution:run(launch)
if backend == "none" then return end -- wgrun check, ptx and cuda trace kernels without running them

-- One output in binary64: the dot products of the taps that lie inside of the image.
local function exact(image, row, column, filter)
  local sum = 0.0
  for r = 0, o.size - 1 do
    for s = 0, o.size - 1 do
      local y, x = row * o.stride - o.pad + r * o.dilation, column * o.stride - o.pad + s * o.dilation
      if y >= 0 and y < o.height and x >= 0 and x < o.width then
        local pixel, tap = (image * o.height + y) * o.width + x, (filter * o.size + r) * o.size + s
        sum = sum + wg.dot(X, pixel * o.channels, 1, F, tap * o.channels, 1, o.channels)
      end
    end
  end
  return sum
end

local worst, state = 0.0, o.seed
local function draw(below)
  state = state * 6364136223846793005 + 1442695040888963407
  return (state >> 33) % below
end
local magnitude = math.sqrt(o.size * o.size * o.channels) -- of an output
for i = 0, 255 do
  local pixel, filter = i == 0 and pixels - 1 or draw(pixels), i == 0 and o.filters - 1 or draw(o.filters)
  local want = exact(pixel // (rows * columns), pixel // columns % rows, pixel % columns, filter)
  worst = math.max(worst, math.abs(Y[{ pixel, filter }] - want) / math.max(math.abs(want), magnitude))
end

launch.flops = 2.0 * pixels * o.filters * o.size * o.size * o.channels
launch.rounds = backend == "sim" and 1 or o.rounds
local timing = convolution:time(launch)
print(("%d images of %dx%dx%d, %d filters of %dx%d, on %s"):format(
  o.images, o.height, o.width, o.channels, o.filters, o.size, o.size, backend))
print(("median %.1f us, %.3g TFLOP/s, worst error %.2g of an output"):format(timing.median_us, timing.tflops, worst))
if worst > 2 ^ -8 then os.exit(5) end -- more than rounding to bf16
