-- Warps that one role sends to work by a word in shared memory, as Triton's warp-specialised kernels do: all lanes of
-- two warps store a byte for each of the other warps, which read theirs behind a barrier in a loop. The work is a ring
-- whose stages go by division, with addresses that are counted apart. What is right is proved, and what is nearly so
-- is not.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local verdict = check.verdict

local stages <const>, work <const>, rest <const>, leave <const> = 3, 0, 1, 3

--- Warps 0 and 1 empty a ring that warp 2 fills; warp 3 has nothing to do. `as` changes a part of it.
local function dispatch(as)
  return wg.kernel("dispatch", { threads = 128 }, function(k)
    local n = k:param("n", "u32")
    local warp, lane = k:special "tid.x" >> 5, k:special "tid.x" & 31
    local full = k:shared { bytes = 8 * stages, align = 8, name = "full" }
    local empty = k:shared { bytes = 8 * stages, align = 8, name = "empty" }
    local states = k:shared { bytes = 8, align = 8, name = "states" }
    local function all() k:bar_sync(1, { threads = 128 }) end
    local function blocks() return (as.blocks or function(of) return (of + 63) >> 6 end)(n, k) end
    local function send(first, second)
      local word = first | second << 8
      if as.stored then return as.stored(k, states, word, warp) end
      k:st_shared_u32(states, word)
    end
    -- The stage of a turn, and the parity of its round.
    local function ring(of, turn)
      local share = k:mul_hi_u32(turn, 0xAAAAAAAB)
      local round = share >> 1
      return k:address(of, (turn - round * stages) << 3), as.field and k:bfe_u32(share, as.field, 1) or round & 1
    end
    k:if_(k:special("tid.x"):eq(0), function()
      for s = 0, stages - 1 do
        k:mbarrier_init(k:address(full, 8 * s), 1)
        k:mbarrier_init(k:address(empty, 8 * s), 2)
      end
      k:fence_mbarrier_init()
    end)
    k:if_(warp:lt(2), function()
      send(as.first or work, rest)
      if not as.early then all() end
      all()
      local turn = k:mov(0, { type = "u32" })
      k:loop(as.turns and as.turns(n, k) or blocks(), function()
        local at, parity = ring(full, turn)
        k:mbarrier_wait(at, parity)
        k:bar_warp_sync()
        at = ring(empty, turn)
        k:mbarrier_arrive(at, { guard = lane:eq(0) })
        k:add(turn, turn, 1)
      end)
      if not as.hasty then all() end
      send(as.last or leave, as.last or leave)
      all()
    end, function()
      local state = k:reg "u16"
      k:while_(function()
        if not as.unordered then all() end
        k:ld_shared_u8(state, k:address(states, as.other and 2 or warp - 2))
        if as.unordered then all() end
        return state:ne(leave)
      end, function()
        k:if_(state:eq(work), function()
          if not as.early then all() end
          k:if_(lane:eq(0), function()
            local turn, at = k:mov(0, { type = "u32" }), k:mov(k:address(empty), { type = "u32" })
            k:loop(blocks(), function()
              local round = k:mul_hi_u32(turn, 0xAAAAAAAB) >> 1
              local place = at - round * (as.stride or 8 * stages)
              k:mbarrier_wait(place, as.inverted and ~round & 1 or round & 1 ~ 1)
              k:mbarrier_arrive(place - 8 * stages)
              k:add(turn, turn, 1)
              k:add(at, at, 8)
            end)
          end)
          k:bar_warp_sync()
        end, function() if not as.early then all() end end)
        if not as.hasty then all() end
      end)
    end)
  end)
end

