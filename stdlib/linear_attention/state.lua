-- The state of a CTA in global memory: f32 matrices of dim x value_dim elements. A row of the accumulators is a column
-- of V, a column one of K.

local elements = require "wgrun.tile.elements"

local module = {}

--- Moves the accumulators `s` between registers and a matrix of a tensor: number, a register, is that of the matrix;
--- layout: "kv" or "vk", the order of its dimensions; row: the thread's first one (module.row).
local function places(g, tensor, number, layout, row, each)
  local k, p = g.k, g.p
  local column = (k:special "tid.x" & 3) << 1
  local matrix = k:element(tensor, k:mul_wide_u32(number, p.dim * p.value_dim))
  local v_step, k_step = layout == "vk" and p.dim or 1, layout == "vk" and 1 or p.value_dim
  local from = matrix + k:mul_wide_u32(k:mul(row, v_step) + k:mul(column, k_step), 4)
  for r = 0, p.dim // 2 - 1, 2 do
    each(r, from, 4 * (8 * (r // 2 % 2) * v_step + 8 * (r // 4) * k_step), 4 * k_step)
  end
end

--- The thread's first row of accumulators: a column of V. in_eight: the row among eight, by default the lane's.
function module.row(g, in_eight)
  local thread = g.k:special "tid.x"
  return g.at.column + ((thread >> 5 & 3) << 4) + (in_eight or thread >> 2 & 7)
end

function module.load_matrix(g, s, tensor, number, layout)
  local k = g.k
  places(g, tensor, number, layout, module.row(g), function(r, from, offset, step)
    if step == 4 then return k:ld_global_v2_f32(s:slice(r, 2), from, { offset = offset }) end
    for i = 0, 1 do k:ld_global_f32(s[r + i], from, { offset = offset + i * step }) end
  end)
end

function module.store_matrix(g, s, tensor, number, layout, row)
  local k = g.k
  places(g, tensor, number, layout, row or module.row(g), function(r, to, offset, step)
    if step == 4 then return k:st_global_v2_b32(to, { s[r], s[r + 1] }, { offset = offset }) end
    for i = 0, 1 do k:st_global_b32(to, s[r + i], { offset = offset + i * step }) end
  end)
end

-- Where the thread's accumulators lie in a matrix that kernels hand to each other, as whole lines of memory: each(r,
-- from, offset) for four of them.
local function fragments(g, tensor, number, each)
  local k, p = g.k, g.p
  local matrix = k:element(tensor, k:mul_wide_u32(number, p.dim * p.value_dim))
  local from = k:mad_wide_u32(k:special "tid.x" & 127, 16, k:mad_wide_u32(g.at.column, 4 * p.dim, matrix))
  for r = 0, p.dim // 2 - 1, 4 do each(r, from, 512 * r) end
end

--- guard: a predicate, or nil.
function module.load_fragments(g, s, tensor, number, guard)
  fragments(g, tensor, number, function(r, from, offset)
    g.k:ld_global_v4_f32(s:slice(r, 4), from, { offset = offset, guard = guard })
  end)
end

function module.store_fragments(g, s, tensor, number)
  fragments(g, tensor, number, function(r, to, offset)
    g.k:st_global_v4_f32(to, s:slice(r, 4), { offset = offset })
  end)
end

--- The number of the head's matrix among those of `slot`: a sequence, or a segment.
function module.number(g, slot) return slot * g.p.heads + g.at.head end

--- Loads the state before the first token of the launch: the initial one, or 0.
function module.load_initial(g, s)
  if g.p.initial_state then
    return module.load_matrix(g, s, g.sizes.initial_state, module.number(g, g.at.batch), g.p.state_layout)
  end
  for r = 0, #s - 1 do g.k:mov(s[r], 0.0) end
end

--- Loads the state before the CTA's first chunk. kind: of a summary (kernel.lua).
function module.load(g, s, kind)
  local k, p, at = g.k, g.p, g.at
  local function zeros() for r = 0, #s - 1 do k:mov(s[r], 0.0) end end
  if not p.summary then return module.load_initial(g, s) end
  if kind == "sum" then
    if not p.initial_state then return zeros() end
    return k:if_(at.segment:eq(0), function() module.load_initial(g, s) end, zeros)
  end
  -- Column j of the identity becomes column j of the matrix that states are multiplied with.
  local pair = (k:special "tid.x" & 3) << 1
  local ahead = k:mov(module.row(g) - pair, { type = "s32" })
  for r = 0, #s - 1 do
    k:mov(s[r], k:selp(k:mov(1.0, { type = "f32" }), 0.0, ahead:eq(8 * (r // 4) + r % 2 - 8 * (r // 2 % 2))))
  end
end

--- Stores the state after the last token, where it is wanted: the CTA has the last segment.
function module.store_final(g, s)
  local k, p, at = g.k, g.p, g.at
  if not p.final_state then return end
  local function store()
    module.store_matrix(g, s, g.sizes.final_state, module.number(g, at.batch), p.state_layout)
  end
  if p.segments == 1 then return store() end
  k:if_(at.segment:eq(p.segments - 1), store)
end

--- Stores the state after the CTA's last chunk, where it is wanted.
function module.store(g, s, kind)
  local k = g.k
  if not g.p.summary then return module.store_final(g, s) end
  local number = 2 * module.number(g, g.at.slot)
  if kind == "sum" then return module.store_fragments(g, s, g.sizes.summaries, number) end
  k:if_(g.at.segment:eq(0), function() -- which needs no M (segments.lua)
    module.load_initial(g, s)
    module.store_fragments(g, s, g.sizes.summaries, number + 1)
  end, function()
    -- In the order in which segments.lua multiplies: 0, 2, 4, 6, 1, 3, 5, 7 of each eight columns, rounded to tf32.
    local eight = k:special "tid.x" >> 2 & 7
    local row, words = module.row(g, (eight >> 1) + ((eight & 1) << 2)), {}
    for r = 0, #s - 1 do words[r] = elements.nearest_tf32(k, s[r]) end
    module.store_matrix(g, words, g.sizes.summaries, number + 1, "kv", row)
  end)
end

return module
