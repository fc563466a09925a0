-- Lua programs that call the library with arguments of all kinds, grown from bytes: each byte decides between
-- productions, and what follows the last byte is 0, so that every string of bytes is a program.
--
-- A program never lets an error out: each call goes through `try`, which run.lua judges, and what calls return is kept
-- by class, so that later calls get tensors, kernels and registers that earlier ones made.

-- What functions take. A value is written "kind", or "kind?" where it may be left out; tables are options.
local functions = {
  { "wg.layout", "layout_text" }, { "wg.layout", "tuple", "tuple?" }, { "wg.swizzle", "small", "small", "small" },
  { "wg.coalesce", "layout", "tuple?" }, { "wg.composition", "layout", "tiling" }, { "wg.composition", "swizzle", "layout" },
  { "wg.composition", "swizzle", "swizzle" }, { "wg.complement", "layout", "tuple?" }, { "wg.flatten", "layout" },
  { "wg.filter", "layout" }, { "wg.right_inverse", "layout" }, { "wg.left_inverse", "layout" },
  { "wg.logical_divide", "layout", "tiling" }, { "wg.zipped_divide", "layout", "tiling" },
  { "wg.tiled_divide", "layout", "tiling" }, { "wg.flat_divide", "layout", "tiling" },
  { "wg.logical_product", "layout", "tiling" }, { "wg.zipped_product", "layout", "tiling" },
  { "wg.tiled_product", "layout", "tiling" }, { "wg.flat_product", "layout", "tiling" },
  { "wg.blocked_product", "layout", "layout" }, { "wg.raked_product", "layout", "layout" },
  { "wg.ordered_layout", "tuple", "tuple" }, { "wg.tile_to_shape", "layout", "tuple", "tuple?" },
  { "wg.slice", "layout", "tuple" }, { "wg.nullspace", "layout" }, { "wg.max_common_layout", "layout", "layout" },
  { "wg.max_common_vector", "layout", "layout" }, { "wg.same_function", "layout", "layout" },
  { "wg.upcast", "layout", "extent" }, { "wg.downcast", "layout", "extent" },
  { "wg.tile", { dtype = "dtype", mn = "extent", k = "extent", major = "major", swizzle = "swizzle_mode?", order = "order?" } },
  { "wg.decode", "any" }, { "wg.identify", "layout", "dtype" }, { "wg.bank_phases", "integers", "extent" },
  { "wg.fragment", { of = "fragment_kind", dtype = "dtype?", n = "extent?", k = "extent?", matrices = "small?", trans = "boolean?" } },
  { "wg.tensor", "dtype", "shape", "integers?" }, { "wg.zeros", "dtype", "shape" },
  { "wg.randn", { shape = "shape", dtype = "dtype?", seed = "integer?" } },
  { "wg.randint", { shape = "shape", dtype = "dtype?", lo = "small", hi = "small", seed = "integer?" } },
  { "wg.ones", "dtype", "shape" }, { "wg.full", "dtype", "shape", "any" }, { "wg.eye", "dtype", "shape_extent", "shape_extent?" },
  { "wg.arange", "dtype", "shape_extent", "shape_extent?", "small?" }, { "wg.matmul", "tensor", "tensor" },
  { "wg.try", { a = "tensor", b = "tensor", a_tile = "tile?", b_tile = "tile?", d = "dtype?", backend = "sim" } },
  { "wg.load", "path", "dtype?" }, { "wg.compare", "tensor", "tensor", "tolerance?" },
  { "wg.dot", "tensor", "small", "small", "tensor", "small", "small", "extent" },
  { "wg.sparse.prune", "tensor", "dtype?" }, { "wg.sparse.compress", "tensor" },
  { "wg.sparse.decompress", "tensor", "tensor" }, { "wg.sparse.validate", "tensor", "dtype" }, { "wg.device" },
  { "wg.wgmma", { m = "extent?", n = "extent", k = "extent?", d = "dtype", a = "dtype", b = "dtype", sparse = "boolean?",
                  a_in = "any?", trans_a = "any?", scale_a = "any?", satfinite = "any?" } },
  { "wg.cublas", { a = "tensor", b = "tensor", d = "tensor", a_major = "major?", b_major = "major?" } },
  { "wg.panel", { dtype = "dtype", n = "extent", transposed = "boolean?" } }, { "wg.hilbert", "extent", "extent" },
  { "wg.gemm", {
    dtype = "dtype", d = "dtype?", a_major = "major?", b_major = "major?", tile = "integers?", stages = "small?",
    cluster = "small?", group = "extent?", name = "name?", registers = "integers?", buffers = "small?",
    schedule = "schedule?", problem = "integers?", epilogue = "epilogue?", raster = "raster?", splits = "small?",
    stream_k = "boolean?", constant = "name?", groups = "groups?", a_type = "dtype?", b_type = "weight?", group_size = "extent?", zeros = "boolean?",
    scales = "scales?", sparse = "name?", halves = "boolean?",
  } },
  { "wg.attention", {
    dtype = "dtype?", o = "dtype?", descale = "descale?", dim = "extent?", heads = "small?", kv_heads = "small?", causal = "boolean?",
    window = "small?", softcap = "small?", problem = "integers?", layout = "sequence?", packed = "boolean?", lse = "boolean?",
    exact = "boolean?", block = "extent?", page = "extent?", name = "name?",
  } },
  { "wg.attention_backward", {
    dtype = "dtype?", dim = "extent?", heads = "small?", kv_heads = "small?", causal = "boolean?", window = "small?", packed = "boolean?",
    problem = "integers?", layout = "sequence?", name = "name?",
  } },
  { "wg.attention_decode", {
    dtype = "dtype?", dim = "extent?", heads = "small?", kv_heads = "small?", queries = "small?", causal = "boolean?", page = "extent?",
    layout = "sequence?", lse = "boolean?", block = "extent?", stages = "small?", copies = "copies?", together = "small?", name = "name?",
  } },
  { "wg.mla_decode", {
    dtype = "dtype?", heads = "small?", queries = "small?", causal = "boolean?", page = "extent?", lse = "boolean?", copies = "copies?", name = "name?",
  } },
  { "wg.compressor", { dtype = "dtype?", prune = "boolean?" } }, { "wg.prepacker", { b_type = "weight" } },
  { "wg.prepack", "tensor", "weight?" }, { "wg.pointer", "tensor", "small?" },
  { "wg.tensor_map", "tensor", { box = "integers", swizzle = "swizzle_mode?", dtype = "dtype?", nan_fill = "boolean?", extents = "integers?", strides = "integers?", offset = "small?" } },
  { "wg.struct", "structure" }, { "wg.ptx", { text = "ptx" } }, { "wg.ptx", "path" },
  { "wg.tuning", { gemm = "table?", name = "name?", build = "callback?", candidates = "table?", space = "table?", rounds = "small?", backend = "backend?", measure = "measure?", verify = "callback?", cache = "off" } },
  { "wg.tune", { gemm = "table?", name = "name?", build = "callback?", candidates = "table?", rounds = "small?", backend = "backend?", cache = "off" } },
  { "wg.mma_picture", { shape = "name?", dtype = "dtype?", a = "tile?", b = "tile?", d = "any?" } },
  { "wg.kernel", "name", { threads = "threads", cluster = "cluster?" }, "body" },
}

