-- What the scripts of these folders begin with. Each is a whole script: it finds this file beside its folder.
local kit = {}

--- Zeros in whole tiles, by 128 threads. No fence, no barrier: threads beyond them do not write.
function kit.store(k, buffers)
  local zero, thread = k:regs("b32", 4), k:special "tid.x"
  for i = 0, 3 do k:mov(zero[i], 0) end
  for _, buffer in ipairs(buffers) do
    local at = k:mad_lo_u32(thread, 16, k:mov(buffer, { type = "u32" }))
    for i = 0, buffer.bytes - 1, 2048 do k:st_shared_v4_b32(at, zero, { offset = i }) end
  end
end

--- The same, and wgmma may read them.
function kit.fill(k, buffers)
  kit.store(k, buffers)
  k:fence_proxy_async()
  k:bar_sync(0)
end

--- Two tiles of 64 x 64 bf16 that wgmma may read: the accumulators of their product, their descriptors, and the tiles.
function kit.operands(k)
  local tile = require "wgrun".tile { dtype = "bf16", mn = 64, k = 64, major = "K" }
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  kit.fill(k, { a, b })
  return k:regs("f32", 32), k:descriptor(a), k:descriptor(b), a, b
end

--- Runs a kernel of a cluster of two CTAs. The first changes a tensor map in its shared memory, which release(k, maps, own) puts into
--- `maps`; acquire(k, maps, copies) comes before the copies by it; `copies` holds in the thread of each CTA that makes one.
function kit.changed_map(release, acquire)
  local wg = require "wgrun"
  local kernel = wg.kernel("case", { threads = 64, cluster = 2 }, function(k)
    local map, maps = k:tensor_map("X", { dtype = "u32", box = { 32, 1 } }), k:param("maps", "u8*")
    local own, full = k:shared { bytes = 128, align = 128, name = "own" }, k:shared { bytes = 8, align = 8, name = "full" }
    local tile = k:shared { bytes = 128, align = 128, name = "tile" }
    local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
    local copies = thread:eq(32)
    k:mbarrier_init(full, 1, { guard = copies })
    k:fence_mbarrier_init { guard = copies }
    k:if_((thread >> 5):eq(0) & k:special("cluster_ctarank"):eq(0), function()
      k:if_(thread:lt(8), function() k:st_shared_v4_b32(k:address(own, thread * 16), k:ld_v4_b32(map + k:cvt_u64_u32(thread * 16))) end)
      k:bar_warp_sync()
      k:tensormap_replace_global_dim_shared_cta(own, 1, 1, { guard = thread:eq(0) })
      k:bar_warp_sync()
      release(k, maps, own)
    end)
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
    acquire(k, maps, copies)
    k:mbarrier_arrive_expect_tx(full, 128, { guard = copies })
    k:cp_async_bulk_tensor_2d(tile, maps, { zero, zero }, full, { guard = copies })
    k:mbarrier_wait(full, 0)
  end)
  kernel:run { grid = { 2 }, args = { wg.zeros("u32", { 8, 32 }), wg.zeros("u8", 128) } }
end

--- Runs a kernel in which copy(k, tile, map, place, full, first) copies through a tensor map that describes pixels: 512 bytes to `tile`,
--- which `full` counts, from `place`, by the first thread.
function kit.pixels(copy)
  local wg = require "wgrun"
  local kernel = wg.kernel("case", { threads = 32 }, function(k)
    local map = k:tensor_map("X", { dtype = "f32", box = { 8, 16 }, lower = { -1, -1 }, upper = { 0, 0 } })
    local tile, full = k:shared { bytes = 512, align = 128, name = "tile" }, k:shared { bytes = 8, align = 8, name = "full" }
    local first, zero = k:special("tid.x"):eq(0), k:mov(0, { type = "s32" })
    k:mbarrier_init(full, 1, { guard = first })
    k:fence_mbarrier_init { guard = first }
    k:bar_sync(0)
    k:mbarrier_arrive_expect_tx(full, 512, { guard = first })
    copy(k, tile, map, { zero, zero, zero, zero }, full, first)
    k:mbarrier_wait(full, 0)
  end)
  kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 2, 5, 6, 8 }) } }
end

