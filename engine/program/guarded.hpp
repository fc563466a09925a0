// Guarded builds: the same kernel, which says who waits where before it is ended. See docs/hangs.md.
#pragma once

#include <vector>

#include "wgrun/program.hpp"

namespace wgrun {

/// A place of the original program that notes and reports name, by its number from 1.
struct GuardSite {
    enum class Kind : std::uint8_t {
        wait,    ///< a step that does not come back before others have done something
        poll,    ///< a step that looks, in a loop that does nothing else
        loop,    ///< a loop
        access,  ///< a step that accesses memory (traced builds)
    };
    Kind kind = Kind::wait;
    Where where;
    isa::Awaits awaits = isa::Awaits::nothing;  ///< of wait and poll
    Step step;                                  ///< not of loop
};

struct GuardedProgram {
    /// Has three parameters more, after those of the original: the address of the block of slots
    /// (isa/guard.hpp), and how many ticks a poll and a loop may take.
    Program program;
    std::vector<GuardSite> sites;  ///< number n is sites[n - 1]
};

/// A copy of `program` with a guard in every loop and around every wait.
///
/// A loop that only looks, at mbarriers or with strong accesses at memory, may do so for the first limit; any
/// other loop may run for the second one. Whoever is overdue reports itself, waits for others to do so, and
/// traps. Steps that wait by themselves (barriers, setmaxnreg) cannot be timed: the warp notes where it is
/// before them, and erases that afterwards.
///
/// traced: also notes every access to memory and every wgmma, and lets each end before the next (fence.sc.sys;
/// 16 us for what is asynchronous): a fault then leaves the line behind. Slow.
GuardedProgram guarded(const Program& program, bool traced = false);

}  // namespace wgrun
