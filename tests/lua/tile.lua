-- Tiles and descriptors, as scripts see them. What they compute is tested in tests/unit/layout.
local check = require "check"
local wg = require "wgrun"

local t = wg.tile { dtype = "bf16", mn = 128, k = 64, major = "K", swizzle = "128B" }
check.equal({ t.dtype, t.mn, t.k, t.major, t.swizzle, t.order }, { "bf16", 128, 64, "K", "128B", "MN" })
check.equal({ t.lbo, t.sbo, t.bytes, t.align }, { 16, 1024, 16384, 1024 })
check.equal({ t.atom_mn, t.atom_k, t.ksteps, t.kstep_elements }, { 8, 64, 4, 16 })
check.equal(#t.layout, 128 * 64)
check.equal(#t.atom, 8 * 64)
check.equal(t:offset(0, 0), 0)
check.equal(t:offset(1, 0), 128 + 16)
check.equal(t.layout(1, 0) * 2, t:offset(1, 0))
check.raises("128", t.offset, t, 128, 0)
check.raises("bad argument #2 to `offset`: expected an integer, got nothing", function() t:offset(0) end)
check.raises("a 32-bit integer", t.offset, t, 1 << 40, 0)

local d = t:descriptor(2048)
local fields = wg.decode(d)
check.equal({ fields.start, fields.lbo, fields.sbo, fields.base_offset, fields.swizzle }, { 2048, 16, 1024, 0, "128B" })
assert(fields.text:find("0x800", 1, true), fields.text)
check.equal(wg.decode(t:descriptor(2048, 2)).start, 2048 + 2 * 32)
check.equal(wg.decode(t:descriptor(2048, 0, 64)).start, 2048 + 64 * 128)
check.raises("1024", t.descriptor, t, 2000)
check.raises("an address in shared memory", t.descriptor, t, -16)
check.equal(wg.decode(t:descriptor(2048 + 3 * 128, 1, 0, true)).base_offset, 3)
check.equal(wg.decode(t:descriptor(2048, 0, 0, true)).base_offset, 0)
check.raises("not a multiple of 128 bytes", t.descriptor, t, 2048 + 64, 0, 0, true)
check.raises("true or false", t.descriptor, t, 2048, 0, 0, 3)
check.raises("", t.descriptor, t, 2048, 4)

check.equal(t.tma_box, { inner = 64, outer = 128, panels = { { offset = 0, mn = 0, k = 0 } } })
check.equal(wg.tile { dtype = "bf16", mn = 128, k = 64, major = "K" }.swizzle, "128B")
check.equal(t, wg.tile { dtype = "bf16", mn = 128, k = 64 })
assert(t ~= wg.tile { dtype = "bf16", mn = 128, k = 64, swizzle = "64B" })
check.equal(tostring(t), "tile bf16 128x64, K-major, swizzle 128B")
check.raises("unknown", wg.tile, { dtype = "bf16", mn = 64, k = 64, swizzle = "256B" })
