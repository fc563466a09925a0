// The registers of a rehearsal's warps that decide how it goes on.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "check/rehearsal/forms.hpp"
#include "check/rehearsal/live.hpp"
#include "check/rehearsal/mbarriers.hpp"

namespace wgrun::check::rehearsal {

/// A register that may yet be read.
struct Register {
    std::uint32_t warp, slot;
    isa::Mask known;  ///< the lanes that may read it, and whose value is known
    std::array<std::int64_t, isa::lanes> lanes;
    Forms::Slot form;  ///< of known lanes
};

/// Returns them all, warp by warp.
std::vector<Register> live_registers(const Scene& scene, const Values& values, const Live& live,
                                     const Mbarriers& mbarriers, Forms& forms);

}  // namespace wgrun::check::rehearsal
