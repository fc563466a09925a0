-- The kernel of wg.gemm: persistent CTAs, in which warps of a producer warpgroup copy tiles by TMA (gemm_produce.lua) and one to three
-- consumer warpgroups multiply them by wgmma (gemm_consume.lua) and store the sums (gemm_epilogue.lua). k:pipeline is the ring between
-- them, and each of them walks over the tiles by itself (gemm_tiles.lua).

return function(wg, internal)
  -- The kernel's parameters, in the order of a launch's arguments: tensor maps, and `sizes`, which has the others.
  local function parameters(k, p)
    local maps = {
      A = k:tensor_map("A", { tile = p.a_piece, constant = true }),
      B = k:tensor_map("B", { tile = p.b_piece, constant = true }),
      D = k:tensor_map("D", p.panel.box),
    }
    local sizes = { M = k:param("M", "u32"), N = k:param("N", "u32"), K = k:param("K", "u32") }
    for _, name in ipairs { "A", "B" } do
      local rows, width = p.edges[name], 128 // internal.element_bytes[p.dtype]
      if rows then maps[name .. "_edge"] = k:tensor_map(name .. "_edge", { dtype = p.dtype, box = { width, rows }, swizzle = "128B", constant = true }) end
    end
    internal.epilogue_parameters(k, p, sizes, maps)
    if p.sparse then
      sizes.metadata = k:param("metadata", "const u32*")
      sizes.K = internal.divided(k, sizes.K + (p.round_k - 1), p.round_k) * p.round_k -- the ring goes round in whole rounds; TMA fills in zeros
    end
    for _, name in ipairs { "a_scales", "b_scales" } do
      if p.scaled and name == "a_scales" then
        maps[name] = k:tensor_map(name, p.scaled.box)
      elseif p.scales[name] then
        sizes[name] = k:param(name, "const f32*")
      end
    end
    if p.groups then
      sizes.D = k:param("D_data", p.d .. "*")
      internal.group_parameters(k, p, sizes)
    end
    if p.raster == "hilbert" then sizes.order = k:param("order", "const u32*") end
    if p.partials then
      sizes.partials, sizes.counters = k:param("partials", p.accumulator .. "*"), k:param("counters", "u32*")
    end
    return maps, sizes
  end

  -- The buffers in shared memory: stages of the operands, panels of D, and what roles tell each other.
  local function shared_memory(k, p, maps)
    return {
      a = k:shared { tile = p.a, count = p.stages, name = "A" },
      b = k:shared { tile = p.b, count = p.stages, name = "B" },
      metadata = p.sparse and k:shared { bytes = p.stages * p.metadata_bytes, align = 128, name = "metadata" } or nil,
      d = k:shared { bytes = p.buffers * p.consumers * p.panel.bytes, align = p.panel.align, name = "D" },
      scales = p.scaled and k:shared { bytes = p.stages * p.scaled.stride, align = 128, name = "scales" } or nil,
      turns = p.own_tiles and k:shared { bytes = 16, align = 8, name = "turns" } or nil,
      vectors = p.vectors > 0 and k:shared { bytes = 4 * p.n * p.vectors * p.consumers, align = 16, name = "vectors" } or nil,
      c = maps.C and not p.residual_stages and k:shared { bytes = 8 * p.consumers, align = 8, name = "C" } or nil,
      sums = p.exchange and k:shared { bytes = p.consumers * p.exchange.bytes, align = 16, name = "sums" } or nil,
      arrived = p.exchange and k:shared { bytes = 8 * p.consumers, align = 8, name = "sums_arrived" } or nil,
      read = p.exchange and k:shared { bytes = 8 * p.consumers, align = 8, name = "sums_read" } or nil,
      flags = (p.partials or p.epilogue.row_sums) and k:shared { bytes = 4 * p.consumers, align = 4, name = "flags" } or nil,
    }
  end

  -- What one thread does before all others begin.
  local function begin(k, p, maps, stages, sizes, ring)
    for _, name in ipairs { "A", "B", "A_edge", "B_edge", "gate", "C", "D", "a_scales" } do
      if maps[name] then k:prefetch_tensormap(maps[name]) end
    end
    if stages.turns then
      for c = 0, 1 do k:mbarrier_init(k:address(stages.turns, 8 * c), 4) end
    end
    if stages.c then
      for c = 0, p.consumers - 1 do k:mbarrier_init(k:address(stages.c, 8 * c), 1) end
    end
    if p.exchange then internal.begin_exchange(k, p, stages, sizes) end
    ring:init()
  end

  -- Zeros in the rows of the stages that boxes at an edge leave out. Before they are there the threads must meet.
  local function clear_edges(k, p, stages)
    local operands = { A = { p.a, stages.a }, B = { p.b, stages.b } }
    local zeros, place = nil, k:special "tid.x" << 4
    for _, name in ipairs { "A", "B" } do
      local rows, tile, buffer = p.edges[name], table.unpack(operands[name])
      if rows then
        if not zeros then
          zeros = k:regs("b32", 4)
          for i = 0, 3 do k:mov(zeros[i], 0) end
        end
        local panel, from = tile.mn * 128, rows * 128
        k:loop(p.stages * (tile.bytes // panel), function(i)
          local to = k:address(buffer, place) + i * panel
          for offset = from, panel - 1, 16 * p.threads do
            k:st_shared_v4_b32(to, zeros, { offset = offset, guard = offset + 16 * p.threads > panel and place:lt(panel - offset) or nil })
          end
        end)
      end
    end
    if zeros then k:fence_proxy_async { space = "shared::cta" } end
  end

  -- The warps of the producer warpgroup: one copies, or two, the first of which copies an operand that the previous grid of the
  -- stream does not write, and need not wait for that.
  local function producers(k, p, warp, produce)
    local function role(number, body) k:if_(warp:eq(number), body) end
    if not p.constant then return role(0, function() produce { A = true, B = true, C = true, scales = true } end) end
    local other = p.constant == "A" and "B" or "A"
    role(0, function() produce { [p.constant] = true } end)
    role(1, function()
      k:griddepcontrol_wait()
      produce { [other] = true, C = true, scales = true }
    end)
  end

  -- What a launch without wg.gemm must know, for kernel:export.
  local function launch_rule(p)
    local notes, sums = {}, p.m * p.width
    if p.swapped then
      notes.A, notes.B = "B of the product, for the kernel computes the transpose of D", "A of the product"
      notes.M, notes.N = "columns of D", "rows of D"
    end
    if p.sparse then
      notes.A, notes.metadata = "the values of A, M x K / 2", 'of wg.sparse.compress(A, "gemm"), as the values'
    end
    if p.scaled then
      notes.a_scales, notes.b_scales = "ceil(K / 128) x M, M rounded up to a multiple of 4", "ceil(N / 128) x ceil(K / 128)"
    end
    for name, rows in pairs(p.edges) do notes[name .. "_edge"] = ("%s again, for a last tile of up to %d rows"):format(name, rows) end
    internal.epilogue_notes(p, notes)
    if p.groups then
      notes.B, notes.N = "those of all groups, one below the other", "columns of D"
      if p.scaled then notes.b_scales = notes.b_scales .. " for each group" end
      notes.D_data, notes.groups = "D again", "the number of groups"
      if p.groups == "contiguous" then notes.offsets = "where each group ends" end
      if p.groups == "masked" then notes.sizes = "the rows of each group" end
    end
    if p.raster == "hilbert" then
      notes.order = ("for each tile of %d x %d its row << 16 | its column, in the order of the work (wg.hilbert)"):format(p.m * p.cluster_m, p.n * p.cluster_n)
    end
    if p.stream then
      notes.partials = ("%d elements for each CTA of the grid"):format(2 * sums)
      notes.counters = ("%d for each CTA of the grid, zeros before the first launch"):format(p.consumers)
    elseif p.last_splits > 1 then
      notes.partials = ("%d elements for each %d CTAs of the grid"):format(p.parts * sums, p.parts)
      notes.counters = ("%d for each %d CTAs of the grid, zeros before the first launch"):format(p.consumers, p.parts)
    elseif p.partials then
      local tiles = ("for each of the ceil(M / %d) * %d * ceil(N / %d) tiles"):format(p.m * p.cluster_m, p.cluster, p.n * p.cluster_n)
      notes.partials = ("%d elements %s"):format(p.splits * sums, tiles)
      notes.counters = ("%d %s, zeros before the first launch"):format(p.consumers, tiles)
    end
    return { rows = "M", columns = "N", m = p.m * p.cluster_m, n = p.n * p.cluster_n, parts = p.exchange and 1 or p.splits, notes = notes }
  end

  --- The kernel of a plan (of internal.gemm_plan).
  function internal.gemm_kernel(p)
    local kernel = wg.kernel(p.name, { threads = p.threads, cluster = { p.exchange and p.splits or p.cluster } }, function(k)
      local maps, sizes = parameters(k, p)
      local stages = shared_memory(k, p, maps)
      -- Every warp that reads a stage releases it to each CTA that fills it: those along M, from which its B comes, and along N.
      local readers = 4 * (p.own_tiles and 1 or p.consumers)
      local ring = k:pipeline { stages = p.stages, arrivals = readers * p.fillers, producers = p.constant and 2 or 1 }
      local function sync_all()
        if p.cluster == 1 and not p.exchange then return k:bar_sync(0) end
        k:barrier_cluster_arrive()
        k:barrier_cluster_wait()
      end

      local thread = k:special "tid.x"
      k:if_(thread:eq(0), function() begin(k, p, maps, stages, sizes, ring) end)
      clear_edges(k, p, stages)
      -- The next grid of the stream may start now, just as this one may have started early: its prologue then overlapped
      -- the end of the previous grid, and griddepcontrol.wait waits for that grid's results. An operand that the previous
      -- grid does not write need not wait: it has a producer of its own, and no consumer proceeds before the other
      -- producer has waited.
      k:griddepcontrol_launch_dependents()
      if not p.constant then k:griddepcontrol_wait() end
      sync_all()
      k:if_((thread >> 7):eq(0), function()
        k:setmaxnreg_dec(p.registers[1])
        local warp = k:shfl_sync_idx_b32(thread >> 5, 0, 31) -- the same in all lanes
        producers(k, p, warp, function(copies) internal.gemm_produce(k, p, ring, maps, stages, sizes, copies) end)
      end, function()
        k:setmaxnreg_inc(p.registers[2])
        internal.gemm_consume(k, p, ring, maps, stages, sizes)
      end)
      -- A CTA must not end while others of its cluster may still write to it or arrive at its barriers.
      if p.cluster > 1 then sync_all() end
    end)
    kernel:launch_rule(launch_rule(p))
    return kernel
  end
end