-- Methods by class.
local methods = {
  layout = {
    { "size" }, { "cosize" }, { "rank" }, { "depth" }, { "mode", "small" }, { "coordinate", "extent" }, { "unswizzled" },
    { "bank_conflicts", "dtype" }, { "svg", "path", { view = "view?", chunk = "small?", dtype = "dtype?", access = "name?" } },
    { "html", "path", { view = "view?", dtype = "dtype?" } },
  },
  tile = {
    { "offset", "small", "small" }, { "descriptor", "extent", "small?", "small?", "boolean?" }, { "bank_conflicts" },
    { "explain" }, { "svg", "path", { view = "view?", access = "name?" } }, { "html", "path", { view = "view?" } },
  },
  fragment = { { "at", "small", "small" }, { "owner", "small", "small" }, { "inverse" }, { "map", "callback" },
               { "row_reduce", "callback" }, { "row_max" }, { "row_sum" }, { "operand", "dtype" } },
  tensor = {
    { "save", "path" }, { "copy" }, { "convert", "dtype" }, { "totable" }, { "close" }, { "to", "name" },
    { "reshape", "shape_extent", "shape_extent?", "shape_extent?" }, { "rows", "small", "small" }, { "transpose", "integers?" },
    { "slice", "ranges" }, { "put", "ranges", "tensor" }, { "put", "ranges", "small" }, { "fill", "small" },
    { "sum" }, { "min", "tensor?" }, { "max", "tensor?" }, { "abs" }, { "exp" }, { "lt", "tensor" }, { "eq", "small" },
  },
  wgmma = { { "d_layout" }, { "a_layout" }, { "metadata_layout" } },
  kernel = {
    { "check" }, { "ptx" }, { "cuda" }, { "resident_clusters" },
    { "run", { grid = "cluster", args = "arguments", backend = "sim", seed = "integer?", timeout_ms = "small?", numerics = "numerics?", unchecked = "boolean?" } },
    { "time", { grid = "cluster", args = "arguments", backend = "sim", rounds = "small?", flops = "any?", against = "any?" } },
    { "prepare", { grid = "cluster", args = "arguments", backend = "sim", unchecked = "boolean?" } },
    { "timeline", { grid = "cluster", args = "arguments", backend = "sim", seed = "integer?" } },
    { "profile", { grid = "cluster", args = "arguments", backend = "sim", clusters = "small?", events = "extent?" } }, { "report" },
    { "launch_rule", { rows = "name?", columns = "name?", m = "extent?", n = "extent?", parts = "small?", notes = "table?" } },
    { "sizes", { n = "integers", run = "callback" } },
  },
  launch = { { "start" }, { "wait" }, { "upload" }, { "download" } },
  gemm = { { "launch", "tensor", "tensor", "tensor", "table?" }, { "run", "tensor", "tensor", "tensor", { backend = "sim", alpha = "any?", bias = "any?" } },
           { "prepare", "tensor", "tensor", "tensor", { backend = "sim" } },
           { "launch", "tensor", "tensor", "tensor", { alpha = "any?", beta = "any?", C = "tensor?", gate = "tensor?", residual = "tensor?", row_sums = "tensor?", d_scales = "tensor?", metadata = "tensor?", offsets = "tensor?", sizes = "tensor?", count = "small?", a_scales = "tensor?", b_scales = "tensor?", b_zeros = "tensor?" } } },
  attention = {
    { "launch", "tensor", "tensor", "tensor", "tensor", { grid = "small?", scale = "small?", lse = "tensor?", query_starts = "tensor?", key_starts = "tensor?", max_queries = "small?", lengths = "tensor?", pages = "tensor?", q_descale = "tensor?" } },
    { "run", "tensor", "tensor", "tensor", "tensor", { backend = "sim", lse = "tensor?" } }, { "flops", "small", "small", "small" },
  },
  attention_decode = {
    { "launch", "tensor", "tensor", "tensor", "tensor", { lengths = "tensor?", pages = "tensor?", scale = "small?", lse = "tensor?", grid = "small?" } },
    { "run", "tensor", "tensor", "tensor", "tensor", { backend = "sim", lengths = "tensor?" } },
  },
  mla_decode = {
    { "launch", "tensor", "tensor", "tensor", { lengths = "tensor?", pages = "tensor?", scale = "small?", lse = "tensor?", grid = "small?" } },
    { "run", "tensor", "tensor", "tensor", { backend = "sim", scale = "small?", lengths = "tensor?" } }, { "flops", "small", "small" },
  },
  attention_backward = { { "run", { Q = "tensor", K = "tensor", V = "tensor", O = "tensor", lse = "tensor", dO = "tensor", dQ = "tensor", dK = "tensor", dV = "tensor", backend = "sim" } } },
  compressor = { { "metadata_shape", "extent", "extent" }, { "launch", "tensor", "tensor", "tensor", "tensor?" } },
  prepacker = { { "packed_shape", "extent", "extent" }, { "launch", "tensor", "tensor" } },
  tuning = { { "build", "small" }, { "place" }, { "content", "kernel", "table" } },
  error = {},
}

