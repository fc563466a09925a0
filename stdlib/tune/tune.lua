-- wg.tune: finds the options that make a kernel fastest by measuring them.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local classes = require "wgrun.classes"
local native = require "wgrun.native"
local tune_cache = require "wgrun.tune.cache"

local fail, written, merged = native.fail, tune_cache.written, arguments.merged

-- Shows a line on standard error that the next one overwrites, where that is a terminal.
local function progress()
  if not native.on_terminal() then return function() end end
  return function(text) io.stderr:write("\r\27[K", (text or ""):sub(1, 78)) end
end

-- Microseconds of a candidate, or nil and why it cannot be built or run. An interrupt goes on to the caller.
local function measure(tuning, i)
  local good, result, why = pcall(function()
    local kernel, launch = tuning:build(i)
    if kernel == nil then return nil, launch end
    if tuning.how == "model" then return tuning:model(kernel, launch) end
    return tuning:time(kernel, launch, i)
  end)
  if good then return result, why end
  if type(result) == "table" and result.code == "EINTR" then error(result, 0) end
  return nil, type(result) == "table" and result.message or tostring(result)
end

-- Measures the fastest few again, in turns, so that the chip's temperature favours none of them.
local function run_off(results, tuning)
  for _ = 1, 2 do
    for i = 1, math.min(3, #results) do
      local us = measure(tuning, results[i].index)
      if us then results[i].median_us = math.min(results[i].median_us, us) end
    end
  end
end

local function by_time(a, b)
  if a.median_us ~= b.median_us then return a.median_us < b.median_us end
  return a.index < b.index
end

--- Finds the fastest options by measuring them. Each result is written to a file at once, so that an interrupted
--- search can be resumed; results are kept by version, device, name and options. Results for options that hold
--- functions are not kept.
--- @param options table
--- @option gemm table?  options of wg.gemm with a `problem`: tunes wg.gemm
--- @option name string?  with `build`: the name under which the results are kept
--- @option build function?  build(options) makes any kernel: returns the kernel and the options for kernel:time, or nil
---   and a reason to skip the candidate
--- @option candidates table?  a list of tables of options; for `gemm` by default tiles, schedules, clusters, orders and
---   splits
--- @option space table?  instead of `candidates`: for each option the list of its values; every combination is a
---   candidate
--- @option rounds integer = 20  the launches of a measurement
--- @option backend string?  as in kernel:run
--- @option measure "time"|"model"?  "time": a candidate is run (the default); "model": kernel:timeline estimates its
---   time on an H200
--- @option verify function?  verify(kernel, launch, options) is called when a candidate has run and before it is
---   measured: true, or false and what is wrong with the result
--- @option cache string|boolean?  path of the file with the results, or false for none; by default tune/results.txt in
---   wgrun's cache folder
--- @return table  the fastest options; those of wg.gemm can be given to it
--- @return table  the report
--- @field results table  a list of { options, median_us, cached, index }, the fastest first; index: which candidate
--- @field skipped table  a list of { options, reason, index }
--- @field cache string?  the path of the file
--- @field cache_problem string?  why results are not kept
--- @raise when no candidate works.
--- @example
---   local best = wg.tune { gemm = { dtype = "bf16", problem = { 512, 512, 16384 } } }
---   local gemm = wg.gemm(best)
function wg.tune(opts)
  local tuning = wg.tuning(opts)
  local gemm, candidates = tuning.gemm, tuning.candidates
  local place = tuning:place()
  local timed = tuning.how ~= "model"
  local cache, why_not = tune_cache.open(tuning.cache)
  local fixed = written(gemm or {})
  local prefix = fixed and table.concat(
    { wg.version, timed and place or "model", gemm and "wg.gemm" or written(tuning.name), fixed }, "\t")
  local function key_of(candidate)
    local text = prefix and written(candidate)
    return text and prefix .. "\t" .. text
  end
  local show = progress()
  local report = { results = {}, skipped = {}, cache = cache.path, cache_problem = why_not }
  -- 0 microseconds: kernels are only traced, and nothing is measured.
  local function keep(key, us)
    if not key or us == 0 then return end
    local kept, problem = cache:put(key, us)
    if not kept then report.cache_problem = problem end
  end
  local best, new
  local done = native.progress("tune " .. tuning.name, #candidates, "candidates")
  for i, candidate in ipairs(candidates) do
    show(("tune %d/%d%s  %s"):format(
      i, #candidates, best and (", best %.1f us"):format(best) or "", written(candidate) or ""))
    local key = key_of(candidate)
    local known, reason = key and cache:get(key), nil
    local us = known
    if not us then
      us, reason = measure(tuning, i)
      if us then keep(key, us) end
      new = new or us
    end
    if us then
      best = math.min(best or us, us)
      report.results[#report.results + 1] = {
        options = merged(gemm or {}, candidate), median_us = us, cached = known ~= nil, index = i,
        candidate = candidate,
      }
    else
      report.skipped[#report.skipped + 1] = { options = candidate, reason = reason, index = i }
    end
    done(i)
  end
  done()
  if #report.results == 0 then
    show()
    fail(("wg.tune: none of %d candidates works; the first: %s"):format(#candidates, report.skipped[1].reason))
  end
  table.sort(report.results, by_time)
  if new and timed and place ~= "sim" and new > 0 then
    run_off(report.results, tuning)
    for i = 1, math.min(3, #report.results) do
      keep(key_of(report.results[i].candidate), report.results[i].median_us)
    end
    table.sort(report.results, by_time)
  end
  show()
  return report.results[1].options, report
end

classes.shield(wg, "wg.", { "tune" })
