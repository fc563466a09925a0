-- Files of other programs, and tensors of other libraries: wg.load, DLPack.
local wg = require "wgrun"
local check = require "check"

local folder = os.tmpname()
os.remove(folder)
local function temporary(name, text)
  local path = folder .. name
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
  return path
end

-- .npy, mapped: what is written stays in the tensor.
local npy = folder .. "a.npy"
assert(wg.tensor("f32", { 2, 2 }, { 1, 2, 3, 4 }):save(npy))
local mapped = wg.load(npy, { mmap = true })
mapped[{ 1, 1 }] = 7
check.equal(mapped:totable(), { 1, 2, 3, 7 })
check.equal(wg.load(npy):totable(), { 1, 2, 3, 4 })
check.equal(wg.load(npy, "tf32").dtype, "tf32")
check.equal(wg.load(npy, { dtype = "tf32", mmap = true }).dtype, "tf32")
check.refuses("unknown option `map` of wg.load: did you mean `mmap`? (legal: dtype, mmap)", function() wg.load(npy, { map = true }) end)
os.remove(npy)
check.equal(mapped[{ 0, 1 }], 2)

-- .safetensors: tensors by name, and the metadata.
local function safetensors(header, data)
  header = header .. (" "):rep(-#header % 8)
  return temporary("a.safetensors", ("<I8"):pack(#header) .. header .. data)
end
local path = safetensors('{"__metadata__":{"format":"pt"},"w\\u0000":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},'
  .. '"scale":{"dtype":"U8","shape":[],"data_offsets":[8,9]}}', ("<ffB"):pack(1.5, -2, 200))
for _, mmap in ipairs { true, false } do
  local tensors, metadata = wg.load(path, { mmap = mmap })
  check.equal(metadata, { format = "pt" })
  check.equal(tensors["w\0"]:totable(), { 1.5, -2 })
  check.equal(tensors.scale:totable(), { 200 })
  tensors["w\0"][0] = 3
  check.equal(wg.load(path)["w\0"][0], 1.5)
end
check.refuses("wg.load: `dtype` is for .npy files; a .safetensors file states the types of its tensors", function() wg.load(path, "f32") end)
path = safetensors('{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,9]}}', "123456789")
check.raises(path .. ": tensor `w`: f32 {2} takes 8 bytes, but offsets 0 to 9 hold 9", function() wg.load(path) end)
local none, why, code = wg.load(folder .. "absent.safetensors")
check.equal({ none == nil, code }, { true, "ENOENT" })
check.equal(why, folder .. "absent.safetensors: No such file or directory")
os.remove(path)

-- DLPack: a capsule's tensor is given away once.
local t = wg.tensor("bf16", { 2, 3 }, { 1, 2, 3, 4, 5, 6 })
local capsule = t:to_dlpack()
local same = wg.from_dlpack(capsule)
same[{ 1, 2 }] = 60
check.equal(t[{ 1, 2 }], 60)
t:close()
check.equal(same:totable(), { 1, 2, 3, 4, 5, 60 })
check.raises("the capsule's tensor has already been taken", function() wg.from_dlpack(capsule) end)
check.equal(wg.from_dlpack(same:to_dlpack(), { dtype = "bf16" }).dtype, "bf16")
check.raises("DLPack: elements are bfloat of 16 bits, not f32", function() wg.from_dlpack(same:to_dlpack(), { dtype = "f32" }) end)
check.raises("expected a capsule of to_dlpack, or a light userdata, got number 5", function() wg.from_dlpack(5) end)
check.raises("b1 elements cannot be exported", function() wg.zeros("b1", { 8 }):to_dlpack() end)
for _ = 1, 1000 do same:to_dlpack() end  -- nobody takes them
collectgarbage()
check.equal(same[{ 0, 1 }], 2)

-- A finalizer that takes a capsule's tensor while it is taken.
for _ = 1, 50 do
  local again = same:to_dlpack()
  setmetatable({}, { __gc = function() pcall(wg.from_dlpack, again) end })
  pcall(wg.from_dlpack, again)
  collectgarbage()
end
check.equal(same[{ 0, 1 }], 2)
