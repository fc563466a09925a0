-- The products of the planes of remainders: for each modulus the int8 product of a plane of A and one of B, of which
-- the remainders are stored. The planes are batched groups of rows (scheduler/groups.lua).

local wg = require "wgrun"
local remainder = require "wgrun.gemm_f64.remainder"

local module = {}

--- The kernel, and its main loop. opts: tile, schedule and cluster, as of wg.mainloop.dense.
function module.make(name, opts)
  local panel = wg.panel { dtype = "u8", n = opts.tile[2] }
  local bytes = panel.count * panel.bytes
  local loop = wg.mainloop.dense {
    dtype = "s8", tile = opts.tile, schedule = opts.schedule, cluster = opts.cluster, shared = 2 * bytes,
    scheduler = wg.scheduler.groups { kind = "batched" },
  }
  local kernel = wg.kernel(name, { threads = loop.threads, cluster = { loop.cluster } }, function(k)
    local sizes = loop:parameters(k)
    local D, data = k:tensor_map("D", panel.box), k:param("D_data", "u8*")
    local constants, rows = k:param("constants", "const u32*"), k:param("rows", "u32")
    local out = k:shared { bytes = loop.consumers * bytes, align = panel.align, name = "D" }
    loop:emit(k, { epilogue = function(me)
      local store, finish = k:epilogue {
        panel = panel, map = D, buffer = out, offset = me.number * bytes, buffers = panel.count, barrier = me.barrier,
        rows = { to = data, width = sizes.N },
      }
      return function(acc, row, column, limit)
        local of = remainder.load(k, constants, k:div(limit - 1, rows), 32)
        for r = 0, #acc - 1 do
          local word = k:reg "b32"
          k:mov(word, acc[r])
          k:mov(acc[r], remainder.emit(k, { k:xor_b32(word, 0x80000000) }, of))
        end
        store(acc, row, column, limit)
      end, finish
    end })
  end)
  return kernel, loop
end

return module
