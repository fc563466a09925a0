-- What a CTA of linear attention computes: heads of a sequence or of one of its segments.

local tensors = require "wgrun.attention.tensors"
local division = require "wgrun.builder.division"

local module = {}

--- Completes the place `at` of a CTA, which has its head. It gets batch, qk_head; start, the first token in the
--- tensors; tokens, their number up to the end of the sequence; chunks. Of a sequence in segments also segment, and
--- slot, the number of the segment among all; a summary has all but the last one, and with p.whole that, too.
--- of_sequence(at): is called while it is the place of the whole sequence, and may set record, the number of its first
--- chunk among those of all sequences, which then is that of the segment.
function module.complete(g, at, of_sequence)
  local k, p = g.k, g.p
  local z = k:special "ctaid.z"
  at.batch = z
  if p.segments > 1 then
    local parts = p.segments - (p.summary and not p.whole and 1 or 0)
    at.batch = division.divided(k, z, parts)
    at.segment = division.remainder(k, z, parts)
    at.slot = at.batch * p.segments + at.segment
  end
  at.qk_head = division.divided(k, at.head, p.heads // p.qk_heads)
  if p.packed then
    at.start, at.tokens = tensors.sequence(k, g.sizes.starts, at.batch)
  else
    at.start, at.tokens = k:mov(0, { type = "u32" }), g.sizes.tokens
  end
  at.chunks = (at.tokens + 63) >> 6
  if of_sequence then of_sequence(at) end
  if p.segments > 1 then
    local each = division.divided(k, at.chunks + (p.segments - 1), p.segments)
    local before = k:min(each * at.segment, at.chunks)
    at.chunks = k:min(each, at.chunks - before)
    at.start = at.start + (before << 6)
    at.record = at.record and at.record + before
    at.tokens = at.tokens - k:min(before << 6, at.tokens)
  end
  return at
end

--- The chunk of that turn, a register: a pass backward begins with the last one.
function module.chunk(g, turn) return g.p.reversed and g.at.chunks - 1 - turn or turn end

return module