-- Methods of k besides the instructions.
local builder = {
  { "reg", "type" }, { "regs", "type", "extent" }, { "param", "name", "pointer" }, { "special", "special" },
  { "shared", "tile", "name?" }, { "shared", { bytes = "extent", align = "align?", name = "name?", tile = "tile?", count = "small?" } },
  { "tensor_map", "name", "tile" },
  { "tensor_map", "name", { dtype = "dtype", box = "integers", swizzle = "swizzle_mode?", nan_fill = "boolean?", constant = "boolean?", tile = "tile?" } },
  { "parameter", "name", { bytes = "extent?", align = "align?", map = "boolean?", dtype = "dtype?", box = "integers?", swizzle = "swizzle_mode?", nan_fill = "boolean?" } },
  { "local_", { bytes = "extent", align = "align?" } }, { "label", "name?" }, { "place", "label" }, { "jump", "label", "reg?" },
  { "repeat_", "condition" }, { "repeat_", "callback?" },
  { "queue", { counter = "reg", tiles = "count", readers = "small" } }, { "turns", { members = "small", member = "count", barrier = "small" } },
  { "softmax", { scores = "regs", scale = "reg", empty = "boolean?", lift = "small?" } },
  { "begin_loop" }, { "loop_condition", "reg" }, { "loop_next" }, { "end_loop" }, { "break_" }, { "continue_" }, { "exit" }, { "begin_if", "reg" }, { "begin_else" }, { "end_if" },
  { "loop", "count", "callback" }, { "loop", { from = "count?", to = "count", step = "count?" }, "callback" },
  { "while_", "condition", "callback" }, { "if_", "reg", "callback", "callback?" },
  { "element", "reg", "count" }, { "descriptor", "shared", { kstep = "small?", mn = "small?", offset = "reg?" } },
  { "mma", "regs", { a = "operand", b = "operand", a_mn = "small?", b_mn = "small?", a_offset = "reg?", n = "extent?", d = "dtype?", scale_d = "any?", metadata = "any?", sp_sel = "small?" } },
  { "copy_tile", { to = "shared", from = "reg", ld = "count", line = "count", along = "count", lines = "count", length = "count", vector = "boolean?" } },
  { "store_accumulator", "regs", { to = "reg", ld = "count", row = "count", col = "count", rows = "count", cols = "count", vector = "boolean?" } },
  { "fragment", "regs" }, { "address", "shared", "count?" }, { "mbarrier_wait", "count", "count" },
  { "load_tile", { tile = "tile", map = "reg", to = "count", mn = "count", k = "count", barrier = "count", whole = "tile?", mask = "any?", policy = "any?" } },
  { "pipeline", { stages = "small", arrivals = "small?", producers = "small?", name = "name?" } },
  { "each_tile", { m = "extent", n = "extent", rows = "count", columns = "count", cluster = "small?", group = "small?", order = "reg?", splits = "small?", first = "reg?", every = "small?" }, "callback" },
  { "each_piece", { m = "extent", n = "extent", rows = "count", columns = "count", group = "small?", order = "reg?", K = "count", block = "extent" }, "callback" },
  { "print", "format", "reg?", "regs?" }, { "assert", "reg", "format?", "reg?" }, { "trap", "format?", "reg?" }, { "breakpoint" },
  { "asm", { text = "asm", out = "type?", inputs = "registers?", inout = "registers?", guard = "reg?", meaning = "callback?" } },
  { "part_of_k", "table" }, { "sum_parts", "table" }, { "epilogue", "table" },
}
local of_pipeline = {
  { "init" }, { "cursor" }, { "advance", "cursor" }, { "skip", "cursor", "count" }, { "full_barrier", "cursor" }, { "empty_barrier", "cursor" },
  { "acquire", "cursor" }, { "expect", "cursor", "count" }, { "wait", "cursor" }, { "release", "cursor", { lane = "reg", cluster = "small?", guard = "reg?" } },
}
-- Methods of what a kernel's body makes besides.
local of_parts = {
  queue = { { "draw", "callback" }, { "each", "callback" } }, softmax = { { "first" }, { "next" }, { "finish" } },
  turns = { { "take" }, { "pass" }, { "finish" } },
}
local part_names = { "queue", "softmax", "turns" }
local of_reg = { { "lt", "count" }, { "le", "count" }, { "gt", "count" }, { "ge", "count" }, { "eq", "count" }, { "ne", "count" }, { "set", "count" }, { "same", "reg" } }
local of_regs = { { "slice", "small", "small" } }

