-- What linear_attention/channel_preparation.lua, or the summary of a segment, leaves of a chunk in global memory, for
-- the kernels that pass over the chunks later: a record for each chunk and head, whose parts are the bytes of tiles in
-- shared memory.

local tensors = require "wgrun.attention.tensors"

local module = {}

--- The parts of a record, in their order: name of the buffer, and bytes. With decays for each head a summary leaves T
--- alone. k: K times the decay since the chunk's first
--- token; q: Q times that and the scale; r: K times the decay up to the chunk's last token; decay: of the whole chunk,
--- f32; of gradients beta, f32, which T then lacks on its diagonal (preparation.storer). p and q go with P.
function module.parts(p)
  if not p.by_channel then return { { "t", p.t.bytes } } end
  return {
    { "t", p.t.bytes }, { "k", p.k.bytes }, { "r", p.k.bytes }, { "p", p.t.bytes, with_p = true },
    { "q", p.k.bytes, with_p = true }, { "decay", p.decay_bytes }, p.least_beta and { "beta", 4 * p.chunk } or nil,
  }
end

--- The bytes of a record, and where each part begins, by name.
function module.bytes(p)
  local sum, offsets = 0, {}
  for _, part in ipairs(module.parts(p)) do
    offsets[part[1]] = sum
    sum = sum + part[2]
  end
  return sum, offsets
end

--- How many records a launch has for each head: of packed sequences one more for each, since a sequence begins with a
--- chunk of its own.
function module.count(p, batch, tokens)
  if p.packed then return tokens // p.chunk + batch end
  return batch * ((tokens + p.chunk - 1) // p.chunk)
end

--- The number of the first record of the packed sequence `batch`, which begins at the row `start`. Rounded down, and
--- one more for each sequence, the records of sequences never overlap.
function module.first_packed(start, batch) return (start >> 6) + batch end

--- The address of a record: `number` counts those of all heads, one head after the other.
function module.place(k, p, records, number)
  local bytes = module.bytes(p)
  return k:mad_wide_u32(number, bytes, records)
end

--- Waits until both copies of a record have ended, which a kernel makes that runs at the same time.
function module.wait(k, ready, number)
  local count = k:element(ready, number)
  k:while_(function() return k:ld_acquire_gpu_global_u32(count):lt(2) end, function() end)
  k:fence_proxy_async { space = "global" }
end

--- The chunk of a packed sequence that has the record `number`; the sequence's start and tokens, 0 where none has it.
--- Each warp counts the sequences that begin at that record or before it.
function module.sequence(k, sizes, number)
  local lane, count = k:special "tid.x" & 31, k:mov(0, { type = "u32" })
  k:loop({ from = 0, to = sizes.sequences, step = 32 }, function(first)
    local mine = first + lane
    local inside, start = mine:lt(sizes.sequences), k:mov(0, { type = "u32" })
    k:ld_global_u32(start, k:element(sizes.starts, mine), { guard = inside })
    local before = module.first_packed(start, mine):le(number) & inside
    k:add(count, count, k:popc(k:vote_sync_ballot(before)))
  end)
  count = tensors.same_in_lanes(k, count)
  local batch = k:max(count, 1) - 1
  local start, tokens = tensors.sequence(k, sizes.starts, batch)
  local is_one = count:gt(0)
  return k:selp(number - module.first_packed(start, batch), 0, is_one), start, k:selp(tokens, 0, is_one)
end

return module
