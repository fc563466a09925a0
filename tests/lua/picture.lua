-- Looking at layouts, tiles and fragments.
local check = require "check"
local wg = require "wgrun"

local t = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K", swizzle = "128B" }
local text = t:explain()
assert(text:find("128B", 1, true) and text:find("\n", 1, true), text)

local by_access = {}
for _, conflict in ipairs(t:bank_conflicts()) do by_access[conflict.access] = conflict end
check.equal(by_access.wgmma.degree, 1)
check.equal(by_access.ldmatrix.passes, by_access.ldmatrix.phases)
assert(by_access.ldmatrix.text:find("ldmatrix", 1, true))

-- identify: a tile's own layout is what the tile says; a plain row-major matrix is nothing that wgmma takes.
local id = wg.identify(t.layout, "bf16")
check.equal({ id.canonical, id.operand, id.major, id.swizzle, id.sbo, id.mismatches }, { true, true, "K", "128B", 1024, 0 })
check.equal(id.difference, nil)
local plain = wg.identify(wg.layout "(64,64):(64,1)", "bf16")
check.equal(plain.canonical, false)
assert(plain.mismatches > 0 and plain.difference.given ~= plain.difference.expected and #plain.text > 0)
check.raises("bad argument #2 to `identify`: expected a string, got nothing", wg.identify, t.layout)

-- SVG files; a folder that is not there is no error but a result.
local path = os.tmpname()
for _, object in ipairs { t, t.layout, wg.fragment { of = "wgmma_d", dtype = "f32", n = 8 } } do
  check.equal(object:svg(path), true)
  local file <close> = assert(io.open(path))
  assert(file:read "a":find("<svg", 1, true))
end

-- Views: offsets, byte addresses, chunks of 16 bytes, banks.
local function drawn(object, options)
  assert(object:svg(path, options))
  local file <close> = assert(io.open(path))
  return file:read "a"
end
assert(drawn(t):find(">65</text>", 1, true) and not drawn(t):find(">8190</text>", 1, true))
assert(drawn(t, { view = "bytes" }):find(">8190</text>", 1, true))
assert(drawn(t.layout, { view = "bytes", dtype = "bf16" }):find(">8190</text>", 1, true))
local chunks = drawn(t.atom, { view = "chunks", dtype = "bf16" })
assert(chunks:find("shared memory", 1, true) and chunks:find(">63</text>", 1, true) and not chunks:find(">64</text>", 1, true))
assert(drawn(t, { view = "banks", access = "ldmatrix" }):find("ldmatrix: no conflicts", 1, true))
local plain_layout = wg.layout "(64,64):(64,1)"
assert(drawn(plain_layout, { view = "banks", dtype = "bf16" }):find("wgmma: 8-way", 1, true))
check.raises("the layout counts elements", function() plain_layout:svg(path, { view = "bytes" }) end)
check.raises("requires view", function() t:svg(path, { access = "ldmatrix" }) end)
check.raises("unknown option `chunk` of svg", function() t:svg(path, { chunk = 8 }) end)
check.raises("a fragment is in registers", function() wg.fragment { of = "mma_sync_c" }:print { view = "bytes" } end)

-- Large objects: an overview, unless elements are asked for.
local large = wg.tile { dtype = "bf16", mn = 128, k = 128, major = "K", swizzle = "128B" }
assert(drawn(large):find(">16384-17407</text>", 1, true) and not drawn(large):find(">16385</text>", 1, true))
assert(drawn(large, { view = "offsets" }):find(">8193</text>", 1, true))
assert(drawn(t, { view = "overview" }):find(">next atom", 1, true) == nil)
assert(drawn(wg.fragment { of = "wgmma_d", dtype = "f32", n = 128 }):find(">V60-61</text>", 1, true))
assert(drawn(plain_layout, { view = "conflicts", dtype = "bf16" }):find("ldmatrix: 8-way, 512 passes instead of 64", 1, true))
check.raises("requires view", function() t:svg(path, { view = "chunks", access = "ldmatrix" }) end)

-- A product, from the name of an instruction or from its operands.
local product = wg.mma_picture { shape = "m16n8k16" }
assert(tostring(product):find("B: registers, mma.sync B bf16 8x16", 1, true), tostring(product))
assert(product:svg(path))
local same = wg.mma_picture {
  a = wg.fragment { of = "mma_sync_a", dtype = "bf16", k = 16 }, b = wg.fragment { of = "mma_sync_b", dtype = "bf16", k = 16 },
  d = wg.fragment { of = "mma_sync_c" },
}
check.equal(drawn(same), drawn(product))
assert(tostring(wg.mma_picture { shape = "m64n8k16", swizzle = "32B" }):find("k 0 to 15", 1, true) == nil)
assert(tostring(wg.mma_picture { shape = "m64n8k16" }):find("swizzle 128B", 1, true))
check.raises("operands in registers", wg.mma_picture, { shape = "m16n8k16", swizzle = "64B" })
check.raises("either `shape` or", wg.mma_picture, { shape = "m16n8k16", d = wg.fragment { of = "mma_sync_c" } })
check.raises("option `a`: expected a tile or a fragment, got nil", wg.mma_picture, {})
check.raises("option `d`: expected a fragment", wg.mma_picture, { a = t, b = t, d = t })
check.raises("A is 64x64, B 64x64 (n x k), D 16x8", wg.mma_picture, { a = t, b = t, d = wg.fragment { of = "mma_sync_c" } })
check.raises("is not the shape of an mma", wg.mma_picture, { shape = "16x8x16" })
check.raises("`svg` takes 1 argument, not 2: table is too much", function() product:svg(path, { view = "bytes" }) end)

-- Pages of HTML: for every object, and what svg says of files that cannot be written holds for them.
for _, object in ipairs { t, large, t.layout, wg.fragment { of = "wgmma_d", dtype = "f32", n = 8 }, product } do
  check.equal(object:html(path), true)
  local file <close> = assert(io.open(path))
  local page = file:read "a"
  assert(page:find("<svg", 1, true) and page:find("</html>", 1, true))
end
check.equal(select(3, t:html "no/such/folder/x.html"), "ENOENT")

-- Bank conflicts of any layout and of any addresses, with the guilty lanes.
local ldmatrix
for _, conflict in ipairs(plain_layout:bank_conflicts "bf16") do
  if conflict.access == "ldmatrix" then ldmatrix = conflict end
end
check.equal({ ldmatrix.degree, ldmatrix.passes / ldmatrix.phases }, { 8, 8 })
check.equal(ldmatrix.worst, { { first_lane = 0, degree = 8, bank = 0, guilty = { 0, 1, 2, 3, 4, 5, 6, 7 } } })
check.equal(wg.bank_phases({ 0, 4, 128, 256 }, 4), { { first_lane = 0, degree = 3, bank = 0, guilty = { 0, 2, 3 } } })
check.equal(#wg.bank_phases({ 0, 16, 32, 48, 64, 80, 96, 112, 128 }, 16), 2)
check.raises("not an address in shared memory", wg.bank_phases, { -4 }, 4)
check.raises("a lane cannot access 3 bytes", wg.bank_phases, { 0 }, 3)

os.remove(path)
local result, message, code = t:svg "no/such/folder/x.svg"
check.equal({ result == nil, code }, { true, "ENOENT" })
assert(message:find("no/such/folder/x.svg", 1, true))
check.raises("too many", function() wg.layout({ 1 << 12, 1 << 12 }):svg(path, { view = "offsets" }) end)
check.raises("", function() wg.layout({ 1 << 13, 1 << 13 }):svg(path) end)
