-- What functions of the library are called with: options of tables, numbers, objects, shapes. What does not fit raises
-- an error at the calling script's line.

local native = require "wgrun.native"

local module = {}

--- Describes a value for messages: wgrun's objects by their class, others by their Lua type.
function module.describe(value)
  local class = getmetatable(value)
  return type(value) == "userdata" and type(class) == "string" and class or type(value)
end

-- Types of options, as comments write them (`@option splits integer[1,64]?`), one of several parts that `|` separates.
-- A part is a number or a string of Lua's ("K"), a range of integers, a type of Lua's, or a class of wgrun's. What
-- accepts a value, by part: true where nothing is known of it.
local lua_types = { string = true, number = true, boolean = true, table = true }
local classes = { regs = true, shared = true, tile = true, kernel = true }
local in_words = { -- in messages
  regs = "registers", shared = "a shared buffer", ["function"] = "a function", integer = "an integer",
}

local function part_of(text)
  local word = text:match '^"(.*)"$'
  if word then return { word = word, accepts = function(value) return value == word end } end
  local least, most = text:match "^integer%[(.*),(.*)%]$"
  if least then
    least, most = math.tointeger(least), math.tointeger(most)
    return {
      least = least, most = most,
      accepts = function(value) return math.type(value) == "integer" and value >= least and value <= most end,
    }
  end
  local number = math.tointeger(text)
  if number then return { word = text, accepts = function(value) return value == number end } end
  if text == "integer" then
    return { accepts = function(value) return type(value) == "number" and math.tointeger(value) ~= nil end }
  end
  if lua_types[text] then return { accepts = function(value) return type(value) == text end } end
  if text:find "^function" then
    return { call = true, accepts = function(value) return type(value) == "function" end }
  end
  if text == "reg" then -- what an instruction takes: a number and the address of a buffer, too
    return {
      accepts = function(value)
        local kind = module.describe(value)
        return kind == "wgrun.reg" or kind == "wgrun.shared" or kind == "number"
      end,
    }
  end
  if classes[text] then return { accepts = function(value) return module.describe(value) == "wgrun." .. text end } end
  if text == "tensor" then return { accepts = function(value) return module.shape_of(value) ~= nil end } end
  return { accepts = function() return true end }
end

