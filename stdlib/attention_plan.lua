-- The plan of wg.attention: tiles, stages and registers for a head size, from the options.

return function(wg, internal)
  local fail, options = internal.fail, internal.options

  -- By head size: warpgroups of 64 queries each, keys in a block, stages of K and of V, and of the queries. As fast as
  -- any that were measured (docs/performance.md, attention).
  local shapes = {
    [64] = { consumers = 3, block = 128, stages = 3, query_stages = 2 },
    [96] = { consumers = 2, block = 128, stages = 2, query_stages = 2 },
    [128] = { consumers = 2, block = 128, stages = 2, query_stages = 2 },
    [192] = { consumers = 2, block = 96, stages = 2, query_stages = 1 },
    [256] = { consumers = 2, block = 64, stages = 2, query_stages = 1 },
  }

  -- The shape for a head size. Tiles of 192 causal queries waste much of short sequences: blocks that few of their rows see.
  local function shape_of(dim, causal, problem)
    if dim == 64 and causal and problem and problem[1] <= 1536 then
      return { consumers = 2, block = 128, stages = 3, query_stages = 2 }
    end
    return shapes[dim] or fail(("wg.attention: dim is %s (legal: 64, 96, 128, 192, 256)"):format(tostring(dim)))
  end

  local layouts = { bshd = true, bhsd = true }

  local function listed(set)
    local names = {}
    for name in pairs(set) do names[#names + 1] = name end
    table.sort(names)
    return table.concat(names, ", ")
  end

  --- The plan for the options of wg.attention.
  function internal.attention_plan(opts)
    options("wg.attention", opts)
    internal.kinds("wg.attention", opts, {
      problem = "table", dtype = "string", layout = "string", name = "string", causal = "boolean", lse = "boolean", packed = "boolean", softcap = "number",
    })
    local function whole(name, value, least, most) return internal.whole("wg.attention: " .. name, value, least, most) end
    local p = {
      dtype = opts.dtype or "bf16", dim = opts.dim or 128, causal = opts.causal or false, packed = opts.packed or false,
      layout = opts.layout or "bshd", lse = opts.lse or false, name = opts.name or "attention",
      heads = whole("heads", opts.heads or 1, 1, 0xFFFF),
    }
    if p.dtype ~= "bf16" and p.dtype ~= "f16" then fail(("wg.attention: dtype is `%s` (legal: bf16, f16)"):format(p.dtype)) end
    for i = 1, opts.problem and 2 or 0 do whole(("problem[%d]"):format(i), opts.problem[i], 1, 0x3FFFFFFF) end
    local shape = shape_of(p.dim, p.causal, opts.problem)
    if not layouts[p.layout] then
      fail(("wg.attention: unknown layout `%s` (legal: %s)%s"):format(p.layout, listed(layouts), internal.nearest(p.layout, { "bshd", "bhsd" })))
    end
    if p.packed and p.layout ~= "bshd" then fail "wg.attention: `packed` tensors are sequence x head x dim: they have no layout" end
    p.kv_heads = whole("kv_heads", opts.kv_heads or p.heads, 1, p.heads)
    if p.heads % p.kv_heads ~= 0 then
      fail(("wg.attention: %d heads cannot share %d heads of K and V: kv_heads must divide heads"):format(p.heads, p.kv_heads))
    end
    p.window = opts.window and whole("window", opts.window, 1, 0x3FFFFFFF)
    p.softcap = opts.softcap and internal.positive("wg.attention: softcap", opts.softcap)
    p.consumers, p.stages, p.query_stages = shape.consumers, shape.stages, shape.query_stages
    p.block = whole("block", opts.block or shape.block, 16, 256)
    if p.block % 16 ~= 0 then fail(("wg.attention: block is %d, must be a multiple of 16 (a K step)"):format(p.block)) end
    p.threads, p.m = 128 * (1 + p.consumers), 64 * p.consumers
    p.registers = p.consumers == 3 and { 32, 160 } or { 40, 232 }
    -- Lines of 128 bytes, or of 64 where the head size requires it; the panels of O take the place of the queries.
    p.panel = wg.panel { dtype = p.dtype, n = p.dim }
    local swizzle = p.panel.line_bytes .. "B"
    p.q = wg.tile { dtype = p.dtype, mn = 64, k = p.dim, major = "K", swizzle = swizzle }
    p.k = wg.tile { dtype = p.dtype, mn = p.block, k = p.dim, major = "K", swizzle = swizzle }
    p.v = wg.tile { dtype = p.dtype, mn = p.dim, k = p.block, major = "MN", order = "K", swizzle = swizzle }
    local bytes = p.stages * (p.k.bytes + p.v.bytes) + p.query_stages * p.consumers * p.q.bytes
    local most = wg.target.cta_shared - 1024
    if bytes > most then fail(("wg.attention: blocks of %d keys take %d bytes of shared memory, and there are %d"):format(p.block, bytes, most)) end
    return p
  end
end
