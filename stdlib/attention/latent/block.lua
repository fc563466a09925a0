-- What a consumer of wg.mla_decode does with a block of keys: scores, probabilities, and the values that they weigh.

local descriptors = require "wgrun.tile.descriptors"

local module = {}

-- Named barriers: the probabilities of the first and of the second consumer are there.
local shared_by = { [0] = 1, 2 }

local function signed(k, x) return k:mov(x, { type = "s32" }) end

--- Adds to the consumer `me` its products, each a commit group: score(cursor), the scores of a block, which it waits
--- for; weigh(cursor), the block's probabilities times the consumer's half of its values.
function module.add_products(me)
  local k, p, g = me.k, me.p, me.g
  local function view(tile, offset)
    local first = k:matrix_descriptor(k:address(g.buffers.cache, offset), tile:descriptor(0) & ~0x3FFF)
    return function(stage) return descriptors.of(k, tile, k:mad_wide_u32(stage, p.k.bytes >> 4, first)) end
  end
  local q = descriptors.of(k, p.q, k:descriptor(g.buffers.q))
  local keys, values, probabilities = view(p.k, 0), view(p.v, 0), view(p.p, 8 * p.panel_bytes)
  local function form(n, scale_d, trans_b)
    return { n = n, k = 16, d = "f32", a = p.dtype, b = p.dtype, scale_d = scale_d, trans_a = 0, trans_b = trans_b }
  end

  function me.score(cursor)
    local b = keys(cursor.stage)
    for _, piece in ipairs(g.pieces) do
      piece.ring:wait(cursor)
      -- Threads have stored it. Their own fences, with loads in flight, cost 8-bit caches a tenth of the time.
      if p.copies ~= "boxes" then k:fence_proxy_async { space = "shared::cta" } end
      k:wgmma_fence()
      for step = 4 * piece.first, 4 * (piece.first + piece.panels) - 1 do
        k:wgmma_mma_async(me.scores, q(step), b(step), form(p.block, step == 0 and 0 or 1, 0))
      end
    end
    k:wgmma_commit_group()
    k:wgmma_wait_group(0)
  end

  function me.weigh(cursor)
    local a, b, half = probabilities(cursor.stage), values(cursor.stage), p.value_dim // 2
    -- Of kernels with 512 threads ptxas takes no instruction with more registers than 128.
    local columns = p.threads <= 384 and half or half // 2
    k:wgmma_fence()
    for first = 0, half - 1, columns do
      local acc = columns == half and me.acc or me.acc:slice(first // 2, columns // 2)
      for step = 0, p.block // 16 - 1 do
        k:wgmma_mma_async(acc, a(step), b(step, me.number * half + first), form(columns, 1, 1))
      end
    end
    k:wgmma_commit_group()
  end
end

--- Scores that a row may not see become -inf.
function module.hide(me, block)
  local k = me.k
  if me.clear then return end
  k:if_(block:ge(me.clear_to), function()
    local first = signed(k, block * me.p.block + me.column)
    for half = 0, 1 do
      local limit = me.limits[half] - first
      for r = 2 * half, #me.scores - 1, 4 do
        for i = 0, 1 do k:mov(me.scores[r + i], -math.huge, { guard = limit:le(8 * (r // 4) + i) }) end
      end
    end
  end)
end

--- Scores become probabilities, for both consumers in shared memory, where they take the place of the block's last
--- panel. Returns what makes the sums so far relative to the new maximum.
function module.share(me, cursor)
  local k, p = me.k, me.p
  local rescale, words = me.soft:next(), k:fragment(me.scores):operand(p.dtype)
  local to = k:address(me.g.buffers.cache, 8 * p.panel_bytes) + (cursor.stage * p.k.bytes + me.in_panel)
  for i = 0, #words // 4 - 1 do k:stmatrix_x4(i == 0 and to or to ~ (2 * i << 4), words:slice(4 * i, 4)) end
  for half = 0, 1 do
    k:st_shared_f32(
      k:address(me.g.buffers.tops, 256 * me.number) + (me.rows[half] << 2), me.soft.top[half],
      { guard = me.first_lane })
  end
  k:fence_proxy_async { space = "shared::cta" }
  k:bar_arrive(shared_by[me.number], { threads = 256 })
  me.sync()
  return rescale
end

--- Waits for the other consumer's probabilities, and takes over its maxima. Returns what makes the sums so far relative
--- to them.
function module.take(me)
  local k, soft, scale, shrink, grown = me.k, me.soft, me.soft.scale, {}, nil
  k:bar_sync(shared_by[1 - me.number], { threads = 256 })
  for half = 0, 1 do
    local top = k:ld_shared_f32(k:address(me.g.buffers.tops, 256 * (1 - me.number)) + (me.rows[half] << 2))
    local more = top:gt(soft.top[half])
    grown = grown and grown | more or more
    shrink[half] = k:ex2_approx_ftz(k:fma(soft.top[half], scale, k:neg(top * scale)))
    k:mul(soft.sum[half], soft.sum[half], shrink[half])
    k:mov(soft.top[half], top)
  end
  local any = k:vote_sync_any_pred(grown)
  return function(acc)
    k:if_(any, function() k:fragment(acc):map(function(x, at) return x * shrink[at.half] end) end)
  end
end

--- Behind the end of a sequence anything may lie in memory, and 0 times infinity is no number: there this consumer's
--- half of the values becomes 0.
function module.clear_values(me, at, block, cursor)
  local k, p = me.k, me.p
  if me.clear then return end
  local valid = signed(k, at.length) - signed(k, block * p.block)
  k:if_(valid:lt(p.block), function()
    local base = k:address(me.g.buffers.cache, 4 * me.number * p.panel_bytes) + cursor.stage * p.k.bytes
    local zeros = k:regs("b32", 4)
    for i = 0, 3 do k:mov(zeros[i], 0) end
    k:loop({ from = me.thread, to = 4 * p.panel_bytes // 16, step = 128 }, function(unit)
      k:st_shared_v4_b32(base + (unit << 4), zeros, { guard = signed(k, unit >> 3 & (p.block - 1)):ge(valid) })
    end)
    k:fence_proxy_async { space = "shared::cta" }
    me.sync()
  end)
end

return module
