-- Sums over the rows of D, as it is before it is rounded (epilogue/row_reductions.lua).

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local roofline = require "wgrun.cost.roofline"
local options = require "wgrun.epilogue.options"
local native = require "wgrun.native"

local fail, ceil_div = native.fail, roofline.ceil_div

-- The workspace of a launch: partial sums of tiles, and a counter for each row of tiles. `gemm` keeps it.
local function workspace(l, p)
  local tiles, parts = ceil_div(l.rows, 64 * p.blocks), ceil_div(l.columns, p.n)
  local shared, key = l.gemm.shared, tiles .. " x " .. parts
  if shared.row_tiles ~= key then
    shared.row_tiles = key
    shared.row_partials, shared.row_counters = wg.empty("f32", { parts * tiles * 64 * p.blocks }),
      wg.zeros("u32", { tiles })
  end
  return shared
end

return {
  step = 8, options = { "row_sums", "epsilon" }, launch = { { name = "row_sums", of = "row_sums" } },
  read = function(given, e)
    e.row_sums = given.row_sums or nil
    if given.epsilon == nil then return end
    local what = "wg.gemm, epilogue"
    if e.row_sums ~= "rms" then fail(what .. ': `epsilon` goes with row_sums = "rms"') end
    e.epsilon = arguments.positive(what .. ": epsilon", given.epsilon)
  end,
  cycles = function(e) return e.row_sums and 0.02 or 0 end,
  samples = function(of, out) out.row_sums = of.e.row_sums and wg.zeros("f32", { of.M }) or nil end,
  parameters = function(p, add)
    if not p.epilogue.row_sums then return end
    local height = 64 * p.blocks -- of a tile
    add {
      name = "row_sums", type = "f32*", note = "one for each row of D",
      value = function(l) return options.vector_of_launch("row_sums", l, l.rows, "row of D") end,
    }
    add {
      name = "row_partials", type = "f32*", value = function(l) return workspace(l, p).row_partials end,
      note = ("M, rounded up to a multiple of %d, for each of the ceil(N / %d) columns of tiles"):format(height, p.n),
    }
    add {
      name = "row_counters", type = "u32*", value = function(l) return workspace(l, p).row_counters end,
      note = ("ceil(M / %d), zeros before the first launch"):format(height),
    }
  end,
  operands = function(of)
    local e, sizes, k = of.e, of.sizes, of.k
    if not e.row_sums then return {} end
    local function finish(_, sum)
      local mean = k:div_full(sum, k:cvt_rn_f32_u32(sizes.N))
      return k:rsqrt_approx_ftz(k:add(mean, e.epsilon or 1e-6))
    end
    return {
      row_sums = {
        blocks = of.blocks, of = e.row_sums == "rms" and "squares" or e.row_sums,
        finish = e.row_sums == "rms" and finish or nil, to = sizes.row_sums,
        partials = sizes.row_partials, counters = sizes.row_counters, rows = sizes.M, columns = sizes.N,
        flag = k:address(of.stages.flags, of.mine << 2),
      },
    }
  end,
}
