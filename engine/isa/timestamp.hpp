// What a profiled build adds to a kernel (program/profiled.hpp): lane 0 of a warp records what the warp does,
// and when.
//
// These records are not part of the instruction set: no script can call them, and all() does not list them.
//
// The host passes one block of memory, zero except for its control words. Offsets are bytes from its start.
//
//     0      u32 slices, u32 bytes of a slice, u32 clusters
//     16     u32 slices taken
//     64     u32 for each SM, by %smid: does it run one of the first clusters, or has it?
//     2048   slices, one for each warp that is profiled:
//            0    u32 CTA x, u32 CTA y | z << 16, u32 warp, u32 SM
//            16   u64 clock, u64 nanoseconds, when it began
//            32   the same, when it ended
//            48   u32 offset of the next timestamp, u32 1 when it has ended, u32 address of shared memory
//            64   timestamps: u32 site, u32 value, u32 clock when it began, u32 clock when it ended
//
// The offset of the next timestamp keeps growing when the slice is full, so that the host can tell how many
// timestamps are missing.
#pragma once

#include "wgrun/isa.hpp"

namespace wgrun::isa::timestamp {

inline constexpr int control_bytes = 2048, taken_at = 16, marks_at = 64, sms = 256;
inline constexpr int header_bytes = 64, timestamp_bytes = 16;

/// at (u32): the offset of the warp's first timestamp; limit (u32): the end of its slice. Both are 0 in warps
/// that are not profiled, and in lanes other than 0. block: u64 address; shared: u32.
const Instruction& open();
/// d (u32): the low 32 bits of the SM's clock.
const Instruction& clock();
/// Writes a timestamp that began at `begin` (u32) and ends now, and advances `at`. site: immediate, from 1;
/// value: u32 register or immediate.
const Instruction& event();
/// Marks the end of the warp.
const Instruction& close();

/// What a profile records about a step.
enum class Moment : unsigned char {
    nothing,
    mbarrier,  ///< a wait for a phase of an mbarrier by its parity, by polling
    memory,    ///< a wait for a value in memory, by polling
    copy,      ///< starts to copy bulk bytes to shared memory, and an mbarrier counts them
    store,     ///< starts to copy bulk bytes to global memory
    product,   ///< wgmma
    commit,    ///< ends a group of wgmma
    products,  ///< waits for groups of wgmma
    stores,    ///< waits for groups of bulk stores
    loads,     ///< waits for groups of cp.async
    barrier,   ///< waits at a barrier of the CTA
    cluster,   ///< waits at the cluster's barrier
    other,     ///< waits for registers, for earlier grids, or for the phase of a state
};
Moment moment_of(const Step& step);

}  // namespace wgrun::isa::timestamp
