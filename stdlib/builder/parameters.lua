-- A kernel's parameters, each in one place: what the kernel declares, what a launch gives for it, and what a launch
-- without wgrun must know. A parameter is a table:
--
--   name    of the parameter
--   type    "u32", "const f32*", ...; or map: the box of a tensor map
--   least   of an integer: launches pass at least that (k:param)
--   value   function(launch): the argument; raises for what does not fit; by default what the launch has under its name
--   note    text for kernel:export
--   as      the key under which the kernel finds it; by default its name

local module = {}

--- Declares the parameters of a list, in order. Returns the tensor maps and the others, by their keys.
function module.declare(k, list)
  local maps, others = {}, {}
  for _, one in ipairs(list) do
    local key = one.as or one.name
    if one.map then
      maps[key] = k:tensor_map(one.name, one.map)
    else
      others[key] = k:param(one.name, one.type, one.least and { least = one.least })
    end
  end
  return maps, others
end

--- The arguments of a launch, in the order of the parameters.
function module.arguments(list, launch)
  local out = {}
  for i, one in ipairs(list) do
    if one.value then out[i] = one.value(launch) else out[i] = launch[one.name] end
  end
  return out
end

--- The notes for kernel:export, by name.
function module.notes(list)
  local out = {}
  for _, one in ipairs(list) do out[one.name] = one.note end
  return out
end

--- Returns the list of parameters of rows { name, type, note, map =, as =, value = }, or false for none.
function module.rows(rows)
  return module.list(function(add)
    for _, row in ipairs(rows) do
      if row then
        add { name = row[1], type = row[2], note = row[3], map = row.map, as = row.as, value = row.value }
      end
    end
  end)
end

--- Returns the list with the parameters that `add` was called with: list(function(add) ... end).
function module.list(body)
  local out = {}
  body(function(one) out[#out + 1] = one end)
  return out
end

return module
