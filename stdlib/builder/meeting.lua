-- Where all threads wait for each other.

local module = {}

--- All threads of a CTA meet, or of a cluster of so many CTAs.
function module.all(k, ctas)
  if ctas == 1 then return k:bar_sync(0) end
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
end

return module
