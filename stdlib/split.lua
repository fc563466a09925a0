-- Split-K: CTAs that multiply different parts of K for the same tile put their sums together. Each leaves its sums in
-- a workspace; whoever comes last adds them up, always in the order of the parts, and goes on with the whole.

return function(internal)
  local k = internal.methods.builder
  local options = internal.options

  --- The range of K that belongs to one of several parts, in whole blocks. Every part has at least one block where there
  --- are as many blocks as parts.
  --- @param options table
  --- @option K reg  u32: the K extent
  --- @option block integer  elements of K in a block
  --- @option part integer|reg  which part, from 0
  --- @option splits integer  how many parts
  --- @return reg  u32: the first element
  --- @return reg  u32: the one after the last
  function k:part_of_k(opts)
    options("k:part_of_k", opts)
    local blocks = self:div(opts.K + (opts.block - 1), opts.block)
    local from = self:div(opts.part * blocks, opts.splits)
    local to = self:div((opts.part + 1) * blocks, opts.splits)
    return from * opts.block, to * opts.block
  end

  --- Split-K: adds up the accumulators of warpgroups that multiplied different parts of K. Each leaves its sums in a
  --- workspace; the one that comes last adds all of them up, always in the order of the parts, and goes on with the
  --- result. All 128 threads execute it, and nobody waits for another CTA.
  --- @param options table
  --- @option acc table  a list of arrays of registers: the accumulators
  --- @option partials reg  a pointer parameter to the accumulators' type: room for `splits` times all accumulators of the grid's tiles
  --- @option counters reg  a pointer parameter to u32, all 0: one for each tile; they are 0 again at the end
  --- @option tile reg  u32: which of the tiles that are summed up by themselves
  --- @option part reg  u32: which part, from 0
  --- @option splits integer  how many parts, 2 to 65535
  --- @option barrier integer|reg  the number of a named barrier for the 128 threads
  --- @option flag reg  u32: the address of 4 bytes of shared memory
  --- @return reg  a predicate that holds in the warpgroup that came last: its accumulators have the sums of all parts
  function k:sum_parts(opts)
    options("k:sum_parts", opts)
    local acc = opts.acc
    if type(acc) ~= "table" or #acc == 0 then internal.fail "k:sum_parts: `acc` must be a list of register arrays" end
    for _, block in ipairs(acc) do internal.object("k:sum_parts, acc", block, "regs") end
    local splits, kind = internal.whole("k:sum_parts: splits", opts.splits, 2, 0xFFFF), acc[1][0].type
    local thread = self:special "tid.x" & 127
    local per_thread = #acc * #acc[1]
    local one = per_thread * 128 -- elements of one part of a tile

    -- Four registers at a time: threads side by side, 16 bytes each.
    local function each_four(visit)
      for b, block in ipairs(acc) do
        for r = 0, #block - 1, 4 do visit(block:slice(r, 4), (#block * (b - 1) + r) * 128 * 4) end
      end
    end
    local mine = self:element(opts.partials, (opts.tile * splits + opts.part) * one + (thread << 2))
    each_four(function(four, offset) self["st_global_v4_" .. kind](self, mine, four, { offset = offset }) end)

    local counter = self:element(opts.counters, opts.tile)
    local leader = thread:eq(0)
    self:bar_sync(opts.barrier, { threads = 128 })
    self:if_(leader, function()
      self:st_shared_u32(opts.flag, self:atom_global_add_u32(counter, 1, { sem = "acq_rel.gpu" }))
    end)
    self:bar_sync(opts.barrier, { threads = 128 })
    local last = self:ld_shared_u32(opts.flag):eq(splits - 1)
    self:if_(last, function()
      self:st_global_u32(counter, 0, { guard = leader })
      for _, block in ipairs(acc) do
        for r = 0, #block - 1 do self:mov(block[r], 0) end
      end
      local at = self:element(opts.partials, opts.tile * splits * one + (thread << 2))
      self:loop(splits, function()
        each_four(function(four, offset)
          local theirs = self:regs(kind, 4)
          self["ld_global_v4_" .. kind](self, theirs, at, { offset = offset })
          for i = 0, 3 do self:add(four[i], four[i], theirs[i]) end
        end)
        self:add(at, at, 4 * one)
      end)
    end)
    return last
  end
end
