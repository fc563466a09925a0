---@meta
-- Printed by `wgrun help --annotations meta`, for the Lua language server.

---@class wgrun.k
local k = {}

---@class wgrun.k.abs.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: s16, s32, s64, f32, f64, f16, f16x2, bf16, bf16x2
---@field ftz? boolean subnormal inputs and results become zero

---d = |a|.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param options? wgrun.k.abs.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, options?: wgrun.k.abs.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:abs(d, a, options) end

---@class wgrun.k.activemask.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32

---The lanes of the warp that execute it now.
---@param d wgrun.reg a u32 register; by default a new one
---@param options? wgrun.k.activemask.options qualifiers and operands by name
---@overload fun(self: wgrun.k, options?: wgrun.k.activemask.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:activemask(d, options) end

---@class wgrun.k.add.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u16, s16, u32, s32, u64, s64, u16x2, s16x2, f32, f64, f16, f16x2, bf16, bf16x2
---@field round? string the rounding mode: rn, rz, rm, rp, contract
---@field ftz? boolean subnormal inputs and results become zero
---@field sat? boolean results are limited to 0 to 1, or to the range of the type

---d = a + b.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param options? wgrun.k.add.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.add.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:add(d, a, b, options) end

---@class wgrun.k.and.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: pred, b16, b32, b64

---d = a & b.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param options? wgrun.k.and.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.and.options): wgrun.reg
---@return wgrun.reg # the destination `d`
k["and"] = function(self, d, a, b, options) end

---@class wgrun.k.applypriority.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: global
---@field level? string the level of the cache, or the priority there: L2::evict_normal
---@field bytes? number an integer from 128 to 128

---Gives the 128 bytes at an address the priority of the L2 cache that is usual.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.applypriority.options qualifiers and operands by name
function k:applypriority(a, options) end

---@class wgrun.k.atom.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field type? string the type of the operation and of its operands: u32, s32, u64, f32, f64, f16, bf16, f16x2, bf16x2, s64, b32, b64, b128
---@field space? string the state space of the address: global, shared, shared::cta, shared::cluster
---@field vec? string the number of values moved at once: 1, v2, v4, v8
---@field op? string the operation: add, min, max, inc, dec, and, or, xor, exch
---@field sem? string the memory order and its scope: relaxed.cta, relaxed.cluster, relaxed.gpu, relaxed.sys, acquire.cta, acquire.cluster, acquire.gpu, acquire.sys, release.cta, release.cluster, release.gpu, release.sys, acq_rel.cta, acq_rel.cluster, acq_rel.gpu, acq_rel.sys
---@field cache? boolean an operand holds the L2 cache policy
---@field noftz? boolean subnormal values are kept
---@field policy? wgrun.reg a u64 register

---Combines a value with memory, atomically, and returns the old value.
---@param d wgrun.reg|table|wgrun.regs a register, or a list of registers; by default a new one
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param b wgrun.reg|table|wgrun.regs|number a register, or a list of registers, or a number
---@param options? wgrun.k.atom.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|wgrun.shared, b: wgrun.reg|table|wgrun.regs|number, options?: wgrun.k.atom.options): wgrun.reg|wgrun.regs
---@return wgrun.reg|wgrun.regs # the destination `d`
function k:atom(d, a, b, options) end

---@class wgrun.k.atom_cas.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field type? string the type of the operation and of its operands: b16, b32, b64
---@field space? string the state space of the address: global, shared, shared::cta, shared::cluster
---@field op? string the operation: cas
---@field sem? string the memory order and its scope: relaxed.cta, relaxed.cluster, relaxed.gpu, relaxed.sys, acquire.cta, acquire.cluster, acquire.gpu, acquire.sys, release.cta, release.cluster, release.gpu, release.sys, acq_rel.cta, acq_rel.cluster, acq_rel.gpu, acq_rel.sys

---Stores c if memory holds b, atomically, and returns the old value.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param b wgrun.reg|number a register, or a number
---@param c wgrun.reg|number a register, or a number
---@param options? wgrun.k.atom_cas.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|wgrun.shared, b: wgrun.reg|number, c: wgrun.reg|number, options?: wgrun.k.atom_cas.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:atom_cas(d, a, b, c, options) end

---@class wgrun.k.atom_cas_b128.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field type? string the type of the operation and of its operands: b128
---@field space? string the state space of the address: global, shared, shared::cta, shared::cluster
---@field op? string the operation: cas
---@field sem? string the memory order and its scope: relaxed.cta, relaxed.cluster, relaxed.gpu, relaxed.sys, acquire.cta, acquire.cluster, acquire.gpu, acquire.sys, release.cta, release.cluster, release.gpu, release.sys, acq_rel.cta, acq_rel.cluster, acq_rel.gpu, acq_rel.sys

---The same of 128 bits, which are in registers.
---@param d wgrun.reg a b128 register; by default a new one
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param b wgrun.reg a b128 register
---@param c wgrun.reg a b128 register
---@param options? wgrun.k.atom_cas_b128.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|wgrun.shared, b: wgrun.reg, c: wgrun.reg, options?: wgrun.k.atom_cas_b128.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:atom_cas_b128(d, a, b, c, options) end

---@class wgrun.k.bar_arrive.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field threads? wgrun.reg|number a u32 register, or an integer from 32 to 1024

---Arrives at a barrier of the CTA without waiting; `threads` counts all participants.
---@param barrier wgrun.reg|number a u32 register, or an integer from 0 to 15
---@param options? wgrun.k.bar_arrive.options qualifiers and operands by name
function k:bar_arrive(barrier, options) end

---@class wgrun.k.bar_red.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u32, pred
---@field op? string the operation: popc, and, or
---@field threads? wgrun.reg|number a u32 register, or an integer from 0 to 1024

