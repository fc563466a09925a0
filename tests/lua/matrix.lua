-- ldmatrix and stmatrix from scripts: each transposes a 16x16 tile of shared memory.
local check = require "check"
local wg = require "wgrun"

local function transposer(load_trans, store_trans)
  return wg.kernel("transpose", { threads = 32 }, function(k)
    local x, y = k:param("x", "const bf16*"), k:param("y", "bf16*")
    local buffer = k:shared { bytes = 1024, name = "S" }
    local lane = k:special "tid.x"
    local base = k:mov(buffer, { type = "u32" })
    k:st_shared_v4_b32(base + (lane << 4), k:ld_global_v4_b32(k:mad_wide_u32(lane, 16, x)))
    k:bar_warp_sync()
    -- Matrix m is rows 8 (m % 2) .., columns 8 (m / 2) ..: lane i gives row i % 16, columns 8 (i / 16).
    local row = base + ((lane & 15) << 5) + ((lane >> 4) << 4)
    local m = k:ldmatrix_x4(row, { trans = load_trans })
    -- Transposed, the lower left matrix is the upper right one.
    k:stmatrix_x4(row, { m[0], m[2], m[1], m[3] }, { offset = 512, trans = store_trans })
    k:bar_warp_sync()
    k:st_global_v4_b32(k:mad_wide_u32(lane, 16, y), k:ld_shared_v4_b32(base + (lane << 4), { offset = 512 }))
  end)
end

local x = wg.randn { shape = { 16, 16 }, dtype = "bf16", seed = 1 }
for _, way in ipairs { { true, false }, { false, true } } do
  local kernel = transposer(way[1], way[2])
  check.equal(#kernel:check(), 0)
  local y = wg.zeros("bf16", { 16, 16 })
  kernel:run { grid = { 1, 1, 1 }, args = { x, y } }
  for i = 0, 15 do
    for j = 0, 15 do check.equal(y[{ i, j }], x[{ j, i }]) end
  end
end

local function refused(text, body)
  check.raises(text, wg.kernel, "refused", { threads = 32 }, function(k)
    body(k, k:mov(k:shared { bytes = 512 }, { type = "u32" }))
  end)
end
refused("stmatrix: num=x3 is not legal", function(k, a) k:stmatrix(a, k:regs("b32", 3), { num = 3 }) end)
refused("stmatrix, operand b: 4 registers are expected, not 2", function(k, a) k:stmatrix_x4(a, k:regs("b32", 2)) end)
refused("ldmatrix needs `num` for type=b16 (legal: x1, x2, x4)", function(k, a) k:ldmatrix(a, { type = "b16" }) end)