-- The parts of a type; a `|` inside of quotes or parentheses separates none.
local function parts_of(text)
  local parts, depth, quoted, from = {}, 0, false, 1
  for at = 1, #text + 1 do
    local c = text:sub(at, at)
    if c == '"' then quoted = not quoted end
    if not quoted then depth = depth + (c == "(" and 1 or c == ")" and -1 or 0) end
    if at > #text or c == "|" and depth == 0 and not quoted then
      local part = part_of(text:sub(from, at - 1))
      part.text = text:sub(from, at - 1)
      parts[#parts + 1] = part
      from = at + 1
    end
  end
  return parts
end

local schemas = {} -- by function: its options as a list of names and by name

local function schema_of(name)
  local schema = schemas[name]
  if not schema then
    schema = { list = {}, options = {}, defaults = {} }
    for i, option in ipairs(native.option_schema(name)) do
      schema.list[i], schema.options[option.name] = option.name, option
      option.parts = parts_of(option.type)
      -- One that names another option ("whole tile = tile") is no constant, and stands for nil.
      local known, default = pcall(load("return " .. (option.default or "nil"), "=default", "t", {}))
      if known then schema.defaults[option.name] = default end
    end
    schemas[name] = schema
  end
  return schema
end

-- A part of a type as messages call it: "a table", "an integer".
local function words_of(text)
  if text:find '^"' then return text end
  local word = text:match "^%a+" or text
  return in_words[word] or "a " .. (word == "reg" and "register" or word)
end

-- Raises what is wrong with the value of an option.
local function refuse(name, option, value)
  local words, range, text = {}, nil, type(value) == "string"
  for _, part in ipairs(option.parts) do
    if part.word == "bf16" and text then native.element_type(value) end -- knows what other tools call them
    if part.word then words[#words + 1] = part.word end
    if part.call and #words > 0 then words[#words + 1] = "or a function" end
    range = part.least and part or range
  end
  local shown = text and ("%q"):format(value) or type(value) == "number" and tostring(value) or module.describe(value)
  if option.type == "boolean" then
    native.fail(("%s: %s must be true or false, not %s"):format(name, option.name, shown))
  end
  if range and #option.parts == 1 then
    native.fail(
      ("%s: %s is %s, must be an integer from %d to %d"):format(name, option.name, shown, range.least, range.most))
  end
  if #words > 0 then
    local given = (text or type(value) == "boolean") and tostring(value) or shown
    local near = #words > 1 and #given > 1 and native.nearest(given, words) or ""
    native.fail(("%s: unknown %s `%s`%s (legal: %s)"):format(name, option.name, given, near, table.concat(words, ", ")))
  end
  local expected = {}
  for i, part in ipairs(option.parts) do expected[i] = words_of(part.text) end
  if text or type(value) == "number" then shown = type(value) .. " " .. shown end
  native.fail(
    ("%s: option `%s`: expected %s, got %s"):format(name, option.name, table.concat(expected, " or "), shown))
end

--- Raises unless `given` is a table, and its keys and values are as the comment at function `name` describes them
--- (@option). Returns a table that has the defaults of the comment for what is left out. An option that may be left out
--- may be false.
function module.options(name, given)
  if type(given) ~= "table" then
    native.fail(("%s: expected a table of options, got %s"):format(name, module.describe(given)))
  end
  local schema = schema_of(name)
  for key in pairs(given) do
    if not schema.options[key] then
      native.fail(("unknown option `%s` of %s%s (legal: %s)"):format(
        tostring(key), name, native.nearest(tostring(key), schema.list), table.concat(schema.list, ", ")))
    end
  end
  local missing
  for _, key in ipairs(schema.list) do
    local option, value = schema.options[key], given[key]
    local legal = value == nil or value == false and option.optional
    for _, part in ipairs(option.parts) do legal = legal or part.accepts(value) end
    if not legal then refuse(name, option, value) end
    missing = missing or value == nil and not option.optional and key
  end
  if missing then native.fail(("%s: option `%s` is missing"):format(name, missing)) end
  return setmetatable({}, { __index = function(_, key)
    local value = given[key]
    if value == nil then return schema.defaults[key] end
    return value
  end })
end

--- Parts the options `given` to function `name` into those of function `inner` and the others; nil stands for none.
function module.split_options(name, inner, given)
  if given == nil then given = {} end
  module.options(name, given)
  local own, rest = {}, {}
  for key, value in pairs(given) do (schema_of(inner).options[key] and own or rest)[key] = value end
  return own, rest
end

--- Returns the options with the value of the option `old` under its name of today, `new`; warns (Lua's warn) where it
--- is there.
function module.renamed(name, given, old, new)
  if given[old] == nil then return given end
  if given[new] ~= nil then
    native.fail(("%s: `%s` is the old name of `%s`, which is given as well"):format(name, old, new))
  end
  warn(("%s: the option `%s` is called `%s` now"):format(name, old, new))
  local out = module.extended({}, given)
  out[old], out[new] = nil, given[old]
  return out
end

--- Adds the fields of `fields` to `target`, and returns it.
function module.extended(target, fields)
  for key, value in pairs(fields) do target[key] = value end
  return target
end

--- A table with the entries of both; those of `b` win.
function module.merged(a, b) return module.extended(module.extended({}, a), b) end

--- Raises unless `value`, called `what` in messages, is a wgrun object of `class` ("reg").
function module.object(what, value, class)
  if module.describe(value) ~= "wgrun." .. class then
    local tile = class == "shared" and module.describe(value) == "wgrun.tile"
      and " (k:shared(tile) makes a buffer of it)" or ""
    native.fail(("%s: expected wgrun.%s, got %s%s"):format(what, class, module.describe(value), tile))
  end
  return value
end

--- The rows and columns of `tensor`, called `what` in messages; raises unless it is a matrix.
function module.matrix(what, tensor)
  local shape = module.shape_of(tensor)
  if not shape or #shape ~= 2 then native.fail(what .. " must be a matrix") end
  return shape[1], shape[2]
end

--- Raises unless `tensor`, called `what` in messages, has this shape.
function module.same_shape(what, tensor, want)
  local text = module.shape_text(want)
  if module.shape_text(module.shape_of(tensor)) ~= text then
    native.fail(("%s must be a tensor of %s"):format(what, text))
  end
end

--- Raises unless `value` is a function.
function module.body(what, value)
  if type(value) ~= "function" then
    native.fail(("%s: expected a function, got %s"):format(what, module.describe(value)))
  end
end

--- The result of a caller's function that makes a value; raises where it gives none, often since `return` is missing.
function module.made(what, ...)
  local value = ...
  if value == nil then
    native.fail(what .. ": the function returns nothing: it ends with `return` and a register or a number")
  end
  return value
end

--- Raises if the function `name`, which takes `most` arguments, was given the others, too. Shielded functions do that
--- themselves.
function module.surplus(name, most, ...)
  for i = 1, select("#", ...) do
    local value = select(i, ...)
    if value ~= nil then
      native.fail(("`%s` takes %d argument%s, not %d: %s is too much"):format(
        name, most, most == 1 and "" or "s", most + i, module.describe(value)))
    end
  end
end

--- Raises unless `value` is a register, or an integer from `least` (default 0) that fits u32.
function module.count(what, value, least)
  if module.describe(value) == "wgrun.reg" then return end
  least = least or 0
  if math.type(value) ~= "integer" or value < least or value > 0xFFFFFFFF then
    local got = type(value) == "number" and tostring(value) or module.describe(value)
    native.fail(("%s: expected a register or an integer from %d to 4294967295, got %s"):format(what, least, got))
  end
end

--- Raises unless `value` is an integer from `least` to `most`; returns it.
function module.whole(what, value, least, most)
  if math.type(value) ~= "integer" or value < least or value > most then
    native.fail(("%s is %s, must be an integer from %d to %d"):format(
      what, type(value) == "number" and tostring(value) or module.describe(value), least, most))
  end
  return value
end

--- Returns `value`, a number; raises unless it is positive and finite.
function module.positive(what, value)
  if not (value > 0 and value < math.huge) then native.fail(("%s is %s, must be positive"):format(what, value)) end
  return value
end

--- A shape as messages have it.
function module.shape_text(shape)
  if not shape then return "no tensor" end
  return #shape == 0 and "a scalar" or table.concat(shape, " x ")
end

--- The shape of a tensor, or of its stand-in while a host plans a launch (bindings/c/plan.cpp); nil for other values.
function module.shape_of(tensor)
  local kind = module.describe(tensor)
  local known = kind == "wgrun.tensor" or kind == "wgrun.device_tensor" or getmetatable(tensor) == "wgrun.operand"
  return known and tensor.shape or nil
end

--- The elements of a tensor of that shape.
function module.elements(shape)
  local count = 1
  for _, extent in ipairs(shape) do count = count * extent end
  return count
end

--- The elements of K that a wgmma of the type multiplies in a step; refuses a type that none takes.
function module.k_of_wgmma(what, dtype)
  local step = native.wgmma_k[dtype]
  if step then return step end
  native.element_type(dtype)
  local names = {}
  for name in pairs(native.wgmma_k) do names[#names + 1] = name end
  table.sort(names)
  native.fail(("%s: no wgmma takes %s%s"):format(what, dtype, native.nearest(tostring(dtype), names)))
end

return module