---Waits as bar.sync, and counts or combines the predicates of all threads that wait.
---@param d wgrun.reg a register; by default a new one
---@param barrier wgrun.reg|number a u32 register, or an integer from 0 to 15
---@param c wgrun.reg a pred register
---@param options? wgrun.k.bar_red.options qualifiers and operands by name
---@overload fun(self: wgrun.k, barrier: wgrun.reg|number, c: wgrun.reg, options?: wgrun.k.bar_red.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:bar_red(d, barrier, c, options) end

---@class wgrun.k.bar_sync.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field threads? wgrun.reg|number a u32 register, or an integer from 0 to 1024

---Waits at a barrier of the CTA; threads = 0: all threads of the CTA.
---@param barrier? wgrun.reg|number a u32 register, or an integer from 0 to 15
---@param options? wgrun.k.bar_sync.options qualifiers and operands by name
function k:bar_sync(barrier, options) end

---@class wgrun.k.bar_warp_sync.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold

---Waits for lanes of the warp, and orders their memory accesses.
---@param membermask? wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.bar_warp_sync.options qualifiers and operands by name
function k:bar_warp_sync(membermask, options) end

---@class wgrun.k.barrier_arrive.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field threads? wgrun.reg|number a u32 register, or an integer from 32 to 1024

---As bar.arrive, also where the lanes of a warp have diverged.
---@param barrier wgrun.reg|number a u32 register, or an integer from 0 to 15
---@param options? wgrun.k.barrier_arrive.options qualifiers and operands by name
function k:barrier_arrive(barrier, options) end

---@class wgrun.k.barrier_cluster_arrive.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field sem? string the memory order and its scope: release, relaxed
---@field aligned? boolean all threads of the warp execute it together

---Arrives at the barrier of the cluster without waiting.
---@param options? wgrun.k.barrier_cluster_arrive.options qualifiers and operands by name
function k:barrier_cluster_arrive(options) end

---@class wgrun.k.barrier_cluster_arrive_unaligned.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field sem? string the memory order and its scope: release, relaxed

---As barrier.cluster.arrive, also where the lanes of a warp have diverged.
---@param options? wgrun.k.barrier_cluster_arrive_unaligned.options qualifiers and operands by name
function k:barrier_cluster_arrive_unaligned(options) end

---@class wgrun.k.barrier_cluster_wait.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field aligned? boolean all threads of the warp execute it together

---Waits until all threads of the cluster have arrived at its barrier.
---@param options? wgrun.k.barrier_cluster_wait.options qualifiers and operands by name
function k:barrier_cluster_wait(options) end

---@class wgrun.k.barrier_cluster_wait_unaligned.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold

---As barrier.cluster.wait, also where the lanes of a warp have diverged.
---@param options? wgrun.k.barrier_cluster_wait_unaligned.options qualifiers and operands by name
function k:barrier_cluster_wait_unaligned(options) end

---@class wgrun.k.barrier_red.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u32, pred
---@field op? string the operation: popc, and, or
---@field threads? wgrun.reg|number a u32 register, or an integer from 0 to 1024

---As bar.red, also where the lanes of a warp have diverged.
---@param d wgrun.reg a register; by default a new one
---@param barrier wgrun.reg|number a u32 register, or an integer from 0 to 15
---@param c wgrun.reg a pred register
---@param options? wgrun.k.barrier_red.options qualifiers and operands by name
---@overload fun(self: wgrun.k, barrier: wgrun.reg|number, c: wgrun.reg, options?: wgrun.k.barrier_red.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:barrier_red(d, barrier, c, options) end

---@class wgrun.k.barrier_sync.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field threads? wgrun.reg|number a u32 register, or an integer from 0 to 1024

---As bar.sync, also where the lanes of a warp have diverged.
---@param barrier? wgrun.reg|number a u32 register, or an integer from 0 to 15
---@param options? wgrun.k.barrier_sync.options qualifiers and operands by name
function k:barrier_sync(barrier, options) end

---@class wgrun.k.bfe.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u32, s32, u64, s64

---`length` bits of a from `position` on; of signed types with their sign.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param position wgrun.reg|number a u32 register, or a number
---@param length wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.bfe.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, position: wgrun.reg|number, length: wgrun.reg|number, options?: wgrun.k.bfe.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:bfe(d, a, position, length, options) end

---@class wgrun.k.bfi.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32, b64

---Puts the lowest `length` bits of a into b, from bit `position` on.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param position wgrun.reg|number a u32 register, or a number
---@param length wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.bfi.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, position: wgrun.reg|number, length: wgrun.reg|number, options?: wgrun.k.bfi.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:bfi(d, a, b, position, length, options) end

---@class wgrun.k.bfind.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u32, s32, u64, s64

---The place of the highest bit of a that differs from the sign; 0xFFFFFFFF if there is none.
---@param d wgrun.reg a u32 register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param options? wgrun.k.bfind.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, options?: wgrun.k.bfind.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:bfind(d, a, options) end

---@class wgrun.k.bfind_shiftamt.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u32, s32, u64, s64

---The left shift that brings the bit that bfind finds to the top; 0xFFFFFFFF if there is none.
---@param d wgrun.reg a u32 register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param options? wgrun.k.bfind_shiftamt.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, options?: wgrun.k.bfind_shiftamt.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:bfind_shiftamt(d, a, options) end

---@class wgrun.k.bmsk_clamp.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32

---`length` ones from bit `position` on; none from bit 32 on.
---@param d wgrun.reg a u32 register; by default a new one
---@param position wgrun.reg|number a u32 register, or a number
---@param length wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.bmsk_clamp.options qualifiers and operands by name
---@overload fun(self: wgrun.k, position: wgrun.reg|number, length: wgrun.reg|number, options?: wgrun.k.bmsk_clamp.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:bmsk_clamp(d, position, length, options) end

---@class wgrun.k.bmsk_wrap.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32

---`length` ones from bit `position` on, both modulo 32.
---@param d wgrun.reg a u32 register; by default a new one
---@param position wgrun.reg|number a u32 register, or a number
---@param length wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.bmsk_wrap.options qualifiers and operands by name
---@overload fun(self: wgrun.k, position: wgrun.reg|number, length: wgrun.reg|number, options?: wgrun.k.bmsk_wrap.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:bmsk_wrap(d, position, length, options) end

---@class wgrun.k.brev.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32, b64

---The bits of a in reverse order.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param options? wgrun.k.brev.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, options?: wgrun.k.brev.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:brev(d, a, options) end

---@class wgrun.k.brkpt.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold

---A breakpoint of the hardware; the simulator passes it.
---@param options? wgrun.k.brkpt.options qualifiers and operands by name
function k:brkpt(options) end

---@class wgrun.k.clz.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32, b64

---The number of zeros above the highest one of a.
---@param d wgrun.reg a u32 register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param options? wgrun.k.clz.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, options?: wgrun.k.clz.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:clz(d, a, options) end

---@class wgrun.k.cnot.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b16, b32, b64

---d = a == 0 ? 1 : 0.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param options? wgrun.k.cnot.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, options?: wgrun.k.cnot.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:cnot(d, a, options) end

---@class wgrun.k.copysign.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: f32, f64

---The magnitude of b with the sign of a.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param options? wgrun.k.copysign.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.copysign.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:copysign(d, a, b, options) end

---@class wgrun.k.cos.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: f32
---@field approx? boolean a fast approximation in place of the correctly rounded result
---@field ftz? boolean subnormal inputs and results become zero

---Cosine of a, in radians.
---@param d wgrun.reg a f32 register; by default a new one
---@param a wgrun.reg|number a f32 register, or a number
---@param options? wgrun.k.cos.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, options?: wgrun.k.cos.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:cos(d, a, options) end

---@class wgrun.k.cp_async.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field cache? boolean an operand holds the L2 cache policy
---@field cop? string the cache operator: ca, cg
---@field prefetch? string how much is prefetched into the L2 cache: L2::64B, L2::128B, L2::256B
---@field bytes? integer the bytes that are copied: 4, 8, 16
---@field src_size? wgrun.reg a u32 register
---@field policy? wgrun.reg a u64 register

---Copies 4, 8 or 16 bytes to shared memory some time later: the first src_size, then zeros.
---@param d wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.cp_async.options qualifiers and operands by name
function k:cp_async(d, a, options) end

---@class wgrun.k.cp_async_bulk.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field multicast? boolean the data is multicast to the CTAs of a mask
---@field cache? boolean an operand holds the L2 cache policy
---@field mask? wgrun.reg|number a u16 register, or an integer from 0 to 65535
---@field policy? wgrun.reg a u64 register

---Copies bytes from global to shared memory; an mbarrier counts them.
---@param d wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param size wgrun.reg|number a u32 register, or an integer from 16 to 1048560
---@param mbarrier wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.cp_async_bulk.options qualifiers and operands by name
function k:cp_async_bulk(d, a, size, mbarrier, options) end

---@class wgrun.k.cp_async_bulk_cluster.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address

---Copies bytes from this CTA's shared memory to another's, whose mbarrier counts them.
---@param d wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param size wgrun.reg|number a u32 register, or an integer from 16 to 1048560
---@param mbarrier wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.cp_async_bulk_cluster.options qualifiers and operands by name
function k:cp_async_bulk_cluster(d, a, size, mbarrier, options) end

---@class wgrun.k.cp_async_bulk_commit_group.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold

---Commits the thread's bulk copies since the last commit to a new bulk group.
---@param options? wgrun.k.cp_async_bulk_commit_group.options qualifiers and operands by name
function k:cp_async_bulk_commit_group(options) end

---@class wgrun.k.cp_async_bulk_prefetch.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field cache? boolean an operand holds the L2 cache policy
---@field policy? wgrun.reg a u64 register

---Prefetches bytes of global memory into the L2 cache.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param size wgrun.reg|number a u32 register, or an integer from 16 to 1048560
---@param options? wgrun.k.cp_async_bulk_prefetch.options qualifiers and operands by name
function k:cp_async_bulk_prefetch(a, size, options) end

---@class wgrun.k.cp_async_bulk_prefetch_tensor.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field dim? string the dimensions of the tensor: 1d, 2d, 3d, 4d, 5d
---@field cache? boolean an operand holds the L2 cache policy
---@field policy? wgrun.reg a u64 register

---Prefetches a box of a tensor into the L2 cache.
---@param map wgrun.reg a u64 register
---@param coordinates table|wgrun.regs a list of s32 registers
---@param options? wgrun.k.cp_async_bulk_prefetch_tensor.options qualifiers and operands by name
function k:cp_async_bulk_prefetch_tensor(map, coordinates, options) end

---@class wgrun.k.cp_async_bulk_prefetch_tensor_im2col.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field dim? string the dimensions of the tensor: 3d, 4d, 5d
---@field cache? boolean an operand holds the L2 cache policy
---@field policy? wgrun.reg a u64 register

---Prefetches pixels of a tensor into the L2 cache.
---@param map wgrun.reg a u64 register
---@param coordinates table|wgrun.regs a list of s32 registers
---@param offsets table|wgrun.regs a list of u16 registers
---@param options? wgrun.k.cp_async_bulk_prefetch_tensor_im2col.options qualifiers and operands by name
function k:cp_async_bulk_prefetch_tensor_im2col(map, coordinates, offsets, options) end

---@class wgrun.k.cp_async_bulk_store.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field cache? boolean an operand holds the L2 cache policy
---@field policy? wgrun.reg a u64 register

---Copies bytes from shared to global memory, in a bulk group.
---@param d wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param size wgrun.reg|number a u32 register, or an integer from 16 to 1048560
---@param options? wgrun.k.cp_async_bulk_store.options qualifiers and operands by name
function k:cp_async_bulk_store(d, a, size, options) end

---@class wgrun.k.cp_async_bulk_tensor.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field dim? string the dimensions of the tensor: 1d, 2d, 3d, 4d, 5d
---@field multicast? boolean the data is multicast to the CTAs of a mask
---@field cache? boolean an operand holds the L2 cache policy
---@field mask? wgrun.reg|number a u16 register, or an integer from 0 to 65535
---@field policy? wgrun.reg a u64 register

---Copies a box of a tensor to shared memory, of several CTAs with a mask; an mbarrier counts the bytes.
---@param d wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param map wgrun.reg a u64 register
---@param coordinates table|wgrun.regs a list of s32 registers
---@param mbarrier wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.cp_async_bulk_tensor.options qualifiers and operands by name
function k:cp_async_bulk_tensor(d, map, coordinates, mbarrier, options) end

---@class wgrun.k.cp_async_bulk_tensor_im2col.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field dim? string the dimensions of the tensor: 3d, 4d, 5d
---@field multicast? boolean the data is multicast to the CTAs of a mask
---@field cache? boolean an operand holds the L2 cache policy
---@field mask? wgrun.reg|number a u16 register, or an integer from 0 to 65535
---@field policy? wgrun.reg a u64 register

---Copies the pixels of a convolution to shared memory, of several CTAs with a mask; an mbarrier counts the bytes.
---@param d wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param map wgrun.reg a u64 register
---@param coordinates table|wgrun.regs a list of s32 registers
---@param mbarrier wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param offsets table|wgrun.regs a list of u16 registers
---@param options? wgrun.k.cp_async_bulk_tensor_im2col.options qualifiers and operands by name
function k:cp_async_bulk_tensor_im2col(d, map, coordinates, mbarrier, offsets, options) end

---@class wgrun.k.cp_async_bulk_tensor_store.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field dim? string the dimensions of the tensor: 1d, 2d, 3d, 4d, 5d
---@field cache? boolean an operand holds the L2 cache policy
---@field policy? wgrun.reg a u64 register

---Copies a box from shared memory to a tensor, in a bulk group.
---@param map wgrun.reg a u64 register
---@param coordinates table|wgrun.regs a list of s32 registers
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.cp_async_bulk_tensor_store.options qualifiers and operands by name
function k:cp_async_bulk_tensor_store(map, coordinates, a, options) end

---@class wgrun.k.cp_async_bulk_tensor_store_im2col.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field dim? string the dimensions of the tensor: 3d, 4d, 5d
---@field cache? boolean an operand holds the L2 cache policy
---@field policy? wgrun.reg a u64 register

---Copies pixels from shared memory to a tensor, in a bulk group.
---@param map wgrun.reg a u64 register
---@param coordinates table|wgrun.regs a list of s32 registers
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.cp_async_bulk_tensor_store_im2col.options qualifiers and operands by name
function k:cp_async_bulk_tensor_store_im2col(map, coordinates, a, options) end

---@class wgrun.k.cp_async_bulk_wait_group.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field read? boolean waits only until the sources have been read

---Waits until at most n of the thread's newest groups run; with read, until their sources are read.
---@param n number an integer from 0 to 2147483647
---@param options? wgrun.k.cp_async_bulk_wait_group.options qualifiers and operands by name
function k:cp_async_bulk_wait_group(n, options) end

---@class wgrun.k.cp_async_commit_group.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold

---Commits the thread's cp.async since the last commit to a new cp.async group.
---@param options? wgrun.k.cp_async_commit_group.options qualifiers and operands by name
function k:cp_async_commit_group(options) end

---@class wgrun.k.cp_async_ignore_src.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field cache? boolean an operand holds the L2 cache policy
---@field cop? string the cache operator: ca, cg
---@field prefetch? string how much is prefetched into the L2 cache: L2::64B, L2::128B, L2::256B
---@field bytes? integer the bytes that are copied: 4, 8, 16
---@field policy? wgrun.reg a u64 register

---As cp.async; where the predicate is true, it writes zeros and reads nothing.
---@param d wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param ignore_src wgrun.reg a pred register
---@param options? wgrun.k.cp_async_ignore_src.options qualifiers and operands by name
function k:cp_async_ignore_src(d, a, ignore_src, options) end

---@class wgrun.k.cp_async_mbarrier_arrive.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared, shared::cta
---@field noinc? boolean the pending count of the mbarrier is not incremented

---Arrives at an mbarrier when the thread's cp.async so far have come; without noinc the phase expects one arrival more for it.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.cp_async_mbarrier_arrive.options qualifiers and operands by name
function k:cp_async_mbarrier_arrive(a, options) end

---@class wgrun.k.cp_async_wait_all.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold

---Waits for all cp.async of the thread, in groups or not.
---@param options? wgrun.k.cp_async_wait_all.options qualifiers and operands by name
function k:cp_async_wait_all(options) end

---@class wgrun.k.cp_async_wait_group.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold

---Waits until at most n of the thread's newest cp.async groups are pending.
---@param n number an integer from 0 to 2147483647
---@param options? wgrun.k.cp_async_wait_group.options qualifiers and operands by name
function k:cp_async_wait_group(n, options) end

---@class wgrun.k.cp_reduce_async_bulk.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field type? string the type of the operation and of its operands: u32, s32, u64, f32, f64, f16, bf16, s64, b32, b64
---@field op? string the operation: add, min, max, inc, dec, and, or, xor
---@field cache? boolean an operand holds the L2 cache policy
---@field noftz? boolean subnormal values are kept
---@field policy? wgrun.reg a u64 register

---Reduces bytes of shared memory into global memory, in a bulk group.
---@param d wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param size wgrun.reg|number a u32 register, or an integer from 16 to 1048560
---@param options? wgrun.k.cp_reduce_async_bulk.options qualifiers and operands by name
function k:cp_reduce_async_bulk(d, a, size, options) end

---@class wgrun.k.cp_reduce_async_bulk_cluster.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field type? string the type of the operation and of its operands: u32, s32, u64, b32
---@field op? string the operation: add, min, max, inc, dec, and, or, xor

---Reduces bytes of this CTA's shared memory into another's, whose mbarrier counts them.
---@param d wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param size wgrun.reg|number a u32 register, or an integer from 16 to 1048560
---@param mbarrier wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.cp_reduce_async_bulk_cluster.options qualifiers and operands by name
function k:cp_reduce_async_bulk_cluster(d, a, size, mbarrier, options) end

---@class wgrun.k.cp_reduce_async_bulk_tensor.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field op? string the operation: add, min, max, inc, dec, and, or, xor
---@field dim? string the dimensions of the tensor: 1d, 2d, 3d, 4d, 5d
---@field cache? boolean an operand holds the L2 cache policy
---@field policy? wgrun.reg a u64 register

---Reduces a box of shared memory into a tensor, in a bulk group; the tensor map has the type.
---@param map wgrun.reg a u64 register
---@param coordinates table|wgrun.regs a list of s32 registers
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.cp_reduce_async_bulk_tensor.options qualifiers and operands by name
function k:cp_reduce_async_bulk_tensor(map, coordinates, a, options) end

---@class wgrun.k.cp_reduce_async_bulk_tensor_im2col.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field op? string the operation: add, min, max, inc, dec, and, or, xor
---@field dim? string the dimensions of the tensor: 3d, 4d, 5d
---@field cache? boolean an operand holds the L2 cache policy
---@field policy? wgrun.reg a u64 register

---Reduces pixels of shared memory into a tensor, in a bulk group; the tensor map has the type.
---@param map wgrun.reg a u64 register
---@param coordinates table|wgrun.regs a list of s32 registers
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.cp_reduce_async_bulk_tensor_im2col.options qualifiers and operands by name
function k:cp_reduce_async_bulk_tensor_im2col(map, coordinates, a, options) end

---@class wgrun.k.createpolicy_cvt_L2.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold

---The cache policy of a CUDA access property.
---@param d wgrun.reg a u64 register; by default a new one
---@param property wgrun.reg|number a u64 register, or a number
---@param options? wgrun.k.createpolicy_cvt_L2.options qualifiers and operands by name
---@overload fun(self: wgrun.k, property: wgrun.reg|number, options?: wgrun.k.createpolicy_cvt_L2.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:createpolicy_cvt_L2(d, property, options) end

---@class wgrun.k.createpolicy_fractional.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field level? string the level of the cache, or the priority there: L2::evict_last, L2::evict_normal, L2::evict_first, L2::evict_unchanged
---@field secondary? string the priority of the accesses that the fraction leaves out: L2::evict_first, L2::evict_unchanged

---A cache policy: `level` for a fraction of the accesses, `secondary` for the others.
---@param d wgrun.reg a u64 register; by default a new one
---@param fraction? wgrun.reg|number a f32 register, or a number
---@param options? wgrun.k.createpolicy_fractional.options qualifiers and operands by name
---@overload fun(self: wgrun.k, fraction?: wgrun.reg|number, options?: wgrun.k.createpolicy_fractional.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:createpolicy_fractional(d, fraction, options) end

---@class wgrun.k.createpolicy_range.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field level? string the level of the cache, or the priority there: L2::evict_last, L2::evict_normal, L2::evict_first, L2::evict_unchanged
---@field secondary? string the priority of the accesses that the fraction leaves out: L2::evict_first, L2::evict_unchanged

---A cache policy: `level` for the first bytes from an address, `secondary` for the others.
---@param d wgrun.reg a u64 register; by default a new one
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param primary wgrun.reg|number a u32 register, or an integer from 1 to 2147483647
---@param total wgrun.reg|number a u32 register, or an integer from 1 to 2147483647
---@param options? wgrun.k.createpolicy_range.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|wgrun.shared, primary: wgrun.reg|number, total: wgrun.reg|number, options?: wgrun.k.createpolicy_range.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:createpolicy_range(d, a, primary, total, options) end

---@class wgrun.k.cvt.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u16, s16, u32, s32, u64, s64, f16, bf16, tf32, e4m3x2, e5m2x2, f16x2, f32, f64
---@field from? string the type of the source: u8, s8, u16, s16, u32, s32, u64, s64, f32, f16x2, e4m3x2, e5m2x2, f16, bf16, f64
---@field round? string the rounding mode: rn, rz, rna, rni, rzi, rmi, rpi
---@field satfinite? boolean results out of range become the nearest representable value
---@field relu? boolean negative results become zero

---Converts a value to another type.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg a register
---@param options? wgrun.k.cvt.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg, options?: wgrun.k.cvt.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:cvt(d, a, options) end

---@class wgrun.k.cvt_pair.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: f16x2, bf16x2, e4m3x2, e5m2x2
---@field from? string the type of the source: f32
---@field round? string the rounding mode: rn, rz
---@field satfinite? boolean results out of range become the nearest representable value
---@field relu? boolean negative results become zero

---Converts two f32 into one packed pair; the first goes to the upper half.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a f32 register, or a number
---@param b wgrun.reg|number a f32 register, or a number
---@param options? wgrun.k.cvt_pair.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.cvt_pair.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:cvt_pair(d, a, b, options) end

---@class wgrun.k.cvta.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u64
---@field space? string the state space of the address: shared, shared::cta, shared::cluster, global, local

---Converts an address of a state space to a generic one.
---@param d wgrun.reg a u64 register; by default a new one
---@param a wgrun.reg a u64 register
---@param options? wgrun.k.cvta.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg, options?: wgrun.k.cvta.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:cvta(d, a, options) end

---@class wgrun.k.cvta_param.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u64

---The generic address of a tensor map that is a kernel parameter.
---@param d wgrun.reg a u64 register; by default a new one
---@param a integer the index of a parameter
---@param options? wgrun.k.cvta_param.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: integer, options?: wgrun.k.cvta_param.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:cvta_param(d, a, options) end

---@class wgrun.k.cvta_param_at.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u64

---Converts an address in the parameter space to a generic one.
---@param d wgrun.reg a u64 register; by default a new one
---@param a wgrun.reg a u64 register
---@param options? wgrun.k.cvta_param_at.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg, options?: wgrun.k.cvta_param_at.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:cvta_param_at(d, a, options) end

---@class wgrun.k.cvta_to.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u64
---@field space? string the state space of the address: shared, shared::cta, shared::cluster, local

---Converts a generic address to one of a state space.
---@param d wgrun.reg a u64 register; by default a new one
---@param a wgrun.reg a u64 register
---@param options? wgrun.k.cvta_to.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg, options?: wgrun.k.cvta_to.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:cvta_to(d, a, options) end

---@class wgrun.k.cvta_to_global.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u64

---Converts a generic address to one of the global space.
---@param d wgrun.reg a u64 register; by default a new one
---@param a wgrun.reg a u64 register
---@param options? wgrun.k.cvta_to_global.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg, options?: wgrun.k.cvta_to_global.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:cvta_to_global(d, a, options) end

---@class wgrun.k.discard.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: global
---@field level? string the level of the cache, or the priority there: L2
---@field bytes? number an integer from 128 to 128

---Leaves the 128 bytes at an address without a value, so that nobody writes them back.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.discard.options qualifiers and operands by name
function k:discard(a, options) end

---@class wgrun.k.div.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u16, s16, u32, s32, u64, s64, f32, f64
---@field round? string the rounding mode: rn, rz, rm, rp
---@field ftz? boolean subnormal inputs and results become zero

---d = a / b.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param options? wgrun.k.div.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.div.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:div(d, a, b, options) end

---@class wgrun.k.div_approx.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: f32
---@field ftz? boolean subnormal inputs and results become zero

---d = a / b, within 2 ulp for |b| from 2^-126 to 2^126.
---@param d wgrun.reg a f32 register; by default a new one
---@param a wgrun.reg|number a f32 register, or a number
---@param b wgrun.reg|number a f32 register, or a number
---@param options? wgrun.k.div_approx.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.div_approx.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:div_approx(d, a, b, options) end

---@class wgrun.k.div_full.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: f32
---@field ftz? boolean subnormal inputs and results become zero

---d = a / b, within 2 ulp for all b.
---@param d wgrun.reg a f32 register; by default a new one
---@param a wgrun.reg|number a f32 register, or a number
---@param b wgrun.reg|number a f32 register, or a number
---@param options? wgrun.k.div_full.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.div_full.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:div_full(d, a, b, options) end

---@class wgrun.k.dp2a.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field a? string the element type of A: u32, s32
---@field b? string the element type of B: u32, s32
---@field half? string which half of an integer product: lo, hi, or all of it (wide): lo, hi

---C and the products of the two 16-bit halves of a with the lower or the upper bytes of b.
---@param d wgrun.reg a u32 register; by default a new one
---@param a wgrun.reg|number a u32 register, or a number
---@param b wgrun.reg|number a u32 register, or a number
---@param c wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.dp2a.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg|number, options?: wgrun.k.dp2a.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:dp2a(d, a, b, c, options) end

---@class wgrun.k.dp4a.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field a? string the element type of A: u32, s32
---@field b? string the element type of B: u32, s32

---C and the products of the four bytes of a with those of b.
---@param d wgrun.reg a u32 register; by default a new one
---@param a wgrun.reg|number a u32 register, or a number
---@param b wgrun.reg|number a u32 register, or a number
---@param c wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.dp4a.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg|number, options?: wgrun.k.dp4a.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:dp4a(d, a, b, c, options) end

---@class wgrun.k.elect_sync.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field leader? wgrun.reg a u32 register

---Elects one lane of the mask: p is true in that lane; leader: its number.
---@param p wgrun.reg a pred register; by default a new one
---@param membermask? wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.elect_sync.options qualifiers and operands by name
---@overload fun(self: wgrun.k, membermask?: wgrun.reg|number, options?: wgrun.k.elect_sync.options): wgrun.reg
---@return wgrun.reg # the destination `p`
function k:elect_sync(p, membermask, options) end

---@class wgrun.k.ex2.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: f32, f16, f16x2, bf16, bf16x2
---@field approx? boolean a fast approximation in place of the correctly rounded result
---@field ftz? boolean subnormal inputs and results become zero

---d = 2 to the power of a.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param options? wgrun.k.ex2.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, options?: wgrun.k.ex2.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:ex2(d, a, options) end

---@class wgrun.k.fence.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field sem? string the memory order and its scope: sc.cta, sc.cluster, sc.gpu, sc.sys, acq_rel.cta, acq_rel.cluster, acq_rel.gpu, acq_rel.sys, acquire.cta, acquire.cluster, acquire.gpu, acquire.sys, release.cta, release.cluster, release.gpu, release.sys

---Orders what the thread does with memory before and after it, for the threads of the scope.
---@param options? wgrun.k.fence.options qualifiers and operands by name
function k:fence(options) end

---@class wgrun.k.fence_mbarrier_init.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold

---Makes this thread's mbarrier.init visible to the cluster and to the async proxy.
---@param options? wgrun.k.fence_mbarrier_init.options qualifiers and operands by name
function k:fence_mbarrier_init(options) end

---@class wgrun.k.fence_proxy_alias.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold

---Orders accesses to the same memory by different virtual addresses.
---@param options? wgrun.k.fence_proxy_alias.options qualifiers and operands by name
function k:fence_proxy_alias(options) end

---@class wgrun.k.fence_proxy_async.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field space? string the state space of the address: global, shared::cta, shared::cluster

---Orders accesses of the generic and the async proxy; without a space, in all state spaces.
---@param options? wgrun.k.fence_proxy_async.options qualifiers and operands by name
function k:fence_proxy_async(options) end

---@class wgrun.k.fence_proxy_tensormap_acquire.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field sem? string the memory order and its scope: acquire.cta, acquire.cluster, acquire.gpu, acquire.sys
---@field bytes? number an integer from 128 to 128

---Copies that follow see the tensor map of 128 bytes as it was released.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.fence_proxy_tensormap_acquire.options qualifiers and operands by name
function k:fence_proxy_tensormap_acquire(a, options) end

---@class wgrun.k.fence_proxy_tensormap_release.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field sem? string the memory order and its scope: release.cta, release.cluster, release.gpu, release.sys

---Orders what was written to a tensor map before, for the threads of the scope that acquire it.
---@param options? wgrun.k.fence_proxy_tensormap_release.options qualifiers and operands by name
function k:fence_proxy_tensormap_release(options) end

---@class wgrun.k.fma.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: f32, f64, f16, f16x2, bf16, bf16x2
---@field round? string the rounding mode: rn, rz, rm, rp
---@field ftz? boolean subnormal inputs and results become zero
---@field relu? boolean negative results become zero
---@field sat? boolean results are limited to 0 to 1, or to the range of the type

---d = a * b + c, rounded once.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param c wgrun.reg|number a register, or a number
---@param options? wgrun.k.fma.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg|number, options?: wgrun.k.fma.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:fma(d, a, b, c, options) end

---@class wgrun.k.fns.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32

---The place of the n-th set bit of a mask from bit `base` on; all ones if there is none.
---@param d wgrun.reg a u32 register; by default a new one
---@param mask wgrun.reg|number a u32 register, or a number
---@param base wgrun.reg|number a u32 register, or a number
---@param n wgrun.reg|number a s32 register, or a number
---@param options? wgrun.k.fns.options qualifiers and operands by name
---@overload fun(self: wgrun.k, mask: wgrun.reg|number, base: wgrun.reg|number, n: wgrun.reg|number, options?: wgrun.k.fns.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:fns(d, mask, base, n, options) end

---@class wgrun.k.getctarank.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u32, u64
---@field space? string the state space of the address: shared::cluster

---The rank of the CTA in whose shared memory an address is; without a space of a generic address.
---@param d wgrun.reg a u32 register; by default a new one
---@param a wgrun.reg a u32 register
---@param options? wgrun.k.getctarank.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg, options?: wgrun.k.getctarank.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:getctarank(d, a, options) end

---@class wgrun.k.griddepcontrol_launch_dependents.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold

---Lets the grids that depend on this one start.
---@param options? wgrun.k.griddepcontrol_launch_dependents.options qualifiers and operands by name
function k:griddepcontrol_launch_dependents(options) end

---@class wgrun.k.griddepcontrol_wait.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold

---Waits until the grids that this one depends on have ended, and sees their memory.
---@param options? wgrun.k.griddepcontrol_wait.options qualifiers and operands by name
function k:griddepcontrol_wait(options) end

---@class wgrun.k.isspacep.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field space? string the state space of the address: shared, shared::cta, shared::cluster, global, local

---p = whether a generic address points to a state space.
---@param p wgrun.reg a pred register; by default a new one
---@param a wgrun.reg a u64 register
---@param options? wgrun.k.isspacep.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg, options?: wgrun.k.isspacep.options): wgrun.reg
---@return wgrun.reg # the destination `p`
function k:isspacep(p, a, options) end

---@class wgrun.k.ld.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field type? string the type of the operation and of its operands: b8, u8, s8, b16, u16, s16, b32, u32, s32, f32, b64, u64, s64, f64, b128
---@field space? string the state space of the address: global, shared, shared::cta, shared::cluster, local
---@field vec? string the number of values moved at once: 1, v2, v4
---@field sem? string the memory order and its scope: relaxed.cta, relaxed.cluster, relaxed.gpu, relaxed.sys, acquire.cta, acquire.cluster, acquire.gpu, acquire.sys, volatile, mmio.relaxed.sys
---@field cache? boolean an operand holds the L2 cache policy
---@field cop? string the cache operator: ca, cg, cs, lu, cv
---@field nc? boolean a load of memory that is read-only while the kernel runs
---@field evict? string the L1 eviction priority: L1::evict_normal, L1::evict_unchanged, L1::evict_first, L1::evict_last, L1::no_allocate
---@field prefetch? string how much is prefetched into the L2 cache: L2::64B, L2::128B, L2::256B
---@field policy? wgrun.reg a u64 register

---Loads one, two or four values.
---@param d wgrun.reg|table|wgrun.regs a register, or a list of registers; by default a new one
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.ld.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|wgrun.shared, options?: wgrun.k.ld.options): wgrun.reg|wgrun.regs
---@return wgrun.reg|wgrun.regs # the destination `d`
function k:ld(d, a, options) end

---@class wgrun.k.ld_param.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u8, s8, u16, s16, b16, u32, s32, f32, u64, s64, f64, b32, b64

---Reads a kernel parameter.
---@param d wgrun.reg a register; by default a new one
---@param a integer the index of a parameter
---@param options? wgrun.k.ld_param.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: integer, options?: wgrun.k.ld_param.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:ld_param(d, a, options) end

---@class wgrun.k.ld_param_at.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field type? string the type of the operation and of its operands: b8, u8, s8, b16, u16, s16, b32, u32, s32, f32, b64, u64, s64, f64, b128
---@field vec? string the number of values moved at once: 1, v2, v4

---Loads one, two or four values of parameters, from an address in the parameter space.
---@param d wgrun.reg|table|wgrun.regs a register, or a list of registers; by default a new one
---@param a wgrun.reg|wgrun.shared|integer an address in a register, with `offset` bytes added, or a shared buffer, or the index of a parameter
---@param options? wgrun.k.ld_param_at.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|wgrun.shared|integer, options?: wgrun.k.ld_param_at.options): wgrun.reg|wgrun.regs
---@return wgrun.reg|wgrun.regs # the destination `d`
function k:ld_param_at(d, a, options) end

---@class wgrun.k.ldmatrix.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field type? string the type of the operation and of its operands: b16
---@field space? string the state space of the address: shared, shared::cta
---@field num? string the number of 8x8 matrices: x1, x2, x4
---@field trans? boolean the matrices are transposed

---Loads one, two or four 8x8 matrices of 16-bit elements; lane i gives the address of row i.
---@param d table|wgrun.regs a list of b32 registers; by default a new one
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.ldmatrix.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|wgrun.shared, options?: wgrun.k.ldmatrix.options): wgrun.regs
---@return wgrun.regs # the destination `d`
function k:ldmatrix(d, a, options) end

---@class wgrun.k.lg2.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: f32
---@field approx? boolean a fast approximation in place of the correctly rounded result
---@field ftz? boolean subnormal inputs and results become zero

---d = binary logarithm of a.
---@param d wgrun.reg a f32 register; by default a new one
---@param a wgrun.reg|number a f32 register, or a number
---@param options? wgrun.k.lg2.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, options?: wgrun.k.lg2.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:lg2(d, a, options) end

---@class wgrun.k.local_address.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u64, b64, s64

---The address, in the local space, of a byte of the thread's local memory.
---@param d wgrun.reg a u64 register; by default a new one
---@param offset? number an integer from 0 to 524288
---@param options? wgrun.k.local_address.options qualifiers and operands by name
---@overload fun(self: wgrun.k, offset?: number, options?: wgrun.k.local_address.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:local_address(d, offset, options) end

---@class wgrun.k.lop3.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32

---Any function of the bits of a, b and c: `table` is its value for 0xF0, 0xCC and 0xAA.
---@param d wgrun.reg a b32 register; by default a new one
---@param a wgrun.reg|number a b32 register, or a number
---@param b wgrun.reg|number a b32 register, or a number
---@param c wgrun.reg|number a b32 register, or a number
---@param table number an integer from 0 to 255
---@param options? wgrun.k.lop3.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg|number, table: number, options?: wgrun.k.lop3.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:lop3(d, a, b, c, table, options) end

---@class wgrun.k.mad.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u16, s16, u32, s32, u64, s64
---@field half? string which half of an integer product: lo, hi, or all of it (wide): lo, hi, wide
---@field sat? boolean results are limited to 0 to 1, or to the range of the type

---d = a * b + c of integers (floats: fma).
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param c wgrun.reg|number a register, or a number
---@param options? wgrun.k.mad.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg|number, options?: wgrun.k.mad.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:mad(d, a, b, c, options) end

---@class wgrun.k.mad24.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u32, s32
---@field half? string which half of an integer product: lo, hi, or all of it (wide): lo, hi
---@field sat? boolean results are limited to 0 to 1, or to the range of the type

---d = a * b + c, where a and b are integers of 24 bits.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param c wgrun.reg|number a register, or a number
---@param options? wgrun.k.mad24.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg|number, options?: wgrun.k.mad24.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:mad24(d, a, b, c, options) end

---@class wgrun.k.mapa.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u32, u64
---@field space? string the state space of the address: shared::cluster

---The address in the CTA of rank b that corresponds to a in this CTA; without a space of generic addresses.
---@param d wgrun.reg a u32 register; by default a new one
---@param a wgrun.reg a u32 register
---@param b wgrun.reg|number a u32 register, or an integer from 0 to 15
---@param options? wgrun.k.mapa.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg, b: wgrun.reg|number, options?: wgrun.k.mapa.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:mapa(d, a, b, options) end

---@class wgrun.k.match_all_sync.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32, b64
---@field p? wgrun.reg a pred register
---@field membermask? wgrun.reg|number a u32 register, or a number

---The mask if all lanes hold the same value, else 0; p: whether they do.
---@param d wgrun.reg a u32 register; by default a new one
---@param a wgrun.reg a register
---@param options? wgrun.k.match_all_sync.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg, options?: wgrun.k.match_all_sync.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:match_all_sync(d, a, options) end

---@class wgrun.k.match_any_sync.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32, b64
---@field membermask? wgrun.reg|number a u32 register, or a number

---The lanes that hold the same value as this one.
---@param d wgrun.reg a u32 register; by default a new one
---@param a wgrun.reg a register
---@param options? wgrun.k.match_any_sync.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg, options?: wgrun.k.match_any_sync.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:match_any_sync(d, a, options) end

---@class wgrun.k.matrix_descriptor.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b64

---A wgmma matrix descriptor: constant fields, and the start address of a shared-memory register.
---@param d wgrun.reg a u64 register; by default a new one
---@param address wgrun.reg a u32 register
---@param fields number a number
---@param options? wgrun.k.matrix_descriptor.options qualifiers and operands by name
---@overload fun(self: wgrun.k, address: wgrun.reg, fields: number, options?: wgrun.k.matrix_descriptor.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:matrix_descriptor(d, address, fields, options) end

---@class wgrun.k.max.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u16, s16, u32, s32, u64, s64, u16x2, s16x2, f64, f32, f16, f16x2, bf16, bf16x2
---@field ftz? boolean subnormal inputs and results become zero
---@field relu? boolean negative results become zero
---@field xorsign? boolean the result has the larger or smaller magnitude, and the signs' exclusive or

---The larger of a and b.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param options? wgrun.k.max.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.max.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:max(d, a, b, options) end

---@class wgrun.k.max_NaN.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: f32, f16, f16x2, bf16, bf16x2
---@field ftz? boolean subnormal inputs and results become zero
---@field xorsign? boolean the result has the larger or smaller magnitude, and the signs' exclusive or

---The larger of a and b; NaN if one of them is a NaN.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param options? wgrun.k.max_NaN.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.max_NaN.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:max_NaN(d, a, b, options) end

---@class wgrun.k.mbarrier_arrive.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta, shared::cluster
---@field sem? string the memory order and its scope: release.cta, release.cluster, relaxed.cta, relaxed.cluster

---Arrives at an mbarrier, of this CTA or with shared::cluster of another.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param count? wgrun.reg|number a u32 register, or an integer from 1 to 1048575
---@param options? wgrun.k.mbarrier_arrive.options qualifiers and operands by name
function k:mbarrier_arrive(a, count, options) end

---@class wgrun.k.mbarrier_arrive_drop.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta, shared::cluster
---@field sem? string the memory order and its scope: release.cta, release.cluster, relaxed.cta, relaxed.cluster

---Arrives at an mbarrier, whose later phases expect so many arrivals fewer.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param count? wgrun.reg|number a u32 register, or an integer from 1 to 1048575
---@param options? wgrun.k.mbarrier_arrive_drop.options qualifiers and operands by name
function k:mbarrier_arrive_drop(a, count, options) end

---@class wgrun.k.mbarrier_arrive_drop_expect_tx.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta, shared::cluster
---@field sem? string the memory order and its scope: release.cta, release.cluster, relaxed.cta, relaxed.cluster

---Increases the phase's tx-count, then arrives once; later phases expect one arrival less.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param bytes wgrun.reg|number a u32 register, or an integer from 1 to 1048575
---@param options? wgrun.k.mbarrier_arrive_drop_expect_tx.options qualifiers and operands by name
function k:mbarrier_arrive_drop_expect_tx(a, bytes, options) end

---@class wgrun.k.mbarrier_arrive_drop_expect_tx_state.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta
---@field sem? string the memory order and its scope: release.cta, release.cluster, relaxed.cta, relaxed.cluster

---Increases the phase's tx-count and arrives once, also for later phases; returns the state before the arrival.
---@param state wgrun.reg a u64 register; by default a new one
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param bytes wgrun.reg|number a u32 register, or an integer from 1 to 1048575
---@param options? wgrun.k.mbarrier_arrive_drop_expect_tx_state.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|wgrun.shared, bytes: wgrun.reg|number, options?: wgrun.k.mbarrier_arrive_drop_expect_tx_state.options): wgrun.reg
---@return wgrun.reg # the destination `state`
function k:mbarrier_arrive_drop_expect_tx_state(state, a, bytes, options) end

---@class wgrun.k.mbarrier_arrive_drop_noComplete.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta
---@field sem? string the memory order and its scope: release.cta

---Arrives at an mbarrier, also for later phases, where that does not complete the phase.
---@param state wgrun.reg a u64 register; by default a new one
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param count wgrun.reg|number a u32 register, or an integer from 1 to 1048575
---@param options? wgrun.k.mbarrier_arrive_drop_noComplete.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|wgrun.shared, count: wgrun.reg|number, options?: wgrun.k.mbarrier_arrive_drop_noComplete.options): wgrun.reg
---@return wgrun.reg # the destination `state`
function k:mbarrier_arrive_drop_noComplete(state, a, count, options) end

---@class wgrun.k.mbarrier_arrive_drop_state.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta
---@field sem? string the memory order and its scope: release.cta, release.cluster, relaxed.cta, relaxed.cluster

---Arrives at an mbarrier, whose later phases expect so many arrivals fewer, and returns its state before that.
---@param state wgrun.reg a u64 register; by default a new one
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param count? wgrun.reg|number a u32 register, or an integer from 1 to 1048575
---@param options? wgrun.k.mbarrier_arrive_drop_state.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|wgrun.shared, count?: wgrun.reg|number, options?: wgrun.k.mbarrier_arrive_drop_state.options): wgrun.reg
---@return wgrun.reg # the destination `state`
function k:mbarrier_arrive_drop_state(state, a, count, options) end

---@class wgrun.k.mbarrier_arrive_expect_tx.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta, shared::cluster
---@field sem? string the memory order and its scope: release.cta, release.cluster, relaxed.cta, relaxed.cluster

---Increases the phase's tx-count (the bytes that it waits for), then arrives once.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param bytes wgrun.reg|number a u32 register, or an integer from 1 to 1048575
---@param options? wgrun.k.mbarrier_arrive_expect_tx.options qualifiers and operands by name
function k:mbarrier_arrive_expect_tx(a, bytes, options) end

---@class wgrun.k.mbarrier_arrive_expect_tx_state.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta
---@field sem? string the memory order and its scope: release.cta, release.cluster, relaxed.cta, relaxed.cluster

---Increases the phase's tx-count, arrives once, and returns the state before the arrival.
---@param state wgrun.reg a u64 register; by default a new one
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param bytes wgrun.reg|number a u32 register, or an integer from 1 to 1048575
---@param options? wgrun.k.mbarrier_arrive_expect_tx_state.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|wgrun.shared, bytes: wgrun.reg|number, options?: wgrun.k.mbarrier_arrive_expect_tx_state.options): wgrun.reg
---@return wgrun.reg # the destination `state`
function k:mbarrier_arrive_expect_tx_state(state, a, bytes, options) end

---@class wgrun.k.mbarrier_arrive_noComplete.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta
---@field sem? string the memory order and its scope: release.cta

---Arrives at an mbarrier, where that does not complete the phase.
---@param state wgrun.reg a u64 register; by default a new one
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param count wgrun.reg|number a u32 register, or an integer from 1 to 1048575
---@param options? wgrun.k.mbarrier_arrive_noComplete.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|wgrun.shared, count: wgrun.reg|number, options?: wgrun.k.mbarrier_arrive_noComplete.options): wgrun.reg
---@return wgrun.reg # the destination `state`
function k:mbarrier_arrive_noComplete(state, a, count, options) end

