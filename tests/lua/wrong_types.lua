-- Every option and argument of the functions written in Lua, with every wrong type: an error object that names the
-- script's line, never an error from inside the library.
local check = require "check"
local wg = require "wgrun"

local wrong = {
  false, true, 5, -1, 0.5, 0 / 0, math.mininteger, math.maxinteger, "x", "", {}, { {} }, { "x", "y", "z" }, { -1, 0, 1 },
  function() end, coroutine.create(print), io.stdout, wg.layout "8:1", wg.zeros("f32", { 2, 2 }),
}
local tried, refused = 0, 0

local function try(what, f, ...)
  tried = tried + 1
  local arguments = table.pack(...)
  local good, e = pcall(function() local result = f(table.unpack(arguments, 1, arguments.n)) return result end)
  if good then return end
  refused = refused + 1
  if type(e) ~= "table" or not e.message or e.message == "" or e.message:find "internal error" then
    error(("%s: %s"):format(what, tostring(e)), 0)
  end
  if not e.line or not e.file:find "wrong_types.lua" then error(what .. ": no place: " .. tostring(e), 0) end
end

-- One option after the other, of options that are good otherwise.
local function options(what, f, good, keys)
  for _, value in ipairs(wrong) do try(what, f, value) end
  for _, key in ipairs(keys) do
    for i, value in ipairs(wrong) do
      local given = {}
      for k, v in pairs(good) do given[k] = v end
      given[key] = value
      try(("%s, %s = wrong[%d]"):format(what, key, i), f, given)
    end
  end
end

local gemm_keys = {
  "dtype", "d", "a_major", "b_major", "tile", "stages", "cluster", "group", "name", "registers", "buffers", "schedule",
  "problem", "epilogue", "raster", "splits", "stream_k", "constant", "unknown",
}
options("wg.gemm", wg.gemm, {}, gemm_keys)
options("wg.gemm, few rows", wg.gemm, { problem = { 16, 4096, 4096 } }, gemm_keys)
for _, key in ipairs { "alpha", "beta", "bias", "activation", "unknown" } do
  for _, value in ipairs(wrong) do try("epilogue, " .. key, wg.gemm, { epilogue = { [key] = value } }) end
end
for _, key in ipairs { "tile", "problem", "registers" } do
  for i = 1, 3 do
    for _, value in ipairs(wrong) do
      local list = { 128, 128, 64 }
      list[i] = value
      try("wg.gemm, " .. key, wg.gemm, { [key] = list })
    end
  end
end
options("wg.panel", wg.panel, { dtype = "bf16", n = 128 }, { "dtype", "n", "transposed" })
for _, value in ipairs(wrong) do
  try("wg.hilbert", wg.hilbert, value, 4)
  try("wg.hilbert", wg.hilbert, 4, value)
end
local function build() return nil, "not today" end
options("wg.tune", wg.tune, { name = "n", build = build, candidates = { {} }, cache = false },
  { "name", "build", "candidates", "rounds", "backend", "gemm" })
options("wg.tune, gemm", wg.tune, { gemm = { problem = { 64, 64, 64 } }, candidates = { { tile = 5 } }, cache = false, backend = "sim" },
  { "gemm", "rounds" })

local small = wg.gemm { tile = { 64, 64 }, name = "small" }
local A, B, D = wg.zeros("bf16", { 64, 64 }), wg.zeros("bf16", { 64, 64 }), wg.zeros("bf16", { 64, 64 })
for _, name in ipairs { "launch", "run", "prepare", "time" } do
  for _, value in ipairs(wrong) do
    try("gemm:" .. name .. ", A", small[name], small, value, B, D)
    try("gemm:" .. name .. ", B", small[name], small, A, value, D)
    try("gemm:" .. name .. ", D", small[name], small, A, B, value)
    if value ~= true then try("gemm:" .. name .. ", options", small[name], small, A, B, D, value) end
    try("gemm." .. name .. ", self", small[name], value)
  end
end

