-- Mutation: what orders the accesses of a kernel is left out, weakened, miscounted or swapped with its neighbour, call
-- by call. Every mutant must be found by the checker, by the simulator under one of several seeds, or by a result
-- that differs from that of the kernel as it is; or harmless.lua says why it is as good as the kernel itself.
--   wgrun tests/mutation/mutate.lua [--seeds 8] [--sample N] [--kernel NAME] [--all yes] [--list yes]
-- --all: besides the kernels of cases.lua those of scripts/ and tests/rules/. --sample: so many of them, the same each time.
-- --list: survivors as they are found.
local trace = require "trace"
local mutations = require "mutations"
local harmless = require "harmless"
local cases = require "cases"

local o = { seeds = 8 }
for i = 1, #arg, 2 do
  local key = arg[i]:match "^%-%-(.+)$"
  o[key] = tonumber(arg[i + 1]) or arg[i + 1]
end
if o.all then cases.with_files() end

local texts = {}
--- The text of a line of the script or the standard library.
local function text_of(event)
  local name = event.file:gsub("^@", ""):gsub("^=%[wgrun%]/(.*)$", function(module) return "stdlib/" .. module:gsub("%.", "/") .. ".lua" end)
  if not texts[name] then
    local lines = {}
    local file = io.open(name) or assert(io.open((arg[0]:gsub("tests/mutation/mutate.lua", name))))
    for line in file:lines() do lines[#lines + 1] = line:match "^%s*(.-)%s*$" end
    file:close()
    texts[name] = lines
  end
  return name:match "[^/]*$", assert(texts[name][event.line], "a line that its file lacks")
end

local by_kind, by_killer, kinds = {}, {}, {}
local killed, excused, total, survivors = 0, 0, 0, {}

local function count(kind, key)
  if not by_kind[kind] then
    by_kind[kind] = { killed = 0, excused = 0, total = 0 }
    kinds[#kinds + 1] = kind
  end
  by_kind[kind][key] = by_kind[kind][key] + 1
end

local function try(case, results, at, event, mutant)
  local killer, why, done = trace.follow(case.body, { seeds = o.seeds, grid = case.grid, results = results, at = at, change = mutant.change })
  assert(done.reached, "the mutant was not reached")
  count(mutant.kind, "total")
  total = total + 1
  if killer then
    killed = killed + 1
    count(mutant.kind, "killed")
    by_killer[killer] = (by_killer[killer] or 0) + 1
    return "killed", killer, why
  end
  local file, text = text_of(event)
  local reason = harmless.reason(case.name, text, event.name, mutant)
  if reason then
    excused = excused + 1
    count(mutant.kind, "excused")
    return "excused"
  end
  survivors[#survivors + 1] = ("%s: %s:%d: k:%s: %s: %s   %s"):format(case.name, file, event.line, event.name, mutant.kind, mutant.what, text)
  if o.list then print("survived: " .. survivors[#survivors]) end
end

-- All mutants of a case, as calls.
local function mutants_of(case, jobs)
  local results, events = {}, {}
  local fault, why = trace.follow(case.body, { seeds = o.seeds, grid = case.grid, results = results, events = events })
  if fault then
    survivors[#survivors + 1] = ("%s as it is: %s: %s"):format(case.name, fault, tostring(why))
    return
  end
  for at, event in ipairs(events) do
    for _, mutant in ipairs(mutations.of(event, trace.following(events, at))) do
      jobs[#jobs + 1] = function() try(case, results, at, event, mutant) end
    end
  end
end

local chosen = {}
for _, case in ipairs(cases) do
  if not o.kernel or case.name:find(o.kernel, 1, true) then chosen[#chosen + 1] = case end
end

if o.sample then
  -- A sample, from all over: in steps that share no factor with the number of mutants.
  local jobs, step = {}, 7919
  for _, case in ipairs(chosen) do mutants_of(case, jobs) end
  for i = 1, math.min(o.sample, #jobs) do jobs[i * step % #jobs + 1]() end
else
  for _, case in ipairs(chosen) do
    local jobs, before = {}, { killed, excused, total }
    mutants_of(case, jobs)
    for _, job in ipairs(jobs) do job() end
    print(("%-28s %4d of %4d killed, %d harmless"):format(case.name, killed - before[1], total - before[3], excused - before[2]))
    io.stdout:flush()
  end
end

table.sort(kinds)
print()
for _, kind in ipairs(kinds) do
  local c = by_kind[kind]
  print(("%-28s %4d of %4d killed, %d harmless"):format(kind, c.killed, c.total, c.excused))
end
if not o.list then for _, survivor in ipairs(survivors) do print("survived: " .. survivor) end end
print(("%d of %d mutants killed (%d when built, %d by the checker, %d by the simulator's findings, %d by a wrong result), %d harmless")
  :format(killed, total, by_killer.build or 0, by_killer.check or 0, by_killer.sim or 0, by_killer.result or 0, excused))
os.exit(#survivors == 0 and 0 or 1)
