-- A producer takes blocks of K one by one, and a consumer in rounds of two: both count to K rounded up to whole rounds, a
-- multiple of a quotient, by counters of K's unit. Where copies without a tensor map come from in global memory decides
-- nothing about the ring. Right kernels are proved, and those that are nearly so are not.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local block <const> = 64 -- of K, and the bytes of a copy

--- Thread 0 fills a ring with blocks of the CTA's tiles, whose place in A is a matter of divisions; warp 1 empties it,
--- two blocks a round. `as` changes a part of it.
local function ring(as)
  local stages = as.stages or 4
  return wg.kernel("rounds", { threads = 64 }, function(k)
    local rows, columns, K, A = k:param("rows", "u32"), k:param("columns", "u32"), k:param("K", "u32"), k:param("A", "u8*")
    local tid = k:special "tid.x"
    local blocks = k:shared { bytes = block * stages, align = 16, name = "blocks" }
    local full, empty = check.ring(k, stages)
    local function whole(number) return ((number + 2 * block - 1) >> 7) * (2 * block) end
    local function each_tile(body)
      k:loop({ from = k:special "ctaid.x", to = rows * columns, step = k:special "nctaid.x" }, body)
    end
    local function cursor()
      local stage, phase = k:mov(0, { type = "u32" }), k:mov(0, { type = "u32" })
      return stage, phase, function()
        k:add(stage, stage, 1)
        local wrapped = stage:eq(stages)
        k:mov(stage, 0, { guard = wrapped })
        k:xor(phase, phase, 1, { guard = wrapped })
      end
    end
    k:if_(tid:eq(0), function()
      local stage, phase, advance = cursor()
      each_tile(function(tile)
        local across = k:min(columns, 8)
        local from = k:mad_wide_u32(k:div(tile, across) * K + k:rem(tile, across), block, A)
        k:loop({ from = 0, to = (as.filled or whole)(K), step = as.step or block }, function(at)
          k:mbarrier_wait(k:address(empty, stage << 3), phase ~ 1)
          local barrier = k:address(full, stage << 3)
          k:mbarrier_arrive_expect_tx(barrier, as.bytes or block)
          k:cp_async_bulk(k:address(blocks) + stage * block, k:mad_wide_u32(at, block, from), block, barrier)
          advance()
        end)
      end)
    end)
    k:if_((tid >> 5):eq(1), function()
      local stage, phase, advance = cursor()
      each_tile(function()
        k:loop({ from = 0, to = (as.emptied or whole)(K), step = 2 * block }, function()
          for number = 1, as.round or 2 do
            k:mbarrier_wait(k:address(full, stage << 3), phase)
            k:bar_warp_sync()
            local releases = (tid & 31):eq(0)
            if as.releases then releases = as.releases(releases, number) end
            if releases then k:if_(releases, function() k:mbarrier_arrive(k:address(empty, stage << 3)) end) end
            advance()
          end
        end)
      end)
    end)
  end)
end

local of_ring <const> = { "no-deadlock", "phases", "copy-bytes", "groups", "shared-races" }

local function verdicts(kernel)
  local out = {}
  for _, one in ipairs(kernel:verdicts { budget = 1 }) do out[one.property] = one end
  return out
end

for what, as in pairs {
  ["four stages"] = {},
  ["two stages"] = { stages = 2 },
  ["three stages"] = { stages = 3 },
  ["both count rounds down"] = {
    filled = function(K) return (K >> 7) * (2 * block) end, emptied = function(K) return (K >> 7) * (2 * block) end,
  },
} do
  local all = verdicts(ring(as))
  for _, property in ipairs(of_ring) do
    check.equal({ what, property, all[property].verdict, all[property].reason }, { what, property, "proved" })
  end
end

for what, as in pairs {
  ["the producer counts to K, whose last round may have one block"] = { filled = function(K) return K end },
  ["the consumer rounds down"] = { emptied = function(K) return (K >> 7) * (2 * block) end },
  ["the producer rounds down"] = { filled = function(K) return (K >> 7) * (2 * block) end },
  ["the producer takes whole rounds as one block"] = { step = 2 * block },
  ["the producer takes half blocks"] = { step = block // 2 },
  ["rounds of one block"] = { round = 1 },
  ["rounds of three blocks"] = { round = 3 },
  ["one round more is filled"] = { filled = function(K) return ((K + 255) >> 7) * (2 * block) end },
  ["one block more is filled"] = { filled = function(K) return ((K + 127) >> 7) * (2 * block) + 1 end },
  ["rounds of K are counted in another unit"] = { emptied = function(K) return ((K + 127) >> 7) * block end },
  ["a stage of each round is kept"] = { releases = function(leads, number) return number == 1 and leads end },
  ["all lanes release a stage"] = { releases = function(leads, number) return number == 1 and leads | ~leads or leads end },
  ["more bytes are expected"] = { bytes = block + 16 },
} do
  local all = verdicts(ring(as))
  if all["no-deadlock"].verdict == "proved" and all.phases.verdict == "proved"
    and all["copy-bytes"].verdict == "proved" then
    error("proved, and wrong: " .. what)
  end
end
