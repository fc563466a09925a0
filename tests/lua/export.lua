-- kernel:export and kernel:launch_rule. What is in the files: tests/cli/export.sh and tests/export.
local check = require "check"
local wg = require "wgrun"
local refuses = check.refuses

local kernel = wg.kernel("tiny", { threads = 32 }, function(k)
  k:param("M", "u32")
  k:param("N", "u32")
  k:param("scale", "f32")
  k:param("D", "f32*")
end)
local folder = os.tmpname()
os.remove(folder)

-- Rules that fit no launch.
refuses("kernel tiny, launch rule: there is no parameter `K`", function() kernel:launch_rule { rows = "K", columns = "N", m = 1, n = 1 } end)
refuses("kernel tiny, launch rule: `scale` is not u32", function() kernel:launch_rule { rows = "M", columns = "scale", m = 1, n = 1 } end)
refuses("kernel tiny, launch rule: `D` is not u32", function() kernel:launch_rule { rows = "D", columns = "N", m = 1, n = 1 } end)
refuses("kernel tiny, launch rule: rows and columns are the same parameter, `M`", function() kernel:launch_rule { rows = "M", columns = "M", m = 1, n = 1 } end)
refuses("kernel tiny, launch rule: m, n and parts must be 1 to 4294967295", function() kernel:launch_rule { rows = "M", columns = "N", m = 0, n = 1 } end)
refuses("kernel tiny, launch rule: m, n and parts must be 1 to 4294967295", function() kernel:launch_rule { rows = "M", columns = "N", m = 1, n = 1, parts = 1 << 32 } end)
refuses("kernel tiny, launch rule: there is no parameter `E`", function() kernel:launch_rule { notes = { E = "x" } } end)
refuses("kernel tiny, launch rule: the note about `D` must be one line without \\ and */", function() kernel:launch_rule { notes = { D = "*/ int x;" } } end)
refuses("kernel tiny, launch rule: the note about `D` must be one line without \\ and */", function() kernel:launch_rule { notes = { D = "a\nb" } } end)
refuses("kernel:launch_rule: option `notes`: expected a table that maps parameters to texts, got ...", function() kernel:launch_rule { notes = { "x" } } end)
refuses("kernel:launch_rule: option `columns`...", function() kernel:launch_rule { rows = "M" } end)
refuses("bad argument #1 to `export`: expected a string, got nothing", function() kernel:export() end)
refuses("bad argument #1 to `export`: expected the name of a folder...", function() kernel:export "" end)
refuses("bad argument #1 to `export`: expected the name of a folder...", function() kernel:export "a\0b" end)

-- The environment fails: nil, message, code.
local done, message, code = kernel:export "/no/such/parent/folder"
check.equal({ done, code }, { nil, "ENOENT" })
assert(message:find "/no/such/parent", message)

local text = function(name)
  local file <close> = assert(io.open(folder .. "/" .. name))
  return file:read "a"
end
done = assert(kernel:export(folder))
assert(text "tiny.json":find('"rule": "caller"', 1, true))
assert(not text "tiny.h":find "tiny_grid")
check.equal(done.files[1], "tiny.ptx")
check.equal(done.files[#done.files], "tiny.json")
check.equal(text "tiny.ptx", kernel:ptx())
assert((done.no_cubin == nil) == (done.registers ~= nil))

-- With a rule, and over the files that are there.
kernel:launch_rule { rows = "N", columns = "M", m = 128, n = 64, notes = { D = "M x N elements" } }
done = assert(kernel:export(folder))
assert(text "tiny.h":find("CUresult tiny_grid(const tiny_kernel *kernel, uint32_t N, uint32_t M, unsigned *grid_x);", 1, true))
assert(text "tiny.cu":find("D: f32*; M x N elements", 1, true))
assert(text "tiny.json":find('"rule": "persistent_tiles"', 1, true))

-- wg.gemm's kernels have theirs.
local gemm = wg.gemm { problem = { 512, 512, 4096 }, tile = { 128, 128 }, splits = 4, cluster = 2 }
done = assert(gemm.kernel:export(folder))
assert(text "gemm.h":find("gemm_grid", 1, true) and text "gemm.h":find("zeros before the first launch", 1, true))
assert(text "gemm.cu":find("/ 256 * ((N + 128ull - 1) / 128) * 4", 1, true), text "gemm.cu":match "tiles =[^;]*")

gemm = wg.gemm { problem = { 512, 512, 4096 }, tile = { 128, 128 }, cluster = { 2, 4 } }
assert(gemm.kernel:export(folder))
assert(text "gemm.cu":find("/ 256 * ((N + 512ull - 1) / 512)", 1, true), text "gemm.cu":match "tiles =[^;]*")

for _, kernel_name in ipairs { "tiny", "gemm" } do
  for _, ending in ipairs { "ptx", "cubin", "cu", "h", "c", "json" } do os.remove(folder .. "/" .. kernel_name .. "." .. ending) end
end
assert(os.remove(folder), "the folder is not empty")
