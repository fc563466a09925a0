-- Runs at the end of luaopen_wgrun: init(wg, internal) extends the module table and the classes.
-- See bindings/lua/stdlib.hpp for what `internal` holds.
local wg, internal = ...

--- Describes a value for messages: wgrun's objects by their class, others by their Lua type.
local function describe(value)
  local class = getmetatable(value)
  return type(value) == "userdata" and type(class) == "string" and class or type(value)
end

internal.describe = describe

local keys_of = {} -- by function: the legal keys of its option table, as a list and as a set

local function legal_keys(name)
  local legal = keys_of[name]
  if not legal then
    legal = { list = internal.option_keys(name), set = {} }
    for _, key in ipairs(legal.list) do legal.set[key] = true end
    keys_of[name] = legal
  end
  return legal
end

--- Raises unless `given` is a table and every key of it is one that the comment at function `name` lists as an @option.
function internal.options(name, given)
  if type(given) ~= "table" then internal.fail(("%s: expected a table of options, got %s"):format(name, describe(given))) end
  local legal = legal_keys(name)
  for key in pairs(given) do
    if not legal.set[key] then
      internal.fail(("unknown option `%s` of %s%s (legal: %s)"):format(
        tostring(key), name, internal.nearest(tostring(key), legal.list), table.concat(legal.list, ", ")))
    end
  end
end

--- Parts the options `given` to function `name` into those of function `inner` and the others; nil stands for none.
function internal.split_options(name, inner, given)
  if given == nil then given = {} end
  internal.options(name, given)
  local own, rest = {}, {}
  for key, value in pairs(given) do (legal_keys(inner).set[key] and own or rest)[key] = value end
  return own, rest
end

