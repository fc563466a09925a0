-- Kernels of wg.ptx on a GPU beside the simulator and beside a Lua kernel, with tensors of the host and of the device, structures,
-- pointers into tensors, tensor maps, variables that keep what a launch has left:
--   wgrun tests/gpu/foreign.lua [BACKEND]
local wg = require "wgrun"
local backend = arg and arg[1] or "gpu"
local here = arg[0]:match "^(.*)gpu/" or "tests/"

--- A tensor where the back end has it.
local function placed(tensor) return backend == "sim" and tensor or tensor:to "gpu" end

local function host(tensor) return backend == "sim" and tensor or tensor:to "cpu" end

local function entry(body)
  return wg.ptx { name = "entry.ptx", text = ".version 8.0\n.target sm_90a\n.address_size 64\n" .. body }
end

local m = wg.ptx(here .. "ptx/rows.ptx")
local n = 1000
local a, b = wg.randn { dtype = "f32", shape = n, seed = 1 }, wg.randn { dtype = "f32", shape = n, seed = 2 }
local sum = a + b

local function equal(got, want, what)
  local same, difference = wg.compare(got, want, 0)
  if not same then error(("%s: differs by %g"):format(what, difference), 0) end
  print(what .. ": the same bits")
end

-- Tensors of the host, which are copied there and back; then tensors of the device, which stay.
local d = wg.zeros("f32", n)
m.add:run { grid = 8, block = 128, args = { a, b, d, n }, backend = backend }
equal(d, sum, "tensors of the host")
local da, db, dd = placed(a), placed(b), placed(wg.zeros("f32", n))
m.add:run { grid = 8, block = 128, args = { da, db, dd, n }, backend = backend }
equal(host(dd), sum, "tensors of the device")

-- A pointer into a tensor of the device; what is around it stays.
local filled = wg.tensor("f32", { n }):fill(-1)
dd = placed(filled:copy())
m.add:run { grid = 1, block = 128, args = { wg.pointer(da, 10), db, wg.pointer(dd, 20), 100 }, backend = backend }
for i = 0, 99 do filled[20 + i] = a[10 + i] + b[i] end
equal(host(dd), filled, "pointers into tensors")

-- A Lua kernel on the same tensors.
local own = wg.kernel("own", { threads = 128 }, function(k)
  local A, B, D, count = k:param("A", "const f32*"), k:param("B", "const f32*"), k:param("D", "f32*"), k:param("n", "u32")
  local i = k:special "ctaid.x" * 128 + k:special "tid.x"
  k:if_(i:lt(count), function()
    k:st_global_f32(k:element(D, i), k:ld_global_f32(k:element(A, i)) + k:ld_global_f32(k:element(B, i)))
  end)
end)
local de = placed(wg.zeros("f32", n))
m.add:run { grid = 8, block = 128, args = { da, db, dd, n }, backend = backend }
own:run { grid = 8, args = { da, db, de, n }, backend = backend }
equal(host(dd), host(de), "a Lua kernel on the same tensors")
local theirs = m.add:time { grid = 8, block = 128, args = { da, db, dd, n }, rounds = 20, backend = backend }
local ours = own:time { grid = 8, args = { da, db, de, n }, rounds = 20, backend = backend }
print(("times: %.2f us of the text, %.2f us of the script"):format(theirs.median_us or 0, ours.median_us or 0))

-- Shared memory that the launch gives, warps in part.
local rows, columns = 3, 300
local x = wg.randn { dtype = "f32", shape = { rows, columns }, seed = 3 }
local y, z = wg.zeros("f32", { rows, columns }), wg.zeros("f32", { rows, columns })
for _, block in ipairs { 32, 96, 128 } do
  m.softmax:run { grid = rows, block = block, shared = columns * 4, args = { x, y, columns }, backend = backend }
  m.softmax:run { grid = rows, block = block, shared = columns * 4, args = { x, z, columns }, backend = "sim" }
  local _, difference = wg.compare(y, z, 1e-6)
  assert(difference <= 1e-6, ("softmax of %d threads: differs by %g"):format(block, difference))
end
print "softmax: within 1e-6 of the simulator"

-- A structure by value with a pointer, a tensor map and a number.
local boxes = dofile(here .. "ptx/boxes.lua")
local whole, part = wg.arange("u32", 0, 16 * 16):reshape(16, 16), placed(wg.zeros("u32", { 8, 8 }))
boxes.structure:run { backend = backend, args = {
  wg.struct { size = 384, [0] = part, [128] = wg.tensor_map(placed(whole), { box = { 8, 8 } }), [256] = 1000 },
} }
local want = wg.zeros("u32", { 8, 8 })
for row = 0, 7 do
  for column = 0, 7 do want[{ row, column }] = whole[{ row + 4, column + 8 }] + 1000 end
end
equal(host(part), want, "a structure with a tensor map")

-- A variable of the module counts launches.
local counter = entry [[
.global .align 4 .u32 count = 40;
.visible .entry f(.param .u64 p)
.reqntid 32
{
.reg .b32 %r<3>; .reg .b64 %rd<3>; .reg .pred %p<2>;
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
setp.ne.u32 %p1, %r1, 0;
@%p1 ret;
atom.global.add.u32 %r2, [count], 1;
st.global.u32 [%rd1], %r2;
ret;
}]]
local seen = placed(wg.zeros("u32", { 1 }))
for count = 40, 42 do
  counter.f:run { args = { seen }, backend = backend }
  assert(host(seen)[0] == count, ("a variable of the module: %d, not %d"):format(host(seen)[0], count))
end
print "a variable of the module: kept from launch to launch"
