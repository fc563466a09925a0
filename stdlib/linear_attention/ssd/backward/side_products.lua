-- The products of a warpgroup of wg.ssd_backward's kernel (side.lua).

local descriptors = require "wgrun.tile.descriptors"

local module = {}

--- The products of a side, each a commit group.
function module.make(g, side)
  local k, p, buffers = g.k, g.p, g.buffers
  local function view(name, tile) return descriptors.view(k, buffers[name], tile) end
  local function multiply(d, a, b, count, form)
    form.k, form.d, form.a, form.b = 16, "f32", p.dtype, p.dtype
    local first = form.scale_d
    k:wgmma_fence()
    for step = 0, count - 1 do
      form.scale_d = step == 0 and first or 1
      k:wgmma_mma_async(d, a(step), b(step), form)
    end
    k:wgmma_commit_group()
  end
  local function words(from) return function(step) return from:slice(4 * step, 4) end end
  local own, other = view(side.own, p.k)(), view(side.other, p.k)()
  local other_columns = view(side.other, p.k_columns)()
  local values, others = view(side.values, p.v), view(side.others, p.v)
  local others_columns = g.buffers[side.result] and view(side.others, p.v_columns)
  local state, state_columns = view(side.state, p.k), view(side.state, p.k_columns)
  local out = {}
  function out.scores(d)
    multiply(d, own, other, p.dim // 16, { n = p.chunk, trans_a = 0, trans_b = 0, scale_d = 0 })
  end
  function out.pairs(d, stage)
    multiply(d, values(stage), others(stage), p.columns // 16, { n = p.chunk, trans_a = 0, trans_b = 0, scale_d = 0 })
  end
  function out.rows(d, scaled, stage)
    multiply(d, words(scaled), state_columns(stage), p.columns // 16, { n = p.dim, trans_b = 1, scale_d = 1 })
  end
  function out.of_state(d, stage)
    multiply(d, own, state(stage), p.dim // 16, { n = p.columns, trans_a = 0, trans_b = 0, scale_d = 0 })
  end
  function out.within(d, weights, stage)
    multiply(d, words(weights), others_columns(stage), p.chunk // 16, { n = p.columns, trans_b = 1, scale_d = 1 })
  end
  -- With the sums of all heads, of which the keys read those of the queries, transposed, in shared memory.
  function out.finish(d, sums)
    local a = sums and words(sums) or view("pairs", p.v_columns)()
    multiply(d, a, other_columns, p.chunk // 16, {
      n = p.dim, trans_a = not sums and 1 or nil, trans_b = 1, scale_d = 1,
    })
  end
  return out
end

return module
