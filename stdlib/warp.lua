-- What the lanes of a warp compute together. All of them execute it.

return function(internal)
  --- The inclusive prefix sums of a value over the lanes: in each lane the sum of its value and of those before it.
  function internal.prefix_sums(k, value, lane)
    local sum = k:mov(value, { type = "u32" })
    for i = 0, 4 do
      local other = k:reg "u32"
      k:shfl_sync_up_b32(other, sum, 1 << i, 0)
      k:add(sum, sum, other, { guard = lane:ge(1 << i) })
    end
    return sum
  end
end