for what, as in pairs {
  ["as Triton has it"] = {},
  ["parities are fields of bits"] = { field = 1, inverted = true },
  ["no barrier behind the work"] = { hasty = true },
  ["no barrier before it"] = { early = true },
  ["blocks without a remainder"] = { blocks = function(n) return n end },
  ["a lane of each warp stores"] = {
    stored = function(k, states, word, warp)
      k:st_shared_u32(states, word, { guard = (k:special "tid.x" & 31):eq(0) & warp:lt(2) })
    end,
  },
  ["the second word is a zero"] = {
    stored = function(k, states, word)
      k:st_shared_v2_b32(states, { k:mov(word, { type = "b32" }), k:mov(0, { type = "b32" }) })
    end,
  },
} do
  for _, property in ipairs { "no-deadlock", "phases", "initialisation" } do
    local one = verdict(dispatch(as), property)
    check.equal({ what, property, one.verdict, one.reason }, { what, property, "proved" })
  end
end

for what, as in pairs {
  ["nobody is sent to work"] = { first = rest },
  ["both are, by another byte"] = { other = true },
  ["nobody may leave"] = { last = rest },
  ["the word is read before it is there"] = { unordered = true },
  ["the next word comes before the first one is read"] = { early = true, hasty = true },
  ["a block more"] = { turns = function(n) return ((n + 63) >> 6) + 1 end },
  ["a block more from 1024 on"] = {
    turns = function(n, k) return ((n + 63) >> 6) + k:selp_u32(1, 0, n:ge(1024)) end,
  },
  ["a stage too few where addresses go round"] = { stride = 8 * (stages - 1) },
  ["only the first warp waits for it to be stored"] = {
    stored = function(k, states, word, warp)
      k:if_(warp:eq(0), function() k:st_shared_u32(states, word) end, function() k:st_shared_u32(states, word ~ 2) end)
    end,
  },
  ["another field"] = { field = 0 },
  ["... whose bits turn half as often"] = { field = 2 },
  ["a byte of it is stored apart"] = {
    stored = function(k, states, word)
      k:st_shared_u32(states, word)
      k:st_shared_u8(states, k:mov(1, { type = "u16" }))
    end,
  },
  ["lanes store it at places of their own"] = {
    stored = function(k, states, word) k:st_shared_u32(k:address(states, (k:special "tid.x" & 1) << 2), word) end,
  },
} do
  if verdict(dispatch(as), "no-deadlock").verdict == "proved" then error("proved, and wrong: " .. what) end
end

--- A box of unknown size goes to 1024 bytes in front of a word that decides; before, after: bytes that its phase expects
--- before the copy and behind it.
local function beside(before, after)
  return wg.ptx { name = "beside.ptx", text = ([[
.version 8.3
.target sm_90a
.address_size 64
.visible .entry beside(.param .align 64 .b8 box[128])
.reqntid 32, 1, 1
{
  .reg .pred first, done, other; .reg .b32 tid, word, at; .reg .b64 map;
  .shared .align 1024 .b8 memory[4096];
  mov.b64 map, box; cvta.param.u64 map, map;
  mov.u32 tid, %%tid.x; mov.b32 at, memory;
  setp.eq.u32 first, tid, 0;
  @!first bra MEET;
  mbarrier.init.shared::cta.b64 [memory+2048], 1;
  st.shared.b32 [memory+1024], 0;
  fence.mbarrier_init.release.cluster;
  fence.proxy.async.shared::cta;
  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [memory+2048], %d;
  cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [at], [map, {0, 0}], [memory+2048];
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [memory+2048], %d;
MEET:
  bar.warp.sync -1;
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 done, [memory+2048], 0;
  @!done bra WAIT;
  ld.shared.b32 word, [memory+1024];
  setp.eq.u32 other, word, 0;
  @other bra LAST;
AGAIN:
  mbarrier.try_wait.parity.shared::cta.b64 done, [memory+2048], 1;
  @!done bra AGAIN;
LAST:
  ret;
}
]]):format(before, after) }[1]
end
check.equal(verdict(beside(1024, 0), "no-deadlock").verdict, "proved")
for what, bytes in pairs { ["over the word"] = { 1040, 0 }, ["by what is expected later"] = { 16, 1024 } } do
  if verdict(beside(table.unpack(bytes)), "no-deadlock").verdict == "proved" then error("proved, and wrong: " .. what) end
end
print "ok"
