// WG-PERF-06: a wait_group 0 that only keeps the next wgmma from starting.
#pragma once

#include "check/walk/scene.hpp"

namespace wgrun::check::walk {

class Drains {
  public:
    explicit Drains(Scene& scene) : scene_(scene) {}

    /// Called before a wait_group waits.
    void waits(int pending);
    /// Called when a thread accesses the register of that slot.
    void needed(int slot);
    /// Called when another wgmma is issued.
    void issues(const isa::AsyncMma& mma);

  private:
    Scene& scene_;
};

}  // namespace wgrun::check::walk
