-- wg.tuning: what there is to tune in a kernel, as a list of candidates that can be built and measured one by one.
-- wg.tune measures them in turn; `wgrun tune` hands them to many processes.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local classes = require "wgrun.classes"
local native = require "wgrun.native"
local cache = require "wgrun.tune.cache"
local tune_gemm = require "wgrun.tune.gemm"

local fail, options, written = native.fail, arguments.options, cache.written

--- What there is to tune in a kernel, made by wg.tuning: candidates that can be built and measured one by one.
--- @field name string  under which the results are kept
--- @field candidates table  a list of tables of options
local tuning = classes.new "tuning"

-- Every combination of the values of a space { option = { value, ... }, ... }; the last option by name varies first.
local function combinations(space)
  if type(space) ~= "table" then fail "wg.tune: `space` must be a table of lists: { stages = { 2, 3, 4 } }" end
  local names = {}
  for name, values in pairs(space) do
    if type(name) ~= "string" or type(values) ~= "table" or #values == 0 then
      fail(("wg.tune, space: `%s` must be a list of values"):format(tostring(name)))
    end
    names[#names + 1] = name
  end
  table.sort(names)
  local list = { {} }
  for _, name in ipairs(names) do
    local longer = {}
    for _, candidate in ipairs(list) do
      for _, value in ipairs(space[name]) do longer[#longer + 1] = arguments.merged(candidate, { [name] = value }) end
    end
    list = longer
  end
  return list
end

--- Describes what there is to tune in a kernel, for `wgrun tune`: a script returns it.
--- @param options table
--- @options wg.tune
--- @return tuning
--- @see wg.tune
--- @example
---   return wg.tuning { name = "fill", space = { threads = { 32, 64, 128 } }, build = function(options)
---     local kernel = wg.kernel("fill", { threads = options.threads }, function(k) k:param("X", "f32*") end)
---     return kernel, { grid = { 1 }, args = { wg.zeros("f32", { 128 }) } }
---   end }
function wg.tuning(opts)
  if arguments.describe(opts) == "table" and getmetatable(opts) == tuning then return opts end
  options("wg.tune", opts)
  local gemm, build, candidates = opts.gemm, opts.build, opts.candidates
  if (gemm == nil) == (build == nil) then
    fail "wg.tune: either `gemm` (options of wg.gemm) or `build` (a function) must be given"
  end
  if gemm then
    if type(gemm) ~= "table" or type(gemm.problem) ~= "table" then
      fail "wg.tune: `gemm` needs a `problem` = { M, N, K }"
    end
    build, candidates = tune_gemm.builder(gemm), candidates or tune_gemm.space(gemm)
  else
    arguments.body("wg.tune, build", build)
    if type(opts.name) ~= "string" then fail "wg.tune: `build` needs a `name`, under which its results are kept" end
  end
  if opts.verify ~= nil then arguments.body("wg.tune, verify", opts.verify) end
  if opts.measure ~= nil and opts.measure ~= "time" and opts.measure ~= "model" then
    fail(("wg.tune: `measure` is %s, must be \"time\" or \"model\""):format(tostring(opts.measure)))
  end
  if opts.space then
    if opts.candidates then fail "wg.tune: `candidates` and `space` exclude each other" end
    candidates = combinations(opts.space)
  end
  if type(candidates) ~= "table" or #candidates == 0 then
    fail "wg.tune: `candidates` must be a list of tables of options"
  end
  for i, candidate in ipairs(candidates) do
    if type(candidate) ~= "table" then fail(("wg.tune: candidates[%d] must be a table of options"):format(i)) end
  end
  return setmetatable({
    name = gemm and "wg.gemm" or opts.name, gemm = gemm, builder = build, candidates = candidates, verify = opts.verify,
    rounds = opts.rounds or 20, how = opts.measure, backend = opts.backend, cache = opts.cache,
  }, tuning)
end

-- The options of a launch without those that only kernel:time takes.
local function plain(launch)
  local out = arguments.merged(launch, {})
  out.rounds, out.against = nil, nil
  return out
end

--- The options of a candidate as one line: "stages = 3, threads = 128".
--- @param i integer  the candidate, from 1
--- @return string
function tuning:text(i)
  local keys, parts = {}, {}
  for key in pairs(self.candidates[i]) do keys[#keys + 1] = tostring(key) end
  table.sort(keys)
  for _, key in ipairs(keys) do
    local value = self.candidates[i][key]
    if type(value) == "table" then
      local items = {}
      for n, item in ipairs(value) do items[n] = tostring(item) end
      value = #items > 0 and table.concat(items, "x") or written(value)
    end
    parts[#parts + 1] = key .. " = " .. tostring(value)
  end
  return #parts > 0 and table.concat(parts, ", ") or "(none)"
end

--- Makes a candidate's kernel.
--- @param i integer  the candidate, from 1
--- @return kernel  or nil, the reason to skip the candidate
--- @return table  the options of a launch
--- @raise what its builder raises.
function tuning:build(i)
  local kernel, launch = self.builder(self.candidates[i])
  if kernel == nil then return nil, tostring(launch) end
  if arguments.describe(kernel) ~= "wgrun.kernel" then
    fail(("wg.tune, build: expected a kernel and the options of a launch, got %s"):format(arguments.describe(kernel)))
  end
  return kernel, launch or {}
end

-- An option of a launch as text: of tensors their type and shape, since their contents do not decide the time.
local function launch_text(value)
  local kind = arguments.describe(value)
  if kind == "wgrun.tensor" or kind == "wgrun.device_tensor" then
    return ("%s[%s]"):format(value.dtype, table.concat(value.shape, ","))
  end
  if kind ~= "table" then return written(value) or kind end
  local keys, parts = {}, {}
  for key in pairs(value) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for _, key in ipairs(keys) do parts[#parts + 1] = tostring(key) .. "=" .. launch_text(value[key]) end
  return "{" .. table.concat(parts, ",") .. "}"
end

--- All that decides how long a launch takes on a device: the kernel's PTX, and the launch, with the types and shapes of
--- its tensors. What has the same content need not be measured twice.
--- @param kernel kernel
--- @param launch table
--- @return string
--- @raise when the checker finds an error in the kernel.
function tuning:content(kernel, launch) return launch_text(plain(launch)) .. "\n" .. kernel:ptx() end

--- What the cost model of kernel:timeline expects. It runs one cluster on the simulator, which finds what the static
--- checker cannot see.
--- @param kernel kernel
--- @param launch table
--- @return number  microseconds
--- @raise findings of the checker and of the simulator.
function tuning:model(kernel, launch) return kernel:timeline(plain(launch)).microseconds end

--- Runs a launch and verifies its result, if there is a `verify`, then measures it.
--- @param kernel kernel
--- @param launch table
--- @param i integer  the candidate, from 1
--- @return number  the median, in microseconds
--- @raise as kernel:run and `verify` do.
function tuning:time(kernel, launch, i)
  local settings = arguments.merged(launch, { backend = self.backend or wg.backend })
  if self.verify then
    kernel:run(plain(settings))
    local good, why = self.verify(kernel, launch, self.candidates[i])
    if not good then fail("the result is wrong" .. (why and ": " .. tostring(why) or "")) end
  end
  settings.rounds = self.rounds
  return kernel:time(settings).median_us
end

--- What measures the candidates: "model" where kernels run on the simulator, unless that is said.
--- @param asked "time"|"model"?  in place of what the script says
--- @return "time"|"model"
function tuning:measured_by(asked) return asked or self.how or (self:place() == "sim" and "model" or "time") end

--- The same, to be searched in another way.
--- @param options table  what is absent stays as it is
--- @option measure "time"|"model"?  as of wg.tune
--- @option rounds integer?  as of wg.tune
--- @option cache string|boolean?  as of wg.tune
--- @return tuning
function tuning:with(changes)
  local other = arguments.merged(self, {})
  if changes.measure ~= nil then other.how = changes.measure end
  if changes.rounds ~= nil then other.rounds = changes.rounds end
  if changes.cache ~= nil then other.cache = changes.cache end
  return setmetatable(other, tuning)
end

--- The device and the back end for which measurements are valid.
--- @return string  "sim", or the device's name, the driver's version and the back end
function tuning:place()
  local backend = self.backend or wg.backend
  if backend == "sim" then return "sim" end
  local device = wg.device()
  return device and ("%s, driver %s, %s"):format(device.name, device.driver_version, backend) or backend
end

classes.shield(wg, "wg.", { "tuning" })
