-- The scheduler of wg.attention_decode: equal shares of its work, which depends on lengths that only the device knows.
--
-- The blocks of keys of all sequences and heads of K and V stand in one list, sequence by sequence and head by head. It
-- is cut into stretches. A stretch has the end of one head, some whole heads, and the beginning of another: these are
-- its work units. CTAs form teams. A team takes stretches of a list that counts `together` heads as one: its CTAs read
-- heads that lie side by side in memory at about the same time.
--
-- Stretches are dealt in rounds, so that what all CTAs read at a time lies in one region of K and V
-- (docs/experiments/decoding.md). In the first rounds each team has as many blocks as the longest head; in the last
-- one all have equal shares of what is left. Where all sequences are equally long, only the last round cuts heads.

local division = require "wgrun.builder.division"
local warps = require "wgrun.builder.warp"

local module = {}

local function u32(k, value) return k:mov(value, { type = "u32" }) end

-- Stretches of fewer blocks are all of the greatest length, as far as the list goes: the longest one decides, and fewer
-- CTAs share fewer heads. Memory is the limit of longer ones, and all SMs should read to the end. Shorter heads are not
-- dealt in rounds.
local least_even = 32

-- The team's CTAs, and the list: its blocks, and how they belong to sequences. A cluster counts as one CTA here.
local function list(k, p, sizes, lane)
  local cluster = p.cluster or 1
  local work, id = {}, division.divided(k, k:special "ctaid.x", cluster)
  work.team = k:div(id, sizes.together)
  work.teams = k:div(division.divided(k, k:special "nctaid.x", cluster), sizes.together)
  work.member = id - work.team * sizes.together
  work.head_groups = k:div(u32(k, p.kv_heads), sizes.together)

  k:griddepcontrol_wait() -- what comes before it needs nothing from the launch before
  -- Nobody but the device knows the lengths: one that cannot be is cut, so that all accesses stay within the tensors.
  -- They are no ld.global.nc, which ptxas may move before the wait.
  function work.length_of(batch) return k:min(k:ld_global_u32(k:element(sizes.lengths, batch)), sizes.keys) end
  -- An empty sequence has a block, too: its result is 0, which somebody has to write.
  function work.blocks_of(length) return k:max(division.divided(k, length + (p.block - 1), p.block), 1) end

  --- The blocks of the sequences with the given numbers, 0 behind the last one. All lengths are asked for before the
  --- first is used.
  function work.blocks_of_sequences(numbers)
    local lengths, blocks = {}, {}
    for i, number in ipairs(numbers) do
      lengths[i] = u32(k, 0)
      k:ld_global_u32(lengths[i], k:element(sizes.lengths, number), { guard = number:lt(sizes.batches) })
    end
    for i, number in ipairs(numbers) do
      blocks[i] = k:selp_b32(work.blocks_of(k:min(lengths[i], sizes.keys)), 0, number:lt(sizes.batches))
    end
    return blocks
  end

  work.first_blocks = work.blocks_of_sequences({ lane })[1]
  local mine, longest = u32(k, work.first_blocks), u32(k, work.first_blocks)
  k:loop({ from = lane + 32, to = sizes.batches, step = 128 }, function(number)
    for _, blocks in ipairs(work.blocks_of_sequences { number, number + 32, number + 64, number + 96 }) do
      k:add(mine, mine, blocks)
      k:max(longest, longest, blocks)
    end
  end)
  work.total, work.longest = k:redux_sync_add_u32(mine) * work.head_groups, k:redux_sync_max_u32(longest)
  return work
end

-- Cuts the list: where a stretch begins, and who has which block.
local function cut(k, p, sizes, work)
  local teams, total = work.teams, work.total
  -- The first rounds: `regular` stretches of `whole` blocks, of several heads where there is no place for the parts of
  -- more rounds.
  local whole, regular = u32(k, work.longest), u32(k, 0)
  k:if_(sizes.rounds:gt(1) & work.longest:ge(least_even), function()
    k:mul(whole, whole, k:div(k:div(total, teams * work.longest), sizes.rounds) + 1)
    k:mul(regular, k:div(total, teams * whole), teams)
  end)
  -- The last round: its stretches have `share` blocks, and the first ones, `longer` of them, one more.
  local first_of_last = regular * whole
  local left = total - first_of_last
  local share = k:div(left, teams)
  local longer = left - share * teams
  local one_more = share:lt(least_even) & longer:gt(0)
  -- Rather a few teams without a stretch than heads in parts.
  local nearly_whole = share:lt(whole) & (whole - share):le(k:max(whole >> 5, p.split_cost or 0))
  k:add(share, share, 1, { guard = one_more })
  k:mov(share, whole, { guard = nearly_whole })
  k:mov(longer, 0, { guard = one_more | nearly_whole })

  --- Calls body(stretch, from, count) for each stretch of the CTA's team, with its first block in the list and its
  --- blocks.
  function work.each_stretch(body)
    local stretches = regular + teams
    local stretch = k:selp_b32(work.team, stretches, work.team:lt(teams)) -- CTAs that are left over have none
    k:while_(function() return stretch:lt(stretches) end, function()
      local from, count = u32(k, stretch * whole), u32(k, whole)
      k:if_(stretch:ge(regular), function()
        local number = stretch - regular
        k:min(from, first_of_last + number * share + k:min(number, longer), total)
        k:mov(count, share)
        k:add(count, count, 1, { guard = number:lt(longer) })
        k:min(count, count, total - from)
      end)
      body(stretch, from, count)
      k:add(stretch, stretch, teams)
    end)
  end

  --- The stretch that has block x of the list.
  function work.owner(x)
    local owner = k:reg "u32"
    k:if_(x:lt(first_of_last), function() k:div(owner, x, whole) end, function()
      local inside, long = x - first_of_last, longer * (share + 1)
      k:if_(inside:lt(long), function() k:add(owner, regular, k:div(inside, share + 1)) end, function()
        k:add(owner, regular + longer, k:div(inside - long, share))
      end)
    end)
    return owner
  end
