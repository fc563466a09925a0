-- The plan of wg.attention_backward: tiles, stages and the shape of the products for a head size, from the options.

return function(wg, internal)
  local fail, options = internal.fail, internal.options

  -- By head size. A CTA keeps 64 keys for each of two consumers, and takes blocks of `rows` queries; `parts` divide a
  -- block, so that its scores fit into registers. dQ of a block is divided among the consumers by its rows or, transposed,
  -- by its columns: either way each has a product with 64 rows, as wgmma wants it. Where registers are left, each consumer
  -- keeps its keys and values there: products of 64 columns read as much of A as of B from shared memory, which limits them.
  local shapes = {
    [64] = { rows = 128, parts = 2, transposed = false, in_registers = true },
    [128] = { rows = 64, parts = 1, transposed = true, in_registers = false },
  }

  --- The plan for the options of wg.attention_backward.
  function internal.attention_backward_plan(opts)
    options("wg.attention_backward", opts)
    internal.kinds("wg.attention_backward", opts, { dtype = "string", layout = "string", name = "string", causal = "boolean", packed = "boolean" })
    local function whole(name, value, most) return internal.whole("wg.attention_backward: " .. name, value, 1, most) end
    local p = {
      dtype = opts.dtype or "bf16", dim = opts.dim or 128, causal = opts.causal or false, layout = opts.layout or "bshd",
      packed = opts.packed or false, name = opts.name or "attention_backward", heads = whole("heads", opts.heads or 1, 0xFFFF),
    }
    if p.dtype ~= "bf16" and p.dtype ~= "f16" then fail(("wg.attention_backward: dtype is `%s` (legal: bf16, f16)"):format(p.dtype)) end
    if p.layout ~= "bshd" and p.layout ~= "bhsd" then
      fail(("wg.attention_backward: unknown layout `%s` (legal: bshd, bhsd)"):format(p.layout))
    end
    if p.packed and p.layout ~= "bshd" then fail "wg.attention_backward: `packed` tensors are sequence x head x dim: they have no layout" end
    p.kv_heads = whole("kv_heads", opts.kv_heads or p.heads, p.heads)
    if p.heads % p.kv_heads ~= 0 then
      fail(("wg.attention_backward: %d heads cannot share %d heads of K and V: kv_heads must divide heads"):format(p.heads, p.kv_heads))
    end
    p.window = opts.window and whole("window", opts.window, 0x3FFFFFFF)
    p.group = p.heads // p.kv_heads -- heads that share K and V
    local shape = shapes[p.dim] or fail(("wg.attention_backward: dim is %s (legal: 64, 128)"):format(tostring(p.dim)))
    for key, value in pairs(shape) do p[key] = value end
    p.part = p.rows // p.parts
    p.consumers, p.stages, p.registers = 2, 2, { 24, 240 }
    p.threads, p.keys = 128 * (1 + p.consumers), 64 * p.consumers
    p.stats_bytes = 2 * 4 * p.rows -- two f32 for each query of a block
    p.sums_bytes = 4 * p.rows * p.dim -- dQ of a block, in f32
    p.share_bytes = p.sums_bytes // p.consumers

    -- Rows of a head, and the same bytes as an operand whose K extent are the rows.
    local function rows_of(count) return wg.tile { dtype = p.dtype, mn = count, k = p.dim, major = "K" } end
    local function columns_of(count) return wg.tile { dtype = p.dtype, mn = p.dim, k = count, major = "MN", order = "K" } end
    p.q, p.q_columns = rows_of(p.rows), columns_of(p.rows)
    p.k, p.k_columns = rows_of(p.keys), columns_of(p.keys)
    p.ds = wg.tile { dtype = p.dtype, mn = p.rows, k = p.keys, major = "K" }
    p.panel = wg.panel { dtype = p.dtype, n = p.dim } -- of dK and dV, and of dQ unless it is transposed
    p.q_panel = p.transposed and wg.panel { dtype = p.dtype, n = p.rows, transposed = true } or p.panel
    return p
  end
end
