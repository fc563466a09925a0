// What a profiled build adds to a kernel (program/stamped.hpp): lane 0 of a warp writes down what it does,
// and when.
//
// These records are not part of the instruction set: no script can call them, and all() does not list them.
//
// The host gives one block of memory, zeros but for its control words. Offsets are bytes from its start.
//
//     0      u32 slices, u32 bytes of a slice, u32 clusters
//     16     u32 slices taken
//     64     u32 for each SM, by %smid: does it run one of the first clusters, or has it?
//     2048   slices, one for each warp that is profiled:
//            0    u32 CTA x, u32 CTA y | z << 16, u32 warp, u32 SM
//            16   u64 clock, u64 nanoseconds, when it began
//            32   the same, when it ended
//            48   u32 offset of the next stamp, u32 1 when it has ended, u32 address of the CTA's shared
//            memory 64   stamps: u32 site, u32 value, u32 clock when it began, u32 clock when it ended
//
// The offset of the next stamp goes on where the slice is full, so that the host can tell how many are
// missing.
#pragma once

#include "wgrun/isa.hpp"

namespace wgrun::isa::stamp {

inline constexpr int control_bytes = 2048, taken_at = 16, marks_at = 64, sms = 256;
inline constexpr int header_bytes = 64, stamp_bytes = 16;

/// at (u32): the offset of the warp's first stamp; limit (u32): the end of its slice. Both are 0 in warps
/// that are not profiled, and in lanes other than 0. block: u64 address; shared: u32.
const Instruction& open();
/// d (u32): the low 32 bits of the SM's clock.
const Instruction& clock();
/// Writes a stamp that began at `begin` (u32) and ends now, and moves `at` on. site: immediate, from 1;
/// value: u32 register or immediate.
const Instruction& event();
/// The warp ends.
const Instruction& close();

/// What a profile notes of a step.
enum class Moment : unsigned char {
    nothing,
    mbarrier,  ///< a wait for one, by looking again and again
    memory,    ///< likewise, for a value
    copy,      ///< bulk bytes set out for shared memory, and an mbarrier counts them
    store,     ///< bulk bytes set out for global memory
    product,   ///< wgmma
    commit,    ///< ends a group of them
    products,  ///< waits for groups of wgmma
    stores,    ///< waits for groups of bulk stores
    loads,     ///< waits for groups of cp.async
    barrier,   ///< of the CTA
    cluster,   ///< its barrier
    other,     ///< waits for registers, or for grids before
};
Moment moment_of(const Step& step);

}  // namespace wgrun::isa::stamp