local ended, why = pcall(wg.kernel, "types", { threads = 128 }, function(k)
  local p, to = k:param("p", "const bf16*"), k:param("to", "f32*")
  local tile = wg.tile { dtype = "bf16", mn = 64, k = 64 }
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  local map = k:tensor_map("map", tile)
  local acc = k:regs("f32", 32)
  local r = k:special "tid.x"
  local function method(name) return function(...) return k[name](k, ...) end end
  local function nothing() end
  options("k:mma", function(o) k:mma(acc, o) end, { a = a, b = b },
    { "a", "b", "a_mn", "b_mn", "a_offset", "b_offset", "n", "d", "scale_d", "metadata", "sp_sel" })
  options("k:descriptor", function(o) k:descriptor(a, o) end, {}, { "kstep", "mn", "offset" })
  options("k:copy_tile", method "copy_tile", { to = a, from = p, ld = 64, line = 0, along = 0, lines = 64, length = 64, vector = true },
    { "to", "from", "ld", "line", "along", "lines", "length", "vector" })
  options("k:store_accumulator", function(o) k:store_accumulator(acc, o) end, { to = to, ld = 64, row = 0, col = 0, rows = 64, cols = 64 },
    { "to", "ld", "row", "col", "rows", "cols", "vector" })
  options("k:load_tile", method "load_tile", { tile = tile, map = map, to = r, mn = 0, k = 0, barrier = r },
    { "tile", "map", "to", "mn", "k", "barrier", "whole", "mask", "policy" })
  options("k:pipeline", method "pipeline", { stages = 2 }, { "stages", "arrivals", "producers", "name" })
  options("k:loop", function(o) k:loop(o, nothing) end, { to = 2 }, { "from", "to", "step" })
  options("k:each_tile", function(o) k:each_tile(o, nothing) end, { m = 64, n = 64, rows = r, columns = r },
    { "m", "n", "rows", "columns", "cluster", "group", "order", "splits", "first", "every" })
  options("k:each_piece", function(o) k:each_piece(o, nothing) end, { m = 64, n = 64, rows = r, columns = r, K = r, block = 64 },
    { "m", "n", "rows", "columns", "group", "order", "K", "block" })
  options("k:part_of_k", method "part_of_k", { K = r, block = 64, part = r, splits = 2 }, { "K", "block", "part", "splits" })
  options("k:sum_parts", method "sum_parts",
    { acc = { acc }, partials = to, counters = k:param("counters", "u32*"), tile = r, part = r, splits = 2, barrier = 1, flag = r },
    { "acc", "partials", "counters", "tile", "first", "part", "splits", "early", "barrier", "flag" })
  local panel = wg.panel { dtype = "bf16", n = 64 }
  options("k:epilogue", method "epilogue", { panel = panel, map = k:tensor_map("of_d", panel.box), buffer = a, barrier = 1 },
    { "panel", "map", "buffer", "offset", "buffers", "barrier", "alpha", "beta", "source", "bias", "activation", "policy" })
  for _, value in ipairs(wrong) do
    try("k:element", k.element, k, value, 1)
    try("k:element", k.element, k, p, value)
    try("k:address", k.address, k, value)
    try("k:address", k.address, k, a, value)
    try("k:mbarrier_wait", k.mbarrier_wait, k, value, 0)
    try("k:fragment", k.fragment, k, value)
    try("k:mma, acc", k.mma, k, value, { a = a, b = b })
    try("k:loop, body", k.loop, k, 2, value)
    try("k:if_", k.if_, k, value, nothing)
    try("k:store_accumulator, acc", k.store_accumulator, k, value, { to = to, ld = 64, row = 0, col = 0, rows = 64, cols = 64 })
    for _, name in ipairs { "loop", "if_", "while_", "mma", "element", "fragment", "pipeline", "epilogue", "each_tile" } do
      try("k." .. name .. ", self", k[name], value, value, value)
    end
    local fragment, ring = k:fragment(acc), k:pipeline { stages = 2 }
    try("accumulator:operand", fragment.operand, fragment, value)
    try("accumulator:map", fragment.map, fragment, value)
    try("accumulator:map, result", fragment.map, fragment, function() return value end)
    try("fragment:row_reduce, result", fragment.row_reduce, fragment, function() return value end)
    local cursor = ring:cursor()
    try("pipeline:cursor", ring.cursor, ring, value)
    try("pipeline:cursor, held", ring.cursor, ring, { held = value })
    for _, name in ipairs { "advance", "skip", "full_barrier", "empty_barrier", "acquire", "expect", "try_wait", "wait", "release" } do
      try("pipeline:" .. name, ring[name], ring, value, value)
      try("pipeline:" .. name .. ", second", ring[name], ring, cursor, value)
      try("pipeline." .. name .. ", self", ring[name], value, cursor, {})
    end
  end
  error("enough", 0)
end)
assert(not ended and why == "enough", why)
assert(tried > 3000 and refused > tried // 2, tried .. " tried, " .. refused .. " refused")

-- Messages call classes what they are, and files by their names, which may look like classes.
check.equal(select(2, wg.load "wgrun.tensor"), "wgrun.tensor: No such file or directory")
check.equal(select(2, wg.ptx "no wgrun.ptx"), "cannot read no wgrun.ptx: No such file or directory")
local tensor, layout = wg.zeros("f32", { 4 }), wg.layout "4:1"
check.raises("a layout is too much", function() tensor:copy(layout) end)
check.raises("expected a table of options, got a layout", function() wg.gemm(layout) end)
check.raises("a layout has no `compos`", function() return layout.compos end)
