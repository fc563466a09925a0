-- Lua's collector knows how large tensors are: garbage does not pile up.
local wg = require "wgrun"
collectgarbage "incremental" -- lua5.4 starts with the other mode, in which dead keys leave weak tables later

-- 4 GiB in all, of which only a few tensors of 4 MiB may be alive at a time.
local alive, most = 0, 0
local watched = setmetatable({}, { __mode = "k" })
for _ = 1, 1000 do
  watched[wg.zeros("f32", { 1024, 1024 })] = true
  alive = 0
  for _ in pairs(watched) do alive = alive + 1 end
  most = math.max(most, alive)
end
assert(most <= 16, most .. " tensors were alive at once")

-- A tensor that is still in use is never collected.
local kept = wg.tensor("f32", { 2 }, { 1, 2 })
for _ = 1, 100 do wg.zeros("f32", { 1024, 1024 }) end
assert(kept[1] == 2)
