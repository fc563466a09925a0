-- Elements of D lie between two numbers, as they are before they are rounded. NaN becomes the lower one (PTX ISA
-- 9.7.3.11, max).

local native = require "wgrun.native"

--- @extends wg.gemm
--- @option epilogue.clamp table?  { least, most }: the elements of D, as they are before they are rounded, are brought
---   between these two numbers; NaN becomes `least`

--- @extends k:epilogue
--- @option clamp table?  { least, most }: two numbers that the elements of D lie between

-- Raises unless the option is two numbers, the lesser one first.
local function limits(what, given)
  if given == nil or given == false then return nil end
  local least, most
  if type(given) == "table" and #given == 2 then least, most = given[1], given[2] end
  if type(least) ~= "number" or type(most) ~= "number" or not (least <= most) then
    native.fail(("%s: clamp must be { least, most }, two numbers"):format(what))
  end
  return { least + 0.0, most + 0.0 }
end

return {
  step = 6, options = { "clamp" },
  read = function(given, e) e.clamp = limits("wg.gemm, epilogue", given.clamp) end,
  operands = function(of) return { clamp = of.e.clamp } end,
  accept = function(opts) limits("k:epilogue", opts.clamp) end,
  element = function(k, opts)
    local clamp = opts.clamp
    return clamp and function(x) return k:min(k:max(x, clamp[1]), clamp[2]) end
  end,
}
