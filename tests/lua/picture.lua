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
check.raises("belongs to view", function() t:svg(path, { access = "ldmatrix" }) end)
check.raises("unknown option `chunk` of svg", function() t:svg(path, { chunk = 8 }) end)
check.raises("unknown option `view` of svg", function() wg.fragment { of = "mma_sync_c" }:svg(path, { view = "bytes" }) end)

-- Bank conflicts of any layout and of any addresses, with the guilty lanes.
local ldmatrix
for _, conflict in ipairs(plain_layout:bank_conflicts "bf16") do
  if conflict.access == "ldmatrix" then ldmatrix = conflict end
end
check.equal({ ldmatrix.degree, ldmatrix.passes / ldmatrix.phases }, { 8, 8 })
check.equal(ldmatrix.worst, { { first_lane = 0, degree = 8, bank = 0, guilty = { 0, 1, 2, 3, 4, 5, 6, 7 } } })
check.equal(wg.bank_phases({ 0, 4, 128, 256 }, 4), { { first_lane = 0, degree = 3, bank = 0, guilty = { 0, 2, 3 } } })
check.equal(#wg.bank_phases({ 0, 16, 32, 48, 64, 80, 96, 112, 128 }, 16), 2)
check.raises("no address in shared memory", wg.bank_phases, { -4 }, 4)
check.raises("a lane cannot access 3 bytes", wg.bank_phases, { 0 }, 3)

os.remove(path)
local result, message, code = t:svg "no/such/folder/x.svg"
check.equal({ result == nil, code }, { true, "ENOENT" })
assert(message:find("no/such/folder/x.svg", 1, true))
check.raises("", function() wg.layout({ 1 << 12, 1 << 12 }):svg(path) end)