--- Returns the options with the value of the option `old` under its name of today, `new`; warns (Lua's warn) where it is there.
function internal.renamed(name, given, old, new)
  if given[old] == nil then return given end
  if given[new] ~= nil then internal.fail(("%s: `%s` is the old name of `%s`, which is given as well"):format(name, old, new)) end
  warn(("%s: the option `%s` is called `%s` now"):format(name, old, new))
  local out = internal.extended({}, given)
  out[old], out[new] = nil, given[old]
  return out
end

--- Adds the fields of `fields` to `target`, and returns it.
function internal.extended(target, fields)
  for key, value in pairs(fields) do target[key] = value end
  return target
end

--- A class that is a Lua table: messages and `wgrun help` call it `name`.
function internal.class(name)
  local class = { __name = "wgrun." .. name }
  class.__index = class
  internal.classes[name] = class
  return class
end

--- Raises unless `value`, called `what` in messages, is a wgrun object of `class` ("reg").
function internal.object(what, value, class)
  if describe(value) ~= "wgrun." .. class then
    local tile = class == "shared" and describe(value) == "wgrun.tile" and " (k:shared(tile) makes a buffer of it)" or ""
    internal.fail(("%s: expected wgrun.%s, got %s%s"):format(what, class, describe(value), tile))
  end
  return value
end

--- The rows and columns of `tensor`, called `what` in messages; raises unless it is a matrix.
function internal.matrix(what, tensor)
  local shape = internal.shape_of(tensor)
  if not shape or #shape ~= 2 then internal.fail(what .. " must be a matrix") end
  return shape[1], shape[2]
end

--- Raises unless `tensor`, called `what` in messages, has this shape.
function internal.same_shape(what, tensor, want)
  local text = internal.shape_text(want)
  if internal.shape_text(internal.shape_of(tensor)) ~= text then internal.fail(("%s must be a tensor of %s"):format(what, text)) end
end

--- Raises unless `value` is a function.
function internal.body(what, value)
  if type(value) ~= "function" then internal.fail(("%s: expected a function, got %s"):format(what, describe(value))) end
end

--- The result of a caller's function that makes a value; raises where it gives none, often since `return` is missing.
function internal.made(what, ...)
  local value = ...
  if value == nil then
    internal.fail(what .. ": the function returns nothing: it ends with `return` and a register or a number")
  end
  return value
end

--- Raises if the function `name`, which takes `most` arguments, was given the others, too. Shielded functions do that themselves.
function internal.surplus(name, most, ...)
  for i = 1, select("#", ...) do
    local value = select(i, ...)
    if value ~= nil then
      internal.fail(("`%s` takes %d argument%s, not %d: %s is too much"):format(name, most, most == 1 and "" or "s", most + i, describe(value)))
    end
  end
end

--- Raises unless `value` is a register, or an integer from `least` (default 0) that fits u32.
function internal.count(what, value, least)
  if describe(value) == "wgrun.reg" then return end
  least = least or 0
  if math.type(value) ~= "integer" or value < least or value > 0xFFFFFFFF then
    local got = type(value) == "number" and tostring(value) or describe(value)
    internal.fail(("%s: expected a register or an integer from %d to 4294967295, got %s"):format(what, least, got))
  end
end

--- Raises unless `value` is an integer from `least` to `most`; returns it.
function internal.whole(what, value, least, most)
  if math.type(value) ~= "integer" or value < least or value > most then
    internal.fail(("%s is %s, must be an integer from %d to %d"):format(what, type(value) == "number" and tostring(value) or describe(value), least, most))
  end
  return value
end

--- Returns `value`, a number; raises unless it is positive and finite.
function internal.positive(what, value)
  if not (value > 0 and value < math.huge) then internal.fail(("%s is %s, must be positive"):format(what, value)) end
  return value
end

--- A shape as messages have it.
function internal.shape_text(shape) return shape and table.concat(shape, " x ") or "no tensor" end

--- The shape of a tensor, or of its stand-in while a host plans a launch (bindings/c/plan.cpp); nil for other values.
function internal.shape_of(tensor)
  local kind = describe(tensor)
  local known = kind == "wgrun.tensor" or kind == "wgrun.device_tensor" or getmetatable(tensor) == "wgrun.operand"
  return known and tensor.shape or nil
end

--- The elements of K that a wgmma of the type multiplies in a step; refuses a type that none takes.
function internal.k_of_wgmma(what, dtype)
  local step = internal.wgmma_k[dtype]
  if step then return step end
  internal.element_type(dtype)
  local names = {}
  for name in pairs(internal.wgmma_k) do names[#names + 1] = name end
  table.sort(names)
  internal.fail(("%s: no wgmma takes %s%s"):format(what, dtype, internal.nearest(tostring(dtype), names)))
end

--- Raises unless given[key] is absent or of that type (Lua's, or "wgrun.tensor"), for each key of `kinds`.
function internal.kinds(name, given, kinds)
  for key, kind in pairs(kinds) do
    if given[key] ~= nil and describe(given[key]) ~= kind then
      internal.fail(("%s: option `%s`: expected %s, got %s"):format(name, key, kind, describe(given[key])))
    end
  end
end

-- Shields functions of `class` (shield.hpp). Functions that take the body of a loop or branch are left out: each shielded
-- call in progress uses one of about 200 levels that Lua has for C calls.
local function shield(class, prefix, names)
  for _, name in ipairs(names) do class[name] = internal.shielded(class[name], prefix .. name) end
end

--- Makes an unknown method of the Lua class `class`, called `name` in messages, an error that suggests the nearest one. For
--- classes whose objects have all their fields.
function internal.close_class(name, class)
  setmetatable(class, {
    __index = function(_, key)
      if type(key) ~= "string" or key:find "^__" then return nil end
      local names = {}
      for method in pairs(class) do names[#names + 1] = method end
      internal.fail(("%s has no `%s`%s"):format(name, key, internal.nearest(key, names)))
    end,
  })
end

require "wgrun.builder.control"(internal)
require "wgrun.builder.asm"(internal)
require "wgrun.builder.warp"(internal)
require "wgrun.builder.division"(internal)
require "wgrun.tile.tile"(internal)
require "wgrun.pipeline.pipeline"(wg, internal)
require "wgrun.cost.roofline"(wg, internal)
require "wgrun.cost.gemm"(wg, internal)
require "wgrun.scheduler.order"(wg, internal)
require "wgrun.scheduler.tiles"(wg, internal)
require "wgrun.scheduler.stream_k"(wg, internal)
require "wgrun.scheduler.groups"(wg, internal)
require "wgrun.reduction.cluster"(wg, internal)
require "wgrun.reduction.memory"(wg, internal)
require "wgrun.tile.activation"(internal)
require "wgrun.builder.parameters"(internal)
require "wgrun.epilogue.elementwise"(internal)
require "wgrun.epilogue.rows"(internal)
require "wgrun.tile.fragment"(internal)
require "wgrun.tile.panel"(wg, internal)
require "wgrun.epilogue.store"(internal)
require "wgrun.epilogue.plan"(wg, internal)
require "wgrun.mainloop.exclusions"(internal)
require "wgrun.mainloop.scales"(internal)
require "wgrun.mainloop.plan"(wg, internal)
require "wgrun.mainloop.dense"(internal)
require "wgrun.mainloop.sparse"(internal)
require "wgrun.mainloop.block_scaled"(internal)
require "wgrun.mainloop.produce"(internal)
require "wgrun.mainloop.consume"(internal)
require "wgrun.mainloop.product"(internal)
require "wgrun.mainloop.launch"(internal)
require "wgrun.mainloop.mainloop"(wg, internal)
require "wgrun.gemm.plan"(wg, internal)
require "wgrun.gemm.few"(wg, internal)
require "wgrun.gemm.epilogue"(internal)
require "wgrun.gemm.parameters"(wg, internal)
require "wgrun.gemm.kernel"(wg, internal)
require "wgrun.mixed.time"(wg, internal)
require "wgrun.mixed.plan"(wg, internal)
require "wgrun.mixed.pack"(wg, internal)
require "wgrun.mixed.convert"(wg, internal)
require "wgrun.mixed.work"(wg, internal)
require "wgrun.mixed.kernel"(wg, internal)
require "wgrun.mixed.copies"(wg, internal)
require "wgrun.mixed.sums"(wg, internal)
require "wgrun.mixed.exchange"(wg, internal)
require "wgrun.gemm.gemm"(wg, internal)
require "wgrun.mixed.launch"(wg, internal)
require "wgrun.pipeline.turns"(wg, internal)
require "wgrun.scheduler.queue"(wg, internal)
require "wgrun.tile.softmax"(wg, internal)
require "wgrun.attention.plan"(wg, internal)
require "wgrun.attention.tensors"(internal)
require "wgrun.attention.tiles"(internal)
require "wgrun.attention.fp8"(internal)
require "wgrun.attention.fp8_weights"(internal)
require "wgrun.attention.output"(internal)
require "wgrun.attention.splits"(wg, internal)
require "wgrun.attention.scores"(internal)
require "wgrun.attention.consume"(internal)
require "wgrun.attention.parameters"(wg, internal)
require "wgrun.attention.kernel"(wg, internal)
require "wgrun.attention.attention"(wg, internal)
require "wgrun.attention.decode.plan"(wg, internal)
require "wgrun.attention.decode.work"(internal)
require "wgrun.attention.decode.copies"(internal)
require "wgrun.attention.decode.finish"(internal)
require "wgrun.attention.decode.block"(internal)
require "wgrun.attention.decode.parameters"(wg, internal)
require "wgrun.attention.decode.kernel"(wg, internal)
require "wgrun.attention.decode.decode"(wg, internal)
require "wgrun.attention.backward.plan"(wg, internal)
require "wgrun.attention.backward.rows"(wg, internal)
require "wgrun.attention.backward.block"(wg, internal)
require "wgrun.attention.backward.consume"(wg, internal)
require "wgrun.attention.backward.wide"(wg, internal)
require "wgrun.attention.backward.kernel"(wg, internal)
require "wgrun.attention.backward.backward"(wg, internal)
require "wgrun.gemm.sparse_compress"(wg, internal)
require "wgrun.tune.cache"(internal)
require "wgrun.tune.search"(wg, internal)
require "wgrun.tune.gemm"(wg, internal)
require "wgrun.tune.tune"(wg, internal)
require "wgrun.tune.try"(wg, internal)

internal.close_class("a pipeline", internal.classes.pipeline)
internal.close_class("an accumulator", internal.classes.accumulator)
internal.close_class("a main loop", internal.classes.mainloop)
internal.close_class("a gemm", internal.classes.gemm)
internal.close_class("attention", internal.classes.attention)
internal.close_class("attention_decode", internal.classes.attention_decode)
internal.close_class("an attention_backward", internal.classes.attention_backward)
internal.close_class("prepared launches", internal.classes.launches)
internal.close_class("a compressor", internal.classes.compressor)
internal.close_class("a prepacker", internal.classes.prepacker)
shield(wg, "wg.", { "panel", "hilbert", "gemm", "attention", "attention_decode", "attention_backward", "compressor", "prepacker", "prepack", "tuning", "tune", "try" })
shield(internal.methods.builder, "k:", {
  "asm", "element", "descriptor", "mma", "copy_tile", "store_accumulator", "address", "mbarrier_wait", "load_tile", "pipeline",
  "fragment", "part_of_k", "sum_parts", "epilogue", "turns", "queue", "softmax",
})
shield(internal.classes.pipeline, "pipeline:", {
  "init", "cursor", "advance", "skip", "full_barrier", "empty_barrier", "acquire", "expect", "wait", "release",
})
shield(internal.classes.accumulator, "accumulator:", { "map", "row_reduce", "row_max", "row_sum", "operand" })
for _, room in ipairs { "mainloop", "scheduler", "reduction" } do
  local names = {}
  for name in pairs(wg[room]) do names[#names + 1] = name end
  shield(wg[room], ("wg.%s."):format(room), names)
end
shield(internal.classes.mainloop, "mainloop:", { "parameters", "launch" })
shield(internal.classes.gemm, "gemm:", { "launch", "run", "prepare", "time" })
shield(internal.classes.turns, "turns:", { "take", "pass", "finish" })
shield(internal.classes.queue, "queue:", { "init" })
shield(internal.classes.softmax, "softmax:", { "first", "next", "finish" })
shield(internal.classes.attention, "attention:", { "launch", "flops", "run", "prepare", "time" })
shield(internal.classes.attention_decode, "attention_decode:", { "launch", "run", "prepare", "time" })
shield(internal.classes.attention_backward, "attention_backward:", { "launches", "flops", "run", "prepare", "time" })
shield(internal.classes.launches, "launches:", { "start", "wait", "download", "upload" })
shield(internal.classes.compressor, "compressor:", { "metadata_shape", "launch" })
shield(internal.classes.prepacker, "prepacker:", { "packed_shape", "launch" })
shield(wg.sparse, "wg.sparse.", { "compress" })
