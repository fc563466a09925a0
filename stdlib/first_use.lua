-- Runs the library's files, each when a script first uses something of it. What loads the library
-- (bindings/lua/stdlib.cpp) calls this file with: the module; what files get of C++; the functions of each file that a
-- script can call, by the file's name, or an empty table, with which all files are run at once; and a function that
-- makes a file's chunk from its name and its globals.

local wg, native, functions, chunk = ...
local error, ipairs, pcall = error, ipairs, pcall

local loaded = { ["wgrun"] = wg, ["wgrun.native"] = native }
-- Of files: those of scripts, and a `require` of their own; what a script later does with these is its own affair.
local globals = setmetatable({}, { __index = _G })
for _, name in ipairs {
  "getmetatable", "ipairs", "math", "next", "pairs", "rawequal", "rawget", "select", "setmetatable", "string", "table",
  "tonumber", "tostring", "type",
} do globals[name] = _G[name] end
local places = {} -- of functions, by path: { owner =, key =, first = what is there until its file is run, real = }

--- Runs a file. What scripts have put in the place of its functions stays there. After an error, as of a limit, all is
--- as before, and the next call runs the file anew.
local function run(file)
  local paths, before = functions[file] or {}, {}
  for _, path in ipairs(paths) do
    local place = places[path]
    before[path] = place.owner[place.key]
  end
  local good, result = pcall(chunk(file, globals))
  for _, path in ipairs(paths) do
    local place = places[path]
    place.real = place.owner[place.key]
    if not good or before[path] ~= place.first then place.owner[place.key] = before[path] end
  end
  if not good then error(result, 0) end
  return result
end

function globals.require(name)
  if loaded[name] == nil then loaded[name] = run(name:match "^wgrun%.(.*)") or true end
  return loaded[name]
end

local function first_use(file, place)
  return native.first_use(function()
    globals.require("wgrun." .. file)
    return place.real
  end)
end

globals.require "wgrun.classes"
for _, file in ipairs(native.modules) do
  for _, path in ipairs(functions[file] or {}) do
    local owner, inner, key = path:match "^(%w+)[.:]?(.-)[.:]?([%w_]+)$"
    owner = owner == "k" and native.methods.builder or inner == "" and wg or wg[inner]
    places[path] = { owner = owner, key = key }
    if loaded["wgrun." .. file] == nil then
      places[path].first = first_use(file, places[path])
      owner[key] = places[path].first
    end
  end
end
if next(functions) == nil then
  for _, file in ipairs(native.modules) do globals.require("wgrun." .. file) end
end
