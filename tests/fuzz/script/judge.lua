-- Runs a program of grammar.lua and judges its errors: each must be an error object of the library with the program's
-- line, or an error that the program itself raised. Returns a list of those that are neither.
local wg = require "wgrun"

-- Lua's own words, which name no place: where memory, the stack or the time is at its end, and of coroutines.
local excused = {
  "not enough memory", "stack overflow", "error in error handling", "cannot resume dead coroutine",
  "cannot resume non%-suspended coroutine", "attempt to yield",
}

local function class_of(value)
  if type(value) == "userdata" then return (tostring(getmetatable(value)):gsub("^wgrun%.", "")) end
  if type(value) ~= "table" then return type(value) end
  local class = getmetatable(value)
  if type(class) == "table" and type(rawget(class, "__name")) == "string" then return (class.__name:gsub("^wgrun%.", "")) end
  if rawget(value, "stage") and rawget(value, "phase") then return "cursor" end
  return "table"
end

local function fault_of(e)
  if type(e) == "table" and rawget(e, "code") then
    if type(e.message) ~= "string" or e.message == "" then return "an error object without a message" end
    if e.message:find "internal error" then return e.message end
    if e.code == "EINTR" or e.code == "ENOMEM" or e.code == "ELIMIT" then return nil end
    -- The kernel that every program starts with is the judge's.
    -- What is wrong with a PTX text is told at its own lines.
    local placed = type(e.file) == "string" and (e.file == "script" or e.file == "ptx" or e.file:find "judge%.lua$")
    if not placed or math.type(e.line) ~= "integer" then return "no line of the script: " .. tostring(e) end
    if #tostring(e) == 0 then return "an empty text" end
    return nil
  end
  if type(e) ~= "string" then return "an error that is a " .. type(e) end
  if e:find "^script:%d+: " then return nil end
  for _, words in ipairs(excused) do if e:find(words) then return nil end end
  return "a raw error: " .. e
end

return function(source, restricted)
  local faults, pools = {}, {}

  local function keep(value)
    if value == nil then return end
    for _, class in ipairs { class_of(value), "any" } do
      local pool = pools[class] or {}
      pools[class] = pool
      pool[#pool % 64 + 1] = value
    end
  end

  local function keep_results(good, ...)
    if not good then
      local fault = fault_of((...))
      if fault then faults[#faults + 1] = fault end
      return nil
    end
    for i = 1, select("#", ...) do keep((select(i, ...))) end
    return ...
  end

  local environment = {
    wg = wg, collectgarbage = collectgarbage, coroutine = coroutine, math = math, print = print, setmetatable = setmetatable,
    tostring = tostring,
    try = function(f) return keep_results(pcall(f)) end,
    get = function(class, n)
      local pool = pools[class]
      return pool and pool[(n - 1) % #pool + 1]
    end,
  }
  if restricted then
    for name, value in pairs(_G) do if environment[name] == nil then environment[name] = value end end
    environment.escaped = function(value) if value ~= nil then faults[#faults + 1] = "it has got out: " .. tostring(value) end end
  end
  -- What the calls start from: a few good ones.
  keep(wg.layout "((8,2),(4,4)):((4,32),(1,64))")
  keep(wg.layout { 64, 64 })
  keep(wg.swizzle(3, 4, 3))
  keep(wg.tile { dtype = "bf16", mn = 64, k = 64 })
  keep(wg.tile { dtype = "bf16", mn = 128, k = 64, major = "MN" })
  for _, dtype in ipairs { "bf16", "f32", "u32" } do keep(wg.zeros(dtype, { 64, 64 })) end
  keep(wg.kernel("good", { threads = 128 }, function(k)
    local to = k:param("to", "f32*")
    local acc = k:regs("f32", 32)
    keep(k:shared(wg.tile { dtype = "bf16", mn = 64, k = 64 }, "a"))
    keep(k:special "tid.x")
    keep(acc)
    for i = 0, 31 do k:mov(acc[i], i) end
    k:store_accumulator(acc, { to = to, ld = 64, row = 0, col = 0, rows = 64, cols = 64 })
  end))
  local chunk, problem = load(source, "=script", "t", environment)
  if not chunk then return { "no program: " .. problem } end
  local good, e = pcall(chunk)
  if not good then
    local fault = fault_of(e)
    if fault then faults[#faults + 1] = fault end
  end
  return faults
end
