-- What reductions have in common: how sums lie in memory, and how they are added.

local module = {}

--- Calls visit(four registers, their place in bytes, block, r) for all of `acc`, a list of arrays of accumulators: for
--- acc[block][r] and the next three. Threads of a warpgroup lie side by side, 16 bytes each.
function module.each_four(acc, visit)
  for block, regs in ipairs(acc) do
    for r = 0, #regs - 1, 4 do visit(regs:slice(r, 4), (#regs * (block - 1) + r) * 128 * 4, block, r) end
  end
end

--- Adds the sums of a slice that another warpgroup has left at `offset` behind `from`. space: "shared" or "global".
function module.add(k, acc, space, from, offset)
  local kind = acc[1][0].type
  module.each_four(acc, function(four, place)
    local theirs = k:regs(kind, 4)
    k[("ld_%s_v4_%s"):format(space, kind)](k, theirs, from, { offset = offset + place })
    for i = 0, 3 do k:add(four[i], four[i], theirs[i]) end
  end)
end

return module
