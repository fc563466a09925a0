-- Run-time control flow: k:loop, k:if_. Lua's own loops unroll; these are loops and branches of the kernel.

local arguments = require "wgrun.arguments"
local native = require "wgrun.native"

local k = native.methods.builder

--- A counting loop in the kernel: body(i) is traced once and runs for i = from, from + step, ... while i < `to`.
--- Lua's own `for` unrolls instead.
--- @param range integer|reg|table  the number of iterations, with i = 0, 1, ..., or a table of options
--- @param body function(i: reg)  emits the body; `i` is a u32 register
--- @option from integer|reg = 0  the first value of i
--- @option to integer|reg  the end of the range: the loop runs while i < `to`
--- @option step integer|reg = 1  what is added to i after each iteration
--- @see k:while_
--- @example
---   k:loop(4, function(i) k:add(sum, sum, i) end)
---   k:loop({ from = tid, to = count, step = 128 }, function(i) ... end)
function k:loop(range, body, ...)
  arguments.surplus("loop", 2, ...)
  arguments.object("k:loop, k", self, "builder")
  arguments.body("k:loop, body", body)
  local from, to, step = 0, range, 1
  if type(range) == "table" then
    arguments.options("k:loop", range)
    from, to, step = range.from or 0, range.to, range.step or 1
  end
  if to == nil then native.fail "k:loop needs a count, or a table with `to`" end
  arguments.count("k:loop, from", from)
  arguments.count("k:loop, to", to)
  arguments.count("k:loop, step", step, 1)
  local i = self:reg "u32"
  self:mov(i, from)
  self:begin_loop()
  self:loop_condition(self:setp_lt(i, to))
  local before = native.before_body(self, body)
  body(i)
  native.after_body("k:loop", self, body, before)
  self:loop_next()
  self:add(i, i, step)
  self:end_loop()
end

--- A loop in the kernel that runs while a condition holds.
--- @param condition function():reg  emits the test and returns its predicate. It is called once; the test runs before
---   each iteration
--- @param body function()  emits the body
--- @see k:loop
--- @example
---   k:while_(function() return x:gt(1) end, function() k:shr(x, x, 1) end)
function k:while_(condition, body, ...)
  arguments.surplus("while_", 2, ...)
  arguments.object("k:while_, k", self, "builder")
  arguments.body("k:while_, condition", condition)
  arguments.body("k:while_, body", body)
  local before = native.before_body(self, body)
  self:begin_loop()
  self:loop_condition(condition())
  body()
  native.after_body("k:while_", self, body, before)
  self:end_loop()
end

--- A loop in the kernel whose body runs before its test: as do ... while of C. break_ and continue_ do not know it:
--- k:jump leaves it.
--- @param body function():reg?  emits the body, and returns the predicate by which threads run it again; where it
---   returns nothing, they always do
--- @see k:while_
--- @example
---   k:repeat_(function() k:add(n, n, 1) return n:lt(4) end)
function k:repeat_(body, ...)
  arguments.surplus("repeat_", 1, ...)
  arguments.object("k:repeat_, k", self, "builder")
  arguments.body("k:repeat_, body", body)
  local again = self:label()
  self:place(again)
  local before = native.before_body(self, body)
  local condition = body()
  native.after_body("k:repeat_", self, body, before)
  self:jump(again, condition)
end

--- A branch in the kernel. Lua's own `if` decides while the kernel is traced, so it cannot test a register.
--- @param predicate reg  threads where it holds execute `when_true`
--- @param when_true function()  emits the instructions for threads where the predicate holds
--- @param otherwise function()?  emits the instructions for the other threads
--- @example
---   k:if_(tid:eq(0), function() k:st_global_f32(out, sum) end)
function k:if_(predicate, when_true, otherwise, ...)
  arguments.surplus("if_", 3, ...)
  arguments.object("k:if_, k", self, "builder")
  arguments.object("k:if_, predicate", predicate, "reg")
  arguments.body("k:if_, when_true", when_true)
  if otherwise ~= nil then arguments.body("k:if_, otherwise", otherwise) end
  self:begin_if(predicate)
  when_true()
  if otherwise then
    self:begin_else()
    otherwise()
  end
  self:end_if()
end
