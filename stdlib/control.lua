-- Run-time control flow: k:loop, k:if_. Lua's own loops unroll; these are loops and branches of the kernel.

return function(internal)
  local k = internal.methods.builder

  --- A loop of the kernel that counts: body(i) is traced once, and runs for i = from, from + step, ... below `to`.
  --- Lua's own `for` unrolls instead.
  --- @param range integer|reg|table  the number of rounds, i = 0, 1, ..., or a table of options
  --- @param body function(i)  emits the body; `i` is a u32 register
  --- @option from integer|reg = 0  the first value of i
  --- @option to integer|reg  the value that i does not reach any more
  --- @option step integer|reg = 1  what is added to i after each round
  --- @see k:while_
  --- @example
  ---   k:loop(4, function(i) k:add(sum, sum, i) end)
  ---   k:loop({ from = tid, to = count, step = 128 }, function(i) ... end)
  function k:loop(range, body)
    internal.object("k:loop, k", self, "builder")
    internal.body("k:loop, body", body)
    local from, to, step = 0, range, 1
    if type(range) == "table" then
      internal.options("k:loop", range)
      from, to, step = range.from or 0, range.to, range.step or 1
    end
    if to == nil then internal.fail "k:loop needs a count, or a table with `to`" end
    internal.count("k:loop, from", from)
    internal.count("k:loop, to", to)
    internal.count("k:loop, step", step, 1)
    local i = self:reg "u32"
    self:mov(i, from)
    self:begin_loop()
    self:loop_condition(self:setp_lt(i, to))
    body(i)
    self:add(i, i, step)
    self:end_loop()
  end

  --- A loop of the kernel that runs while a condition holds.
  --- @param condition function()  emits the test, once, and returns its predicate; it is evaluated before each round
  --- @param body function()  emits the body
  --- @see k:loop
  --- @example
  ---   k:while_(function() return x:gt(1) end, function() k:shr(x, x, 1) end)
  function k:while_(condition, body)
    internal.object("k:while_, k", self, "builder")
    internal.body("k:while_, condition", condition)
    internal.body("k:while_, body", body)
    self:begin_loop()
    self:loop_condition(condition())
    body()
    self:end_loop()
  end

  --- A branch of the kernel. Lua's own `if` decides while the kernel is traced, so it cannot test a register.
  --- @param predicate reg  where it holds, when_true is executed
  --- @param when_true function()  emits the instructions of one side
  --- @param otherwise function()?  emits those of the other side
  --- @example
  ---   k:if_(tid:eq(0), function() k:st_global_f32(out, sum) end)
  function k:if_(predicate, when_true, otherwise)
    internal.object("k:if_, k", self, "builder")
    internal.object("k:if_, predicate", predicate, "reg")
    internal.body("k:if_, when_true", when_true)
    if otherwise ~= nil then internal.body("k:if_, otherwise", otherwise) end
    self:begin_if(predicate)
    when_true()
    if otherwise then
      self:begin_else()
      otherwise()
    end
    self:end_if()
  end
end
