-- k:asm: PTX text, for instructions that the table lacks.

local arguments = require "wgrun.arguments"
local classes = require "wgrun.classes"
local native = require "wgrun.native"

local k = native.methods.builder
local fail, options = native.fail, arguments.options
local known_effects = { reads = true, writes = true, barrier = true }

-- Adds the operands of one option to the list; the names of a table have no order, so they are sorted.
local function add(list, key, access, given)
  if given == nil then return end
  if type(given) ~= "table" then
    fail(("k:asm: option `%s`: expected a table of registers by name, got %s"):format(key, arguments.describe(given)))
  end
  local names = {}
  for name in pairs(given) do
    if type(name) ~= "string" or not name:find "^[%a_][%w_]*$" then
      fail(("k:asm: option `%s`: operands need names, as in { d = register }, got %s"):format(key, tostring(name)))
    end
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do list[#list + 1] = { name, access, given[name] } end
end

-- { "reads", "barrier" } or "none", checked.
local function effects_of(given)
  if given == nil or given == "none" then return {} end
  if type(given) == "string" then given = { given } end
  local effects = {}
  for _, effect in ipairs(type(given) == "table" and given or { tostring(given) }) do
    if not known_effects[effect] then
      fail(("k:asm: unknown effect `%s` (legal: none, reads, writes, barrier)"):format(tostring(effect)))
    end
    effects[effect] = true
  end
  return effects
end

--- Inserts PTX text, for an instruction that wgrun lacks. The text is copied unchanged into PTX and CUDA C++. Operands
--- are written %name; several statements, separated by semicolons, get a scope of their own.
--- @param options table
--- @option text string?  may also be the first value of the table, without a name
--- @option out table?  registers that are written: { d = "u32" } makes a new one, { d = r } names an existing one
--- @option inputs table?  operands that are read: registers, or shared buffers (their addresses)
--- @option inout table?  registers that are read and written
--- @option effects string|table?  "none", or some of "reads", "writes" (memory) and "barrier" (synchronises threads or
---   orders memory). Without it the checker warns that it does not know them (WG-ASM-01)
--- @option meaning function?  meaning(k, v) expresses the text by other instructions, for the simulator, which cannot
---   run it otherwise: v.a is the input `a`. It returns the value of the only output, or a table of values by name.
---   Straight-line code without guards
--- @option guard reg?  a predicate, allowed for a text of one statement
--- @option isa string = "8.0"  the PTX ISA version that introduced the instruction
--- @return reg  the output; several outputs are returned as a table by name
--- @raise errors of ptxas about the text, which name the line of the call, when the kernel is compiled.
--- @example
--- local sum = k:asm {
---   "dp4a.u32.u32 %d, %a, %b, %c;", out = { d = "u32" }, inputs = { a = x, b = y, c = z }, effects = "none",
--- }
function k:asm(opts)
  local named = opts
  if type(opts) == "table" then
    named = {}
    for key, value in pairs(opts) do named[key ~= 1 and key or "text"] = value end
  end
  options("k:asm", named)
  opts = named
  arguments.object("k:asm, k", self, "builder")
  if type(opts.text) ~= "string" then
    fail(("k:asm: the text comes first: k:asm{ \"...;\", out = ... }, got %s"):format(arguments.describe(opts.text)))
  end
  local operands = {}
  add(operands, "out", "out", opts.out)
  local outs = #operands
  add(operands, "inout", "inout", opts.inout)
  add(operands, "inputs", "in", opts.inputs)
  local seen = {}
  for _, operand in ipairs(operands) do
    if seen[operand[1]] then fail(("k:asm: two operands are called `%s`"):format(operand[1])) end
    seen[operand[1]] = true
  end
  local effects, meaning = effects_of(opts.effects), opts.meaning
  if meaning ~= nil then arguments.body("k:asm, meaning", meaning) end
  if meaning and opts.guard then
    fail "k:asm: `guard` cannot be combined with `meaning`: use k:if_(p, function() ... end)"
  end

  -- The meaning is traced before the text, so that it reads the inputs before the text changes them; its results are
  -- written after the text.
  local results
  if meaning then
    local values = {}
    for _, operand in ipairs(operands) do
      if operand[2] ~= "out" then values[operand[1]] = operand[3] end
    end
    native.simulated_only(self, true)
    local good, problem = pcall(meaning, self, values)
    native.simulated_only(self, false)
    if not good then error(problem, 0) end
    results = problem
  end
  local registers = table.pack(native.inline_ptx(self, {
    text = opts.text, operands = operands, declared = opts.effects ~= nil, reads = effects.reads or false,
    writes = effects.writes or false, synchronises = effects.barrier or false, simulated = meaning ~= nil,
    isa = opts.isa,
    guard = opts.guard,
  }))
  local written = {}
  for i, operand in ipairs(operands) do
    if operand[2] ~= "in" then written[#written + 1] = { name = operand[1], register = registers[i] } end
  end
  if meaning and #written > 0 then
    if #written == 1 and type(results) ~= "table" then results = { [written[1].name] = results } end
    if type(results) ~= "table" then
      fail(("k:asm: `meaning` must return a table of values by name, got %s"):format(arguments.describe(results)))
    end
    native.simulated_only(self, true)
    local good, problem = pcall(function()
      for _, operand in ipairs(written) do
        local value = results[operand.name]
        if value == nil then fail(("k:asm: `meaning` returns no value for `%s`"):format(operand.name)) end
        self:mov(operand.register, value)
      end
    end)
    native.simulated_only(self, false)
    if not good then error(problem, 0) end
  end
  if outs == 1 then return registers[1] end
  if outs > 1 then
    local out = {}
    for i = 1, outs do out[operands[i][1]] = registers[i] end
    return out
  end
end

classes.shield(k, "k:", { "asm" })
