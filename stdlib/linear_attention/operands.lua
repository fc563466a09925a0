-- Products of a chunk whose operand A is 16-bit words in registers, of 64 columns of V by tokens or by the columns of
-- K; V^T as such words; values of tokens for the columns of accumulators.

local descriptors = require "wgrun.tile.descriptors"
local elements = require "wgrun.tile.elements"

local module = {}

--- Products with operands in buffers, each a commit group: rows(buffer, tile) returns multiply(acc, words, stage,
--- scale_d) for a B that has tokens along N; columns(buffer, tile) for one that is read along the tokens.
function module.products(k, p)
  local function multiply(acc, words, at, form)
    k:wgmma_fence()
    for step = 0, #words // 4 - 1 do
      k:wgmma_mma_async(acc, words:slice(4 * step, 4), at(step), {
        n = form.n, k = 16, d = "f32", a = p.dtype, b = p.dtype, trans_b = form.trans_b,
        scale_d = step == 0 and form.scale_d or 1,
      })
    end
    k:wgmma_commit_group()
  end
  local out = {}
  function out.rows(buffer, tile)
    local at = descriptors.view(k, buffer, tile)
    return function(acc, words, stage, scale_d)
      multiply(acc, words, at(stage), { n = p.chunk, trans_b = 0, scale_d = scale_d })
    end
  end
  function out.columns(buffer, tile)
    local at = descriptors.view(k, buffer, tile)
    return function(acc, words, stage, scale_d)
      multiply(acc, words, at(stage), { n = tile.mn, trans_b = 1, scale_d = scale_d })
    end
  end
  return out
end

--- Returns load(stage, words), V^T of a stage as it lies in accumulators, two tokens a register: lane i of a warp
--- points ldmatrix to token i % 8 of eight, and to one of the two units of the warp's 16 columns; the upper half of the
--- lanes to the next eight tokens.
function module.value_loader(k, p, buffer)
  local thread = k:special "tid.x"
  local lane = thread & 31
  local unit = ((thread >> 5 & 3) << 1) + (lane >> 3 & 1)
  local base = k:address(buffer) + ((lane & 7) + ((lane >> 4) << 3)) * 128 + ((unit ~ (lane & 7)) << 4)
  return function(stage, words)
    local from = base + stage * p.v.bytes
    for sixteen = 0, p.chunk // 16 - 1 do
      k:ldmatrix_x4(words:slice(4 * sixteen, 4), from, { trans = 1, offset = sixteen * 16 * 128 })
    end
    return words
  end
end

--- Values of an array in shared memory for the thread's columns of accumulators: of(r) is that of register r. from: its
--- address; count: of values.
function module.columns(k, from, count)
  local mine, out = from + ((k:special "tid.x" & 3) << 3), k:regs("f32", count // 4)
  for eight = 0, count // 8 - 1 do k:ld_shared_v2_f32(out:slice(2 * eight, 2), mine, { offset = 32 * eight }) end
  return function(r) return out[r // 4 * 2 + r % 2] end
end

--- Words of pairs of elements: words[i] has of(2 i) and of(2 i + 1).
function module.pack(k, p, words, of)
  local convert = elements.to_output[p.dtype]
  for i = 0, #words - 1 do k:mov(words[i], convert(k, of(2 * i), of(2 * i + 1))) end
end

return module
