-- The launches of a product (mainloop/product.lua): their extents, grid, arguments and workspaces.

local arguments = require "wgrun.arguments"
local parameters = require "wgrun.builder.parameters"
local roofline = require "wgrun.cost.roofline"
local product = require "wgrun.mainloop.product"
local scales = require "wgrun.mainloop.scales"
local native = require "wgrun.native"
local memory = require "wgrun.reduction.memory"
local order = require "wgrun.scheduler.order"

local module = {}

local fail, ceil_div = native.fail, roofline.ceil_div

--- Raises for values of a launch that belong to another main loop than the plan's.
function module.check_operand_values(p, given)
  for option, value in pairs { zeros = "b_zeros", next = "next" } do
    if given[value] ~= nil then
      fail(("gemm: `%s` is given, but not of a wg.gemm{ %s = true }"):format(value, option))
    end
  end
  if given.metadata ~= nil and not p.sparse then
    fail(("gemm: `metadata` is given, but A is dense: %s"):format(
      p.what == "wg.gemm" and 'wg.gemm{ sparse = "A" }' or "wg.mainloop.sparse"))
  end
  for _, name in ipairs { "a_scales", "b_scales" } do
    if given[name] ~= nil and not p.scales[name] then
      fail(("gemm: `%s` is given, but %s has no such `scales`"):format(name, p.what))
    end
  end
end

-- The rows of a matrix of which an operand has the parts.
local function rows_of_parts(what, p, name, operand, rows)
  if not p.emulated then return rows end
  local parts = p.emulated.parts
  if operand.dtype ~= p.dtype or rows % parts ~= 0 then
    fail(("%s: %s is %s of %s, must be %d parts of %s"):format(
      what, name, arguments.shape_text(operand.shape), operand.dtype, parts, p.dtype),
      ('wg.split(%s, "%s")'):format(name, p.precision))
  end
  return rows // parts
end

--- M, N and K of A * B; raises an error that names what does not fit. `groups`: their number, or nil.
function module.extents(what, p, A, B, groups)
  -- The majors of the problem as given: a swapped plan has those of the other operand.
  local a_major, b_major = p.a_major, p.b_major
  if p.swapped then a_major, b_major = b_major, a_major end
  local m, k = arguments.matrix(what .. ": A", A)
  k = k * p.kind.packed
  if a_major == "MN" then m, k = k, m end
  local n, k_of_b = arguments.matrix(what .. ": B", B)
  if b_major == "MN" then n, k_of_b = k_of_b, n end
  m, n = rows_of_parts(what, p, "A", A, m), rows_of_parts(what, p, "B", B, n)
  if groups then
    if n % groups ~= 0 then fail(("%s: B has %d rows, no multiple of the %d groups"):format(what, n, groups)) end
    n = n // groups
  end
  if k ~= k_of_b then fail(("%s: K is %d in A, but %d in B"):format(what, k, k_of_b)) end
  return m, n, k
end

-- How many clusters of so many CTAs run at a time, on the SMs that a launch may use.
local function at_a_time(kernel, ctas, sms)
  local most = ctas > 1 and kernel:resident_clusters() or roofline.sms()
  if not sms then return most end
  if sms < ctas then fail(("gemm: sms is %d, but a cluster has %d CTAs"):format(sms, ctas)) end
  return math.min(most, sms // ctas)
end

--- A launch of `kernel`, which computes a product: { grid =, args =, flops = }. With stream-K or slices of K in the
--- last round, a larger grid has no room in the workspace. owner: has `plan`, whose `parameters` are the kernel's, and
--- `shared`, where what its launches share is kept. l: A, B, M, N, K as the kernel takes them; what else the values of
--- the parameters look at; rows_of_tiles and columns_of_tiles, where they do not follow from M and N.
function module.make(owner, kernel, l)
  local p = owner.plan
  local rows = l.rows_of_tiles or ceil_div(l.M, p.m * p.cluster_m)
  local columns = l.columns_of_tiles or ceil_div(l.N, p.n * p.cluster_n)
  local tiles, blocks, ctas = rows * columns, ceil_div(l.K, p.round_k), product.cluster_ctas(p)
  if tiles == 0 then fail "gemm: D has no elements, so there is nothing to compute" end
  local grid = p.scheduler.grid and p.scheduler.grid(p, rows, columns)
  if grid and l.given.sms then fail "gemm: `sms` is given, but the kernel has a CTA for each tile" end
  local most = at_a_time(kernel, grid and 1 or ctas, l.given.sms)
  local clusters = math.min(p.scheduler.units(p, tiles, blocks), most)
  local workspace = p.scheduler.workspace(
    p, { tiles = tiles, K = l.K, blocks = blocks, clusters = clusters, most = most })
  function l.order() return order.order_of(owner, rows, columns) end
  function l.scales(name) return scales.scales_of_launch(p, name, l) end
  function l.partials() return (memory.workspace_of(owner, workspace)) end
  function l.counters() return select(2, memory.workspace_of(owner, workspace)) end
  local args = parameters.arguments(p.parameters, l)
  return { grid = grid or { clusters * ctas }, args = args, flops = 2.0 * l.M * l.N * l.K * p.products }
end

return module
