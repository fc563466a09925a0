-- The state of a CTA in global memory: f32, for each sequence and head dim x dim elements. A row of the accumulators is
-- a column of V, a column one of K.

local module = {}

-- Calls each(r, address, offset) for the registers of the accumulators: `step` registers next to each other in memory.
local function places(g, tensor, each)
  local k, p, at = g.k, g.p, g.at
  local thread = k:special "tid.x"
  local row, column = at.column + ((thread >> 5 & 3) << 4) + (thread >> 2 & 7), (thread & 3) << 1
  local matrix = k:element(tensor, k:mul_wide_u32(at.batch * p.heads + at.head, p.dim * p.dim))
  local by_value = p.state_layout == "vk"
  local v_step, k_step = by_value and p.dim or 1, by_value and 1 or p.dim
  local from = matrix + k:mul_wide_u32(k:mul(row, v_step) + k:mul(column, k_step), 4)
  for r = 0, p.dim // 2 - 1, 2 do
    local offset = 4 * (8 * (r // 2 % 2) * v_step + 8 * (r // 4) * k_step)
    each(r, from, offset, 4 * k_step)
  end
end

--- Loads the initial state, or zeros where there is none.
function module.load(g, s)
  local k, p = g.k, g.p
  if not p.initial_state then
    for r = 0, #s - 1 do k:mov(s[r], 0.0) end
    return
  end
  places(g, g.sizes.initial_state, function(r, from, offset, step)
    if step == 4 then
      k:ld_global_v2_f32(s:slice(r, 2), from, { offset = offset })
    else
      for i = 0, 1 do k:ld_global_f32(s[r + i], from, { offset = offset + i * step }) end
    end
  end)
end

--- Stores the final state.
function module.store(g, s)
  local k, p = g.k, g.p
  if not p.final_state then return end
  places(g, g.sizes.final_state, function(r, to, offset, step)
    if step == 4 then
      k:st_global_v2_f32(to, { s[r], s[r + 1] }, { offset = offset })
    else
      for i = 0, 1 do k:st_global_f32(to, s[r + i], { offset = offset + i * step }) end
    end
  end)
end

return module
