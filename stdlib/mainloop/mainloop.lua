-- wg.mainloop: main loops for your own products. A script puts a kernel together from one of them, a scheduler
-- (wg.scheduler), a reduction (wg.reduction) and an epilogue; wg.gemm does the same with the epilogue of its options
-- (gemm/kernel.lua).

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local parameters = require "wgrun.builder.parameters"
local classes = require "wgrun.classes"
local block_scaled = require "wgrun.mainloop.block_scaled"
local consume = require "wgrun.mainloop.consume"
local dense = require "wgrun.mainloop.dense"
local exclusions = require "wgrun.mainloop.exclusions"
local launch = require "wgrun.mainloop.launch"
local loop = require "wgrun.mainloop.loop"
local plan = require "wgrun.mainloop.plan"
local product = require "wgrun.mainloop.product"
local sparse = require "wgrun.mainloop.sparse"
local native = require "wgrun.native"
local cluster = require "wgrun.reduction.cluster"
local memory = require "wgrun.reduction.memory"
local scheduler_groups = require "wgrun.scheduler.groups"
local order = require "wgrun.scheduler.order"
local stream_k = require "wgrun.scheduler.stream_k"
local tiles = require "wgrun.scheduler.tiles"

local fail, options = native.fail, arguments.options

local kinds = { dense = dense, sparse = sparse, block_scaled = block_scaled }

-- A plan for the options of wg.mainloop, with a kind of main loop.
local function plan_of(what, name, opts)
  local p = {
    what = what, kind = kinds[name], dtype = opts.dtype or (name == "block_scaled" and "e4m3" or "bf16"),
    epilogue = {}, scales = {}, edges = {}, evict_first = {}, products = 1, swapped = false, tail_m = false,
    tail_n = false, last_splits = 1, splits = 1, raster = "grouped", group = 8, scheduler = tiles,
  }
  p.a_major, p.b_major, p.schedule, p.constant = opts.a_major, opts.b_major, opts.schedule or "cooperative",
    opts.constant
  p.sparse = name == "sparse" and "A" or nil
  p.k_step = arguments.k_of_wgmma(what, p.dtype)
  p.accumulator = (p.dtype == "s8" or p.dtype == "u8") and "s32" or "f32"
  if name == "block_scaled" then
    if p.dtype ~= "e4m3" and p.dtype ~= "e5m2" then
      fail(("%s: block scales are of e4m3 and e5m2, not of %s"):format(what, p.dtype))
    end
    p.scales = { a_scales = "block", b_scales = "block" }
  end
  return p
end

-- Adds what a scheduler or a reduction adds to the plan.
local function add_part(p, opts, key)
  local part = opts[key]
  if part == nil then return end
  if getmetatable(part) ~= native.classes[key] then fail(("%s: %s must be one of wg.%s"):format(p.what, key, key)) end
  p[key] = part.kind
  arguments.extended(p, part.plan)
end

-- How the kinds of this file emit their product, and launch it.
local strategy = {
  emit = function(k, p, declared, begin, epilogue)
    product.emit(k, p, declared.maps, declared.sizes, {
      begin = begin,
      consumer = function(g, me, acc, added)
        local store, finish = epilogue(me.number, me.number)
        return { begin = me.place, store = consume.store_tile(g, me, acc, added, store), finish = finish }
      end,
    })
  end,
  launch = function(self, kernel, A, B, given)
    local p = self.plan
    launch.check_operand_values(p, given)
    local groups, group_rows, rows_of_tiles = scheduler_groups.arguments(
      p, given, (arguments.matrix("mainloop:launch: A", A)), p.m * p.cluster_m)
    local M, N, K = launch.extents("mainloop:launch", p, A, B, groups)
    return launch.make(self, kernel, {
      A = A, B = B, M = M, N = N, K = K, rows = M, columns = N, given = given, groups = groups,
      group_rows = group_rows, rows_of_tiles = rows_of_tiles,
    })
  end,
}

