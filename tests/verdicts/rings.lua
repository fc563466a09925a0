-- Proofs attacked: kernels of random rings (program.lua), many of them wrong at some sizes. What is proved of one is
-- compared with launches of all sizes up to twice its period, under several schedules. A kernel that fails is printed as
-- the table that it is made of.
--   wgrun tests/verdicts/rings.lua [--from 1] [--to 60] [--mutants yes] [--drawn yes] [--lesser yes] [--bar 0] [--sizes 60] [--schedules 2] [--budget 10] [--list yes]
-- --from, --to: seeds, a kernel each. --drawn: only kernels that draw numbers. --lesser: only kernels whose turns are minima with the tile. --mutants: only kernels that are wrong at particular sizes. --bar: percent of the wrong
-- ones that must be refuted. --sizes: of a number at most. --budget: seconds of each proof. --list: the kernels that are wrong and not refuted.
local wg = require "wgrun"
local here <const> = arg[0]:match ".*/" or ""
local program, draws = dofile(here .. "program.lua"), dofile(here .. "draws.lua")

local o = { from = 1, to = 60, bar = 0, sizes = 60, schedules = 2, budget = 10 }
for i = 1, #arg, 2 do
  local key = arg[i]:match "^%-%-(.+)$"
  o[key] = math.tointeger(tonumber(arg[i + 1])) or arg[i + 1]
end

