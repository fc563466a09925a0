-- Launches of wg.gemm{ b_type = }.

return function(wg, internal)
  local fail, ceil_div = internal.fail, internal.ceil_div
  local text = internal.shape_text

  -- Appends scales or zero points, where the plan has them.
  local function add_of_groups(p, name, tensor, wanted, K, N, args)
    if not wanted then
      if tensor ~= nil then fail(("gemm: `%s` is given, but not of a wg.gemm{ zeros = true }"):format(name)) end
      return
    end
    local want = text { K // p.group, N }
    local got = text(internal.shape_of(tensor))
    if got ~= want then fail(("gemm: %s must be K / %d x N = %s %s, not %s"):format(name, p.group, want, p.dtype, got)) end
    args[#args + 1] = tensor
  end

  --- gemm:launch for a plan with weights of another type than A.
  function internal.mixed_launch(gemm, A, B, D, values)
    local p = gemm.plan
    for _, name in ipairs { "metadata", "offsets", "sizes", "count", "a_scales" } do
      if values[name] ~= nil then fail(("gemm: `%s` does not go with wg.gemm{ b_type = }"):format(name)) end
    end
    local M, K = internal.matrix("gemm: A", A)
    local rows, N = internal.matrix("gemm: D", D)
    if rows ~= M then fail(("gemm: D has %d rows, but A has %d"):format(rows, M)) end
    if K % p.group ~= 0 then fail(("gemm: K is %d, must be a multiple of the %d elements that share a scale"):format(K, p.group)) end
    if N % 8 ~= 0 then fail(("gemm: N is %d, must be a multiple of 8 with b_type"):format(N)) end
    local want = text(internal.packed_shape(p.bits, N, K))
    local got = text(internal.shape_of(B))
    if got ~= want then
      fail(("gemm: B is %s, but %d x %d weights of %s are packed to %s"):format(got, N, K, p.b_type, want), "wg.prepack(W, \"" .. p.b_type .. "\")")
    end
    if ceil_div(K, p.block_k) < p.splits then
      fail(("gemm: K is %d, %d blocks of %d: too few for %d splits: wg.gemm{ splits = 1 }"):format(K, ceil_div(K, p.block_k), p.block_k, p.splits))
    end
    local args = { A, B, D, M, N, K }
    add_of_groups(p, "b_scales", values.b_scales, true, K, N, args)
    add_of_groups(p, "b_zeros", values.b_zeros, p.zeros, K, N, args)
    if p.few then args[#args + 1] = A end
    if p.next then
      local following = text(internal.shape_of(values.next))
      if following ~= want then fail(("gemm: next is %s, must be weights like B, %s"):format(following, want)) end
      args[#args + 1] = values.next
    elseif values.next ~= nil then
      fail "gemm: `next` is given, but not of a wg.gemm{ next = true }"
    end
    internal.epilogue_arguments(gemm, values, B, D, args)
    local grid = { p.splits, ceil_div(M, p.n), ceil_div(N, p.m) }
    if p.stream then
      local units = grid[2] * grid[3] * ceil_div(K, p.block_k)
      local ctas = math.min(internal.sms(), units)
      if (units + 1) * ctas >= 1 << 32 then fail(("gemm: %d blocks of K in all tiles are too many for stream_k: wg.gemm{stream_k = false}"):format(units)) end
      args[#args + 1], args[#args + 2] = internal.workspace_of(gemm, 2 * ctas, 1)
      grid = { ctas }
    end
    return { grid = grid, args = args, flops = 2.0 * M * N * K }
  end

  --- Options that are worth measuring for a plan.
  function internal.mixed_space(p)
    local list = { {} }
    for _, rows in ipairs { 64, 128 } do
      for _, block_k in ipairs { 64, 128, 256, rows == 64 and 512 or nil } do
        local tile = { rows, p.n, block_k }
        for _, splits in ipairs { 1, 2, 3, 4, 6, 8 } do list[#list + 1] = { tile = tile, splits = splits } end
        list[#list + 1] = { tile = tile, stream_k = true }
      end
    end
    return list
  end

  --- Operands to measure a plan with: A, B, and the values of a launch; random(rows, columns, dtype) makes a matrix. The weights are
  --- random bits.
  function internal.mixed_operands(gemm, p, random)
    local M, N, K = table.unpack(gemm.problem)
    local shape = { K // p.group, N }
    local B = wg.randint { shape = internal.packed_shape(p.bits, N, K), dtype = "u32", lo = 0, hi = 0xFFFFFFFF, seed = 1 }
    return random(M, K, p.dtype), B, internal.extended({
      b_scales = wg.randn { shape = shape, dtype = p.dtype, seed = 2 },
      next = p.next and B or nil,
      b_zeros = p.zeros and wg.randint { shape = shape, dtype = p.dtype, lo = 0, hi = 15, seed = 3 } or nil,
    }, internal.epilogue_tensors(p, M, N, { N, K }, random))
  end
end
