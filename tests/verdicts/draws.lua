-- Tiles that a CTA draws from a counter in memory, for the kernels of program.lua: one thread draws a number and shows it to
-- the warps in shared memory. What each role makes of the number of this tile, or of one before, may decide how many turns
-- a tile has, and when something is wrong.
--   drawn   { of, number, back, turns, shown }: what is made of a number ("mask", "rest", "quotient", "least", "itself"), with a
--           constant; of the number of how many tiles before (0 to 2); whether a tile has as many turns; stages of what is shown
--   alone   { one, other, early }: instead of all rings one lane draws, and in some tiles (fault.when) arrives at an mbarrier as
--           often as what it made of two numbers says; these are of so many tiles before, and are kept before or after that
local draws = {}

-- What may be made of a number.
draws.of = {
  mask = function(_, v, c) return v & ((2 << c % 2) - 1) end,
  rest = function(k, v, c) return k:rem(v, c % 3 + 2) end,
  quotient = function(k, v, c) return k:div(v, c % 3 + 2) end,
  least = function(k, v, c) return k:min(v, c % 3 + 1) end,
  itself = function(_, v) return v end,
}

--- Of one role: register `at.made`, which is what it makes of a number so many tiles back (of `first` before there was any),
--- and next(number), which a role calls when it has a tile's number.
function draws.memory(k, at, drawn)
  local last = {}
  local first = draws.of[drawn.of](k, k:mov(drawn.first or 0, { type = "u32" }), drawn.number)
  for i = 1, drawn.back + 1 do last[i] = k:mov(first) end
  at.made = last[#last]
  return function(number)
    for i = #last, 2, -1 do k:mov(last[i], last[i - 1]) end
    k:mov(last[1], draws.of[drawn.of](k, number, drawn.number))
  end
end

--- A kernel of one lane: it arrives three times where what it made of both numbers is the same.
function draws.alone(wg, p, when)
  local u32, drawn = { type = "u32" }, p.drawn
  return wg.kernel("program", { threads = 32 }, function(k)
    k:param("X", "const f32*")
    k:param("Y", "f32*")
    local n, m, counter = k:param("n", "u32"), k:param("m", "u32"), k:param("counter", "u32*")
    local bar = k:shared { bytes = 8, align = 8, name = "bar" }
    k:if_(k:special("tid.x"):eq(0), function()
      k:mbarrier_init(bar, 3)
      k:fence_mbarrier_init()
      local phase, number = k:mov(0, u32), k:mov(k:atom_relaxed_gpu_global_add_u32(counter, 1), u32)
      local at, made, next_tile = { n = n, tiles = m, tile = number, cta = k:special "ctaid.x", ctas = k:special "nctaid.x" }, {}, {}
      for i, back in ipairs { drawn.alone.one, drawn.alone.other } do
        next_tile[i] = draws.memory(k, at, { of = drawn.of, number = drawn.number, back = back, first = p.fault.number })
        made[i] = at.made
      end
      local function keep() for _, tile in ipairs(next_tile) do tile(number) end end
      k:while_(function() return number:lt(m) end, function()
        if drawn.alone.early then keep() end
        k:if_(when(k, at), function()
          for _, count in ipairs { made[1], 3 - made[2] } do
            k:loop({ from = 0, to = count }, function() k:mbarrier_arrive(bar) end)
          end
          k:mbarrier_wait(k:address(bar), phase)
          k:xor(phase, phase, 1)
        end)
        if not drawn.alone.early then keep() end
        k:mov(number, k:atom_relaxed_gpu_global_add_u32(counter, 1))
      end)
    end)
  end)
end

--- The rings by which numbers are shown; `readers` warps read them. Thread 0 calls init.
function draws.queue(k, drawn, readers, counter)
  local stages, u32 = drawn.shown, { type = "u32" }
  local numbers = k:shared { bytes = 16 * stages, align = 16, name = "numbers" }
  local shown = k:shared { bytes = 8 * stages, align = 8, name = "shown" }
  local seen = k:shared { bytes = 8 * stages, align = 8, name = "seen" }
  local queue = {}
  function queue.init()
    for s = 0, stages - 1 do
      k:mbarrier_init(k:address(shown, 8 * s), 1)
      k:mbarrier_init(k:address(seen, 8 * s), readers)
    end
  end

  local function cursor()
    local stage, phase = k:mov(0, u32), k:mov(0, u32)
    return {
      phase = phase, at = function(of) return k:address(of, stage << 3) end, number = function() return k:address(numbers, stage << 4) end,
      advance = function()
        k:add(stage, stage, 1)
        local wraps = stage:eq(stages)
        k:mov(stage, 0, { guard = wraps })
        k:xor(phase, phase, 1, { guard = wraps })
      end,
    }
  end
  local function draw() return k:atom_relaxed_gpu_global_add_u32(counter, 1) end

  --- Of the thread that draws: body(number) for each tile.
  function queue.draw_each(tiles, unless, body)
    local c, number = cursor(), k:mov(draw(), u32)
    k:while_(function()
      unless("wait_seen", function() k:mbarrier_wait(c.at(seen), c.phase ~ 1) end)
      k:st_shared_u32(c.number(), number)
      k:mbarrier_arrive(c.at(shown))
      c.advance()
      return number:lt(tiles)
    end, function()
      body(number)
      k:mov(number, draw())
    end)
  end

  --- Of the warps that read.
  function queue.read_each(tiles, lane, unless, body)
    local c, number = cursor(), k:mov(0, u32)
    k:while_(function()
      unless("wait_shown", function() k:mbarrier_wait(c.at(shown), c.phase) end)
      local mine = k:mov(0, u32)
      k:ld_shared_u32(mine, c.number(), { guard = lane:eq(0) })
      k:shfl_sync_idx_b32(number, mine, 0, 31)
      k:if_(lane:eq(0), function() k:mbarrier_arrive(c.at(seen)) end)
      c.advance()
      return number:lt(tiles)
    end, function() body(number) end)
  end
  return queue
end

--- Makes a program draw its tiles, and perhaps wrong: random(most) and one_of(list) are the generator's, `faults` what can be wrong
--- of any program, `arithmetic` the names of program.arithmetic.
function draws.choose(p, random, one_of, faults, arithmetic)
  p.tiles, p.cluster, p.idle, p.leave, p.prologue, p.peeled = true, nil, nil, false, 0, false
  -- With more in a kernel a proof seldom comes to an end.
  p.lag, p.unrolled, p.trips = false, nil, { form = one_of { "fixed", "fixed", "n" }, number = random(3) }
  p.rings = { { fill = "copy", stages = 1 + random(2), style = one_of { "wrap", "mask" }, release = one_of { "lane", "all" }, every = 1 } }
  p.drawn = {
    of = one_of { "mask", "mask", "rest", "least", "itself" }, number = random(6), back = random(3),
    turns = random(2) == 0, shown = 1 + random(3),
  }
  p.fault = nil
  if random(2) == 0 then
    p.drawn.of = one_of { "mask", "mask", "rest", "least" }
    local backs = one_of { { 0, 2 }, { 2, 0 }, { 0, 2 }, { 0, 1 }, { 1, 2 }, { random(3), random(3) } }
    p.drawn.alone, p.drawn.turns = { one = backs[1], other = backs[2], early = random(4) > 0 }, true
    p.fault = { what = "alone", when = one_of { "tile_is", "tile_is", "tile_is", "tile_of", "made_is", "always" }, modulus = one_of { 2, 3, 4 }, number = random(7) }
    return
  end
  if random(3) == 0 then return end
  local what = { "back", "back", "back", "made", "made", "wait_seen", "wait_shown" }
  for _, one in ipairs(faults(p)) do what[#what + 1] = one end
  local when = { "tile_is", "tile_of", "made_is", "made_is", "made_from", "always", "last_tile" }
  for _, of in ipairs { "tile ", "made " } do when[#when + 1] = of .. one_of(arithmetic) end
  p.fault = { what = one_of(what), when = one_of(when), modulus = one_of { 2, 3, 4 }, number = random(5) }
  -- These are wrong in all tiles.
  if p.fault.what == "back" or p.fault.what == "made" then p.fault.when, p.drawn.turns = "always", true end
end

return draws
