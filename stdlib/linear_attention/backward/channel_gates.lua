-- dg and dbeta of a chunk with decays for each channel, by the warpgroup that makes its operands
-- (backward/channel_operands.lua): a thread has the g of a channel, and lanes of a warp the beta of its 16 rows.

local gates = require "wgrun.linear_attention.gates"
local images = require "wgrun.linear_attention.backward.images"
local warps = require "wgrun.builder.warp"
local elements = require "wgrun.tile.elements"

local module = {}

local rows <const>, line <const> = 16, 4 * (128 + 8)

--- The bytes between the rows of the buffer `logs`, f32: rows of accumulators lie in different banks.
module.line = line

--- The bytes of the lane's four elements of the warp's first row in a tile; those of others have the swizzle besides.
function module.place_in_tile(k, p, me)
  return k:mul(me.lane >> 4, p.k:offset(0, 64)) + (me.warp * rows << 7) + ((me.lane & 15) << 3)
end

--- The sum of S dS over the thread's channel of the state.
function module.state_product(g, me)
  local k, split = g.k, elements.from_output[g.p.dtype]
  local s, d_s, sums = k:regs("b32", 4), k:regs("b32", 4), k:regs("f32", 8)
  for c = 0, 7 do k:mov(sums[c], 0.0) end
  local mine = me.thread << 4 -- of a row of core matrices: eight channels, of one column of V
  k:loop(images.tile.bytes // 2048, function(i)
    local at = mine + (i << 11)
    k:ld_shared_v4_b32(s, k:address(g.buffers.s) + at)
    k:ld_shared_v4_b32(d_s, k:address(g.buffers.d_s) + at)
    for word = 0, 3 do
      local x, y = { split(k, s[word]) }, { split(k, d_s[word]) }
      for i2 = 1, 2 do
        local sum = sums[2 * word + i2 - 1]
        k:fma(sum, x[i2], y[i2], sum)
      end
    end
  end)
  return warps.sums_of_each(k, sums, 8, me.lane, { lanes = 8 })
end

--- The products of the rows of V and dV: lane l has that of row l % 16 of the warp's.
function module.value_products(g, me, here, head)
  local k, p, at = g.k, g.p, here.at
  local split = elements.from_output[p.dtype]
  local token = (at.chunk << 6) + me.warp * rows
  local row = k:mad_wide_u32((at.first + token) * p.heads + head, p.dim * 2, g.sizes.V)
  local from = k:mad_wide_u32(me.lane, 8, row)
  local left = k:mov(at.tokens, { type = "s32" }) - k:mov(token, { type = "s32" })
  local tile = k:address(g.buffers.d_v) + module.place_in_tile(k, p, me)
  local v, d, sums = k:regs("b32", rows), k:regs("b32", 2), {}
  for first = 0, rows - 1, rows // 2 do
    for i = 0, rows - 1 do k:mov(v[i], 0) end
    for i = 0, rows // 2 - 1 do
      local r = first + i
      k:ld_global_v2_b32(v:slice(2 * i, 2), from, { offset = r * p.heads * p.dim * 2, guard = left:gt(r) })
    end
    for i = 0, rows // 2 - 1 do
      local r, sum = first + i, nil
      k:ld_shared_v2_b32(d, tile ~ ((r & 7) << 4), { offset = r << 7 })
      for word = 0, 1 do
        local x, y = { split(k, v[2 * i + word]) }, { split(k, d[word]) }
        for e = 1, 2 do sum = sum and k:fma(x[e], y[e], sum) or x[e] * y[e] end
      end
      sums[r] = sum
    end
  end
  return warps.sums_of_each(k, sums, rows, me.lane)
end

--- dbeta of the warp's rows, a lane for each: what T has of it is V dV + k dk' over beta.
function module.store_dbeta(g, me, here, head, products)
  local k, p, at = g.k, g.p, here.at
  local row = (me.lane & (rows - 1)) + me.warp * rows
  local token = (at.chunk << 6) + row
  local guard = me.lane:lt(rows) & token:lt(at.tokens)
  local index = k:mad_wide_u32(at.first + token, p.heads, k:cvt_u64_u32(head))
  local beta = k:mov(1.0, { type = "f32" })
  k:ld_global_f32(beta, k:element(g.sizes.beta, index), { guard = guard })
  gates.limit(k, p, beta, guard)
  for half = 0, 1 do
    products = products + k:ld_shared_f32(k:address(g.buffers.dots) + (row << 2), { offset = half * 4 * p.chunk })
  end
  k:st_global_f32(k:element(g.sizes.dbeta, index), products * k:rcp_approx_ftz(beta), { guard = guard })
end

--- dg of the chunk: a thread for each channel, from the last token to the first. last: what g of the last token has
-- besides.
function module.sum_up(g, me, here, head, last)
  local k, p, at = g.k, g.p, here.at
  local from, sum = k:address(g.buffers.logs) + (me.thread << 2), k:mov(last, { type = "f32" })
  local token = at.chunk << 6
  local to = k:mad_wide_u32((at.first + token) * p.heads + head, 4 * p.dim, g.sizes.dg)
  to = k:mad_wide_u32(me.thread, 4, to)
  local left = k:mov(at.tokens, { type = "s32" }) - k:mov(token, { type = "s32" })
  local step = 8
  k:loop(p.chunk // step, function(turn)
    local first = p.chunk - step - turn * step
    local place = k:mad_wide_u32(first, 4 * p.dim * p.heads, to)
    local values, rows_left = {}, left - k:mov(first, { type = "s32" })
    for i = step - 1, 0, -1 do
      values[i] = k:ld_shared_f32(from + first * line, { offset = i * line })
    end
    for i = step - 1, 0, -1 do
      k:add(sum, sum, values[i])
      k:st_global_f32(place, sum, { offset = 4 * p.dim * p.heads * i, guard = rows_left:gt(i) })
    end
  end)
end

return module
