-- Kernels for the driver that tests/worker/fake_cuda.cpp pretends: their names say what it makes of them.
local wg = require "wgrun"
local kernels = {}

-- Adds 1 to the elements of a tensor.
kernels.add_one = wg.kernel("add_one", { threads = 32 }, function(k)
  local data, count = k:param("data", "f32*"), k:param("count", "u32")
  local i = k:special "tid.x"
  k:if_(i:lt(count), function()
    local at = k:element(data, i)
    k:st_global_f32(at, k:ld_global_f32(at) + 1.0)
  end)
end)

--- A kernel without parameters.
function kernels.named(name)
  return wg.kernel(name, { threads = 32 }, function() end)
end

--- What `f` raises: an error object with a message, a code and a fix.
function kernels.raised(f, ...)
  local good, problem = pcall(f, ...)
  assert(not good, "it worked")
  return problem
end

--- `problem` must have this code, and a message with this text.
function kernels.expect(problem, code, text)
  assert(problem.code == code and problem.message:find(text, 1, true),
    ("%s, %s: expected %s, %s"):format(problem.code, problem.message, code, text))
end

return kernels