end

-- Returns find(x): the sequence in which block x of the list lies, and the blocks of all sequences before it, for
-- numbers x that do not become smaller. The warp looks at 32 sequences at a time.
local function searcher(k, sizes, work, lane)
  local before, first, blocks = u32(k, 0), u32(k, 0), u32(k, work.first_blocks)
  return function(x)
    local batch, blocks_before, searching = u32(k, 0), u32(k, 0), u32(k, 1)
    k:while_(function() return searching:ne(0) & first:lt(sizes.batches) end, function()
      local upto = warps.prefix_sums(k, blocks, lane)
      local passed = u32(k, k:popc(k:vote_sync_ballot(((before + upto) * work.head_groups):le(x))))
      local skipped, all = k:reg "u32", k:reg "u32"
      k:shfl_sync_idx_b32(skipped, upto - blocks, passed, 31)
      k:shfl_sync_idx_b32(all, upto, 31, 31)
      k:if_(passed:lt(32), function()
        k:add(batch, first, passed)
        k:add(blocks_before, before, skipped)
        k:mov(searching, 0)
      end, function()
        k:add(before, before, all)
        k:add(first, first, 32)
        k:mov(blocks, work.blocks_of_sequences({ first + lane })[1])
      end)
    end)
    return batch, blocks_before
  end
end

--- The CTA's share of the work, which all its warps compute alike.
--- @param p table  the plan
--- @param sizes table  the kernel's parameters: lengths, keys (the most that a sequence can have), batches, together,
---   rounds (the most)
--- @param lane reg  u32
--- @return table  each_unit(body) calls body(at, count) for each work unit, with its place `at`: the sequence `batch`,
---   its `length`, the `head` of K and V and its number of `blocks`; `count` blocks from `block` on are the work unit.
---   All lanes execute it. slots(at) returns where the parts of a head are kept that several stretches have: this one's
---   own slot, the number of parts, slot_of(part), and the number of this one's part
function module.emit(k, p, sizes, lane)
  local work = list(k, p, sizes, lane)
  cut(k, p, sizes, work)

  local function enter(at, number)
    k:mov(at.batch, number)
    k:mov(at.length, work.length_of(number))
    k:mov(at.blocks, work.blocks_of(at.length))
  end

  -- Goes to where a stretch begins.
  local function begin(at, find)
    local batch, before = find(at.from)
    enter(at, batch)
    local inside = at.from - before * work.head_groups
    local group = k:div(inside, at.blocks)
    k:sub(at.block, inside, group * at.blocks)
    k:add(at.head, group * sizes.together, work.member)
  end

  function work.each_unit(body)
    local at, find = {}, searcher(k, sizes, work, lane)
    for _, name in ipairs { "batch", "length", "blocks", "head", "block", "stretch", "from", "count", "left" } do
      at[name] = u32(k, 0)
    end
    work.each_stretch(function(stretch, from, blocks)
      k:mov(at.stretch, stretch)
      k:mov(at.from, from)
      for _, name in ipairs { "count", "left" } do k:mov(at[name], blocks) end
      k:if_(blocks:gt(0), function() begin(at, find) end)
      k:while_(function() return at.left:gt(0) end, function()
        local count = k:min(at.blocks - at.block, at.left)
        body(at, count)
        k:sub(at.left, at.left, count)
        k:mov(at.block, 0)
        k:add(at.head, at.head, sizes.together)
        k:if_(at.head:ge(p.kv_heads) & at.left:gt(0), function()
          enter(at, at.batch + 1)
          k:mov(at.head, work.member)
        end)
      end)
    end)
  end

  -- A stretch has at most two units of heads that it shares: of one that began before it, which goes to its even slot,
  -- and of one that goes on behind it, in the odd one. All stretches of a head but the first one thus have it in their
  -- even slot.
  function work.slots(at)
    local done = at.count - at.left
    local function slot_in(stretch) return (stretch * sizes.together + work.member) << 1 end
    local own = slot_in(at.stretch)
    k:add(own, own, 1, { guard = at.block:le(done) })
    local start = at.from + done - at.block
    local from = work.owner(start)
    local parts = work.owner(start + (at.blocks - 1)) - from + 1
    local function slot_of(part)
      local slot = slot_in(from + part)
      k:add(slot, slot, 1, { guard = part:eq(0) })
      return slot
    end
    return own, parts, slot_of, at.stretch - from
  end
  return work
end

return module
