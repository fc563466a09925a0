-- A finalizer may run at any allocation, within any call of the API, and do anything: close the tensor that the
-- call works on, run the kernel that is checked, add to the trace that is written. Here each call is interrupted at
-- its n-th collection, for every n, and must come to its end with the right result, or with an error.
local wg = require "wgrun"


-- Runs `call`, and `strike` at its n-th collection; false if there were not as many. It collects at every
-- allocation: a minor collection is due after a growth of 256 per cent, which Lua keeps in a byte.
local function interrupted(n, call, strike)
  collectgarbage "incremental"
  collectgarbage()
  local count, ready, armed, struck = 0, false, true, false
  local function arm()
    setmetatable({}, {__gc = function()
      if not armed then return end
      count = count + 1
      if ready and count == n then
        struck = true
        local good, e = pcall(strike)
        if not good then io.stderr:write("strike: ", tostring(e), "\n") end
      end
      arm()
    end})
  end
  arm()
  collectgarbage("generational", 256)
  repeat local _ = {} until count > 4
  count, ready = 0, true
  local good, e = pcall(call)
  armed = false
  collectgarbage "incremental"
  return struck, good, e
end

-- make(): what call and strike get.
local function storm(name, make, call, strike, most)
  local n = 0
  repeat
    n = n + 1
    local it = make()
    local struck, good, e = interrupted(n, function() call(it) end, function() strike(it) end)
    -- An error object is a fair answer to a tensor that is closed; a failed assertion is not.
    if not good and type(e) ~= "table" then error(name .. ", collection " .. n .. ": " .. tostring(e)) end
  until not struck or n >= (most or 200)
  assert(n > 1, name .. ": nothing was collected")
end

-- --- tensors that are closed meanwhile ----------------------------------------------------------------------------

