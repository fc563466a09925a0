// What a guarded build adds to a kernel (program/guarded.hpp): a clock, notes, and a report before it traps.
//
// These records are not part of the instruction set: no script can call them, and all() does not list them.
//
// The host passes a block of `slots` slots of `slot_bytes` bytes, one for each place where a warp can run. A
// warp finds its slot by %smid and %warpid. A slot has four rows of four 32-bit words:
//
//     row 0  note:    site, CTA x, CTA y | z << 16, warp       where the warp is; site 0: nowhere of interest
//     row 1  report:  site, kind, lanes, wanted                what it has waited for in vain
//     row 2           place, word                              64 bits each, see report()
//     row 3           0, CTA x, CTA y | z << 16, warp
#pragma once

#include "wgrun/isa.hpp"

namespace wgrun::isa::guard {

inline constexpr int sms = 256, warps = 64, slots = sms * warps;
inline constexpr int slot_bytes = 64, block_bytes = slots * slot_bytes;

/// The clock of guards ticks every 2^16 ns and wraps after three days.
inline constexpr int tick_bits = 16;

/// d (u32): the time in ticks.
const Instruction& clock();
/// p (pred): more than `limit` ticks (u32) have passed since `since` (u32).
const Instruction& overdue();
/// Writes row 0 of the warp's slot. block: u64 address; site: immediate, 0 erases.
const Instruction& note();
/// Waits about 16 us: time for what the step before has begun to end, or to fault.
const Instruction& settle();
/// word (u64): the 64 bits of the mbarrier at `a` (u32), at offset `place` (u64) from `base` (u32). It ends
/// the mbarrier, because before that its bits are not in memory (docs/silicon.md).
const Instruction& mbarrier_word();
/// The lowest of the active lanes writes rows 1 to 3, waits `limit` ticks so that others can do so too, and
/// traps. block: u64; site, kind: immediates; wanted: u32; place, word: u64.
const Instruction& report();

}  // namespace wgrun::isa::guard
