-- Makes the kernels of the standard library that tests/mutation runs, for `wgrun ptx`.
local cases = dofile((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../mutation/cases.lua")
for _, case in ipairs(cases) do
  local good, problem = pcall(case.body)
  -- A launch that is only traced leaves no results; what a case says of them is not asked here.
  if not good and not tostring(problem):find "result" then print(case.name, problem) end
end
