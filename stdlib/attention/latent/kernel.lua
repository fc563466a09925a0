-- The kernel of wg.mla_decode: attention of few queries of many heads to one latent row for each key, in the absorbed
-- form of multi-head latent attention (DeepSeek-V2 2024), whose values are a part of the keys. Persistent CTAs, in
-- clusters of two where there are more than 64 rows, share the keys equally (attention/decode/scheduler.lua): a CTA has
-- 64 rows of queries and heads. A warpgroup copies blocks of the cache (attention/latent/copies.lua). Two others
-- multiply (attention/latent/consume.lua), store O (attention/latent/completion.lua), and add up what several CTAs have
-- of a sequence (attention/latent/parts.lua).

local wg = require "wgrun"
local decode_scheduler = require "wgrun.attention.decode.scheduler"
local consume = require "wgrun.attention.latent.consume"
local copies = require "wgrun.attention.latent.copies"
local meeting = require "wgrun.builder.meeting"
local parameters = require "wgrun.builder.parameters"

local module = {}

-- The pieces of a block, each with its ring.
local function pieces_of(k, p)
  local pieces = {}
  for i, piece in ipairs(p.pieces) do
    local readers = (piece.readers[1] and 1 or 0) + (piece.readers[2] and 1 or 0)
    local ring = k:pipeline {
      stages = p.stages, arrivals = 4 * readers * p.cluster, producers = copies.producers(p), name = "piece" .. i,
    }
    pieces[i] = setmetatable({ ring = ring }, { __index = piece })
  end
  return pieces
end

--- The kernel of a plan (of plan.make), with these parameters. While it is emitted it is a table `g`: k, p; maps and
--- sizes, its parameters; buffers and pieces.
function module.make(p, list)
  local kernel = wg.kernel(p.name, { threads = p.threads, cluster = { p.cluster } }, function(k)
    local g = { k = k, p = p }
    g.maps, g.sizes = parameters.declare(k, list)
    g.buffers = {
      q = k:shared { tile = p.q, name = "Q" },
      cache = k:shared { bytes = p.stages * p.k.bytes, align = 1024, name = "cache" },
      tops = k:shared { bytes = 512, align = 4, name = "tops" },
      sums = k:shared { bytes = 1024, align = 4, name = "sums" },
      seen = k:shared { bytes = 8, align = 4, name = "seen" },
      arrived = p.copies == "converted" and k:shared { bytes = 512 * p.copiers, align = 4, name = "arrived" } or nil,
      taken = k:shared { bytes = 8, align = 4, name = "taken" },
    }
    g.pieces = pieces_of(k, p)
    g.queries = k:pipeline { stages = 1, arrivals = 8, producers = copies.query_producers(p), name = "queries" }
    local thread = k:special "tid.x"
    k:if_(thread:eq(0), function()
      if g.maps.cache then k:prefetch_tensormap(g.maps.cache) end
      for _, piece in ipairs(g.pieces) do piece.ring:init() end
      g.queries:init()
    end)
    -- The next grid of the stream may start now, as this one may have before the previous grid's results were there.
    k:griddepcontrol_launch_dependents()
    local work = decode_scheduler.emit(k, p, g.sizes, thread & 31)
    meeting.all(k, p.cluster)
    local role = k:shfl_sync_idx_b32(thread >> 7, 0, 31)
    k:if_(role:lt(p.copiers), function()
      k:setmaxnreg_dec(p.registers[1])
      copies.emit(g, work, thread)
    end, function()
      k:setmaxnreg_inc(p.registers[2])
      consume.emit(g, work, role - p.copiers)
    end)
    if p.cluster > 1 then meeting.all(k, p.cluster) end -- the other CTA may still need this one's memory
  end)
  kernel:launch_rule { notes = parameters.notes(list) }
  return kernel
end

return module
