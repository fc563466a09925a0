-- Kernels of other compilers, run: wgrun recipes.lua FOLDER [NAME [TEXT]]. On the simulator each result must equal a reference in
-- binary64 within the output's precision, and nothing may be found but what is known; with a GPU the same text runs there, and
-- its results must be near the simulator's. WGRUN_PTX
-- names another folder. NAME is one of them; TEXT is run in place of its text, and all that is found counts.
local wg = require "wgrun"

package.path = arg[0]:match "^(.*/)" .. "?.lua;" .. package.path
local kit = require "recipes.kit"
if not io.open(kit.folder .. "/triton/tl_softmax_fp16.ptx") then
  print("skipped: no PTX in " .. kit.folder)
  return
end

local recipes, names = {}, {}
for _, file in ipairs { "cuda", "python", "triton" } do
  for name, recipe in pairs(require("recipes." .. file)) do
    if not arg[2] or name == arg[2] then
      recipes[name] = recipe
      names[#names + 1] = name
    end
  end
end
table.sort(names)
assert(#names > 0, "there is no such recipe")
kit.replacement = arg[3]

--- Runs it on a back end. Returns what it returns, "none" where kernels are only traced, and what is found and known.
local function run(recipe, backend)
  recipe.launch.backend = backend
  local good, told = pcall(recipe.kernel.run, recipe.kernel, recipe.launch)
  if good then return told end
  if told.rule == nil or told.rule ~= recipe.known then error(told, 0) end
  return backend, told
end

--- Returns the largest error on the simulator, and what the GPU says.
local function compare(recipe, gpu)
  recipe.launch.numerics = gpu and "h200" or nil
  local ran, found = run(recipe, "sim")
  if ran == "none" then return 0, "" end
  if found and kit.replacement then error(found, 0) end
  local worst = 0
  recipe.places(function(at, want) worst = math.max(worst, math.abs(recipe.out[at] - want)) end)
  if not (worst <= recipe.tolerance) then error(("largest error %g, at most %g is expected"):format(worst, recipe.tolerance), 0) end
  if not gpu then return worst, "" end
  local simulated = recipe.out:copy()
  recipe.out:fill(0)
  run(recipe, "gpu")
  local same, difference = wg.compare(recipe.out, simulated, 0)
  if not (difference <= recipe.tolerance) then error(("the GPU differs by %g"):format(difference), 0) end
  return worst, same and ", the GPU's bits are the same" or (", the GPU differs by %g"):format(difference)
end

if kit.replacement then
  compare(recipes[names[1]]())
  return
end
local bad = {}
local gpu = wg.device() ~= nil
for _, name in ipairs(names) do
  local began = os.clock()
  local good, worst, told = pcall(compare, recipes[name](), gpu)
  if not good then bad[#bad + 1] = name end
  print(good and ("%s: error %.2g, %.2f s%s"):format(name, worst, os.clock() - began, told)
    or ("%s: FAILED: %s"):format(name, worst))
end
if #bad > 0 then error("failed: " .. table.concat(bad, ", "), 0) end