---@class wgrun.k.mbarrier_arrive_state.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta
---@field sem? string the memory order and its scope: release.cta, release.cluster, relaxed.cta, relaxed.cluster

---Arrives at an mbarrier of this CTA, and returns its state before that.
---@param state wgrun.reg a u64 register; by default a new one
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param count? wgrun.reg|number a u32 register, or an integer from 1 to 1048575
---@param options? wgrun.k.mbarrier_arrive_state.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|wgrun.shared, count?: wgrun.reg|number, options?: wgrun.k.mbarrier_arrive_state.options): wgrun.reg
---@return wgrun.reg # the destination `state`
function k:mbarrier_arrive_state(state, a, count, options) end

---@class wgrun.k.mbarrier_complete_tx.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta, shared::cluster
---@field sem? string the memory order and its scope: relaxed.cta, relaxed.cluster

---Decreases the phase's tx-count, as a copy of so many bytes does.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param bytes wgrun.reg|number a u32 register, or an integer from 1 to 1048575
---@param options? wgrun.k.mbarrier_complete_tx.options qualifiers and operands by name
function k:mbarrier_complete_tx(a, bytes, options) end

---@class wgrun.k.mbarrier_expect_tx.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta, shared::cluster
---@field sem? string the memory order and its scope: relaxed.cta, relaxed.cluster

