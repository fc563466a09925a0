// Profiled builds: the same kernel, which records when it waits, copies and multiplies. See docs/timeline.md.
#pragma once

#include <vector>

#include "isa/timestamp.hpp"
#include "wgrun/program.hpp"

namespace wgrun {

/// A place of the original program that timestamps refer to, by its number from 1.
struct TimestampSite {
    isa::timestamp::Moment moment;
    const Step* step = nullptr;         ///< of the original program
    std::vector<const Step*> products;  ///< of a product: all products of its group in this block
};

struct ProfiledProgram {
    /// The program with one more parameter, the last one: a pointer to u32, to the memory for the timestamps
    /// (isa/timestamp.hpp).
    Program program;
    std::vector<TimestampSite> sites;  ///< site number n is sites[n - 1]
};

/// The value of a timestamp is, for a wait for an mbarrier, its address, with the parity in this bit; for a
/// copy, the mbarrier's address; for a barrier of the CTA, its number.
inline constexpr std::uint32_t timestamp_parity = 0x80000000U;

/// Returns a copy of `program` with timestamps: one from begin to end of each wait, one from the first
/// product of each group to its commit, and one where each bulk copy is issued. `program` must outlive the
/// result. Lane 0 of a warp writes the timestamps; what it does not execute is not recorded.
ProfiledProgram profiled(const Program& program);

}  // namespace wgrun
