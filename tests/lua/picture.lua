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
os.remove(path)
local result, message, code = t:svg "no/such/folder/x.svg"
check.equal({ result == nil, code }, { true, "ENOENT" })
assert(message:find("no/such/folder/x.svg", 1, true))
check.raises("", function() wg.layout({ 1 << 12, 1 << 12 }):svg(path) end)
