// griddepcontrol within a cluster: who has waited for the launches before, and what is accessed before that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "isa/warp.hpp"

namespace wgrun::sim {

class Scene;
struct Overlap;

class Dependents {
  public:
    /// overlap: null if no launch can overlap this one.
    Dependents(Scene& scene, Overlap* overlap) : scene_(scene), overlap_(overlap) {}

    void reset();
    void launch_dependents();
    void wait_for_grids();
    /// Whether accesses to global memory are to be told.
    bool watches() const { return overlap_ != nullptr; }
    /// The lane accesses global memory, which the host sees at `place` and the kernel at `address`; by a copy
    /// too, when it is issued.
    void access(bool write, int lane, const std::byte* place, std::uint64_t address, std::uint64_t bytes);

  private:
    /// Returns whether the lane has waited, or knows that another thread has.
    bool waited(int lane) const;

    Scene& scene_;
    Overlap* overlap_;
    struct Wait {
        int warp;
        std::uint32_t clock;
        isa::Mask lanes;
    };
    std::vector<Wait> waits_;
    std::vector<bool> launched_;  ///< by CTA: it has executed launch_dependents
};

}  // namespace wgrun::sim