--- Runs a kernel of two CTAs. The first stores a copy of a tensor map to `maps`; change(k, maps, X) changes and
--- releases it in one thread, which then sets a flag. copy(k, maps, flag, tile, full) copies by it in a thread of the other CTA:
--- 128 bytes to `tile`, which `full` counts; `flag` is the flag's address.
function kit.map_behind_flag(change, copy)
  local wg = require "wgrun"
  local kernel = wg.kernel("case", { threads = 32 }, function(k)
    local map, maps = k:tensor_map("M", { dtype = "f32", box = { 32, 1 } }), k:param("maps", "u8*")
    local X, D, flag = k:param("X", "const f32*"), k:param("D", "f32*"), k:element(k:param("flag", "u32*"), 0)
    local full = k:shared { bytes = 8, align = 8, name = "full" }
    local tile = k:shared { bytes = 128, align = 128, name = "tile" }
    local thread = k:special "tid.x"
    local first = thread:eq(0)
    k:mbarrier_init(full, 1, { guard = first })
    k:fence_mbarrier_init { guard = first }
    k:bar_sync(0)
    k:if_(k:special("ctaid.x"):eq(0), function()
      k:if_(thread:lt(8), function()
        local at = k:cvt_u64_u32(thread * 16)
        k:st_global_v4_b32(maps + at, k:ld_v4_b32(map + at))
      end)
      k:bar_warp_sync()
      k:if_(first, function()
        change(k, maps, X)
        k:st_release_gpu_global_u32(flag, 1)
      end)
    end, function()
      k:if_(first, function() copy(k, maps, flag, tile, full) end)
      k:mbarrier_wait(full, 0)
      k:st_global_f32(k:element(D, thread), k:ld_shared_f32(k:address(tile, thread * 4)))
    end)
  end)
  local X, D = wg.ones("f32", 64), wg.zeros("f32", 32)
  kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 1, 32 }), wg.zeros("u8", 128), X, D, wg.zeros("u32", 1) } }
end

--- Runs a kernel of two devices, each of which gets `maps` as a parameter of its own. The first changes a map, which release(k, maps, own)
--- puts there; acquire(k, maps) comes before the second one's copy.
function kit.map_of_devices(release, acquire)
  local wg = require "wgrun"
  local kernel = wg.kernel("case", { threads = 32 }, function(k)
    local map, maps = k:tensor_map("M", { dtype = "f32", box = { 32, 1 } }), k:param("maps", "u8*")
    local X, D, flag, rank = k:param("X", "const f32*"), k:param("D", "f32*"), k:param("flag", "u32*"), k:param("rank", "u32")
    local own, full = k:shared { bytes = 128, align = 128, name = "own" }, k:shared { bytes = 8, align = 8, name = "full" }
    local tile = k:shared { bytes = 128, align = 128, name = "tile" }
    local thread = k:special "tid.x"
    local first = thread:eq(0)
    k:mbarrier_init(full, 1, { guard = first })
    k:fence_mbarrier_init { guard = first }
    k:bar_sync(0)
    k:if_(rank:eq(0), function()
      k:if_(thread:lt(8), function() k:st_shared_v4_b32(k:address(own, thread * 16), k:ld_v4_b32(map + k:cvt_u64_u32(thread * 16))) end)
      k:bar_warp_sync()
      k:tensormap_replace_global_address_shared_cta(own, X + 128, { guard = first })
      k:bar_warp_sync()
      release(k, maps, own)
      k:bar_warp_sync()
      k:st_release_sys_global_u32(flag, 1, { guard = first })
    end, function()
      k:if_(first, function()
        k:while_(function() return k:ld_acquire_sys_global_u32(flag):eq(0) end, function() end)
        acquire(k, maps)
        k:mbarrier_arrive_expect_tx(full, 128)
        k:cp_async_bulk_tensor_2d(tile, maps, { 0, 0 }, full)
      end)
      k:mbarrier_wait(full, 0)
      k:st_global_f32(k:element(D, thread), k:ld_shared_f32(k:address(tile, thread * 4)))
    end)
  end)
  local M, maps, X, D, flag = wg.zeros("f32", { 1, 32 }), wg.zeros("u8", 128), wg.ones("f32", 64), wg.zeros("f32", 32), wg.zeros("u32", 1)
  kernel:run { devices = { { M, maps, X, D, flag, 0 }, { M, maps, X, D, flag, 1 } } }
  assert(D[{ 5 }] == 1)
end

