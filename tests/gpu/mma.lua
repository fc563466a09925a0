-- Kernels of many wgmma forms on random bits, for the scripts of this folder.
--
-- A CTA is a sample: it copies 10 KiB of random words to where A's descriptors point and 34 KiB to where B's do, and
-- executes one wgmma of each form of the kernel on them. Whatever a layout, random words in it are a random matrix, so
-- layouts are plain data: a pair of descriptors for each sample.
local wg = require "wgrun"

local M = { a_bytes = 10240, b_bytes = 34816, c_words = 128 }

--- Types: k of a dense instruction, bits, and what makes random words of it finite numbers below 2 in magnitude,
--- subnormals and small exponents included. (word & keep | set)
M.types = {
  f16 = { k = 16, bits = 16, keep = 0xBFFFBFFF, set = 0 },
  bf16 = { k = 16, bits = 16, keep = 0xBFFFBFFF, set = 0x30003000 },
  tf32 = { k = 8, bits = 32, keep = 0xBFFFFFFF, set = 0x30000000 },
  e4m3 = { k = 32, bits = 8, keep = 0xBFBFBFBF, set = 0 },
  e5m2 = { k = 32, bits = 8, keep = 0xBFBFBFBF, set = 0 },
  s8 = { k = 32, bits = 8 },
  u8 = { k = 32, bits = 8 },
  b1 = { k = 256, bits = 1 },
  f32 = { bits = 32, keep = 0xBFFFFFFF, set = 0x30000000 },
  s32 = { bits = 32 },
}

local swizzles = { "none", "32B", "64B", "128B" }

