// What a wgmma reads and when it may: WG-DESC, WG-FENCE-01, WG-PROXY-01, WG-RACE-01.
#pragma once

#include "check/walk/drains.hpp"
#include "check/walk/flights.hpp"
#include "check/walk/memory.hpp"
#include "check/walk/values.hpp"

namespace wgrun::check::walk {

class Products {
  public:
    Products(Scene& scene, Values& values, Flights& flights, Memory& memory, Drains& drains)
        : scene_(scene),
          values_(values),
          flights_(flights),
          memory_(memory),
          drains_(drains),
          matrix_(scene.program, scene.cells, scene.findings) {}

    void issue(const isa::AsyncMma& mma);

  private:
    bool surely_reads_accumulators(const isa::AsyncMma& mma) const;
    void check_registers(const isa::AsyncMma& mma);
    void check_fence(const isa::AsyncMma& mma);
    void check_memory(const Region& a, const Region& b);

    Scene& scene_;
    Values& values_;
    Flights& flights_;
    Memory& memory_;
    Drains& drains_;
    MatrixCheck matrix_;
};

}  // namespace wgrun::check::walk