--- Runs a kernel in which a thread fills the stages of a ring, and four warps empty them, six times. copy(k, ring, cursor, load) and
--- use(k, ring, cursor, lane) are a turn of either; load(full, bytes) copies 512 bytes to the stage, `bytes` behind its begin.
--- others: { stage_bytes = 512, arrivals = 4 }, and count(k, counts) for a number of turns that is in memory.
function kit.ring(copy, use, others)
  local wg, with = require "wgrun", others or {}
  local bytes <const> = with.stage_bytes or 512
  local kernel = wg.kernel("case", { threads = 256 }, function(k)
    local map, blocks = k:tensor_map("X", { dtype = "f32", box = { 32, 4 } }), k:param("blocks", with.count and "const u32*" or "u32")
    if with.count then blocks = with.count(k, blocks) end
    local tiles = k:shared { bytes = 2 * bytes, align = 128, name = "tiles" }
    local ring = k:pipeline { stages = 2, arrivals = with.arrivals or 4 }
    local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
    k:if_(thread:eq(0), function() ring:init() end)
    k:bar_sync(0)
    local cursor = ring:cursor()
    local function load(full, behind)
      k:cp_async_bulk_tensor_2d(k:address(tiles) + cursor.stage * bytes + (behind or 0), map, { zero, zero }, full)
    end
    k:if_((thread >> 7):eq(0), function()
      k:if_(thread:eq(0), function()
        k:loop(blocks, function()
          copy(k, ring, cursor, load)
          ring:advance(cursor)
        end)
      end)
    end, function()
      k:loop(blocks, function()
        use(k, ring, cursor, thread & 31)
        ring:advance(cursor)
      end)
    end)
  end)
  kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 8, 32 }), with.count and wg.tensor("u32", { 1 }, { 6 }) or 6 } }
end

--- A turn of the producer of kit.ring, and one of its consumers, as they ought to be.
function kit.copy(_, ring, cursor, load)
  ring:acquire(cursor)
  load(ring:expect(cursor, 512))
end
function kit.use(_, ring, cursor, lane)
  ring:wait(cursor)
  ring:release(cursor, { lane = lane })
end

--- Runs a kernel that multiplies by a ring of two stages, with a K of 384. copy(k, a, b) is a turn of the producer, which has the
--- stage; `a` and `b` are the arguments of its two copies. multiply(k, turn) is one of the consumers: turn.ring, .cursor, .lane, .first
--- (of K), and .operands(stage), the arguments of the wgmma that reads a stage. others: map_b, the options of B's tensor map; fixed, the
--- K of a kernel that has no parameter for it; finally(k), what comes behind the loop; before(k), what the consumers keep, as turn.kept.
function kit.product_ring(copy, multiply, others)
  local wg, with = require "wgrun", others or {}
  local t, stages = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }, 2
  local kernel = wg.kernel("case", { threads = 256 }, function(k)
    local map_a, map_b = k:tensor_map("A", { tile = t }), k:tensor_map("B", with.map_b or { tile = t })
    local K = with.fixed or k:param("K", "u32")
    local a = k:shared { tile = t, count = stages, name = "a" }
    local b = k:shared { tile = t, count = stages, name = "b" }
    local ring = k:pipeline { stages = stages, arrivals = 4 }
    local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
    k:if_(thread:eq(0), function() ring:init() end)
    k:bar_sync(0)
    local cursor = ring:cursor()
    k:if_((thread >> 7):eq(0), function()
      k:if_(thread:eq(0), function()
        k:loop({ from = 0, to = K, step = 64 }, function(first)
          ring:acquire(cursor)
          local full, at = ring:expect(cursor, 2 * t.bytes), { first, zero }
          copy(k, { k:address(a) + cursor.stage * t.bytes, map_a, at, full }, { k:address(b) + cursor.stage * t.bytes, map_b, at, full })
          ring:advance(cursor)
        end)
      end)
    end, function()
      local acc = k:regs("f32", 32)
      local a0, b0 = k:descriptor(a), k:descriptor(b)
      local kept = with.before and with.before(k)
      k:loop({ from = 0, to = K, step = 64 }, function(first)
        local function operands(stage)
          return acc, k:mad_wide_u32(stage, t.bytes >> 4, a0), k:mad_wide_u32(stage, t.bytes >> 4, b0),
            { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = first:gt(0) }
        end
        multiply(k, { ring = ring, cursor = cursor, lane = thread & 31, first = first, operands = operands, kept = kept })
        ring:advance(cursor)
      end)
      if with.finally then with.finally(k) end
    end)
  end)
  local A, B = wg.zeros("bf16", { 64, 384 }), wg.zeros("bf16", { 64, 384 })
  kernel:run { grid = { 1 }, args = with.fixed and { A, B } or { A, B, 384 } }
end

return kit
