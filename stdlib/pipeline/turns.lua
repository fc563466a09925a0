-- Warpgroups that take turns, by named barriers: while one issues products, the others compute with theirs.

local arguments = require "wgrun.arguments"
local classes = require "wgrun.classes"
local native = require "wgrun.native"

local k = native.methods.builder
local options = arguments.options

--- Warpgroups that take turns in a fixed order, made by k:turns.
--- @field members integer  the number of warpgroups
local turns = classes.new "turns"

--- Lets warpgroups take turns: `turns:take` waits until it is the executing warpgroup's turn, `turns:pass` hands over
--- to the next one. The first member begins. All members take and pass equally often, and then call `turns:finish`.
--- Where each issues its wgmma between `take` and `pass`, the tensor core is busy with one warpgroup's products while
--- the others compute with what theirs gave. Each member executes this call. PTX ISA 9.7.13.1.
--- @param options table
--- @option members integer[2,8]  the warpgroups that take turns
--- @option member reg  u32: the number of the executing warpgroup among them, from 0
--- @option barrier integer  the first of as many named barriers as there are members, 1 to 15
--- @return turns
--- @example
---   local turns = k:turns { members = 2, member = (k:special "tid.x" >> 7) - 1, barrier = 1 }
function k:turns(opts)
  options("k:turns", opts)
  arguments.object("k:turns, member", opts.member, "reg")
  local members = opts.members
  local barrier = arguments.whole("k:turns: barrier", opts.barrier, 1, 16 - members)
  local last = opts.member:eq(members - 1)
  local following = opts.member + (barrier + 1)
  self:mov(following, barrier, { guard = last })
  self:bar_arrive(barrier, { threads = 256, guard = last })
  return setmetatable({
    k = self, members = members, own = opts.member + barrier, following = following, first = opts.member:eq(0),
    barrier = barrier,
  }, turns)
end

--- Waits until it is the executing warpgroup's turn.
function turns:take() self.k:bar_sync(self.own, { threads = 256 }) end

--- Ends the turn: the next warpgroup may begin.
function turns:pass() self.k:bar_arrive(self.following, { threads = 256 }) end

--- Ends the last round, so that no arrival is left at the barriers. Each member executes it once, at its end.
function turns:finish() self.k:bar_sync(self.barrier, { threads = 256, guard = self.first }) end

classes.shield(k, "k:", { "turns" })
classes.shield(turns, "turns:", { "take", "pass", "finish" })
