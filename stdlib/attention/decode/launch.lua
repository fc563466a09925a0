-- What launches of wg.attention_decode and wg.mla_decode have in common: shapes, lengths that are left out, and the
-- memory for what several CTAs have of a sequence.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local native = require "wgrun.native"

local module = {}

local text = arguments.shape_text

--- Bytes of parts of sequences, at most, as far as there is a choice.
module.most_kept = 64 << 20

--- Returns the tensor called `name`, of a launch of `what`; raises unless it has the shape `want`, where 0 stands for
--- any extent.
function module.shaped(what, name, tensor, kind, want)
  local shape = arguments.shape_of(tensor)
  local fits = shape and #shape == #want
  for i = 1, fits and #want or 0 do fits = fits and (want[i] == 0 or want[i] == shape[i]) end
  if not fits then
    native.fail(("%s: %s must be %s, %s, not %s"):format(
      what, name, kind, text(want):gsub("%f[%d]0%f[%D]", "any"), text(shape)))
  end
  return tensor
end

--- The workspace for so many stretches, each with up to two parts of rows x dim, and heads that are counted; it is kept
--- in self.workspace.
function module.workspace(self, stretches, heads, rows, dim)
  local w = self.workspace
  if w.stretches ~= stretches then
    w.stretches = stretches
    w.partials, w.part_sums = wg.empty("f32", { 2 * stretches * rows * dim }),
      wg.empty("f32", { 2 * stretches * rows * 2 })
  end
  if w.heads ~= heads then w.heads, w.counters = heads, wg.zeros("u32", { heads }) end
  return w
end

--- The lengths of sequences that use all keys; they are kept in self.full.
function module.full_lengths(self, batches, keys)
  local full = self.full
  if full.batches ~= batches or full.keys ~= keys then
    local list = {}
    for b = 1, batches do list[b] = keys end
    full.batches, full.keys, full.lengths = batches, keys, wg.tensor("s32", { batches }, list)
  end
  return full.lengths
end

return module
