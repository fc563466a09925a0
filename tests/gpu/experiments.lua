-- How one element of D is added up: constructed sums on the chip, beside the simulator with numerics = "h200".
--   wgrun tests/gpu/experiments.lua
-- A case is a row of A, a column of B and what D held; a CTA multiplies one case. `same` tells whether the simulator
-- gives the same bits. docs/silicon.md says what follows from them. Exit code 5 when one differs.
local wg = require "wgrun"

local function k_of(dtype) return wg.tile { dtype = dtype, mn = 64, k = 64, major = "K" }.kstep_elements end
local bytes = { f16 = 2, bf16 = 2, tf32 = 4, e4m3 = 1, e5m2 = 1 }
-- Largest i with 2^-i exact in the type.
local least = { f16 = 24, bf16 = 133, tf32 = 136, e4m3 = 9, e5m2 = 16 }

-- The products 2^0, -2^0 and so on of a case: { k, value } pairs, or { k, a, b }; c is what D holds.
local function cases_of(d, a)
  local list = {}
  local function add(name, products, c) list[#list + 1] = { name = name, products = products, c = c or 0 } end
  local K = k_of(a)
  local function small(i) -- 2^-i as a product
    local half = math.min(i // 2, least[a])
    return 2.0 ^ -half, 2.0 ^ -(i - half)
  end
  local reach = math.min(32, 2 * least[a])
  for i = 10, reach do
    local x, y = small(i)
    add(("1 - 1 + 2^-%d, far in K"):format(i), { { 0, 1, 1 }, { 1, -1, 1 }, { K - 1, x, y } })
  end
  for i = 10, reach do
    local x, y = small(i)
    add(("D = 1, - 1 + 2^-%d"):format(i), { { 0, -1, 1 }, { K // 2, x, y } }, 1)
  end
  for i = 10, reach do add(("1 - 1, D = 2^-%d"):format(i), { { 0, 1, 1 }, { 1, -1, 1 } }, 2.0 ^ -i) end
  -- Rounding of an addend: odd multiples of half of the last place.
  for _, i in ipairs { 12, 13, 14, 24, 25, 26 } do
    if i + 1 <= 2 * least[a] then
      local x, y = small(i)
      add(("1 - 1 + 1.5 * 2^-%d"):format(i), { { 0, 1, 1 }, { 1, -1, 1 }, { 2, 1.5 * x, y } })
      add(("1 - 1 - 1.5 * 2^-%d"):format(i), { { 0, 1, 1 }, { 1, -1, 1 }, { 2, -1.5 * x, y } })
    end
  end
  -- Rounding of the sum.
  for _, i in ipairs { 12, 13, 14, 22, 23, 24 } do
    if i + 1 <= 2 * least[a] then
      local x, y = small(i)
      for _, sign in ipairs { 1, -1 } do
        add(("%d * (1 + 1.5 * 2^-%d)"):format(sign, i), { { 0, sign, 1 }, { 1, sign * 1.5 * x, y } })
        add(("%d * (1 + 0.5 * 2^-%d + 2^-%d)"):format(sign, i, i), { { 0, sign, 1 }, { 1, sign * x, y }, { 2, sign * x / 2, y } })
      end
    end
  end
  -- Where the block ends: two that cancel at 0 and 1, a small one at each place.
  local x, y = small(math.min(30, 2 * least[a]))
  for place = 2, K - 1 do add(("1 - 1 + tiny at %d"):format(place), { { 0, 1, 1 }, { 1, -1, 1 }, { place, x, y } }) end
  -- A product of 1.5 * 1.5 = 2.25 aligns by 1, not by 2: 2.25 - 2.25 + 2^-i.
  for i = 10, reach do
    local u, v = small(i)
    add(("2.25 - 2.25 + 2^-%d"):format(i), { { 0, 1.5, 1.5 }, { 1, -1.5, 1.5 }, { 2, u, v } })
  end
  -- A zero beside a large factor.
  local big = ({ f16 = 2.0 ^ 15, bf16 = 2.0 ^ 100, tf32 = 2.0 ^ 100, e4m3 = 256, e5m2 = 2.0 ^ 15 })[a]
  add("0 * large + 2^-i", { { 0, 0, big }, { 1, x, y } })
  -- Subnormal operands.
  add("least * 1", { { 0, 2.0 ^ -least[a], 1 } })
  add("least * least", { { 0, 2.0 ^ -least[a], 2.0 ^ -least[a] } })
  for i = 8, 28, 4 do add(("least * 2^%d - the same + 2^-%d * that"):format(1, i), { { 0, 2.0 ^ -least[a], 1 }, { 1, -2.0 ^ -least[a], 1 } }, 2.0 ^ -(least[a] + i)) end
  -- Overflow, infinities, NaN. (e4m3 has no infinity.)
  local inf, nan = 1 / 0, 0 / 0
  add("large * large * 2", { { 0, big, big }, { 1, big, big } })
  add("- large * large * 2", { { 0, -big, big }, { 1, -big, big } })
  add("D = 1.5 * 2^127 + as much", { { 0, 1, 1 } }, 1.5 * 2.0 ^ 127)
  add("D = inf", { { 0, 1, 1 } }, inf)
  add("D = nan", { { 0, 1, 1 } }, nan)
  if a ~= "e4m3" then
    add("inf * 1", { { 0, inf, 1 } })
    add("inf * 0", { { 0, inf, 0 } })
    add("inf - inf", { { 0, inf, 1 }, { 1, -inf, 1 } })
    add("inf - D = inf", { { 0, -inf, 1 } }, inf)
  end
  add("nan * 1", { { 0, nan, 1 } })
  add("0", {})
  if d == "f16" then
    for _, factor in ipairs { 0.5, 1, 1.25, 1.5, 2 } do
      for _, sign in ipairs { 1, -1 } do
        add(("%d * %g * 2^-25"):format(sign, factor), { { 0, sign * factor * 2.0 ^ -13, 2.0 ^ -12 } })
      end
    end
  end
  add("-0 * 1, D = -0", { { 0, -0.0, 1 } }, -0.0)
  add("D = 2^-140", {}, 2.0 ^ -140)
  add("D = 2^-140 + 2^-141", { { 0, 0, 1 } }, 1.5 * 2.0 ^ -140)
  if least[a] > 100 then
    add("2^-70 * 2^-70", { { 0, 2.0 ^ -70, 2.0 ^ -70 } })
    add("2^-75 * 2^-75", { { 0, 2.0 ^ -75, 2.0 ^ -75 } })
    add("- 2^-75 * 2^-75", { { 0, -2.0 ^ -75, 2.0 ^ -75 } })
    add("- 1.5 * 2^-74 * 2^-74", { { 0, -1.5 * 2.0 ^ -74, 2.0 ^ -74 } })
    add("2^100 * 2^27 + 2^127", { { 0, 2.0 ^ 100, 2.0 ^ 27 }, { 1, 2.0 ^ 100, 2.0 ^ 27 } })
    add("2^127 * 1.99 + 2^127 * 0.01", { { 0, 2.0 ^ 100, 1.9921875 * 2.0 ^ 27 }, { 1, 2.0 ^ 100, 2.0 ^ 19 } })
    add("2^128 - 2^128", { { 0, 2.0 ^ 100, 2.0 ^ 28 }, { 1, -2.0 ^ 100, 2.0 ^ 28 } })
    add("2^128 - 2^127", { { 0, 2.0 ^ 100, 2.0 ^ 28 }, { 1, -2.0 ^ 100, 2.0 ^ 27 } })
  end
  return list
end

local function make(d, a)
  local K = k_of(a)
  local of_a = wg.tile { dtype = a, mn = 64, k = K, major = "K", swizzle = "none" }
  local of_b = wg.tile { dtype = a, mn = 8, k = K, major = "K", swizzle = "none" }
  local kernel = wg.kernel("experiments", { threads = 128 }, function(k)
    local A, B = k:param("A", "const " .. a .. "*"), k:param("B", "const " .. a .. "*")
    local C, D = k:param("C", "const " .. d .. "*"), k:param("D", d .. "*")
    local sa, sb = k:shared(of_a, "a"), k:shared(of_b, "b")
    local case, tid = k:special "ctaid.x", k:special "tid.x"
    local row = k:mad_wide_u32(tid, 16, k:mad_wide_u32(case, of_a.bytes, A))
    k:st_shared_v4_b32(k:mov(sa, { type = "u32" }) + (tid << 4), k:ld_global_v4_b32(row))
    local few = tid:lt(of_b.bytes // 16)
    local words = k:regs("b32", 4)
    for i = 0, 3 do k:mov(words[i], 0) end
    k:ld_global_v4_b32(words, k:mad_wide_u32(tid, 16, k:mad_wide_u32(case, of_b.bytes, B)), { guard = few })
    k:st_shared_v4_b32(k:mov(sb, { type = "u32" }) + (tid << 4), words, { guard = few })
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_sync(0)
    local half = d == "f16"
    local acc = k:regs(half and "b32" or d, half and 2 or 4)
    local c = k:ld_global_b32(k:mad_wide_u32(case, 4, C))
    for i = 0, #acc - 1 do k:mov(acc[i], c, { type = "b32" }) end
    k:wgmma_fence()
    k:mma(acc, { a = sa, b = sb, d = d })
    k:wgmma_wait_group(0)
    k:st_global_b32(k:mad_wide_u32(case, 4, D), acc[0], { guard = tid:lt(1) })
  end)
  return kernel, of_a, of_b
end

local differing, total = 0, 0
for _, types in ipairs { { "f32", "bf16" }, { "f32", "f16" }, { "f16", "f16" }, { "f32", "tf32" }, { "f32", "e4m3" }, { "f32", "e5m2" }, { "f16", "e5m2" } } do
  local d, a = types[1], types[2]
  local list = cases_of(d, a)
  local kernel, of_a, of_b = make(d, a)
  local A, B = wg.zeros(a, { #list, of_a.bytes // bytes[a] }), wg.zeros(a, { #list, of_b.bytes // bytes[a] })
  local each = d == "f16" and 2 or 1 -- elements of D in a word
  local C = wg.zeros(d, { #list, each })
  for i, case in ipairs(list) do
    for _, p in ipairs(case.products) do
      A[{ i - 1, of_a:offset(0, p[1]) // bytes[a] }] = p[2]
      B[{ i - 1, of_b:offset(0, p[1]) // bytes[a] }] = p[3]
    end
    C[{ i - 1, 0 }] = case.c
  end
  local function run(backend)
    local D = wg.zeros(d, { #list, each })
    return D, kernel:run { grid = { #list }, args = { A, B, C, D }, backend = backend, numerics = "h200" }
  end
  local got, ran = run "auto"
  if ran == "none" then return end
  local model = run "sim"
  print(("%s.%s.%s on %s"):format(d, a, a, ran))
  for i, case in ipairs(list) do
    local x, y = got[{ i - 1, 0 }], model[{ i - 1, 0 }]
    local same = x == y and 1 / x == 1 / y or x ~= x and y ~= y
    total, differing = total + 1, differing + (same and 0 or 1)
    print(("  %-44s %-22s %s"):format(case.name, ("%a"):format(x), same and "" or ("simulator %a"):format(y)))
  end
end
print(("%d cases, %d differ"):format(total, differing))
if differing > 0 then os.exit(5) end
