# check: an illegal form is found while the kernel is traced; a failed assertion on results that nobody computed is
# no error of the kernel.
file form.lua <<'END'
local wg = require "wgrun"
wg.kernel("k", { threads = 128 }, function(k)
  local acc = k:regs("f32", 33)
  k:wgmma_mma_async(acc, k:reg "u64", k:reg "u64", { n = 65, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = false })
end)
END
run check form.lua
exits 1
err_has "form.lua:4: "
file result.lua <<'END'
local wg = require "wgrun"
local kernel = wg.kernel("k", { threads = 128 }, function(k) end)
kernel:run { grid = { 1, 1, 1 } }
assert(wg.zeros("f32", { 1 })[0] == 1, "wrong result")
END
run check result.lua
exits 0
err_has "warning: the script stopped here, perhaps because no kernel ran; the rest was not checked: wrong result"
out_has "result.lua: 1 kernel, 0 errors, 1 remark"
file broken.lua <<'END'
local x = nil + 1
END
run check broken.lua
exits 1
err_has "wgrun: broken.lua:1: "
# An undefined name is an error, before and after a kernel, and after a launch: the kernels behind it were not seen.
file name.lua <<'END2'
local wg = require "wgrun"
local kernel = wg.kernel("k", { threads = 128 }, function(k) end)
kernel:run { grid = { 1, 1, 1 } }
undefined.name()
END2
run check name.lua
exits 1
err_has "name.lua:4: "
run ptx name.lua
exits 1
err_has "name.lua:4: "
# A failed assertion without a launch has no excuse.
file assertion.lua <<'END2'
local wg = require "wgrun"
wg.kernel("k", { threads = 128 }, function(k) end)
assert(false, "no excuse")
END2
run check assertion.lua
exits 1
err_has "assertion.lua"
# Nor do errors of the library, or of Lua's own.
file number.lua <<'END2'
local wg = require "wgrun"
wg.kernel("k", { threads = 128 }, function(k) end):run { grid = 1 }
local x = ("x"):rep(-1) .. ("%d"):format(0.5)
END2
run check number.lua
exits 1
err_has "number.lua:3: "
