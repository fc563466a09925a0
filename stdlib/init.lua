-- Runs at the end of luaopen_wgrun: init(wg, internal) extends the module table and the classes.
-- See bindings/lua/stdlib.hpp for what `internal` holds.
local wg, internal = ...

--- Raises unless every key of `given` is one of `legal`.
function internal.options(name, given, legal)
  for key in pairs(given) do
    local known = false
    for _, candidate in ipairs(legal) do known = known or candidate == key end
    if not known then
      internal.fail(("unknown option `%s` of %s (legal: %s)"):format(tostring(key), name, table.concat(legal, ", ")))
    end
  end
end

require "wgrun.control"(internal)
require "wgrun.tile"(internal)
require "wgrun.pipeline"(internal)
require "wgrun.schedule"(internal)
require "wgrun.epilogue"(wg, internal)
require "wgrun.gemm"(wg, internal)
