# check --dynamic: what only a run shows. Two warps write one word, at an address that the checker does not follow.
file race.lua <<'L'
local wg = require "wgrun"
local at = wg.tensor("u32", { 1 }, { 0 })
local race = wg.kernel("race", { threads = 64 }, function(k)
  local index = k:ld_global_u32(k:param("at", "const u32*"))
  local words = k:shared { bytes = 256, name = "words" }
  k:st_shared_u32(k:mov(words, { type = "u32" }) + index, k:special "tid.x" >> 5)
end)
race:run { grid = { 1 }, args = { at } }
L
run check race.lua
exits 0
run check --dynamic --seeds 2 race.lua
exits 1
err_has "[WG-RACE-01]"
err_has "race.lua:6"
run check --dynamic --json race.lua
exits 1
out_has '"WG-RACE-01"'
file clean.lua <<'L'
local wg = require "wgrun"
local out = wg.zeros("u32", { 32 })
local clean = wg.kernel("clean", { threads = 32 }, function(k)
  k:st_global_u32(k:mad_wide_u32(k:special "tid.x", 4, k:param("out", "u32*")), 1)
end)
clean:run { grid = { 1 }, args = { out } }
L
run check --dynamic clean.lua
exits 0
out_has "1 kernel, 0 errors"
run check --dynamic --seeds 0 clean.lua
exits 2
