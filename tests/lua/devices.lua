-- Launches on several devices: what they are given, and what they do. tests/rules/WG-RACE-04 has their faults.
local wg = require "wgrun"
local check = require "check"

local function words(n) return wg.zeros("u32", { n }) end

local mark = wg.kernel("mark", { threads = 32, cluster = { 2 } }, function(k)
  local x, n = k:param("x", "u32*"), k:param("n", "u32")
  k:if_(k:special "tid.x":eq(0), function()
    k:st_global_u32(k:element(x, k:special "ctaid.x"), n + k:special "nctaid.x")
  end)
end)
local a, b = words(4), words(4)
check.refuses("`args` and `devices` are given: one of them is possible", function() mark:run { grid = 2, args = { a, 1 }, devices = { { a, 1 } } } end)
check.refuses("kernel:run: option `devices`: expected a list of 1 to 16 lists of tensors and numbers, got table", function() mark:run { grid = 2, devices = {} } end)
check.refuses("kernel:run: option `devices`: expected a list of 1 to 16 lists of tensors and numbers, got a tensor", function() mark:run { grid = 2, devices = { a, b } } end)
check.refuses("kernel mark, argument 2 (n) of device 1: expected a tensor or a number, got string \"one\"", function() mark:run { grid = 2, devices = { { a, 1 }, { b, "one" } } } end)
check.refuses("kernel mark takes 2 arguments (x, n), not 1", function() mark:run { grid = 2, devices = { { a, 1 }, { b } } } end)
check.refuses("a launch on several devices runs on the simulator alone", function() mark:run { grid = 2, backend = "gpu", devices = { { a, 1 }, { b, 1 } } } end)
check.refuses("kernel mark: a timeline is of one device, not of a launch on several", function() mark:timeline { grid = 2, devices = { { a, 1 }, { b, 1 } } } end)

-- Variables of a module are those of a device.
local counter = wg.ptx { name = "counter.ptx", text = ".version 8.0\n.target sm_90a\n.address_size 64\n.global .u32 n;\n"
  .. ".visible .entry first(.param .u64 x)\n{\n.reg .b64 %rd<2>; .reg .b32 %r<2>;\nld.param.u64 %rd1, [x];\n"
  .. "ld.global.u32 %r1, [n];\nst.global.u32 [%rd1], %r1;\nret;\n}\n" }
check.refuses("kernel first has variables of its module. Each device has its own, and the simulator has those of one device alone", function() counter.first:run { block = 1, devices = { { a }, { b } } } end)

-- Each device has a grid of its own.
local many = {}
for d = 1, 16 do many[d] = { words(4), 10 * d } end
check.equal(mark:run { grid = 4, devices = many }, "sim")
for d = 1, 16 do
  for i = 0, 3 do check.equal(many[d][1][{ i }], 10 * d + 4) end
end
mark:time { grid = 4, rounds = 2, devices = { { a, 1 }, { b, 2 } } } -- on copies
check.equal(a[{ 0 }], 0)
local launch = mark:prepare { grid = 4, devices = { { a, 1 }, { b, 2 } } }
launch:start()
launch:wait()
check.equal(a[{ 3 }], 5)
check.equal(b[{ 3 }], 6)

-- Each waits for the CTA of the same number on the other device, with more CTAs than the 264 that a device holds; and a
-- tensor map of each device is its own.
local tile = wg.tile { dtype = "tf32", mn = 8, k = 32, major = "K", swizzle = "128B" }
local pass = wg.kernel("pass", { threads = 32 }, function(k)
  local X, flags, peer_flags = k:tensor_map("X", { tile = tile }), k:param("flags", "u32*"), k:param("peer_flags", "u32*")
  local out = k:param("out", "f32*")
  local memory, full = k:shared { tile = tile, count = 100, name = "memory" }, k:shared { bytes = 8, align = 8, name = "full" }
  local cta = k:special "ctaid.x"
  k:if_(k:special "tid.x":eq(0), function()
    k:mbarrier_init(k:address(full), 1)
    k:fence_mbarrier_init()
    k:mbarrier_arrive_expect_tx(k:address(full), tile.bytes)
    k:load_tile { tile = tile, map = X, to = k:address(memory), mn = 0, k = 0, barrier = k:address(full) }
    k:mbarrier_wait(k:address(full), 0)
    k:st_release_sys_global_u32(k:element(peer_flags, cta), 1)
    k:while_(function() return k:ld_acquire_sys_global_u32(k:element(flags, cta)):eq(0) end, function() end)
    k:st_global_f32(k:element(out, cta), k:ld_shared_f32(k:address(memory)))
  end)
end)
local ctas, X, flags, out = 300, {}, {}, {}
for d = 1, 2 do X[d], flags[d], out[d] = wg.full("tf32", { 8, 32 }, d), words(ctas), wg.zeros("f32", { ctas }) end
pass:run {
  grid = ctas, devices = { { X[1], flags[1], flags[2], out[1] }, { X[2], flags[2], flags[1], out[2] } },
}
for d = 1, 2 do
  for _, i in ipairs { 0, 1, ctas - 1 } do check.equal(out[d][{ i }], d) end
end

-- Nobody is first.
local wait = wg.kernel("wait", { threads = 32 }, function(k)
  local flag, peer_flag = k:param("flag", "u32*"), k:param("peer_flag", "u32*")
  k:if_(k:special "tid.x":eq(0), function()
    k:while_(function() return k:ld_acquire_sys_global_u32(flag):eq(0) end, function() end)
    k:st_release_sys_global_u32(peer_flag, 1)
  end)
end)
local f, g = words(1), words(1)
check.raises("the kernel hangs: warp 0 waits for memory to change that nobody writes any more", function() wait:run { devices = { { f, g }, { g, f } } } end)
f[{ 0 }] = 1
wait:run { devices = { { f, g }, { g, f } } }
check.equal(g[{ 0 }], 1)

local outside = wg.kernel("outside", { threads = 32 }, function(k) k:st_global_u32(k:element(k:param("peer", "u32*"), 9), 1) end)
check.raises("past the end of `peer` of device 0", function() outside:run { devices = { { words(1) }, { words(1) } } } end)

-- What makes its own arguments runs on one device.
do
  local gemm, A = wg.gemm {}, wg.zeros("bf16", { 64, 64 })
  check.raises("unknown option `devices` of gemm:run", function() gemm:run(A, A, A, { devices = { { A, A, A } } }) end)
end
