// WG-SYNC: instructions that threads execute together, and the branches around them. WG-TMA-07: one that a
// lane executes for all.
#pragma once

#include <vector>

#include "check/dataflow/analysis.hpp"
#include "isa/effects.hpp"
#include "isa/warp.hpp"

namespace wgrun::check::dataflow {

class Convergence {
  public:
    explicit Convergence(Analysis& analysis) : analysis_(analysis) {}

    /// Checks a step that several threads execute together. Returns whether a condition is known to part
    /// them.
    bool aligned(const Step& step);
    /// WG-SYNC-08 of a step with a membermask, where it is known for each thread whether it executes the
    /// step.
    void members(const Step& step, const Operand& membermask);
    /// WG-TMA-07 of a bulk copy, where it is known which lanes issue it.
    void copy(const isa::BulkAccess& access);
    /// A barrier of `threads`; 0: of the whole CTA.
    void barrier(const Operand& threads);
    /// Reports a barrier of the whole CTA in one arm only: threads that bypass it never arrive, unless
    /// another arm has such a barrier, at which they may arrive.
    void barriers_met();

  private:
    /// Lanes of a warp: all that exist, and those that execute the current step if any of the warp do.
    struct Executing {
        isa::Mask existing = 0, active = 0;
    };
    bool others_end(const Scope& scope) const;
    /// Do all threads of each group come to the step, or none, as far as it is known of each thread which way
    /// it takes?
    bool by_whole_groups(const Step& step) const;
    /// By warp; empty where it is not known before a launch.
    std::vector<Executing> executing() const;

    /// A barrier of the whole CTA that some of its threads bypass: the step and the arm.
    struct Skipped {
        const Step* step;
        Scope scope;
    };

    Analysis& analysis_;
    std::vector<const void*> divergent_;  ///< nodes of scopes reported by WG-SYNC-01
    bool partial_warpgroup_ = false;      ///< WG-SYNC-03 is reported
    std::vector<Skipped> skipped_;
};

}  // namespace wgrun::check::dataflow
