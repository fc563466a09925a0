-- Error objects: fields, place, text; from C and from the standard library.
local check = require "check"
local wg = require "wgrun"

local good, e = pcall(wg.layout, { 0, 4 })
assert(not good)
check.equal(e.code, "EINVAL")
assert(e.message:find("extents must be at least 1", 1, true) or e.message:find("at least 1", 1, true), e.message)
check.equal(tostring(e):match "[^/]*$", "errors.lua:" .. e.line .. ": " .. e.message)
check.equal("<" .. e .. ">", "<" .. tostring(e) .. ">")

-- The place is the line that called, however deep C is.
local function place(f, ...)
  local _, problem = pcall(f, ...)
  return problem.line
end
check.equal(place(function() return wg.tile { dtype = "bf16" } end), check.line())
check.equal(place(function() wg.layout "((" end), check.line())
check.equal(place(function() return wg.zeros("f32", { 2 })[{ 5 }] end), check.line())
check.equal(place(function() wg.zeros("f32", { 2 })[{ 5 }] = 1 end), check.line())

-- In a coroutine too.
local co = coroutine.create(function() wg.layout "((" end)
local _, problem = coroutine.resume(co)
check.equal(problem.line, check.line() - 2)

-- What the environment lacks is no error: nil, message, code.
local t, message, code = wg.load "no/such/file.npy"
check.equal(t, nil)
check.equal(code, "ENOENT")
assert(message:find("no/such/file.npy", 1, true), message)
local saved
saved, message, code = wg.zeros("f32", { 2 }):save "no/such/folder/x.npy"
check.equal(saved, nil)
check.equal(code, "ENOENT")
-- A wrong argument to the same functions is one.
check.raises("bad argument #1 to `load`: expected a string, got number 1", wg.load, 1)
check.raises("dtype", wg.load, "x.npy", "bf17")

-- An error in a finalizer or a handler cannot break the next one.
for _ = 1, 100 do pcall(wg.layout, "((") end
collectgarbage()
