-- Launches of several kernels that follow each other.

local arguments = require "wgrun.arguments"
local classes = require "wgrun.classes"

local module = {}

local most_sizes = 64 -- whose memory on the host is kept

--- Prepared launches that follow each other, made by attention_backward:prepare and others.
local launches = classes.new "launches"

local function in_order(self, method)
  for _, launch in ipairs(self) do launch[method](launch) end
end

--- Starts the launches, in their order. On the GPU it returns at once; the simulator runs the kernels to their end.
function launches:start() in_order(self, "start") end

--- Waits until the started launches are complete.
--- @raise when a kernel faulted or hung.
function launches:wait() in_order(self, "wait") end

--- Waits until the started launches are complete, and copies the tensors that they wrote to host memory.
function launches:download() in_order(self, "download") end

--- Copies the tensors from host memory to the device again, after the host has changed them.
function launches:upload() in_order(self, "upload") end

-- Calls the method of each kernel of a list of { kernel, options }, with `more` options; returns the results.
local function each(method, list, more)
  local out = {}
  for i, launch in ipairs(list) do out[i] = launch[1][method](launch[1], arguments.extended(launch[2], more)) end
  return out
end

--- Runs the kernels of a list of { kernel, { grid =, args = } } one after another, with `more` options of kernel:run.
--- Returns the back end.
function module.run(list, more)
  local backends = each("run", list, more)
  return backends[#backends]
end

--- Prepares the launches of such a list, with `more` options of kernel:prepare.
function module.prepare(list, more) return setmetatable(each("prepare", list, more), launches) end

--- Measures the kernels of such a list, each by itself, with `more` options of kernel:time. Returns the sum of the
--- medians, in us, and the medians.
function module.time(list, more)
  local once = arguments.merged(more, {})
  once.rounds = nil
  local parts, sum = {}, 0
  for i, launch in ipairs(list) do
    each("run", { launch }, once) -- the kernels behind it need what it writes
    parts[i] = each("time", { launch }, more)[1].median_us
    sum = sum + parts[i]
  end
  return sum, parts
end

--- The launches of an object that has `launches` and, by these names, kernels in the order in which they start, as
--- objects of one kernel each: lists of { kernel =, launch = }, as plans of the C API and objects of the Python package
--- take them. The object need not have all of the kernels.
function module.steps(object, names)
  local steps = {}
  for _, name in ipairs(names) do
    local number, made = #steps + 1, rawget(object, name)
    steps[number] = made and {
      kernel = made, launch = function(_, ...) return object:launches(...)[number][2] end,
    }
  end
  return steps
end

-- By object: its memory by size, and the number of sizes.
local memories = setmetatable({}, { __mode = "k" })

--- What the kernels of an object hand to each other in launches of a size, by name: what make() returns the first
--- time, where the tensor `result` is. On a device that of one size is kept. On the host, where threads may ask for
--- launches of several sizes in turns, each launch of a size must get the same.
function module.memory(object, size, result, make)
  local on_device = arguments.describe(result) == "wgrun.device_tensor"
  local key, kept = ("%s %s"):format(size, on_device), memories[object]
  if not kept or not kept.of[key] then
    local made = make()
    for name, tensor in pairs(made) do made[name] = on_device and tensor:to "gpu" or tensor end
    if not kept or on_device or kept.count == most_sizes then kept = { of = {}, count = 0 } end
    kept.of[key], kept.count, memories[object] = made, kept.count + 1, kept
  end
  return kept.of[key]
end

classes.close("prepared launches", launches)
classes.shield(launches, "launches:", { "start", "wait", "download", "upload" })

return module
