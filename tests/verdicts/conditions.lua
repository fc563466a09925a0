-- Proofs attacked: a thread arrives under a condition of two numbers of the launch, made of random arithmetic, and
-- another one waits. That nobody waits in vain may be proved only where no launch shows the contrary.
--   wgrun tests/verdicts/conditions.lua [--from 1] [--to 200]
local wg = require "wgrun"

local o = { from = 1, to = 200 }
for i = 1, #arg, 2 do o[arg[i]:match "^%-%-(.+)$"] = math.tointeger(tonumber(arg[i + 1])) end

--- A number and its text.
local function expression(k, random, leaves, depth)
  local u32 = { type = "u32" }
  if depth == 0 then
    if random(3) == 0 then
      local value = ({ 0, 1, 2, 3, 5, 7, 8, 16, 30, 63, 64, 100 })[1 + random(12)]
      return k:mov(value, u32), tostring(value)
    end
    local leaf = leaves[1 + random(#leaves)]
    return leaf[1], leaf[2]
  end
  local a, said_a = expression(k, random, leaves, depth - 1)
  local b, said_b = expression(k, random, leaves, random(depth))
  local constant = ({ 1, 2, 3, 4, 6, 8, 16, 31 })[1 + random(8)]
  local forms = {
    function() return a + b, "+", said_b end,
    function() return a + constant, "+", constant end,
    function() return a - b, "-", said_b end,
    function() return a - constant, "-", constant end,
    function() return a * b, "*", said_b end,
    function() return a * constant, "*", constant end,
    function() return k:div(a, constant), "//", constant end,
    function() return k:div(a, b | 1), "//", said_b .. " | 1" end,
    function() return k:rem(a, constant), "%", constant end,
    function() return k:rem(a, b | 1), "%", said_b .. " | 1" end,
    function() return a << (constant & 7), "<<", constant & 7 end,
    function() return k:shl(a, b), "<<", said_b end,
    function() return a >> (constant & 7), ">>", constant & 7 end,
    function() return k:shr(a, b), ">>", said_b end,
    function() return a & b, "&", said_b end,
    function() return a & (constant - 1), "&", constant - 1 end,
    function() return a | constant, "|", constant end,
    function() return a ~ b, "~", said_b end,
    function() return k:min(a, b), "min", said_b end,
    function() return k:max(a, b), "max", said_b end,
    function() return k:bfe_u32(a, constant & 3, 3), "bfe 3", constant & 3 end,
    function() return k:selp(a, b, a:lt(b)), "where it is below, else", said_b end,
    function() return k:popc(a), "popc", "" end,
    function() return k:mul_hi_u32(a, 1 << 30), "mul.hi", "1 << 30" end,
  }
  local value, how, with = forms[1 + random(#forms)]()
  return value, ("(%s %s %s)"):format(said_a, how, with)
end

local function condition(seed, said)
  local state = seed * 0x9E3779B97F4A7C15 + 1
  local function random(most)
    state = state * 6364136223846793005 + 1442695040888963407
    return (state >> 33) % most
  end
  return wg.kernel("waits", { threads = 64 }, function(k)
    local n, m, tid = k:param("n", "u32"), k:param("m", "u32"), k:special "tid.x"
    local bar = k:shared { bytes = 8, align = 8, name = "bar" }
    k:if_(tid:eq(0), function()
      k:mbarrier_init(bar, 1)
      k:fence_mbarrier_init()
    end)
    k:bar_sync(0)
    local leaves = random(3) == 0 and { { n, "n" }, { m, "m" } } or { { n, "n" } }
    local a, said_a = expression(k, random, leaves, 1 + random(3))
    local b, said_b = expression(k, random, leaves, random(2))
    local how = ({ "lt", "le", "gt", "ge", "ne", "ne", "eq" })[1 + random(7)]
    said.text = ("%s %s %s"):format(said_a, how, said_b)
    local signed = random(4) == 0
    if signed then a, b, said.text = k:mov(a, { type = "s32" }), k:mov(b, { type = "s32" }), said.text .. ", signed" end
    k:if_(tid:eq(0), function() k:if_(a[how](a, b), function() k:mbarrier_arrive(bar) end) end)
    k:if_(tid:eq(32), function() k:mbarrier_wait(k:address(bar), 0) end)
  end)
end

local numbers = { 100, 127, 128, 129, 255, 256, 1000, 1023, 1024, 4096, 10000 }
for n = 1, 70 do table.insert(numbers, n, n) end
local proved, wrong = 0, 0
for seed = o.from, o.to do
  local said = {}
  local kernel = condition(seed, said)
  local verdict
  for _, one in ipairs(kernel:verdicts()) do
    if one.property == "no-deadlock" then verdict = one.verdict end
  end
  if verdict == "proved" then
    proved = proved + 1
    for _, n in ipairs(numbers) do
      for _, m in ipairs(said.text:find("m", 1, true) and { 1, 2, 5, 9, 70 } or { 1 }) do
        if not pcall(kernel.run, kernel, { backend = "sim", unchecked = true, args = { n, m } }) then
          wrong = wrong + 1
          print(("FALSE PROOF, seed %d: a thread arrives if %s, and does not with n = %d, m = %d"):format(seed, said.text, n, m))
          goto next
        end
      end
    end
  end
  ::next::
end
print(("%d conditions: %d proved, %d of them false"):format(o.to - o.from + 1, proved, wrong))
if wrong > 0 then os.exit(1) end
