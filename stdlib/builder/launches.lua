-- Launches of several kernels that follow each other.

local classes = require "wgrun.classes"

local module = {}

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

--- The object for a list of prepared launches.
function module.of(list) return setmetatable(list, launches) end

classes.close("prepared launches", launches)
classes.shield(launches, "launches:", { "start", "wait", "download", "upload" })

return module
