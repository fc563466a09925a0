-- The object that wg.mainloop makes: a main loop's part of a kernel, and of its launches.

local arguments = require "wgrun.arguments"
local parameters = require "wgrun.builder.parameters"
local classes = require "wgrun.classes"
local native = require "wgrun.native"

local module = {}

local fail, options = native.fail, arguments.options

--- The main loop of a product, made by wg.mainloop: a producer warpgroup copies tiles of A and B into the stages of a
--- ring, and consumer warpgroups multiply them. Its methods are called in this order: parameters and emit in the
--- kernel, launch for each launch.
--- @field threads integer  of a CTA
--- @field cluster integer  the CTAs of a cluster
--- @field consumers integer  the consumer warpgroups of a CTA
--- @field columns integer  of the sums that an epilogue gets: those of a tile, or with wg.reduction.cluster those that
---   a CTA stores
--- @field plan table  the choices: tile, stages, registers
local mainloop = classes.new "mainloop"

--- A main loop of a plan: fields, which are cluster, consumers and columns; strategy: emit(k, p, declared, begin,
--- epilogue) and launch(self, kernel, A, B, given).
function module.new(p, fields, strategy)
  return setmetatable(
    arguments.extended(
      { plan = p, strategy = strategy, threads = p.threads, shared = {}, declared = false }, fields),
    mainloop)
end

--- Declares the main loop's parameters of the kernel: the tensor maps of A and B, M, N and K, and those of its kind,
--- its scheduler and its reduction. mainloop:launch gives the arguments for them; those of parameters that are declared
--- later come behind them.
--- @param k k
--- @return table  the extents: M, N and K, u32 registers
--- @example
---   local sizes = loop:parameters(k)
---   local D = k:tensor_map("D", panel.box)
function mainloop:parameters(k)
  arguments.object("mainloop:parameters, k", k, "builder")
  local maps, sizes = parameters.declare(k, self.plan.parameters)
  self.declared = { k = k, maps = maps, sizes = sizes }
  return { M = sizes.M, N = sizes.N, K = sizes.K }
end

--- Emits the product: the roles of the warpgroups, the ring between them and the barriers. The kernel has `threads` and
--- `cluster` of the main loop; what it does behind this call, all threads do.
--- @param k k
--- @param options table
--- @option epilogue function  function(consumer): emitted once where the consumers' code begins; consumer.number is the
---   warpgroup's, from 0 (a register), consumer.barrier that of a named barrier for its 128 threads. Returns store(acc,
---   row, column, limit), emitted for each block of 64 rows of a tile with the registers of its sums and the place in D
---   of its first element, and finish(), emitted at the end: what k:epilogue returns, or your own functions.
---   `limit`, with groups: the end of the rows that belong to the group
--- @option begin function?  function(): emitted for one thread before all others begin, such as to initialise mbarriers
--- @see k:epilogue
--- @example
---   loop:emit(k, { epilogue = function(me)
---     return k:epilogue {
---       panel = panel, map = D, buffer = out, offset = me.number * panel.bytes, barrier = me.barrier,
---     }
---   end })
function mainloop:emit(k, opts)
  options("mainloop:emit", opts)
  arguments.body("mainloop:emit, epilogue", opts.epilogue)
  if opts.begin ~= nil then arguments.body("mainloop:emit, begin", opts.begin) end
  for _, what in ipairs { "threads", "cluster" } do
    if k[what] ~= self[what] then
      fail((
        "mainloop:emit: the kernel has %s = %d, the main loop needs %d: wg.kernel(name, { threads = loop.threads, "
          .. "cluster = { loop.cluster } }, ...)"):format(
        what, k[what], self[what]))
    end
  end
  local declared = self.declared
  if not declared or declared.k ~= k then fail "mainloop:emit: call mainloop:parameters(k) before it" end
  -- store and finish of the script's epilogue, for warpgroup `number`, whose rows are the `block`-th of those that
  -- are stored.
  local function epilogue(number, block)
    local store, finish = opts.epilogue { number = block, barrier = number + 1 }
    if type(store) ~= "function" then
      fail "mainloop:emit, epilogue: the function returns store and finish, as k:epilogue does"
    end
    return store, finish or function() end
  end
  self.strategy.emit(k, self.plan, declared, opts.begin and function() opts.begin() end, epilogue)
end

--- The grid and the first arguments of a launch; those of parameters that were declared behind mainloop:parameters come
--- behind them.
--- @param kernel kernel  whose launch it is
--- @param A tensor  M x K, or K x M where A is MN-major; of a sparse A the values
--- @param B tensor  N x K, or K x N where B is MN-major; with groups those of all, one below the other
--- @param options table?  as of gemm:launch: metadata, a_scales, b_scales, b_zeros, next, offsets, sizes, count
--- @options gemm:launch without alpha, beta, C, bias, gate, gate_bias, gate_scales, residual, row_sums, d_scales
--- @return table  { grid =, args =, flops = }
--- @raise when the extents do not fit each other.
--- @example
---   local launch = loop:launch(kernel, A, B)
---   launch.args[#launch.args + 1] = D
---   kernel:run(launch)
function mainloop:launch(kernel, A, B, given)
  given = given or {}
  options("mainloop:launch", given)
  arguments.object("mainloop:launch, kernel", kernel, "kernel")
  return self.strategy.launch(self, kernel, A, B, given)
end

classes.close("a main loop", mainloop)
classes.shield(mainloop, "mainloop:", { "parameters", "launch" })

return module
