-- What differs between Hopper's chips, as plans see it: an H100 has less of the L2 cache and of memory's bandwidth for an SM than an H200.

return function(wg, internal)
  -- An H200, which plans that are made without a GPU are for, and on which the constants of their models were fitted.
  local h200 = { sm_count = wg.target.multiprocessors, l2_bytes = 60 << 20, memory_bandwidth = 4.917e12 }
  local clock = 1.755e9 -- cycles of an SM in a second, in long runs
  local chip

  --- The chip that kernels run on, an H200 where there is none: `l2`, how much longer its L2 cache takes for the same bytes of each SM
  --- than an H200's, which has as many slices for each byte of its size; `row_cycles`, what 128 bytes take on their way from the L2 cache to an SM, at least,
  --- where all SMs read: 1.75 on an H200 and 2.5 on an H100, as measured (docs/measurements.md), where requests queue for fewer slices;
  --- `memory`, the bytes that its memory delivers in a cycle of an SM, to all of them.
  function internal.chip()
    if not chip then
      local device = wg.device() or h200
      local function known(key) return device[key] > 0 and device[key] or h200[key] end -- 0 where the driver does not tell
      local bandwidth = known "memory_bandwidth"
      local l2 = h200.l2_bytes / h200.sm_count * known "sm_count" / known "l2_bytes"
      chip = { l2 = l2, row_cycles = 1.75 * l2 ^ 2, memory = bandwidth / clock }
    end
    return chip
  end
end
