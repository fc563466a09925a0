-- Looks for the options of wg.gemm that are fastest for a problem, and shows the best of them. What was measured is
-- kept in wgrun's cache folder: a second run only reads it.
--   wgrun scripts/tune.lua [--m 64] [--n 128] [--k 256] [--dtype bf16] [--rounds 3] [--show 5] [--cache FILE|off]
local wg = require "wgrun"

local o = { m = "64", n = "128", k = "256", dtype = "bf16", rounds = "3", show = "5" }
for i = 1, #arg, 2 do
  local key = arg[i]:match "^%-%-(.+)$"
  if not (o[key] or key == "cache") or not arg[i + 1] then
    io.stderr:write("tune.lua: ", arg[i], " (see the first lines of the script)\n")
    os.exit(2)
  end
  o[key] = arg[i + 1]
end
local problem = { tonumber(o.m), tonumber(o.n), tonumber(o.k) }
local cache = o.cache -- nil: the cache folder
if cache == "off" then cache = false end

local function text(options)
  local parts = {}
  for _, key in ipairs { "tile", "schedule", "swap_ab", "cluster", "raster", "group", "splits", "stream_k" } do
    local value = options[key]
    if type(value) == "table" then value = table.concat(value, "x") end
    if value ~= nil then parts[#parts + 1] = key .. " " .. tostring(value) end
  end
  return #parts > 0 and table.concat(parts, ", ") or "as wg.gemm chooses"
end

local best, report = wg.tune {
  gemm = { dtype = o.dtype, problem = problem }, rounds = tonumber(o.rounds), cache = cache,
}
if report.results[1].median_us == 0 then return end -- wgrun check, ptx and cuda trace kernels without running them
for i = 1, math.min(tonumber(o.show) or 0, #report.results) do
  local result = report.results[i]
  print(
    ("%10.1f us  %s%s"):format(result.median_us, text(result.options), result.cached and "  (measured before)" or ""))
end
print(("%d measured, %d do not fit: %s"):format(
  #report.results, #report.skipped, report.skipped[1] and report.skipped[1].reason or "none"))
print(report.cache and "kept in " .. report.cache or "not kept")

-- The winner is a table like any other, for wg.gemm.
local gemm = wg.gemm(best)
print(("%s, %d stages, %d shared bytes"):format(gemm.kernel.name, gemm.plan.stages, gemm.kernel.shared_bytes))
