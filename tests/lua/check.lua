-- What the scripts of this folder check with. A failed check is an error at the caller's line.
local check = {}

-- Memory that nobody clears holds anything elsewhere, and zeros here: in these scripts it holds what spoils a result.
local wg = require "wgrun"
function wg.empty(dtype, shape) return wg.full(dtype, shape, dtype:match "^[us]%d" and 127 or 0 / 0) end

--- Are two values equal (tables: by their contents)?
local function equal(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for key, value in pairs(a) do
    if not equal(value, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

local function show(value)
  if type(value) ~= "table" or getmetatable(value) then return tostring(value) end
  local parts = {}
  for key, item in pairs(value) do parts[#parts + 1] = tostring(key) .. "=" .. show(item) end
  table.sort(parts)
  return "{" .. table.concat(parts, ", ") .. "}"
end

function check.equal(got, want)
  if not equal(got, want) then error(("got %s, want %s"):format(show(got), show(want)), 2) end
end

function check.near(got, want, tolerance)
  if not (math.abs(got - want) <= tolerance) then error(("got %s, want %s"):format(got, want), 2) end
end

--- Compares many values: add(got, want) for each, and then the check, that the root of the mean squares of the differences
--- is at most `allowed` of that of the values.
function check.compared(name, allowed)
  local errors, values = 0, 0
  return function(got, want)
    assert(got == got, name .. ": NaN")
    errors, values = errors + (got - want) ^ 2, values + want ^ 2
  end, function()
    assert(errors <= allowed ^ 2 * values, ("%s: the error is %g of the values"):format(name, math.sqrt(errors / values)))
  end
end

--- How many pages sequences of these lengths need, and which ones they have, `width` each: in a random order, of which some
--- are left over; -1 behind a sequence's last page.
function check.page_table(lengths, page, width)
  local count, list, order = #lengths * width + 2, {}, {}
  for i = 0, count - 1 do order[i + 1] = i end
  math.randomseed(5)
  for i = count, 2, -1 do
    local j = math.random(i)
    order[i], order[j] = order[j], order[i]
  end
  for b, length in ipairs(lengths) do
    for i = 0, width - 1 do list[#list + 1] = i * page < length and order[(b - 1) * width + i + 1] or -1 end
  end
  return count, list
end

--- In a kernel: the mbarriers `full` and `empty` of a ring of so many stages, each for one arrival. Thread 0 initialises
--- them, and all threads meet.
function check.ring(k, stages, readers, name)
  local before = name and name .. "_" or ""
  local full = k:shared { bytes = 8 * stages, align = 8, name = before .. "full" }
  local empty = k:shared { bytes = 8 * stages, align = 8, name = before .. "empty" }
  k:if_(k:special "tid.x":eq(0), function()
    for s = 0, stages - 1 do
      k:mbarrier_init(k:address(full, 8 * s), 1)
      k:mbarrier_init(k:address(empty, 8 * s), readers or 1)
    end
    k:fence_mbarrier_init()
  end)
  k:bar_sync(0)
  return full, empty
end

--- Calls `f(...)`, which must raise an error whose text holds `text`; gives the error.
function check.raises(text, f, ...)
  local good, problem = pcall(f, ...)
  if good then error("no error; expected: " .. text, 2) end
  if not tostring(problem):find(text, 1, true) then error(("got the error: %s\nexpected: %s"):format(problem, text), 2) end
  return problem
end

-- The error `problem` that the one-line function `f` raised: an error object with the message `text`, at f's line.
local function judge(text, f, good, problem)
  if good then error("no error; expected: " .. text, 3) end
  if type(problem) ~= "table" then error("a plain error: " .. tostring(problem), 3) end
  local start = text:match "^(.*)%.%.%.$"
  local same = problem.message == text or start and problem.message:sub(1, #start) == start
  if not same then error(("got the error: %s\nexpected: %s"):format(problem.message, text), 3) end
  local at = debug.getinfo(f, "S")
  if problem.line ~= at.linedefined or "@" .. tostring(problem.file) ~= at.source then
    error(("the error is at %s:%s, expected at line %d: %s"):format(problem.file, problem.line, at.linedefined, text), 3)
  end
  return problem
end

--- Calls `f()`, written on one line: it must raise an error object with the message `text` and the place of that
--- line. A text that ends in "..." is the message's beginning. Gives the error.
function check.refuses(text, f) return judge(text, f, pcall(f)) end

--- As refuses, for f(k) called while a kernel of 128 threads is traced.
function check.refuses_in_kernel(text, f)
  local good, problem
  pcall(wg.kernel, "k", { threads = 128 }, function(k) good, problem = pcall(f, k) end) -- f may leave a block open
  return judge(text, f, good, problem)
end

--- What is proved of a kernel in a property; options: of kernel:verdicts.
function check.verdict(kernel, property, options)
  for _, one in ipairs(kernel:verdicts(options)) do
    if one.property == property then return one end
  end
  error(("no property is called %s"):format(property), 2)
end

--- The line of the caller.
function check.line() return debug.getinfo(2, "l").currentline end

return check
