-- The kernel of wg.gemm{ b_type = }: a mixed-input product (mixed_input/product.lua) with the epilogue of its options,
-- which stores D transposed.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local division = require "wgrun.builder.division"
local parameters = require "wgrun.builder.parameters"
local plan = require "wgrun.epilogue.plan"
local scales = require "wgrun.mainloop.scales"
local product = require "wgrun.mixed_input.product"

local module = {}

-- D's panels stand where the sums were.
local function consumer(g, me)
  local k, p, maps, sizes, buffers = g.k, g.p, g.maps, g.sizes, g.buffers
  return k:epilogue(arguments.extended({
    panel = p.panel, map = maps.D, buffer = buffers.sums,
    offset = division.divided(k, me.block, p.splits) * p.sums_bytes + p.panel_offset,
    barrier = me.number + 1,
  }, plan.operands(k, p, {
    maps = maps, sizes = sizes, stages = buffers, mine = me.block,
    factors = function(names) return scales.factors(p, sizes, names) end,
  })))
end

--- The kernel of a plan (of plan.make).
function module.make(p)
  local waits_for_c = p.epilogue.beta or p.epilogue.residual
  local epilogue = {
    consumer = consumer,
    shared = waits_for_c and function(k) return { c = k:shared { bytes = 8 * p.blocks, align = 8, name = "C" } } end,
    begin = waits_for_c and function(g)
      for c = 0, p.blocks - 1 do g.k:mbarrier_init(g.k:address(g.buffers.c, 8 * c), 1) end
    end,
  }
  local kernel = wg.kernel(p.name, { threads = p.threads, cluster = { p.splits } }, function(k)
    local maps, sizes = parameters.declare(k, p.parameters)
    product.emit(k, p, maps, sizes, epilogue)
  end)
  kernel:launch_rule { notes = parameters.notes(p.parameters) }
  return kernel
end

return module
