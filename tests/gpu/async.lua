-- Copies by threads and by the bulk-copy engine on the chip beside the simulator, bit for bit: cp.async, st.async,
-- red.async, boxes narrower than their swizzle, what a box has outside of its tensor.
--   wgrun tests/gpu/async.lua [PART...]     parts: copy peer narrow fill
-- Without a device the simulator stands in the chip's place, and only what is known beforehand is compared.
-- Exit code 5 when one case differs.
local wg = require "wgrun"
local beside = dofile((arg[0]:match ".*/" or "") .. "beside.lua")

local parts = {}
for _, part in ipairs(arg) do parts[part] = true end
local function chosen(part) return #arg == 0 or parts[part] end

-- The coordinates of element i, from the last dimension on.
local function coordinates(t, i)
  local out = {}
  for d = #t.shape, 1, -1 do
    out[d] = i % t.shape[d]
    i = i // t.shape[d]
  end
  return out
end

-- Runs the kernel on both; `make` gives fresh arguments, of which the last is compared, `want(i)` says what element i
-- must be, if that is known beforehand.
local function compare(name, kernel, grid, make, want)
  local results = beside.run(name, kernel, grid, make)
  if not results then return end
  results[2] = results[2] or results[1]
  local differ, first = 0, nil
  for i = 0, #results[1] - 1 do
    local at = coordinates(results[1], i)
    local x, y = results[1][at], results[2][at]
    if x ~= y or want and want(i) and x ~= want(i) then
      differ = differ + 1
      first = first or ("%d: %s, simulator %s%s"):format(i, x, y, want and want(i) and (", expected %s"):format(want(i)) or "")
    end
  end
  if differ > 0 then beside.wrongly("DIFFERS", "%s: %d of %d words; first %s", name, differ, #results[1], first) end
end

local function words(count, seed) return wg.randint { shape = { count }, dtype = "u32", lo = 0, hi = 0xFFFFFFFF, seed = seed } end

-- All words of a buffer to `out`, by the threads of a CTA.
local function dump(k, buffer, bytes, out, threads, cta)
  local thread, start = k:special "tid.x", k:mov(buffer, { type = "u32" })
  for i = 0, bytes // 4 // threads - 1 do
    local word = thread + i * threads
    k:st_global_u32(k:element(out, cta and cta * (bytes // 4) + word or word), k:ld_shared_u32(k:mad_lo_u32(word, 4, start)))
  end
end
-- Every word of a buffer is 0xEEEEEEEE.
local function paint(k, buffer, bytes, threads)
  local thread, start, paint = k:special "tid.x", k:mov(buffer, { type = "u32" }), k:mov(0xEEEEEEEE, { type = "u32" })
  for i = 0, bytes // 4 // threads - 1 do k:st_shared_u32(k:mad_lo_u32(thread + i * threads, 4, start), paint) end
end
local function mbarrier(k, arrivals)
  local made = k:shared { bytes = 8, align = 8, name = "mbarrier" }
  k:if_(k:special("tid.x"):eq(0), function()
    k:mbarrier_init(made, arrivals)
    k:fence_mbarrier_init()
  end)
  return made
end

-- --- cp.async ---------------------------------------------------------------------------------------------------

local threads = 128
if chosen "copy" then
  for _, size in ipairs { 4, 8, 16 } do
    for _, form in ipairs { "ca", "cg" } do
      for _, how in ipairs { "whole", "part", "ignored", "groups", "all", "mbarrier", "counted" } do
        if form == "ca" or size == 16 then
          local bytes = threads * 16 * 2
          local kernel = wg.kernel("copy", { threads = threads }, function(k)
            local X, out = k:param("X", "const u32*"), k:param("out", "u32*")
            local tile = k:shared { bytes = bytes, align = 16, name = "tile" }
            local thread = k:special "tid.x"
            paint(k, tile, bytes, threads)
            local barrier = mbarrier(k, how == "counted" and 1 or threads)
            k:bar_sync(0)
            -- Two copies a thread: its own place in each half. Neighbours read what lies 5 places on.
            local start = k:mov(tile, { type = "u32" })
            for half = 0, 1 do
              local to = k:mad_lo_u32(thread, 16, start + half * (bytes // 2))
              local from = k:element(X, ((thread + 5 * half) & (threads - 1)) * 4)
              local options = { cop = form, bytes = size }
              if how == "part" then options.src_size = k:rem_u32(thread + half, size + 1) end
              if how == "ignored" then
                k:cp_async_ignore_src(to, from, ((thread + half) & 1):eq(1), options)
              else
                k:cp_async(to, from, options)
              end
              if how == "groups" then k:cp_async_commit_group() end
            end
            if how == "groups" then
              k:cp_async_wait_group(1)
              k:cp_async_wait_group(0)
            elseif how == "mbarrier" or how == "counted" then
              k:cp_async_mbarrier_arrive(barrier, { noinc = how == "mbarrier" and 1 or 0 })
              if how == "counted" then
                k:bar_sync(0)
                k:mbarrier_arrive(barrier, { guard = thread:eq(0) })
              end
              k:mbarrier_wait(k:address(barrier), 0)
            else
              k:cp_async_wait_all()
            end
            k:bar_sync(0)
            dump(k, tile, bytes, out, threads)
          end)
          local X = words(threads * 4, size)
          compare(("cp.async.%s of %d bytes, %s"):format(form, size, how), kernel, { 1 },
            function() return { X, wg.zeros("u32", { bytes // 4 }) } end,
            function(i)
              local half, thread, word = i // (threads * 4), i // 4 % threads, i % 4
              if word * 4 >= size then return 0xEEEEEEEE end
              local from = X[(thread + 5 * half) % threads * 4 + word]
              if how == "ignored" then return (thread + half) % 2 == 1 and 0 or from end
              if how ~= "part" then return from end
              local left = (thread + half) % (size + 1) - 4 * word
              return left <= 0 and 0 or left >= 4 and from or from & (1 << 8 * left) - 1
            end)
        end
      end
    end
  end
end

-- --- st.async and red.async -------------------------------------------------------------------------------------

if chosen "peer" then
  for _, ctas in ipairs { 2, 4 } do
    -- Each thread stores into the CTA after its own, and reduces there.
    for _, what in ipairs {
      "st_async_b32", "st_async_v2_b32", "st_async_v4_f32", "st_async_b64", "st_async_v2_s64",
      "red_async_add_u32", "red_async_add_s32", "red_async_add_u64", "red_async_add_s64", "red_async_min_u32", "red_async_min_s32", "red_async_max_u32",
      "red_async_max_s32", "red_async_inc_u32", "red_async_dec_u32", "red_async_and_b32", "red_async_or_b32", "red_async_xor_b32",
    } do
      local store = what:match "^st"
      local width = what:match "64$" and 8 or 4
      local count = tonumber(what:match "_v(%d)") or 1
      local bytes = threads * 16
      local kernel = wg.kernel("peer", { threads = threads, cluster = { ctas } }, function(k)
        local X, out = k:param("X", "const u32*"), k:param("out", "u32*")
        local tile = k:shared { bytes = bytes, align = 16, name = "tile" }
        local thread, rank = k:special "tid.x", k:special "cluster_ctarank"
        paint(k, tile, bytes, threads)
        local barrier = mbarrier(k, 1)
        k:bar_sync(0)
        k:mbarrier_arrive_expect_tx(barrier, threads * width * count, { guard = thread:eq(0) })
        k:barrier_cluster_arrive()
        k:barrier_cluster_wait()
        local peer = (rank + 1) & (ctas - 1)
        -- Stores go to a place of their own; of reductions eight threads share one.
        local place = k:mad_lo_u32(store and thread or thread & 15, 16, k:mov(tile, { type = "u32" }))
        local values = {}
        for i = 1, count do
          local at = k:mad_wide_u32((rank * threads + thread) * 4, 4, X)
          values[i] = k["ld_global_" .. what:match "[^_]+$"](k, at, { offset = (i - 1) * width })
          -- inc and dec wrap at their operand: with different ones the result depends on the order.
          if what:match "_inc_" or what:match "_dec_" then values[i] = k:mov(5, { type = "u32" }) end
        end
        k[what](k, k:mapa(place, peer), count > 1 and values or values[1], k:mapa(k:address(barrier), peer))
        k:mbarrier_wait(k:address(barrier), 0)
        dump(k, tile, bytes, out, threads, rank)
        k:barrier_cluster_arrive()
        k:barrier_cluster_wait()
      end)
      local X = words(ctas * threads * 4, ctas)
      compare(("%s, cluster of %d"):format(what, ctas), kernel, { ctas },
        function() return { X, wg.zeros("u32", { ctas * bytes // 4 }) } end,
        store and function(i)
          local rank, thread, word = i // (threads * 4), i // 4 % threads, i % 4
          return word * 4 < width * count and X[((rank + ctas - 1) % ctas * threads + thread) * 4 + word] or 0xEEEEEEEE
        end)
    end
  end
end

-- --- boxes ------------------------------------------------------------------------------------------------------

local sizes = { u8 = 1, s8 = 1, e4m3 = 1, f16 = 2, bf16 = 2, tf32 = 4, f32 = 4, s32 = 4, u32 = 4, f64 = 8 }

-- A tensor of random bits, seen as `dtype`.
local function random(dtype, shape, seed)
  local t = wg.zeros(dtype, shape)
  local state = seed
  local function next()
    state = (state * 6364136223846793005 + 1442695040888963407)
    return (state >> 40) % 200 - 100
  end
  for i = 0, #t - 1 do t[coordinates(t, i)] = dtype:match "^u" and next() + 100 or next() end
  return t
end

-- A box comes to shared memory that was painted before; all of it is looked at.
local function load_box(name, dtype, shape, box, swizzle, at, nan)
  local bytes, full = 8192, sizes[dtype]
  for _, extent in ipairs(box) do full = full * extent end
  local kernel = wg.kernel("load", { threads = threads }, function(k)
    local map = k:tensor_map("X", { dtype = dtype, box = box, swizzle = swizzle, nan_fill = nan, constant = true })
    local out = k:param("out", "u32*")
    local tile = k:shared { bytes = bytes, align = 1024, name = "tile" }
    paint(k, tile, bytes, threads)
    local barrier = mbarrier(k, 1)
    k:fence_proxy_async()
    k:bar_sync(0)
    k:if_(k:special("tid.x"):eq(0), function()
      k:mbarrier_arrive_expect_tx(barrier, full)
      local where = {}
      for d, x in ipairs(at) do where[d] = k:mov(x, { type = "s32" }) end
      k["cp_async_bulk_tensor_" .. #box .. "d"](k, tile, map, where, barrier)
    end)
    k:mbarrier_wait(k:address(barrier), 0)
    dump(k, tile, bytes, out, threads)
  end)
  local X = random(dtype, shape, #name)
  compare(name, kernel, { 1 }, function() return { X, wg.zeros("u32", { bytes // 4 }) } end)
end

-- The other way: shared memory of which each word tells its place.
local function store_box(name, dtype, shape, box, swizzle, at)
  local bytes = 8192
  local kernel = wg.kernel("store", { threads = threads }, function(k)
    local map = k:tensor_map("Y", { dtype = dtype, box = box, swizzle = swizzle })
    local tile = k:shared { bytes = bytes, align = 1024, name = "tile" }
    local thread, start = k:special "tid.x", k:mov(tile, { type = "u32" })
    for i = 0, bytes // 4 // threads - 1 do
      local word = thread + i * threads
      k:st_shared_u32(k:mad_lo_u32(word, 4, start), k:mad_lo_u32(word, 0x00020002, k:mov(0x00010000, { type = "u32" })))
    end
    k:fence_proxy_async()
    k:bar_sync(0)
    k:if_(thread:eq(0), function()
      local where = {}
      for d, x in ipairs(at) do where[d] = k:mov(x, { type = "s32" }) end
      k["cp_async_bulk_tensor_store_" .. #box .. "d"](k, map, where, tile)
      k:cp_async_bulk_commit_group()
      k:cp_async_bulk_wait_group(0)
    end)
  end)
  compare(name, kernel, { 1 }, function() return { wg.zeros(dtype, shape) } end)
end

local widths = { none = 16, ["32B"] = 32, ["64B"] = 64, ["128B"] = 128 }
if chosen "narrow" then
  for _, dtype in ipairs { "u8", "bf16", "f32" } do
    for _, swizzle in ipairs { "none", "32B", "64B", "128B" } do
      for _, row in ipairs { 16, 32, 48, 64, 96, 112 } do
        if swizzle == "none" or row <= widths[swizzle] then
          local inner, columns = row // sizes[dtype], 256 // sizes[dtype]
          for _, rows in ipairs(beside.on_chip and { 3, 16 } or { 3 }) do
            local name = ("%s, %d rows of %d bytes, swizzle %s"):format(dtype, rows, row, swizzle)
            load_box("load " .. name, dtype, { 32, columns }, { inner, rows }, swizzle, { inner, 5 })
            store_box("store " .. name, dtype, { 32, columns }, { inner, rows }, swizzle, { inner, 5 })
          end
        end
      end
    end
  end
  load_box("load 3d, rows of 48 bytes, swizzle 64B", "bf16", { 4, 8, 128 }, { 24, 5, 3 }, "64B", { 8, 2, 1 })
  store_box("store 3d, rows of 48 bytes, swizzle 64B", "bf16", { 4, 8, 128 }, { 24, 5, 3 }, "64B", { 8, 2, 1 })
end

if chosen "fill" then
  for _, dtype in ipairs { "f16", "bf16", "f32", "tf32", "f64" } do
    for _, nan in ipairs { false, true } do
      for _, swizzle in ipairs { "none", "128B" } do
        local inner = 64 // sizes[dtype]
        local columns = 2 * inner
        for where, at in pairs { ["before the first column"] = { -inner // 2, 2 }, ["behind the last row"] = { 0, 12 },
          ["in a corner"] = { columns - inner // 2, -3 }, ["nowhere inside"] = { columns, 0 } } do
          load_box(("%s %s, %s, swizzle %s"):format(dtype, nan and "NaN" or "0", where, swizzle), dtype, { 16, columns }, { inner, 8 },
            swizzle, at, nan)
        end
      end
    end
    load_box(dtype .. " NaN, 3d", dtype, { 3, 5, 64 }, { 16 // sizes[dtype], 4, 2 }, "none", { 8, 3, -1 }, true)
  end
end

beside.finish()
