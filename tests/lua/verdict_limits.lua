-- What a verdict says of the launches in which numbers of 32 bits wrap around: they are outside of its domain, exactly.
local wg = require "wgrun"
local check = dofile((arg[0]:match ".*/" or "") .. "check.lua")

local function domain_of(property, of_index, type)
  local kernel = wg.kernel("k", { threads = 32 }, function(k)
    local D, rows, ld = k:param("D", "u8*"), k:param("rows", type or "u32"), k:param("ld", type or "u32")
    local of = { type = type or "u32" }
    local row, tid = k:mov(k:special "ctaid.x", of), k:mov(k:special "tid.x", of)
    k:if_(row:lt(rows), function()
      k:if_(tid:lt(ld), function()
        k:st_global_u8(k:element(D, of_index(k, row, tid, ld)), k:cvt_u16_u32(k:special "ctaid.x"))
      end)
    end)
  end)
  for _, one in ipairs(kernel:verdicts()) do
    if one.property == property then
      assert(one.verdict == "proved", one.verdict)
      return one.domain
    end
  end
end

local function limit(factor, most) return (most - 31) // factor + 1 end

for _, factor in ipairs { 33, 4096, 12345, 1 << 20, 1 << 22 } do
  for _, property in ipairs { "global-races", "bounds" } do
    local domain = domain_of(property, function(_, row, tid) return row * factor + tid end)
    check.equal(domain:match "rows <= (%d+)", tostring(limit(factor, (1 << 32) - 1)), domain)
  end
end
local signed = domain_of("global-races", function(_, row, tid) return row * 4096 + tid end, "s32")
check.equal(signed:match "rows <= (%d+)", tostring(limit(4096, (1 << 31) - 1)), signed)

-- However the index is computed, and where what wraps around is only compared or shifted back.
local million <const>, all = 1 << 20, (1 << 32) - 1
for name, case in pairs {
  shifted = { limit(1 << 22, all), function(_, row, tid) return (row << 22) + tid end },
  mad = { limit(million, all), function(k, row, tid) return k:mad_lo_u32(row, million, tid) end },
  ["in two steps"] = { limit(1 << 22, all), function(_, row, tid) return row * 2048 * 2048 + tid end },
  divided = { all // million + 1, function(k, row, tid) return k:div_u32(row * million, 1024) * 32 + tid end },
  ["shifted back"] = { all // (1 << 22) + 1, function(_, row, tid) return (row * (1 << 22) >> 22) * 32 + tid end },
} do
  local domain = domain_of("global-races", case[2])
  local limits = {}
  for most in domain:gmatch "rows <= (%d+)" do limits[#limits + 1] = most end
  check.equal(table.concat(limits, " "), tostring(case[1]), name)
end

-- Two numbers of the launch.
local both = domain_of("global-races", function(_, row, tid, ld) return row * ld + tid end)
assert(both:find("ld * rows <= 2^32", 1, true) or both:find("rows * ld <= 2^32", 1, true), both)

-- An index of 64 bits cannot wrap around, whatever its factor is, and a small one does not.
for _, index in ipairs {
  function(k, row, tid) return k:mul_wide_u32(row, 1 << 20) + k:cvt_u64_u32(tid) end,
  function(_, row, tid) return row + tid * 32 end,
} do
  local domain = domain_of("bounds", index)
  assert(not domain:find("rows <=", 1, true), domain)
end
