-- Whether a register is written before it is read, where a number of the launch decides both: a result of one turn of a
-- loop that the next one stores, and the code behind the loop. What is right is proved, and what is nearly so is not.
local wg = require "wgrun"

--- Passes over n chunks, the last one behind the loop. A pass stores what the one before has left, if stored(k, number)
--- holds.
local function pipelined(as)
  return wg.kernel("pipelined", { threads = 32 }, function(k)
    local n, D, left = k:param("n", as.type or "u32"), k:param("D", "u32*"), k:reg "u32"
    local function pass(number)
      k:if_(as.stored and as.stored(k, number, n) or number:gt(0), function() k:st_global_u32(D, left) end)
      if as.leaves then as.leaves(k, left, number) else k:mov(left, number) end
    end
    k:if_(n:gt(0), function()
      local last = n - 1
      k:loop(last, pass)
      if as.between then as.between(k, last, n) end
      pass(last)
    end)
  end)
end

local function verdict(as)
  for _, one in ipairs(pipelined(as):verdicts()) do
    if one.property == "initialisation" then return one.verdict, one.reason end
  end
end

for what, as in pairs {
  ["a chunk after another"] = {},
  ["not 0"] = { stored = function(_, number) return number:ne(0) end },
  ["at least 1"] = { stored = function(_, number) return number:ge(1) end },
} do
  local its, reason = verdict(as)
  if its ~= "proved" then error(("%s: %s, %s"):format(what, its, reason)) end
end

for what, as in pairs {
  ["the first chunk stores, too"] = { stored = function(_, number) return number:ge(0) end },
  ["the first chunk alone stores"] = { stored = function(_, number) return number:eq(0) end },
  ["all that have a chunk store"] = { stored = function(_, _, n) return n:gt(0) end },
  ["the last chunk has another number"] = { between = function(k, last) k:add(last, last, 1) end },
  ["the last chunk has the number of chunks"] = { between = function(k, last, n) k:mov(last, n) end },
  ["the second chunk leaves, and no other"] = {
    leaves = function(k, left, number) k:if_(number:eq(1), function() k:mov(left, number) end) end,
  },
  ["numbers below 0"] = {
    type = "s32", stored = function(_, number) return number:ne(0) end,
    between = function(k, last) k:sub(last, last, 1) end,
  },
} do
  if verdict(as) == "proved" then error("proved, and wrong: " .. what) end
end
