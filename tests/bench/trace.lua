-- Trace, check and emit of a script's kernel: wgrun trace.lua SCRIPT. Medians of many rounds.
local wg = require "wgrun"
local script = arg[1]

local function median(times)
  table.sort(times)
  return times[(#times + 1) // 2]
end

-- Runs the script with a wg.kernel that times itself, and a kernel:run that ends the script.
local made = {}
local load_script = assert(loadfile(script))
local stages = { trace = {}, check = {}, ptx = {}, cuda = {} }
for _ = 1, 50 do
  local proxy = setmetatable({
    kernel = function(...)
      local start = os.clock()
      local kernel = wg.kernel(...)
      table.insert(stages.trace, os.clock() - start)
      for _, stage in ipairs { "check", "ptx", "cuda" } do
        start = os.clock()
        kernel[stage](kernel)
        table.insert(stages[stage], os.clock() - start)
      end
      error(made)
    end,
  }, { __index = wg })
  package.loaded.wgrun = proxy
  arg = { [0] = script }
  local good, message = pcall(load_script)
  if not good and message ~= made then error(message) end
end
package.loaded.wgrun = wg

local line = {}
local sum = 0
for _, stage in ipairs { "trace", "check", "ptx", "cuda" } do
  local ms = median(stages[stage]) * 1e3
  if stage ~= "cuda" then sum = sum + ms end
  line[#line + 1] = ("%s %.2f ms"):format(stage, ms)
end
print(("%-22s %s; trace + check + ptx %.2f ms"):format(script:match "[^/]+$", table.concat(line, ", "), sum))
