-- wg.mainloop.mixed_input: the main loop of mixed-input products, for your own products.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local classes = require "wgrun.classes"
local loop = require "wgrun.mainloop.loop"
local mixed_input_launch = require "wgrun.mixed_input.launch"
local plan = require "wgrun.mixed_input.plan"
local product = require "wgrun.mixed_input.product"

local strategy = {
  emit = function(k, p, declared, begin, epilogue)
    product.emit(k, p, declared.maps, declared.sizes, {
      begin = begin, consumer = function(_, me) return epilogue(me.number, me.block) end,
    })
  end,
  launch = function(self, kernel, A, B, given) return mixed_input_launch.make(self, kernel, A, B, nil, given) end,
}

--- The main loop of a mixed-input product: its B are weights of 4 or 8 bits, packed by wg.prepack, as for a
--- wg.gemm with b_type. It computes the transpose of D: the epilogue gets 64 rows of B, which are columns of D, and
--- `columns` rows of A; `row` counts rows of B. Launches give `b_scales`, and `b_zeros`.
--- @param options table
--- @option b_type "s4"|"u4"|"s8"|"u8"|"e4m3"|"mxfp4"|"nvfp4"  as of wg.gemm. Of the last two N is a multiple of 64: the
---   rows of the packed weights are counted
--- @option a_type "bf16"|"f16"|"e4m3" = "bf16"  as of wg.gemm
--- @option group_size integer = 128  as of wg.gemm
--- @option zeros boolean = false  as of wg.gemm
--- @option tile table  { rows of B, 64 or 128; rows of A; k }: k is by default chosen by the others
--- @option splits integer[1,8] = 1  the slices of K, which the CTAs of a cluster multiply
--- @option stream_k boolean = false  CTAs have equal shares of the K blocks of all tiles
--- @option constant "B"?  the weights are not written by any launch that may still run when this one starts
--- @option next boolean = false  as of wg.gemm
--- @option shared integer[0,232448] = 0  the bytes of shared memory that the kernel needs besides, such as for its
---   epilogue
--- @option stages integer?  of the ring, at least 2; by default as many as fit, up to 16
--- @return mainloop
--- @see wg.prepack
--- @example
---   local loop = wg.mainloop.mixed_input { b_type = "s4", tile = { 64, 16 }, shared = 8192 }
---   local panel = wg.panel { dtype = "bf16", n = loop.columns, transposed = true }
function wg.mainloop.mixed_input(opts)
  local p = plan.make_loop(arguments.options("wg.mainloop.mixed_input", opts))
  p.parameters = mixed_input_launch.parameters(p)
  return loop.new(p, { cluster = p.splits, consumers = p.blocks, columns = p.n }, strategy)
end

--- The old name of wg.mainloop.mixed_input: it warns, and calls that.
--- @param options table
--- @options wg.mainloop.mixed_input
--- @return mainloop
--- @see wg.mainloop.mixed_input
function wg.mainloop.mixed(opts)
  warn "wg.mainloop.mixed is called wg.mainloop.mixed_input now"
  return wg.mainloop.mixed_input(opts)
end

classes.shield(wg.mainloop, "wg.mainloop.", { "mixed_input", "mixed" })