local words = {
  dtype = { "bf16", "f16", "f32", "tf32", "e4m3", "e5m2", "s8", "u8", "b1", "s32", "u32", "s64", "u64", "f64", "BF16", "" },
  major = { "K", "MN", "k", "" }, swizzle_mode = { "none", "32B", "64B", "128B", "16B" }, order = { "MN", "K", "M" },
  view = { "auto", "offsets", "bytes", "chunks", "banks", "conflicts", "overview", "x" }, backend = { "sim", "auto", "none" }, sim = { "sim" },
  groups = { "contiguous", "masked", "batched", "x" }, weight = { "s4", "u4", "s8", "u8", "e4m3", "f32" }, descale = { "tensor", "head", "x" },
  sequence = { "bshd", "bhsd", "x" }, copies = { "boxes", "rows", "" }, measure = { "time", "model", "x" },
  ptx = {
    "", ".version", ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n.reqntid 32\n{\n.reg .u64 a;\n.reg .u32 x;\nld.param.u64 a, [p];\nld.param.u32 x, [n];\nst.global.u32 [a], x;\nret;\n}\n",
    ".version 8.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 16 .b8 s[];\n.visible .entry k(.param .align 64 .b8 m[128], .param .align 8 .b8 v[24])\n{\n.reg .b32 x;\nmov.u32 x, s;\nst.shared.u32 [x], x;\nbar.sync 0;\n}\n",
    ".version 8.0\n.visible .entry k() { mov.u32 %r1 %r2; }",
  },
  schedule = { "cooperative", "pingpong", "" }, raster = { "grouped", "hilbert", "x" },
  fragment_kind = { "wgmma_d", "wgmma_a", "wgmma_sparse_a", "wgmma_metadata", "mma_sync_a", "mma_sync_b", "mma_sync_c", "ldmatrix", "stmatrix", "x" },
  type = { "u32", "s32", "f32", "b32", "u64", "s64", "f64", "b64", "pred", "b16", "u16", "f16", "x" },
  pointer = { "const bf16*", "f32*", "u32", "u64", "const f32*", "u32*", "s8*", "const ", "*", "const u32", "bf16" },
  special = { "tid.x", "ctaid.x", "nctaid.x", "ntid.x", "laneid", "cluster_ctarank", "clock64", "%tid.y", "x" },
  layout_text = { "8:1", "(8,64):(64,1)", "((8,2),(4,4)):((4,32),(1,64))", "(2,(3,4)):(1,(2,6))", "Sw<3,4,3> o (8,64):(64,1)", "(", "0:1", "5:-3", "(2,2)", "9223372036854775807:1" },
  path = { "/nonexistent/folder/x.npy", "", ".", "/nonexistent/nul\0nul" }, name = { "a", "b", "kernel_1", "C", "row", "A", "x y", "", ("n"):rep(300), "nul\0nul", "\27[31m" },
  format = { "%d", "%x %f\n", "%s", "%", "%99999d", "text", "%d %d", "%5.3f|%-8u", "nul\0nul", "" },
  asm = { "mov.u32 {out}, {in};", "add.f32 {out}, {1}, {2};", "{", "}", "mov.u32 %r1, {9};", "bar.sync 0;", "" },
  suffix = { "", "_u32", "_s32", "_f32", "_b32", "_u64", "_b64", "_f16", "_b16", "_v2_b32", "_v4_f32", "_f64", "_rn_f32", "_wide_u32", "_relu", "_pred" },
}
local fields = { "shape", "dtype", "bytes", "name", "type", "pointee", "tile", "layout", "mn", "k", "rows", "stride", "swizzle", "message", "x", "__gc", "kernel", "n" }
local operators = { "+", "-", "*", "/", "//", "%", "&", "|", "~", "<<", ">>", "==", "<", "<=", "..", "~=" }
local odd = {
  "nil", "false", "true", "0", "1", "-1", "2", "64", "128", "0.5", "1e300", "0/0", "1/0", "-1/0", "2147483647", "-2147483648", "2147483648",
  "4294967295", "math.maxinteger", "math.mininteger", '""', '"bf16"', '("x"):rep(300)', '"a\\0b"', "{}", "{1, 2}", "{{}}", "{[0] = 1, x = 2}",
  "function() end", "function(...) return ... end", "wg", "wg.zeros", "coroutine.create(print)", "setmetatable({}, {__index = function(_, k) return k end})",
  "setmetatable({}, {__len = function() return 1 << 40 end})", "setmetatable({1}, {__tostring = function() return 7 end})",
}