---Increases the phase's tx-count (the bytes that it waits for).
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param bytes wgrun.reg|number a u32 register, or an integer from 1 to 1048575
---@param options? wgrun.k.mbarrier_expect_tx.options qualifiers and operands by name
function k:mbarrier_expect_tx(a, bytes, options) end

---@class wgrun.k.mbarrier_init.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta

---Initialises an mbarrier object of 8 bytes that expects `count` arrivals in each phase.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param count wgrun.reg|number a u32 register, or an integer from 1 to 1048575
---@param options? wgrun.k.mbarrier_init.options qualifiers and operands by name
function k:mbarrier_init(a, count, options) end

---@class wgrun.k.mbarrier_inval.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta

---Invalidates an mbarrier object, so that its memory can be reused.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.mbarrier_inval.options qualifiers and operands by name
function k:mbarrier_inval(a, options) end

---@class wgrun.k.mbarrier_pending_count.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold

---The arrivals that were outstanding in a state.
---@param d wgrun.reg a u32 register; by default a new one
---@param state wgrun.reg a u64 register
---@param options? wgrun.k.mbarrier_pending_count.options qualifiers and operands by name
---@overload fun(self: wgrun.k, state: wgrun.reg, options?: wgrun.k.mbarrier_pending_count.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:mbarrier_pending_count(d, state, options) end

---@class wgrun.k.mbarrier_test_wait.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta
---@field sem? string the memory order and its scope: acquire.cta, acquire.cluster, relaxed.cta, relaxed.cluster

---Tests whether the phase of that state is complete; does not wait.
---@param p wgrun.reg a pred register; by default a new one
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param state wgrun.reg a u64 register
---@param options? wgrun.k.mbarrier_test_wait.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|wgrun.shared, state: wgrun.reg, options?: wgrun.k.mbarrier_test_wait.options): wgrun.reg
---@return wgrun.reg # the destination `p`
function k:mbarrier_test_wait(p, a, state, options) end

