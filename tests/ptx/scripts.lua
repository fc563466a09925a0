-- Kernels of other compilers as scripts (wgrun lua --launch): each runs the launch of its recipe on the simulator with the bits of
-- its text, and with its findings: wgrun scripts.lua FOLDER [NAME]. WGRUN_PTX names another folder.
local wg = require "wgrun"

package.path = arg[0]:match "^(.*/)" .. "?.lua;" .. package.path
local kit = require "recipes.kit"
if not io.open(kit.folder .. "/triton/tl_softmax_fp16.ptx") then
  print("skipped: no PTX in " .. kit.folder)
  return
end

local function write(name, text)
  local file <close> = assert(io.open(name, "w"))
  file:write(text)
  return name
end

local function as_json(value)
  return type(value) == "table" and "[" .. table.concat(value, ", ") .. "]" or tostring(value)
end

--- The kernel as the script has it that its text is translated to.
local function translated(launch)
  local folder = os.tmpname()
  local facts = { ('"kernel": "%s"'):format(kit.name), '"arguments": []', '"grid": ' .. as_json(launch.grid) }
  for _, name in ipairs { "block", "cluster", "shared" } do
    if launch[name] then facts[#facts + 1] = ('"%s": %s'):format(name, as_json(launch[name])) end
  end
  local text, json = write(folder .. ".ptx", kit.text), write(folder .. ".json", "{" .. table.concat(facts, ", ") .. "}")
  local done = os.execute(("%s lua %s --launch %s -o %s.lua 2> /dev/null"):format(arg[-1], text, json, folder))
  local kernel = done and dofile(folder .. ".lua")[kit.name]
  for _, ending in ipairs { "", ".ptx", ".json", ".lua" } do os.remove(folder .. ending) end
  return assert(kernel, "no script")
end

--- Runs it, and returns the rule that it breaks, if any.
local function run(kernel, launch)
  local good, told = pcall(kernel.run, kernel, launch)
  if good then return end
  if told.rule == nil then error(told, 0) end
  return told.rule
end

local bad = {}
for _, file in ipairs { "cuda", "python", "triton" } do
  for name, make in pairs(require("recipes." .. file)) do
    local good, told = pcall(function()
      if arg[2] and arg[2] ~= name then return end
      local recipe = make()
      recipe.launch.backend = "sim"
      local found = run(recipe.kernel, recipe.launch)
      local want = recipe.out:copy()
      recipe.out:fill(0)
      local kernel = translated(recipe.launch)
      recipe.launch.block, recipe.launch.cluster, recipe.launch.shared = nil, nil, nil
      local again = run(kernel, recipe.launch)
      assert(found == again, ("the text breaks %s, the script %s"):format(found, again))
      local same, difference = wg.compare(recipe.out, want, 0)
      assert(same, ("differs by %g"):format(difference))
      return found and "also " .. found or ""
    end)
    if not good then bad[#bad + 1] = name end
    if told then print(("%s: %s"):format(name, good and "the same bits" .. (told ~= "" and ", " .. told or "") or tostring(told))) end
  end
end
if #bad > 0 then error("failed: " .. table.concat(bad, ", "), 0) end
