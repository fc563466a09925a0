-- Names of chunks and files in what is written: they stay within the comment or the string in which they stand.
local wg = require "wgrun"

local evil = 'folder/k\n#define PWNED "\\\r??\n#define MORE ]==] \\'
local code = [[
local wg = ...
return wg.kernel("k", { threads = 32 }, function(k)
  local d = k:param("D", "u32*")
  k:st_global_u32(k:element(d, 0), 1)
end)]]
local kernel = load(code, "@" .. evil)(wg)
assert(#kernel:check() == 0)

local function harmless(text, what)
  for line in (text .. "\n"):gmatch "([^\n\r]*)[\n\r]" do
    assert(not line:find "^%s*#define" , what .. ": " .. line)
  end
  assert(text:find "#define PWNED", what .. " names the chunk")
end
harmless(kernel:ptx(), "PTX")
harmless(kernel:cuda(), "CUDA C++")

-- An error at a line of the chunk, as it is printed.
local good, e = pcall(load("local wg = ... wg.kernel('k', {threads = 0}, print)", "@" .. evil), wg)
assert(not good and e.file == evil, tostring(e))
assert(not tostring(e):find "\n#define", tostring(e))

-- What is exported for compilers.
local folder = os.tmpname()
os.remove(folder)
for _, file in ipairs(assert(kernel:export(folder)).files) do
  local path = file:find "/" and file or folder .. "/" .. file
  local text = assert(io.open(path, "rb")):read "a"
  if path:find "%.ptx$" or path:find "%.cu$" or path:find "%.c$" or path:find "%.h$" then
    for line in (text .. "\n"):gmatch "([^\n\r]*)[\n\r]" do
      assert(not line:find "^%s*#define [PM]", path .. ": " .. line)
    end
  end
  os.remove(path)
end
os.remove(folder)