---@class wgrun.k.mbarrier_test_wait_parity.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta
---@field sem? string the memory order and its scope: acquire.cta, acquire.cluster, relaxed.cta, relaxed.cluster

---Tests whether the phase of that parity is complete; does not wait.
---@param p wgrun.reg a pred register; by default a new one
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param parity wgrun.reg|number|boolean a u32 register, or an integer from 0 to 1
---@param options? wgrun.k.mbarrier_test_wait_parity.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|wgrun.shared, parity: wgrun.reg|number|boolean, options?: wgrun.k.mbarrier_test_wait_parity.options): wgrun.reg
---@return wgrun.reg # the destination `p`
function k:mbarrier_test_wait_parity(p, a, parity, options) end

---@class wgrun.k.mbarrier_try_wait.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta
---@field sem? string the memory order and its scope: acquire.cta, acquire.cluster, relaxed.cta, relaxed.cluster
---@field hint? wgrun.reg|number a u32 register, or a number

---Waits for a limited time; true if the phase of that state is complete.
---@param p wgrun.reg a pred register; by default a new one
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param state wgrun.reg a u64 register
---@param options? wgrun.k.mbarrier_try_wait.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|wgrun.shared, state: wgrun.reg, options?: wgrun.k.mbarrier_try_wait.options): wgrun.reg
---@return wgrun.reg # the destination `p`
function k:mbarrier_try_wait(p, a, state, options) end

---@class wgrun.k.mbarrier_try_wait_parity.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta
---@field sem? string the memory order and its scope: acquire.cta, acquire.cluster, relaxed.cta, relaxed.cluster
---@field hint? wgrun.reg|number a u32 register, or a number

---Waits for a limited time; true if the phase of that parity is complete.
---@param p wgrun.reg a pred register; by default a new one
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param parity wgrun.reg|number|boolean a u32 register, or an integer from 0 to 1
---@param options? wgrun.k.mbarrier_try_wait_parity.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|wgrun.shared, parity: wgrun.reg|number|boolean, options?: wgrun.k.mbarrier_try_wait_parity.options): wgrun.reg
---@return wgrun.reg # the destination `p`
function k:mbarrier_try_wait_parity(p, a, parity, options) end

---@class wgrun.k.min.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u16, s16, u32, s32, u64, s64, u16x2, s16x2, f64, f32, f16, f16x2, bf16, bf16x2
---@field ftz? boolean subnormal inputs and results become zero
---@field relu? boolean negative results become zero
---@field xorsign? boolean the result has the larger or smaller magnitude, and the signs' exclusive or

---The smaller of a and b.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param options? wgrun.k.min.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.min.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:min(d, a, b, options) end

---@class wgrun.k.min_NaN.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: f32, f16, f16x2, bf16, bf16x2
---@field ftz? boolean subnormal inputs and results become zero
---@field xorsign? boolean the result has the larger or smaller magnitude, and the signs' exclusive or

---The smaller of a and b; NaN if one of them is a NaN.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param options? wgrun.k.min_NaN.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.min_NaN.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:min_NaN(d, a, b, options) end

---@class wgrun.k.mma_sp_ordered_metadata_sync.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field d? string the type of the accumulators D: f16, f32, s32
---@field a? string the element type of A: f16, bf16, tf32, e4m3, e5m2, s8, u8
---@field b? string the element type of B: f16, bf16, tf32, e4m3, e5m2, s8, u8
---@field m? integer the rows of D: 16
---@field n? integer the columns of D: 8
---@field k? integer the K extent of one instruction, in elements: 32, 16, 8, 64
---@field satfinite? boolean results out of range become the nearest representable value
---@field sp_sel? integer which threads of four hold the metadata: 0, 1, 2, 3

---D = A * B + C of a warp with a sparse A, in whose metadata indices increase.
---@param d table|wgrun.regs a list of registers; by default a new one
---@param a table|wgrun.regs a list of registers
---@param b table|wgrun.regs a list of registers
---@param c table|wgrun.regs a list of registers
---@param sp_meta wgrun.reg a register
---@param options? wgrun.k.mma_sp_ordered_metadata_sync.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: table|wgrun.regs, b: table|wgrun.regs, c: table|wgrun.regs, sp_meta: wgrun.reg, options?: wgrun.k.mma_sp_ordered_metadata_sync.options): wgrun.regs
---@return wgrun.regs # the destination `d`
function k:mma_sp_ordered_metadata_sync(d, a, b, c, sp_meta, options) end

---@class wgrun.k.mma_sp_sync.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field d? string the type of the accumulators D: f16, f32, s32
---@field a? string the element type of A: f16, bf16, tf32, e4m3, e5m2, s8, u8
---@field b? string the element type of B: f16, bf16, tf32, e4m3, e5m2, s8, u8
---@field m? integer the rows of D: 16
---@field n? integer the columns of D: 8
---@field k? integer the K extent of one instruction, in elements: 32, 16, 8, 64
---@field satfinite? boolean results out of range become the nearest representable value
---@field sp_sel? integer which threads of four hold the metadata: 0, 1, 2, 3

---D = A * B + C of a warp with a sparse A: half of its elements are stored, and metadata tells which.
---@param d table|wgrun.regs a list of registers; by default a new one
---@param a table|wgrun.regs a list of registers
---@param b table|wgrun.regs a list of registers
---@param c table|wgrun.regs a list of registers
---@param sp_meta wgrun.reg a register
---@param options? wgrun.k.mma_sp_sync.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: table|wgrun.regs, b: table|wgrun.regs, c: table|wgrun.regs, sp_meta: wgrun.reg, options?: wgrun.k.mma_sp_sync.options): wgrun.regs
---@return wgrun.regs # the destination `d`
function k:mma_sp_sync(d, a, b, c, sp_meta, options) end

