-- What operations of the epilogue share: options that are an activation, and the values that a launch gives for them.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local native = require "wgrun.native"
local activations = require "wgrun.tile.activation"

local module = {}

local fail = native.fail
local what = "wg.gemm, epilogue"

--- An option that is an activation, by name or as a function of the arguments that `takes` names.
function module.activation(given, name, takes)
  local of = given[name]
  if of == nil or of == false then return nil end
  activations.named(("%s: unknown %s"):format(what, name), of, takes)
  return of
end

--- A model of what an activation costs an SM for an element.
function module.activation_cycles(of) return of == "gelu" and 0.05 or of and of ~= "relu" and 0.1 or 0 end

--- A box whose matrix no launch writes that may still run.
function module.constant_box(box) return arguments.extended({ constant = true }, box) end

--- The vector called `name` of a launch's options, which has `want` values, `one` for each.
function module.vector_of_launch(name, l, want, one)
  local shape = arguments.shape_of(l.given[name])
  if not shape or #shape ~= 1 or shape[1] ~= want then
    fail(("gemm: %s must be a vector of %d f32, one for each %s"):format(name, want, one))
  end
  return l.given[name]
end

--- Raises unless the tensor called `name` is as large as the one called `as`.
function module.same_extents(name, tensor, as, rows, columns)
  local got_rows, got_columns = arguments.matrix("gemm: " .. name, tensor)
  if got_rows ~= rows or got_columns ~= columns then
    fail(("gemm: %s is %d x %d, but %s is %d x %d"):format(name, got_rows, got_columns, as, rows, columns))
  end
end

--- The matrix called `name` of a launch's options, which is as large as D.
function module.like_d(name, l)
  module.same_extents(name, l.given[name], "D", l.rows, l.columns)
  return l.given[name]
end

-- Whether a launch has a bias for each row of D, rather than each column.
local function by_row(p) return (p.epilogue.bias == "row") ~= (p.swapped or false) end

--- A vector of biases to measure with, or nil where there is none.
function module.bias_sample(of)
  return of.e.bias and wg.randn { shape = { by_row(of.p) and of.M or of.N }, dtype = "f32", seed = 1 } or nil
end

--- The parameter of a vector of biases: `name` is "bias" or "gate_bias".
function module.bias_parameter(p, name)
  return {
    name = name, type = "const f32*",
    value = function(l)
      local rows = by_row(p)
      return module.vector_of_launch(name, l, rows and l.rows or l.columns, (rows and "row" or "column") .. " of D")
    end,
  }
end

return module