--- Descriptors of sample s of an operand: swizzle s % 4, and what is legal around it. The start may lie inside a
--- swizzled line, atoms may follow each other along either dimension first, LBO is junk where the ISA calls it
--- unused; from sample 32 on a swizzled matrix starts in a later 128-byte row of the pattern, with its base offset.
--- Returns the 64 bits for a matrix at address 0, K-major and (16-bit types, else 0) MN-major.
local function descriptors(dtype, mn, k_bytes, s)
  local swizzle = swizzles[s % 4 + 1]
  local width = ({ none = 16, ["32B"] = 32, ["64B"] = 64, ["128B"] = 128 })[swizzle]
  local code = ({ none = 0, ["128B"] = 1, ["64B"] = 2, ["32B"] = 3 })[swizzle]
  local function fields(start, lbo, sbo) return start >> 4 | (lbo >> 4) << 16 | (sbo >> 4) << 32 | code << 62 end
  local odd = s // 4 % 2 == 1
  local k_major
  if swizzle == "none" then
    -- Units of a line are LBO apart, 8-row groups SBO: either may be the nearer one.
    k_major = odd and fields(0, mn // 8 * 128, 128) or fields(128, 128, k_bytes // 16 * 128)
  elseif width < k_bytes then
    k_major = fields(0, mn // 8 * 256, 256) -- 64 bytes of K over 32-byte lines: goes on at LBO
  else
    local steps = (width - k_bytes) // 32
    local row = s // 32 % 2 * (1 + s % 7)
    k_major = fields(steps * (odd and 32 or 0) + 128 * row, odd and 48 or 16, 8 * width) | row << 49
  end
  if dtype ~= "f16" and dtype ~= "bf16" then return k_major, 0 end
  local lines = k_bytes // 2 -- of K, 8 to an atom
  local atoms = math.max(1, mn * 2 // width)
  if swizzle == "none" then return k_major, odd and fields(0, 128, 256) or fields(0, atoms * 128, 128) end
  -- Whole atoms along M or N are LBO apart, along K SBO.
  if odd then return k_major, fields(0, lines * width, 8 * width) end
  return k_major, fields(0, 8 * width, atoms * 8 * width)
end

--- The tensors of a launch: args of M.kernel's kernels but the last.
--- f: { d =, a =, b =, sparse = }; n: the largest N.
function M.inputs(f, samples, seed)
  local function words(count, nth) return wg.randint { dtype = "u32", shape = { samples, count }, lo = 0, hi = 0xFFFFFFFF, seed = seed * 8 + nth } end
  local a_bytes = 32
  local b_bytes = f.sparse and 64 or 32
  local table_of = wg.zeros("u64", { samples, 4 })
  for s = 0, samples - 1 do
    local ak, am = descriptors(f.a, 64, a_bytes, s)
    local bk, bm = descriptors(f.b, 256, b_bytes, s // 4 % 8 + s // 32 * 32)
    for i, bits in ipairs { ak, am, bk, bm } do
      -- Exact in u64, and a Lua integer may be negative.
      table_of[{ s, i - 1 }] = bits & 0x7FFFFFFFFFFFFFFF
      if bits < 0 then table_of[{ s, i - 1 }] = (bits & 0x7FFFFFFFFFFFFFFF) + 2.0 ^ 63 end
    end
  end
  local metadata
  if f.sparse then
    local shape = { samples * 128, 2 * M.types[f.a].k }
    local random = M.types[f.a].keep and wg.randn { dtype = f.a, shape = shape, seed = seed }
      or wg.randint { dtype = f.a, shape = shape, lo = 0, hi = 100, seed = seed }
    metadata = select(2, wg.sparse.compress(wg.sparse.prune(random)))
  else
    metadata = wg.zeros("u32", { 2 * samples, 1, 128 })
  end
  return { words(M.a_bytes // 4, 0), words(M.b_bytes // 4, 1), words(M.c_words * 128, 2), metadata, table_of }
end

local function registers(form) return form.n // (form.d == "f16" and 4 or 2) end

--- Words of D of one form, one sample: a thread has its registers in groups of four.
function M.d_words(form) return (registers(form) + 3) // 4 * 512 end

local function masked(k, word, mask)
  if not mask.keep then return end
  k:and_b32(word, word, mask.keep)
  if mask.set ~= 0 then k:or_b32(word, word, mask.set) end
end

--- A kernel of `forms`, all of one d, a, b and density: option tables of wgmma_mma_async, with `scale_d` 0, 1 or
--- "true", "false" (a predicate), and registers = true where A comes from registers.
--- D holds for each sample the words of each form, one form after the other: [register / 4][thread][4].
function M.kernel(name, f, forms)
  local total = 0
  for _, form in ipairs(forms) do total = total + M.d_words(form) end
  return wg.kernel(name, { threads = 128 }, function(k)
    local A, B, C = k:param("A", "const u32*"), k:param("B", "const u32*"), k:param("C", "const u32*")
    local metadata, table_of, D = k:param("metadata", "const u32*"), k:param("descriptors", "const u64*"), k:param("D", f.d .. "*")
    local a = k:shared { name = "a", bytes = M.a_bytes, align = 1024 }
    local b = k:shared { name = "b", bytes = M.b_bytes, align = 1024 }
    local sample, tid = k:special "ctaid.x", k:special "tid.x"

    local function copy(to, from, bytes, mask)
      local address = k:mad_wide_u32(sample, bytes, k:mad_wide_u32(tid, 16, from))
      local at = k:mov(to, { type = "u32" }) + (tid << 4)
      local words = k:regs("b32", 4)
      k:loop(bytes // 2048, function()
        k:ld_global_v4_b32(words, address)
        for i = 0, 3 do masked(k, words[i], mask) end
        k:st_shared_v4_b32(at, words)
        k:add(address, address, 2048)
        k:add(at, at, 2048)
      end)
    end
    copy(a, A, M.a_bytes, M.types[f.a])
    copy(b, B, M.b_bytes, M.types[f.b])
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_sync(0)

    local fields = k:mad_wide_u32(sample, 32, table_of)
    local function descriptor(nth, buffer)
      local start = k:cvt_u64_u32(k:mov(buffer, { type = "u32" }) >> 4)
      return k:add_u64(k:ld_global_u64(fields, { offset = 8 * nth }), start)
    end
    local da = { [0] = descriptor(0, a), descriptor(1, a) }
    local db = { [0] = descriptor(2, b), descriptor(3, b) }

    local fragment = k:regs("b32", 4)
    k:ld_global_v4_b32(fragment, k:mad_wide_u32(sample, M.a_bytes, k:mad_wide_u32(tid, 16, A)))
    for i = 0, 3 do masked(k, fragment[i], M.types[f.a]) end
    local meta
    if f.sparse then
      -- The two pairs of lanes have different words, so that the selector matters.
      local at = k:mad_wide_u32(sample, 1024, k:mad_wide_u32(tid, 4, metadata))
      local first, second = k:ld_global_b32(at), k:ld_global_b32(at, { offset = 512 })
      meta = k:selp_b32(first, second, (tid & 2):eq(0))
    end

    local c_at = k:mad_wide_u32(sample, M.c_words * 512, k:mad_wide_u32(tid, 16, C))
    local d_at = k:mad_wide_u32(sample, total * 4, k:mad_wide_u32(tid, 16, D))
    local yes = tid:lt(1000)
    local at = 0
    for _, form in ipairs(forms) do
      local count = registers(form)
      local acc = k:regs(f.d == "f16" and "b32" or f.d, count)
      local function four(i) return { acc[i], acc[i + 1], acc[i + 2], acc[i + 3] } end
      for i = 0, count - 1, 4 do
        if count - i >= 4 then
          local words = k:ld_global_v4_b32(c_at, { offset = 512 * i })
          for j = 0, 3 do
            masked(k, words[j], M.types[f.d])
            k:mov(acc[i + j], words[j], { type = "b32" })
          end
        else
          for j = i, count - 1 do
            local word = k:ld_global_b32(c_at, { offset = 512 * i + 4 * (j - i) })
            masked(k, word, M.types[f.d])
            k:mov(acc[j], word, { type = "b32" })
          end
        end
      end
      local qualifiers = { n = form.n, d = f.d, a = f.a, b = f.b, scale_a = form.scale_a, scale_b = form.scale_b, trans_a = form.trans_a,
        trans_b = form.trans_b, satfinite = form.satfinite, op = form.op, sp_sel = form.sp_sel, scale_d = form.scale_d }
      if form.scale_d == "true" then qualifiers.scale_d = yes elseif form.scale_d == "false" then qualifiers.scale_d = ~yes end
      local of_a = form.registers and fragment or da[form.trans_a or 0]
      local of_b = db[form.trans_b or 0]
      k:wgmma_fence()
      if f.sparse then
        k:wgmma_mma_async_sp(acc, of_a, of_b, meta, qualifiers)
      else
        k:wgmma_mma_async(acc, of_a, of_b, qualifiers)
      end
      k:wgmma_commit_group()
      k:wgmma_wait_group(0)
      for i = 0, count - 1, 4 do
        local offset = 4 * at + 512 * i
        if count - i >= 4 then
          k:st_global_v4_b32(d_at, four(i), { offset = offset })
        else
          for j = i, count - 1 do k:st_global_b32(d_at, acc[j], { offset = offset + 4 * (j - i) }) end
        end
      end
      at = at + M.d_words(form)
    end
  end), total
end

--- A tensor for D: total words a sample.
function M.output(f, samples, total) return wg.zeros(f.d, { samples, total * (f.d == "f16" and 2 or 1) }) end

return M
