-- What a script builds and runs, watched and changed: every instruction that the builder writes is an event with a
-- number, and one event of a trace can be replaced. Works on the metatables of wgrun's classes, so that scripts and
-- the standard library stay as they are.
local wg = require "wgrun"

local trace = {}

-- --- which calls count ------------------------------------------------------------------------------------------

-- Instructions that order others: all mutations are about these.
local ordering = {
  "^wgmma_fence", "^wgmma_commit", "^wgmma_wait", "^fence_", "^membar", "^bar_", "^barrier_", "^mbarrier_", "^cp_async",
  "^cp_reduce", "^st_async", "^red_async", "^setmaxnreg", "^griddepcontrol", "^elect", "^tensormap",
}
-- Others that may not pass each of those.
local memory = { "^ld_", "^st_", "^ldmatrix", "^stmatrix", "^atom", "^red_", "^wgmma_mma", "^multimem" }
local control = { begin_loop = true, loop_condition = true, end_loop = true, begin_if = true, begin_else = true, end_if = true }

local function any(name, patterns)
  for _, pattern in ipairs(patterns) do
    if name:find(pattern) then return true end
  end
  return false
end

local class_of = setmetatable({}, { __index = function(known, name)
  local class = any(name, ordering) and "ordering" or any(name, memory) and "memory" or control[name] and "control" or "other"
  if name == "mbarrier_wait" then class = "ordering" end
  known[name] = class
  return class
end })
trace.class_of = class_of

-- Calls that are changed although they order nothing.
local changed_as_well = { matrix_descriptor = true, tensor_map = true, shared = true }

-- --- the builder ------------------------------------------------------------------------------------------------

local builder, original_of_builder
wg.kernel("probe", { threads = 32 }, function(k) builder = debug.getmetatable(k) end)
original_of_builder = builder.__index

-- The trace at hand: events (where it is recorded), at (number of the event to change), change, pending (a call that
-- has been put off until after the next one).
local now

-- The place in the script or the standard library: the innermost frame outside of this folder.
local function place()
  for level = 3, 12 do
    local info = debug.getinfo(level, "Sl")
    if not info then break end
    if info.currentline > 0 and not info.source:find("mutation/", 1, true) then return info.source, info.currentline end
  end
  return "?", 0
end

local function event(name, original, self, ...)
  now.count = now.count + 1
  if now.events then
    local file, line = place()
    local made = { name = name, class = class_of[name], arguments = table.pack(...), file = file, line = line,
      kernel = now.kernels, nested = now.nested }
    now.events[now.count] = made
    local results = table.pack(original(self, ...))
    made.void = results.n == 0
    return table.unpack(results, 1, results.n)
  end
  if now.count ~= now.at then return original(self, ...) end
  now.reached = true
  return now.change(original, self, ...)
end

builder.__index = function(self, name)
  local value = original_of_builder(self, name)
  if not now or now.paused or type(value) ~= "function" then return value end
  local class = class_of[name]
  if class == "other" and not changed_as_well[name] then return value end
  -- The wait for an mbarrier is one event, whatever it is made of, and so is its test inside, for its parity.
  local of_tile_tier = name == "mbarrier_wait"
  if not of_tile_tier and debug.getinfo(value, "S").what ~= "C" then return value end
  return function(first, ...)
    if now.inside and not name:find "wait" then return value(first, ...) end
    local put_off, outer = now.pending, now.inside
    now.inside, now.nested = outer or of_tile_tier, outer
    local results = table.pack(event(name, value, first, ...))
    now.inside = outer
    if put_off and not outer and class ~= "other" then
      now.pending = nil
      put_off()
    end
    return table.unpack(results, 1, results.n)
  end
end

-- Tiles are made by a function of wgrun's, in no kernel.
local original_tile = wg.tile

local function watched_tile(...)
  if now.paused then return original_tile(...) end
  return event("tile", function(_, ...) return original_tile(...) end, wg, ...)
end

--- Runs body without watching what it builds.
function trace.quietly(body, ...)
  local was = now.paused
  now.paused = true
  local results = table.pack(body(...))
  now.paused = was
  return table.unpack(results, 1, results.n)
end

--- Puts the call off until the next event is over.
function trace.put_off(call) now.pending = call end

-- --- kernels ----------------------------------------------------------------------------------------------------

local kernel_class = debug.getmetatable(wg.kernel("probe", { threads = 32 }, function() end))
local original_of_kernel, original_kernel = kernel_class.__index, wg.kernel

local function is_tensor(value) return tostring(debug.getmetatable(value) and debug.getmetatable(value).__name):find "tensor" ~= nil end

local function copies(arguments)
  local out, copy_of = {}, {}
  for i, argument in ipairs(arguments) do
    if is_tensor(argument) and not copy_of[argument] then copy_of[argument] = argument:copy() end
    out[i] = copy_of[argument] or argument
  end
  return out
end

local function same(got, want)
  for i, tensor in ipairs(want) do
    if is_tensor(tensor) and not wg.compare(got[i], tensor, 0) then return false end
  end
  return true
end

-- kernel:run, under every seed, and what it leaves in the tensors compared with the run of the kernel as it is.
local function run(kernel, options)
  now.runs = now.runs + 1
  local given = options.args or {}
  for seed = 1, now.seeds do
    local arguments = seed < now.seeds and copies(given) or given
    local launch = { args = arguments, seed = seed, backend = "sim" }
    for key, value in pairs(options) do
      if key ~= "args" and key ~= "seed" and key ~= "backend" then launch[key] = value end
    end
    launch.grid = now.grid or launch.grid
    local good, message = pcall(original_of_kernel(kernel, "run"), kernel, launch)
    if not good then error({ killer = "sim", message = tostring(message) }, 0) end
    local want = now.results[now.runs]
    if not want then
      now.results[now.runs] = copies(arguments)
    elseif not same(arguments, want) then
      error({ killer = "result" }, 0)
    end
  end
  return "sim"
end

kernel_class.__index = function(self, name)
  local value = original_of_kernel(self, name)
  if not now then return value end
  if name == "run" then return run end
  if name == "time" then
    return function() return { median_us = 1, min_us = 1, max_us = 1, tflops = 1, rounds = 1, backend = "sim" } end
  end
  return value
end

local function checked_kernel(...)
  now.kernels = now.kernels + 1
  local built = original_kernel(...)
  for _, finding in ipairs(built:check()) do
    if finding.severity == "error" then error({ killer = "check", message = finding.rule .. " " .. finding.message }, 0) end
  end
  return built
end

--- The event after number `at` that a call can be swapped with, or nil.
function trace.following(events, at)
  for i = at + 1, #events do
    local event = events[i]
    if event.kernel ~= events[at].kernel then return nil end
    if not event.nested and event.class ~= "other" then return event end
  end
end

--- Runs body() watched. settings: seeds; grid (of all launches, if it is given); results (of the kernel as it is, filled where empty); events (a list to
--- fill), or at and change. Returns who found fault ("build", "check", "sim", "result", nil), why, and the trace.
function trace.follow(body, settings)
  now = { count = 0, runs = 0, kernels = 0, seeds = settings.seeds, results = settings.results, events = settings.events,
    at = settings.at, change = settings.change, grid = settings.grid }
  wg.kernel, wg.tile = checked_kernel, watched_tile
  local good, why = pcall(body)
  wg.kernel, wg.tile = original_kernel, original_tile
  local done = now
  now = nil
  if type(why) == "table" and why.killer == false then good = true end
  if good then return nil, nil, done end
  if type(why) == "table" and why.killer then return why.killer, why.message, done end
  return "build", tostring(why), done
end

return trace
