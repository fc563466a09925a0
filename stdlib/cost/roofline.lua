-- The roofline by which plans and tuning compare choices: the chip that they are for, and how long it takes. Its
-- limits, which the timeline shares, and the chips are in wgrun/chips.hpp, what was fitted is in fitted.lua.

local wg = require "wgrun"
local fitted = require "wgrun.cost.fitted"
local native = require "wgrun.native"

local module = {}

local limits = native.roofline
local h200 = wg.chips["NVIDIA H200"] -- which plans made without a GPU are for, and on which the models were fitted
local chip

-- How many clusters of so many CTAs run at a time on an H100 or H200, at least: what was seen there, and from 9 on
-- what an H200's driver reports. 40 clusters of 3, 33 of 4, 20 of 6 and 16 of 7 or 8 take two rounds (a GPC has 16 or
-- 18 SMs, or fewer).
local clusters = { h200.sm_count, h200.sm_count // 2, 36, 30, 20, 16, 14, 14, 9, 7, 7, 7, 7, 7, 7, 7 }

--- The chip that kernels run on, an H200 where there is none: `sms`; `l2`, how much longer its L2 cache takes for the
--- same bytes of each SM than an H200's, which has as many slices for each byte of its size; `row_cycles`, what 128
--- bytes take on their way from the L2 cache to an SM, at least, where all SMs read; `memory`, the bytes that its
--- memory delivers in a cycle of an SM, to all of them.
function module.chip()
  if not chip then
    local device = wg.device() or h200
    local row = wg.chips[device.name] or h200
    local function known(key) return device[key] > 0 and device[key] or row[key] end -- 0: the driver has none
    local sms = known "sm_count"
    local l2 = h200.l2_bytes / h200.sm_count * sms / known "l2_bytes"
    local memory = known "memory_bandwidth" / math.min(row.clock, limits.long_clock)
    chip = { sms = sms, l2 = l2, row_cycles = fitted.row_cycles * l2 ^ 2, memory = memory }
  end
  return chip
end

--- The number of SMs that persistent CTAs fill.
function module.sms() return module.chip().sms end

--- How many clusters of so many CTAs plans expect to run at a time; kernel:resident_clusters asks the driver.
function module.clusters_at_a_time(ctas) return math.max(1, math.min(clusters[ctas], module.sms() // ctas)) end

--- Cycles in which the tensor cores of an SM multiply m rows by n. bytes: of a row along K.
function module.product_cycles(m, n, bytes) return m * n * bytes / limits.product end

--- a / b, rounded up.
function module.ceil_div(a, b) return (a + b - 1) // b end

--- How long `units` take where so many run at a time; cycles(n): how long a round of n of them takes.
function module.in_rounds(units, at_a_time, cycles)
  local rest = units % at_a_time
  return units // at_a_time * cycles(at_a_time) + (rest > 0 and cycles(rest) or 0)
end

--- How long what is limited in two ways takes: the longer time, and of the shorter one the share that the longer one
--- does not hide.
function module.limited(one, other, exposed) return math.max(one, other) + exposed * math.min(one, other) end

return module
