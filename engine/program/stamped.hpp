// Profiled builds: the same kernel, which writes down when it waits, copies and multiplies. See
// docs/timeline.md.
#pragma once

#include <vector>

#include "isa/stamp.hpp"
#include "wgrun/program.hpp"

namespace wgrun {

/// A place of the original program that stamps name, by its number from 1.
struct StampSite {
    isa::stamp::Moment moment;
    const Step* step = nullptr;         ///< of the original program
    std::vector<const Step*> products;  ///< of a product: all of its group in this block
};

struct StampedProgram {
    /// Has a parameter more, the last one: a pointer to u32, to the memory for the stamps (isa/stamp.hpp).
    Program program;
    std::vector<StampSite> sites;  ///< number n is sites[n - 1]
};

/// The value of the stamp of a wait for an mbarrier: its address, and the parity in this bit. Of a copy it is
/// the address, of a barrier of the CTA its number.
inline constexpr std::uint32_t stamped_parity = 0x80000000U;

/// A copy of `program`, which must outlive the result, with stamps: each wait has one from its begin to its
/// end, each group of products from its first one to its commit, each bulk copy one where it is issued. Lane
/// 0 of a warp writes them; what it does not execute is not noted.
StampedProgram stamped(const Program& program);

}  // namespace wgrun
