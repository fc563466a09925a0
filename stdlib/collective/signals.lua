-- How launches of several devices wait for each other: by flags, words of memory that each device has and the others
-- write. A flag has the number of the last launch that something has happened in, so that nothing is cleared between
-- launches. Devices count their launches themselves, in their own flags, so that a CUDA graph may repeat them:
--
--   word 0  the launches that all CTAs have begun
--   word 1  the CTAs that have begun this one; back to 0 with the last of them

local module = { words = 2 }

--- Emits the number of the launch, for all threads, before they meet.
function module.read_launch(g) g.launch = g.k:ld_global_u32(g.sizes.flags) + 1 end

--- Counts the executing CTA at a word that goes back to 0 with the last one; returns a predicate: this is the last one.
--- What the others have done before is visible to it.
function module.last_cta(k, word)
  local most = k:special "nctaid.x" - 1
  return k:atom_global_inc_u32(word, most, { sem = "acq_rel.gpu" }):eq(most)
end

--- Counts the launch, once all threads have its number.
function module.count_launch(g)
  local k, flags = g.k, g.sizes.flags
  k:if_((k:special "tid.x"):eq(0), function()
    k:st_global_u32(flags, g.launch, { guard = module.last_cta(k, flags + 4) })
  end)
end

--- Waits until a flag has the number of the launch, and for what was written before it. scope: "sys" where another
--- device writes it, "gpu" otherwise.
function module.await(g, flag, scope)
  local k = g.k
  k:while_(function() return k["ld_acquire_" .. scope .. "_global_u32"](k, flag):ne(g.launch) end, function() end)
end

--- Gives a flag the number of the launch, for those who wait to see what was written before. scope: as of await.
function module.tell(g, flag, scope) g.k["st_release_" .. scope .. "_global_u32"](g.k, flag, g.launch) end

return module
