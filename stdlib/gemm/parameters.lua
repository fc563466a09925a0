-- The parameters of wg.gemm's kernel (builder/parameters.lua), which its launches and what it exports follow.

local parameters = require "wgrun.builder.parameters"
local collective = require "wgrun.collective.collective"
local epilogue_plan = require "wgrun.epilogue.plan"
local mainloop_plan = require "wgrun.mainloop.plan"
local scales = require "wgrun.mainloop.scales"
local native = require "wgrun.native"

local module = {}

-- The operands' tensor maps and extents.
local function add_operands(p, add)
  local swapped = p.swapped
  mainloop_plan.operand_parameters(p, add)
  add { name = "D", map = p.panel.box }
  local notes = {
    M = swapped and "columns of D" or nil, N = p.groups and "columns of D" or swapped and "rows of D" or nil,
  }
  for _, name in ipairs { "M", "N", "K" } do
    add { name = name, type = "u32", note = notes[name], least = name == "K" and p.scheduler.least_k(p) or nil }
  end
  for _, name in ipairs { "A", "B" } do
    local rows, width = p.edges[name], 128 // native.element_bytes[p.dtype]
    if rows then
      add {
        name = name .. "_edge", map = { dtype = p.dtype, box = { width, rows }, swizzle = "128B", constant = true },
        value = function(l) return l[name] end,
        note = ("%s again, for a last tile of up to %d rows"):format(name, rows),
      }
    end
  end
end

--- The kernel's parameters. A launch has: A, B, D, M, N, K as the kernel takes them; rows and columns of D; `given`,
--- its options; groups and group_rows (groups.arguments); and functions: order(), the order of its tiles; partials()
--- and counters(), its workspace; scales(name), checked.
function module.make(p)
  return parameters.list(function(add)
    add_operands(p, add)
    epilogue_plan.add_parameters(p, add)
    p.kind.parameters(p, add)
    scales.add_parameters(p, add)
    if p.limits then
      add { name = "D_data", as = "D", type = p.d .. "*", value = function(l) return l.D end, note = "D again" }
    end
    p.scheduler.parameters(p, add)
    if p.reduction then p.reduction.parameters(p, add) end
    collective.parameters(p, add)
  end)
end

return module
