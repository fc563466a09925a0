-- The operations of an epilogue, in their order (operations/). Each is a table:
--
--   step        the order in which they are applied, and of their parameters
--   options     their names in the option `epilogue` of wg.gemm
--   read        function(given, e): checks them, and keeps them in e; where it is left out they are true or false
--   check       function(p): raises where they contradict the plan
--   cycles      function(e): those of an SM for an element
--   launch      the options of a launch: { name =, of = the option of wg.gemm that it goes with, optional = whether it
--               may be left out }
--   check_launch  function(p, given)
--   samples     function(of, out): adds tensors to measure with (epilogue/plan.lua), by their options of a launch
--   parameters  function(p, add): the kernel's parameters for them (builder/parameters.lua)
--   operands    function(of): the options of k:epilogue, for which are the next ones
--   accept      function(opts): raises where they are not what they have to be
--   vectors     function(opts): of these options, what goes along rows or columns
--   element     function(k, opts, at): returns function(x, r, acc, c), or nil where they are left out
--               (epilogue/elementwise.lua)

local native = require "wgrun.native"

local operations = {}
for _, name in ipairs(native.modules) do
  if name:find "^epilogue%.operations%." then operations[#operations + 1] = require("wgrun." .. name) end
end
table.sort(operations, function(a, b) return a.step < b.step end)

return operations
