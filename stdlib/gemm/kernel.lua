-- The kernel of wg.gemm: a product (mainloop/product.lua) of its plan's main loop, scheduler and reduction with the
-- epilogue of its options (gemm/epilogue.lua).

local wg = require "wgrun"
local parameters = require "wgrun.builder.parameters"
local epilogue = require "wgrun.gemm.epilogue"
local product = require "wgrun.mainloop.product"

local module = {}

-- What the epilogue needs of the kernel, for product.emit.
local function epilogue_of(p, maps)
  local waits_for_c = maps.C and not p.residual_stages
  return {
    shared = function(k)
      return { d = k:shared { bytes = p.buffers * p.consumers * p.panel.bytes, align = p.panel.align, name = "D" } }
    end,
    small = function(k)
      return {
        vectors = p.vectors > 0 and k:shared { bytes = 4 * p.n * p.vectors * p.consumers, align = 16, name = "vectors" }
          or nil,
        c = waits_for_c and k:shared { bytes = 8 * p.consumers, align = 8, name = "C" } or nil,
        flags = p.epilogue.row_sums and not p.partials
          and k:shared { bytes = 4 * p.consumers, align = 4, name = "flags" } or nil,
      }
    end,
    begin = function(g)
      for c = 0, waits_for_c and p.consumers - 1 or -1 do g.k:mbarrier_init(g.k:address(g.buffers.c, 8 * c), 1) end
    end,
    consumer = epilogue.emit,
  }
end

--- The kernel of a plan (of plan.make).
function module.make(p)
  local kernel = wg.kernel(p.name, { threads = p.threads, cluster = { product.cluster_ctas(p) } }, function(k)
    local maps, sizes = parameters.declare(k, p.parameters)
    product.emit(k, p, maps, sizes, epilogue_of(p, maps))
  end)
  kernel:launch_rule {
    rows = "M", columns = "N", m = p.m * p.cluster_m, n = p.n * p.cluster_n,
    parts = p.scatter and p.devices or p.dsmem and 1 or p.splits,
    notes = parameters.notes(p.parameters),
  }
  return kernel
end

return module
