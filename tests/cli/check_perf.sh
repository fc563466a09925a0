# check --perf without barriers, fences and waits: what the launch at hand does as well without, and another size needs.
file halves.lua <<'L'
local wg = require "wgrun"
local declares = ...
-- The first n threads store, and read what their neighbours have: for n up to 32 these are lanes of one warp.
local halves = wg.kernel("halves", { threads = 64 }, function(k)
  local Y, n = k:param("Y", "u32*"), k:param("n", "u32")
  local words = k:shared { bytes = 256, align = 16, name = "words" }
  local thread, start = k:special "tid.x", k:mov(words, { type = "u32" })
  k:if_(thread:lt(n), function() k:st_shared_u32(k:mad_lo_u32(thread, 4, start), thread) end)
  k:bar_warp_sync()
  k:bar_sync(0)
  k:if_(thread:lt(n), function()
    k:st_global_u32(k:element(Y, thread), k:ld_shared_u32(k:mad_lo_u32(n - 1 - thread, 4, start)))
  end)
end)
local function launch(n) halves:run { grid = 1, args = { wg.zeros("u32", { 64 }), n } } end
if declares then halves:sizes { n = { 1, 64 }, run = function(size) launch(size.n) end } end
launch(16)
print "done"
L
run check --perf halves.lua
exits 0
err_has "halves.lua:10: note: nothing that the simulator has seen needs this bar.sync 0: without it 1 launch with 4 schedules each gave the same results, and no finding (grid 1, n = 16) [WG-PERF-07]"
err_has "leave out k:bar_sync (in PTX bar.sync 0)"
err_lacks "halves.lua:9"
out_has "halves: without barriers, fences and waits, one at a time (2): 1 launch"
out_has "halves.lua: 1 kernel, 0 errors, 1 remark"
out_lacks "done"
run check --perf --json halves.lua
exits 0
out_has '"halves: without barriers, fences and waits, one at a time (2): 1 launch"'

# With more than 32 threads it is the other one that is too many.
run check --perf halves.lua declares
exits 0
err_has "halves.lua:9: note: nothing that the simulator has seen needs this bar.warp.sync 0xffffffff"
err_has "(grid 1, n = 16; n = 1; n = 64; "
err_lacks "halves.lua:10"

# A script that does not run through.
file fails.lua <<'L'
local wg = require "wgrun"
local kernel = wg.kernel("k", { threads = 32 }, function(k) k:bar_sync(0) end)
if kernel:run { grid = 1, args = {} } ~= "none" then error "not like this" end
L
run check --perf fails.lua
exits 0
out_has "nothing was tried, because the script fails: fails.lua:3: not like this"
