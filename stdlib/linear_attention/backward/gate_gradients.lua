-- The gates of a chunk in wg.delta_rule_backward's last kernel, and their gradients dg and dbeta: two warps, a lane for
-- two tokens next to each other.

local gates = require "wgrun.linear_attention.gates"
local units = require "wgrun.linear_attention.backward.units"
local warps = require "wgrun.builder.warp"

local module = {}

-- What the warpgroups leave for each head: of each token the sums over q dq, k dk' and k dk'' (kernel.lua) and R_ii,
-- f32; and of each of eight warps its part of what g of the last token has besides.
local arrays <const> = { "queries", "keys", "other_keys", "diagonal" }
local parts = 8

--- The place of array `name`, or "parts", in the buffer of sums, in bytes.
function module.offset(p, name)
  local number = 0
  while number < #arrays and arrays[number + 1] ~= name do number = number + 1 end
  return 4 * p.chunk * number
end

--- The size of that buffer, in bytes.
function module.bytes(p) return module.offset(p, "parts") + 4 * parts end

-- `here` for a head of V.
local function of_head(here, head)
  return setmetatable({ at = setmetatable({ head = head }, { __index = here.at }) }, { __index = here })
end

-- Returns load(to): the lane's g and beta.
local function loader(here, head, lane)
  local load = gates.loader(of_head(here, head), lane)
  return function(to) load(here.at.chunk, to) end
end

local function registers(k) return { g = k:regs("f32", 2), beta = k:regs("f32", 2) } end

--- The role of the warp that makes the sums of g.
function module.emit_sums(g)
  local k, p, ring = g.k, g.p, g.rings.rows
  local lane, cursor = k:special "tid.x" & 31, ring:cursor()
  local offsets, stage_at = gates.places(k, p, g.buffers.gates)
  local mine = registers(k)
  units.each(g, function(here)
    units.heads(here, function(head)
      loader(here, head, lane)(mine)
      local sums = gates.sums(k, mine.g, lane)
      ring:acquire(cursor)
      local store = gates.storer(k, stage_at(cursor.stage) + (lane << 3), offsets)
      store("sum", function(i) return sums[i] end)
      local ended = gates.ended(here, sums, (here.at.chunk << 6) + (lane << 1))
      store("ended", function(i) return ended[i] end)
      k:bar_warp_sync(0xFFFFFFFF)
      k:mbarrier_arrive(ring:full_barrier(cursor), { guard = lane:eq(0) })
      ring:advance(cursor)
    end)
  end)
end

-- The sums over the lanes from the own one to the last.
local function sums_behind(k, value, lane)
  local sum = k:mov(value, { type = "f32" })
  for i = 0, 4 do
    local other = k:reg "f32"
    k:shfl_sync_down_b32(other, sum, 1 << i, 31)
    k:add(sum, sum, other, { guard = lane:lt(32 - (1 << i)) })
  end
  return sum
end

--- The role of the warp that has the gradients.
function module.emit(g)
  local k, p, ring, sizes = g.k, g.p, g.rings.sums, g.sizes
  local lane, cursor = k:special "tid.x" & 31, ring:cursor()
  local from, mine = k:address(g.buffers.sums), registers(k)
  units.each(g, function(here)
    local token = (here.at.chunk << 6) + (lane << 1)
    units.heads(here, function(head)
      loader(here, head, lane)(mine)
      ring:wait(cursor)
      local of = {}
      for _, name in ipairs(arrays) do
        of[name] = k:ld_shared_v2_f32(from + (lane << 3), { offset = module.offset(p, name) })
      end
      local part = k:mov(0.0, { type = "f32" })
      k:ld_shared_f32(part, from + (lane << 2), { offset = module.offset(p, "parts"), guard = lane:lt(parts) })
      k:bar_warp_sync(0xFFFFFFFF)
      k:mbarrier_arrive(ring:empty_barrier(cursor), { guard = lane:eq(0) })
      ring:advance(cursor)
      local inside, each = {}, {}
      for i = 0, 1 do
        inside[i] = (token + i):lt(here.at.tokens)
        each[i] = k:selp(of.queries[i] + of.keys[i] - of.other_keys[i], 0.0, inside[i])
      end
      local last = warps.over_lanes(k, part, function(a, b) return a + b end, 32)
      local behind = sums_behind(k, each[0] + each[1], lane) + last
      local dg = { [0] = behind, behind - each[0] }
      for i = 0, 1 do
        local index = k:mad_wide_u32(here.at.first + token + i, p.heads, k:cvt_u64_u32(head))
        local inverse = k:rcp_approx_ftz(mine.beta[i])
        k:st_global_f32(k:element(sizes.dg, index), dg[i], { guard = inside[i] })
        k:st_global_f32(k:element(sizes.dbeta, index), of.diagonal[i] * inverse * inverse, { guard = inside[i] })
      end
    end)
  end)
end

return module
