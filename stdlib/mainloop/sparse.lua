-- The main loop of a 2:4 sparse A. Half of A is stored, and the indices of what is stored: the metadata of
-- wgmma.mma_async.sp (PTX ISA 9.7.15.6). All else is as for a dense A (mainloop/dense.lua); here is how metadata get
-- from global memory to the registers of the threads that wgmma takes them from.
--
--   producer    a bulk copy for each 64 rows of a tile, into the stage that has their A
--   consumer    a load of 32 bits for each word, after it has waited for the stage
--   wgmma       reads the words from registers until it is complete: two stages in turn have a set of registers each
--
-- For that the words are stored in the order in which threads want them: those of 64 rows follow each other along K,
-- 128 at a time, one for each thread of a warpgroup. 16-bit types and tf32 need the words of only two lanes of four for
-- an instruction: the other two hold those of the next instruction, which selects them by sp_sel. K is filled up to
-- whole rounds of the two sets, so that a copy never ends behind the last word.

local arguments = require "wgrun.arguments"
local division = require "wgrun.builder.division"
local roofline = require "wgrun.cost.roofline"
local dense = require "wgrun.mainloop.dense"
local native = require "wgrun.native"

local fail, word_bytes = native.fail, 4
local sparse = setmetatable({}, { __index = dense })
sparse.packed = 2

--- The shape of the metadata of an M x K matrix: blocks of 64 rows, words along K, threads.
function sparse.metadata_shape(dtype, M, K)
  local bytes = native.element_bytes[dtype]
  return { roofline.ceil_div(M, 64), roofline.ceil_div(K * bytes, 256) * (bytes == 1 and 4 or 2), 128 }
end

-- The rounds of a sparse A take two blocks of K, since the registers with the indices of a block must not change before
-- its product is complete.
function sparse.plan(p)
  local bytes = native.element_bytes[p.dtype]
  if p.a_major ~= "K" then fail(p.what .. ": a sparse A must be K-major") end
  if p.block_k * bytes ~= 128 then
    fail(("%s: tile[3] is %d, must be %d for a sparse A"):format(p.what, p.block_k, 128 // bytes))
  end
  p.round_k = 2 * p.block_k
  p.metadata_words = bytes == 1 and 2 or 1 -- of a thread, for 64 rows of a block of K
  p.metadata_bytes = p.m // 64 * 512 * p.metadata_words -- of a stage
end

function sparse.more_bytes(p) return p.metadata_bytes end

function sparse.parameters(p, add)
  add {
    name = "metadata", type = "const u32*", note = 'of wg.sparse.compress(A, "gemm"), as the values',
    value = function(l)
      arguments.same_shape("gemm: metadata", l.given.metadata, sparse.metadata_shape(p.dtype, l.M, l.K))
      return l.given.metadata
    end,
  }
end

-- The ring goes round in whole rounds; TMA fills in zeros.
function sparse.sizes(k, p, sizes) sizes.K = division.divided(k, sizes.K + (p.round_k - 1), p.round_k) * p.round_k end

function sparse.shared(k, p)
  return { metadata = k:shared { bytes = p.stages * p.metadata_bytes, align = 128, name = "metadata" } }
end

-- The producer's part: with_a(row) returns copy(first_k, stage, barrier, from, to), which copies the words of the
-- tile's blocks of 64 rows from..to (from 0), and of one block of K. Blocks below the matrix, whose A is zeros, get the
-- words of its last one.
local function copy_metadata(k, p, buffer, sizes)
  local start, piece = k:address(buffer), p.metadata_words * 128 -- words of 64 rows in a stage
  local last = (sizes.M + 63 >> 6) - 1
  local per_block = division.divided(k, sizes.K, p.block_k) * piece
  return function(row)
    local block, of_blocks = k:shr(row, 6), {}
    for i = 0, p.m // 64 - 1 do of_blocks[i] = k:min(i == 0 and block or block + i, last) * per_block end
    return function(first_k, stage, barrier, from, to)
      local first, at = division.divided(k, first_k, p.block_k) * piece, start + stage * p.metadata_bytes
      for i = from, to do
        k:cp_async_bulk(
          i == 0 and at or at + i * piece * word_bytes, k:element(sizes.metadata, of_blocks[i] + first),
          piece * word_bytes, barrier)
      end
    end
  end
end

function sparse.producer(g, copies)
  local with_a = copies.A and copy_metadata(g.k, g.p, g.buffers.metadata, g.sizes)
  return { with_a = with_a, bytes = 0, bytes_with_a = g.p.metadata_bytes }
end

--- The consumer's part, for its share of `blocks` blocks of 64 rows: load(set, stage) loads the thread's words of a
--- stage, and returns the
-- function for `multiply` that gives the register and the selector for a block of 64 rows and a step. A set of
-- registers must not be loaded again before the products that read it are complete.
function sparse.load_metadata(k, p, buffer, mine, blocks)
  local lane = k:special "tid.x" & 127
  local from = k:address(buffer, lane << 2)
  local words, piece = p.metadata_words, p.metadata_words * 128 * word_bytes
  if mine then from = from + mine * (blocks * piece) end
  local sets = {}
  for set = 1, p.round_k // p.block_k do sets[set] = k:regs("b32", blocks * words) end
  return function(set, stage)
    local at = from + stage * p.metadata_bytes
    for i = 0, blocks * words - 1 do k:ld_shared_b32(sets[set][i], at, { offset = 128 * word_bytes * i }) end
    -- One lane releases the stage for its warp, and the copy that overwrites the words is one of the async proxy.
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_warp_sync(0xFFFFFFFF)
    return function(block, step)
      local first = (block - 1) * words
      if words == 2 then return sets[set][first + step], 0 end
      return sets[set][first], step
    end
  end
end

return sparse
