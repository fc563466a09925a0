-- Names with a zero byte, at which they would end for the system: refused, or taken whole.
local wg = require "wgrun"
local check = require "check"

local t, path = wg.zeros("f32", { 1 }), os.tmpname()
local before = assert(io.open(path)):read "a"
check.raises("expected a name without a zero byte", function() t:save(path .. "\0.npy") end)
check.raises("expected a name without a zero byte", function() wg.load(path .. "\0.npy") end)
check.raises("expected a name without a zero byte", function() wg.layout("8:1"):svg(path .. "\0.svg") end)
check.equal(assert(io.open(path)):read "a", before)
os.remove(path)

local function kernel(f) return wg.kernel("k", { threads = 32 }, f or function() end) end
check.raises("kernel name `k\\x00`", function() wg.kernel("k\0", { threads = 32 }, function() end) end)
check.raises("parameter name `A\\x00`", function() kernel(function(k) k:param("A\0", "u32") end) end)
check.raises("parameter name `A\\x00`", function() kernel(function(k) k:tensor_map("A\0", { dtype = "f32", box = { 8 } }) end) end)
-- It stands in a comment of the text, which a newline would end.
check.raises("shared buffer `a b`: a name has no control characters", function() kernel(function(k) k:shared { bytes = 16, name = "a\nb" } end) end)
check.raises("shared buffer `a\\x00`: a name has no control characters", function() kernel(function(k) k:shared { bytes = 16, name = "a\0" } end) end)
check.raises("has no `bar_sync\\x00x`", function() kernel(function(k) k["bar_sync\0x"](k, 0) end) end)
check.raises("unknown option `type\\x00`", function() kernel(function(k) k:mov(1, { ["type\0"] = "u32" }) end) end)
check.raises("unknown option `gemm\\x00`", function() wg.tune { ["gemm\0"] = 1 } end)
