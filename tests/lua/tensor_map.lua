-- k:tensor_map, and the tensors that a launch gives for it.
local check = require "check"
local wg = require "wgrun"

-- A box of rows 2 to 5, columns 4 to 11 of an 8 x 8 matrix: what lies outside comes as 0.
local from, to = wg.zeros("f32", { 8, 8 }), wg.zeros("f32", { 4, 8 })
for i = 0, 7 do for j = 0, 7 do from[{ i, j }] = 10 * i + j end end
local copy = wg.kernel("copy", { threads = 32 }, function(k)
  local map = k:tensor_map("from", { dtype = "f32", box = { 8, 4 }, constant = true })
  local out = k:param("to", "f32*")
  local box, full = k:shared { bytes = 128, align = 128, name = "box" }, k:shared { bytes = 8, align = 8, name = "full" }
  local thread = k:special "tid.x"
  k:if_(thread:eq(0), function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
    k:mbarrier_arrive_expect_tx(full, 128)
    k:cp_async_bulk_tensor_2d(box, map, { k:mov(4, { type = "s32" }), k:mov(2, { type = "s32" }) }, full)
  end)
  k:bar_sync(0)
  k:mbarrier_wait(k:address(full), 0)
  k:st_global_f32(k:element(out, thread), k:ld_shared_f32(k:address(box, thread * 4)))
end)
check.equal(#copy:check(), 0)
copy:run { grid = { 1 }, args = { from, to }, backend = "sim" }
for i = 0, 3 do
  for j = 0, 7 do check.equal(to[{ i, j }], j < 4 and 10 * (i + 2) + j + 4 or 0) end
end

local function run(a) return copy:run { grid = { 1 }, args = { a, to }, backend = "sim" } end
check.refuses("kernel copy, argument 1 (from): a tensor of f32 is expected, not a number", function() copy:run { grid = { 1 }, args = { 1, to }, backend = "sim" } end)
check.raises("a tensor of f32 is expected, not of bf16", run, wg.zeros("bf16", { 8, 8 }))
check.raises("a tensor of 2 dimensions is expected, as its tensor map's box has them, not 1", run, wg.zeros("f32", { 64 }))
local odd = check.raises("rows of 6 f32 elements are 24 bytes, but a tensor map needs a multiple of 16", run, wg.zeros("f32", { 8, 6 }))
check.equal(odd.fix, "rows of 8 elements, the last ones padding")
check.raises("a tensor map cannot describe an empty tensor", run, wg.zeros("f32", { 0, 8 }))
check.raises("unknown option `boxes`", function()
  wg.kernel("k", { threads = 32 }, function(k) k:tensor_map("A", { boxes = { 8, 8 } }) end)
end)

-- Bits computed from an integer register stay one.
wg.kernel("types", { threads = 32 }, function(k)
  check.equal((k:special "tid.x" & 7).type, "u32")
  check.equal((k:mov(1, { type = "s32" }) ~ 3).type, "s32")
  check.equal(k:pack { k:reg "b16", k:reg "b16" }.type, "b32")
end)

-- Numbers in lists are put into registers: of the type of the others, or of the form.
local lists = wg.kernel("lists", { threads = 32 }, function(k)
  local X, Y = k:tensor_map("X", { dtype = "f32", box = { 8, 4 } }), k:param("Y", "f32*")
  local tile, full = k:shared { bytes = 128, align = 128, name = "tile" }, k:shared { bytes = 8, align = 8, name = "full" }
  local thread = k:special "tid.x"
  k:if_(thread:eq(0), function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
    k:mbarrier_arrive_expect_tx(full, 128)
    k:cp_async_bulk_tensor_2d(tile, X, { 8, 4 }, full)
  end)
  k:bar_sync(0)
  k:mbarrier_wait(full, 0)
  local x = k:ld_shared_f32(k:address(tile, thread * 4))
  k:st_global_v4_f32(k:element(Y, thread * 4), { x, 1, 2.5, -3 })
end)
do
  local X, Y = wg.zeros("f32", { 8, 16 }), wg.zeros("f32", { 32, 4 })
  for i = 0, 7 do for j = 0, 15 do X[{ i, j }] = 100 * i + j end end
  lists:run { grid = 1, args = { X, Y } }
  check.equal({ Y[{ 0, 0 }], Y[{ 31, 0 }], Y[{ 31, 1 }], Y[{ 31, 2 }], Y[{ 31, 3 }] }, { 408, 715, 1, 2.5, -3 })
end