local function made(what, name, opts)
  opts = options(what, opts)
  local p = plan_of(what, name, opts)
  add_part(p, opts, "scheduler")
  add_part(p, opts, "reduction")
  plan.set_tile(p, { opts.tile[1], opts.tile[2], opts.tile[3] or 128 // native.element_bytes[p.dtype] })
  plan.set_cluster(p, order.cluster_of(what, opts.cluster))
  p.kind.plan(p)
  p.stream_k = p.scheduler == stream_k
  p.slices = p.stream_k and 2 or p.splits
  if p.stream_k and p.reduction ~= memory then
    fail(what .. ": wg.scheduler.stream_k takes a reduction = wg.reduction.memory()")
  end
  if p.reduction and p.slices == 1 then fail(what .. ": a reduction puts slices of K together: `splits` of it is 1") end
  exclusions.check_choices(p)
  if p.reduction == cluster then
    p.dsmem = cluster.dsmem_of(p) or fail((
      "%s: the sums of %d parts of a tile of %d x %d do not fit into shared memory, or the tile, the cluster or the "
        .. "kind of main loop does not go with wg.reduction.cluster"):format(
      what, p.splits, p.m, p.n))
  end
  p.partials = p.reduction == memory
  plan.set_operands(p)
  plan.set_stages(p, opts.shared + (p.dsmem and p.consumers * p.dsmem.bytes or 0), opts.stages, opts.registers)
  p.parameters = parameters.list(function(add)
    plan.operand_parameters(p, add)
    for _, extent in ipairs { "M", "N", "K" } do
      add { name = extent, type = "u32", least = extent == "K" and p.scheduler.least_k(p) or nil }
    end
    p.kind.parameters(p, add)
    p.scheduler.parameters(p, add)
    if p.reduction then p.reduction.parameters(p, add) end
  end)
  return loop.new(p, {
    cluster = product.cluster_ctas(p), consumers = p.consumers, columns = p.dsmem and p.dsmem.columns or p.n,
  }, strategy)
end

--- The main loop of a product of dense operands. A is M x K, B is N x K, D is M x N.
--- @param options table
--- @option tile table  { m, n, k }: the tile of D, and the elements of K of a stage, by default 128 bytes of them
--- @option dtype "bf16"|"f16"|"tf32"|"e4m3"|"e5m2"|"s8"|"u8"?  the type of A and B; by default bf16, and e4m3 for
---   block scales
--- @option a_major "K"|"MN" = "K"  as of wg.gemm
--- @option b_major "K"|"MN" = "K"  as of wg.gemm
--- @option schedule "cooperative"|"pingpong" = "cooperative"  "cooperative": the consumers share a tile; "pingpong":
---   each of two has its own
--- @option cluster integer|table = 1  the CTAs that share copies by multicast: along M, or { along M, along N }
--- @option scheduler table?  the order of the tiles: one of wg.scheduler; by default wg.scheduler.tiles()
--- @option reduction table?  where K is split, how their sums are put together: one of wg.reduction
--- @option constant "A"|"B"?  an operand that no launch writes that may still run when this one starts
--- @option shared integer[0,232448] = 0  the bytes of shared memory that the kernel needs besides, such as for its
---   epilogue
--- @option stages integer?  of the ring, at least 2; by default as many as fit, up to 12
--- @option registers table?  { producer, consumer }: the registers of a thread, 24 to 256
--- @return mainloop
--- @raise for options that contradict each other, and for tiles that do not fit into shared memory or registers.
--- @see wg.scheduler.tiles
--- @example
---   local loop = wg.mainloop.dense { tile = { 128, 256, 64 }, cluster = 2, shared = 65536 }
function wg.mainloop.dense(opts) return made("wg.mainloop.dense", "dense", opts) end

--- The main loop of a product whose A is 2:4 sparse. Launches get A's values and its metadata, both of
--- wg.sparse.compress(A, "gemm").
--- @param options table
--- @options wg.mainloop.dense
--- @return mainloop
--- @see wg.mainloop.dense
function wg.mainloop.sparse(opts) return made("wg.mainloop.sparse", "sparse", opts) end

--- The main loop of a product of 8-bit floats with block scales, as scales = { a = "1x128", b = "128x128" } of
--- wg.gemm. By default the operands are e4m3.
--- @param options table
--- @options wg.mainloop.dense without schedule
--- @return mainloop
--- @see wg.mainloop.dense
function wg.mainloop.block_scaled(opts) return made("wg.mainloop.block_scaled", "block_scaled", opts) end

classes.shield(wg.mainloop, "wg.mainloop.", { "dense", "sparse", "block_scaled" })
