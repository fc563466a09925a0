-- Labels and jumps, k:repeat_, parameters that instructions name, an offset for each address: what wgrun lua writes.
local check = require "check"
local wg = require "wgrun"

--- f raises an error that says so.
local function check_fails(f, text)
  local good, problem = pcall(f)
  check.equal(good, false)
  if not tostring(problem):find(text, 1, true) then error(("expected `%s`, got `%s`"):format(text, tostring(problem))) end
end

local double = wg.kernel("double", { threads = 32 }, function(k)
  local facts, X = k:parameter("facts", { bytes = 16, align = 8 }), k:parameter("X", "*")
  local n, address = k:ld_param_at_u32(facts, { offset = 12 }), k:cvta_to_global(k:ld_param_u64(X))
  local tid = k:special "tid.x"
  local done = k:label()
  k:jump(done, tid:ge(n))
  local at = k:add(address, k:mul_wide_u32(tid, 4))
  local value, rounds = k:ld_global_f32(at), k:mov_u32(0)
  k:repeat_(function()
    k:add(value, value, value)
    k:add(rounds, rounds, 1)
    return rounds:lt(3)
  end)
  k:st_global_f32(at, value)
  k:place(done)
end)
local x = wg.tensor("f32", { 4 }, { 1, 2, 3, 4 })
double:run { grid = 1, args = { wg.struct { size = 16, [12] = 3 }, x }, backend = "sim" }
check.equal(x:totable(), { 8, 16, 24, 4 })

-- A tensor map whose box the launch gives; two addresses with an offset each.
local copy = wg.kernel("copy", { threads = 32 }, function(k)
  local map, Y = k:parameter("map", { map = true }), k:param("Y", "f32*")
  local buffer = k:shared { bytes = 1024, align = 128 }
  local full = k:shared { bytes = 16, align = 8 }
  local tid, zero = k:special "tid.x", k:mov_s32(0)
  k:if_(tid:eq(0), function()
    k:mbarrier_init(full, 1, { offset = 8 })
    k:fence_mbarrier_init()
    k:mbarrier_arrive_expect_tx(full, 128, { offset = 8 })
    k:cp_async_bulk_tensor_2d(buffer, k:cvta_param(map), { zero, zero }, full, { offset = { 512, 8 } })
  end)
  k:bar_sync(0)
  k:repeat_(function() return ~k:mbarrier_try_wait_parity(full, 0, { offset = 8 }) end)
  k:st_global_f32(k:element(Y, tid), k:ld_shared_f32(k:add(k:address(buffer), k:shl(tid, 2)), { offset = 512 }))
end)
local from, to = wg.randn { shape = { 4, 8 }, dtype = "f32", seed = 1 }, wg.zeros("f32", { 4, 8 })
copy:run { grid = 1, args = { wg.tensor_map(from, { box = { 8, 4 } }), to }, backend = "sim" }
check.equal(wg.compare(to, from, 0), true)
check_fails(function() copy:run { grid = 1, args = { from, to }, backend = "sim" } end, "leaves the box of its tensor map to the launch")
check_fails(function() copy:run { grid = 1, args = { 3, to }, backend = "sim" } end, "a tensor map is expected, not a number")

local function build(body) return function() wg.kernel("k", { threads = 32 }, body) end end
check_fails(build(function(k) k:jump(k:label()) end), "a jump to a label that is nowhere")
check_fails(build(function(k) k:jump(k:label "there") end), "a jump to label `there`, which is nowhere")
check_fails(build(function(k)
  local l = k:label()
  k:place(l)
  k:place(l)
end), "is in two places")
check_fails(build(function(k) k:jump(3) end), "expected a label, got number 3")
check_fails(build(function(k)
  local s = k:shared { bytes = 32, align = 16 }
  k:ld_shared_u32(s, { offset = "4" })
end), "expected a number of bytes, got string")
check_fails(build(function(k) k:parameter("p", { map = true, align = 32 }) end), "aligned to 64 or 128 bytes, not 32")
check_fails(function() wg.kernel("k", { translated = { "blocks" } }, function() end) end, 'a list of "threads" and "cluster"')
