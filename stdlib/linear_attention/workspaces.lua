-- The memory that the kernels of an object hand to each other, made for the first launch of a size and kept. On a
-- device that of one size is kept. On the host, where threads may ask for launches of several sizes in turns, each
-- launch of a size must get the same.

local arguments = require "wgrun.arguments"

local module = {}

local most_sizes <const> = 64 -- whose memory on the host is kept

--- The tensors, by name, of an object that has `workspaces`, a table: make() makes those of a size; where: a tensor of
--- the launch, where they stay, too.
function module.of(object, batch, tokens, where, make)
  local kept, on_device = object.workspaces, arguments.describe(where) == "wgrun.device_tensor"
  local key = ("%d %d %s"):format(batch, tokens, on_device)
  if not kept[key] then
    local made, sizes = {}, 0
    for name, tensor in pairs(make()) do made[name] = on_device and tensor:to "gpu" or tensor end
    for _ in pairs(kept) do sizes = sizes + 1 end
    if on_device or sizes >= most_sizes then kept = {} end
    kept[key], object.workspaces = made, kept
  end
  return kept[key]
end

return module