---@class wgrun.k.mma_sync.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field d? string the type of the accumulators D: f16, f32, f64, s32
---@field a? string the element type of A: f16, bf16, tf32, e4m3, e5m2, f64, s8, u8, s4, u4, b1
---@field b? string the element type of B: f16, bf16, tf32, e4m3, e5m2, f64, s8, u8, s4, u4, b1
---@field m? integer the rows of D: 16, 8
---@field n? integer the columns of D: 8
---@field k? integer the K extent of one instruction, in elements: 8, 16, 4, 32, 64, 128, 256
---@field satfinite? boolean results out of range become the nearest representable value
---@field op? string the operation: and.popc, xor.popc

---D = A * B + C of a warp, 16 x 8 or 8 x 8, with all operands in registers.
---@param d table|wgrun.regs a list of registers; by default a new one
---@param a table|wgrun.regs a list of registers
---@param b table|wgrun.regs a list of registers
---@param c table|wgrun.regs a list of registers
---@param options? wgrun.k.mma_sync.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: table|wgrun.regs, b: table|wgrun.regs, c: table|wgrun.regs, options?: wgrun.k.mma_sync.options): wgrun.regs
---@return wgrun.regs # the destination `d`
function k:mma_sync(d, a, b, c, options) end

---@class wgrun.k.mov.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32, u32, s32, f32, b16, u16, s16, b64, u64, s64, f64, pred, b128

---Copies a register, an immediate or the address of a shared buffer.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number|wgrun.shared a register, or a number, or a shared buffer
---@param options? wgrun.k.mov.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number|wgrun.shared, options?: wgrun.k.mov.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:mov(d, a, options) end

---@class wgrun.k.movmatrix.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b16

---Transposes an 8x8 matrix of 16-bit elements in the registers of a warp.
---@param d wgrun.reg a b32 register; by default a new one
---@param a wgrun.reg a b32 register
---@param options? wgrun.k.movmatrix.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg, options?: wgrun.k.movmatrix.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:movmatrix(d, a, options) end

---@class wgrun.k.mul.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u16, s16, u32, s32, u64, s64, f32, f64, f16, f16x2, bf16, bf16x2
---@field round? string the rounding mode: rn, rz, rm, rp, contract
---@field ftz? boolean subnormal inputs and results become zero
---@field half? string which half of an integer product: lo, hi, or all of it (wide): lo, hi, wide
---@field sat? boolean results are limited to 0 to 1, or to the range of the type

---d = a * b: the low half, the high half, or the wide product of integers.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param options? wgrun.k.mul.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.mul.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:mul(d, a, b, options) end

---@class wgrun.k.mul24.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u32, s32
---@field half? string which half of an integer product: lo, hi, or all of it (wide): lo, hi

---d = a * b of integers of 24 bits: the lower 32 of the product's 48 bits, or the upper ones.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param options? wgrun.k.mul24.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.mul24.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:mul24(d, a, b, options) end

---@class wgrun.k.nanosleep.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u32

---Suspends the thread for a time between 0 and twice so many nanoseconds.
---@param time wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.nanosleep.options qualifiers and operands by name
function k:nanosleep(time, options) end

---@class wgrun.k.neg.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: s16, s32, s64, f32, f64, f16, f16x2, bf16, bf16x2
---@field ftz? boolean subnormal inputs and results become zero

---d = -a.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param options? wgrun.k.neg.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, options?: wgrun.k.neg.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:neg(d, a, options) end

---@class wgrun.k.not.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: pred, b16, b32, b64

---d = ~a.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param options? wgrun.k.not.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, options?: wgrun.k.not.options): wgrun.reg
---@return wgrun.reg # the destination `d`
k["not"] = function(self, d, a, options) end

---@class wgrun.k.or.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: pred, b16, b32, b64

---d = a | b.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param options? wgrun.k.or.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.or.options): wgrun.reg
---@return wgrun.reg # the destination `d`
k["or"] = function(self, d, a, b, options) end

---@class wgrun.k.pack.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32, b64, b128

---Mov.b32 d, {lo, hi}: two registers of 16 bits into one of 32, of 32 into 64, or of 64 into 128.
---@param d wgrun.reg a b32 register; by default a new one
---@param a table|wgrun.regs a list of b16 registers
---@param options? wgrun.k.pack.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: table|wgrun.regs, options?: wgrun.k.pack.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:pack(d, a, options) end

---@class wgrun.k.pack_v4.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b64, b128

---Mov.b64 d, {a, b, c, d}: four registers of 16 bits into one of 64, or four of 32 into one of 128.
---@param d wgrun.reg a b64 register; by default a new one
---@param a table|wgrun.regs a list of b16 registers
---@param options? wgrun.k.pack_v4.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: table|wgrun.regs, options?: wgrun.k.pack_v4.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:pack_v4(d, a, options) end

---@class wgrun.k.param_address.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u64, b64, s64, u32, b32, s32

---The address of a parameter in the parameter space.
---@param d wgrun.reg a register; by default a new one
---@param a integer the index of a parameter
---@param options? wgrun.k.param_address.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: integer, options?: wgrun.k.param_address.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:param_address(d, a, options) end

---@class wgrun.k.pmevent.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold

---Counts an event of a profiler; the simulator passes it.
---@param event number an integer from 0 to 15
---@param options? wgrun.k.pmevent.options qualifiers and operands by name
function k:pmevent(event, options) end

---@class wgrun.k.pmevent_mask.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold

---Counts events of a profiler, those of the bits; the simulator passes it.
---@param events number an integer from 0 to 65535
---@param options? wgrun.k.pmevent_mask.options qualifiers and operands by name
function k:pmevent_mask(events, options) end

---@class wgrun.k.popc.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32, b64

---The number of ones in a.
---@param d wgrun.reg a u32 register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param options? wgrun.k.popc.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, options?: wgrun.k.popc.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:popc(d, a, options) end

---@class wgrun.k.prefetch.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: global, local
---@field level? string the level of the cache, or the priority there: L1, L2, L2::evict_last, L2::evict_normal

---Prefetches the cache line of an address into a cache level.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.prefetch.options qualifiers and operands by name
function k:prefetch(a, options) end

---@class wgrun.k.prefetch_tensormap.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold

---Prefetches a tensor map for later bulk tensor copies.
---@param map wgrun.reg a u64 register
---@param options? wgrun.k.prefetch_tensormap.options qualifiers and operands by name
function k:prefetch_tensormap(map, options) end

---@class wgrun.k.prefetchu_L1.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address

---Prefetches the cache line of a generic address into the uniform cache.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.prefetchu_L1.options qualifiers and operands by name
function k:prefetchu_L1(a, options) end

---@class wgrun.k.prmt.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32

---Four bytes of {b, a}: each of four digits of c chooses one, or with 8 added its sign.
---@param d wgrun.reg a b32 register; by default a new one
---@param a wgrun.reg|number a b32 register, or a number
---@param b wgrun.reg|number a b32 register, or a number
---@param c wgrun.reg|number a b32 register, or a number
---@param options? wgrun.k.prmt.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg|number, options?: wgrun.k.prmt.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:prmt(d, a, b, c, options) end

---@class wgrun.k.prmt_b4e.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32

---Bytes c, c - 1, c - 2 and c - 3 of {b, a}, modulo 8.
---@param d wgrun.reg a b32 register; by default a new one
---@param a wgrun.reg|number a b32 register, or a number
---@param b wgrun.reg|number a b32 register, or a number
---@param c wgrun.reg|number a b32 register, or a number
---@param options? wgrun.k.prmt_b4e.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg|number, options?: wgrun.k.prmt_b4e.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:prmt_b4e(d, a, b, c, options) end

---@class wgrun.k.prmt_ecl.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32

---The bytes of a; in place of those below byte c, byte c.
---@param d wgrun.reg a b32 register; by default a new one
---@param a wgrun.reg|number a b32 register, or a number
---@param b wgrun.reg|number a b32 register, or a number
---@param c wgrun.reg|number a b32 register, or a number
---@param options? wgrun.k.prmt_ecl.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg|number, options?: wgrun.k.prmt_ecl.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:prmt_ecl(d, a, b, c, options) end

---@class wgrun.k.prmt_ecr.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32

---The bytes of a; in place of those above byte c, byte c.
---@param d wgrun.reg a b32 register; by default a new one
---@param a wgrun.reg|number a b32 register, or a number
---@param b wgrun.reg|number a b32 register, or a number
---@param c wgrun.reg|number a b32 register, or a number
---@param options? wgrun.k.prmt_ecr.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg|number, options?: wgrun.k.prmt_ecr.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:prmt_ecr(d, a, b, c, options) end

---@class wgrun.k.prmt_f4e.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32

---Bytes c to c + 3 of {b, a}.
---@param d wgrun.reg a b32 register; by default a new one
---@param a wgrun.reg|number a b32 register, or a number
---@param b wgrun.reg|number a b32 register, or a number
---@param c wgrun.reg|number a b32 register, or a number
---@param options? wgrun.k.prmt_f4e.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg|number, options?: wgrun.k.prmt_f4e.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:prmt_f4e(d, a, b, c, options) end

---@class wgrun.k.prmt_rc16.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32

---A half of a, twice: the lower one for even c.
---@param d wgrun.reg a b32 register; by default a new one
---@param a wgrun.reg|number a b32 register, or a number
---@param b wgrun.reg|number a b32 register, or a number
---@param c wgrun.reg|number a b32 register, or a number
---@param options? wgrun.k.prmt_rc16.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg|number, options?: wgrun.k.prmt_rc16.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:prmt_rc16(d, a, b, c, options) end

---@class wgrun.k.prmt_rc8.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32

---Byte c of a, four times.
---@param d wgrun.reg a b32 register; by default a new one
---@param a wgrun.reg|number a b32 register, or a number
---@param b wgrun.reg|number a b32 register, or a number
---@param c wgrun.reg|number a b32 register, or a number
---@param options? wgrun.k.prmt_rc8.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg|number, options?: wgrun.k.prmt_rc8.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:prmt_rc8(d, a, b, c, options) end

---@class wgrun.k.rcp.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: f32, f64
---@field round? string the rounding mode: rn, rz, rm, rp
---@field approx? boolean a fast approximation in place of the correctly rounded result
---@field ftz? boolean subnormal inputs and results become zero

---d = 1 / a; .approx of f64 has 20 bits.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param options? wgrun.k.rcp.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, options?: wgrun.k.rcp.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:rcp(d, a, options) end

---@class wgrun.k.red.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field type? string the type of the operation and of its operands: u32, s32, u64, f32, f64, f16, bf16, f16x2, bf16x2, s64, b32, b64
---@field space? string the state space of the address: global, shared, shared::cta, shared::cluster
---@field vec? string the number of values moved at once: 1, v2, v4, v8
---@field op? string the operation: add, min, max, inc, dec, and, or, xor
---@field sem? string the memory order and its scope: relaxed.cta, relaxed.cluster, relaxed.gpu, relaxed.sys, release.cta, release.cluster, release.gpu, release.sys
---@field cache? boolean an operand holds the L2 cache policy
---@field noftz? boolean subnormal values are kept
---@field policy? wgrun.reg a u64 register

---Reduces a value into memory, atomically.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param b wgrun.reg|table|wgrun.regs|number a register, or a list of registers, or a number
---@param options? wgrun.k.red.options qualifiers and operands by name
function k:red(a, b, options) end

---@class wgrun.k.red_async.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field type? string the type of the operation and of its operands: u32, s32, u64, s64, b32
---@field op? string the operation: add, min, max, inc, dec, and, or, xor

---Reduces a value into memory of a CTA of the cluster, asynchronously; an mbarrier there counts the bytes.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param b wgrun.reg|number a register, or a number
---@param mbarrier wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.red_async.options qualifiers and operands by name
function k:red_async(a, b, mbarrier, options) end

---@class wgrun.k.redux_sync.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u32, s32, b32
---@field op? string the operation: add, min, max, and, or, xor
---@field membermask? wgrun.reg|number a u32 register, or a number

---The sum, the least, the greatest or the bits of all lanes' values together, for each of them.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg a register
---@param options? wgrun.k.redux_sync.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg, options?: wgrun.k.redux_sync.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:redux_sync(d, a, options) end

