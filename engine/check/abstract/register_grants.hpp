// The register pool of a CTA in an abstract execution: WG-REG-02, WG-REG-03, and what wgmma needs of it:
// WG-REG-04.
#pragma once

#include <vector>

#include "check/abstract/faults.hpp"
#include "machine/register_pool.hpp"

namespace wgrun::check::abstract {

class RegisterGrants {
  public:
    RegisterGrants(ExecutionState& execution, Faults& report);

    void set_registers(int registers, bool increase);
    /// Reports a wgmma that needs more registers than its warp has, once per line.
    void fits();

    auto state() { return std::tie(ctas_, warps_); }
    void encode(Encoder& to) const;

    const machine::RegisterPool& of(int cta) const { return ctas_[static_cast<std::size_t>(cta)]; }

  private:
    /// The setmaxnreg of a warp.
    struct Resized {
        int times = 0;
        std::uint32_t clock = 0;  ///< of the warp at the last one
        const Step* by = nullptr;
    };
    Resized& own() { return warps_[static_cast<std::size_t>(execution_.warp->number)]; }
    void resized_together();

    ExecutionState& execution_;
    Faults& report_;
    std::vector<machine::RegisterPool> ctas_;
    std::vector<Resized> warps_;
    bool resizes_ = false;  ///< there is a setmaxnreg in the kernel, which the assembler may honour or not
};

}  // namespace wgrun::check::abstract