-- What a restricted script must not get hold of, and the file that it must not write.
local escapes = {
  "io", "debug", "package", "dofile", "loadfile", "os.execute", "os.remove", "os.rename", "os.tmpname", "os.getenv", "os.exit",
  "string.dump", '("").dump', 'getmetatable("").__index.dump', 'require "io"', 'require "debug"', 'require "package"',
  'require("os").execute', 'load("return io")()', 'load("\\27Lua")', 'load(string.dump(print))', 'load(function() return nil end, "x", "b")',
  "debug.getregistry()", 'package.loaded', "_G.io", "_ENV.debug", 'wg.load "wgrun_fuzz_escape"',
  'wg.zeros("u8", {1}):save "wgrun_fuzz_escape"', 'wg.layout("8:1"):svg "wgrun_fuzz_escape"', 'io.open("wgrun_fuzz_escape", "w")',
  'get("kernel", 1):export "wgrun_fuzz_escape"', "wg.cublas {}", 'wg.from_dlpack(get("any", 1))', 'coroutine.wrap(load)("\\27Lua")',
}

--- The program that `bytes` stand for. instructions: names of k's methods that are instructions. `restricted`: one that
--- also tries to get out.
return function(bytes, instructions, restricted)
  local at, out, depth = 0, {}, 0

  local function byte()
    at = at + 1
    return bytes:byte(at) or 0
  end
  -- From 1 to n.
  local function pick(n) return (n > 256 and byte() << 8 | byte() or byte()) % n + 1 end
  local function chance(n) return byte() % n == n - 1 end
  local function quoted(text) return ("%q"):format(text):gsub("\n", "n") end
  local value

  local function list(kind, most)
    local items = {}
    for i = 1, pick(most) - 1 do items[i] = value(kind) end
    return "{" .. table.concat(items, ", ") .. "}"
  end

  local statements

  local function block(arguments, most)
    if depth > 3 then return "function(" .. arguments .. ") end" end
    depth = depth + 1
    local text = ("function(%s)\n%s\n%send"):format(arguments, statements(most), chance(4) and "return " .. value "any" .. " " or "")
    depth = depth - 1
    return text
  end

  -- Something that an earlier call has made.
  local function made(class) return ("get(%q, %d)"):format(class, pick(8)) end

  local kinds = {
    any = function() return chance(2) and odd[pick(#odd)] or made "any" end,
    off = function() return "false" end,
    small = function() return tostring(pick(20) - 4) end,
    integer = function() return chance(3) and odd[pick(#odd)] or tostring(byte() << 8 | byte()) end,
    extent = function() return chance(8) and tostring(byte() << 8 | byte()) or tostring(1 << (pick(10) - 1)) end,
    threads = function() return tostring(({ 128, 32, 64, 256, 1, 384, 1024, 1025 })[pick(8)]) end,
    align = function() return tostring(1 << (pick(12) - 1)) end,
    cluster = function() return chance(4) and list("small", 5) or tostring(pick(4)) end,
    boolean = function() return chance(2) and "true" or "false" end,
    count = function() return chance(3) and tostring(pick(300) - 20) or made "reg" end,
    integers = function() return list("extent", 5) end,
    table = function() return chance(2) and list("any", 4) or ("{x = %s, problem = %s, m = %s, [%s] = %s}"):format(value "any", value "integers", value "extent", quoted(fields[pick(#fields)]), value "any") end,
    shape = function() return chance(14) and ({ "nil", "true", '"x"', "{}", "wg", "0.5" })[pick(6)] or chance(3) and tostring(pick(300) - 2) or list("shape_extent", 4) end,
    shape_extent = function() return tostring(({ 1, 2, 16, 64, 64, 0, -1, 1 << 62 })[pick(8)]) end,
    range = function() return chance(3) and value "small" or list("small", 4) end,
    ranges = function() return list("range", 4) end,
    registers = function() return list("reg", 4) end,
    tuple = function(nested)
      if (nested or 0) > 3 or chance(2) then return tostring(pick(18) - 2) end
      local items = {}
      for i = 1, pick(4) - 1 do items[i] = chance(12) and odd[pick(#odd)] or kinds_tuple((nested or 0) + 1) end
      return "{" .. table.concat(items, ", ") .. "}"
    end,
    tiling = function() return chance(2) and made "layout" or list("tiler", 4) end,
    tiler = function() return chance(3) and "false" or chance(2) and made "layout" or tostring(pick(18) - 1) end,
    tolerance = function() return chance(2) and "0.5" or "{absolute = " .. value "any" .. ", relative = 0.1}" end,
    numerics = function() return chance(2) and '"h200"' or "{block = " .. value "small" .. ", fraction = " .. value "small" .. "}" end,
    epilogue = function() return ("{alpha = %s, beta = %s, bias = %s, activation = %s}"):format(value "any", value "boolean", value "name", chance(2) and '"relu"' or value "any") end,
    arguments = function() return chance(5) and value "any" or list(chance(3) and "any" or "tensor", 5) end,
    operand = function() return chance(3) and made "regs" or made "shared" end,
    scales = function() return ("{a = %s, b = %s}"):format(chance(2) and '"1x128"' or '"row"', chance(2) and '"128x128"' or value "any") end,
    structure = function() return ("{size = %s, [0] = %s, [%s] = %s}"):format(value "extent", value "any", value "small", value "any") end,
    callback = function() return block("k2", 3) end,
    condition = function() return "function() return " .. made "reg" .. " end" end,
    body = function() return block("k", 14) end,
  }
  for name, list_of in pairs(words) do kinds[name] = function() return quoted(list_of[pick(#list_of)]) end end
  for _, class in ipairs { "layout", "tile", "fragment", "tensor", "wgmma", "kernel", "launch", "gemm", "swizzle", "label", "reg", "regs", "shared", "pipeline", "cursor" } do
    kinds[class] = function() return made(class) end
  end
  function kinds_tuple(nested) return kinds.tuple(nested) end

  function value(kind)
    if type(kind) == "table" then
      local names, entries = {}, {}
      for name in pairs(kind) do names[#names + 1] = name end
      table.sort(names)
      for _, name in ipairs(names) do
        local k = kind[name]
        if not k:find "?$" or chance(4) then entries[#entries + 1] = ("%s = %s"):format(name, value((k:gsub("?", "")))) end
      end
      if chance(24) then entries[#entries + 1] = ("[%s] = %s"):format(value "any" == "nil" and "1" or '"x"', value "any") end
      return chance(32) and value "any" or "{" .. table.concat(entries, ", ") .. "}"
    end
    -- No tensors of gigabytes: random numbers for them take their time, and nothing interrupts that. And no files.
    if kind ~= "shape" and kind ~= "shape_extent" and kind ~= "path" and chance(14) then return odd[pick(#odd)] end
    return kinds[kind]()
  end

  local function arguments(call, first)
    local items = {}
    for i = first, #call do
      local kind = call[i]
      if type(kind) == "string" and kind:find "?$" then
        if not chance(2) then break end
        kind = kind:gsub("?", "")
      end
      items[#items + 1] = value(kind)
    end
    if chance(20) then items[#items + 1] = value "any" end
    if chance(20) then items[#items] = nil end
    return table.concat(items, ", ")
  end

  local function call_method(object, call) return ("%s:%s(%s)"):format(object, call[1], arguments(call, 2)) end

  local function instruction()
    local name = instructions[pick(#instructions)] .. (chance(2) and words.suffix[pick(#words.suffix)] or "")
    local items = {}
    for i = 1, pick(5) - 1 do
      items[i] = chance(3) and value "any" or chance(5) and "{" .. made "reg" .. ", " .. made "reg" .. "}" or
        ({ made "reg", made "shared", made "regs", value "small" })[pick(4)]
    end
    if chance(3) then items[#items + 1] = ("{%s = %s}"):format(({ "guard", "offset", "type", "space", "n", "scale_d", "read" })[pick(7)], chance(2) and made "reg" or value "any") end
    return ('k["%s"](k%s%s)'):format(name, #items > 0 and ", " or "", table.concat(items, ", "))
  end

  local function look()
    local object = made "any"
    return ({
      function() return object .. "." .. fields[pick(#fields)] end,
      function() return object .. "[" .. value "any" .. "]" end,
      function() return "tostring(" .. object .. ")" end,
      function() return "#" .. object end,
      function() return object .. " " .. operators[pick(#operators)] .. " " .. (chance(2) and made "any" or value "any") end,
      function() return object .. "(" .. value "any" .. ", " .. value "any" .. ")" end,
      function() return "-" .. made "reg" end,
      function() return "~" .. made "reg" end,
    })[pick(8)]()
  end

  local function expression()
    if depth > 0 and not chance(4) then
      local which = pick(7)
      if which <= 3 then return instruction() end
      if which == 4 then return call_method("k", builder[pick(#builder)]) end
      if which == 5 then return call_method(made "pipeline", of_pipeline[pick(#of_pipeline)]) end
      if which == 6 then
        local part = part_names[pick(#part_names)]
        return call_method(made(part), of_parts[part][pick(#of_parts[part])])
      end
      return chance(3) and call_method(made "regs", of_regs[1]) or call_method(made "reg", of_reg[pick(#of_reg)])
    end
    local which = pick(8)
    if which <= 4 then
      local call = functions[pick(#functions)]
      return ("%s(%s)"):format(call[1], arguments(call, 2))
    end
    if which == 5 then return look() end
    local classes = { "layout", "tile", "fragment", "tensor", "wgmma", "kernel", "kernel", "launch", "gemm", "attention",
      "attention_decode", "mla_decode", "attention_backward", "compressor", "prepacker", "tuning" }
    local class = classes[pick(#classes)]
    return call_method(made(class), methods[class][pick(#methods[class])])
  end

  local function statement()
    local which = byte()
    if which > 250 then return "collectgarbage()" end
    if which > 244 then return ("setmetatable({}, {__gc = function() %s end})"):format(depth < 3 and statement() or "") end
    if which > 238 then return ("try(function() %s[%s] = %s end)"):format(made "tensor", value "small", value "any") end
    if restricted and which > 220 and which <= 234 then return ("try(function() escaped(%s) end)"):format(escapes[pick(#escapes)]) end
    if which > 234 then return ("try(coroutine.wrap(function() coroutine.yield(%s) %s end))"):format(value "any", depth < 3 and statement() or "") end
    -- No tail call: that leaves no line behind.
    return "try(function() local a, b, c = " .. expression() .. " return a, b, c end)"
  end

  function statements(most)
    local lines = {}
    for i = 1, pick(most) do lines[i] = statement() end
    return table.concat(lines, "\n")
  end

  repeat out[#out + 1] = statement() until at >= #bytes or #out > 60
  return table.concat(out, "\n")
end
