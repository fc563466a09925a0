-- What recipes share: texts of a folder, random tensors, and what a product should be.
local wg = require "wgrun"

local kit = { folder = os.getenv "WGRUN_PTX" or arg[1] or "." }

--- The kernel `name` of a text, by number or by name. `kit.replacement` is read in its place where it is set. Triton states a
--- PTX version that current drivers do not know; the text is legal 9.0. `mend` inserts what is known to be missing.
--- kit.text and kit.name are those of the last one.
function kit.kernel(file, name, mend)
  local source = assert(io.open(kit.replacement or kit.folder .. "/" .. file)):read "a":gsub("%.version 9%.4", ".version 9.0")
  kit.text = mend and mend(source) or source
  local m = wg.ptx { text = kit.text, name = file }
  kit.name = name or m.kernels[1]
  return m[kit.name]
end

function kit.random(dtype, shape, seed) return wg.randn { dtype = dtype, shape = shape, seed = seed } end

--- The places of D = A * B (+ C): A is M x K, B is K x N.
function kit.product(a, b, c)
  local m, k, n = a.shape[1], a.shape[2], b.shape[2]
  return function(visit)
    for i = 0, m - 1, 3 do
      for j = 0, n - 1, 5 do visit({ i, j }, wg.dot(a, i * k, 1, b, j, n, k) + (c and c[{ i, j }] or 0)) end
    end
  end
end

--- The same of A and B whose rows are both along K.
function kit.product_of_rows(a, b, m, n)
  local k = a.shape[2]
  return function(visit)
    for i = 0, m - 1, 3 do
      for j = 0, n - 1, 5 do visit({ i, j }, wg.dot(a, i * k, 1, b, j * k, 1, k)) end
    end
  end
end

return kit