--- The same numbers on every machine.
local function generator(seed)
  local state = seed * 0x9E3779B97F4A7C15 + 1
  local function random(most) -- 0 to most - 1
    state = state * 6364136223846793005 + 1442695040888963407
    return (state >> 33) % most
  end
  return random, function(list) return list[1 + random(#list)] end
end

--- What can be wrong of a kernel, and what of that the program has.
local function faults(p)
  local out = { "wait_empty", "wait_full", "arrive_empty", "arrive_twice", "turn_less", "turn_more", "leave" }
  local function also(...)
    for _, what in ipairs { ... } do out[#out + 1] = what end
  end
  for _, ring in ipairs(p.rings) do
    if ring.style == "wrap" then also "phase" else also "count" end
    if ring.release == "lane" then also "meeting" elseif ring.release == "cta" and p.consumers > 1 then also "barrier" end
  end
  if p.rings[1].fill == "copy" then also("expect", "copy", "copy_twice", "fence") else also("store", "arrive_full") end
  return out
end

-- At which sizes mutants are wrong.
local kinds = { "no turn", "one turn", "odd turns", "stages", "second tile", "last tile", "grid", "16", "64", "after 30", "rank" }

--- Makes a kernel wrong at sizes of a kind alone.
local function mutant(p, kind, random, one_of)
  local fault = { number = random(3), modulus = 2 }
  p.leave = p.leave == "spare" and "spare"
  p.tiles = kind == "second tile" or kind == "last tile"
  p.cluster = kind == "rank" and 2 or nil
  if p.tiles or p.cluster then p.prologue, p.peeled = 0, false end
  fault.what = one_of(faults(p))
  if kind == "no turn" then
    p.trips = { form = one_of { "parts", "remainder" }, number = 1 + random(2) }
    fault.what, fault.when, fault.number = "turn_more", "trips_is", 0
  elseif kind == "one turn" then
    fault.when, fault.number = "trips_is", 1
    p.trips = { form = one_of { "n", "parts" }, number = 1 }
  elseif kind == "odd turns" then
    fault.when = "odd_trips"
    if p.trips.form == "twice" then p.trips.form = "n" end
  elseif kind == "stages" then
    fault.when, fault.modulus = "trips_of", p.rings[1].stages
  elseif kind == "second tile" then
    fault.when = "second_tile"
  elseif kind == "last tile" then
    fault.when = "last_tile"
  elseif kind == "grid" then
    fault.when, fault.number = "ctas", 1 + random(2)
  elseif kind == "16" or kind == "64" then
    fault.when, fault.modulus, fault.number = "n_of", tonumber(kind), random(tonumber(kind))
  elseif kind == "after 30" then
    p.trips, p.rings[1].style, fault.what = { form = "n", number = 1 }, "wrap", "phase"
    fault.when, fault.number = "turns_from", 30
  else
    fault.when = "rank"
  end
  p.fault, p.kind = fault, kind
end

local function choose(seed)
  local random, one_of = generator(seed)
  local p = { consumers = 1 + random(2), rings = {}, prologue = 0 }
  local fill = one_of { "copy", "copy", "store" }
  for i = 1, one_of { 1, 1, 1, 2 } do
    p.rings[i] = {
      stages = 1 + random(5), style = one_of { "wrap", "wrap", "turn", "mask" }, fill = fill,
      release = one_of { "lane", "lane", "all", "cta" }, every = one_of { 1, 1, 1, 2 },
    }
  end
  local least = math.huge
  for _, ring in ipairs(p.rings) do least = math.min(least, ring.stages) end
  p.trips = { form = one_of { "n", "n", "n", "n", "plus", "plus", "n", "plus", "twice", "blocks", "parts", "remainder", "fixed" }, number = 1 + random(3) }
  p.again = random(6) == 0
  p.tiles = random(8) == 0
  if random(6) == 0 and not p.tiles then p.prologue = 1 + random(least) end
  p.lag = random(4) == 0 and least > 1
  p.tail = random(3) == 0
  p.peeled = p.prologue > 0 and random(3) == 0
  p.leave = one_of { false, false, false, false, false, false, "spare", "spare", "cta" }
  if random(8) == 0 then p.cluster = 2 end
  if p.cluster and p.leave == "cta" then p.leave = false end
  local other, another_of = generator(seed + 1000003)
  if not o.mutants then
    p.unrolled = another_of { false, false, false, 2, 4 } or nil
    p.idle = other(5) == 0 or nil
    if other(4) == 0 then p.rings[1].style = "shift" end
  end
  if o.mutants then
    mutant(p, kinds[1 + seed % #kinds], random, one_of)
  elseif random(3) > 0 then
    local odd = {}
    for name in pairs(program.arithmetic) do odd[#odd + 1] = name end
    table.sort(odd)
    local arithmetic = one_of(odd)
    local what = one_of(faults(p))
    local when = { "n_is", "n_from", "n_of", "trips_is", "odd_trips", "trips_of", "n " .. arithmetic, "n " .. arithmetic, "trips " .. arithmetic }
    if not what:match "^turn_" then
      for _, one in ipairs { "always", "turn", "turns_from", "turn_of", "last_turn", "turn " .. arithmetic } do when[#when + 1] = one end
    end
    if p.tiles then when[#when + 1], when[#when + 2] = "second_tile", "last_tile" end
    if p.cluster then when[#when + 1] = "rank" end
    p.fault = {
      what = what, when = one_of(when), modulus = one_of { 2, 3, 4, 5, 7, 8, 16, 64, p.rings[1].stages },
      number = one_of { random(4), random(12), random(40), 30 },
    }
  end
  local draw, one_drawn = generator(31 * seed * seed + 2000003)
  if o.drawn or (not o.mutants and draw(5) == 0) then
    local odd = {}
    for name in pairs(program.arithmetic) do odd[#odd + 1] = name end
    table.sort(odd)
    draws.choose(p, draw, one_drawn, faults, odd)
  elseif o.lesser then
    p.tiles, p.trips.form = true, one_drawn { "lesser", "left" }
    -- With more in a kernel a proof seldom comes to an end.
    p.lag, p.unrolled, p.cluster, p.leave, p.prologue, p.peeled, p.rings = false, nil, nil, false, 0, false, { p.rings[1] }
    p.rings[1].stages, p.rings[1].every = 1 + draw(3), 1
  end
  return p
end

--- The table as Lua.
local function text(value)
  if type(value) ~= "table" then return type(value) == "string" and ("%q"):format(value) or tostring(value) end
  local parts, keys = {}, {}
  for key in pairs(value) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for _, key in ipairs(keys) do
    parts[#parts + 1] = (type(key) == "string" and key .. " = " or "") .. text(value[key])
  end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

local function lcm(a, b)
  local x, y = a, b
  while y ~= 0 do x, y = y, x % y end
  return a // x * b
end

--- Up to which n launches are tried.
local function most(p)
  local period = 1
  for _, ring in ipairs(p.rings) do period = lcm(period, 2 * ring.stages * ring.every) end
  local extra, least = 0, o.sizes
  if p.fault then
    -- The second n of a remainder, if the first one has no turn.
    if p.fault.when == "n_of" then least = math.max(least, 2 * p.fault.modulus) end
    if p.fault.when:match "_of$" then period = lcm(period, p.fault.modulus) end
    extra = p.fault.number
  end
  if p.trips.form == "blocks" or p.trips.form == "parts" then
    period, extra = period << p.trips.number, extra << p.trips.number
  elseif p.trips.form == "fixed" then
    period = p.fault and p.fault.modulus or 1
  end
  if p.drawn and p.drawn.turns then return 1 end
  return math.min(2 * period + extra + 1, math.max(least, extra + 8))
end

-- The properties of rules that a run finds broken (the row of each rule says it).
local property_of = {
  ["WG-MBAR-05"] = "no-deadlock", ["WG-SYNC-02"] = "no-deadlock", ["WG-SYNC-04"] = "no-deadlock", ["WG-SYNC-06"] = "no-deadlock",
  ["WG-SYNC-07"] = "no-deadlock", ["WG-MBAR-01"] = "phases", ["WG-MBAR-02"] = "phases", ["WG-MBAR-03"] = "phases",
  ["WG-MBAR-04"] = "phases", ["WG-MBAR-06"] = "phases", ["WG-TMA-01"] = "copy-bytes", ["WG-TMA-02"] = "shared-races",
  ["WG-RACE-01"] = "shared-races", ["WG-RACE-02"] = "shared-races", ["WG-RACE-03"] = "shared-races", ["WG-PROXY-01"] = "proxy-order",
  ["WG-PROXY-02"] = "proxy-order", ["WG-PROXY-03"] = "proxy-order", ["WG-MEM-04"] = "initialisation", ["WG-REG-01"] = "initialisation", ["WG-SYNC-05"] = "cluster-end",
  ["WG-TMA-03"] = "groups", ["WG-SYNC-01"] = "convergence", ["WG-SYNC-03"] = "convergence", ["WG-SYNC-08"] = "convergence",
  ["WG-MEM-01"] = "bounds", ["WG-MEM-02"] = "bounds", ["WG-MEM-03"] = "bounds",
}

local X, Y = wg.ones("f32", { 32 }), wg.zeros("f32", { 128 * 8 })

--- Launches, each under so many schedules, until visit(property, launch) is false: of each that breaks something, what
--- its first finding breaks.
local function launches(p, kernel, schedules, visit)
  local numbers = p.drawn and { 1, 2, 3, 5, 8, 13 } or p.tiles and { 1, 2, 3, 5 } or { 0 }
  local grids = (p.tiles or p.leave == "cta" or p.fault and p.fault.when == "ctas") and { 1, 2, 4 } or { 1 }
  for n = 1, most(p) do
    for _, m in ipairs(numbers) do
      for _, grid in ipairs(grids) do
        for seed = 1, schedules do
          local good, e = pcall(kernel.run, kernel, {
            backend = "sim", unchecked = true, seed = seed, grid = { grid * (p.cluster or 1) },
            args = { X, Y, n, p.tiles and m or nil, p.drawn and wg.zeros("u32", { 1 }) or nil },
          })
          if not good then
            if not e.findings then error(e) end
            local finding = e.findings[1]
            local property = property_of[finding.rule] or error(("no property of %s: %s"):format(finding.rule, finding.message))
            local launch = ("n = %d%s, grid %d, seed %d: line %s: %s [%s]"):format(
              n, p.tiles and ", m = " .. m or "", grid, seed, finding.line, finding.message, finding.rule)
            if not visit(property, launch) then return end
          end
        end
      end
    end
  end
end

local by_kind = {}
local count = { kernels = 0, proved = 0, refuted = 0, broken = 0, false_proofs = 0, false_refutations = 0 }
for seed = o.from, o.to do
  local p = choose(seed)
  local shown = text(p)
  local kernel = program.kernel(p)
  local said, any, refuted = {}, false, nil
  for _, one in ipairs(kernel:verdicts{ budget = o.budget }) do
    said[one.property] = one.verdict
    if one.verdict == "refuted" then refuted = one.property end
  end
  for _, property in ipairs { "no-deadlock", "phases", "copy-bytes", "shared-races" } do any = any or said[property] == "proved" end
  count.kernels = count.kernels + 1
  count.proved = count.proved + (any and 1 or 0)
  local broken, false_proof
  if any or o.mutants then
    launches(p, kernel, o.schedules, function(property, launch)
      broken = broken or property .. ", " .. launch
      if said[property] ~= "proved" then return any end
      false_proof = ("%s is proved, and broken with %s"):format(property, launch)
      return false
    end)
  end
  if refuted and not broken and (any or o.mutants) then
    -- Few schedules let a warp that only watches come too late.
    launches(p, kernel, math.max(o.schedules, 200), function(property, launch)
      broken = property .. ", " .. launch
      return false
    end)
  end
  if false_proof then
    count.false_proofs = count.false_proofs + 1
    print(("FALSE PROOF, seed %d: %s\n  %s"):format(seed, false_proof, shown))
  end
  if broken then
    count.broken = count.broken + 1
    local of = by_kind[p.kind or "any"] or { 0, 0 }
    by_kind[p.kind or "any"] = { of[1] + 1, of[2] + (refuted and 1 or 0) }
    if refuted then
      count.refuted = count.refuted + 1
    elseif o.list then
      print(("not refuted, seed %d: %s\n  %s"):format(seed, broken, shown))
    end
  elseif refuted and refuted ~= "proxy-order" and (any or o.mutants) then
    -- A run only warns of a fence between two copies.
    count.false_refutations = count.false_refutations + 1
    print(("REFUTED, and no launch breaks it, seed %d: %s\n  %s"):format(seed, refuted, shown))
  elseif o.list and not any then
    for _, one in ipairs(kernel:verdicts{ budget = o.budget }) do
      if one.property == "no-deadlock" then print(("undecided, seed %d: line %s: %s\n  %s"):format(seed, one.line, one.reason, shown)) end
    end
  end
end
print(("%d kernels: %d broken, %d of them refuted; %d with a proof, %d of them false"):format(count.kernels, count.broken, count.refuted, count.proved, count.false_proofs))
for _, kind in ipairs(o.mutants and kinds or {}) do
  local of = by_kind[kind] or { 0, 0 }
  print(("  %s: %d of %d refuted"):format(kind, of[2], of[1]))
end
if count.false_proofs > 0 or count.false_refutations > 0 or count.refuted * 100 < o.bar * count.broken then os.exit(1) end
