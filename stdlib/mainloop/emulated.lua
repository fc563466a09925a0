-- The main loop of f32 operands, which the tensor cores do not multiply. Each is a sum of parts of a type that they
-- multiply (gemm/split.lua), and a product of two is one of their parts' products:
--
--   a b = (a0 + a1 + a2) (b0 + b1 + b2) = a0 b0 + (a0 b1 + a1 b0) + (a0 b2 + a1 b1 + a2 b0) + ...
--
-- A part is at most 2^-8 (bf16) or 2^-11 (tf32) of the one before. A stage has all parts of a block of K, one below the
-- other. A consumer multiplies them in a fixed order, from the smallest products to the largest, for it is the sum at
-- an instruction's end that the tensor cores truncate (docs/silicon.md). For the same reason a block has sums of its
-- own, which CUDA cores add to those of the tile, rounding to nearest:
--
--   products  = the products of the parts of one block of K     wgmma
--   sums     += products                                        CUDA cores
--
-- While one consumer adds, the tensor cores multiply for another.

local dense = require "wgrun.mainloop.dense"
local native = require "wgrun.native"

local emulated = setmetatable({}, { __index = dense })

-- The products of parts i of A and j of B, as 10 i + j; and the bytes of a part's row in a stage: three parts leave
-- room for two stages of half a line each.
local precisions = {
  bf16x9 = { dtype = "bf16", parts = 3, line = 64, products = { 22, 21, 12, 20, 11, 02, 10, 01, 00 } },
  bf16x6 = { dtype = "bf16", parts = 3, line = 64, products = { 20, 11, 02, 10, 01, 00 } },
  bf16x3 = { dtype = "bf16", parts = 2, line = 128, products = { 10, 01, 00 } },
  ["3xtf32"] = { dtype = "tf32", parts = 2, line = 128, products = { 10, 01, 00 } },
}

--- The type of the parts of a precision, their number, the products, and the `line` of a row in a stage.
function emulated.precision(name) return name and precisions[name] end

function emulated.plan(p)
  p.round_k = p.block_k
  local takes = p.blocks * p.n // 2 + p.n // 2
  if takes > 192 then
    native.fail(("%s: a tile of %d x %d takes %d sums a thread with `precision`: at most 192 fit"):format(
      p.what, p.m, p.n, takes))
  end
end

-- The products of the consumer's block `number` of 64 rows in a stage, into `products`.
local function multiply(k, p, number, products, a, b)
  local form = { n = p.n, k = p.k_step, d = "f32", a = p.dtype, b = p.dtype, scale_d = 0 }
  k:wgmma_fence()
  for _, pair in ipairs(p.emulated.products) do
    for step = 0, p.block_k // p.k_step - 1 do
      k:wgmma_mma_async(products, a(step, 64 * (number - 1) + pair // 10 * p.m), b(step, pair % 10 * p.n), form)
      form.scale_d = 1
    end
  end
  k:wgmma_commit_group()
end

function emulated.consumer(g, me, sums, begun)
  local k, p, ring, cursor, operands = g.k, g.p, g.ring, me.cursor, me.operands
  local products = k:regs("f32", p.n // 2)
  return function(work, place)
    for number = 1, p.blocks do
      for r = 0, #products - 1 do k:mov(sums[number][r], 0.0) end
    end
    k:loop({ from = work.from, to = work.to, step = p.block_k }, function(first_k)
      ring:wait(cursor)
      local a, b = operands.of_stage(cursor.stage, operands.whole)
      for number = 1, p.blocks do
        multiply(k, p, number, products, a, b)
        if begun and number == 1 then k:if_(first_k:eq(work.from), function() begun(work, place) end) end
        k:wgmma_wait_group(0)
        if number == p.blocks then
          ring:release(cursor, { lane = me.lane, cluster = p.multicast_producers, to = me.multicast_producer })
        end
        for r = 0, #products - 1 do k:add(sums[number][r], sums[number][r], products[r]) end
      end
      ring:advance(cursor)
    end)
  end, function() end
end

return emulated
