-- What is proved of the kernels of the library for every size: a row for each kernel, with the seconds of its proofs, and for what is
-- not proved the reason and its line.
--   wgrun tests/verdicts/library.lua [NAME] [--budget 10] [--domains yes]
-- NAME: a part of the name of an object. --domains: also for which launches.
local wg = require "wgrun"

local o, part = { budget = 10 }, ""
do
  local i = 1
  while arg[i] do
    local key = arg[i]:match "^%-%-(.+)$"
    if key then
      o[key], i = tonumber(arg[i + 1]) or arg[i + 1], i + 2
    else
      part, i = arg[i], i + 1
    end
  end
end

local objects = {}
local function add(kind, name, options)
  objects[#objects + 1] = { name = kind .. (name and " " .. name or ""), make = function() return wg[kind](options) end }
end

local square = { 4096, 4096, 4096 }
local function gemm(name, options)
  options.problem = options.problem or square
  add("gemm", name, options)
end

add("delta_rule", nil, {})
add("delta_rule", "states", { heads = 8, qk_heads = 4, initial_state = true, final_state = true })
add("delta_rule", "packed", { packed = true })
add("delta_rule", "segments", { segments = 4 })
add("delta_rule", "channel", { decay = "channel" })
add("delta_rule", "channel packed", { decay = "channel", packed = true })
add("delta_rule", "channel segments", { decay = "channel", segments = 4 })
add("delta_rule_backward", nil, {})
add("delta_rule_backward", "states", { heads = 8, qk_heads = 4, initial_state = true, final_state = true })
add("delta_rule_backward", "packed", { packed = true })
add("ssd", nil, {})
add("ssd", "pairs", { heads = 8, groups = 4, pairs = true })
add("ssd", "packed", { packed = true })
add("ssd", "segments", { segments = 4 })
add("ssd", "all", { heads = 8, dt_bias = true, dt_softplus = true, D = true, z = true, initial_state = true, final_state = true })
add("ssd_backward", nil, {})
add("ssd_backward", "packed", { packed = true })
add("ssd_backward", "all", { heads = 8, dt_bias = true, dt_softplus = true, D = true, z = true, initial_state = true, final_state = true })
add("mla_decode", nil, {})
add("mla_decode", "16 heads", { heads = 16 })
add("mla_decode", "page 64", { page = 64 })
add("mla_decode", "page 1", { page = 1 })
gemm("mxfp4", { b_type = "mxfp4" })
gemm("mxfp4 16 rows", { b_type = "mxfp4", problem = { 16, 4096, 4096 } })
gemm("mxfp4 beside e4m3", { a_type = "e4m3", b_type = "mxfp4" })
gemm("mxfp4 beside e4m3 16 rows", { a_type = "e4m3", b_type = "mxfp4", problem = { 16, 4096, 4096 } })
gemm("nvfp4", { b_type = "nvfp4" })
gemm("nvfp4 16 rows", { b_type = "nvfp4", problem = { 16, 4096, 4096 } })
gemm("bf16x6", { dtype = "f32", precision = "bf16x6" })
gemm("bf16x9", { dtype = "f32", precision = "bf16x9" })
gemm("3xtf32", { dtype = "f32", precision = "3xtf32" })
add("gemm_f64", nil, {})
add("attention", "192, value 128", { dim = 192, value_dim = 128 })
add("attention", "192, value 128 causal", { dim = 192, value_dim = 128, causal = true })
add("attention", "192, value 128 packed", { dim = 192, value_dim = 128, packed = true })
-- The kernels that came before.
add("attention", "128", { dim = 128 })
add("attention", "128 causal", { dim = 128, causal = true })
add("attention_backward", "128", { dim = 128 })
add("attention_decode", "128", { dim = 128 })
gemm("bf16", {})
gemm("e4m3 scales", { dtype = "e4m3", scales = { a = "1x128", b = "128x128" } })
gemm("s4", { b_type = "s4" })
gemm("s4 16 rows", { b_type = "s4", problem = { 16, 4096, 4096 } })
gemm("groups", { groups = "contiguous", problem = { 8192, 4096, 4096, 16 } })
gemm("sparse", { sparse = "A" })

local kernel_class = getmetatable(wg.kernel("any", { threads = 32 }, function() end))

--- The kernels of an object, in the order of their names.
local function kernels(object)
  local out = {}
  for field, value in pairs(object) do
    if getmetatable(value) == kernel_class then out[#out + 1] = { field = field, kernel = value } end
  end
  table.sort(out, function(a, b) return a.field < b.field end)
  return out
end

-- The properties of a kernel by what stopped their proofs, and the number of those that are proved.
local function by_reason(verdicts)
  local order, of, proved = {}, {}, 0
  for _, v in ipairs(verdicts) do
    local why = v.verdict == "proved" and v.domain or ("%s: %s (line %d)"):format(v.verdict, v.reason, v.line or 0)
    if v.verdict == "proved" then proved = proved + 1 end
    if v.verdict ~= "proved" or o.domains then
      if not of[why] then order[#order + 1], of[why] = why, {} end
      of[why][#of[why] + 1] = v.property
    end
  end
  return order, of, proved
end

local all, all_proved = 0, 0
for _, one in ipairs(objects) do
  if one.name:find(part, 1, true) then
    for _, row in ipairs(kernels(one.make())) do
      local start = os.clock()
      local verdicts = row.kernel:verdicts { budget = o.budget }
      local seconds = os.clock() - start
      local order, of, proved = by_reason(verdicts)
      all, all_proved = all + #verdicts, all_proved + proved
      print(("%-34s %-12s %2d of %d %6.2f s"):format(one.name, row.field, proved, #verdicts, seconds))
      for _, why in ipairs(order) do print(("    %s: %s"):format(table.concat(of[why], ", "), why)) end
      io.stdout:flush()
    end
  end
end
print(("proved: %d of %d pairs of kernel and property"):format(all_proved, all))
