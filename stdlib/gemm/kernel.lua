-- The kernel of wg.gemm: persistent CTAs, in which warps of a producer warpgroup copy tiles by TMA (gemm/produce.lua) and one to three
-- consumer warpgroups multiply them by wgmma (gemm/consume.lua) and store the sums (gemm/epilogue.lua). k:pipeline is the ring between
-- them, and each of them walks over the tiles by itself (gemm/tiles.lua).

return function(wg, internal)
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

  --- The kernel of a plan (of internal.gemm_plan), with these parameters.
  function internal.gemm_kernel(p, list)
    local kernel = wg.kernel(p.name, { threads = p.threads, cluster = { p.exchange and p.splits or p.cluster } }, function(k)
      local maps, sizes = internal.declare(k, list)
      -- The ring goes round in whole rounds; TMA fills in zeros.
      if p.sparse then sizes.K = internal.divided(k, sizes.K + (p.round_k - 1), p.round_k) * p.round_k end
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
    kernel:launch_rule {
      rows = "M", columns = "N", m = p.m * p.cluster_m, n = p.n * p.cluster_n, parts = p.exchange and 1 or p.splits, notes = internal.notes(list),
    }
    return kernel
  end
end
