-- How the kernels of wg.delta_rule follow each other: each may start before the one before it ends (programmatic
-- dependent launch, PTX ISA 9.7.13.13).

local module = {}

--- The beginning of a kernel that others follow. It waits for what comes before it first, so that those behind it need
--- to wait for the kernel right before them alone. first(), where it is given, comes before any of these starts.
function module.begin(k, first)
  k:griddepcontrol_wait()
  if first then
    first()
    k:bar_sync(0)
  end
  k:griddepcontrol_launch_dependents()
end

return module
