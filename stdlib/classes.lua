-- Classes that are Lua tables, and what their functions and those of other classes have in common.

local wg = require "wgrun"
local native = require "wgrun.native"

local module = {}

--- A class that is a Lua table: messages and `wgrun help` call it `name`.
function module.new(name)
  local class = { __name = "wgrun." .. name }
  class.__index = class
  native.classes[name] = class
  return class
end

--- Makes what wg.scheduler and wg.reduction return: a strategy, and what it adds to a plan.
function module.strategy(class, kind, plan)
  return setmetatable({ kind = kind, plan = plan }, native.classes[class] or module.new(class))
end

--- Main loops of products, for kernels with an epilogue of your own: dense, sparse, block_scaled, mixed_input.
--- @return table
--- @see mainloop
wg.mainloop = {}

--- Schedulers of products: which CTA has which tiles. For the option `scheduler` of wg.mainloop.
--- @return table
--- @see wg.mainloop.dense
wg.scheduler = {}

--- Reductions of products with split-K: how the slices become one sum. For the option `reduction` of wg.mainloop.
--- @return table
--- @see wg.mainloop.dense
wg.reduction = {}

--- Makes an unknown method of the Lua class `class`, called `name` in messages, an error that suggests the nearest one.
--- For classes whose objects have all their fields, and for tables of the module.
function module.close(name, class)
  setmetatable(class, {
    __index = function(_, key)
      if type(key) ~= "string" or key:find "^__" then return nil end
      local names = {}
      for method in pairs(class) do names[#names + 1] = method end
      native.fail(("%s has no `%s`%s"):format(name, key, native.nearest(key, names)))
    end,
  })
end

--- Shields functions of `class` (shield.hpp), whose names begin with `prefix` in messages. Those that take the
--- body of a loop or branch are left out: each shielded call in progress uses one of about 200 levels that Lua has for
--- C calls.
function module.shield(class, prefix, names)
  for _, name in ipairs(names) do class[name] = native.shielded(class[name], prefix .. name) end
end

for _, name in ipairs { "mainloop", "scheduler", "reduction", "sparse" } do module.close("wg." .. name, wg[name]) end

return module
