-- What the scripts of this folder begin with: tiles that are filled, and a variant of the kernel to make.
local wg = require "wgrun"

local kit = { variant = arg and arg[1] or "" }

--- Is the variant one of these?
function kit.is(...)
  for _, name in ipairs { ... } do
    if kit.variant == name then return true end
  end
  return false
end

--- Without a variant, for what looks at the kernels alone, runs the script for each variant that its line `-- good:` names, and
--- returns true.
function kit.each_good()
  if kit.variant ~= "" then return false end
  for line in io.lines(arg[0]) do
    for name in (line:match "^%-%- good: (.*)" or ""):gmatch "%S+" do
      arg[1] = name
      dofile(arg[0])
    end
  end
  return true
end

--- 64 x 64 of bf16: 8 KiB with a 128-byte swizzle.
kit.tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

--- The address of the thread's own 16 bytes of a buffer.
function kit.mine(k, buffer)
  return k:mad_lo_u32(k:special "tid.x", 16, k:mov(buffer, { type = "u32" }))
end

--- Four registers of zeros.
function kit.words(k)
  local words = k:regs("b32", 4)
  for i = 0, 3 do k:mov(words[i], 0) end
  return words
end

--- Zeros in whole tiles of 8 KiB, by 128 threads. No fence, no barrier.
function kit.store(k, buffers)
  local words = kit.words(k)
  for _, buffer in ipairs(buffers) do
    local at = kit.mine(k, buffer)
    for i = 0, 3 do k:st_shared_v4_b32(at, words, { offset = 2048 * i }) end
  end
end

--- The same, and wgmma may read them.
function kit.fill(k, buffers)
  kit.store(k, buffers)
  k:fence_proxy_async()
  k:bar_sync(0)
end

--- One wgmma of 64 x 64 x 16, in a group of its own.
function kit.multiply(k, acc, a, b, scale_d)
  k:wgmma_fence()
  k:wgmma_mma_async(acc, k:descriptor(a), k:descriptor(b), { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = scale_d or 0 })
  k:wgmma_commit_group()
end

--- Runs the kernel. False where kernels are only looked at (`wgrun check`), so that nothing was computed.
function kit.ran(kernel, launch) return kernel:run(launch) ~= "none" end

--- mbarriers for `arrivals`, made by thread 0 and known to all. One buffer of 8 bytes each.
function kit.mbarriers(k, arrivals)
  local made = {}
  for i, count in ipairs(arrivals) do made[i] = k:shared { bytes = 8, align = 8, name = "mbarrier" .. i } end
  k:if_(k:special("tid.x"):eq(0), function()
    for i, count in ipairs(arrivals) do k:mbarrier_init(made[i], count) end
    k:fence_mbarrier_init()
  end)
  k:bar_sync(0)
  return table.unpack(made)
end

return kit
