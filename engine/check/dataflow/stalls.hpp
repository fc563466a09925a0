// WG-PERF-06: a wait_group 0 that only keeps the next wgmma from starting.
#pragma once

#include "check/dataflow/analysis.hpp"

namespace wgrun::check::dataflow {

class Stalls {
  public:
    explicit Stalls(Analysis& analysis) : analysis_(analysis) {}

    /// Called before a wait_group waits.
    void waits(int pending);
    /// Called when a thread accesses the register of that slot.
    void needed(int slot);
    /// Called when another wgmma is issued.
    void issues(const isa::AsyncMma& mma);

  private:
    Analysis& analysis_;
};

}  // namespace wgrun::check::dataflow
