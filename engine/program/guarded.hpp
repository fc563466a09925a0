// Guarded builds: the same kernel, which reports where its threads wait before it is ended. See
// docs/hangs.md.
#pragma once

#include <vector>

#include "wgrun/program.hpp"

namespace wgrun {

/// A place of the original program that notes and reports refer to, by its number from 1.
struct GuardSite {
    enum class Kind : std::uint8_t {
        wait,    ///< a step that blocks until other threads have acted
        poll,    ///< a poll, in a loop that does nothing else
        loop,    ///< a loop
        access,  ///< a step that accesses memory (traced builds)
    };
    Kind kind = Kind::wait;
    Where where;
    isa::Awaits awaits = isa::Awaits::nothing;  ///< of `wait` and `poll`
    Step step;                                  ///< not of `loop`
};

struct GuardedProgram {
    /// The program with three more parameters, after those of the original: the address of the block of slots
    /// (isa/guard.hpp), and the ticks that a poll and a loop may take.
    Program program;
    std::vector<GuardSite> sites;  ///< site number n is sites[n - 1]
};

/// Returns a copy of `program` with a guard in every loop and around every wait.
///
/// A loop that only polls, mbarriers or memory with strong accesses, may do so for the first limit; any other
/// loop may run for the second one. A thread that is overdue reports itself, waits for others to do so, and
/// traps. Steps that block (barriers, setmaxnreg) cannot be timed: the warp notes its position before them,
/// and erases the note afterwards.
///
/// traced: also notes every memory access and every wgmma, and lets each complete before the next
/// (fence.sc.sys; 16 us for asynchronous ones), so that a fault leaves its line behind. This is slow.
GuardedProgram guarded(const Program& program, bool traced = false);

}  // namespace wgrun