local items = 1 << 16 -- 256 KiB: memory that is given back to the system is not readable
local source = wg.randint {shape = {16, items // 16}, dtype = "s32", lo = -9, hi = 9, seed = 1}
local halves = wg.sparse.prune(wg.randn {shape = {64, 2048}, dtype = "bf16", seed = 2})
local values, metadata = wg.sparse.compress(halves)

local function close(t) t:close() end
local function copy() return source:copy() end
local reference = source:totable()

storm("totable", copy, function(t)
  local list = t:totable()
  for i = 1, #list, 997 do assert(list[i] == reference[i]) end
end, close, 8)
storm("get", copy, function(t) assert(t[{3, 5}] == source[{3, 5}]) end, close)
storm("get, read while it is closed", copy, function(t)
  for i = 0, 4 do t[{i, i}] = t[{i, i + 1}] end
end, close)
storm("set", copy, function(t) t[{3, 5}] = 7 end, close)
storm("set to no number", copy, function(t)
  local good, e = pcall(function() t[{3, 5}] = "seven" end)
  assert(not good)
  if tostring(e):find "closed" then error(e) end
end, close)
storm("copy", copy, function(t) assert(wg.compare(t:copy(), source)) end, close)
storm("convert", copy, function(t) assert(t:convert "f32"[{15, 1}] == source[{15, 1}]) end, close)
storm("compare", copy, function(t) assert(wg.compare(t, source)) end, close)
storm("compare, the other one", copy, function(t) assert(wg.compare(source, t, {absolute = 0, relative = 0})) end, close)
storm("dot", copy, function(t)
  local n = wg.dot(t, 0, 1, source, 0, 1, items)
  assert(n == wg.dot(source, 0, 1, source, 0, 1, items))
end, close)
storm("shape", copy, function(t) assert(t.shape[1] == 16 and #t.shape == 2) end, close)
storm("tostring", copy, function(t) assert(tostring(t):find "s32" or tostring(t):find "closed") end, close)
local name = os.tmpname()
storm("save", copy, function(t) assert(t:save(name)) assert(wg.compare(wg.load(name), source)) end, close)
os.remove(name)
storm("prune", function() return halves:copy() end, function(t)
  assert(wg.compare(wg.sparse.prune(t, "bf16"), halves))
end, close)
storm("compress", function() return halves:copy() end, function(t)
  assert(wg.compare(wg.sparse.compress(t), values))
end, close)
storm("decompress", function() return metadata:copy() end, function(t)
  wg.sparse.validate(t, "bf16")
  assert(wg.compare(wg.sparse.decompress(values, t), halves))
end, close)

-- --- launches ----------------------------------------------------------------------------------------------------

local count = 1 << 16
local twice = wg.kernel("twice", {threads = 128}, function(k)
  local from, to = k:param("from", "const u32*"), k:param("to", "u32*")
  local i = k:special "ctaid.x" * k:special "ntid.x" + k:special "tid.x"
  local offset = k:mul_wide_u32(i, 4)
  k:st_global_u32(to + offset, k:ld_global_u32(from + offset) * 2)
end)
local ones = wg.randint {shape = {count}, dtype = "u32", lo = 1, hi = 1}
local function arguments() return {ones:copy(), wg.zeros("u32", {count})} end
local function run(args)
  local result = args[2]
  twice:run {grid = 1, args = args, backend = "sim"}
  assert(result[0] == 2 and result[127] == 2)
end
storm("run, closed", arguments, run, function(args) args[1]:close() end)
storm("run, taken out of the list", arguments, function(args)
  -- The list loses its tensors, which nobody else has.
  twice:run {grid = 1, args = args, backend = "sim"}
end, function(args)
  args[1], args[2] = ones, ones:copy()
end)
storm("prepare", arguments, function(args)
  local launch = twice:prepare {grid = 1, args = args, backend = "sim"}
  launch:start()
  launch:download()
end, function(args) args[1]:close() end)
storm("options, changed while they are read", function()
  return {grid = {1}, args = arguments(), backend = "si" .. ("m"):rep(1), seed = 3}
end, function(options) twice:run(options) end, function(options)
  options.backend, options.args, options.grid = nil, nil, nil
end)

if wg.device() then
  local a, b, d = wg.zeros("bf16", {64, 64}), wg.zeros("bf16", {64, 64}), wg.zeros("f32", {64, 64})
  local baseline = wg.cublas {a = a, b = b, d = d}
  if baseline then
    for _, t in ipairs {a, b, d} do t:close() end
    baseline:run()
  end
end

-- --- kernels -----------------------------------------------------------------------------------------------------

-- Its launch adds findings to those of the check: a grid that needs two clusters to meet.
local function racy()
  return wg.kernel("racy", {threads = 128}, function(k)
    local to = k:param("to", "u32*")
    local s = k:shared {bytes = 512, name = "s"}
    local p = k:special "tid.x":eq(0)
    for _ = 1, 20 do k:st_shared_u32(s, k:special "tid.x") k:ld_shared_u32(s) end
    k:if_(p, function() k:bar_sync(0) end)
    k:st_global_u32(to, k:ld_shared_u32(s))
  end)
end
storm("check", racy, function(kernel)
  for _, finding in ipairs(kernel:check()) do assert(type(finding.message) == "string") end
end, function(kernel)
  pcall(kernel.run, kernel, {grid = 2, args = {wg.zeros("u32", {4})}, backend = "sim"})
end, 60)

-- --- traces ------------------------------------------------------------------------------------------------------

local tile = wg.tile {dtype = "bf16", mn = 64, k = 64}
for n = 1, 60 do
  local struck, good, e
  wg.kernel("trace", {threads = 128}, function(k)
    local r = k:reg "u32"
    local buffer = k:shared(tile, "a")
    struck, good, e = interrupted(n, function()
      assert(buffer.tile == tile)
      assert(buffer.bytes == tile.bytes and buffer.name == "a")
      local sum = r + 1
      assert(sum.type == "u32" or sum.type == "b32")
      local a, b = k:mov_b64(7), k:regs("f32", 8)
      assert(#b == 8 and not a:same(sum))
      local four = k:ld_shared_v4_b32(buffer, {offset = 16})
      assert(#four == 4)
    end, function()
      for i = 1, 40 do
        k:shared({bytes = 16, name = "more" .. i})
        k:add(r, i)
        k:regs("u32", 4)
        k:param("more" .. i, "u32")
      end
    end)
  end)
  assert(good, e)
  if not struck then break end
end

-- A finalizer that emits does not give its line to the call that it interrupts.
for n = 1, 12 do
  local line
  local kernel = wg.kernel("lines", {threads = 128}, function(k)
    interrupted(n, function() k:wgmma_wait_group(0) end, function() k:bar_sync(0) end)
    line = debug.getinfo(1, "l").currentline - 1
  end)
  local text = kernel:ptx()
  assert(text:find("wait_group", 1, true))
end

-- Error objects and unknown names, whose tables the finalizer empties.
storm("error objects", function()
  local good, e = pcall(wg.tile, {dtype = "bf16", mm = 64})
  e.message = e.message .. ("!"):rep(100)
  return e
end, function(e) assert(#tostring(e) >= 0) end, function(e)
  for key in pairs(e) do e[key] = nil end
end)
storm("unknown names", function() wg["a" .. ("b"):rep(60)] = true return wg end, function()
  assert(not pcall(function() return wg.absent end))
end, function() wg["a" .. ("b"):rep(60)] = nil end)
storm("tuples", function() return {{8, 2}, {4, 4}} end, function(shape)
  pcall(wg.layout, shape, {{1, 8}, {16, 64}})
end, function(shape) shape[1], shape[2] = nil, nil end)

print "finalizers: good"
