-- k:break_, k:continue_, k:exit: random kernels do what the same program does, thread by thread, in Lua.
local check = require "check"
local wg = require "wgrun"
local in_kernel = check.refuses_in_kernel

in_kernel("no loop around that could be left", function(k) k:break_() end)
in_kernel("no loop around, whose next iteration could begin", function(k) k:continue_() end)
in_kernel("no loop around that could be left", function(k) k:if_(k:reg "pred", function() k:break_() end) end)
in_kernel("only the body of a loop can be left for the next iteration", function(k) k:while_(function() k:continue_() return k:reg "pred" end, function() end) end)
in_kernel("no body of a loop to end here", function(k) k:loop_next() end)

-- A program is a list of statements: { "add", n }, { "if", bit, then, else }, { "loop", count, body }, { "break" }, ...
-- Threads differ in the bits of a value that every addition changes.
local random
local function below(n)
  random = (random * 1103515245 + 12345) % (1 << 31)
  return random // 65536 % n
end

local function statements(depth, loops)
  local out = {}
  for i = 1, 1 + below(4) do
    local kind = below(depth > 0 and 8 or 4)
    if kind == 2 and loops > 0 and below(2) == 0 then out[i] = { below(2) == 0 and "break" or "continue" }
    elseif kind == 3 and below(4) == 0 then out[i] = { "exit" }
    elseif kind <= 3 then out[i] = { "add", 1 + below(100) }
    elseif kind <= 5 then out[i] = { "if", below(5), statements(depth - 1, loops), below(2) == 0 and statements(depth - 1, loops) or nil }
    elseif kind == 6 then out[i] = { "loop", 1 + below(4), statements(depth - 1, loops + 1) }
    else out[i] = { "while", below(5), statements(depth - 1, loops + 1) } end
  end
  return out
end

--- What one thread leaves behind. Gives "break", "continue" or "exit" where it leaves something.
local function run(program, thread)
  for _, s in ipairs(program) do
    local left
    if s[1] == "add" then
      thread.value = thread.value * 5 + s[2] & 0xFFFFFFFF
    elseif s[1] == "if" then
      local body = s[4] or {}
      if thread.value >> s[2] & 1 == 1 then body = s[3] end
      left = run(body, thread)
    elseif s[1] == "loop" then
      for _ = 1, s[2] do
        left = run(s[3], thread)
        if left == "break" or left == "exit" then break end
      end
    elseif s[1] == "while" then
      local rounds = 6
      while rounds > 0 and thread.value >> s[2] & 1 == 1 do
        rounds = rounds - 1
        left = run(s[3], thread)
        if left == "break" or left == "exit" then break end
      end
    else
      return s[1]
    end
    if left == "exit" or s[1] == "if" and left then return left end
  end
end

local threads = 48
local function kernel(program)
  return wg.kernel("k", { threads = threads }, function(k)
    local out, from = k:param("out", "u32*"), k:param("from", "u32*")
    local thread = k:special "tid.x"
    local value = k:reg "u32"
    local place = k:element(out, thread)
    k:mov(value, k:ld_global_u32(k:element(from, thread)))
    local function emit(list)
      for _, s in ipairs(list) do
        local function bit() return k["and"](k, k:shr(value, s[2]), 1):ne(0) end
        if s[1] == "add" then
          k:mad_lo(value, value, 5, s[2])
          k:st_global_u32(place, value)
        elseif s[1] == "if" then
          k:if_(bit(), function() emit(s[3]) end, s[4] and function() emit(s[4]) end)
        elseif s[1] == "loop" then
          k:loop(s[2], function() emit(s[3]) end)
        elseif s[1] == "while" then
          local rounds = k:mov_u32(6)
          k:while_(function()
            local go = k:reg "pred"
            k["and"](k, go, bit(), rounds:gt(0))
            return go
          end, function()
            k:sub(rounds, rounds, 1)
            emit(s[3])
          end)
        elseif s[1] == "exit" then k:exit()
        elseif s[1] == "break" then k:break_()
        else k:continue_() end
      end
    end
    k:st_global_u32(place, value)
    emit(program)
  end)
end

for seed = 1, 60 do
  random = seed * 7919
  local program = statements(4, 0)
  local from, want = {}, {}
  for t = 1, threads do
    from[t] = below(1 << 15)
    local thread = { value = from[t] }
    run(program, thread)
    want[t] = thread.value
  end
  local built = kernel(program)
  local out, input = wg.zeros("u32", { threads }), wg.tensor("u32", { threads }, from)
  built:run { grid = 1, args = { out, input } }
  check.equal(out:totable(), want)
  -- Both texts are legal; whether what they mean is the same, a GPU says (tests/gpu/agree).
  assert(#built:ptx() > 0 and #built:cuda() > 0)
  assert(#built:check() == 0, "a kernel without memory or barriers is clean")
end

-- A barrier misses no lanes that have ended at a branch; those that store first have ended nobody knows when.
local function diverging(leaves)
  return wg.kernel("k", { threads = 64 }, function(k)
    local out = k:param("out", "u32*")
    local tid = k:special "tid.x"
    leaves(k, tid, out)
    k:bar_sync(0)
    k:st_global_u32(k:element(out, tid), tid)
  end)
end
local ended = diverging(function(k, tid) k:if_(tid:lt(8), function() k:exit() end) end)
check.equal(#ended:check(), 0)
local stored = diverging(function(k, tid, out)
  k:if_(tid:lt(8), function() k:st_global_u32(k:element(out, tid), tid) k:exit() end)
end)
check.equal(#stored:check(), 1)
check.equal(stored:check()[1].rule, "WG-SYNC-01")
