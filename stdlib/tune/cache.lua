-- The measurements of wg.tune in a file: one line each, with its key and its microseconds. The file is always complete:
-- each write replaces it by a new one, which keeps what other processes have written meanwhile. A file that another
-- user may have written is not trusted.

local native = require "wgrun.native"

local module = {}

local header = "wgrun tune 1"

--- A value (nil, Boolean, number, string, tables of them) as text, the same for equal values; nil if it cannot be
--- written down (a function).
local function written(value)
  local kind = type(value)
  if kind == "nil" or kind == "boolean" or math.type(value) == "integer" then return tostring(value) end
  if kind == "number" then return ("%.17g"):format(value) end
  if kind == "string" then
    return '"' .. value:gsub('[%c"\\]', function(c) return ("\\x%02X"):format(c:byte()) end) .. '"'
  end
  if kind ~= "table" then return nil end
  local parts, listed = {}, #value
  for i = 1, listed do parts[i] = written(value[i]) or "?" end
  local named = {}
  for key, item in pairs(value) do
    if not (math.type(key) == "integer" and key >= 1 and key <= listed) then
      local text = written(item)
      if type(key) ~= "string" or not text then return nil end
      named[#named + 1] = key .. "=" .. text
    end
  end
  table.sort(named)
  table.move(named, 1, #named, #parts + 1, parts)
  for _, part in ipairs(parts) do if part == "?" then return nil end end
  return "{" .. table.concat(parts, ",") .. "}"
end
module.written = written

local cache = {}
cache.__index = cache

-- The measurements in the text of a file, by key; an empty table if it is something else.
local function parsed(text)
  local found = {}
  if text:match "^[^\n]*" ~= header then return found end
  for line in text:gmatch "[^\n]+" do
    local key, number = line:match "^(.+)\t([%d.e+-]+)$"
    if key then found[key] = tonumber(number) end
  end
  return found
end

--- The measurements in the file `path`: nil for that of wgrun's cache folder, false for none. The second
--- result is why there is no file, or why it is not trusted.
function module.open(path)
  local why
  if path == nil then
    path, why = native.cache_folder "tune"
    path = path and path .. "/results.txt"
  end
  local text
  if path then text, why = native.read_own(path) end
  return setmetatable({ path = path or nil, found = parsed(text or "") }, cache), why
end

function cache:get(key) return self.found[key] end

--- Keeps a measurement, beside those that other processes have written meanwhile. Returns nil and the reason where the
--- file cannot be written.
function cache:put(key, microseconds)
  self.found[key] = microseconds
  if not self.path then return true end
  return native.update_own(self.path, function(text)
    local all, lines = parsed(text), {}
    all[key] = microseconds
    for k, v in pairs(all) do lines[#lines + 1] = ("%s\t%.17g\n"):format(k, v) end
    table.sort(lines)
    return header .. "\n" .. table.concat(lines)
  end)
end

return module
