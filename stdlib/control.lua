-- Run-time control flow: k:loop, k:if_. Lua's own loops unroll; these are loops and branches of the kernel.

return function(internal)
  local k = internal.methods.builder

  --- A counted loop: body(i) with i = 0, 1, ..., count - 1, a u32 register.
  --- range: a count (number or register), or { from =, to =, step = } with `to` excluded.
  function k:loop(range, body)
    internal.object("k:loop, k", self, "builder")
    internal.body("k:loop, body", body)
    local from, to, step = 0, range, 1
    if type(range) == "table" then
      internal.options("k:loop", range, { "from", "to", "step" })
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

  --- A loop that runs while condition() holds; condition emits the test and returns its predicate.
  function k:while_(condition, body)
    internal.object("k:while_, k", self, "builder")
    internal.body("k:while_, condition", condition)
    internal.body("k:while_, body", body)
    self:begin_loop()
    self:loop_condition(condition())
    body()
    self:end_loop()
  end

  --- A branch: when_true() where the predicate holds, otherwise() (optional) where it does not.
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
