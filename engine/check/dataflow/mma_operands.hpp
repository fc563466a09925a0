// What a wgmma reads and when it may: WG-DESC, WG-FENCE-01, WG-PROXY-01, WG-RACE-01.
#pragma once

#include "check/dataflow/mma_groups.hpp"
#include "check/dataflow/shared_accesses.hpp"
#include "check/dataflow/stalls.hpp"
#include "check/dataflow/values.hpp"

namespace wgrun::check::dataflow {

class MmaOperands {
  public:
    MmaOperands(Analysis& analysis, Values& values, MmaGroups& flights, SharedAccesses& memory,
                Stalls& stalls)
        : analysis_(analysis),
          values_(values),
          groups_(flights),
          memory_(memory),
          stalls_(stalls),
          matrix_(analysis.program, analysis.cells, analysis.findings) {}

    void issue(const isa::AsyncMma& mma);

  private:
    bool surely_reads_accumulators(const isa::AsyncMma& mma) const;
    void check_registers(const isa::AsyncMma& mma);
    void check_fence(const isa::AsyncMma& mma);
    void check_memory(const Region& a, const Region& b);

    Analysis& analysis_;
    Values& values_;
    MmaGroups& groups_;
    SharedAccesses& memory_;
    Stalls& stalls_;
    MatrixCheck matrix_;
};

}  // namespace wgrun::check::dataflow
