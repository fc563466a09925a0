-- The sums of parts of K where of 64 rows one warpgroup has all columns: the CTAs of a cluster have different parts
-- (`splits`), and so have the warpgroups of a CTA where a block of K is longer than one of them takes (`k_parts`). One
-- warpgroup of one CTA puts the parts together: the others send it their sums, and it adds them in a fixed order, so
-- that the result is the same in each launch.
--
-- Sums go straight from registers to the owner's shared memory: between CTAs by st.async (PTX ISA 9.7.9.12), whose
-- bytes the mbarrier `arrived` counts, and within a CTA without a cluster by ordinary stores, after which each thread
-- arrives there. The buffer `exchange` is the plan's, which has other things in its place.

local division = require "wgrun.builder.division"
local sums = require "wgrun.reduction.sums"

local divided = division.divided
local blocks = {}

--- The mbarriers. `free`: where a CTA has piece after piece, the owner says when its shared memory is free again.
function blocks.shared(k, p)
  local function barrier(name) return k:shared { bytes = 8, align = 8, name = name } end
  return { free = p.stream and barrier "sums_free" or nil, arrived = barrier "sums" }
end

function blocks.begin(g)
  local k, p, buffers = g.k, g.p, g.buffers
  local arrived = k:address(buffers.arrived)
  k:mbarrier_init(arrived, p.splits == 1 and 128 * p.blocks * (p.k_parts - 1) or 1)
  if buffers.free then k:mbarrier_init(k:address(buffers.free), 128 * p.blocks) end
  if p.splits == 1 then return end
  k:fence_mbarrier_init()
  -- CTA r puts the blocks r, r + splits, ... together.
  local owned = divided(k, p.blocks + p.splits - 1 - g.piece.part, p.splits)
  k:mbarrier_arrive_expect_tx(arrived, owned * ((p.parts - 1) * p.sum_bytes))
end

--- me: `block`, the warpgroup's 64 rows of the tile, and `part`, its part of a block of K; `round`, the parity of the
--- exchange, where there is more than one. store() is emitted for warpgroups that then hold the sums of all parts.
function blocks.consumer(g, me)
  local k, p, buffers = g.k, g.p, g.buffers
  return function(acc, piece, store)
    local owner, arrived = division.remainder(k, me.block, p.splits), k:address(buffers.arrived)
    local round, free = me.round or 0, buffers.free and k:address(buffers.free)
    local received = k:address(buffers.exchange, me.thread << 4)
    if p.owned > 1 then received = received + divided(k, me.block, p.splits) * p.exchange_bytes end
    local owners_part, part = owner * p.k_parts, piece.part * p.k_parts + me.part

    local function receive()
      k:mbarrier_wait(arrived, round)
      for sender = 0, p.parts - 2 do sums.add(k, acc, "shared", received, sender * p.sum_bytes) end
      if free then k:mbarrier_arrive(free) end
      store()
    end

    local function send_in_cta() -- an H200 has no st.async in a launch without clusters
      local slot = p.k_parts > 2 and received + (part - 1) * p.sum_bytes or received
      if free then k:mbarrier_wait(free, round ~ 1) end
      sums.each_four(acc, function(four, place) k:st_shared_v4_f32(slot, four, { offset = place }) end)
      k:mbarrier_arrive(arrived)
    end

    local function send_to_cluster()
      local slot = k:selp_b32(part - 1, part, part:gt(owners_part), { type = "u32" })
      local to, counted = k:mapa(received + slot * p.sum_bytes, owner), k:mapa(arrived, owner)
      sums.each_four(acc, function(four, place)
        k:st_async_v4_f32(place == 0 and to or to + place, four, counted)
      end)
    end

    k:if_(part:eq(owners_part), receive, p.splits == 1 and send_in_cta or send_to_cluster)
    if me.round then k:xor(me.round, me.round, 1) end
  end
end

return blocks
