-- The work of wg.attention_decode in equal shares: how much there is depends on lengths that only the device knows.
--
-- The blocks of keys of all sequences and heads of K and V stand in one list, sequence by sequence and head by head. Each CTA takes
-- a stretch of it, as long as the others but for a block or at the end of the list, so that it works on the end of one head, some
-- whole ones, and the beginning of another: its pieces. CTAs may also form teams, each of which takes a stretch of a list that counts `together` heads as one: the team's
-- CTAs then read heads that lie side by side in memory at about the same time.

return function(internal)
  local function u32(k, value) return k:mov(value, { type = "u32" }) end

  -- Stretches of fewer blocks are all of the greatest length, as far as the list goes: the longest one decides, and fewer CTAs share
  -- fewer heads. Memory is the limit of longer ones, and all SMs should read to the end.
  local least_even = 32

  -- The list: its length, the CTA's stretch of it, and who has which block.
  local function shares(k, p, sizes, lane)
    local work = { id = k:special "ctaid.x" }
    local team = k:div(work.id, sizes.together)
    local teams = k:div(k:special "nctaid.x", sizes.together)
    work.member = work.id - team * sizes.together
    work.head_groups = k:div(u32(k, p.kv_heads), sizes.together)

    k:griddepcontrol_wait() -- what comes before it needs nothing from the launch before
    -- Nobody but the device knows the lengths: one that cannot be is cut, so that all accesses stay within the tensors. They are no
    -- ld.global.nc, which ptxas may move before the wait.
    function work.length_of(batch) return k:min(k:ld_global_u32(k:element(sizes.lengths, batch)), sizes.keys) end
    -- An empty sequence has a block, too: its result is 0, which somebody has to write.
    function work.blocks_of(length) return k:max(internal.divided(k, length + (p.block - 1), p.block), 1) end

    --- The blocks of the sequences with the given numbers, 0 behind the last one. All lengths are asked for before the first is used.
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
    local mine = u32(k, work.first_blocks)
    k:loop({ from = lane + 32, to = sizes.batches, step = 128 }, function(number)
      for _, blocks in ipairs(work.blocks_of_sequences { number, number + 32, number + 64, number + 96 }) do k:add(mine, mine, blocks) end
    end)
    local total = k:redux_sync_add_u32(mine) * work.head_groups
    local share = k:div(total, teams)
    local longer = total - share * teams -- teams that have a block more
    local rounded = share:lt(least_even) & longer:gt(0)
    k:add(share, share, 1, { guard = rounded })
    k:mov(longer, 0, { guard = rounded })
    work.from = k:min(team * share + k:min(team, longer), total)
    work.count = u32(k, share)
    k:add(work.count, work.count, 1, { guard = team:lt(longer) })
    k:min(work.count, work.count, total - work.from)
    k:mov(work.count, 0, { guard = team:ge(teams) }) -- CTAs that are left over

    --- The team that has block x of the list.
    function work.owner(x)
      local long, owner = longer * (share + 1), k:reg "u32"
      k:if_(x:lt(long), function() k:div(owner, x, share + 1) end, function() k:add(owner, longer, k:div(x - long, share)) end)
      return owner
    end
    return work
  end

  -- The sequence in which block `work.from` of the list lies, and the blocks of all sequences before it. The warp looks at 32
  -- sequences at a time.
  local function find_batch(k, sizes, work, lane)
    local batch, before, first, searching = u32(k, 0), u32(k, 0), u32(k, 0), u32(k, 1)
    local blocks = u32(k, work.first_blocks)
    k:while_(function() return searching:ne(0) & first:lt(sizes.batches) end, function()
      local upto = internal.prefix_sums(k, blocks, lane)
      local passed = u32(k, k:popc(k:vote_sync_ballot(((before + upto) * work.head_groups):le(work.from))))
      local skipped, all = k:reg "u32", k:reg "u32"
      k:shfl_sync_idx_b32(skipped, upto - blocks, passed, 31)
      k:shfl_sync_idx_b32(all, upto, 31, 31)
      k:if_(passed:lt(32), function()
        k:add(batch, first, passed)
        k:add(before, before, skipped)
        k:mov(searching, 0)
      end, function()
        k:add(before, before, all)
        k:add(first, first, 32)
        k:mov(blocks, work.blocks_of_sequences({ first + lane })[1])
      end)
    end)
    return batch, before
  end

  --- The CTA's share of the work, which all its warps compute alike.
  --- @param p table  the plan
  --- @param sizes table  the kernel's parameters: lengths, keys (the most that a sequence can have), batches, together
  --- @param lane reg  u32
  --- @return table  each_piece(body) calls body(at, count) for each piece, with its place `at`: the sequence `batch`, its
  ---   `length`, the `head` of K and V and its number of `blocks`; `count` blocks from `block` on are the piece.
  ---   slots(at) says where the parts of a head are kept that several CTAs work on: this CTA's own slot, the number of parts and
  ---   slot_of(part)
  function internal.attention_decode_work(k, p, sizes, lane)
    local work = shares(k, p, sizes, lane)
    local names, first = { "batch", "length", "blocks", "head", "block", "left" }, {}
    for _, name in ipairs(names) do first[name] = u32(k, name == "left" and work.count or 0) end
    local batch, before = find_batch(k, sizes, work, lane)

    local function enter(at, number)
      k:mov(at.batch, number)
      k:mov(at.length, work.length_of(number))
      k:mov(at.blocks, work.blocks_of(at.length))
    end

    k:if_(first.left:gt(0), function()
      enter(first, batch)
      local inside = work.from - before * work.head_groups
      local group = k:div(inside, first.blocks)
      k:sub(first.block, inside, group * first.blocks)
      k:add(first.head, group * sizes.together, work.member)
    end)

    function work.each_piece(body)
      local at = {}
      for _, name in ipairs(names) do at[name] = u32(k, first[name]) end
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
    end

    -- A CTA has at most two pieces of heads that it shares: of one that began before its stretch, which goes to slot 2 id,
    -- and of one that goes on behind it, in slot 2 id + 1. All CTAs of a head but the first one thus have it in their even slot.
    function work.slots(at)
      local done = work.count - at.left
      local own = work.id << 1
      k:add(own, own, 1, { guard = at.block:le(done) })
      local start = work.from + done - at.block
      local from = work.owner(start)
      local parts = work.owner(start + (at.blocks - 1)) - from + 1
      local function slot_of(part)
        local slot = ((from + part) * sizes.together + work.member) << 1
        k:add(slot, slot, 1, { guard = part:eq(0) })
        return slot
      end
      return own, parts, slot_of
    end
    return work
  end
end
