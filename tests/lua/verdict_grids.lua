-- A kernel may be for grids of some sizes alone: launches of others are refused, and its proofs are of these.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

--- Each CTA writes the word of D that place(k) says.
local function writer(grid, place, cluster)
  return wg.kernel("writer", { threads = 32, grid = grid, cluster = cluster }, function(k)
    local D = k:param("D", "u32*")
    k:if_(k:special "tid.x":eq(0), function() k:st_global_u32(k:element(D, place(k)), 1) end)
  end)
end

local verdict = check.verdict

local function pairs_of(k) return k:special "ctaid.y" * 2 + k:special "ctaid.x" end
local function rows(k) return k:special "ctaid.x" end
local function of_clusters(k) return k:special "ctaid.y" * 2 + k:special "cluster_ctarank" end

for what, one in pairs {
  ["two along x"] = { writer({ 2, "any", 1 }, pairs_of), "8 * nctaid.y" },
  ["one along y"] = { writer({ "any", 1, 1 }, rows), "4 * nctaid.x" },
  ["a grid"] = { writer({ 2, 3 }, pairs_of), "24" },
  ["a cluster along x"] = { writer({ 2, "any", 1 }, of_clusters, { 2 }), "8 * nctaid.y" },
} do
  check.equal({ what, verdict(one[1], "global-races").verdict }, { what, "proved" })
  check.equal({ what, verdict(one[1], "bounds").domain:match "D holds .- bytes" },
    { what, ("D holds %s bytes"):format(one[2]) })
end
check.equal(verdict(writer({ "any", 1, 1 }, rows), "global-races").domain, "all launches")

for what, kernel in pairs {
  ["any number along x"] = writer({ "any", "any", 1 }, pairs_of),
  ["three along x"] = writer({ 3, "any", 1 }, pairs_of),
  ["three along x of a grid"] = writer({ 3, 3 }, pairs_of),
  ["two along y, which is not read"] = writer({ "any", 2, 1 }, rows),
  ["two along z, which is not read"] = writer({ 2, "any", 2 }, pairs_of),
  ["four clusters along x"] = writer({ 8, "any", 1 }, of_clusters, { 2 }),
  ["a word for all"] = writer({ 4, 1, 1 }, function() return 0 end),
} do
  if verdict(kernel, "global-races").verdict == "proved" then error("proved, and wrong: " .. what) end
end

local D, kernel = wg.zeros("u32", { 10 }), writer({ 2, "any", 1 }, pairs_of)
kernel:run { grid = { 2, 5 }, args = { D }, backend = "sim" }
check.equal(D:totable(), { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 })
for _, grid in ipairs { { 1, 5 }, { 4, 5 }, { 2, 5, 2 } } do
  check.raises("the kernel is declared for {2, any, 1} alone", kernel.run, kernel,
    { grid = grid, args = { D }, backend = "sim" })
end
check.raises("the kernel is declared for {2, any, 1} alone", kernel.verdicts, kernel, { grid = { 3, 3 } })
check.raises("is no whole number of clusters", writer, { 3, "any" }, of_clusters, { 2 })
check.raises('option `grid`: entry 2 is "all", must be an integer or "any"', writer, { 3, "all" }, rows)
check.raises("grid has 4 entries", writer, { 3, "any", "any", "any" }, rows)
check.raises("entry 1 is 0", writer, { 0, "any" }, rows)
