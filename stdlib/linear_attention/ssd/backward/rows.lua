-- The kernels of wg.ssd_backward before and after its products: dY behind the gate z and the gradient of z, element by
-- element; dB and dC from the sums of slices; and the gradients of A, dt_bias and D from the sums of chunks.

local wg = require "wgrun"
local parameters = require "wgrun.builder.parameters"
local warps = require "wgrun.builder.warp"
local roofline = require "wgrun.cost.roofline"
local activation = require "wgrun.tile.activation"
local elements = require "wgrun.tile.elements"

local module = {}

local sigmoid <const> = activation.named("wg.ssd_backward", "sigmoid")

module.threads, module.each = 256, 8 -- elements of a thread, 16 bytes of each tensor

-- Calls body(first) for the thread's eight elements, of so many eights: first is the number of the first one, u64.
local function of_thread(k, eights, body)
  local number = k:special "ctaid.x" * module.threads + k:special "tid.x"
  k:if_(number:lt(eights), function() body(k:mul_wide_u32(number, module.each)) end)
end

-- A kernel that computes each element of `result` from those of the operands: compute(k, ...) gets one of each.
local function elementwise(p, name, list, operands, result, compute)
  return wg.kernel(name, { threads = module.threads, grid = { "any", 1, 1 } }, function(k)
    local _, sizes = parameters.declare(k, list)
    of_thread(k, sizes.eights, function(first)
      local words, out = {}, k:regs("b32", 4)
      for i, operand in ipairs(operands) do words[i] = k:ld_global_v4_b32(k:element(sizes[operand], first)) end
      local split, convert = elements.from_output[p.dtype], elements.to_output[p.dtype]
      for i = 0, 3 do
        local left, right = {}, {}
        for number, of in ipairs(words) do left[number], right[number] = split(k, of[i]) end
        k:mov(out[i], convert(k, compute(k, table.unpack(left)), compute(k, table.unpack(right))))
      end
      k:st_global_v4_b32(k:element(sizes[result], first), out)
    end)
  end)
end

--- dY behind the gate, of the tensor that the gate gave.
function module.gate(p, list)
  return elementwise(p, p.name .. "_gate", list, { "dy", "z" }, "gated", function(k, dy, z)
    return dy * z * sigmoid(k, z)
  end)
end

--- The gradient of z, with y before the gate.
function module.ungate(p, list)
  return elementwise(p, p.name .. "_ungate", list, { "dy", "z", "y" }, "dz", function(k, dy, z, y)
    local s = sigmoid(k, z)
    return dy * y * s * k:fma(z, 1.0 - s, 1.0)
  end)
end

--- Adds the slices up; its CTAs are elements, and tensor.
function module.join(p, list)
  return wg.kernel(p.name .. "_join", { threads = module.threads, grid = { "any", 2, 1 } }, function(k)
    local _, sizes = parameters.declare(k, list)
    local function of(name, first)
      local total, convert = k:regs("f32", 8), elements.to_output[p.dtype]
      for slice = 0, p.slices - 1 do
        local from = k:element(sizes[name .. "_parts"], k:mad_wide_u32(sizes.eights, module.each * slice, first))
        local part = slice == 0 and total or k:regs("f32", 8)
        for four = 0, 1 do k:ld_global_v4_f32(part:slice(4 * four, 4), from, { offset = 16 * four }) end
        for i = 0, slice > 0 and 7 or -1 do k:add(total[i], total[i], part[i]) end
      end
      local words = {}
      for i = 0, 3 do words[i + 1] = convert(k, total[2 * i], total[2 * i + 1]) end
      k:st_global_v4_b32(k:element(sizes[name], first), words)
    end
    of_thread(k, sizes.eights, function(first)
      k:if_(k:special "ctaid.y":eq(0), function() of("dB", first) end, function() of("dC", first) end)
    end)
  end)
end

--- Adds the sums of chunks up, in the same order in each launch; its CTAs are a head, and four of its fields, a warp
--- for each.
function module.after(p, list)
  local grid = { p.heads, roofline.ceil_div(p.fields, 4), 1 }
  return wg.kernel(p.name .. "_after", { threads = 128, grid = grid }, function(k)
    local _, sizes = parameters.declare(k, list)
    local thread, head = k:special "tid.x", k:special "ctaid.x"
    local lane, field = thread & 31, k:special "ctaid.y" * 4 + k:shfl_sync_idx_b32(thread >> 5, 0, 31)
    k:if_(field:lt(p.fields), function()
      local row = k:cvt_u64_u32(head * p.fields + field) * k:cvt_u64_u32(sizes.records)
      local total = k:mov(0.0, { type = "f32" })
      k:loop({ from = lane, to = sizes.records, step = 32 }, function(record)
        k:add(total, total, k:ld_global_f32(k:element(sizes.parts, row + k:cvt_u64_u32(record))))
      end)
      local whole, first = warps.over_lanes(k, total, function(a, b) return a + b end, 32), lane:eq(0)
      local of_d = 1
      k:st_global_b32(k:element(sizes.dA, head), whole, { guard = first & field:eq(0) })
      if p.dt_bias then
        of_d = 2
        k:st_global_b32(k:element(sizes.ddt_bias, head), whole, { guard = first & field:eq(1) })
      end
      if p.D then
        local place = head * p.d_columns + field - of_d
        k:st_global_b32(k:element(sizes.dD, place), whole, { guard = first & field:ge(of_d) })
      end
    end)
  end)
end

return module
