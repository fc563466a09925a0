-- The tensors that functions of the scores read (option `tensors`, by name their types): parameters of the kernel, and
-- values of a launch.

local native = require "wgrun.native"

local module = {}

local function names_of(p)
  local names = {}
  for name in pairs(p.tensors or {}) do names[#names + 1] = name end
  table.sort(names)
  return names
end

--- Raises unless the option is a table of types by name.
function module.check(p)
  for name, type_of in pairs(p.tensors or {}) do
    if type(name) ~= "string" or not name:find "^%a[%w_]*$" then
      native.fail(("%s, tensors: `%s` is no name, as in { bias = \"f32\" }"):format(p.what, tostring(name)))
    end
    native.element_type(type_of)
  end
end

--- Adds the kernel's parameters to `rows` (builder/parameters.lua). given(launch): the tensors of a launch, by name.
function module.add_parameters(p, rows, given)
  for _, name in ipairs(names_of(p)) do
    rows[#rows + 1] = {
      "tensor_" .. name, ("const %s*"):format(p.tensors[name]),
      value = function(l)
        local tensors = given(l)
        for other in pairs(tensors) do
          if not p.tensors[other] then
            native.fail(("%s: there is no tensor `%s`%s"):format(
              p.what:gsub("^wg%.", ""), tostring(other), native.nearest(tostring(other), names_of(p))))
          end
        end
        return tensors[name] or native.fail(("%s: tensor `%s` is missing"):format(p.what:gsub("^wg%.", ""), name))
      end,
    }
  end
  return rows
end

--- What functions get as `tensors`: pointers, by name.
function module.pointers(g)
  local out = {}
  for _, name in ipairs(names_of(g.p)) do out[name] = g.sizes["tensor_" .. name] end
  return out
end

return module
