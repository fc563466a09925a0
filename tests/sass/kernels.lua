-- Kernels of the library for corpus.py: products and attention of all kinds.
local wg = require "wgrun"

-- Not every kernel takes every option.
local function try(make, options) pcall(make, options) end

for _, n in ipairs { 64, 128, 256 } do
  for _, schedule in ipairs { "cooperative", "pingpong" } do
    try(wg.gemm, { dtype = "bf16", tile = { 128, n, 64 }, schedule = schedule, name = "bf16_" .. schedule .. n })
  end
  try(wg.gemm, { dtype = "e4m3", tile = { 128, n, 128 }, name = "e4m3_" .. n })
  try(wg.gemm, { dtype = "bf16", tile = { 128, n, 64 }, a_major = "MN", b_major = "MN", name = "mn_major" .. n })
end
try(wg.gemm, { dtype = "tf32", tile = { 128, 128, 32 }, name = "tf32" })
try(wg.gemm, { dtype = "s8", tile = { 128, 128, 128 }, name = "s8" })
try(wg.gemm, { dtype = "bf16", tile = { 128, 128, 64 }, cluster = 2, name = "cluster" })
try(wg.gemm, { dtype = "bf16", tile = { 128, 128, 64 }, splits = 4, name = "splits" })
try(wg.gemm, { dtype = "bf16", tile = { 128, 128, 64 }, stream_k = true, name = "stream_k" })
try(wg.gemm, { dtype = "bf16", tile = { 128, 128, 64 }, epilogue = { alpha = true, beta = true, activation = "gelu" },
  name = "gelu" })
for _, b in ipairs { "s4", "u4", "s8", "u8", "e4m3", "mxfp4", "nvfp4" } do
  for _, n in ipairs { 16, 64, 128 } do
    try(wg.gemm, { a_type = "bf16", b_type = b, tile = { 128, n, 64 }, name = "mixed_" .. b .. "_" .. n })
  end
  try(wg.gemm, { a_type = "bf16", b_type = b, name = "mixed_" .. b })
end
for _, n in ipairs { 16, 64, 128 } do
  try(wg.gemm, { a_type = "e4m3", b_type = "mxfp4", tile = { 128, n, 128 }, name = "mixed_mxfp4_e4m3_" .. n })
end
for _, precision in ipairs { "bf16x9", "bf16x6", "bf16x3", "3xtf32" } do
  for _, n in ipairs { 64, 128, 192 } do
    try(wg.gemm, { dtype = "f32", precision = precision, tile = { n == 128 and 256 or 128, n }, name = precision:gsub("^3x", "x3_") .. n })
  end
  wg.splitter { precision = precision }
end
for _, dim in ipairs { 64, 96, 128, 192, 256 } do
  for _, causal in ipairs { false, true } do
    local what = dim .. (causal and "_causal" or "")
    try(wg.attention, { dim = dim, causal = causal, name = "attention" .. what })
    try(wg.attention_backward, { dim = dim, causal = causal, name = "backward" .. what })
  end
  try(wg.attention, { dim = dim, dtype = "e4m3", name = "attention_e4m3_" .. dim })
  try(wg.attention_decode, { dim = dim, heads = 8, kv_heads = 1, name = "decode" .. dim })
end
for _, heads in ipairs { 16, 128 } do try(wg.mla_decode, { heads = heads, page = 64, name = "mla" .. heads }) end
for _, segments in ipairs { 1, 3 } do
  for _, decay in ipairs { "head", "channel" } do
    try(wg.delta_rule, { heads = 4, qk_heads = 2, decay = decay, segments = segments, final_state = true,
      name = "delta_" .. decay .. segments })
  end
  for _, dim in ipairs { 64, 128 } do
    try(wg.ssd, { heads = 4, headdim = dim, segments = segments, final_state = true, D = true, name = "ssd" .. dim .. "_" .. segments })
    try(wg.ssd_backward, { heads = 4, headdim = dim, segments = segments, slices = 2, initial_state = true, D = true, name = "ssd_backward" .. dim .. "_" .. segments })
  end
end
for _, packed in ipairs { false, true } do
  for _, decay in ipairs { "head", "channel" } do
    try(wg.delta_rule_backward, { heads = 4, qk_heads = packed and 2 or 4, packed = packed, decay = decay, initial_state = true,
      final_state = packed, name = "delta_backward_" .. decay .. (packed and "_packed" or "") })
  end
end
try(wg.ssd, { heads = 4, pairs = true, packed = true, dt_softplus = true, name = "ssd_pairs" })
try(wg.ssd, { heads = 4, z = true, D = "headdim", name = "ssd_gate" })
try(wg.ssd_backward, { heads = 4, z = true, packed = true, dt_softplus = true, dt_bias = true, D = "headdim", name = "ssd_backward_gate" })
for _, dims in ipairs { { 96, 64 }, { 128, 64 }, { 192, 64 }, { 192, 128 }, { 256, 192 } } do
  local what = ("%d_%d"):format(dims[1], dims[2])
  for _, dtype in ipairs { "bf16", "e4m3" } do
    try(wg.attention, { dim = dims[1], value_dim = dims[2], dtype = dtype, causal = true, name = "attention_values_" .. dtype .. what })
  end
  try(wg.attention, { dim = dims[1], value_dim = dims[2], packed = true, lse = true, name = "attention_values_packed" .. what })
  try(wg.attention, { dim = dims[1], value_dim = dims[2], splits = 2, name = "attention_values_splits" .. what })
end
try(wg.attention, { dim = 128, softcap = 30, window = 512, packed = true, lse = true, name = "attention_window" })
