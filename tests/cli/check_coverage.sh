# check --dynamic: which synchronising instructions the runs have executed.
file rare.lua <<'END'
local wg = require "wgrun"
local launched, least = ...
local rare = wg.kernel("rare", { threads = 64 }, function(k)
  local X, n = k:param("X", "f32*"), k:param("n", "u32")
  k:bar_sync(0)
  k:if_(n:gt(100), function()
    k:bar_sync(0)
    k:fence_proxy_async()
  end)
  k:bar_sync(0)
  k:if_(n:eq(7), function() k:bar_sync(0) end)
  k:fence_proxy_async({ guard = n:eq(1000) })
end)
local idle = wg.kernel("idle", { threads = 32 }, function(k) k:bar_warp_sync() end)
local plain = wg.kernel("plain", { threads = 32 }, function(k) end)
for n in launched:gmatch "%d+" do rare:run { grid = 1, args = { wg.zeros("f32", { 1 }), tonumber(n) } } end
if least then
  rare:sizes { n = { tonumber(least), 8 }, run = function(size)
    rare:run { grid = 1, args = { wg.zeros("f32", { 1 }), size.n } }
  end }
end
END
run check --dynamic --seeds 2 rare.lua 1
exits 0
out_has "rare: coverage: 2 of 6 synchronising instructions ran; not: lines 7-8, 11-12"
out_has "idle: coverage: 0 of 1 synchronising instructions ran; not: line 14"
out_lacks "plain: coverage"
run check --dynamic --seeds 2 --json rare.lua 1
exits 0
out_has '"executed": 2'
out_has '"of": 6'

# All launches and sizes add up, and a guard that holds nowhere is no execution.
run check --dynamic --seeds 1 rare.lua "1 101" 5
exits 0
out_has "rare: coverage: 5 of 6 synchronising instructions ran; not: line 12"

run check --dynamic --min-coverage 80 rare.lua "1 101" 5
exits 1
err_has "wgrun: coverage of idle is 0.0 %, less than --min-coverage 80"
err_lacks "coverage of rare"
run check --dynamic --min-coverage 80 --json rare.lua "1 101"
exits 1
err_has "wgrun: coverage of rare is 66.7 %"
run check --min-coverage 80 rare.lua 1
exits 2
err_has "--min-coverage is for --dynamic"
run check rare.lua 1
exits 0
out_lacks coverage

# Kernels that a loop makes are told as one.
file many.lua <<'END'
local wg = require "wgrun"
for i = 1, 3 do
  local some = wg.kernel("some", { threads = 32 }, function(k)
    for _ = 1, i do k:bar_warp_sync() end
  end)
  some:run { grid = 1 }
end
END
run check --dynamic --seeds 1 many.lua
exits 0
out_has "some (3 kernels): coverage: 6 of 6 synchronising instructions ran"

# Of a PTX text: of the kernel that is launched.
file k.ptx <<'END'
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u32 n)
.reqntid 32, 1, 1
{
  .reg .u32 %n;
  .reg .pred %p;
  ld.param.u32 %n, [n];
  bar.sync 0;
  setp.gt.u32 %p, %n, 9;
  @!%p bra END;
  bar.sync 0;
END:
  ret;
}
END
echo '{ "grid": 1, "arguments": [3] }' >launch.json
run check --dynamic k.ptx --launch launch.json
exits 0
out_has "k: coverage: 1 of 2 synchronising instructions ran; not: line 13"
run check --dynamic --min-coverage 51 --json k.ptx --launch launch.json
exits 1
out_has '"executed": 1'
err_has "coverage of k is 50.0 %"