---@class wgrun.k.rem.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u16, s16, u32, s32, u64, s64

---d = a % b of integers.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param options? wgrun.k.rem.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.rem.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:rem(d, a, b, options) end

---@class wgrun.k.rsqrt.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: f32, f64
---@field approx? boolean a fast approximation in place of the correctly rounded result
---@field ftz? boolean subnormal inputs and results become zero

---d = 1 / square root of a; .ftz of f64 has 20 bits.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param options? wgrun.k.rsqrt.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, options?: wgrun.k.rsqrt.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:rsqrt(d, a, options) end

---@class wgrun.k.sad.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u16, s16, u32, s32, u64, s64

---d = c + |a - b|.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param c wgrun.reg|number a register, or a number
---@param options? wgrun.k.sad.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg|number, options?: wgrun.k.sad.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:sad(d, a, b, c, options) end

---@class wgrun.k.selp.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b16, u16, s16, b32, u32, s32, f32, b64, u64, s64, f64

---d = p ? a : b.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param p wgrun.reg a pred register
---@param options? wgrun.k.selp.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, p: wgrun.reg, options?: wgrun.k.selp.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:selp(d, a, b, p, options) end

---@class wgrun.k.set.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u32, s32, f32, f16, u16, s16, bf16
---@field from? string the type of the source: u16, s16, u32, s32, u64, s64, b16, b32, b64, f32, f64, f16, bf16
---@field cmp? string the comparison: eq, ne, lt, le, gt, ge, lo, ls, hi, hs, equ, neu, ltu, leu, gtu, geu, num, nan
---@field ftz? boolean subnormal inputs and results become zero

---d = a cmp b ? all ones, or the number 1 : 0.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param options? wgrun.k.set.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.set.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:set(d, a, b, options) end

---@class wgrun.k.setmaxnreg.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field op? string the operation: inc, dec

---Releases registers of the warpgroup (dec), or waits until it has more (inc).
---@param n number an integer from 24 to 256
---@param options? wgrun.k.setmaxnreg.options qualifiers and operands by name
function k:setmaxnreg(n, options) end

---@class wgrun.k.setp.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u16, s16, u32, s32, u64, s64, b16, b32, b64, f32, f16, f64, bf16
---@field cmp? string the comparison: eq, ne, lt, le, gt, ge, lo, ls, hi, hs, equ, neu, ltu, leu, gtu, geu, num, nan
---@field ftz? boolean subnormal inputs and results become zero

---p = a cmp b.
---@param p wgrun.reg a pred register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param options? wgrun.k.setp.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.setp.options): wgrun.reg
---@return wgrun.reg # the destination `p`
function k:setp(p, a, b, options) end

---@class wgrun.k.setp_bool.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u16, s16, u32, s32, u64, s64, b16, b32, b64, f32, f16, f64, bf16
---@field cmp? string the comparison: eq, ne, lt, le, gt, ge, lo, ls, hi, hs, equ, neu, ltu, leu, gtu, geu, num, nan
---@field ftz? boolean subnormal inputs and results become zero
---@field combine? string how the comparison is combined with a predicate: and, or, xor

---p = (a cmp b) and, or, xor c.
---@param p wgrun.reg a pred register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param c wgrun.reg a pred register
---@param options? wgrun.k.setp_bool.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg, options?: wgrun.k.setp_bool.options): wgrun.reg
---@return wgrun.reg # the destination `p`
function k:setp_bool(p, a, b, c, options) end

---@class wgrun.k.setp_bool_both.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u16, s16, u32, s32, u64, s64, b16, b32, b64, f32, f64
---@field cmp? string the comparison: eq, ne, lt, le, gt, ge, lo, ls, hi, hs, equ, neu, ltu, leu, gtu, geu, num, nan
---@field ftz? boolean subnormal inputs and results become zero
---@field combine? string how the comparison is combined with a predicate: and, or, xor

---p = (a cmp b) and, or, xor c; q = the same of the opposite comparison.
---@param p wgrun.reg a pred register; by default a new one
---@param q? wgrun.reg a pred register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param c wgrun.reg a pred register
---@param options? wgrun.k.setp_bool_both.options qualifiers and operands by name
---@overload fun(self: wgrun.k, q?: wgrun.reg, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg, options?: wgrun.k.setp_bool_both.options): wgrun.reg
---@return wgrun.reg # the destination `p`
---@return wgrun.reg # the destination `q`
function k:setp_bool_both(p, q, a, b, c, options) end

---@class wgrun.k.setp_both.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u16, s16, u32, s32, u64, s64, b16, b32, b64, f32, f64
---@field cmp? string the comparison: eq, ne, lt, le, gt, ge, lo, ls, hi, hs, equ, neu, ltu, leu, gtu, geu, num, nan
---@field ftz? boolean subnormal inputs and results become zero

---p = a cmp b, q = the opposite.
---@param p wgrun.reg a pred register; by default a new one
---@param q? wgrun.reg a pred register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param options? wgrun.k.setp_both.options qualifiers and operands by name
---@overload fun(self: wgrun.k, q?: wgrun.reg, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.setp_both.options): wgrun.reg
---@return wgrun.reg # the destination `p`
---@return wgrun.reg # the destination `q`
function k:setp_both(p, q, a, b, options) end

---@class wgrun.k.setp_pair.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: f16x2, bf16x2
---@field cmp? string the comparison: eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan
---@field ftz? boolean subnormal inputs and results become zero

---Compares two pairs: p is the result of the lower halves, q that of the upper ones.
---@param p wgrun.reg a pred register; by default a new one
---@param q? wgrun.reg a pred register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param options? wgrun.k.setp_pair.options qualifiers and operands by name
---@overload fun(self: wgrun.k, q?: wgrun.reg, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.setp_pair.options): wgrun.reg
---@return wgrun.reg # the destination `p`
---@return wgrun.reg # the destination `q`
function k:setp_pair(p, q, a, b, options) end

---@class wgrun.k.shf_l_clamp.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32

---The upper half of {b, a} << min(c, 32).
---@param d wgrun.reg a b32 register; by default a new one
---@param a wgrun.reg|number a b32 register, or a number
---@param b wgrun.reg|number a b32 register, or a number
---@param c wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.shf_l_clamp.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg|number, options?: wgrun.k.shf_l_clamp.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:shf_l_clamp(d, a, b, c, options) end

---@class wgrun.k.shf_l_wrap.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32

---The upper half of {b, a} << c % 32.
---@param d wgrun.reg a b32 register; by default a new one
---@param a wgrun.reg|number a b32 register, or a number
---@param b wgrun.reg|number a b32 register, or a number
---@param c wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.shf_l_wrap.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg|number, options?: wgrun.k.shf_l_wrap.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:shf_l_wrap(d, a, b, c, options) end

---@class wgrun.k.shf_r_clamp.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32

---The lower half of {b, a} >> min(c, 32).
---@param d wgrun.reg a b32 register; by default a new one
---@param a wgrun.reg|number a b32 register, or a number
---@param b wgrun.reg|number a b32 register, or a number
---@param c wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.shf_r_clamp.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg|number, options?: wgrun.k.shf_r_clamp.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:shf_r_clamp(d, a, b, c, options) end

---@class wgrun.k.shf_r_wrap.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32

---The lower half of {b, a} >> c % 32.
---@param d wgrun.reg a b32 register; by default a new one
---@param a wgrun.reg|number a b32 register, or a number
---@param b wgrun.reg|number a b32 register, or a number
---@param c wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.shf_r_wrap.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg|number, options?: wgrun.k.shf_r_wrap.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:shf_r_wrap(d, a, b, c, options) end

---@class wgrun.k.shfl_sync.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32
---@field op? string the operation: up, down, bfly, idx
---@field p? wgrun.reg a pred register
---@field membermask? wgrun.reg|number a u32 register, or a number

---Reads a register of another lane, which b names (idx) or says how far off it is; c: 0x1f, or for up 0, where the whole warp is one segment, and else its mask in bits 8 to 12, too; p: whether that lane is in range.
---@param d wgrun.reg a b32 register; by default a new one
---@param a wgrun.reg a b32 register
---@param b wgrun.reg|number a u32 register, or a number
---@param c wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.shfl_sync.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg, b: wgrun.reg|number, c: wgrun.reg|number, options?: wgrun.k.shfl_sync.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:shfl_sync(d, a, b, c, options) end

---@class wgrun.k.shl.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b16, b32, b64

---d = a << b; amounts of the width and more give 0.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.shl.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.shl.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:shl(d, a, b, options) end

---@class wgrun.k.shr.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b16, u16, s16, b32, u32, s32, b64, u64, s64

---d = a >> b; arithmetic for signed types.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.shr.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.shr.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:shr(d, a, b, options) end

---@class wgrun.k.sin.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: f32
---@field approx? boolean a fast approximation in place of the correctly rounded result
---@field ftz? boolean subnormal inputs and results become zero

---Sine of a, in radians.
---@param d wgrun.reg a f32 register; by default a new one
---@param a wgrun.reg|number a f32 register, or a number
---@param options? wgrun.k.sin.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, options?: wgrun.k.sin.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:sin(d, a, options) end

---@class wgrun.k.slct.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b16, u16, s16, b32, u32, s32, f32, b64, u64, s64, f64
---@field from? string the type of the source: s32, f32
---@field ftz? boolean subnormal inputs and results become zero

---d = c >= 0 ? a : b.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param c wgrun.reg|number a s32 register, or a number
---@param options? wgrun.k.slct.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, c: wgrun.reg|number, options?: wgrun.k.slct.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:slct(d, a, b, c, options) end

---@class wgrun.k.special_clock.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u32, u64
---@field sreg? string the special register: clock, clock_hi, globaltimer_lo, globaltimer_hi, clock64, globaltimer

