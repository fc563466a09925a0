# What ptxas says of inline PTX has the place of the call in the script.
file bad.lua <<'LUA'
local wg = require "wgrun"
wg.kernel("bad", { threads = 32 }, function(k)
  local D, x = k:param("D", "u32*"), k:special "tid.x"
  local d = k:asm { "addd.u32 %d, %a, 1;", out = { d = "u32" }, inputs = { a = x }, effects = "none" }
  k:st_global_u32(D, d)
end)
LUA
unset WGRUN_CUDA
CUDA_VISIBLE_DEVICES= run check --assemble bad.lua
if grep -q "not assembled: " err.txt out.txt; then echo "skipped: $(cat err.txt)"; exit 77; fi
err_has "bad.lua:4: ptxas"
err_has "addd"
