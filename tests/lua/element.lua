-- k:element with indices of 32 and of 64 bits: a kernel that copies rows whose places are products.
local wg = require "wgrun"

for _, wide in ipairs { false, true } do
  local kernel = wg.kernel("copy", { threads = 32 }, function(k)
    local X, Y, columns = k:param("X", "const f32*"), k:param("Y", "f32*"), k:param("columns", "u32")
    local row, column = k:special "ctaid.x", k:special "tid.x"
    local i = row * columns + column
    if wide then i = k:cvt_u64_u32(row) * k:cvt_u64_u32(columns) + k:cvt_u64_u32(column) end
    k:st_global_f32(k:element(Y, i), k:ld_global_f32(k:element(X, i)) + k:ld_global_f32(k:element(X, 1)))
  end)
  local X, Y = wg.randn { shape = { 3, 32 }, dtype = "f32", seed = 5 }, wg.zeros("f32", { 3, 32 })
  kernel:run { grid = { 3 }, args = { X, Y, 32 }, backend = "sim" }
  for i = 0, 2 do
    for j = 0, 31 do assert(math.abs(Y[{ i, j }] - X[{ i, j }] - X[{ 0, 1 }]) < 1e-6) end
  end
end

local good, problem = pcall(wg.kernel, "wrong", { threads = 32 }, function(k)
  k:element(k:param("X", "f32*"), k:mov(0, { type = "f32" }))
end)
assert(not good and tostring(problem):find "f32", tostring(problem))
