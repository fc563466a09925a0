-- After the reader of the round before has said that it has read.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local V, F, Y = k:param("V", "u32*"), k:param("F", "u32*"), k:param("Y", "u32*")
  local function await(i, v) k:while_(function() return k:ld_acquire_gpu_global_u32(k:element(F, i)):lt(v) end, function() end) end
  k:if_(k:special("laneid"):eq(0), function()
    k:loop(3, function(i)
      k:if_(k:special("ctaid.x"):eq(0), function()
        await(1, i)
        k:st_global_u32(k:element(V, 0), i)
        k:st_release_gpu_global_u32(k:element(F, 0), i + 1)
      end, function()
        await(0, i + 1)
        k:st_global_u32(k:element(Y, i), k:ld_global_u32(k:element(V, 0)))
        k:st_release_gpu_global_u32(k:element(F, 1), i + 1)
      end)
    end)
  end)
end)
kernel:run { grid = { 2 }, args = { wg.zeros("u32", 1), wg.zeros("u32", 2), wg.zeros("u32", 3) } }
