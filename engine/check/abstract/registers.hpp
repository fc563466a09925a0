// The registers of an abstract execution's warps that decide how it goes on.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "check/abstract/forms.hpp"
#include "check/abstract/live.hpp"
#include "check/abstract/mbarriers.hpp"

namespace wgrun::check::abstract {

/// A register that may yet be read, or a number that is shown in shared memory: its warp is beyond the others
/// by its CTA, its slot is its address, and it has one lane.
struct Register {
    std::uint32_t warp, slot;
    isa::Mask known;  ///< the lanes that may read it, and whose value is known
    std::array<std::int64_t, isa::lanes> lanes;
    Forms::Slot form;  ///< of known lanes
};

/// Returns the lanes of the warp that may yet read the register.
isa::Mask readers(const Live& live, const Warp& warp, std::size_t slot);

/// Returns them all, warp by warp.
std::vector<Register> live_registers(const ExecutionState& execution, const Values& values, const Live& live,
                                     const Mbarriers& mbarriers, Forms& forms);

}  // namespace wgrun::check::abstract
