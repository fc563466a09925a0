-- The plan of wg.attention_backward: tiles, stages and the shape of the products for a head size, from the options.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local attention_options = require "wgrun.attention.options"
local scores = require "wgrun.attention.scores"

local module = {}

local options = arguments.options

-- By head size. A CTA keeps blocks of `keys` and takes blocks of `rows` queries, with two consumers.
--
-- Up to 128 each consumer has half of the keys, with all columns of their dK and dV. `parts` divide a block of queries,
-- so that its scores fit into registers. Where registers are left, each consumer keeps its keys and values there:
-- products of 64 columns read as much of A as of B from shared memory, which limits them. Wider heads (`wide`) have no
-- room for that: all keys are each consumer's, and half of the columns; of the scores, which both need, each computes
-- those of half of the queries. Two CTAs are a cluster, in which each has half of the keys: sums of dQ go to global
-- memory once for twice as many keys. At 256 that leaves room for one stage of dO (`gradient_stages`).
--
-- Blocks of 80 queries at 128 read fewer bytes of K and V for a product. They leave no registers for products that run
-- on into the next block (`drained`). Where tiles are short, more is wasted at the diagonal and at the end than is
-- gained.
--
-- dQ of a block is divided among the consumers by its `rows` or its `columns`, so that each has a product with 64 rows,
-- as wgmma wants it; or by columns and `transposed`. `staged`: attention/backward/shares.lua.
local shapes = {
  [64] = { keys = 128, rows = 128, parts = 2, dq = "rows", in_registers = true, staged = true },
  [96] = { keys = 128, rows = 64, parts = 1, dq = "columns" },
  [128] = { keys = 128, rows = 80, parts = 1, dq = "transposed", staged = true, drained = true },
  [192] = { keys = 128, rows = 64, parts = 2, dq = "columns", wide = true, cluster = 2 },
  [256] = { keys = 128, rows = 64, parts = 2, dq = "columns", wide = true, cluster = 2, gradient_stages = 1 },
}

-- At 128, without 80 queries. With dropout these leave too few registers, too: 10 percent slower on an H200.
local narrow_blocks = { rows = 64, drained = false }

-- Wider heads whose slopes take registers: without clusters, in which a consumer holds more.
local alone = { keys = 64, cluster = 1, gradient_stages = 2 }

--- The plan for the options of wg.attention_backward.
function module.make(opts)
  opts = options("wg.attention_backward", opts)
  local p = attention_options.plan("wg.attention_backward", opts)
  p.group = p.heads // p.kv_heads -- heads that share K and V
  arguments.extended(p, shapes[p.dim])
  for i = 1, opts.problem and 2 or 0 do
    arguments.whole(("wg.attention_backward: problem[%d]"):format(i), opts.problem[i], 1, 0x3FFFFFFF)
  end
  local vary, short = scores.slopes_vary(p), p.causal and opts.problem and opts.problem[1] <= 2048
  if p.dim == 128 and (vary or short or p.dropout) then arguments.extended(p, narrow_blocks) end
  if vary then -- and take registers
    if p.cluster then arguments.extended(p, alone) end
    p.in_registers, p.parts = false, p.dim == 128 and 2 or p.parts
  end
  p.part = p.rows // p.parts
  p.cluster = p.cluster or 1
  p.own_keys = p.keys // p.cluster -- those of a CTA
  p.consumers, p.registers, p.stages = 2, { 24, 240 }, { q = 2, gradient = p.gradient_stages or 2 }
  p.threads = 128 * (1 + p.consumers)
  p.stats_bytes = 2 * 4 * p.rows -- two f32 for each query of a block
  p.sums_bytes = 4 * p.rows * p.dim -- dQ of a block, in f32
  p.shares = p.cluster * p.consumers -- of dQ of a block
  p.share_bytes = p.sums_bytes // p.shares

  -- Rows of a head, and the same bytes as an operand whose K extent are the rows. Where a product takes half of the
  -- columns, these are whole lines of the swizzle.
  local half = p.dim // 2
  local function line_of(columns) return 2 * columns % 128 == 0 and 128 or 2 * columns % 64 == 0 and 64 or 32 end
  local function views(count, line, dim)
    local swizzle = line .. "B"
    return wg.tile { dtype = p.dtype, mn = count, k = dim, major = "K", swizzle = swizzle },
      wg.tile { dtype = p.dtype, mn = dim, k = count, major = "MN", order = "K", swizzle = swizzle },
      { dtype = p.dtype, columns = line // 2, line_bytes = line }
  end
  p.q, p.q_columns, p.q_lines = views(p.rows, line_of(p.wide and half or p.dim), p.dim)
  local columns = p.dim // p.shares -- of dQ, for each consumer
  p.k, p.k_columns, p.k_lines = views(p.own_keys, line_of(p.dq == "columns" and columns or p.dim), p.dim)
  if p.cluster > 1 then -- half of the columns of a block of queries, and of the other CTA's keys
    p.half_q = views(p.rows, p.q_lines.line_bytes, half)
    p.half_k, p.half_k_columns = views(p.own_keys, p.k_lines.line_bytes, half)
  end
  if p.wide then -- dS^T and P^T, and dS from the same bytes
    p.ds = wg.tile { dtype = p.dtype, mn = p.own_keys, k = p.rows, major = "K" }
    p.ds_columns = wg.tile { dtype = p.dtype, mn = p.rows, k = p.own_keys, major = "MN", order = "K" }
  else
    p.ds = wg.tile { dtype = p.dtype, mn = p.rows, k = p.keys, major = "K" }
  end
  p.panel = wg.panel { dtype = p.dtype, n = p.wide and half or p.dim } -- of dK and dV
  p.q_panel = wg.panel {
    dtype = p.dtype, n = p.dq == "rows" and p.dim or p.dq == "columns" and columns or p.rows,
    transposed = p.dq == "transposed",
  }
  return p
end

return module
