-- Where the results of wg.attention go: O through a stage of the queries, which are not needed any more, and the rows'
-- log-sum-exp.

local tensors = require "wgrun.attention.tensors"

local module = {}

--- What the consumer `me` does with the results of a tile. An object with
--- store(at, row): stores O, and lets the producer have the stage of the queries, now or later; `row` is the thread's
--- first row; free_queries_before(): lets it have that of the tile before, where that is later;
--- store_pairs(at, row, values, column): stores columns of O by the threads alone, from `column` on;
--- row(at): the thread's first row; store_lse(at, row, logarithm): stores the log-sum-exp of the thread's two rows;
--- finish(): to be called at the end.
function module.emit(me)
  local k, p, maps, buffers, sizes = me.k, me.p, me.maps, me.buffers, me.sizes
  local leader, mine, queries = me.leader, me.number, me.rings.q
  local output = {}

  -- A stage of the queries, in which O is stored, is free once the copy of O has read it. With two stages the copy has
  -- the time of the next tile's first block. Where O has panels of its own, each warp frees the queries after its last
  -- scores.
  local stored = p.query_stages > 1 and not p.fp8 and { stage = k:reg "u32" } or nil
  local any_stored = stored and k:mov(0, { type = "u32" })
  if stored then k:mov(stored.stage, 0) end
  local function wait_for_copies() k:cp_async_bulk_wait_group(0, { read = true, guard = leader }) end
  local function free_queries(cursor, guard)
    wait_for_copies()
    k:mbarrier_arrive(queries:empty_barrier(cursor), { guard = guard and leader & guard or leader })
  end
  function output.free_queries_before()
    if stored and not p.packed then free_queries(stored, any_stored:ne(0)) end
  end

  -- Where the rows of a head of a sequence are in O.
  local function rows_of(at)
    if p.packed then return { heads = p.heads, head = at.head, first = at.query_start, count = at.queries } end
    if p.layout == "bshd" then
      return { heads = p.heads, head = at.head, first = at.batch * sizes.queries, count = at.queries }
    end
    return { heads = 1, head = 0, first = (at.batch * p.heads + at.head) * sizes.queries, count = at.queries }
  end

  function output.store_pairs(at, row, values, column)
    local rows = rows_of(at)
    rows.column, rows.dim = column or p.split_columns and mine * p.columns or nil, p.value_dim
    tensors.store_pairs(k, p, values, maps.O, rows, row)
  end

  -- Packed sequences: pairs of elements by the threads, since a box of TMA would also have rows of the next sequence.
  local function store_packed(at, row)
    output.store_pairs(at, row, me.acc:slice(0, p.columns // 2))
    if p.fp8 then return end
    -- All warps have read the queries: their scores are complete.
    k:bar_sync(mine + (1 + p.consumers), { threads = 128 })
    k:mbarrier_arrive(queries:empty_barrier(me.query), { guard = leader })
  end

  function output.store(at, row)
    local first_row = at.row + (me.query_tile << 6)
    if p.packed then return store_packed(at, row) end
    local place, first = tensors.place(p), p.fp8 and mine * (p.panels * p.panel.bytes) or me.query.stage * p.q.bytes
    if p.split_columns then
      first = mine * (p.panels * p.panel.bytes)
      k:bar_sync(1 + 2 * p.consumers, { threads = 128 * p.consumers }) -- both have read the queries
    end
    local write = k:epilogue {
      panel = p.panel, map = maps.O, buffer = p.fp8 and buffers.o or buffers.q, buffers = p.panels,
      offset = first,
      barrier = mine + (1 + p.consumers), place = function(column, down) return place(column, at, down) end,
    }
    local column = p.split_columns and mine * p.columns or k:mov(0, { type = "u32" })
    write(me.acc:slice(0, p.columns // 2), first_row, column)
    if p.fp8 then return end
    if not stored then return free_queries(me.query) end
    k:mov(stored.stage, me.query.stage)
    k:mov(any_stored, 1)
  end

  function output.row(at) return (me.query_tile << 6) + (((me.thread >> 5 & 3) << 4) + (me.lane >> 2)) + at.row end

  function output.store_lse(at, row, logarithm)
    for half = 0, 1 do
      local inside = row + 8 * half
      local function writes() -- of consumers with the same rows the first one
        local first_lane = (me.lane & 3):eq(0)
        return p.split_columns and first_lane & mine:eq(0) or first_lane
      end
      local place = p.packed and at.head * sizes.total + at.query_start + inside
        or (at.batch * p.heads + at.head) * sizes.queries + inside
      k:st_global_f32(
        k:element(sizes.lse, place), logarithm[half], { guard = writes() & inside:lt(at.queries) })
    end
  end

  function output.finish()
    if not (p.packed or p.splits > 1) then wait_for_copies() end
  end
  return output
end

return module