---Reads a clock: mov.u64 d, %globaltimer.
---@param d wgrun.reg a register; by default a new one
---@param options? wgrun.k.special_clock.options qualifiers and operands by name
---@overload fun(self: wgrun.k, options?: wgrun.k.special_clock.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:special_clock(d, options) end

---@class wgrun.k.sqrt.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: f32, f64
---@field round? string the rounding mode: rn, rz, rm, rp
---@field approx? boolean a fast approximation in place of the correctly rounded result
---@field ftz? boolean subnormal inputs and results become zero

---d = square root of a.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param options? wgrun.k.sqrt.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, options?: wgrun.k.sqrt.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:sqrt(d, a, options) end

---@class wgrun.k.st.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field type? string the type of the operation and of its operands: b8, u8, s8, b16, u16, s16, b32, u32, s32, f32, b64, u64, s64, f64, b128
---@field space? string the state space of the address: global, shared, shared::cta, shared::cluster, local
---@field vec? string the number of values moved at once: 1, v2, v4
---@field sem? string the memory order and its scope: relaxed.cta, relaxed.cluster, relaxed.gpu, relaxed.sys, release.cta, release.cluster, release.gpu, release.sys, volatile, mmio.relaxed.sys
---@field cache? boolean an operand holds the L2 cache policy
---@field cop? string the cache operator: wb, cg, cs, wt
---@field evict? string the L1 eviction priority: L1::evict_normal, L1::evict_unchanged, L1::evict_first, L1::evict_last, L1::no_allocate
---@field policy? wgrun.reg a u64 register

---Stores one, two or four values.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param b wgrun.reg|table|wgrun.regs|number a register, or a list of registers, or a number
---@param options? wgrun.k.st.options qualifiers and operands by name
function k:st(a, b, options) end

---@class wgrun.k.st_async.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field type? string the type of the operation and of its operands: b32, u32, s32, f32, b64, u64, s64, f64
---@field vec? string the number of values moved at once: 1, v2, v4

---Stores values in a CTA of the cluster asynchronously; an mbarrier there counts the bytes.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param b wgrun.reg|table|wgrun.regs|number a register, or a list of registers, or a number
---@param mbarrier wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.st_async.options qualifiers and operands by name
function k:st_async(a, b, mbarrier, options) end

---@class wgrun.k.stmatrix.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field type? string the type of the operation and of its operands: b16
---@field space? string the state space of the address: shared, shared::cta
---@field num? string the number of 8x8 matrices: x1, x2, x4
---@field trans? boolean the matrices are transposed

---Stores one, two or four 8x8 matrices of 16-bit elements; lane i gives the address of row i.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param b table|wgrun.regs a list of b32 registers
---@param options? wgrun.k.stmatrix.options qualifiers and operands by name
function k:stmatrix(a, b, options) end

---@class wgrun.k.sub.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u16, s16, u32, s32, u64, s64, f32, f64, f16, f16x2, bf16, bf16x2
---@field round? string the rounding mode: rn, rz, rm, rp, contract
---@field ftz? boolean subnormal inputs and results become zero
---@field sat? boolean results are limited to 0 to 1, or to the range of the type

---d = a - b.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param options? wgrun.k.sub.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.sub.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:sub(d, a, b, options) end

---@class wgrun.k.szext_clamp.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u32, s32

---The lowest min(b, 32) bits of a, extended by their sign or by zeros.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.szext_clamp.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.szext_clamp.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:szext_clamp(d, a, b, options) end

---@class wgrun.k.szext_wrap.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: u32, s32

---The lowest b % 32 bits of a, extended by their sign or by zeros.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.szext_wrap.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.szext_wrap.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:szext_wrap(d, a, b, options) end

---@class wgrun.k.tanh.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: f32, f16, f16x2, bf16, bf16x2
---@field approx? boolean a fast approximation in place of the correctly rounded result

---Hyperbolic tangent of a.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param options? wgrun.k.tanh.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, options?: wgrun.k.tanh.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:tanh(d, a, options) end

---@class wgrun.k.tensormap_cp_fenceproxy.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field sem? string the memory order and its scope: release.cta, release.cluster, release.gpu, release.sys
---@field bytes? number an integer from 128 to 128

---Copies a tensor map from shared to global memory, and releases it to those who acquire it.
---@param to wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param from wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param options? wgrun.k.tensormap_cp_fenceproxy.options qualifiers and operands by name
function k:tensormap_cp_fenceproxy(to, from, options) end

---@class wgrun.k.tensormap_replace_box_dim.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta, global

---Replaces an extent of the box in a tensor map in memory.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param dimension number an integer from 0 to 4
---@param value wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.tensormap_replace_box_dim.options qualifiers and operands by name
function k:tensormap_replace_box_dim(a, dimension, value, options) end

---@class wgrun.k.tensormap_replace_element_stride.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta, global

---Replaces a step from one copied element to the next in a tensor map in memory.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param dimension number an integer from 0 to 4
---@param value wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.tensormap_replace_element_stride.options qualifiers and operands by name
function k:tensormap_replace_element_stride(a, dimension, value, options) end

---@class wgrun.k.tensormap_replace_elemtype.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta, global

---Replaces the type of the elements in a tensor map in memory: 0 u8, 1 u16, 2 u32, 3 s32, 4 u64, 5 s64, 6 f16, 7 f32, 8 f32.ftz, 9 f64, 10 bf16, 11 tf32, 12 tf32.ftz.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param value number an integer from 0 to 12
---@param options? wgrun.k.tensormap_replace_elemtype.options qualifiers and operands by name
function k:tensormap_replace_elemtype(a, value, options) end

---@class wgrun.k.tensormap_replace_fill_mode.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta, global

---Replaces what is read outside the tensor in a tensor map in memory: 0 zeros, 1 NaN.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param value number|boolean an integer from 0 to 1
---@param options? wgrun.k.tensormap_replace_fill_mode.options qualifiers and operands by name
function k:tensormap_replace_fill_mode(a, value, options) end

---@class wgrun.k.tensormap_replace_global_address.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta, global

---Replaces the tensor's address in a tensor map in memory.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param value wgrun.reg|number a u64 register, or a number
---@param options? wgrun.k.tensormap_replace_global_address.options qualifiers and operands by name
function k:tensormap_replace_global_address(a, value, options) end

---@class wgrun.k.tensormap_replace_global_dim.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta, global

---Replaces an extent of the tensor in a tensor map in memory.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param dimension number an integer from 0 to 4
---@param value wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.tensormap_replace_global_dim.options qualifiers and operands by name
function k:tensormap_replace_global_dim(a, dimension, value, options) end

---@class wgrun.k.tensormap_replace_global_stride.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta, global

---Replaces a stride, in bytes, of dimension 1 and up, in a tensor map in memory.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param dimension number an integer from 0 to 3
---@param value wgrun.reg|number a u64 register, or a number
---@param options? wgrun.k.tensormap_replace_global_stride.options qualifiers and operands by name
function k:tensormap_replace_global_stride(a, dimension, value, options) end

---@class wgrun.k.tensormap_replace_interleave_layout.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta, global

---Replaces the interleaving in a tensor map in memory: 0 none, 1 of 16 bytes, 2 of 32.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param value number an integer from 0 to 2
---@param options? wgrun.k.tensormap_replace_interleave_layout.options qualifiers and operands by name
function k:tensormap_replace_interleave_layout(a, value, options) end

---@class wgrun.k.tensormap_replace_rank.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta, global

---Replaces the number of dimensions, less one, in a tensor map in memory.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param value wgrun.reg|number a u32 register, or a number
---@param options? wgrun.k.tensormap_replace_rank.options qualifiers and operands by name
function k:tensormap_replace_rank(a, value, options) end

---@class wgrun.k.tensormap_replace_swizzle_mode.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field offset? integer bytes that are added to the address
---@field space? string the state space of the address: shared::cta, global

---Replaces the swizzle in a tensor map in memory: 0 none, 1 of 32 bytes, 2 of 64, 3 of 128.
---@param a wgrun.reg|wgrun.shared an address in a register, with `offset` bytes added, or a shared buffer
---@param value number an integer from 0 to 3
---@param options? wgrun.k.tensormap_replace_swizzle_mode.options qualifiers and operands by name
function k:tensormap_replace_swizzle_mode(a, value, options) end

---@class wgrun.k.testp.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: f32, f64
---@field property? string what a float is tested for: finite, infinite, number, notanumber, normal, subnormal

---Whether a has a property of floats.
---@param p wgrun.reg a pred register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param options? wgrun.k.testp.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, options?: wgrun.k.testp.options): wgrun.reg
---@return wgrun.reg # the destination `p`
function k:testp(p, a, options) end

---@class wgrun.k.unpack.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b32, b64, b128

---Mov.b32 {lo, hi}, a: one register of 32 bits into two of 16, of 64 into 32, or of 128 into 64.
---@param d table|wgrun.regs a list of b16 registers; by default a new one
---@param a wgrun.reg a b32 register
---@param options? wgrun.k.unpack.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg, options?: wgrun.k.unpack.options): wgrun.regs
---@return wgrun.regs # the destination `d`
function k:unpack(d, a, options) end

---@class wgrun.k.unpack_v4.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: b64, b128

---Mov.b64 {a, b, c, d}, x: one register of 64 bits into four of 16, or one of 128 into four of 32.
---@param d table|wgrun.regs a list of b16 registers; by default a new one
---@param a wgrun.reg a b64 register
---@param options? wgrun.k.unpack_v4.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg, options?: wgrun.k.unpack_v4.options): wgrun.regs
---@return wgrun.regs # the destination `d`
function k:unpack_v4(d, a, options) end

---@class wgrun.k.vote_sync.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: pred, b32
---@field op? string the operation: all, any, uni, ballot
---@field membermask? wgrun.reg|number a u32 register, or a number

---A vote over lanes: whether a predicate holds in all, in any, equally in all, or a bit per lane.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg a pred register
---@param options? wgrun.k.vote_sync.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg, options?: wgrun.k.vote_sync.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:vote_sync(d, a, options) end

---@class wgrun.k.wgmma_commit_group.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold

---Commits all uncommitted wgmma of the warp to a new wgmma-group.
---@param options? wgrun.k.wgmma_commit_group.options qualifiers and operands by name
function k:wgmma_commit_group(options) end

---@class wgrun.k.wgmma_fence.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold

---Orders earlier register accesses of the warpgroup before its later wgmma.
---@param options? wgrun.k.wgmma_fence.options qualifiers and operands by name
function k:wgmma_fence(options) end

---@class wgrun.k.wgmma_mma_async.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field d? string the type of the accumulators D: f16, f32, s32
---@field a? string the element type of A: f16, bf16, tf32, e4m3, e5m2, s8, u8, b1
---@field b? string the element type of B: f16, bf16, tf32, e4m3, e5m2, s8, u8, b1
---@field m? integer the rows of D: 64
---@field n? integer the columns of D: 8 to 256
---@field k? integer the K extent of one instruction, in elements: 16, 8, 32, 256
---@field satfinite? boolean results out of range become the nearest representable value
---@field op? string the operation: and.popc
---@field a_in? string where A is: in shared memory or in registers: shared, registers
---@field trans_a? integer 1: A is MN-major in shared memory: 0, 1
---@field trans_b? integer 1: B is MN-major in shared memory: 0, 1
---@field scale_a? integer -1: A is negated: -1, 1
---@field scale_b? integer -1: B is negated: -1, 1
---@field scale_d? wgrun.reg|number|boolean a pred register, or an integer from 0 to 1

---D = A * B + D of a warpgroup, asynchronously: D and maybe A in registers, B in shared memory.
---@param d table|wgrun.regs a list of registers; read and written
---@param a wgrun.reg|table|wgrun.regs|number a u64 register, or a list of u64 registers, or a number
---@param b wgrun.reg|number a u64 register, or a number
---@param options? wgrun.k.wgmma_mma_async.options qualifiers and operands by name
function k:wgmma_mma_async(d, a, b, options) end

---@class wgrun.k.wgmma_mma_async_sp.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field d? string the type of the accumulators D: f16, f32, s32
---@field a? string the element type of A: f16, bf16, tf32, e4m3, e5m2, s8, u8
---@field b? string the element type of B: f16, bf16, tf32, e4m3, e5m2, s8, u8
---@field m? integer the rows of D: 64
---@field n? integer the columns of D: 8 to 256
---@field k? integer the K extent of one instruction, in elements: 32, 16, 64
---@field satfinite? boolean results out of range become the nearest representable value
---@field a_in? string where A is: in shared memory or in registers: shared, registers
---@field trans_a? integer 1: A is MN-major in shared memory: 0, 1
---@field trans_b? integer 1: B is MN-major in shared memory: 0, 1
---@field scale_a? integer -1: A is negated: -1, 1
---@field scale_b? integer -1: B is negated: -1, 1
---@field sp_sel? integer which threads of four hold the metadata: 0, 1
---@field scale_d? wgrun.reg|number|boolean a pred register, or an integer from 0 to 1

---The same with a sparse A: half of its elements are stored, and metadata tells which.
---@param d table|wgrun.regs a list of registers; read and written
---@param a wgrun.reg|table|wgrun.regs|number a u64 register, or a list of u64 registers, or a number
---@param b wgrun.reg|number a u64 register, or a number
---@param sp_meta wgrun.reg a b32 register
---@param options? wgrun.k.wgmma_mma_async_sp.options qualifiers and operands by name
function k:wgmma_mma_async_sp(d, a, b, sp_meta, options) end

---@class wgrun.k.wgmma_wait_group.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold

---Waits until at most N of the most recent wgmma-groups are pending.
---@param n number an integer from 0 to 2147483647
---@param options? wgrun.k.wgmma_wait_group.options qualifiers and operands by name
function k:wgmma_wait_group(n, options) end

---@class wgrun.k.xor.options
---@field guard? wgrun.reg a predicate: the instruction is executed by the threads where it holds
---@field guard_not? wgrun.reg a predicate: the instruction is executed by the threads where it does not hold
---@field type? string the type of the operation and of its operands: pred, b16, b32, b64

---d = a ^ b.
---@param d wgrun.reg a register; by default a new one
---@param a wgrun.reg|number a register, or a number
---@param b wgrun.reg|number a register, or a number
---@param options? wgrun.k.xor.options qualifiers and operands by name
---@overload fun(self: wgrun.k, a: wgrun.reg|number, b: wgrun.reg|number, options?: wgrun.k.xor.options): wgrun.reg
---@return wgrun.reg # the destination `d`
function k:xor(d, a, b, options) end

