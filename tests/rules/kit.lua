-- What the scripts of these folders begin with. Each is a whole script: it finds this file beside its folder.
local kit = {}

--- Zeros in whole tiles, by 128 threads. No fence, no barrier: threads beyond them do not write.
function kit.store(k, buffers)
  local zero, thread = k:regs("b32", 4), k:special "tid.x"
  for i = 0, 3 do k:mov(zero[i], 0) end
  for _, buffer in ipairs(buffers) do
    local at = k:mad_lo_u32(thread, 16, k:mov(buffer, { type = "u32" }))
    for i = 0, buffer.bytes - 1, 2048 do k:st_shared_v4_b32(at, zero, { offset = i }) end
  end
end

--- The same, and wgmma may read them.
function kit.fill(k, buffers)
  kit.store(k, buffers)
  k:fence_proxy_async()
  k:bar_sync(0)
end

return kit
